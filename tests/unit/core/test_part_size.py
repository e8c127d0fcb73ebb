"""The size of a part: tokens by a count that is named, and tools in the shapes of the APIs."""

from __future__ import annotations

import json

import pytest

from evalgate.core.part_size import PartSize, size_change, size_json

ANTHROPIC = {"name": "bash", "description": "x", "input_schema": {}}
OPENAI = {"type": "function", "function": {"name": "bash", "parameters": {}}}


@pytest.mark.parametrize(
    ("value", "tools"),
    [
        ([ANTHROPIC, ANTHROPIC], 2),
        ([OPENAI], 1),
        ({"tools": [ANTHROPIC, OPENAI]}, 2),
        (ANTHROPIC, 1),
        ({"type": "function", "name": "bash", "parameters": {}}, 1),
        ({"name": "no tool"}, 0),
        ([], 0),
        ("text", 0),
        ([1, None], 0),
    ],
)
def test_tools_are_counted(value: object, tools: int) -> None:
    """In a list, under a key, or one a file."""
    assert PartSize.of([json.dumps(value).encode()]).tools == tools


@pytest.mark.parametrize("data", [b"be brief\n", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_json_has_no_tools(data: bytes) -> None:
    """A prompt, bytes, and what is too deep."""
    assert PartSize.of([data]).tools == 0


def test_tokens_are_counted_by_bytes() -> None:
    """Four a token, over all files, rounded up; the count is said."""
    before, after = PartSize.of([b"12345", b"678"]), PartSize.of([b"123456789"])
    assert (before.tokens, after.tokens) == (2, 3)
    assert size_change(before, after) == "about 2 → 3 tokens (four bytes each)"
    assert size_json(before, after)["counted_as"] == "4 bytes a token"
    more = PartSize.of([json.dumps([ANTHROPIC]).encode()])
    assert size_change(before, more).endswith(", 0 → 1 tools")
