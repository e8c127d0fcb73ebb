"""What a change does to its own judge: named on top of the verdict, or voiding it."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote

from evalgate.commands.gating.additions import additions
from evalgate.commands.gating.settings_change import settings_change
from evalgate.commands.making.judges import judge_edits
from evalgate.commands.making.pricing import price_edits
from evalgate.commands.project import WORKFLOWS, State
from evalgate.core.files import Tree
from evalgate.core.quarantine import added
from evalgate.core.rates import counted
from evalgate.core.short_name import short_of
from evalgate.errors import UsageError
from evalgate.repo.git import DEEPER
from evalgate.repo.pair import Pair
from evalgate.repo.subject import SubjectKind
from evalgate.store.baselines import FOLDER as BASELINES
from evalgate.store.ledger import FOLDER as LEDGER
from evalgate.store.ledger import load_ledger
from evalgate.store.waivers import FOLDER as WAIVERS
from evalgate.store.waivers import load_waivers

#: So many files are named in a sentence.
_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What a change does to its own judge.

    ``voiding`` says why its numbers can not be believed, ``remedy`` which commands mend that;
    ``notes`` stand on top of the verdict; ``foreign`` are baselines of other harnesses, which
    are borne with where a merge has joined them.
    """

    voiding: tuple[str, ...]
    notes: tuple[str, ...]
    foreign: tuple[str, ...] = ()
    remedy: tuple[str, ...] = ()


def look(base: State, head: State, pair: Pair) -> Looked:
    """Look at all that a change does to its own judge.

    Raises:
        UsageError: a baseline, waiver or ledger entry that it adds is none, or a shallow clone
            hides whose a baseline is; or a part of its harness takes files of a task.
    """
    head.require_apart(base.task_paths | head.task_paths)
    edited = edited_baselines(base, head)
    fresh = additions(base, head)
    # What has landed may be a squash: the commits that made those baselines are not to be seen.
    known = pair.head.kind is SubjectKind.REVISION and not pair.landed
    refused = fresh.foreign if known else ()
    if refused and head.project.git.is_shallow():  # the commit may be there, beyond the edge
        raise UsageError(refused[0], hint=DEEPER)
    others = (*fresh.joined, *(() if known else fresh.foreign))
    borne = tuple(f"{one}: it counts for nothing here" for one in others)
    folder = quote(f":/{base.project.within(BASELINES)}")
    remedy = (f"git checkout {(base.view.commit or '')[:12]} -- {folder}",) if edited else ()
    return Looked(
        voiding=(*edited, *refused, *fresh.wrong),
        notes=(*fresh.placed, *gate_edits(base, head), *fresh.notes, *borne),
        foreign=borne,
        remedy=(*remedy, *(fresh.remedy if refused else ())),
    )


def gate_edits(base: State, head: State) -> tuple[str, ...]:
    """Name what the change edits of the gate itself; the base's version is what judges."""
    found = []
    if base.config.policy != head.config.policy:
        told = settings_change(base.config.policy, head.config.policy, without=("quarantine",))
        what = f"the policy ({told})" if told else "the policy"
        sentence = base.config.policy.sentence
        found.append(f"this change edits {what}; judged by the base's: {sentence}")
    shelved = added(base.config.policy.quarantine, head.config.policy.quarantine)
    if shelved:
        tasks = ", ".join(shelved)
        found.append(f"this change puts tasks into quarantine: {tasks}: not yet for itself")
    if base.config.trials != head.config.trials:
        trials = f"{base.config.trials} → {head.config.trials}"
        found.append(f"this change edits suite.trials ({trials}); the base's number is asked for")
    if base.config.limits != head.config.limits:
        told = settings_change(base.config.limits, head.config.limits, prefix="max_")
        found.append(f"this change edits the limits ({told}); the base's hold for its tasks")
    if base.config.tripwires != head.config.tripwires:
        found.append("this change edits the tripwires; the base's are looked for")
    old = {task.id: task.digest for task in base.tasks}
    new = {task.id: task.digest for task in head.tasks_under(base.config.limits)}
    edited = sorted(name for name in old.keys() & new.keys() if old[name] != new[name])
    for verb, names in (
        ("edits", edited),
        ("removes", sorted(old.keys() - new.keys())),
        ("adds", sorted(new.keys() - old.keys())),
    ):
        if names:
            found.append(f"this change {verb} tasks: {', '.join(names)}")
    before, after = _blobs(base, *WORKFLOWS), _blobs(head, *WORKFLOWS)
    workflows = sorted({path for path, _ in before.items() ^ after.items()})
    if workflows:
        found.append(f"this change edits the workflow: {', '.join(workflows)}")
    prices = price_edits(base.config, head.config)
    judges = judge_edits(base.config, head.config, base.tasks)
    return (*found, *judges, *prices, *_cassettes_edits(base, head), *_accepted(base, head))


