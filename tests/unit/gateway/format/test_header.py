"""The header of a cassette says what it says, and nothing that nobody knows."""

from __future__ import annotations

import pytest

from evalgate.core.identity import Conditions
from evalgate.core.trial import Evidence
from evalgate.errors import UsageError
from evalgate.gateway.format.cassette_format import FORMAT, load_cassette
from evalgate.gateway.format.header import Header, Scrubbed

CONDITIONS = Conditions(sandbox="process", agent="a", models=("m",))
WHOLE = Header(
    places={"REPO": "/r"},
    scrubs=Scrubbed(keys=2, rules="0123456789ab", hits={"uuid": 3}),
    recorded="2026-02-03",
    evalgate="0.1.0",
    recording=1,
    recording_id="0123456789abcdef",
    models={"main": "m"},
    fingerprint="f" * 64,
    parts={"prompt": "p" * 64},
    task="double",
    task_digest="t" * 64,
    series="main",
    n=2,
    evidence=Evidence.MEASURED,
    conditions=CONDITIONS,
)


def test_what_is_written_is_read():
    """All of it; what is not said is not written either."""
    assert Header.from_json(WHOLE.to_json()) == WHOLE
    assert Header().to_json() == {}
    assert Header.from_json({}) == Header()
    assert set(Header(task="t").to_json()) == {"task"}


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("n", "two", "header.n"),
        ("n", True, "header.n"),
        ("task", 5, "header.task"),
        ("task", None, "header.task"),
        ("parts", [], "header.parts"),
        ("parts", {"prompt": 1}, "header.parts.prompt"),
        ("places", {"REPO": ["/r"]}, "header.places.REPO"),
        ("scrubs", {"keys": 2, "hits": {}}, "header.scrubs.rules"),
        ("scrubs", {"keys": 2, "rules": "x", "hits": {"uuid": "3"}}, "header.scrubs.hits.uuid"),
        ("scrubs", "all", "header.scrubs"),
        ("evidence", "hearsay", "header.evidence"),
        ("conditions", {"sandbox": "process"}, "header.conditions"),
        ("conditions", {**CONDITIONS.to_json(), "checks": 3}, "header.conditions"),
        ("colour", "red", "header.colour"),
    ],
)
def test_what_is_unknown_or_of_another_kind_is_named(key, value, named, sealed):
    """The error of the file names it, and the key in it."""
    rest = {"parts": {}, "exchanges": [], "claim": {}, "record": {}}
    data = sealed({"format": FORMAT, "header": {**WHOLE.to_json(), key: value}, **rest})
    with pytest.raises(UsageError, match=rf"^tapes/1\.json .*{named}\b") as caught:
        load_cassette(data, name="tapes/1.json")
    assert caught.value.hint


def test_a_header_is_an_object():
    """Nothing else is one."""
    with pytest.raises(TypeError, match="header must be an object"):
        Header.from_json(["task"])
