"""The Harbor task folder, which is evalgate's own format.

task.toml                   limits, and our fields under [metadata.evalgate]
instruction.md              what the agent is asked
environment/workspace/      the files it starts from, laid over those in the image's WORKDIR
environment/Dockerfile      an image of the task's own, if there is one
tests/                      hidden: laid in after the agent has exited
solution/                   known-good, used to prove the task
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evalgate.core.environment import Environment, SetUp, absolute_path, is_image
from evalgate.core.files import File, FileMode, Tree, is_safe_path, subtree
from evalgate.core.limits import (
    LEAST_USD,
    MOST_SECONDS,
    MOST_TOKENS,
    MOST_TOOL_CALLS,
    MOST_TURNS,
    MOST_USD,
    Allowance,
)
from evalgate.core.sandbox import MOST_CPUS, MOST_MB
from evalgate.core.schema import Reader, Source
from evalgate.core.task import (
    SOLUTION_SCRIPT,
    TEST_SCRIPT,
    CheckSpec,
    Limits,
    Task,
    limited_digest,
    task_digest,
)
from evalgate.core.user_reply import read_replies
from evalgate.errors import UsageError

_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")
_FROM = re.compile(r"^\s*FROM\s+\S", re.IGNORECASE | re.MULTILINE)
_LONGEST_ID = 100
#: What a task may be called.
ID_HINT = f"use words and dashes, at most {_LONGEST_ID} characters, no '..' and no '\\'"
_NO_DEFAULTS = Allowance()
_COMPOSE = frozenset({"docker-compose.yaml", "docker-compose.yml"})


def load_harbor_task(folder: str, files: Tree, defaults: Allowance = _NO_DEFAULTS) -> Task:
    """Read one task folder; UsageError names file, line and key of what is wrong.

    ``defaults`` are the project's limits, for what the task says nothing about; where they make
    a difference they are part of the task's digest.
    """
    name = f"{folder}/task.toml"
    source = Source(name, _text(files, "task.toml", folder))
    top = Reader(source.parse(), source)
    _refuse_nul(top, top.raw)
    if top.has("steps"):
        raise top.error("several steps are not run", "steps", hint="make a task of each step")
    top.text("schema_version", "1.4")
    ours = top.table("metadata").table("evalgate")
    tags = ours.texts("tags", [])
    ours.json("origin")  # where the task comes from: for people
    top.text("version", "")  # as older folders name their schema's
    own, limits = _limits(top, ours, _NO_DEFAULTS), _limits(top, ours, defaults)
    plain = task_digest(files)
    task = Task(
        id=_task_id(top.table("task"), folder),
        instruction=_text(files, "instruction.md", folder),
        workspace=subtree(files, "environment/workspace"),
        tests=subtree(files, "tests"),
        solution=subtree(files, "solution"),
        digest=plain if limits == own else limited_digest(plain, limits.allowance),
        limits=limits,
        expected_files=ours.texts("expected_files", []),
        expected_tests=ours.texts("expected_tests", []),
        checks=tuple(_check(check) for check in ours.tables("checks")),
        user=read_replies(ours),
        environment=_environment(top.table("environment"), ours, files, folder),
        tags=tags,
    )
    ours.done()
    top.done()
    _verify(task, ours, folder)
    return task


def _refuse_nul(top: Reader, value: Any, *way: str) -> None:
    """Refuse a character that no file, no command and no request holds, wherever it stands."""
    if isinstance(value, str) and "\0" in value:
        inner = Reader({}, top.source, way[:-1])
        raise inner.error("holds NUL", way[-1], hint="take the character out")
    if isinstance(value, Mapping):
        for key, one in value.items():
            _refuse_nul(top, key, *way, key)
            _refuse_nul(top, one, *way, key)
    elif isinstance(value, list):
        for one in value:
            _refuse_nul(top, one, *way)


def name_of(folder: str, files: Tree) -> str:
    """Return the id that a folder's task has, as far as one can be read: else the folder's name."""
    try:
        source = Source(f"{folder}/task.toml", _text(files, "task.toml", folder))
        return _task_id(Reader(source.parse(), source).table("task"), folder)
    except UsageError:
        return folder.rpartition("/")[2]


def _verify(task: Task, ours: Reader, folder: str) -> None:
    if not task.workspace and not task.environment.has_image:
        message = f"{folder}/environment/workspace: there are no files to start from"
        raise UsageError(message, hint="put the files the agent starts with there")
    if not task.tests and not task.checks:
        message = f"{folder}: the task has neither tests/ nor checks, so anything would pass"
        raise UsageError(message, hint="add tests/test.sh, or checks in task.toml")
    if not task.tests and all(check.advisory for check in task.checks):
        message = f"{folder}: all checks are advisory and there are no tests: anything would pass"
        raise UsageError(message, hint="add tests/test.sh, or make a check decide")
    if task.expected_tests and not task.tests:
        problem = "names tests, but there is no tests/test.sh to run them"
        raise ours.error(problem, "expected_tests")
    if task.tests and TEST_SCRIPT not in task.tests:
        message = f"{folder}/tests/{TEST_SCRIPT}: the file is missing"
        raise UsageError(message, hint="it is what runs the hidden tests")
    for path in task.expected_files:
        if not is_safe_path(path):
            raise ours.error(f"{path!r} leaves the workspace", "expected_files")


def _task_id(table: Reader, folder: str) -> str:
    name = table.text("name", folder.rsplit("/", 1)[-1]).removeprefix("local/")
    table.text("description", "")
    table.text("version", "")
    table.texts("keywords", [])
    table.tables("authors")
    table.done()
    if not is_id(name):
        raise table.error(f"{name[:80]!r} can not be a task id", "name", hint=ID_HINT)
    return name


def is_id(name: str) -> bool:
    """Tell whether a text can be a task's id: no path, no option, nothing endless."""
    path_like = any(piece in {"", ".", ".."} for piece in name.split("/")) or name.startswith("-")
    return not path_like and not _CONTROL.search(name) and len(name) <= _LONGEST_ID


