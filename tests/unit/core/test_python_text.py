"""Texts read as Python."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from evalgate.core.python_text import compiles, tree_of


@pytest.mark.parametrize("text", ["def (", "\x00", "x = '\ud800'", "(" * 500, "return"])
def test_what_is_none(text: str) -> None:
    """Whatever a file holds, it is no error."""
    assert not compiles(text)
    assert tree_of(text) is None or text == "return"


def test_many_threads_at_once() -> None:
    """Each has its own tree: Python itself loses count."""
    text = "".join(f"x{n} = [{n}, (lambda: {n})()]\n" for n in range(300))
    with ThreadPoolExecutor(max_workers=8) as pool:
        assert all(pool.map(tree_of, [text] * 60))
