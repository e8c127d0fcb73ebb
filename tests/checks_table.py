"""The table of checks in docs/tasks.md, written from their docstrings.

``python -m tests.checks_table`` writes it anew.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from typing import Any

from evalgate.checks.table import CHECKS
from tests.pages import ROOT

PAGE = ROOT / "docs/tasks.md"
_TABLE = re.compile(r"^\| type \| passes when \|.*?\n\n", re.DOTALL | re.MULTILINE)


def documented(kind: str) -> tuple[str, str]:
    """Return what passes by a kind of check, and its example as it is written."""
    words = " ".join(textwrap.dedent(CHECKS[kind].__doc__ or "").split())
    sentence, _, example = words.partition(" Example: ")
    found = re.fullmatch(r"``(.*)``\.", example)
    assert found is not None, f"{kind} has no example"
    return sentence.removesuffix("."), found[1]


def example_of(kind: str) -> dict[str, Any]:
    """Return the example of a kind of check, parsed as it would be in a task.toml."""
    one = tomllib.loads(f"check = {documented(kind)[1]}")["check"]
    assert isinstance(one, dict)
    return one


def render() -> str:
    """Return the table."""
    lines = ["| type | passes when | example |", "|---|---|---|"]
    for kind in sorted(CHECKS):
        sentence, example = documented(kind)
        sentence = sentence.replace("``", "`").replace("|", "\\|")
        lines.append(f"| `{kind}` | {sentence} | `{example}` |".replace("\\|", "\\|"))
    return "\n".join(lines) + "\n\n"


def rendered(page: str) -> str:
    """Return a page with the table as it should be."""
    return _TABLE.sub(lambda _: render(), page, count=1)


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text()))
