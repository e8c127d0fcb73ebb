"""A project's own patterns, run with an end: the one door to the `regex` package.

They are scrub rules and tripwires. `re` can not be interrupted, so one such as ``(a|aa)+$`` would
hold the gateway, and with it every signal, for ever. `regex` reads the same patterns and can be
given a time. Those of our tables stay with `re`: they are tested, and need no third party.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from evalgate.core.scrubs import Scrub
from evalgate.core.tripwires import Tripwire, search_plainly
from evalgate.errors import UsageError

#: What one pattern may take on one text, in seconds of CPU; a narrow one takes milliseconds a MB.
SECONDS: Final = 1.0

#: Ordinary text, of which a narrow pattern takes next to nothing.
SAMPLES: Final = (
    "The test of the second function fails: look at its last line, and mend what is wrong there.",
    'def double(n):\n    """Return twice n."""\n    return n + n\n\n\nclass Sum:\n    total = 0\n',
    '{"path": "src/app/main.py", "old": "return a - b", "new": "return a + b", "count": 1}',
)

#: `regex` takes ``x{e<=1}`` for "nearly x"; for `re` these are the characters themselves.
_NEARLY: Final = re.compile(r"(?<!\\)(?:\\\\)*\{(?=[^{}]*[dies])[\ddies\s<=+,]+(?::[^{}]*)?\}")

_NARROWER: Final = "make it narrower: name the words around it, repeat nothing twice"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Own:
    """A pattern of a project, and how it is named to its author."""

    named: str
    source: str

    @classmethod
    def of(cls, rule: Scrub | Tripwire) -> _Own | None:
        """Return what a rule or tripwire has of the project, None when it is one of ours."""
        if isinstance(rule, Scrub):
            place, kind, source = rule.place, "scrub rule", rule.source
        else:
            place, kind, source = rule.written, "tripwire", rule.pattern
        return cls(named=f"{place}: {kind} {rule.name!r}", source=source) if place else None


def search(wire: Tripwire, text: str) -> tuple[int, int] | None:
    """Return where a tripwire stands in a text, None when it does not.

    UsageError when one of the project's own takes longer than `SECONDS`, or can not be run.
    """
    own = _Own.of(wire)
    if own is None:
        return search_plainly(wire, text)
    try:
        found = _compiled(own).search(text, timeout=SECONDS)
    except TimeoutError:
        raise _endless(own, text) from None
    return None if found is None else found.span()


def substitute(rule: Scrub, text: str) -> tuple[str, int]:
    """Return a text with what a rule of the project finds replaced, and how often it was found.

    UsageError when that takes longer than `SECONDS`, or the pattern can not be run.
    """
    own = _named(rule)
    try:
        found: tuple[str, int] = _compiled(own).subn(rule.replace, text, timeout=SECONDS)
    except TimeoutError:
        raise _endless(own, text) from None
    return found


def substitute_once(rule: Scrub, text: str) -> tuple[str, int]:
    """Do the same with a rule that leaves alone what it has made: recordings are scrubbed twice.

    UsageError also when it does not.
    """
    made, count = substitute(rule, text)
    if count and substitute(rule, made)[0] != made:
        raise _own_label(rule)
    return made, count


def require_sound(rules: Iterable[Scrub | Tripwire]) -> None:
    """Look at a project's own rules and tripwires before anything is run by them.

    UsageError for one that takes most of any text, matches nothing at all, would find its own
    label again, or does not come to an end on a few lines.
    """
    for rule in rules:
        own = _Own.of(rule)
        if own is not None:
            _require_narrow(own)
        if own is not None and isinstance(rule, Scrub):
            label = rule.replace
            if "\\" not in label and substitute(rule, label)[0] != label:
                raise _own_label(rule)


@lru_cache(maxsize=256)
def _require_narrow(own: _Own) -> None:
    for sample in SAMPLES:
        try:
            found = [one.group() for one in _compiled(own).finditer(sample, timeout=SECONDS)]
        except TimeoutError:
            raise _endless(own, sample) from None
        if not all(found):
            raise UsageError(f"{own.named} also matches nothing at all", hint=_NARROWER)
        if 2 * sum(map(len, found)) > len(sample):
            raise UsageError(f"{own.named} takes most of any text", hint=_NARROWER)


def _named(rule: Scrub) -> _Own:
    own = _Own.of(rule)
    if own is None:
        message = f"{rule.name} is no rule of a project"
        raise ValueError(message)
    return own


def _endless(own: _Own, text: str) -> UsageError:
    message = f"{own.named} took longer than {SECONDS:g} s on a text of {len(text)} characters"
    return UsageError(message, hint=_NARROWER)


def _own_label(rule: Scrub) -> UsageError:
    message = f"{_named(rule).named} finds its own {rule.replace!r} again"
    hint = "recordings may be scrubbed twice, and must stay as they are: try <NAME>"
    return UsageError(message, hint=hint)


@lru_cache(maxsize=256)
def _compiled(own: _Own) -> Any:
    import regex  # noqa: PLC0415 - few projects have patterns of their own

    if nearly := _NEARLY.search(own.source):
        message = f"{own.named}: {nearly[0]!r} is no count"
        raise UsageError(message, hint=r"a brace that stands for itself is written \{")
    try:
        return regex.compile(own.source, regex.VERSION0)
    except (regex.error, OverflowError, RecursionError) as error:
        message = f"{own.named}: {own.source!r} is no pattern: {error}"
        hint = "a pattern is a regular expression of Python's re, without rare constructs"
        raise UsageError(message, hint=hint) from error
