"""`evalgate waive`: accept a known regression for a while, in a file that is committed."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from functools import partial

from evalgate.commands.project import Project, State, looked_at, open_state, subject_of
from evalgate.core.short_name import short_of
from evalgate.core.verdict import Verdict
from evalgate.core.waiver import Waiver, waived
from evalgate.disk import write_whole
from evalgate.errors import UsageError
from evalgate.repo.base import resolve_pair
from evalgate.repo.subject import Subject
from evalgate.store.waivers import FOLDER, dump_waiver, load_waivers


def waive(
    project: Project,
    *,
    task: str,
    max_drop: float,
    until: date,
    reason: str,
    base: str | None,
    head: str | None,
) -> str:
    """Write a waiver for the pair of harnesses that the gate would compare; return its path.

    Raises:
        UsageError: a day that has passed, no reason, an unknown task, or no base.
    """
    if until < today():
        message = f"--until {until} has passed"
        raise UsageError(message, hint="a waiver holds up to and with that day")
    if not reason.strip():
        raise UsageError("--reason is empty", hint="say why the drop is accepted")
    pair = resolve_pair(
        project.git,
        base=base,
        head=None if head is None else subject_of(head),
        environ=os.environ,
        look=partial(looked_at, project),
    )
    if pair.base is None:
        raise UsageError("there is no base to be worse than", hint="--base names one")
    with (
        open_state(project, Subject.parse(pair.base)) as old,
        open_state(project, pair.head) as new,
    ):
        if task and task not in {one.id for one in old.tasks}:
            message = f"--task {task}: the base has no such task"
            raise UsageError(message, hint="evalgate gate names the tasks that broke")
        waiver = Waiver(
            base=old.fingerprint.digest,
            head=new.fingerprint.digest,
            task=task,
            max_drop=max_drop,
            until=until,
            reason=reason.strip(),
        )
    if waiver.base == waiver.head:
        message = f"base and head have one harness ({short_of(waiver.base)}): nothing to waive"
        raise UsageError(message, hint="--base and --head name the pair")
    path = project.root / FOLDER / waiver.filename
    write_whole(path, dump_waiver(waiver))
    return str(path)


def after_waivers(verdict: Verdict, base: State, head: State) -> tuple[Verdict, tuple[str, ...]]:
    """Return the verdict with what the base's waivers accept, and which of them have run out.

    Only a waiver that stands on the base's side counts: nobody waives a change in itself.
    """
    files = base.view.read_prefix(base.project.within(FOLDER))
    approved = load_waivers(files)
    pair = (base.fingerprint.digest, head.fingerprint.digest)
    notes = [
        f"a waiver has run out: {one.sentence}"
        for one in approved
        if (one.base, one.head) == pair and one.until < today()
    ]
    found = waived(verdict, approved, today=today())
    return found, tuple(notes)


def accepted_before(base: State) -> tuple[str, ...]:
    """Say what was accepted of the base's own harness, as long as that holds."""
    own = base.fingerprint.digest
    return tuple(
        f"accepted of the base: {one.told(today())}"
        for one in load_waivers(base.view.read_prefix(base.project.within(FOLDER)))
        if one.head == own and today() <= one.until
    )


def today() -> date:
    """Return the day it is, in UTC."""
    return datetime.now(UTC).date()
