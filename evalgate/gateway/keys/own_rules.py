"""A project's own scrub rules, run with an end: the one door to the `regex` package.

`re` can not be interrupted, so a rule such as ``(a|aa)+$`` would hold the gateway, and with it
every signal, for ever. `regex` reads the same patterns and can be given a time. The rules of our
table stay with `re`: they are tested, and need no third party.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from evalgate.core.scrubs import Scrub
from evalgate.errors import UsageError

#: What one rule may take on one text, in seconds of CPU; a narrow rule takes milliseconds a MB.
SECONDS: Final = 1.0

#: Ordinary text, of which a narrow rule takes next to nothing.
SAMPLES: Final = (
    "The test of the second function fails: look at its last line, and mend what is wrong there.",
    'def double(n):\n    """Return twice n."""\n    return n + n\n\n\nclass Sum:\n    total = 0\n',
    '{"path": "src/app/main.py", "old": "return a - b", "new": "return a + b", "count": 1}',
)

#: `regex` takes ``x{e<=1}`` for "nearly x"; for `re` these are the characters themselves.
_NEARLY: Final = re.compile(r"(?<!\\)(?:\\\\)*\{(?=[^{}]*[dies])[\ddies\s<=+,]+(?::[^{}]*)?\}")

_NARROWER: Final = "make it narrower: name the words around the volatile text, repeat nothing twice"


def substitute(rule: Scrub, text: str) -> tuple[str, int]:
    """Return a text with what the rule finds replaced, and how often it was found.

    UsageError when that takes longer than `SECONDS`, or the pattern can not be run.
    """
    try:
        found: tuple[str, int] = _compiled(rule).subn(rule.replace, text, timeout=SECONDS)
    except TimeoutError:
        message = (
            f"{rule.place}: scrub rule {rule.name!r} took longer than {SECONDS:g} s "
            f"on a text of {len(text)} characters"
        )
        raise UsageError(message, hint=_NARROWER) from None
    return found


def substitute_once(rule: Scrub, text: str) -> tuple[str, int]:
    """Do the same with a rule that leaves alone what it has made: recordings are scrubbed twice.

    UsageError also when it does not.
    """
    made, count = substitute(rule, text)
    if count and substitute(rule, made)[0] != made:
        raise _own_label(rule)
    return made, count


def require_sound(rules: Iterable[Scrub]) -> None:
    """Look at a project's own rules before anything is run by them.

    UsageError for one that takes most of any text, matches nothing at all, would find its own
    label again, or does not come to an end on a few lines.
    """
    for rule in rules:
        if rule.place:
            _require_sound(rule)


@lru_cache(maxsize=256)
def _require_sound(rule: Scrub) -> None:
    for sample in SAMPLES:
        if any(not found.group() for found in _found(rule, sample)):
            message = f"{rule.place}: scrub rule {rule.name!r} also matches nothing at all"
            raise UsageError(message, hint=_NARROWER)
        taken = sum(len(found.group()) for found in _found(rule, sample))
        if 2 * taken > len(sample):
            message = f"{rule.place}: scrub rule {rule.name!r} takes most of any text"
            raise UsageError(message, hint=_NARROWER)
    label = rule.replace
    if "\\" not in label and substitute(rule, label)[0] != label:
        raise _own_label(rule)


def _own_label(rule: Scrub) -> UsageError:
    message = f"{rule.place}: scrub rule {rule.name!r} finds its own {rule.replace!r} again"
    hint = "recordings may be scrubbed twice, and must stay as they are: try <NAME>"
    return UsageError(message, hint=hint)


def _found(rule: Scrub, text: str) -> list[Any]:
    substitute(rule, text)  # which tells of a rule that comes to no end
    return list(_compiled(rule).finditer(text))


@lru_cache(maxsize=256)
def _compiled(rule: Scrub) -> Any:
    import regex  # noqa: PLC0415 - few projects have rules of their own

    if nearly := _NEARLY.search(rule.source):
        message = f"{rule.place}: scrub rule {rule.name!r}: {nearly[0]!r} is no count"
        raise UsageError(message, hint=r"a brace that stands for itself is written \{")
    try:
        return regex.compile(rule.source, regex.VERSION0)
    except (regex.error, OverflowError, RecursionError) as error:
        message = f"{rule.place}: scrub rule {rule.name!r}: {rule.source!r} is no pattern: {error}"
        hint = "a pattern is a regular expression of Python's re, without rare constructs"
        raise UsageError(message, hint=hint) from error
