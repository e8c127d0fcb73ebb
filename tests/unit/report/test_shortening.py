"""A page made shorter: what is on top stays, and what stays is whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.report.shortening import shorten

FOLD = (
    "<details><summary>{0}</summary>\n\n```diff\n-a\n\n</details>\n+b\n```\n\nend {0}\n\n</details>"
)
PAGE = "\n\n".join(
    ["> [!NOTE]\n> **Pass.**", "words", "| a |\n|---|\n| 1 |", FOLD.format(1), FOLD.format(2)]
)


def test_a_short_page_is_left_as_it_is() -> None:
    """To the byte."""
    assert shorten(PAGE, len(PAGE.encode())) == PAGE


def test_folds_go_first_from_the_last_one() -> None:
    """Whole, also with an end of a fold in their code; then what is above them."""
    left = "\n\n… shortened: what is left out is in the job's summary and in `verdict.md`."
    shorter = [shorten(PAGE, limit) for limit in range(len(PAGE) - 1, len(left.encode()) + 40, -1)]
    seen = [*dict.fromkeys(shorter)]
    whole = PAGE.split(f"\n\n{FOLD.format(1)}")[0]
    top = PAGE.split("\n\n")
    assert seen[0] == f"{whole}\n\n{FOLD.format(1)}{left}"
    assert seen[1] == f"{whole}{left}"
    assert seen[2] == f"{top[0]}\n\n{top[1]}{left}"


@given(st.text(alphabet="ab\n`|<>é \\", max_size=400), st.integers(0, 500))
def test_no_page_is_longer_than_asked(page: str, limit: int) -> None:
    """Whatever it is made of."""
    assert len(shorten(page, limit).encode()) <= max(limit, 0)


@pytest.mark.parametrize("page", ["x" * 500, "é" * 500, "a\n" * 250, "a\n```\n" + "b\n" * 200])
def test_the_first_paragraph_is_cut(page: str) -> None:
    """Where there is nothing else; no code block stays open."""
    short = shorten(page, 150)
    assert len(short.encode()) <= 150
    assert short.startswith(page[0])
    assert "shortened" in short
    assert short.count("```") == 0