def _limits(top: Reader, ours: Reader, defaults: Allowance) -> Limits:
    default = Limits(
        max_turns=defaults.turns or Limits().max_turns,
        max_tool_calls=defaults.tool_calls,
        max_tokens=defaults.tokens,
        max_usd=defaults.usd,
    )
    agent, verifier = top.table("agent"), top.table("verifier")
    limits = Limits(
        agent_seconds=agent.number(
            "timeout_sec", default.agent_seconds, low=0.1, high=MOST_SECONDS
        ),
        grade_seconds=verifier.number(
            "timeout_sec", default.grade_seconds, low=0.1, high=MOST_SECONDS
        ),
        max_turns=ours.integer("max_turns", default.max_turns, low=1, high=MOST_TURNS),
        max_tool_calls=ours.some_integer(
            "max_tool_calls", default.max_tool_calls, high=MOST_TOOL_CALLS
        ),
        max_tokens=ours.some_integer("max_tokens", default.max_tokens, low=1, high=MOST_TOKENS),
        max_usd=ours.some_number("max_usd", default.max_usd, low=LEAST_USD, high=MOST_USD),
    )
    # A folder made for one container is graded in another one all the same.
    verifier.choice("environment_mode", "separate", ("separate", "shared"))
    for reader in (agent, verifier):
        _refuse_network(reader)
        reader.done()
    return limits


def _refuse_network(table: Reader) -> None:
    """Refuse a task that would be another one without the network that it asks for."""
    hint = "agent and tests have no network; [metadata.evalgate] setup may have it"
    if table.text("network_mode", "no-network") != "no-network":
        raise table.error('must be "no-network"', "network_mode", hint=hint)
    if table.flag("allow_internet", default=False):
        raise table.error("must be false", "allow_internet", hint=hint)


def _environment(table: Reader, ours: Reader, files: Tree, folder: str) -> Environment:
    _refuse_network(table)
    if "environment/Dockerfile" in files:
        require_dockerfile(f"{folder}/environment/Dockerfile", files["environment/Dockerfile"])
    if compose := _COMPOSE.intersection(subtree(files, "environment")):
        raise table.error(
            f"environment/{min(compose)}: several containers are not run",
            hint="make one image of them: environment/Dockerfile",
        )
    # What the builder and the disk may use is the engine's business.
    table.number("build_timeout_sec", 0.0)
    table.integer("storage_mb", 0)
    set_up = ours.table("setup")
    context = subtree(files, "environment")
    image = table.text("docker_image", "")
    if image and not is_image(image):
        hint = "as in python:3.12-slim, or ghcr.io/owner/name@sha256:…"
        raise table.error(f"{image[:80]!r} is no name of an image", "docker_image", hint=hint)
    environment = Environment(
        image=image,
        context=context if "Dockerfile" in context else {},
        workdir=table.text("workdir", ""),
        absolute=absolute_path(
            [_script(files, f"tests/{TEST_SCRIPT}"), _script(files, f"solution/{SOLUTION_SCRIPT}")]
        ),
        cpus=table.number("cpus", 0.0, high=MOST_CPUS),
        memory_mb=table.integer("memory_mb", 0, high=MOST_MB),
        set_up=SetUp(
            commands=set_up.texts("commands", []), network=set_up.flag("network", default=False)
        ),
    )
    set_up.done()
    table.done()
    return environment


def require_dockerfile(place: str, file: File) -> None:
    """Refuse what no builder reads; UsageError naming ``place``."""
    text = file.data.decode("utf-8", "replace")
    if file.mode is FileMode.SYMLINK or "\0" in text or "\ufffd" in text:
        raise UsageError(f"{place}: is no text", hint="write it in UTF-8, as a file")
    if not _FROM.search(text):
        raise UsageError(f"{place}: names no image to begin with", hint="begin with FROM IMAGE")


def _script(files: Tree, path: str) -> str:
    return files[path].data.decode("utf-8", "replace") if path in files else ""


def _check(table: Reader) -> CheckSpec:
    params: dict[str, Any] = {
        key: table.raw[key]
        for key in table.keys()  # noqa: SIM118 - a reader notes what it was asked for
        if key not in {"type", "advisory"}
    }
    return CheckSpec(
        type=table.text("type"),
        params=params,
        advisory=table.flag("advisory", default=False),
    )


def _text(files: Tree, path: str, folder: str) -> str:
    if path not in files:
        message = f"{folder}/{path}: the file is missing"
        raise UsageError(message, hint="a task folder holds task.toml and instruction.md")
    try:
        text = files[path].data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        message = f"{folder}/{path}: {error}"
        raise UsageError(message, hint="write the file in UTF-8") from error
    if "\0" in text:
        message = f"{folder}/{path}:{text[: text.index(chr(0))].count(chr(10)) + 1}: holds NUL"
        raise UsageError(message, hint="take the character out")
    return text
