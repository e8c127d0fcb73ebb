"""A project's own rules do what `re` would, come to an end, and are narrow."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from evalgate.core.scrubs import SCRUBS, Scrub
from evalgate.core.tripwires import TRIPWIRES, Tripwire
from evalgate.errors import UsageError
from evalgate.gateway.keys.own_rules import (
    SAMPLES,
    require_sound,
    search,
    substitute,
    substitute_once,
)
from evalgate.gateway.keys.scrubbing import scrub_text

PLACE = "evalgate.toml:5: cassettes.scrub.pattern"

#: In exponential time, with `re` and with `regex` alike.
ENDLESS = r"(a|aa)+$"


def own(source: str, replace: str = "<X>") -> Scrub:
    return Scrub(name="own", source=source, replace=replace, reason="for this test", place=PLACE)


TEXTS = (
    *SAMPLES,
    "Build 12 of 2026-11-29T10:00:00Z, é ÀB ß İ \u017f \u2028 x\r\ny\tz\n\nBUILD 7",
    "Process Group PGID: 12\nOS Version: Linux 6.1.0\n<timezone>Etc/UTC</timezone>",
    "<f at 0x7f0001020304>, duration_ms: 12.5, 3 passed in 0.12s, cch=0a1b",
    "tmp/abc123/x.py:12: error; id=019a1b2c-0000-7000-8000-0123456789ab {id} a{e} [[x]]",
    "",
)


@pytest.mark.parametrize(
    ("source", "replace"),
    [
        *((rule.source, rule.replace) for rule in SCRUBS),
        (r"Build \d+", "Build <N>"),
        (r"(?i)build\s+(\d+)", r"<\1>"),
        (r"(?P<word>\w+)=(?P<value>[^;\s]+)", r"\g<word>=<V>"),
        (r"(a)|(b)|x", r"[\1\2]"),
        (r"^\s*def (\w+)", r"\1\n"),
        (r"(?m)^(.)(.*)$", r"\2\1"),
        (r"(?s)OS.+?Etc", "<OS>"),
        (r"(?x) \d{4} - \d\d  # a day", "<DAY>"),
        (r"\b\w{3,5}\b(?!\))", r"\g<0>!"),
        (r"(?<=id=)[0-9a-f-]{8,}", "<ID>"),
        (r"[\]\[{}]+", r"\\"),
        (r"(?:\r\n|\r|\n)+", "/"),
        (r"[^\x00-\x7f]", "?"),
        (r"(?a)\w+é", "-"),
        (r"(?i)ß|[à-ö]", "-"),
        (r"\{id\}|\N{LATIN SMALL LETTER E WITH ACUTE}|\u2028", "-"),
        (r"(['\"])(.*?)\1", r"\1\1"),
        (r"\A.|.\Z", "-"),
    ],
)
def test_a_pattern_finds_and_puts_what_re_would(source: str, replace: str):
    """Every rule of the table, and what people write: one text, one count."""
    for text in TEXTS:
        assert substitute(own(source, replace), text) == re.subn(source, replace, text)


def test_a_rule_that_comes_to_no_end_is_named_with_its_place():
    """`re` would never come back, and nothing could stop it."""
    with pytest.raises(UsageError) as caught:
        scrub_text("a" * 60 + "!", [own(ENDLESS)], Counter())
    said = "evalgate.toml:5: cassettes.scrub.pattern: scrub rule 'own' took longer than 1 s"
    assert caught.value.message == f"{said} on a text of 61 characters"
    assert "narrower" in caught.value.hint


@pytest.mark.parametrize(
    ("source", "replace", "said"),
    [
        (r".+", "<X>", "takes most of any text"),
        (r"[\s\S]+", "<X>", "takes most of any text"),
        (r"\w+", "<X>", "takes most of any text"),
        (r"[a-z]", "<N>", "takes most of any text"),
        (r"(?=e)", "<X>", "matches nothing at all"),
        (r"\b(?=n)", "<X>", "matches nothing at all"),
        (r"Build \d+", "Build 1 or Build 2", "finds its own 'Build 1 or Build 2' again"),
        (r"(a|aa)+$", "a" * 60 + "!", "took longer than 1 s"),
        (r"Build{e<=1}", "<X>", "'{e<=1}' is no count"),
        (r"Build {id}", "<X>", "'{id}' is no count"),
    ],
)
def test_what_is_no_rule_is_told_before_it_is_run(source: str, replace: str, said: str):
    """With file, line and key, and what to do."""
    with pytest.raises(UsageError) as caught:
        require_sound([*SCRUBS, own(source, replace)])
    assert caught.value.message.startswith(PLACE)
    assert said in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "source", [r"Build \d+", r"\d+", r"\{e\}x?y", r"[0-9a-f]{8,}", r'"count": \d+', r"x{2}y{,3}z"]
)
def test_a_narrow_rule_is_taken(source: str):
    """Bare numbers are a project's own affair; a brace may be escaped, or count."""
    require_sound([own(source)])


@pytest.mark.parametrize(
    ("source", "replace", "text"),
    [(r"do(u)", r"do\1\1 dou", "a dou"), (r"(a)", r"\1\1", "a b"), (r"(x)y", r"\1xy", "xy")],
)
def test_a_rule_that_finds_what_it_made_is_told_at_its_first_find(
    source: str, replace: str, text: str
):
    """With groups in the replacement nobody can say so before."""
    rule = Scrub(name="r", source=source, replace=replace, reason="r", place="evalgate.toml:3")
    with pytest.raises(UsageError, match="finds its own"):
        substitute_once(rule, text)


def test_a_rule_that_changes_nothing_any_more_is_taken():
    """What it made, it leaves alone."""
    rule = Scrub(name="r", source=r"Build \d+", replace="Build 1", reason="r", place="t:3")
    assert substitute_once(rule, "Build 12, Build 1") == ("Build 1, Build 1", 2)


def wire(pattern: str) -> Tripwire:
    return Tripwire(name="own", pattern=pattern, reason="r", written=PLACE)


@pytest.mark.parametrize("pattern", [r"wiki/\w+", r"(?i)LAST line", r"return (?=n)", r"^class"])
def test_a_tripwire_finds_what_re_would(pattern: str):
    """The same stretch of the same text, whoever wrote it."""
    for text in TEXTS:
        found = re.search(pattern, text)
        assert search(wire(pattern), text) == (found.span() if found else None)


def test_a_tripwire_that_comes_to_no_end_is_named_with_its_place():
    """Agents write the texts that it is searched for in."""
    with pytest.raises(UsageError) as caught:
        search(wire(ENDLESS), "a" * 60 + "!")
    said = "evalgate.toml:5: cassettes.scrub.pattern: tripwire 'own' took longer than 1 s"
    assert caught.value.message == f"{said} on a text of 61 characters"


@pytest.mark.parametrize(
    ("pattern", "said"),
    [(r"\w+", "takes most"), (r"(?=e)", "nothing at all"), ("a{e}", "no count")],
)
def test_what_is_no_tripwire_is_told_before_a_run(pattern: str, said: str):
    """One that is in any text says nothing; those of the table are as they should be."""
    with pytest.raises(UsageError, match=said):
        require_sound([*TRIPWIRES, wire(pattern)])
    require_sound([*TRIPWIRES, wire("wiki/answers")])
