"""The folder of a mined task, as files: made of a fix and of the state before it."""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from evalgate.core.claim import claim_of, render_patch
from evalgate.core.files import File, FileMode, Tree
from evalgate.core.python_tests import UNITTEST, pytest_command

#: What steers pytest, and would steer the hidden tests if an agent wrote it.
_SETTINGS: Final = (
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "setup.cfg",
    "pyproject.toml",
)
_PYTEST: Final = f"{pytest_command('-rA')} {{tests}}"
_UNITTEST: Final = f"{UNITTEST} -v {{tests}}"
_SLUG: Final = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """What a task is made of.

    ``before`` are all files of the state before; ``sources`` those of the fix as they are after it,
    ``deleted`` what it deletes; ``tests`` its tests as they are after it, with what steers them.
    ``origin`` says where the task comes from.
    """

    instruction: str
    before: Tree
    sources: Tree
    deleted: Sequence[str] = ()
    tests: Tree
    test_files: Sequence[str]
    test_command: str = ""
    set_up: Sequence[str] = ()
    set_up_network: bool = False
    expected_tests: Sequence[str] = ()
    origin: Mapping[str, str] = field(default_factory=dict)
    tags: Sequence[str] = ("mined",)

    @property
    def after(self) -> dict[str, File]:
        """All files with the solution, without the tests."""
        kept = {path: file for path, file in self.before.items() if path not in self.deleted}
        return {**kept, **self.sources}


def task_folder(fix: Fix) -> dict[str, File]:
    """Return the files of the folder; equal fixes give equal bytes."""
    texts = {
        "task.toml": _toml(fix),
        "instruction.md": fix.instruction,
        "tests/test.sh": _test_script(fix),
    }
    if fix.sources or fix.deleted:
        texts["solution/solve.sh"] = _solve_script(fix)
        texts["solution/fix.patch"] = render_patch(fix.before, claim_of(fix.before, fix.after))
    scripts = {"tests/test.sh", "solution/solve.sh"}
    return {
        **{f"environment/workspace/{path}": file for path, file in fix.before.items()},
        **{f"tests/files/{path}": file for path, file in fix.tests.items()},
        **{f"solution/files/{path}": file for path, file in fix.sources.items()},
        **{
            path: File(
                data=text.encode("utf-8", "surrogateescape"),
                mode=FileMode.EXECUTABLE if path in scripts else FileMode.REGULAR,
            )
            for path, text in texts.items()
        },
    }


def name_of_fix(subject: str, commit: str) -> str:
    """Return the name of a task's folder: words of its subject, and eight letters of its commit."""
    told = re.sub(r"\(?(?:fix(?:e[sd])? |close[sd]? )?#\d+\)?", "", subject.lower())
    words = re.sub(r"[^a-z0-9]+", "-", told).strip("-")[:_SLUG].strip("-")
    return f"{words or 'fix'}-{commit[:8]}"


def detected_command(files: Tree) -> str:
    """Return how tests are run in a repository: by pytest, unless nothing in it knows that."""
    names = {path.rpartition("/")[2] for path in files}
    settings = b"".join(files[name].data for name in _SETTINGS if name in files)
    knows = b"pytest" in settings or names & {"conftest.py", "pytest.ini", ".pytest.ini"}
    tests = {p: file for p, file in files.items() if p.endswith(".py") and "test" in p}
    return _PYTEST if knows or for_pytest(tests) else _UNITTEST


def for_pytest(tests: Tree) -> bool:
    """Tell whether files of tests are written for pytest: by its name, or as plain functions."""
    return any(b"pytest" in one.data or b"\ndef test_" in one.data for one in tests.values())


def steering(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the paths of all that can steer tests: at the top, and on the way to each of them."""
    found = dict.fromkeys(_SETTINGS)
    for path in paths:
        folders = path.split("/")[:-1]
        found.update(
            (f"{'/'.join(folders[:depth])}/conftest.py", None)
            for depth in range(1, len(folders) + 1)
        )
    return tuple(found)


def _test_script(fix: Fix) -> str:
    command = fix.test_command or detected_command(fix.before)
    tests = " ".join(map(shlex.quote, fix.test_files))
    command = command.replace("{tests}", tests) if "{tests}" in command else f"{command} {tests}"
    swept = " ".join(map(shlex.quote, steering(fix.test_files)))
    path = 'PYTHONPATH="$PWD/src${PYTHONPATH:+:$PYTHONPATH}"; export PYTHONPATH\n'
    has_src = any(name.startswith("src/") for name in fix.before)
    return (
        "#!/bin/sh\n"
        "# What steers tests is the project's own again, whatever lies in its place.\n"
        f"rm -f {swept}\n"
        'cp -R "$EVALGATE_TESTS/files/." .\n'
        f"{path if has_src else ''}"
        "PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE\n"
        f"{command}\n"
    )


def _solve_script(fix: Fix) -> str:
    lines = ["#!/bin/sh", "set -e"]
    lines += ['cp -R "$(dirname "$0")/files/." .'] if fix.sources else []
    lines += [f"rm -f {shlex.quote(path)}" for path in fix.deleted]
    return "\n".join(lines) + "\n"


def _toml(fix: Fix) -> str:
    touched = sorted({*fix.sources, *fix.deleted})
    lines = ['schema_version = "1.4"', "", "[agent]", "timeout_sec = 120", ""]
    lines += ["[verifier]", "timeout_sec = 120", 'environment_mode = "separate"', ""]
    lines += ["[environment]", 'network_mode = "no-network"', "", "[metadata.evalgate]"]
    lines += ["max_turns = 15", f"tags = {_texts(fix.tags)}"]
    if fix.expected_tests:
        lines += [f"expected_tests = {_texts(fix.expected_tests)}"]
    if touched:
        lines += [f"expected_files = {_texts(touched)}"]
        lines += ['checks = [{ type = "only_expected_files", advisory = true }]']
    if fix.set_up:
        lines += ["", "[metadata.evalgate.setup]", f"commands = {_texts(fix.set_up)}"]
        lines += [f"network = {str(fix.set_up_network).lower()}"]
    lines += ["", "[metadata.evalgate.origin]"]
    lines += [f"{name} = {_text(value)}" for name, value in sorted(fix.origin.items())]
    return "\n".join(lines) + "\n"


def _texts(values: Sequence[str]) -> str:
    if not values:
        return "[]"
    return "[\n" + "".join(f"    {_text(value)},\n" for value in values) + "]"


def _text(value: str) -> str:
    # A string of JSON is one of TOML where nothing else is escaped than what can not be seen.
    # Halves of characters are no UTF-8, and can not be written in either.
    whole = value.encode("utf-8", "replace").decode()
    return "".join(map(_escaped, json.dumps(whole, ensure_ascii=False)))


def _escaped(one: str) -> str:
    return one if unicodedata.category(one)[0] != "C" else f"\\U{ord(one):08x}"
