"""Read a parsed TOML table key by key: what is unknown or of a wrong type is named.

A `Source` knows the text a table was parsed from, so that an error names file, key and
line. Each reader must be closed with `done`, which refuses every key nobody asked for.
"""

from __future__ import annotations

import difflib
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeVar

from evalgate.errors import UsageError

T = TypeVar("T")

_HINT = "docs/configuration.md and docs/tasks.md of git-evalgate list every key with its type"

#: What TOML, JSON and all that reads them take for a whole number.
_MOST = (1 << 63) - 1
_HEADER = re.compile(r"^\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}\s*(#.*)?$")
_KEY = re.compile(r"^\s*([A-Za-z0-9_.\-\"' ]+?)\s*=")


@dataclass(frozen=True, slots=True)
class Source:
    """A TOML text and the name it is known by."""

    name: str
    text: str

    def parse(self) -> dict[str, Any]:
        """Parse the whole text."""
        try:
            return tomllib.loads(self.text)
        except (ValueError, RecursionError) as error:  # a number of 5000 digits, 1000 brackets
            message = f"{self.name}: {error}"
            raise UsageError(message, hint="the file is not valid TOML") from error

    def place(self, path: Sequence[str], *, nth: int = 0) -> str:
        """Return ``file:line`` of a key, or the file alone when the line is not found.

        ``nth`` tells the tables of a list apart, all of which have the same path: it counts the
        headers of lists on the way to it. A missing key is looked for where its table begins.
        """
        seen = 0
        hidden: tuple[str, ...] | None = None  # the list of which another table is being read
        table: tuple[str, ...] = ()
        best: int | None = None
        for number, line in enumerate(self.text.splitlines(), 1):
            if header := _HEADER.match(line):
                table = _split(header[1])
                if line.lstrip().startswith("[[") and table == tuple(path[: len(table)]):
                    seen += 1
                    hidden = table if seen != nth + 1 else None
                if hidden is not None and table[: len(hidden)] == hidden:
                    table = ("", *table)
                if table == tuple(path):
                    return f"{self.name}:{number}"
                if table == tuple(path[: len(table)]):
                    best = number
            elif key := _KEY.match(line):
                full = (*table, *_split(key[1]))
                if full == tuple(path):
                    return f"{self.name}:{number}"
                if len(full) > len(table) and full == tuple(path[: len(full)]):
                    best = number
        return self.name if best is None else f"{self.name}:{best}"