def _accepted(base: State, head: State) -> list[str]:
    """Name the waivers and the entries of the ledger that a change adds; all of them are read.

    Raises:
        UsageError: one is none, or newer than this evalgate.
    """
    waivers = load_waivers(_added(base, head, WAIVERS))
    entries = load_ledger(_added(base, head, LEDGER))
    return [
        *(
            f"this change adds a waiver, which does not count until the base has it: {one.sentence}"
            for one in waivers
        ),
        *(
            f"this change adds to the ledger: harness {short_of(one.fingerprint)} {one.decision},"
            f" {one.passed}/{one.measured} passed"
            for one in entries
        ),
    ]


def _added(base: State, head: State, folder: str) -> Tree:
    """Return the files that a change adds to a folder, or edits a waiver into."""
    where = head.project.within(folder)
    before, after = _blobs(base, f"{where}/**"), _blobs(head, f"{where}/**")
    kept = {path for path in before if folder == LEDGER or before[path] == after.get(path)}
    files = head.view.read_prefix(where)
    return {path: file for path, file in files.items() if f"{where}/{path}" not in kept}


def _cassettes_edits(base: State, head: State) -> list[str]:
    """Name what the change does to recordings: a rule ``.+`` would let anything match."""
    found = []
    old, new = base.config.cassettes, head.config.cassettes
    if old.rules != new.rules:
        before = {rule.name: rule for rule in old.scrubs}
        after = {rule.name: rule for rule in new.scrubs}
        names = sorted(
            name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
        )
        found.append(f"this change edits what replays scrub: {', '.join(names) or 'their order'}")
    if old.path != new.path:
        found.append(f"this change moves the recordings from {old.path} to {new.path}")
    elif head.shelf.within is not None:
        found += _recordings_edits(base, head, head.shelf.within)
    if head.shelf.outside:
        found.append(f"recordings are read from {head.shelf.name}: no commit holds them")
    return found


def _recordings_edits(base: State, head: State, shelf: str) -> list[str]:
    """Name what becomes of recordings that the base has: any edited, or its own deleted."""
    before, after = _blobs(base, f"{shelf}/**"), _blobs(head, f"{shelf}/**")
    own = f"{shelf}/{short_of(base.fingerprint.digest)}/"
    edited = [path for path, oid in before.items() if after.get(path, oid) != oid]
    gone = [path for path in before if path not in after and path.startswith(own)]
    return [
        f"this change {verb} {counted(len(paths), 'recording')} that the base has: "
        f"{', '.join(paths[:_NAMED])}{', …' if len(paths) > _NAMED else ''}{after}"
        for verb, paths, after in (
            ("edits", edited, "; what a baseline counts of them is proven no more"),
            ("deletes", gone, ""),
        )
        if paths
    ]


def edited_baselines(base: State, head: State) -> tuple[str, ...]:
    """Name committed baselines and ledger files that the change edits or deletes.

    A waiver may go: what it accepted is then a regression again.
    """
    glob, waivers = head.project.within(f"{BASELINES}/**"), f"{head.project.within(WAIVERS)}/"
    old, new = _blobs(base, glob), _blobs(head, glob)
    return tuple(
        f"{path} was {'edited' if path in new else 'deleted'} by this change"
        for path, oid in old.items()
        if new.get(path) != oid and not path.startswith(waivers)
    )


def _blobs(state: State, *globs: str) -> dict[str, str]:
    return {entry.path: entry.oid for entry in state.view.entries(globs)}
