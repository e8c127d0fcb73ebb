"""A task made of a failed trial: the same start and tests, and what the failure adds to them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import tomli_w

from evalgate.commands.project import State
from evalgate.commands.tasks.writing import NewFolder
from evalgate.core.files import File, Tree
from evalgate.core.identity import storage_key
from evalgate.core.mined import for_pytest
from evalgate.core.plain import readable, shortened
from evalgate.core.python_tests import UNITTEST, pytest_command
from evalgate.core.trial import Outcome, Trial
from evalgate.errors import NothingRanError, UsageError
from evalgate.store.runs import RunStore

#: Where tests that came later lie among a task's own, out of the way of what runs these.
_AGAIN = "again"


def task_again(
    state: State,
    named: str,
    instruction: str,
    tests: Tree,
    ask: Callable[[str], str] | None,
    *,
    name: str = "",
) -> NewFolder:
    """Return the folder of the task that a trial ``RUN:TASK[:N]`` becomes.

    Raises:
        UsageError: there is no such trial, or it adds nothing to the task that is there.
        NothingRanError: the run has no trial of that task.
    """
    run_name, _, rest = named.partition(":")
    task_name, _, number = rest.partition(":")
    if not task_name or (number and not number.isdecimal()):
        message = f"--from-run {named!r}: not RUN:TASK"
        raise UsageError(message, hint="as latest:my-task, or latest:my-task:2 for its second")
    run = RunStore(state.project.state).find(run_name)
    trial = _trial(run.id, run.trials, task_name, number)
    folder = next((one for one in state.folders if one.id == trial.task), None)
    if folder is None or "task.toml" not in folder.files:
        message = f"the task {trial.task} is no folder of the suite any more"
        raise UsageError(message, hint="git log -- its folder; or --from-commit SHA")
    if not instruction and not tests:
        if ask is not None:
            said = ask(
                f"{trial.task} #{trial.key.n} {trial.outcome}: {trial.reason}. What should the"
                " agent be told in the new task? (nothing: the same, with own tests by --test)"
            )
            instruction = readable(said)
        if not instruction.strip():
            message = f"it would be {trial.task} once more"
            hint = "say what is new: --instruction TEXT, or --test FILE for what the failure showed"
            raise UsageError(message, hint=hint)
    origin = {
        "run": run.id,
        "task": trial.task,
        "trial": str(trial.key.n),
        "outcome": str(trial.outcome),
        "reason": shortened(trial.reason, 300),
        "fingerprint": trial.key.fingerprint,
    }
    stamp = "".join(filter(str.isdecimal, run.id))[:17]
    name = name or f"{storage_key(trial.task)}-{stamp}-{trial.key.n}"
    files = dict(folder.files)
    files["task.toml"] = _toml(files["task.toml"].data.decode(), name, origin, tests)
    if instruction.strip():
        files["instruction.md"] = File(data=f"{instruction.strip()}\n".encode())
    for path, file in tests.items():
        files[f"tests/{_AGAIN}/{path.rpartition('/')[2]}"] = file
    return NewFolder(name=name, files=files, origin=origin)


def _trial(run: str, trials: tuple[Trial, ...], task: str, number: str) -> Trial:
    found = [one for one in trials if one.task == task]
    if number:
        found = [one for one in found if one.key.n == int(number)]
    if not found:
        tasks = ", ".join(sorted({one.task for one in trials})) or "none"
        wanted = f"{task}:{number}" if number else f"of {task}"
        raise NothingRanError(f"{run} has no trial {wanted}", hint=f"its tasks: {tasks}")
    return next((one for one in found if one.outcome is Outcome.FAILED), found[0])


def _toml(text: str, name: str, origin: dict[str, str], tests: Tree) -> File:
    value: dict[str, Any] = tomllib.loads(text.replace("\r\n", "\n"))
    value.setdefault("task", {})["name"] = f"local/{name}"
    ours = value.setdefault("metadata", {}).setdefault("evalgate", {})
    ours["tags"] = list(dict.fromkeys([*ours.get("tags", []), "regression"]))
    ours["origin"] = origin
    if tests:
        ours["checks"] = [
            *ours.get("checks", []),
            {"type": "command_succeeds", "command": _run(tests)},
        ]
    return File(data=tomli_w.dumps(value).encode())


def _run(tests: Tree) -> str:
    place = f'"$EVALGATE_TESTS/{_AGAIN}"'
    if for_pytest(tests):
        return f"{pytest_command('-q')} {place}"
    return f"{UNITTEST} discover -s {place}"
