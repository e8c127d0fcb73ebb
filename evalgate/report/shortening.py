"""A page of Markdown made shorter, at places where it stays whole."""

from __future__ import annotations

import re
from typing import Final

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_LEFT_OUT: Final = "… shortened: what is left out is in the job's summary and in `verdict.md`."


def shorten(page: str, limit: int) -> str:
    """Return the page in at most ``limit`` bytes.

    Folds go first, from the last one upwards, then whole paragraphs, tables and code blocks from
    the end; the first one stays, cut if it has to be.
    """
    if len(page.encode()) <= limit:
        return page
    blocks = _blocks(page)
    order = [n for n, block in enumerate(blocks) if block.startswith("<details>")]
    order = [n for n in range(1, len(blocks)) if n not in order] + order  # the last goes first
    kept = dict(enumerate(blocks))
    size = sum(len(block.encode()) + 2 for block in blocks) + len(_LEFT_OUT.encode())
    while size > limit and order:
        size -= len(kept.pop(order.pop()).encode()) + 2
    text = "\n\n".join([*kept.values(), _LEFT_OUT])
    return text if size <= limit else _cut(blocks[0], limit)


def _cut(text: str, limit: int) -> str:
    """Cut a text to so many bytes, after a line where there is one."""
    note = f"\n\n{_LEFT_OUT}"
    room = limit - len(note.encode())
    if room <= 0:
        return text.encode()[: max(0, limit)].decode(errors="ignore")
    head = text.encode()[:room].decode(errors="ignore")
    whole = head[: head.rfind("\n")] if "\n" in head else head.rstrip("\\")
    return f"{whole.split('```', 1)[0].rstrip()}{note}"


def _blocks(page: str) -> list[str]:
    """Split a page at its blank lines; folds and code blocks stay whole."""
    blocks: list[list[str]] = [[]]
    fence, folds = "", 0
    for line in page.splitlines():
        if not fence and not folds and not line.strip():
            if blocks[-1]:
                blocks.append([])
            continue
        found = _FENCE.fullmatch(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif found:
            fence = found[1]
        else:
            folds += line.startswith("<details") - line.startswith("</details>")
            folds = max(0, folds)
        blocks[-1].append(line)
    return ["\n".join(block) for block in blocks if block] or [""]