def _is_json(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_json, value.values()))
    if isinstance(value, list):
        return all(map(_is_json, value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return abs(value) <= sys.float_info.max
    return isinstance(value, str | bool)


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # Python does not print an integer of thousands of digits
        return "an enormous number"


def _split(dotted: str) -> tuple[str, ...]:
    parts = re.findall(r'"([^"]*)"|\'([^\']*)\'|([^.\s"\']+)', dotted)
    return tuple("".join(part) for part in parts)


class Reader:
    """One table of a TOML file, read key by key."""

    def __init__(
        self, table: Any, source: Source, path: Sequence[str] = (), *, nth: int = 0
    ) -> None:
        self.source = source
        self.path = tuple(path)
        self._nth = nth
        self._asked: set[str] = set()
        if not isinstance(table, Mapping):
            raise self.error("must be a table")
        self.raw: Mapping[str, Any] = table

    def error(self, problem: str, key: str | None = None, *, hint: str = _HINT) -> UsageError:
        """Return an error that names file, line and key."""
        return UsageError(f"{self.where(key)}: {problem}", hint=hint)

    def where(self, key: str | None = None) -> str:
        """Return file, line and dotted name of a key, or of the table."""
        full = self.path if key is None else (*self.path, key)
        dotted = ".".join(full) or "the file"
        return f"{self.source.place(full, nth=self._nth)}: {dotted}"

    def has(self, key: str) -> bool:
        """Tell whether the table has the key."""
        return key in self.raw

    def keys(self) -> list[str]:
        """Return all keys: for tables whose keys are names the user chose."""
        self._asked.update(self.raw)
        return list(self.raw)

    def keys_seen(self, *keys: str) -> None:
        """Note keys that are read by another way, or that nothing depends on."""
        self._asked.update(keys)

    def text(self, key: str, default: str | None = None) -> str:
        """Read a string; without a default it must be there."""
        return self._one(key, default, str, "a string")

    def flag(self, key: str, *, default: bool) -> bool:
        """Read true or false."""
        return self._one(key, default, bool, "true or false")

    def number(
        self,
        key: str,
        default: float | None = None,
        *,
        low: float = 0.0,
        high: float = sys.float_info.max,
    ) -> float:
        """Read a finite number from ``low`` to ``high``."""
        value = self._get(key, default)
        good = isinstance(value, int | float) and not isinstance(value, bool)
        if not good or not low <= value <= high:  # NaN fails this as well
            most = "" if high == sys.float_info.max else f" and at most {high:.10g}"
            words = f"must be a number of at least {low:g}{most}, not {_shown(value)}"
            raise self.error(words, key)
        return float(value)

    def integer(
        self, key: str, default: int | None = None, *, low: int = 0, high: int = _MOST
    ) -> int:
        """Read a whole number from ``low`` to ``high``."""
        value = self._get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < low:
            raise self.error(f"must be a whole number of at least {low}, not {_shown(value)}", key)
        if value > _MOST:
            raise self.error("is an enormous number", key)
        if value > high:
            raise self.error(f"must be at most {high}, not {value}", key)
        return value

    def some_number(
        self,
        key: str,
        default: float | None = None,
        *,
        low: float = 0.0,
        high: float = sys.float_info.max,
    ) -> float | None:
        """Read a number that may be missing: then it is the default, and that may be none."""
        if self.has(key):
            return self.number(key, low=low, high=high)
        self._asked.add(key)
        return default

    def some_integer(
        self, key: str, default: int | None = None, *, low: int = 0, high: int = _MOST
    ) -> int | None:
        """Read a whole number that may be missing."""
        if self.has(key):
            return self.integer(key, low=low, high=high)
        self._asked.add(key)
        return default

    def texts(self, key: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        """Read a list of strings."""
        value = self._get(key, default)
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise self.error(f"must be a list of strings, not {_shown(value)}", key)
        if not all(isinstance(item, str) for item in value):
            raise self.error("must hold strings alone", key)
        return tuple(value)

    def choice(self, key: str, default: str, options: Sequence[str]) -> str:
        """Read one of a closed set of words."""
        value = self.text(key, default)
        if value not in options:
            raise self.error(f"must be one of {', '.join(options)}, not {value!r}", key)
        return value

    def day(self, key: str) -> date:
        """Read a date: ``2027-01-31``, with quotes or without."""
        value = self._get(key, None)
        try:
            # A time of day is a date to Python as well.
            if isinstance(value, date) and not isinstance(value, datetime):
                return value
            return date.fromisoformat(str(value))
        except ValueError as error:
            message = f"must be a day such as 2027-01-31, not {_shown(value)}"
            raise self.error(message, key) from error

    def table(self, key: str) -> Reader:
        """Read a table; a missing one is empty."""
        return type(self)(self._get(key, {}), self.source, (*self.path, key), nth=self._nth)

    def tables(self, key: str) -> list[Reader]:
        """Read a list of tables; a missing one is empty."""
        value = self._get(key, [])
        if not isinstance(value, list):
            raise self.error("must be a list of tables", key)
        path = (*self.path, key)
        return [type(self)(item, self.source, path, nth=nth) for nth, item in enumerate(value)]

    def named(self, key: str, read: Callable[[Reader], T]) -> dict[str, T]:
        """Read a table of tables under names the user chose."""
        outer = self.table(key)
        return {name: read(outer.table(name)) for name in outer.keys()}  # noqa: SIM118

    def json(self, key: str) -> dict[str, Any]:
        """Read a free table as it is; a value that JSON does not know is refused."""
        inner = self.table(key)
        for name, value in inner.raw.items():
            if not _is_json(value):
                raise inner.error(f"JSON has no such value: {_shown(value)}", name)
        return dict(inner.raw)

    def done(self) -> None:
        """Refuse every key that nobody asked for."""
        for key in self.raw:
            if key not in self._asked:
                near = difflib.get_close_matches(key, sorted(self._asked), n=1)
                known = ", ".join(sorted(self._asked)) or "none"
                hint = f"did you mean {near[0]!r}?" if near else f"known keys: {known}"
                raise self.error("unknown key", key, hint=hint)

    def _get(self, key: str, default: Any) -> Any:
        self._asked.add(key)
        if key in self.raw:
            return self.raw[key]
        if default is None:
            raise self.error(f"{key!r} is missing")
        return default

    def _one(self, key: str, default: T | None, kind: type[T], words: str) -> T:
        value = self._get(key, default)
        if not isinstance(value, kind):
            raise self.error(f"must be {words}, not {_shown(value)}", key)
        return value
