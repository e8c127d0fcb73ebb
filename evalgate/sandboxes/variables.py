"""The environment of a program in a sandbox: the fixed variables and nothing of the host's."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterable, Mapping, Sequence

from evalgate.errors import UsageError
from evalgate.protocols import Places, Stage

#: Every process of a stage carries it, so that they are found wherever they went.
MARKER = "EVALGATE_STAGE"

SYSTEM_DIRECTORIES = (
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
)

_FIXED = {
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "TERM": "dumb",
    "PYTHONDONTWRITEBYTECODE": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}


def new_token() -> str:
    """Return a value for the marker variable that no other process can have by accident."""
    return secrets.token_hex(16)


def search_path(more: Iterable[str] = ()) -> str:
    """Return PATH: the base interpreter first, so ``python3`` is not the one of evalgate.

    ``more`` holds further directories; only absolute ones are taken, each once.
    """
    own = (f"{sys.base_prefix}/bin", f"{sys.prefix}/bin")
    every = (*own, *SYSTEM_DIRECTORIES, *more)
    return os.pathsep.join(dict.fromkeys(place for place in every if place.startswith("/")))


def build_environment(stage: Stage, places: Places, *, path: str, token: str) -> dict[str, str]:
    """Return the whole environment of a stage's program.

    What the stage gives wins over the fixed variables, never over the marker.

    Raises:
        UsageError: a name or value that no environment can hold.
    """
    _check_words(stage.argv, stage.env)
    outer = os.environ.get(MARKER)
    return {
        **_FIXED,
        "PATH": path,
        "HOME": places.home,
        "TMPDIR": places.tmp,
        "PWD": places.repo,
        **stage.env,
        # A stage inside a stage keeps the outer mark as well: who ends the outer ends both.
        MARKER: f"{outer}:{token}" if outer else token,
    }


def _check_words(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Refuse what would be cut short, or be read as a further word, at a NUL byte."""
    if not argv or not argv[0]:
        raise UsageError("a stage has no program to run")
    words = (*argv, *env, *env.values())
    if any("\0" in word for word in words) or any(not name or "=" in name for name in env):
        raise UsageError("a command or an environment variable of a stage is malformed")
