"""The first request in a session that somebody wrote down."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.transcripts import first_request
from evalgate.errors import UsageError

ROW = '{"role": "user", "content": "Mend it."}'
NOISE = '{"type": "system"}'


@pytest.mark.parametrize(
    "text",
    [
        ROW,
        f"{NOISE}\n\n{ROW}\r\n",
        f"\ufeff{ROW}",
        f"[{NOISE},\n {ROW}]",
        '{"steps": [{"source": "agent"}, {"source": "user", "message": "Mend it."}]}',
        '{"type": "user", "message": {"role": "user", "content": [{"text": "Mend it."}]}}',
        "  Mend it.\n",
        '{"role": "user", "content": "Mend it."}\n{"content": "a\u2028b"}',
    ],
)  # fmt: skip
def test_forms(text: str) -> None:
    """ATIF, messages, a message a line, and words that are no JSON at all."""
    assert first_request(text.encode(), "said") == "Mend it."


@pytest.mark.parametrize("text", ["", "[]", "{}", NOISE, '"words"', "7", "\n\n"])
def test_no_request(text: str) -> None:
    """Nothing is made up where no user spoke."""
    assert first_request(text.encode(), "said") == ""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (ROW[:-1], 1),
        (f"{ROW[:-1]}\n{ROW}", 1),
        (f"{ROW}\n{ROW[:-9]}", 2),
        (f"{NOISE}\n\nTraceback (most recent call last):\n{ROW}", 3),
        (f"Warning: old node\n{ROW}", 1),
        (f"{ROW[:-1]}\n", 1),
        (f"[\n{NOISE},\n{ROW}\n", 3),
        ('{\n "messages": [\n  {"role" "user"}]}', 3),
        ("[" * 100_000, 1),
        (f"{ROW}\n{ROW}".replace("Mend", "M\udcffend", 1), 1),
        (f"{NOISE}\n{ROW}\udcff", 2),
        ("words\nmore w\udcffords", 2),
    ],
)
def test_a_broken_line_is_named(text: str, line: int) -> None:
    """It is never taken for a request, nor passed over."""
    with pytest.raises(UsageError) as caught:
        first_request(text.encode("utf-8", "surrogateescape"), "a/said.jsonl")
    assert str(caught.value).startswith(f"a/said.jsonl:{line}: this is no ")
    assert "--instruction" in caught.value.hint


@given(st.data())
def test_no_part_of_a_session_becomes_a_request(data: st.DataObject) -> None:
    """Cut anywhere, a line of JSON is broken, and never a request itself."""
    words = data.draw(st.text(st.characters(categories=["L"]), min_size=1))
    row = json.dumps({"type": "user", "message": {"role": "user", "content": words}})
    cut = row[: data.draw(st.integers(1, len(row)))]
    for line, text in ((1, cut), (2, f"{NOISE}\n{cut}")):
        if cut == row:
            assert first_request(text.encode(), "said") == words
        else:
            with pytest.raises(UsageError, match=f"^said:{line}: this is no JSON$"):
                first_request(text.encode(), "said")
