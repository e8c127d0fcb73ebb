"""Volatile text of real agents is one text; all else stays as it is."""

from __future__ import annotations

from collections import Counter

import pytest

from evalgate.core.scrubs import SCRUBS, Scrub, usual_scrubs
from evalgate.gateway.keys.scrubbing import scrub_text, scrub_value

SEEN = {
    "date": [
        ("Today's date is 2026-11-29.", "Today's date is 2026-12-01."),
        ("Current date: 2026-11-29\nCurrent", "Current date: 2026-12-30\nCurrent"),
        ("<current_date>2026-11-29</c>", "<current_date>2027-01-01</c>"),
        (
            "Today's date is Sunday, November 29, 2026 (fo",
            "Today's date is Monday, May 4, 2027 (fo",
        ),
        ("Date: Sun Nov 29 2026", "Date: Mon Dec 7 2026"),
    ],
    "timezone": [("<timezone>Etc/UTC</timezone>", "<timezone>Europe/Berlin</timezone>")],
    "kernel": [
        ("OS Version: Linux 6.1.0\nx", "OS Version: Linux 5.15.2-gcp\nx"),
        ("Platform: Linux-6.1-x86_64", "Platform: Linux-5.15-aarch64"),
        ("<system_information>\nLinux a</s", "<system_information>\nLinux b</s"),
    ],
    "billing-header": [
        ("cc_version=2.1.197.13c; cc", "cc_version=2.1.197.d2e; cc"),
        ("cch=0a1b2c;", "cch=ffff;"),
    ],
    "process-group": [("Process Group PGID: 123", "Process Group PGID: 99")],
    "chunk-id": [
        ("Chunk ID: 75beed\nWall time: 0.0000 seconds", "Chunk ID: 00beef\nWall time: 1.2 seconds"),
        ("Original token count: 38, Chunk ID: 0", "Original token count: 42, Chunk ID: 1"),
    ],
    "call-clock": [("read_file_1764400000000_0", "read_file_1764400099999_0")],
    "test-times": [
        ("== 2 passed in 0.03s ==", "== 2 passed in 0.11s =="),
        ("3 failed, 1 passed in 61.20s (0:01:01)", "3 failed, 1 passed in 9.20s"),
        ("Ran 3 tests in 0.001s", "Ran 3 tests in 0.212s"),
    ],
    "test-durations": [
        ("# duration_ms 12.25", "# duration_ms 9"),
        ("  duration_ms: 0.5", "  duration_ms: 17"),
    ],
    "address": [("<f at 0x7f0001020304>", "<f at 0x7fffffffff00>")],
    "uuid": [
        ("id 019a1b2c-0000-7000-8000-0123456789ab", "id 019a1b2d-1111-7000-8000-0123456789ab")
    ],
}


@pytest.mark.parametrize("rule", SCRUBS, ids=lambda rule: rule.name)
def test_two_runs_of_an_agent_look_alike(rule):
    """Every rule of the table, by what was seen of real agents."""
    for one, other in SEEN[rule.name]:
        hits: Counter[str] = Counter()
        assert one != other
        assert scrub_text(one, [rule], hits) == scrub_text(other, [rule], hits)
        assert hits[rule.name] >= 2
        assert rule.reason


@pytest.mark.parametrize("rule", SCRUBS, ids=lambda rule: rule.name)
def test_scrubbing_twice_is_scrubbing_once(rule):
    """A stored request may be scrubbed again when the rules have changed."""
    for pair in SEEN[rule.name]:
        for text in pair:
            once = scrub_text(text, [rule], Counter())
            assert scrub_text(once, [rule], Counter()) == once


@pytest.mark.parametrize(
    "text",
    [
        "release 2026-11-29 broke",
        "The date of birth is 1990-01-01",
        "update: 2026-11-29",
        "call_Ab3dE5fG7hI9jK1lM3nO5pQ7",
        "toolu_01A09q90qw90lq917835lq9",
        "it took 0.03s",
        "the answer is in 0.03s",
        "timeout = 3.5s in total",
        "offset 0x7f00",
        "id 019a1b2c-0000-7000-8000-0123456789ab",
    ],
)
def test_what_may_be_task_data_stays(text):
    """Rules name the words around; the rule for bare UUIDs must be asked for."""
    hits: Counter[str] = Counter()
    assert scrub_text(text, usual_scrubs(), hits) == text
    assert not hits


def test_every_string_of_a_value_is_scrubbed_and_counted():
    """Also in arguments of tools, that come as JSON in a string; names of members stay."""
    hits: Counter[str] = Counter()
    value = {"Process Group PGID: 1": [{"a": "Process Group PGID: 1"}, 1, None, True]}
    scrubbed = scrub_value(value, usual_scrubs(), hits)
    assert scrubbed == {"Process Group PGID: 1": [{"a": "Process Group PGID: <N>"}, 1, None, True]}
    assert hits == {"process-group": 1}


@pytest.mark.parametrize("place", ["", "evalgate.toml:3: cassettes.scrub.pattern"])
def test_a_rule_changes_what_is_said_and_no_name_of_the_api(place: str):
    """However much it takes: models, tools, roles and types keep their names; a tool's input is
    text, whatever its members are called.
    """
    wide = Scrub(
        name="all", source=r"[\s\S]+", replace="<ALL>", reason="for this test", place=place
    )
    call = {"type": "tool_use", "name": "write_file", "input": {"name": "a.py", "type": "text"}}
    said = [{"role": "user", "content": [{"type": "text", "text": "hello"}, call]}]
    (message,) = scrub_value(said, [wide], Counter())
    text, used = message["content"]
    assert message["role"] == "user"
    assert text == {"type": "text", "text": "<ALL>"}
    assert used == {**call, "input": {"name": "<ALL>", "type": "<ALL>"}}
    assert scrub_value({"model": "m-1"}, [wide], Counter()) == {"model": "m-1"}
