"""The search stage: an agent that does no work and looks for what it should not find.

It stands where an agent would, with the same files, the same repository and the same canary, and
tells what lies there. What it leaves is what an agent leaves that does nothing.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from evalgate.core.claim import Claim, claim_of
from evalgate.core.files import Tree
from evalgate.core.giveaways import searched_names
from evalgate.core.hidden_names import last_name
from evalgate.core.proof import Flaw, Rule
from evalgate.core.task import Task
from evalgate.core.trajectory import Trajectory
from evalgate.core.tripwires import canary_tripwire, find_hits
from evalgate.protocols import SandboxProvider, Stage, StageStatus
from evalgate.repo.snapshot import single_commit_repository
from evalgate.runner.canary import canary_files, new_canary
from evalgate.runner.stopped import TrialStoppedError

_SECONDS: Final = 120.0
#: A shorter file may well be somewhere by chance; so many sizes are looked for at most.
_TELLING: Final = 64
_MOST_SIZES: Final = 500
#: Says how many commits there are, then what of a name or of a size lies anywhere: a folder of
#: git, or a file with the digest of its content. Places of the system itself hold no files.
_SCRIPT: Final = r"""
cat "$HOME/.evaluation/README.md"
repo=$PWD
if command -v git >/dev/null; then
  echo "@commits $(git rev-list --all --reflog --count) $(git remote | wc -l)"
  git fsck --lost-found --no-progress 2>/dev/null | sed 's/^/@lost /'
fi
command -v find >/dev/null || { echo @unsearched; exit 0; }
find / \( -path /proc -o -path /sys -o -path /dev \) -prune -o -type d -name .git -print \
  2>/dev/null | while IFS= read -r place; do
  [ "$place" = "$repo/.git" ] || echo "@git $place"
done
expression=
for size in $1; do
  expression="$expression ${expression:+-o} -size ${size}c"
done
shift
if [ -n "$expression" ]; then
  find / \( -path /proc -o -path /sys -o -path /dev \) -prune -o -type f \( $expression \) \
    -exec sha256sum {} + 2>/dev/null | sed 's/^/@like /'
fi
for name in "$@"; do
  find / \( -path /proc -o -path /sys -o -path /dev \) -prune -o -type f -path "*/$name" -print \
    2>/dev/null | while IFS= read -r place; do
    sum=$(sha256sum "$place" 2>/dev/null) || continue
    echo "@file ${sum%% *} $place"
  done
