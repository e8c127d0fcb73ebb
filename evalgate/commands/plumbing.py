"""A plumbing test: does the edited harness still run, against recordings of another one?"""

from __future__ import annotations

import os
import threading

from evalgate.commands.console import Console
from evalgate.commands.project import Project, open_state
from evalgate.commands.recordings import find_recordings
from evalgate.commands.trials import announce
from evalgate.repo.treeview import Subject
from evalgate.runner.trial import plumbing_trial
from evalgate.wiring import Kind, Setup, open_bench

#: How many tasks are tried: enough to see that the agent starts, asks and ends.
_TASKS = 3


def plumbing(project: Project, head: str, base: str, console: Console) -> str:
    """Run the head's agent against the base's recordings; return one line that says how it went.

    It measures nothing: the answers are those that another harness got.
    """
    with (
        open_state(project, Subject.parse(head)) as state,
        open_state(project, Subject.parse(base)) as old,
    ):
        harness, tasks = state.harness, {task.id: task for task in old.tasks}
        recordings = find_recordings(old, old.fingerprint.digest)
        pairs = [(tasks[t], many[0]) for t, many in recordings.trials.items() if t in tasks]
        if not pairs:
            return "the pipeline was not tried: the base has no recordings"
        # First those that run anywhere: a push is no time to build images.
        chosen = sorted(pairs, key=lambda pair: bool(pair[0].environment.needs))[:_TASKS]
        setup = Setup(
            kind=Kind.REPLAY,
            harness=harness,
            tasks=[task for task, _ in chosen],
            sandbox=state.config.sandbox.use,
        )
        with open_bench(setup, os.environ) as bench:
            announce(bench.provider, Kind.REPLAY, console)
            for task, recorded in chosen:
                broken = plumbing_trial(bench, task, recorded.tape, threading.Event())
                if broken is not None:
                    return f"the pipeline is broken: {task.id}: {broken}"
    return f"the pipeline works ({len(chosen)} tasks against stale recordings, nothing measured)"
