"""Whoever spends from an account holds it: what two spend at once, neither would count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from evalgate.commands.project import Project
from evalgate.core.identity import digest
from evalgate.errors import UsageError
from evalgate.store.lock import HeldError, hold
from evalgate.store.runs import RunStore

_WORDS: Final = {
    "gate": "a live gate of this very pair",
    "bisect": "this very bisection",
    "drift": "today's session",
}


@contextmanager
def holding(project: Project, account: str) -> Iterator[None]:
    """Hold an account while the context lasts; UsageError when another process holds it."""
    RunStore(project.state).prepare()
    name = digest(account, domain="evalgate account")[:16]
    with ExitStack() as stack:
        try:
            stack.enter_context(hold(project.state / "accounts" / name))
        except HeldError as error:
            owner = "another process" if error.owner is None else f"process {error.owner}"
            message = f"{_WORDS[account.split(maxsplit=1)[0]]} is under way in {owner}"
            hint = "wait until it has ended: the same command then goes on with its trials"
            raise UsageError(message, hint=hint) from error
        yield
