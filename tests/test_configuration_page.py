"""The page of all keys is the one that the code makes, and says something of each."""

from __future__ import annotations

import re

import pytest

from tests.configuration import heard, render_page
from tests.meanings import MEANINGS, TABLES
from tests.pages import PAGES, ROOT, coded


def test_the_page_is_what_the_code_makes():
    """Written anew by `python -m tests.configuration > docs/configuration.md`."""
    assert (ROOT / "docs/configuration.md").read_text() == render_page()


def test_every_key_has_a_meaning_and_a_table():
    """No key that the reader asks for is left out, and none is told that it does not know."""
    assert set(MEANINGS) == set(heard())
    assert {name.rpartition(".")[0] for name in MEANINGS} == set(TABLES)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_every_key_that_a_page_names_is_one(name):
    """Where it is named with its table, as in `suite.trials`."""
    tables = "|".join({table.partition(".")[0] for table in TABLES})
    known = {one.removesuffix(".NAME") for one in (*MEANINGS, *TABLES)}
    for told in coded(PAGES[name]):
        key = told.partition(" = ")[0].removesuffix(".NAME")
        if re.fullmatch(rf"(?:{tables})\.[a-z_]+(?:\.[A-Za-z_]+)*", key):
            assert key in known, told
