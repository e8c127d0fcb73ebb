"""The part of a harness that changed what an agent asks for is named."""

from __future__ import annotations

import json

from evalgate.core.exchange import Miss
from evalgate.gateway.misses.cause import blame, cause_of

PROMPT = "You are a careful engineer.\nNever guess what a file holds.\n"
EDITED = "You are a careful engineer.\nAlways guess what a file holds.\n"
MISS = Miss(
    key="k",
    nearest=0,
    differs=("x",),
    recorded=PROMPT,
    now=EDITED,
    kind="the system prompt differs",
)
SOURCES = {
    "prompt": [EDITED.encode()],
    "tools": [json.dumps([{"description": "Reads a file.\nAlways one."}]).encode()],
    "code": [b"def main():\n    # Never guess what a file holds.\n    run()\n"],
}


def test_the_part_that_has_the_new_lines_is_the_cause():
    """Of several that changed; lines of a JSON string are found as well."""
    assert cause_of(PROMPT, EDITED, SOURCES) == "prompt"
    assert cause_of("", 'Say "file\tname" first.', {
        "a": [b"nothing of it"], "b": [json.dumps('Say "file\tname" first.').encode()],
    }) == "b"  # fmt: skip


def test_a_removed_line_is_found_by_those_that_stayed():
    """Nothing new stands in the text."""
    shorter = PROMPT.splitlines()[0]
    sources = {**SOURCES, "prompt": [shorter.encode()]}
    assert cause_of(PROMPT, shorter, sources) == "prompt"


def test_what_is_new_says_more_than_what_stayed():
    """One part has the new line, another all that was there before."""
    old = "A line that was there before, and a long one.\n"
    sources = {"old": [old.encode()], "new": [b"A line that is new."]}
    assert cause_of(old, f"{old}A line that is new.", sources) == "new"


def test_no_part_is_guessed():
    """No line in common, only short ones, or two parts that have as much."""
    assert cause_of("a", "text that is in no file", SOURCES) == ""
    assert cause_of("a", "run()", SOURCES) == ""
    assert cause_of("a", EDITED, {"one": [EDITED.encode()], "two": [EDITED.encode()]}) == ""
    assert cause_of("a", "b", {}) == ""


def test_the_blamed_part_is_one_that_changed():
    """The digests of the recorded harness tell which."""
    then = {"prompt": "1", "tools": "2", "code": "3"}
    told = blame(MISS, then=then, now={**then, "prompt": "9", "code": "8"}, sources=SOURCES)
    assert told.part == "prompt"
    assert "the part 'prompt' of the harness changed" in told.sentence
    assert told.explanation.endswith("  cause     the part 'prompt' of the harness changed")
    only = blame(MISS, then=then, now={**then, "settings": "9"}, sources=SOURCES)
    assert only.part == "settings"
    none = blame(
        MISS, then=then, now={**then, "code": "9", "settings": "8"}, sources={"code": [b"x"]}
    )
    assert (none.part, none.cause) == ("", "of the harness changed: 'code', 'settings'")


def test_an_unchanged_harness_is_not_to_blame():
    """Then it is told what behaved differently."""
    told = blame(MISS, then={"prompt": "1"}, now={"prompt": "1"}, sources=SOURCES)
    assert told.part == ""
    assert told.sentence == (
        "nearest is exchange 0, which differs in: x (the harness is the same: the agent or its "
        "surroundings behaved differently: the system prompt differs)"
    )
    again = blame(Miss(key="k", nearest=3, differs=(), played=True), then={}, now={}, sources={})
    assert again.explanation == (
        "the request equals exchange 3, which was already played (the harness is the same: "
        "the agent or its surroundings behaved differently)"
    )
