"""`evalgate baseline prune`: baselines of harnesses that nobody compares with any more."""

from __future__ import annotations

from dataclasses import dataclass

from evalgate.commands.baselines.ancestry import digest_of, harnesses_before
from evalgate.commands.baselines.listing import said_of_place
from evalgate.commands.project import Project, State, open_state
from evalgate.commands.tables import rate, render_rows
from evalgate.core.baseline import superseded
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.errors import UsageError
from evalgate.repo.history import tags_within
from evalgate.repo.remotes import default_branch
from evalgate.repo.subject import Subject
from evalgate.store.baselines import FOLDER

#: How many changes of the harness are looked back over.
_LIMIT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What may go, a line each, what stays for its age or a tag, and whether it went."""

    files: tuple[str, ...]
    lines: tuple[str, ...]
    kept: int
    deleted: bool

    @property
    def text(self) -> str:
        """The list, and what to do next."""
        if not self.files:
            kept = counted(self.kept, "baseline")
            return f"nothing to prune: of harnesses that are kept: {kept}"
        done = "deleted" if self.deleted else "may go (--yes deletes them)"
        lines = [*self.lines, f"{len(self.files)} {done}, {self.kept} stay; the ledger stays whole"]
        if self.deleted:
            lines.append("commit that by itself: a gate voids a change that deletes baselines")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"files": list(self.files), "kept": self.kept, "deleted": self.deleted}


def prune(project: Project, *, keep: int, yes: bool) -> Pruned:
    """List committed baselines that no change looks up any more; delete them with ``yes``.

    Kept are those of the newest ``keep`` harnesses with a baseline on the branch's first-parent
    line, of every tagged commit, and of the index and work tree as they are; but none whose place
    another took. What is not committed is not touched.

    Raises:
        UsageError: this is not the default branch, or its history is not here.
    """
    git = project.git
    git.resolve("HEAD")
    here = git.run("symbolic-ref", "-q", "--short", "HEAD", ok=(0, 1)).decode().strip()
    wanted = default_branch(git)
    if not here or here != wanted:
        message = f"baselines are pruned on {wanted or 'the default branch'} alone"
        at = f"branch {here}" if here else "no branch"
        raise UsageError(f"{message}, and this is {at}", hint=f"git switch {wanted or 'main'}")
    if git.is_shallow():
        hint = "git fetch --unshallow"
        raise UsageError("the clone is shallow: nobody sees which harnesses it had", hint=hint)
    with open_state(project, Subject.parse("HEAD")) as state:
        baselines = state.baselines()
        kept = _kept(state, {one.sample.fingerprint for one in baselines}, keep)
    replaced = superseded(baselines)
    gone = [
        one for one in baselines if one.sample.fingerprint not in kept or one.digest in replaced
    ]
    rows = [
        (
            f"{FOLDER}/{one.filename}",
            str(one.provenance.day),
            rate(one.sample),
            said_of_place(one, baselines),
        )
        for one in gone
    ]
    if yes:
        for one in gone:
            (project.root / FOLDER / one.filename).unlink(missing_ok=True)
    return Pruned(
        files=tuple(f"{FOLDER}/{one.filename}" for one in gone),
        lines=tuple(render_rows(rows).splitlines()) if rows else (),
        kept=len(baselines) - len(gone),
        deleted=yes and bool(gone),
    )


def _kept(state: State, measured: set[str], keep: int) -> set[str]:
    """Return the harnesses whose baselines stay."""
    tips = {state.fingerprint.digest}
    for name in ("INDEX", "WORKTREE"):
        with open_state(state.project, Subject.parse(name)) as now:
            tips.add(now.fingerprint.digest)
    tags = tags_within(state.project.git, "HEAD")
    marked = {digest_of(state.project, commit) for commit in {*tags.values()}}
    line = (state.fingerprint, *harnesses_before(state, _LIMIT))
    newest = [one for one in dict.fromkeys(one.digest for one in line) if one in measured]
    return {*newest[:keep], *tips, *(one for one in marked if one is not None)}
