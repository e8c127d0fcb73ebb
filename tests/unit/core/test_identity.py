"""What makes two things the same, and what keeps them apart."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.identity import Conditions, canonical, digest, folded, storage_key

NAMES = [
    *("a/b", "a.b", "a_b", "A_b", "A/B", "con", "CON", "nul", "../x", "x", "", "-", "...", " "),
    *(unicodedata.normalize(form, "é") for form in ("NFC", "NFD")),
    *("x" * 300, "x" * 299, "日本", "a\nb", "a\0b", "\udcff"),
]


def test_no_two_names_share_a_place() -> None:
    """Names that a file system would fold together lie apart on all of them."""
    keys = [storage_key(name) for name in NAMES]
    assert len({key.casefold() for key in keys}) == len(NAMES)


@given(st.one_of(st.sampled_from(NAMES), st.text(st.characters(exclude_categories=["Cs"]))))
def test_a_place_is_a_plain_name_everywhere(name: str) -> None:
    """Lower-case ASCII letters, digits and dashes; short; never empty or reserved."""
    key = storage_key(name)
    assert key.isascii()
    assert key == key.lower()
    assert set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert 9 <= len(key) <= 69
    assert key == storage_key(name)


def test_ids_that_people_take_for_the_same_are() -> None:
    """Case and Unicode form do not make another task."""
    assert folded("É") == folded("e\u0301") != folded("e")


def test_canonical_json_has_one_form() -> None:
    """The order of keys says nothing; types and values do."""
    assert canonical({"b": 1, "a": [1, 2]}) == canonical({"a": [1, 2], "b": 1})
    assert digest({"a": 1}, domain="x") != digest({"a": "1"}, domain="x")
    assert digest({"a": 1}, domain="x") != digest({"a": 1}, domain="y")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sandbox": "bwrap"}, "sandbox: process against bwrap"),
        ({"agent": "2.0"}, "agent: none against 2.0"),
        ({"models": ("m-1", "m-2")}, "models served: m-1 against m-1, m-2"),
        ({"format": 2}, "format: 1 against 2"),
        ({"images": {"sandbox": "b"}}, "image of the sandbox: a against b"),
        ({"promises": {"own_network": False}}, "own network: True against False"),
        ({"checks": {"file_exists": 2}}, "check file_exists: version 1 against 2"),
    ],
)
def test_unequal_conditions_are_named(
    conditions: Conditions, change: dict[str, object], words: str
) -> None:
    """A person is told what differs, both values beside each other."""
    assert conditions.differences(replace(conditions, **change)) == (words,)


def test_a_model_matters_only_where_both_sides_asked_one(conditions: Conditions) -> None:
    """An agent that never asks is judged by what it did, not set aside."""
    assert not conditions.differences(replace(conditions, models=()))
    assert not replace(conditions, models=()).differences(conditions)


def test_a_judge_matters_only_where_both_sides_asked_one(conditions: Conditions) -> None:
    """Another judging model that was served is another measurement; it is kept with the rest."""
    one, two = (replace(conditions, judges=(name,)) for name in ("judge-1", "judge-2"))
    assert one.differences(two) == ("judges: judge-1 against judge-2",)
    assert not one.differences(conditions)
    assert Conditions.from_json(one.to_json()) == one


def test_where_a_judge_was_asked_matters_where_both_sides_know(conditions: Conditions) -> None:
    """Of each judge by itself: a task may have more of them than another."""
    one, two = (replace(conditions, judged_at={"j": at}) for at in ("anthropic", "env:MINE"))
    assert one.differences(two) == ("judge j: asked at anthropic against env:MINE",)
    assert one.differences(replace(conditions, judged_at={"j": "anthropic", "k": "openai"})) == ()
    assert one.differences(conditions) == ()
    assert Conditions.from_json(one.to_json()) == one


def test_a_check_matters_only_where_both_sides_ran_it(conditions: Conditions) -> None:
    """A new kind of check makes nothing incomparable."""
    more = replace(conditions, checks={"file_exists": 1, "file_contains": 3})
    assert conditions.differences(more) == ()
    assert conditions.differences(conditions) == ()


def test_promises_matter_only_where_both_are_known(conditions: Conditions) -> None:
    """A record without them is no other one, and another sandbox says it all."""
    assert not conditions.differences(replace(conditions, promises={}))
    other = replace(conditions, sandbox="bwrap", promises={"own_network": False})
    assert conditions.differences(other) == ("sandbox: process against bwrap",)


@given(
    st.builds(
        Conditions,
        sandbox=st.text(),
        agent=st.text(),
        models=st.lists(st.text(), max_size=2).map(tuple),
        checks=st.dictionaries(st.text(), st.integers(0, 9), max_size=2),
        promises=st.dictionaries(st.text(), st.booleans(), max_size=2),
    )
)
def test_conditions_come_back_from_json(value: Conditions) -> None:
    """Nothing is lost on disk."""
    assert Conditions.from_json(value.to_json()) == value
