"""The plumbing test: does an edited harness still run against stale recordings?

It measures nothing: the answers are those that another harness got.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence

from evalgate.commands.console import Console
from evalgate.commands.making.announcement import announce
from evalgate.commands.project import Project, open_state
from evalgate.commands.recordings import find_recordings
from evalgate.core.harness import Harness
from evalgate.core.rates import counted
from evalgate.core.task import Task
from evalgate.repo.subject import Subject
from evalgate.runner.recorded import RecordedTrial
from evalgate.runner.trial import plumbing_trial
from evalgate.wiring import Kind, Setup, open_bench

#: How many tasks a push tries: enough to see that the agent starts, asks and ends.
_TASKS = 3


def plumbing(
    harness: Harness,
    tasks: Sequence[Task],
    recorded: Mapping[str, RecordedTrial],
    sandbox: str,
    console: Console,
) -> dict[str, str]:
    """Run a harness's agent once a task against a stale recording of that task.

    Returns task id -> what is broken, empty where it runs. ``recorded`` is by task id; with
    ``auto`` the ``sandbox`` is the one that was recorded in, where it is there.
    """
    setup = Setup(
        kind=Kind.REPLAY,
        harness=harness,
        tasks=tasks,
        sandbox=sandbox,
        recorded_in=sorted({one.conditions.sandbox for one in recorded.values()}),
    )
    with open_bench(setup, os.environ) as bench:
        announce(bench, setup.kind, console, recorded_in=setup.recorded_in)
        stop = threading.Event()
        return {
            task.id: plumbing_trial(bench, bench.laid_out(task), recorded[task.id].tape, stop) or ""
            if task.id in recorded
            else "was never recorded"
            for task in tasks
        }


def plumbing_of_push(project: Project, head: str, base: str, console: Console) -> str:
    """Test the head's plumbing with the base's recordings; return one line: how it went."""
    with (
        open_state(project, Subject.parse(head)) as state,
        open_state(project, Subject.parse(base)) as old,
    ):
        found = find_recordings(old, old.fingerprint.digest).trials
        # First those that run anywhere: a push is no time to build images.
        order = sorted(old.tasks, key=lambda task: bool(task.environment.needs))
        tasks = [task for task in order if found.get(task.id)][:_TASKS]
        if not tasks:
            return "the plumbing was not tested: the base has no recordings"
        recorded = {task.id: found[task.id][0] for task in tasks}
        told = plumbing(state.harness, tasks, recorded, state.config.sandbox.use, console)
    for task, trouble in told.items():
        if trouble:
            return f"the plumbing is broken: {task}: {trouble}"
    tried = counted(len(told), "task")
    return f"the plumbing works ({tried} against stale recordings, nothing measured)"
