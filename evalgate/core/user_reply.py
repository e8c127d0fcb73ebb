"""What a person would say to an agent that asks: scripted by a task, since nobody is there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from evalgate.core.schema import Reader

#: A question mark: in what an agent that asks printed, there is one.
ASKING: Final = r"\?"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserReply:
    """One reply, and the extended regular expression of what an agent prints that gets it."""

    reply: str
    when: str = ASKING


def read_replies(ours: Reader) -> tuple[UserReply, ...]:
    """Read ``[[user]]`` of a task; UsageError names what is wrong."""
    found = []
    for table in ours.tables("user"):
        one = UserReply(reply=table.text("reply"), when=table.text("when", ASKING))
        if not one.reply.strip():
            raise table.error("must not be empty", "reply")
        try:
            re.compile(one.when)
        except (re.error, OverflowError, RecursionError) as error:
            raise table.error(f"is no regular expression: {error}", "when") from error
        table.done()
        found.append(one)
    return tuple(found)
