"""A task on its way into a folder of ours: what other formats say, in our words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import tomli_w

from evalgate.core.files import File, FileMode, Tree, is_safe_path
from evalgate.core.schema import Reader
from evalgate.core.task import NO_TESTS, TEST_SCRIPT, Limits
from evalgate.errors import UsageError
from evalgate.tasks.harbor import ID_HINT, is_id

#: The deepest path, and the longest name in it in bytes, that are laid out anywhere.
_DEEP: Final = 100
_LONG: Final = 255
#: Where a task with no files begins: an empty file, since git keeps no empty folder.
_NOTHING: Final = {".keep": File(data=b"")}
#: What a patch is taken for.
PATCH_HINT: Final = "git diff COMMIT: text, with a/ and b/ before paths that stay inside"
#: A solution that is a patch beside it.
PATCHED: Final = """\
#!/bin/sh
# Lays the known-good change over the workspace.
exec git apply --whitespace=nowarn "${EVALGATE_SOLUTION:-/solution}/fix.patch"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One task. None is a limit that nobody named; ``settings`` go to [metadata.evalgate].

    ``commit`` is the one of another repository that it begins at, ``context`` holds the files of
    an image of its own, with a Dockerfile; ``notes`` tell a person what was not taken over as it
    was.
    """

    id: str
    instruction: str
    workspace: Tree = field(default_factory=dict)
    context: Tree = field(default_factory=dict)
    tests: Tree = field(default_factory=dict)
    solution: Tree = field(default_factory=dict)
    image: str = ""
    workdir: str = ""
    agent_seconds: float | None = None
    grade_seconds: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    commit: str = ""
    notes: tuple[str, ...] = ()

    def whole(self) -> Draft:
        """Return the same with what a folder that stays should say: all limits, and a test script.

        Harbor asks for a script. Where checks alone decide it leaves no reward, so that Harbor,
        which knows no checks, takes nothing for a pass.
        """
        usual = Limits()
        settings = {**self.settings}
        settings["max_turns"] = settings.get("max_turns") or usual.max_turns
        return replace(
            self,
            agent_seconds=self.agent_seconds or usual.agent_seconds,
            grade_seconds=self.grade_seconds or usual.grade_seconds,
            settings=settings,
            tests=self.tests or {TEST_SCRIPT: script(NO_TESTS)},
        )

    def folder(self) -> dict[str, File]:
        """Return the files of its folder."""
        has_image = bool(self.image or self.context)
        workspace = self.workspace or ({} if has_image else _NOTHING)
        text = self.instruction.replace("\r\n", "\n")
        text = text if text.endswith("\n") else f"{text}\n"
        return {
            "task.toml": File(data=tomli_w.dumps(self._tables()).encode()),
            "instruction.md": File(data=text.encode()),
            **_below("environment", self.context),
            **_below("environment/workspace", workspace),
            **_below("tests", self.tests),
            **_below("solution", self.solution),
        }

    def _tables(self) -> dict[str, Any]:
        environment = {"docker_image": self.image, "workdir": self.workdir}
        return {
            "schema_version": "1.4",
            "task": {"name": f"local/{self.id}"},
            **({"agent": {"timeout_sec": self.agent_seconds}} if self.agent_seconds else {}),
            "verifier": {
                **({"timeout_sec": self.grade_seconds} if self.grade_seconds else {}),
                "environment_mode": "separate",
            },
            "environment": {
                "network_mode": "no-network",
                **{key: value for key, value in environment.items() if value},
            },
            "metadata": {"evalgate": {key: one for key, one in self.settings.items() if one}},
        }


def script(text: str) -> File:
    """Return an executable file."""
    return File(data=text.encode(), mode=FileMode.EXECUTABLE)


def place_in(folder: str, name: str) -> str:
    """Return the path of a file of a folder, for errors; the folder may be that of everything."""
    return f"{folder}/{name}" if folder else name


def read_id(table: Reader, key: str, default: str | None = None) -> str:
    """Read a task's id; UsageError when it can be none."""
    name = table.text(key, default)
    if not is_id(name):
        raise table.error(f"{name[:80]!r} can not be a task id", key, hint=ID_HINT)
    return name


def read_instruction(table: Reader, key: str) -> str:
    """Read what the agent is asked, which says something."""
    text = table.text(key)
    if not text.strip():
        raise table.error("must not be empty", key, hint="say what the agent is to do")
    return text


def read_path(table: Reader, key: str) -> str:
    """Read a path that stays in the workspace."""
    path = table.text(key)
    require_path(table, key, path)
    return path


def require_path(table: Reader, key: str, path: str) -> None:
    """Refuse a path that leaves the workspace, or that no disk takes."""
    if not is_safe_path(path):
        raise table.error(f"{path[:80]!r} leaves the workspace", key, hint="name a relative path")
    parts = path.encode("utf-8", "surrogatepass").split(b"/")
    if len(parts) > _DEEP or any(len(part) > _LONG for part in parts):
        hint = f"at most {_DEEP} folders deep, and {_LONG} bytes a name"
        raise table.error(f"{path[:80]!r}… is a path that no disk takes", key, hint=hint)


def id_of_folder(path: str) -> str:
    """Return the id of a task that is called as its folder; UsageError when it can be none."""
    name = path.rpartition("/")[2]
    if not is_id(name):
        raise UsageError(f"{path}: {name[:80]!r} can not be a task id", hint=ID_HINT)
    return name


def _below(folder: str, files: Tree) -> dict[str, File]:
    return {f"{folder}/{path}": file for path, file in files.items()}
