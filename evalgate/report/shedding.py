"""What is left out of a page that is too long, in an order that never changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

#: No page is longer, in bytes of UTF-8: GitHub takes 65,536 characters in a comment.
LIMIT_BYTES: Final = 60_000

#: So many tasks have a fold of their own.
MOST_FOLDS: Final = 20

_WIDE: Final = 700
_NARROW: Final = 160
_FENCE: Final = re.compile(r"(`{3,})\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a page has of what it can do without.

    ``folds`` is how many tasks have their differences shown; ``width`` how many characters a
    sentence may have. ``shed`` says what was left out of what there is.
    """

    all_tasks: bool = True
    signals: bool = True
    folds: int = MOST_FOLDS
    diffs: bool = True
    decided: bool = True
    width: int = _WIDE
    shed: tuple[str, ...] = ()


def levels(*, tasks: int, fallen: int) -> Iterator[Shown]:
    """Yield what is shown, less each time.

    The table of all ``tasks`` goes first, then the soft signals, then the differences of the
    ``fallen`` tasks, the last one first, then the diffs of the harness, how this was decided, and
    at last the ends of long sentences.
    """
    beyond = _folds(MOST_FOLDS, fallen)
    shown = Shown(shed=beyond)
    yield shown
    gone: tuple[str, ...] = (f"the table of all {tasks} tasks",) if tasks else ()
    yield (shown := replace(shown, all_tasks=False, shed=(*gone, *beyond)))
    gone += ("the soft signals",) if tasks else ()
    yield (shown := replace(shown, signals=False, shed=(*gone, *beyond)))
    for folds in reversed(range(min(fallen, MOST_FOLDS))):
        shown = replace(shown, folds=folds, shed=(*gone, *_folds(folds, fallen)))
        yield shown
    gone = (*shown.shed, "the diffs of the harness")
    yield (shown := replace(shown, diffs=False, shed=gone))
    gone += ("how this was decided",)
    yield (shown := replace(shown, decided=False, shed=gone))
    yield replace(shown, width=_NARROW, shed=(*gone, "the ends of long sentences"))


def _folds(shown: int, fallen: int) -> tuple[str, ...]:
    left = fallen - shown
    return (f"the differences of {left} of {fallen} tasks",) if left > 0 else ()


def cut(page: str, limit_bytes: int) -> str:
    """Return a page that has at most so many bytes: whole lines from its top, properly ended.

    What is cut off is said. A first line that is longer than that is all that is returned.
    """
    if len(page.encode()) <= limit_bytes:
        return page
    lines = page.split("\n")
    kept, size = [lines[0]], len(lines[0].encode())
    fence, folds = "", 0
    for line in lines[1:]:
        size += 1 + len(line.encode())
        inside, opened = _next_fence(fence, line), folds
        if not fence and not inside:
            opened += line.count("<details>") - line.count("</details>")
        if size + len(_ending(inside, opened).encode()) > limit_bytes:
            break
        kept.append(line)
        fence, folds = inside, opened
    ending = _ending(fence, folds)
    whole = "\n".join(kept) + ending
    return whole if len(whole.encode()) <= limit_bytes else lines[0]


def _next_fence(fence: str, line: str) -> str:
    """Return the ticks of the code block that is open after a line, empty for none."""
    if fence:
        return "" if line == fence else fence
    found = _FENCE.fullmatch(line)
    return found[1] if found else ""


def _ending(fence: str, folds: int) -> str:
    closed = f"\n{fence}" if fence else ""
    ends = "\n\n</details>" * folds
    return f"{closed}{ends}\n\n… cut here: the page is too long.\n"
