"""The table of recordings: where they lie, and which rules scrub requests."""

from __future__ import annotations

import re

import pytest

from evalgate.core.cassettes import CassettesSpec, read_cassettes
from evalgate.core.schema import Reader, Source
from evalgate.core.scrubs import SCRUBS, usual_scrubs
from evalgate.errors import UsageError

RULE = """\
[[scrub]]
name = "build"
pattern = 'Build \\d+'
replace = "Build <N>"
reason = "counts builds"
"""


def read(text: str) -> CassettesSpec:
    """Read the text of the table alone."""
    source = Source("evalgate.toml", text)
    return read_cassettes(Reader(source.parse(), source))


def test_an_empty_table_is_the_usual_one():
    """The folder cassettes, and the rules of the table."""
    assert read("") == CassettesSpec(path="cassettes", scrubs=usual_scrubs())


def test_rules_are_left_out_asked_for_and_added():
    """The project's own come last, and do what they say, and know where they stand."""
    spec = read('path = "tapes"\nwithout = ["date", "kernel"]\nalso = ["uuid"]\n' + RULE)
    names = [rule.name for rule in spec.scrubs]
    assert spec.path == "tapes"
    assert names[-1] == "build"
    assert "uuid" in names
    assert {"date", "kernel"} & set(names) == set()
    assert (spec.scrubs[-1].source, spec.scrubs[-1].replace) == (r"Build \d+", "Build <N>")
    assert spec.scrubs[-1].place == "evalgate.toml:6: scrub.pattern"
    assert not any(rule.place for rule in spec.scrubs[:-1])


def test_a_rule_may_be_of_one_dialect():
    """As those of the table are."""
    assert read(RULE + 'dialect = "gemini"\n').scrubs[-1].dialects == frozenset({"gemini"})


def test_other_rules_are_another_version():
    """Whatever changes what is scrubbed changes the version; a reason does not."""
    one = read(RULE)
    assert one.rules != read("").rules
    assert one.rules != read(RULE.replace("<N>", "<M>")).rules
    assert one.rules == read(RULE.replace("counts builds", "because")).rules


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('path = "."', ":1: path: must name a folder"),
        ("path = 3", ":1: path: must be a string"),
        ('without = ["dat"]', "there is no rule 'dat'"),
        ('also = ["uid"]', "there is no rule 'uid'"),
        ('without = ["uuid"]\nalso = ["uuid"]', "asked for and left out"),
        ('witout = ["date"]', "unknown key"),
        (RULE + 'literal = "x"', "unknown key"),
        (RULE.replace('"build"', '"date"'), "there is a rule 'date' already"),
        (RULE.replace('"build"', '"places"'), "there is a rule 'places' already"),
        (RULE.replace('"build"', '"Build it"'), "must be a short word"),
        (RULE + RULE, "there is a rule 'build' already"),
        (RULE.replace(r"Build \d+", "Build ("), ":3: scrub.pattern: 'Build ('"),
        (RULE.replace(r"Build \d+", ".*"), "also matches nothing at all"),
        (RULE.replace(r"Build \d+", ""), "also matches nothing at all"),
        (RULE.replace("Build <N>", r"\\2"), "can not be put in"),
        (RULE.replace("Build <N>", r"\\g<no>"), "can not be put in"),
        (RULE.replace(r"Build \d+", "[[:digit:]]+"), "is no pattern: Possible nested set"),
        (RULE.replace("counts builds", " "), "must not be empty"),
        (RULE.replace('reason = "counts builds"', ""), "'reason' is missing"),
        (RULE + 'dialect = "claude"\n', "must be one of"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_key(text: str, said: str):
    """And, where it can be found, with its line; never a traceback."""
    with pytest.raises(UsageError) as caught:
        read(text)
    assert caught.value.message.startswith("evalgate.toml")
    assert said in caught.value.message
    assert caught.value.hint


def test_a_near_name_is_offered():
    """A typing error is answered with the rule that was meant."""
    with pytest.raises(UsageError) as caught:
        read('without = ["kernal"]')
    assert caught.value.hint == "did you mean 'kernel'?"


def test_every_rule_of_the_table_stands_the_test_of_a_projects_own():
    """Narrow, of a short name, and with a reason."""
    for rule in SCRUBS:
        assert re.fullmatch(r"[a-z-]+", rule.name)
        assert rule.reason
        assert not rule.pattern.search("")
