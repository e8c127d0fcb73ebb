"""A commit's message, or an issue, told again as a task: what is wrong, not how it was mended."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from evalgate.core.giveaways import COMMIT

#: An instruction of fewer words says too little.
_LEAST_WORDS: Final = 4
#: A line of the solution that is shorter than this is everybody's.
_TELLING: Final = 12
_DROPPED: Final = re.compile(
    r"\s*(?:[A-Za-z]+(?:-[A-Za-z]+)*-by:|merge (?:pull request|branch|remote|tag)\b"
    r"|\(?cherry picked from|git-svn-id:|diff --git|@@ |\+\+\+ |--- |index [0-9a-f]+\.\.|conflicts:"
    r"|change-id:|see also: #|refs?:? #)",
    re.IGNORECASE,
)
_REFERENCE: Final = re.compile(
    r"\s*\(?(?:\b(?:see|refs?|fix(?:e[sd])?|close[sd]?|resolve[sd]?|issues?|bug|pr|pull request)\b"
    r"\s*:?\s*)*(?:https?://\S+/(?:issues|pull)/\d+\S*|(?:[\w.-]+/[\w.-]+)?#\d+|\bgh-\d+)\)?",
    re.IGNORECASE,
)
_LINK: Final = re.compile(r"https?://\S*/(?:commit|compare|blob|tree)/\S*")
#: How a sentence begins that tells what was done, and not what was wrong.
_DONE: Final = re.compile(
    r"(?:(?:also|instead|now|so|therefore|then)[, ]+)?"
    r"(?:(?:add|adjust|anchor|call|change|check|collect|compare|convert|extend|handle|introduce"
    r"|make|move|pass|prevent|refactor|remove|rename|replace|return|skip|split|switch|update|use"
    r"|wrap)(?:s|es|d|ed|ing)?\b(?! (?:of|to|for|is|are|was|does|with) )"
    r"|(?:this|the) (?:commit|change|patch|fix|pr|mr)\b|fix(?:ed)? (?:it |this |that )?by\b)",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[^\W\da-z_]|[`'\"(])")
_EMPTY: Final = re.compile(r"^[\s:;,.()\[\]*-]+")


def retold(
    message: str,
    *,
    new_names: Iterable[str],
    solution: Iterable[str],
    tests: Iterable[str],
) -> str:
    """Return the text without what gives the solution away; empty when too little is left.

    Left out are lines that hold a line of the ``solution``, say a name that only the solution has
    or the name of a hidden test (``tests``), are of a diff, or name a commit; below the first line
    sentences that tell what was done; and references to issues and pull requests, where the answer
    lies.
    """
    secret = [re.compile(rf"(?<!\w){re.escape(name)}(?!\w)") for name in (*new_names, *tests)]
    lines = [even for line in solution if len(even := " ".join(line.split())) >= _TELLING]
    kept = []
    for line in message.replace("\r\n", "\n").strip().split("\n"):
        even = " ".join(line.split())
        if _DROPPED.match(line) or COMMIT.search(line) or _LINK.search(line):
            continue
        if any(pattern.search(line) for pattern in secret) or any(one in even for one in lines):
            continue
        told = _REFERENCE.sub("", line)
        kept.append(_EMPTY.sub("", told) if told != line else told)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(map(str.rstrip, kept))).strip()
    if len(re.findall(r"\w{2,}", text)) < _LEAST_WORDS:
        return ""
    first, _, rest = text.partition("\n")
    title = first.lstrip("#* ")
    rest = "\n\n".join(filter(None, map(_undone, rest.strip("\n").split("\n\n"))))
    return f"# {title[:1].upper()}{title[1:]}\n" + (f"\n{rest}\n" if rest.strip() else "")


def _undone(paragraph: str) -> str:
    """Return a paragraph without the sentences that tell what was done; code stays as it is."""
    if any(line.startswith((" ", "\t", ">>>", "```")) for line in paragraph.split("\n")):
        return paragraph
    sentences = _SENTENCE.split(paragraph)
    kept = [one for one in sentences if not _DONE.match(one.lstrip("-* "))]
    return paragraph if len(kept) == len(sentences) else " ".join(kept)
