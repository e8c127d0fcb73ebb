"""Audits of the tasks and of how they are tried."""

from __future__ import annotations

from typing import Final

from evalgate.checks.table import OF_MODEL
from evalgate.commands.doctor.audit import Finding, advice, good, wrong
from evalgate.commands.doctor.facts import Facts
from evalgate.core.foresight import too_small
from evalgate.core.rates import counted
from evalgate.core.sandbox import PROCESS
from evalgate.core.task import Task
from evalgate.core.tripwires import TRIPWIRES

_FEWEST, _MOST = 10, 20
_TRIALS: Final = 5
#: Checks whose word is a number between yes and no, or another model's opinion.
_SOFT: Final = frozenset({*OF_MODEL, "tool_efficiency"})
#: Where history lies in a folder that should have none.
_HISTORY: Final = (".git", "packed-refs", "ORIG_HEAD", "FETCH_HEAD")


def readable(facts: Facts) -> Finding:
    """All tasks can be read, and break no rule."""
    suite = facts.suite
    if suite.unreadable:
        return wrong(suite.unreadable[0], "evalgate task lint")
    if not suite.tasks:
        return wrong("there is no task", "evalgate task mine")
    if suite.problems:
        return advice(f"broken: {counted(suite.problems, 'rule')}", "evalgate task lint")
    return good(f"{counted(len(suite.tasks), 'task')}, no rule is broken")


def from_history(facts: Facts) -> Finding:
    """There are 10 to 20 tasks, most of them from the team's own history."""
    count, own = len(facts.suite.tasks), facts.suite.from_history
    words = f"{counted(count, 'task')}, {own} of them say that they come from history"
    if count < _FEWEST:
        return advice(f"{words}: {_FEWEST} to {_MOST} find more", "evalgate task mine")
    if own * 2 < count:
        return advice(words, "evalgate task mine")
    if count > _MOST:
        return advice(f"{words}: more than {_MOST} cost more than they find", "evalgate plan")
    return good(words)


def binary(facts: Facts) -> Finding:
    """What decides on a task says yes or no."""
    if not facts.suite.tasks:
        return _nothing()
    soft = [task.id for task in facts.suite.tasks if not _decides(task)]
    if soft:
        fix = f"evalgate task show {soft[0]}"
        return advice(f"only an opinion decides on {', '.join(soft)}: add tests or a check", fix)
    return good("tests or checks decide on every task")


def out_of_reach(facts: Facts) -> Finding:
    """No part of the harness takes a task's files, so that no agent reads what grades it."""
    if not facts.suite.tasks:
        return _nothing()
    if facts.suite.reachable:
        return wrong(facts.suite.reachable, "name globs apart from the suite in [harness.parts]")
    return good("no part of the harness holds files of a task")


def no_history(facts: Facts) -> Finding:
    """No task begins with a history in which the answer may lie."""
    if not facts.suite.tasks:
        return _nothing()
    for task in facts.suite.tasks:
        for path in (*task.workspace, *task.environment.context):
            parts = path.split("/")
            if set(parts) & set(_HISTORY) or path.endswith((".bundle", ".pack")):
                fix = f"git rm -r the {path} of {task.id}"
                return wrong(f"{task.id} begins with {path}, which is of a history", fix)
    return good("tasks begin with files, and git makes one commit of them")


def sandboxed(facts: Facts) -> Finding:
    """Every trial is in a fresh sandbox without network."""
    sandbox, agent = facts.config.sandbox, facts.config.agent
    if sandbox.use == PROCESS:
        return wrong("sandbox.use is process, which isolates nothing", 'sandbox.use = "auto"')
    if agent.placement == "host":
        fix = 'agent.placement = "sandbox"'
        return advice("the agent is on the host: it sees files and network of this machine", fix)
    if sandbox.setup_network:
        return advice("set-up stages have the network", "sandbox.setup_network = false")
    return good("fresh sandboxes; agent and tests have no network")


def tripwired(facts: Facts) -> Finding:
    """The usual tripwires are looked for, and hits count; each trial has its own canary."""
    wires = facts.config.tripwires
    missing = sorted({wire.name for wire in TRIPWIRES} - {wire.name for wire in wires.wires})
    if missing:
        return advice(f"not looked for: {', '.join(missing)}", "take them out of tripwires.without")
    if not wires.voids:
        return advice("a hit is shown and decides nothing", 'tripwires.policy = "void"')
    return good(f"{len(wires.wires)} tripwires and a canary in each trial; a hit voids")


def trials(facts: Facts) -> Finding:
    """There are five trials of a task or more."""
    count = facts.config.trials
    if count < _TRIALS:
        return advice(
            f"too few to say much: {counted(count, 'trial')} of a task", f"suite.trials = {_TRIALS}"
        )
    small = too_small(len(facts.suite.tasks), facts.config.policy, runs=count)
    if small:
        return advice(small[0], "evalgate plan")
    return good(f"{counted(count, 'trial')} of each task")


def _nothing() -> Finding:
    """Return that there is no task of which this could be said."""
    return advice("there is no task to look at", "evalgate task mine")


def _decides(task: Task) -> bool:
    hard = [one for one in task.checks if not one.advisory and one.type not in _SOFT]
    return bool(task.tests or hard)
