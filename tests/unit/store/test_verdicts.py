"""The newest verdict, read where anybody asks for it."""

from __future__ import annotations

import json

import pytest

from evalgate.core.identity import FORMAT
from evalgate.errors import UsageError
from evalgate.store.verdicts import VERDICT, read_verdict


def test_there_may_be_none_yet(tmp_path):
    """Which is no error."""
    assert read_verdict(tmp_path) is None


def test_it_is_what_was_written(tmp_path):
    """But for what is no number in JSON."""
    (tmp_path / VERDICT).write_text(f'{{"format": {FORMAT}, "rate": NaN, "decision": "pass"}}')
    assert read_verdict(tmp_path) == {"format": FORMAT, "rate": None, "decision": "pass"}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", "\xff", "[" * 100_000, json.dumps({"format": FORMAT + 1})]
)
def test_what_is_none_is_refused_by_name(tmp_path, text):
    """Cut, something else, too deep, or of a newer evalgate."""
    (tmp_path / VERDICT).write_text(text, encoding="latin-1")
    with pytest.raises(UsageError, match=VERDICT):
        read_verdict(tmp_path)


def test_a_folder_in_its_place_is_refused(tmp_path):
    """As what can not be read."""
    (tmp_path / VERDICT).mkdir()
    with pytest.raises(UsageError, match=VERDICT):
        read_verdict(tmp_path)
