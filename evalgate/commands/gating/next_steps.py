"""The commands that a page tells to go on with: they name the very pair that was judged."""

from __future__ import annotations

from dataclasses import dataclass

from evalgate.commands.project import State
from evalgate.repo.subject import SubjectKind

_RECORD = "   # live trials of this harness, with its recordings"
_MEASURE = f"evalgate run --record{_RECORD}", "evalgate baseline accept latest"
#: How the first harness is measured, which later edits are held against.
ADOPT = (*_MEASURE, "git add baselines cassettes && git commit")
#: How a harness that a merge made of two is measured.
MEASURE_UNION = (
    *_MEASURE,
    "git add baselines cassettes && git commit   # on a branch, once its target is merged in",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextSteps:
    """``gate`` judges the same pair once more, ``record`` measures its head."""

    gate: str
    record: str


def next_steps(base: State, head: State, kind: SubjectKind, *, away: bool) -> NextSteps:
    """Name the pair where the commands would take another one without words.

    Those judge an edit of the work tree against HEAD, or else HEAD against its parent. ``away``
    is a page that is read elsewhere, in a clone that has the head checked out: all is named but
    the head.
    """
    git = head.project.git
    (current,) = git.lookup("HEAD^{commit}")
    commit = head.view.commit
    rev = {SubjectKind.INDEX: "INDEX", SubjectKind.WORKTREE: ""}.get(kind, (commit or "")[:12])
    if away or (commit is not None and commit == current):
        rev = ""
    if kind is SubjectKind.REVISION and commit is not None:
        plain = not rev and not away and git.parents(commit)[:1] == (base.view.commit,)
    else:
        plain = base.view.commit == current
    words = "" if plain else f" --base {(base.view.commit or '')[:12]}"
    words += f" --head {rev}" if rev else ""
    measured = f" --rev {rev}" if rev else ""
    return NextSteps(
        gate=f"evalgate gate{words}", record=f"evalgate run{measured} --record{_RECORD}"
    )


def measure_base(base: str) -> tuple[str, ...]:
    """Return how the harness of a base is measured."""
    return (
        f"evalgate run --rev {base[:12]} -k 20   # live trials of the base's harness",
        "evalgate baseline accept latest",
        "git add baselines && git commit   # on the base branch",
    )
