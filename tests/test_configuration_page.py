"""The page of all keys is the one that the code makes, and says something of each."""

from __future__ import annotations

from evalgate.core.meanings import MEANINGS, TABLES
from tests.configuration import heard, render_page
from tests.pages import ROOT


def test_the_page_is_what_the_code_makes():
    """Written anew by `python -m tests.configuration > docs/configuration.md`."""
    assert (ROOT / "docs/configuration.md").read_text() == render_page()


def test_every_key_has_a_meaning_and_a_table():
    """No key that the reader asks for is left out, and none is told that it does not know."""
    assert set(MEANINGS) == set(heard())
    assert {name.rpartition(".")[0] for name in MEANINGS} == set(TABLES)
