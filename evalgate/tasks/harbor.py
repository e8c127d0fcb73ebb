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
from typing import Any

from evalgate.core.environment import Environment, SetUp, absolute_path
from evalgate.core.files import Tree, is_safe_path, subtree
from evalgate.core.limits import LEAST_USD, Allowance
from evalgate.core.schema import Reader, Source
from evalgate.core.task import SOLUTION_SCRIPT, TEST_SCRIPT, CheckSpec, Limits, Task, limited_digest, task_digest
from evalgate.errors import UsageError

_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")
_LONGEST_ID = 100
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
    if top.has("steps"):
        raise top.error("several steps are not run", "steps", hint="make a task of each step")
    top.text("schema_version", "1.4")
    ours = top.table("metadata").table("evalgate")
    tags = ours.texts("tags", [])
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
        environment=_environment(top.table("environment"), ours, files),
        tags=tags,
    )
    ours.done()
    top.done()
    _verify(task, ours, folder)
    return task


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
    pieces = name.split("/")
    path_like = any(piece in {"", ".", ".."} for piece in pieces) or name.startswith("-")
    if path_like or _CONTROL.search(name) or len(name) > _LONGEST_ID:
        hint = f"use words and dashes, at most {_LONGEST_ID} characters, no '..' and no '\\'"
        raise table.error(f"{name!r} can not be a task id", "name", hint=hint)
    return name


def _limits(top: Reader, ours: Reader, defaults: Allowance) -> Limits:
    default = Limits(
        max_turns=defaults.turns or Limits().max_turns,
        max_tool_calls=defaults.tool_calls,
        max_tokens=defaults.tokens,
        max_usd=defaults.usd,
    )
    agent, verifier = top.table("agent"), top.table("verifier")
    limits = Limits(
        agent_seconds=agent.number("timeout_sec", default.agent_seconds, low=0.1),
        grade_seconds=verifier.number("timeout_sec", default.grade_seconds, low=0.1),
        max_turns=ours.integer("max_turns", default.max_turns, low=1),
        max_tool_calls=ours.some_integer("max_tool_calls", default.max_tool_calls),
        max_tokens=ours.some_integer("max_tokens", default.max_tokens, low=1),
        max_usd=ours.some_number("max_usd", default.max_usd, low=LEAST_USD),
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


def _environment(table: Reader, ours: Reader, files: Tree) -> Environment:
    _refuse_network(table)
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
    environment = Environment(
        image=table.text("docker_image", ""),
        context=context if "Dockerfile" in context else {},
        workdir=table.text("workdir", ""),
        absolute=absolute_path([_script(files, f"tests/{TEST_SCRIPT}"), _script(files, f"solution/{SOLUTION_SCRIPT}")]),
        cpus=table.number("cpus", 0.0),
        memory_mb=table.integer("memory_mb", 0),
        set_up=SetUp(
            commands=set_up.texts("commands", []), network=set_up.flag("network", default=False)
        ),
    )
    set_up.done()
    table.done()
    return environment


def _script(files: Tree, path: str) -> str:
    return files[path].data.decode("utf-8", "replace") if path in files else ""


def _check(table: Reader) -> CheckSpec:
    params: dict[str, Any] = {
        key: table.raw[key] for key in table.keys() if key not in {"type", "advisory"}
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
        return files[path].data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        message = f"{folder}/{path}: {error}"
        raise UsageError(message, hint="write the file in UTF-8") from error
