"""The folders of terminal-bench: task.yaml, Dockerfile, run-tests.sh, tests/, solution.sh."""

from __future__ import annotations

import posixpath
from typing import Any, Final

from evalgate.core.environment import is_image
from evalgate.core.files import File, Tree, is_safe_path, subtree
from evalgate.core.limits import MOST_SECONDS
from evalgate.core.schema import Reader
from evalgate.errors import UsageError
from evalgate.tasks.draft import Draft, id_of_folder, place_in, read_instruction, script
from evalgate.tasks.harbor import require_dockerfile
from evalgate.tasks.marked import yaml_reader
from evalgate.tasks.marks import IN_PLACE

#: The file that makes a folder one of these.
MARK: Final = IN_PLACE["terminal-bench"]

_OURS: Final = {MARK, "solution.sh", "run-tests.sh", "docker-compose.yaml"}
_IGNORED: Final = ("author_name", "author_email", "difficulty", "category")
_ESTIMATES: Final = (
    "estimated_duration_sec",
    "expert_time_estimate_min",
    "junior_time_estimate_min",
)
#: What of a service is about the machine that it runs on.
_MACHINE: Final = ("container_name", "command", "volumes")
_USUAL_VARIABLE: Final = "TEST_DIR=${T_BENCH_TEST_DIR}"

_TEST_SH: Final = """\
#!/bin/bash
# Runs the tests of a terminal-bench task; their exit code is the reward.
export TEST_DIR="${EVALGATE_TESTS:-/tests}"
logs="${EVALGATE_LOGS:-/logs}/verifier"
mkdir -p "$logs"
if bash "$TEST_DIR/run-tests.sh"; then reward=1; else reward=0; fi
echo "$reward" > "$logs/reward.txt"
"""


def read_terminal_bench(path: str, files: Tree) -> tuple[Draft, ...]:
    """Read one folder. Its tests get no network, whatever they would like to install."""
    table = yaml_reader(f"{path}/{MARK}", files[MARK].data)
    for ignored in _IGNORED:
        table.text(ignored, "")
    for estimate in _ESTIMATES:
        if table.raw.get(estimate) is None:
            table.keys_seen(estimate)
        else:
            table.number(estimate)
    table.choice("parser_name", "pytest", ("pytest",))
    table.flag("disable_asciinema", default=False)
    if table.flag("run_tests_in_same_shell", default=False):
        hint = "tests run in a fresh sandbox: make them independent of the agent's shell"
        raise table.error("must be false", "run_tests_in_same_shell", hint=hint)
    if "run-tests.sh" not in files:
        raise UsageError(f"{path}/run-tests.sh: the file is missing", hint="it runs the tests")
    if "solution.yaml" in files:
        message = f"{path}/solution.yaml: solutions in YAML are not read"
        raise UsageError(message, hint="write it as solution.sh")
    folder, image, workdir = _service(path, files)
    if not image:
        place = place_in(folder, "Dockerfile")
        require_dockerfile(f"{path}/{place}", files[place])
    context = _context(path, files, folder)
    draft = Draft(
        id=id_of_folder(path),
        instruction=read_instruction(table, "instruction"),
        context={} if image else context,
        image=image,
        workdir=workdir,
        tests={
            **subtree(files, "tests"),
            "run-tests.sh": files["run-tests.sh"],
            "test.sh": script(_TEST_SH),
        },
        solution={"solve.sh": files["solution.sh"]} if "solution.sh" in files else {},
        agent_seconds=table.number("max_agent_timeout_sec", 360.0, low=0.1, high=MOST_SECONDS),
        grade_seconds=table.number("max_test_timeout_sec", 60.0, low=0.1, high=MOST_SECONDS),
        settings={"tags": list(table.texts("tags", []))},
        notes=("agent and tests have no network, as everywhere here: install in the Dockerfile",),
    )
    table.done()
    return (draft,)


def _context(path: str, files: Tree, folder: str) -> dict[str, File]:
    inside = subtree(files, folder) if folder else dict(files)
    context = {
        name: file
        for name, file in inside.items()
        if folder or (name not in _OURS and not name.startswith("tests/"))
    }
    if any(name.startswith("workspace/") for name in context):
        message = f"{path}/workspace: would be taken for the files a task begins with"
        raise UsageError(message, hint="call the folder something else, in the Dockerfile as well")
    return context


def _service(path: str, files: Tree) -> tuple[str, str, str]:
    """Return the folder of the image's Dockerfile, or an image, and the folder to work in."""
    name = f"{path}/docker-compose.yaml"
    if "docker-compose.yaml" not in files:
        if "Dockerfile" not in files:
            raise UsageError(f"{path}/Dockerfile: the file is missing", hint="it makes the image")
        return "", "", ""
    top = yaml_reader(name, files["docker-compose.yaml"].data)
    top.text("version", "")
    services = top.table("services")
    top.done()
    if len(services.raw) != 1:
        hint = "make one image of them"
        raise services.error("several containers are not run, nor none", hint=hint)
    service = services.table(services.keys()[0])
    folder = _build(service)
    image, workdir = service.text("image", ""), service.text("working_dir", "")
    for key in _MACHINE:
        service.keys_seen(key)
    _variables(service)
    service.done()
    if folder is None:
        if not is_image(image):
            raise service.error("neither builds nor names an image", "image", hint="name one")
        return "", image, workdir
    if place_in(folder, "Dockerfile") not in files:
        raise service.error(f"{folder or '.'} has no Dockerfile", "build", hint="put one there")
    return folder, "", workdir


def _build(service: Reader) -> str | None:
    """Return the folder that the image is built from, "" for the task's own; None for none."""
    if not service.has("build"):
        return None
    value: Any = service.raw["build"]
    if isinstance(value, str):
        folder = service.text("build")
    else:
        build = service.table("build")
        folder = build.text("context", ".")
        if build.text("dockerfile", "Dockerfile") != "Dockerfile":
            raise build.error("must be Dockerfile", "dockerfile", hint="call it that")
        build.done()
    folder = posixpath.normpath(folder)
    if folder != "." and not is_safe_path(folder):
        raise service.error(f"{folder!r} leaves the folder", "build", hint="name one inside")
    return "" if folder == "." else folder


def _variables(service: Reader) -> None:
    """Refuse variables: the sandbox would not set them."""
    value = service.raw.get("environment", [])
    service.keys_seen("environment")
    if value and value != [_USUAL_VARIABLE]:
        hint = "set them in the Dockerfile, by ENV"
        raise service.error("variables are not set", "environment", hint=hint)
