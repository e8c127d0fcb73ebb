"""A push that touches the harness: the gate by what is recorded, or the plumbing test."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime

from evalgate.commands.console import Console
from evalgate.commands.gating.gate import GateOptions, gate
from evalgate.commands.making.estimate import ESTIMATE
from evalgate.commands.making.plumbing import plumbing_of_push
from evalgate.commands.project import Project, open_state
from evalgate.errors import ExitCode, NoConfigurationError
from evalgate.repo.pair import Pair
from evalgate.repo.place import Place
from evalgate.repo.subject import Subject
from evalgate.report.task_rows import culprits
from evalgate.store.runs import RunStore
from evalgate.store.skips import Skip, append_skip

#: Decisions that stop a push whatever the project says.
_BLOCKING = (ExitCode.REGRESSION, ExitCode.VOID)
#: So many tasks that a stopped push broke are named.
_NAMED = 3


def judge_push(place: Place, ref: str, pair: Pair, base: str) -> tuple[ExitCode, list[str]]:
    """Judge what a ref is pushed for; return what the push gets, and the lines to say."""
    project = Project(git=place.git, prefix=place.prefix, config_name=place.config_name)
    if not _touched(project, pair.head.rev, base):
        return ExitCode.OK, []
    reason = " ".join(os.environ.get("EVALGATE_SKIP", "").split())
    if reason:
        date = datetime.now(UTC).isoformat(timespec="seconds")
        skip = Skip(date=date, ref=ref, head=pair.head.rev, base=base, reason=reason)
        RunStore(project.state).prepare()
        append_skip(project.state, skip)
        return ExitCode.OK, [f"{ref}: skipped: EVALGATE_SKIP={reason} (kept: evalgate ledger)"]
    return _judge(project, pair, base)


def _touched(project: Project, head: str, base: str) -> bool:
    try:
        with (
            open_state(project, Subject.parse(base)) as old,
            open_state(project, Subject.parse(head)) as new,
        ):
            return old.fingerprint.digest != new.fingerprint.digest
    except NoConfigurationError:  # a commit from before evalgate was adopted
        return False


def _judge(project: Project, pair: Pair, base: str) -> tuple[ExitCode, list[str]]:
    console = Console(quiet=True)
    code, gated = gate(project, GateOptions(once=True), console, pair=pair)
    verdict, head = gated.verdict, pair.head.rev
    said = [f"{verdict.decision}: {verdict.sentence}"]
    if code is ExitCode.DIVERGED:
        cost = [one for one in verdict.reasons if one.startswith(ESTIMATE)]
        said += [f"  {one}" for one in verdict.reasons if one not in cost]
        said.append(plumbing_of_push(project, head, base, console))
        said.append(_unmeasured(gated.story.next_steps, *cost))
        with open_state(project, Subject.parse(head)) as state:
            blocked = state.config.hook_on_stale == "block"
        return code if blocked else ExitCode.OK, said
    said += [f"  {row.task} {row.sentence}" for row in culprits(verdict)[:_NAMED]]
    said += [f"  {one}" for one in verdict.reasons]
    if code is not ExitCode.OK:
        said.append(f"read {project.state / 'verdict.md'}")
    return code if code in _BLOCKING else ExitCode.OK, said


def _unmeasured(steps: Sequence[str], cost: str = "") -> str:
    """Say that an edit is not measured, the command that measures it, and what that may cost."""
    command = " && ".join(step.partition("  #")[0].rstrip() for step in steps)
    return f"this edit is not measured: {command}" + (f" ({cost})" if cost else "")
