"""Scrub rules at work: volatile text out of what is said to a model, and out of nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from evalgate.core.json import Json
from evalgate.core.scrubs import Scrub
from evalgate.gateway.keys.own_rules import substitute_once

#: Members that name a thing of the API or a tool. A rule never changes their text ...
_NAMES: Final = frozenset({"model", "name", "role", "type"})

#: ... but below these a tool's own input and output stand, where any member may hold text.
_GIVEN: Final = frozenset({"input", "arguments", "args", "response", "output"})


def scrub_text(text: str, rules: Iterable[Scrub], hits: Counter[str]) -> str:
    """Return the text scrubbed; ``hits`` counts by rule. UsageError as `substitute_once` raises."""
    for rule in rules:
        if not rule.literals or any(literal in text for literal in rule.literals):
            if rule.place:
                text, count = substitute_once(rule, text)
            else:
                text, count = rule.pattern.subn(rule.replace, text)
            if count:
                hits[rule.name] += count
    return text


def scrub_value(value: Json, rules: Sequence[Scrub], hits: Counter[str]) -> Json:
    """Return a JSON value with the text in it scrubbed.

    Names of members stay, and so do the names of models, tools, roles and types.
    """
    return _scrubbed(value, rules, hits, given=False)


def _scrubbed(value: Json, rules: Sequence[Scrub], hits: Counter[str], *, given: bool) -> Json:
    if isinstance(value, str):
        return scrub_text(value, rules, hits)
    if isinstance(value, list):
        return [_scrubbed(inner, rules, hits, given=given) for inner in value]
    if not isinstance(value, Mapping):
        return value
    return {
        name: inner
        if not given and name in _NAMES and isinstance(inner, str)
        else _scrubbed(inner, rules, hits, given=given or name in _GIVEN)
        for name, inner in value.items()
    }
