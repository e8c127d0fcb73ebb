"""The pages that people read, and what stands in them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
WIRE = (ROOT / "docs/wire.md").read_text()
GITHUB = (ROOT / "docs/github.md").read_text()
#: Every page by its path below the root.
PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}


def blocks(language: str, page: str) -> list[str]:
    """Return the fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def rows(heading: str, page: str) -> list[list[str]]:
    """Return the cells of each row of the first table below a heading."""
    section = page.split(f"\n{heading}\n", 1)[1]
    lines = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert lines is not None
    return [line.split(" | ") for line in lines[0].splitlines()[2:]]


def coded(text: str) -> list[str]:
    """Return what stands in backticks."""
    return re.findall(r"`([^`]+)`", text)


def named(heading: str, page: str) -> list[str]:
    """Return what the first cells of a table name, in backticks."""
    return [name for first, *_ in rows(heading, page) for name in coded(first)]


def next_commands(page: Path) -> list[list[str]]:
    """Return the words of evalgate's commands below Next on a verdict's page."""
    block = page.read_text().partition("### Next\n\n```sh\n")[2].partition("\n```")[0]
    lines = [line for line in block.splitlines() if line.startswith("evalgate ")]
    assert lines
    return [shlex.split(line, comments=True)[1:] for line in lines]