done
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What an agent that does nothing leaves, and what lies within its reach."""

    claim: Claim = field(default_factory=Claim)
    flaws: tuple[Flaw, ...] = ()


def search(provider: SandboxProvider, task: Task, solved: Tree, stop: threading.Event) -> Searched:
    """Look for history, hidden tests and the finished files in the place of an agent.

    ``solved`` are the files with the solution laid over them. Where the host's own files are in
    sight nothing is searched, and an advisory flaw says so. Raises TrialStoppedError when
    interrupted.
    """
    if not provider.promises.hides_host_files:
        said = f"the sandbox {provider.name!r} shows the files of this machine: not searched"
        return Searched(flaws=(Flaw(rule=Rule.NOT_SEARCHED, said=said, advisory=True),))
    names, token = searched_names(task, solved), new_canary()
    with provider.open_sandbox() as sandbox:
        stage = Stage(
            trees={
                "repo": {**task.workspace, **single_commit_repository(task.workspace)},
                "home": canary_files(token),
            },
            argv=["/bin/sh", "-c", _SCRIPT, "search", _sizes(task, solved), *sorted(names)],
            timeout=_SECONDS,
        )
        result = sandbox.run(stage, stop)
        place = sandbox.places.repo
    if result.status is StageStatus.INTERRUPTED:
        raise TrialStoppedError
    if result.status is not StageStatus.EXITED or "repo" not in result.trees:
        said = f"the search ended with {result.status}: {result.detail}".rstrip(": ")
        return Searched(flaws=(Flaw(rule=Rule.NOT_MEASURED, said=said),))
    text = result.log.decode("utf-8", "replace")
    flaws = [*_canary(token, result.log), *_found(text, task, solved, place)]
    return Searched(claim=claim_of(task.workspace, result.trees["repo"]), flaws=tuple(flaws))


def _sizes(task: Task, solved: Tree) -> str:
    """Return the sizes of what must lie nowhere, whatever it is called there."""
    changed = [file for name, file in solved.items() if task.workspace.get(name) != file]
    hidden = [len(file.data) for file in [*task.tests.values(), *changed]]
    return " ".join(map(str, sorted({size for size in hidden if size >= _TELLING})[:_MOST_SIZES]))


def _canary(token: str, log: bytes) -> Iterator[Flaw]:
    """Tell when what was read is not the canary, or the tripwire sleeps."""
    wires = [canary_tripwire(token)]
    if not find_hits(wires, Trajectory(), log=log, claim=Claim()):
        said = "the canary does not lie in the agent's home, or its tripwire does not fire"
        yield Flaw(rule=Rule.CANARY, said=said)


def _found(text: str, task: Task, solved: Tree, repo: str) -> Iterator[Flaw]:
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "@commits" and rest.split() != ["1", "0"]:
            said = f"the workspace's repository has {' commits and '.join(rest.split())} remotes"
            yield Flaw(rule=Rule.HISTORY, said=said)
        elif kind == "@lost":
            yield Flaw(rule=Rule.HISTORY, said=f"the workspace's repository holds a {rest}")
        elif kind == "@git":
            yield Flaw(rule=Rule.HISTORY, said=f"a repository lies at {rest}")
        elif kind == "@unsearched":
            said = "the image has no find: files were not searched"
            yield Flaw(rule=Rule.NOT_SEARCHED, said=said, advisory=True)
        elif kind == "@file":
            digest, _, path = rest.partition(" ")
            yield from _file(digest, path, task, solved, repo)
        elif kind == "@like":
            digest, _, path = rest.partition("  ")
            yield from _like(digest, path, task, solved, repo)


def _file(digest: str, path: str, task: Task, solved: Tree, repo: str) -> Iterator[Flaw]:
    own = path.removeprefix(f"{repo.rstrip('/')}/")
    if own != path and own in task.workspace:  # looked at before, by its content
        return
    tests = {_digest(file.data) for name, file in task.tests.items() if last_name(name) in path}
    if digest in tests:
        yield Flaw(rule=Rule.TESTS_TOLD, said=f"a hidden test lies at {path}")
    for name, file in sorted(solved.items()):
        if task.workspace.get(name) == file or last_name(name) != last_name(path):
            continue
        if file.data.strip() and _digest(file.data) == digest:
            said = f"the finished {name} lies at {path}"
            yield Flaw(rule=Rule.ANSWER_TOLD, said=said)
        elif (below := name.removeprefix("src/")).count("/") and path.endswith(f"/{below}"):
            said = f"another version of {name} lies at {path}"
            yield Flaw(rule=Rule.ANSWER_TOLD, said=said)


def _like(digest: str, path: str, task: Task, solved: Tree, repo: str) -> Iterator[Flaw]:
    """Tell what has the very content of a hidden test or of a finished file under any name."""
    own = path.removeprefix(f"{repo.rstrip('/')}/")
    if own != path and own in task.workspace:
        return
    if digest in {_digest(file.data) for file in task.tests.values()}:
        yield Flaw(rule=Rule.TESTS_TOLD, said=f"a hidden test lies at {path}")
    for name, file in sorted(solved.items()):
        if task.workspace.get(name) != file and _digest(file.data) == digest:
            yield Flaw(rule=Rule.ANSWER_TOLD, said=f"the finished {name} lies at {path}")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
