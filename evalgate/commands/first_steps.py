"""What to do after `evalgate init`: commands that work as they are printed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from evalgate.repo.git import Git

#: Where an earlier call may have written.
_OWN: Final = (
    *("evalgate.toml", "pyproject.toml", ".gitignore", ".gitattributes"),
    *(".github", "agent", "sandbox", "tasks"),
)

_MINE: Final = "# tasks from the fixes in your history, each proven: evalgate task mine"


def first_steps(
    git: Git, directory: Path, root: Path, *, written: Sequence[str], mined: bool
) -> list[str]:
    """Return the commands that come next in the project at ``root``, with a word on each.

    ``mined`` is whether tasks were asked of its history already.
    """
    steps = []
    if directory.resolve() != root:
        steps.append(f"cd {shlex.quote(str(root))}")
    paths = _uncommitted(git, root, written)
    if paths:
        named = " ".join(map(shlex.quote, paths))
        steps.append(f"git add {named} && git commit -m 'Adopt evalgate'")
    return [
        *steps,
        "evalgate fingerprint    # the harness has a name",
        # No command that is to follow: a young history has no fixes, and that is an exit code.
        *(() if mined else (_MINE,)),
        "evalgate run --dry-run  # what would be run, and what it costs",
        "evalgate run --record   # asks the real model, with its key",
        "evalgate baseline accept",
        "git add cassettes baselines && git commit -m 'The first baseline'",
        "evalgate gate           # edit the prompt, and judge it",
    ]


def _uncommitted(git: Git, root: Path, written: Sequence[str]) -> list[str]:
    """Return what was written now, and what an earlier call wrote and nobody has committed."""
    paths = dict.fromkeys(
        path if path.startswith("../") else path.split("/")[0] for path in written
    )
    top = git.top.resolve()
    for name in _OWN:
        place = root / name
        if name not in paths and place.exists():
            within = place.resolve().relative_to(top).as_posix()
            if git.run("status", "--porcelain", "-z", "--", f":(top,literal){within}"):
                paths[name] = None
    return [*paths]
