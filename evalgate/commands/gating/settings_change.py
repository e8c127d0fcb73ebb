"""What a change sets: the members of two values that differ, before and after."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields

from evalgate.core.limits import Allowance
from evalgate.core.policy import Policy


def settings_change(
    before: Policy | Allowance,
    after: Policy | Allowance,
    *,
    prefix: str = "",
    without: Collection[str] = (),
) -> str:
    """Name the members of two values of one kind that differ, with both of their values.

    ``prefix`` is what a member's name begins with in the configuration.
    """
    told = []
    for one in fields(before):
        old, new = getattr(before, one.name), getattr(after, one.name)
        if old != new and one.name not in without:
            told.append(f"{prefix}{one.name}: {_shown(old)} → {_shown(new)}")
    return ", ".join(told)


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_shown(one)}" for name, one in value.items()) or "none"
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None or value == "" else str(value)
