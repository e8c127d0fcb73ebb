"""Two texts told apart by their words: what stood there, what stands there, a little around it.

``You are [-careful-]{+quick+} and …`` is enough to see an edit in a prompt of a hundred pages.
Equal ends are cut off before anything is compared, and of what is left only the beginning is
looked at: a long text costs little more than reading it once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

#: No diff is longer than this, in characters.
LONGEST: Final = 600

_AROUND = 40
_LONGEST_PIECE = 160
_MOST_WORDS = 200
_MOST_SIGNS = 4000
_CUT = "…"

#: Words, the signs between them and white space. A script that writes without spaces is compared
#: sign by sign: one of its sentences would else be one word.
_WORDS = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\ud7af]+|\s+|.", re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """``kept`` stands in both texts, then ``old`` became ``new``."""

    kept: str
    old: str
    new: str


def word_diff(old: str, new: str) -> str:
    """Return the first differences of two texts, in at most `LONGEST` characters; equal is empty.

    Removed words stand in ``[-…-]``, added ones in ``{+…+}``, a few words around them; line ends
    and other control characters are written as in Python, so that the diff is one line.
    """
    if old == new:
        return ""
    start = _boundary(old, new)
    end = _tail(old, new, start)
    lead = _before(old[:start])
    rest = _after(old[len(old) - end :])
    body = _marked(old[start : len(old) - end], new[start : len(new) - end], rest)
    room = LONGEST - len(lead)
    return lead + (body if len(body) <= room else body[: room - 1] + _CUT)


def common_prefix(old: str, new: str) -> int:
    """Return how many characters two texts share from the first: slices compare fast."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _boundary(old: str, new: str) -> int:
    """Return where the first word that differs begins; a very long word is cut inside."""
    start = common_prefix(old, new)
    least = start - _AROUND
    while start > max(0, least) and _joined(old, start) | _joined(new, start):
        start -= 1
    return start


def _tail(old: str, new: str, start: int) -> int:
    """Return how many characters are equal at the end, in whole words, after ``start``."""
    room = min(len(old), len(new)) - start
    left, right = old[len(old) - room :][::-1], new[len(new) - room :][::-1]
    end = common_prefix(left, right)
    least = end - _AROUND
    while end > max(0, least) and _joined(old, len(old) - end) | _joined(new, len(new) - end):
        end -= 1
    return end


def _joined(text: str, at: int) -> bool:
    """Tell whether a word, or a stretch of white space, goes on across this place."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return (before.isspace() and after.isspace()) or (_in_word(before) and _in_word(after))


def _in_word(sign: str) -> bool:
    return (sign.isalnum() or sign == "_") and not "\u3040" <= sign <= "\ud7af"


def _marked(old: str, new: str, rest: str) -> str:
    """Return the changes, with what is behind them: ``rest``, when all of them were looked at."""
    left = _WORDS.findall(old[:_MOST_SIGNS])[:_MOST_WORDS]
    right = _WORDS.findall(new[:_MOST_SIGNS])[:_MOST_WORDS]
    whole = sum(map(len, left)) == len(old) and sum(map(len, right)) == len(new)
    changes = list(_changes(left, right))
    if not whole:
        rest = _CUT
    if not whole and any(change.old or change.new for change in changes[:-1]):
        # The last one may only be where this stopped to look.
        rest = _after(changes.pop().kept, more=True)
    return "".join(_plain(change.kept) + _pair(change.old, change.new) for change in changes) + rest


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[_Change]:
    """Yield the changes; those with nothing but white space between them are one."""
    kept, removed, added = "", "", ""
    for tag, i, k, j, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        same = "".join(old[i:k]) if tag == "equal" else ""
        if not same or (same.isspace() and (removed or added)):
            removed, added = removed + "".join(old[i:k]), added + "".join(new[j:m])
            continue
        if removed or added:
            yield _Change(kept=kept, old=removed, new=added)
        kept, removed, added = same, "", ""
    yield _Change(kept=kept, old=removed, new=added)


def _pair(old: str, new: str) -> str:
    skip = 0
    if min(len(old), len(new)) > _AROUND:
        skip = max(0, common_prefix(old, new) - _AROUND // 2)
    removed, added = _piece(old, skip), _piece(new, skip)
    return (f"[-{removed}-]" if old else "") + (f"{{+{added}+}}" if new else "")


def _piece(text: str, skip: int) -> str:
    """Return what differs, shortened, with the first difference in sight."""
    body = (_CUT if skip else "") + text[skip : skip + _LONGEST_PIECE]
    shown = _escaped(body)[:_LONGEST_PIECE]
    return shown if skip + _LONGEST_PIECE >= len(text) else shown[:-1] + _CUT


def _plain(text: str) -> str:
    """Return words that both texts have, the middle of many left out."""
    if len(text) <= 3 * _AROUND:
        return _escaped(text)
    return _after(text[:_AROUND], more=True) + _before(text[-_AROUND:], more=True)[len(_CUT) :]


def _before(text: str, *, more: bool = False) -> str:
    """Return the last words of what is equal before a change."""
    if len(text) <= _AROUND and not more:
        return _escaped(text)
    kept = text[-_AROUND:]
    return _CUT + _escaped(kept[_next_word(kept) :])


def _after(text: str, *, more: bool = False) -> str:
    """Return the first words of what is equal behind a change."""
    if len(text) <= _AROUND and not more:
        return _escaped(text)
    kept = text[:_AROUND]
    return _escaped(kept[: len(kept) - _next_word(kept[::-1])]) + _CUT


def _next_word(text: str) -> int:
    """Return where the second word begins; 0 when the text is one word."""
    found = re.search(r"\s+", text)
    return found.end() if found and found.end() < len(text) else 0


def _escaped(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text
    )
