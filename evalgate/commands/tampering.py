"""What a change does to its own judge: named on top of the verdict, or voiding it."""

from __future__ import annotations

from evalgate.commands.project import WORKFLOWS, State
from evalgate.store.waivers import FOLDER


def gate_edits(base: State, head: State) -> tuple[str, ...]:
    """Name what the change edits of the gate itself; the base's version is what judges."""
    found = []
    if base.config.policy != head.config.policy:
        found.append(
            f"this change edits the policy; judged by the base's: {base.config.policy.sentence}"
        )
    if base.config.tripwires != head.config.tripwires:
        found.append("this change edits the tripwires; the base's are looked for")
    old = {task.id: task.digest for task in base.tasks}
    new = {task.id: task.digest for task in head.tasks}
    edited = sorted(name for name in old.keys() & new.keys() if old[name] != new[name])
    for verb, names in (
        ("edits", edited),
        ("removes", sorted(old.keys() - new.keys())),
        ("adds", sorted(new.keys() - old.keys())),
    ):
        if names:
            found.append(f"this change {verb} tasks: {', '.join(names)}")
    before, after = _blobs(base, WORKFLOWS), _blobs(head, WORKFLOWS)
    workflows = sorted({path for path, _ in before.items() ^ after.items()})
    if workflows:
        found.append(f"this change edits the workflow: {', '.join(workflows)}")
    return (*found, *_cassettes_edits(base, head))


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
    if head.shelf.outside:
        found.append(f"recordings are read from {head.shelf.name}: no commit holds them")
    return found


def edited_baselines(base: State, head: State) -> tuple[str, ...]:
    """Name committed baselines and ledger files that the change edits or deletes.

    A waiver may go: what it accepted is then a regression again.
    """
    glob, waivers = head.project.within("baselines/**"), f"{head.project.within(FOLDER)}/"
    old, new = _blobs(base, glob), _blobs(head, glob)
    return tuple(
        f"{path} was {'edited' if path in new else 'deleted'} by this change"
        for path, oid in old.items()
        if new.get(path) != oid and not path.startswith(waivers)
    )


def _blobs(state: State, glob: str) -> dict[str, str]:
    return {entry.path: entry.oid for entry in state.view.entries([glob])}
