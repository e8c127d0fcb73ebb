"""The reward that hidden tests of the Harbor format leave: one finite number from 0 to 1."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from evalgate.core.files import File, FileMode, Tree
from evalgate.core.redaction import Redactor

#: Where the host reads that a reward, or its folder, is not what a test can have left there.
ODD: Final = "reward.odd"

_SHOWN: Final = 40
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def read_reward(logs: Tree, redactor: Redactor) -> float | None:
    """Return the reward, None when there is no reward file; of text and JSON the lesser.

    Harbor reads the text first; code under test that leaves the other beside it gains nothing.
    Of several named numbers, the one named ``reward`` counts, else the least of all.

    Raises:
        ValueError: a file holds no such number, or is a link, a folder or no file at all.
    """
    found = [_number(logs[path], read, redactor) for path, read in _READERS.items() if path in logs]
    if ODD in logs:
        raise ValueError("the reward, or the folder it lies in, is not what was made for it")
    return min(found, default=None)


def _number(file: File, read: Callable[[str], list[float]], redactor: Redactor) -> float:
    if file.mode is FileMode.SYMLINK:
        raise ValueError("the reward file is a link")
    text = file.data.decode("utf-8", "replace").strip()
    shown = redactor.text(text)[:_SHOWN]
    try:
        numbers = read(text)
    except (ValueError, TypeError, OverflowError, RecursionError):
        message = f"the reward file holds {shown!r}, which is no number"
        raise ValueError(message) from None
    if not all(0.0 <= number <= 1.0 for number in numbers):  # NaN fails this as well
        message = f"the reward {shown} lies outside 0 to 1"
        raise ValueError(message)
    return min(numbers)


def _of_text(text: str) -> list[float]:
    """Read a number as any program writes it: Python's own reading takes more than that."""
    if not (_NUMBER.fullmatch(text) or text.lower().lstrip("+-") in {"nan", "inf"}):
        raise ValueError
    return [float(text)]


def _of_json(text: str) -> list[float]:
    value: Any = json.loads(text)
    if isinstance(value, dict):
        found = [value["reward"]] if "reward" in value else list(value.values())
    else:
        found = [value]
    if not found or any(isinstance(one, bool | str) for one in found):
        raise TypeError
    return [float(one) for one in found]


_READERS: Final[Mapping[str, Callable[[str], list[float]]]] = {
    "verifier/reward.txt": _of_text,
    "verifier/reward.json": _of_json,
}
