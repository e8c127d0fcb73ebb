"""The reward that hidden tests of the Harbor format leave: one finite number from 0 to 1."""

from __future__ import annotations

import json
from typing import Any, Final

from evalgate.core.files import FileMode, Tree
from evalgate.core.redaction import Redactor

_JSON: Final = "verifier/reward.json"
_TEXT: Final = "verifier/reward.txt"
_SHOWN: Final = 40


def read_reward(logs: Tree, redactor: Redactor) -> float | None:
    """Return the reward, None when there is no reward file; the JSON goes before the text.

    Of several named numbers, the one named ``reward`` counts, else the least of all.

    Raises:
        ValueError: the file holds no such number, or is a link.
    """
    path = _JSON if _JSON in logs else _TEXT
    if path not in logs:
        return None
    if logs[path].mode is FileMode.SYMLINK:
        raise ValueError("the reward file is a link")
    text = logs[path].data.decode("utf-8", "replace").strip()
    shown = redactor.text(text)[:_SHOWN]
    try:
        numbers = [float(text)] if path == _TEXT else _numbers(json.loads(text))
    except (ValueError, TypeError, OverflowError, RecursionError):
        message = f"the reward file holds {shown!r}, which is no number"
        raise ValueError(message) from None
    if not all(0.0 <= number <= 1.0 for number in numbers):  # NaN fails this as well
        message = f"the reward {shown} lies outside 0 to 1"
        raise ValueError(message)
    return min(numbers)


def _numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        found = [value["reward"]] if "reward" in value else list(value.values())
    else:
        found = [value]
    if not found or any(isinstance(one, bool | str) for one in found):
        raise TypeError
    return [float(one) for one in found]
