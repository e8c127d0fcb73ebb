"""The git program itself: its environment and the one place that starts it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from evalgate.errors import NotAvailableError, UsageError

#: Variables that choose configuration or transport. They are the user's answer to "which
#: settings hold on this machine"; all the others aim git at another repository or index.
_KEPT = frozenset(
    {
        "GIT_ALLOW_PROTOCOL",
        "GIT_ASKPASS",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_EXEC_PATH",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSL_CAINFO",
        "GIT_SSL_NO_VERIFY",
    }
)
#: The way out where a partial clone lacks a file and its remote can not be asked.
_REFETCH = "the clone lacks files that its remote has: git fetch --refetch"

_KEPT_PREFIXES = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")


def is_stray(name: str) -> bool:
    """Tell whether a variable would change what git answers about a named repository."""
    return name.startswith("GIT_") and name not in _KEPT and not name.startswith(_KEPT_PREFIXES)


def scrubbed(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment git runs in: no stray variable, English, no locks, no prompts."""
    kept = {name: value for name, value in environ.items() if not is_stray(name)}
    return kept | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


def isolated(environ: Mapping[str, str]) -> dict[str, str]:
    """Return `scrubbed` without any configuration of the user or the machine."""
    kept = {n: v for n, v in scrubbed(environ).items() if not n.startswith("GIT_CONFIG")}
    return kept | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


def call_git(
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    input: bytes = b"",  # noqa: A002 - the word subprocess uses
    ok: Sequence[int] = (0,),
) -> bytes:
    """Run git and return its output; an exit code not in ``ok`` is a `UsageError`."""
    try:
        done = subprocess.run(
            ["git", *arguments],  # noqa: S607 - the user's own git, found on PATH
            cwd=cwd,
            env=env,
            input=input,
            capture_output=True,
            check=False,
        )
    except (FileNotFoundError, NotADirectoryError) as error:
        if not cwd.is_dir():
            message = f"no such directory: {cwd}"
            raise UsageError(message) from error
        message = "the program git was not found"
        raise NotAvailableError(message, hint="install git 2.32 or newer") from error
    if done.returncode in ok:
        return done.stdout
    said = done.stderr.decode("utf-8", "replace").strip()
    raise GitFailedError(arguments=arguments, said=said, code=done.returncode)


class GitFailedError(UsageError):
    """Git ended with an exit code that was not planned; ``said`` is its stderr."""

    def __init__(self, *, arguments: Sequence[str], said: str, code: int) -> None:
        settings = {at + 1 for at, word in enumerate(arguments) if word == "-c"}
        words = (word for at, word in enumerate(arguments) if at not in settings)
        verb = next((word for word in words if not word.startswith("-")), "")
        reason = said.splitlines()[0] if said else f"exit code {code}"
        hint = _REFETCH if "promisor remote" in said else ""
        super().__init__(f"git {verb}: {reason.removeprefix('fatal: ')}", hint=hint)
        self.said = said
