"""One comment that stays: how it is known again, and what a poster has to do with those there are.

A comment is ours when its author is who we post as and its first line is the marker: a quoted
marker, or one that somebody else wrote, is none. The second line holds the run that wrote it,
so that a slow old run never writes over a newer one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evalgate.errors import UsageError

_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_STAMP: Final = re.compile(r"<!-- run (\d{1,19})\.(\d{1,9})(?: head ([0-9a-f]{7,64}))? -->")
_HEAD: Final = re.compile(r"[0-9a-f]{7,64}")
_MARKED: Final = "<!-- evalgate:"


def marker(key: str = "") -> str:
    """Return the first line of the comment with this key; UsageError for a key that is none.

    Jobs of one pull request that tell verdicts of their own have keys of their own.
    """
    if key and not _KEY.fullmatch(key):
        message = f"the key of a comment can not be {key!r}"
        raise UsageError(message, hint="letters, digits, dots, dashes and underscores, 60 at most")
    return f"<!-- evalgate:v1{f' {key}' if key else ''} -->"


@dataclass(frozen=True, slots=True, order=True)
class Stamp:
    """The run that wrote a comment: its id and attempt, which grow, and the commit it judged.

    Run 0 is a person's, outside of any workflow: it is neither older nor newer.
    """

    run: int = 0
    attempt: int = 0
    head: str = ""

    @property
    def line(self) -> str:
        """The second line of a comment."""
        head = f" head {self.head}" if _HEAD.fullmatch(self.head) else ""
        return f"<!-- run {self.run}.{self.attempt}{head} -->"

    @classmethod
    def of(cls, body: str) -> Stamp:
        """Read the second line of a comment; run 0 where there is none."""
        found = _STAMP.fullmatch("".join(body.splitlines()[1:2]))
        return cls() if found is None else cls(int(found[1]), int(found[2]), found[3] or "")

    def is_before(self, other: Stamp) -> bool:
        """Tell whether the other run is a newer one, or a newer attempt."""
        mine, others = (self.run, self.attempt), (other.run, other.attempt)
        return bool(self.run) and mine < others

    def is_known_by(self, other: Stamp) -> bool:
        """Tell whether the other word is a person's about the very commit that a run judged."""
        return bool(self.run and self.head) and not other.run and self.head == other.head


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A comment that is there, by whom."""

    id: int
    author: str
    body: str
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is there of ours: the comment to write to, the others that go, and what forbids it."""

    keep: Comment | None
    remove: tuple[Comment, ...] = ()
    newer: bool = False


def standing(
    comments: Sequence[Comment],
    *,
    authors: Sequence[str],
    key: str,
    stamp: Stamp,
    unmeasured: bool = False,
) -> Standing:
    """Find our comments among all; that of the first author is kept, of several the oldest.

    A newer run's word is not touched, and neither is, where this verdict knows nothing of its
    commit (``unmeasured``), that of a person who measured it.
    """
    first = marker(key)
    ours = sorted(
        (one for one in comments if one.author in authors and one.body.splitlines()[:1] == [first]),
        key=lambda one: (authors.index(one.author), one.id),
    )
    if not ours:
        return Standing(keep=None)
    there = [Stamp.of(one.body) for one in ours]
    newer = any(stamp.is_before(one) or (unmeasured and stamp.is_known_by(one)) for one in there)
    return Standing(keep=ours[0], remove=() if newer else tuple(ours[1:]), newer=newer)


def heading(key: str, stamp: Stamp) -> str:
    """Return the two hidden lines that a comment begins with."""
    return f"{marker(key)}\n{stamp.line}\n"


def bare(page: str) -> str:
    """Return a page without the hidden lines that it may begin with."""
    lines = page.lstrip("\ufeff\n").splitlines(keepends=True)
    if lines and lines[0].startswith(_MARKED):
        del lines[0]
        if lines and _STAMP.fullmatch(lines[0].strip()):
            del lines[0]
    return "".join(lines)
