"""The page of all keys, made by listening to the reader of a configuration.

`python -m tests.configuration > docs/configuration.md` writes it anew.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from evalgate.core.config import HASHED, read_config
from evalgate.core.schema import Reader, Source
from tests.meanings import MEANINGS, TABLES

_FLOAT: Final = sys.float_info.max
_WHOLE: Final = (1 << 63) - 1

#: Every table that there can be, with what it must hold; NAME is what a user would choose.
EXAMPLE = """
[harness.parts]
NAME = ["prompts/**"]
[harness.overlay]
NAME = "a.md"
[models.NAME]
id = "some-model"
upstream = "anthropic"
price = { input = 3, output = 15, cache_read = 0.3, cache_write = 3.75 }
[agent.env]
NAME = "value"
[policy.budgets]
cost_usd = 1.25
[policy.quarantine.NAME]
owner = "who"
reason = "why"
review = 2027-01-31
[[tripwires.own]]
name = "one"
pattern = "words"
reason = "why"
[[cassettes.scrub]]
name = "one"
pattern = "words"
replace = "<N>"
reason = "why"
"""

HEAD = """# Configuration

Every table and key of `evalgate.toml`, or of the same tables below `[tool.evalgate]` in
`pyproject.toml`. `NAME` is a name that you choose. An unknown key, a wrong type and a missing one
are exit 2, with file, line and key. A task has [a file of its own](tasks.md).

The fingerprint is made of the tables FINGERPRINT
(without `harness.root`) and the files that the parts match. The base's policy, tasks and template
judge a change, and what the change does to them is named on top of its verdict.

This page is made of the code (`python -m tests.configuration`), and a test holds the two together.
"""


def _between(kind: str, low: float, high: float) -> str:
    return f"{kind} ≥ {low:g}" if high in {_FLOAT, _WHOLE} else f"{kind}, {low:g} to {high:,.10g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key as the reader asked for it: its type in words, and its default."""

    type: str
    default: str


HEARD: dict[str, Key] = {}
LISTS: set[str] = set()
OPTIONAL: set[str] = set()


def _told(value: Any) -> str:
    return f"`{json.dumps(value, ensure_ascii=False)}`"


class Listener(Reader):
    """A reader that keeps what it was asked for."""

    def _hear(self, key: str, kind: str, default: Any, none: str = "required") -> None:
        name = ".".join((*self.path, key)).replace("budgets.cost_usd", "budgets.NAME")
        told = none if default is None else _told(default)
        HEARD.setdefault(name, Key(type=kind, default=told))

    def has(self, key: str) -> bool:
        OPTIONAL.add(".".join((*self.path, key)))
        return super().has(key)

    def text(self, key: str, default: str | None = None) -> str:
        self._hear(key, "string", default)
        return super().text(key, default)

    def flag(self, key: str, *, default: bool) -> bool:
        self._hear(key, "true or false", default)
        return super().flag(key, default=default)

    def number(
        self, key: str, default: float | None = None, *, low: float = 0.0, high: float = _FLOAT
    ) -> float:
        self._hear(key, _between("number", low, high), default)
        return super().number(key, default, low=low, high=high)

    def integer(
        self, key: str, default: int | None = None, *, low: int = 0, high: int = _WHOLE
    ) -> int:
        self._hear(key, _between("integer", low, high), default)
        return super().integer(key, default, low=low, high=high)

    def some_number(
        self, key: str, default: float | None = None, *, low: float = 0.0, high: float = _FLOAT
    ) -> float | None:
        self._hear(key, _between("number", low, high), default, "none")
        return super().some_number(key, default, low=low, high=high)

    def some_integer(
        self, key: str, default: int | None = None, *, low: int = 0, high: int = _WHOLE
    ) -> int | None:
        self._hear(key, _between("integer", low, high), default, "none")
        return super().some_integer(key, default, low=low, high=high)

    def texts(self, key: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        self._hear(key, "list of strings", None if default is None else [*default])
        return super().texts(key, default)

    def choice(self, key: str, default: str, options: Sequence[str]) -> str:
        words = " or ".join(f"`{option}`" for option in options if option)
        self._hear(key, words, default)
        return super().choice(key, default, options)

    def day(self, key: str) -> date:
        self._hear(key, "day, such as `2027-01-31`", None)
        return super().day(key)

    def json(self, key: str) -> dict[str, Any]:
        self._hear(key, "table", {})
        return super().json(key)

    def tables(self, key: str) -> list[Reader]:
        LISTS.add(".".join((*self.path, key)))
        return super().tables(key)


def heard() -> Mapping[str, Key]:
    """Return every key by its dotted name, in the order in which they are read."""
    if not HEARD:
        source = Source("the example", EXAMPLE)
        read_config(Listener(source.parse(), source))
    return HEARD


def render_page() -> str:
    """Return the page, as it is committed."""
    keys = heard()
    page = HEAD.replace("FINGERPRINT", ", ".join(f"`[{name}]`" for name in HASHED))
    for table, meaning in TABLES.items():
        head = f"[[{table}]]" if table in LISTS else f"[{table}]"
        page += (
            f"\n## `{head}`\n\n{meaning}\n\n| key | type | default | meaning |\n|---|---|---|---|\n"
        )
        for name, key in keys.items():
            above, _, leaf = name.rpartition(".")
            if above == table:
                default = "none" if name in OPTIONAL else key.default
                page += f"| `{leaf}` | {key.type} | {default} | {MEANINGS[name]} |\n"
    return page


if __name__ == "__main__":
    print(render_page(), end="")
