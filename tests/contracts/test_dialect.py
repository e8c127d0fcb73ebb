"""What every dialect of the table must do, whichever API it is of."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest

import evalgate.gateway
from evalgate.core.dialects import PASSTHROUGH, SPOKEN
from evalgate.core.scrubs import SCRUBS
from evalgate.gateway.dialects.dialect import BEARER, Asked, Dialect, Reply
from evalgate.gateway.dialects.table import DIALECTS, find_dialect
from evalgate.gateway.streams.editing import edit_pieces
from evalgate.gateway.streams.sse import is_stream, read_events
from tests.pages import WIRE, named

EVERY = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
KNOWN = pytest.mark.parametrize(
    "dialect", [one for one in DIALECTS.values() if not one.is_unknown], ids=lambda one: one.name
)
PARTS = {"system", "tools", "messages", "parameters"}
BODIES = [b"", b"{}", b"[]", b"null", b"\xff\x00", b"data: {}\n\n", b"[" * 3000, b"<html>"]
TOOL = {"name": "bash", "description": "Runs.", "parameters": {"type": "object"}}


def test_the_names_are_those_that_a_configuration_may_say():
    """In the core, which knows no gateway; and the page on the wire has a row for each."""
    assert set(DIALECTS) == {*SPOKEN, PASSTHROUGH}
    assert set(named("## Dialects", WIRE)) == set(DIALECTS)
    assert {name for rule in SCRUBS for name in rule.dialects} <= set(DIALECTS)


def test_the_last_one_takes_what_is_left_and_no_other_does():
    """Nothing that has a path is lost."""
    assert [one.is_unknown for one in DIALECTS.values()] == [False] * len(SPOKEN) + [True]
    found = find_dialect("PATCH", "/an/endpoint/of/tomorrow")
    assert found is not None
    assert found[0].is_unknown


@EVERY
def test_it_says_what_it_is(dialect: Dialect):
    """Names are words of a header, a path or JSON."""
    assert DIALECTS[dialect.name] is dialect
    assert re.fullmatch(r"[a-z][a-z-]*", dialect.name)
    assert re.fullmatch(r"/v\d\w*", dialect.version)
    names = [*dialect.headers, *dialect.noted, *dialect.forwarded, *dialect.asking]
    assert all(name == name.lower() for name in [*names, dialect.key_header])
    assert dialect.headers.isdisjoint(dialect.noted)
    # A key that came from the agent never goes on.
    assert not dialect.key_header.startswith(dialect.forwarded or ("\0",))
    assert not BEARER.startswith(dialect.forwarded or ("\0",))
    assert all(drop.reason and drop.path for drop in dialect.drops)


@KNOWN
def test_what_is_keyed_or_stored_also_reaches_the_provider(dialect: Dialect):
    """Or a recording would tell of what nobody heard."""
    for name in dialect.headers | dialect.noted:
        assert name.startswith(dialect.forwarded)


@KNOWN
def test_it_has_a_conversation_whose_items_have_a_part(dialect: Dialect):
    """And knows in it what the model said."""
    assert dialect.part_of(dialect.conversation) == "messages"
    roles = [*dialect.speakers, *dialect.instructors, "user"]
    items = [{"role": role, "type": "message"} for role in roles]
    assert [dialect.is_spoken(item) for item in items] == [
        role in dialect.speakers for role in roles
    ]
    assert [dialect.part_of_item(item) for item in items] == [
        "system" if role in dialect.instructors else "messages" for role in roles
    ]
    if dialect.more_tools:
        assert dialect.part_of_item({"type": dialect.more_tools}) == "tools"
    assert dialect.texts


@EVERY
@pytest.mark.parametrize("body", BODIES)
def test_it_reads_whatever_comes(dialect: Dialect, body: bytes):
    """Nothing is raised, and nothing is made up."""
    asked, reply = dialect.read_request(body), dialect.read_reply(body)
    assert isinstance(asked, Asked)
    assert set(asked.parts) <= PARTS
    assert isinstance(reply, Reply)
    assert (reply.text, reply.calls) == ("", ())
    assert dialect.model_of("/", body) is None
    for value in (None, [], "x", {"role": 1}):
        assert dialect.part_of_item(value) in PARTS
        assert dialect.is_spoken(value) is False
        assert dialect.tools(value) == ()
        assert dialect.tool_name(value) == ""


@EVERY
@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 410, 413, 429, 500, 502, 529])
def test_it_reads_its_own_errors(dialect: Dialect, status: int):
    """Those that stand in place of a reply."""
    reply = dialect.read_reply(dialect.error(status, "what is 'wrong'"))
    assert (reply.error, reply.finished) == ("what is 'wrong'", False)


@EVERY
def test_it_reads_its_own_error_in_a_stream(dialect: Dialect):
    """One event, which is a stream by itself and ends no reply."""
    event = dialect.error_event("overloaded, é")
    assert is_stream(event)
    assert event.endswith(b"\n\n")
    assert len(read_events(event)) == 1
    reply = dialect.read_reply(event)
    assert (reply.error, reply.finished) == ("overloaded, é", False)


@EVERY
def test_what_is_a_turn_is_paid_for(dialect: Dialect):
    """Asking what there is, is neither."""
    models = f"{dialect.version}/models"
    assert not dialect.is_turn(models)
    assert not dialect.is_paid("GET", models)
    assert not dialect.is_paid("HEAD", models)
    for path in ("/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1/x:generateContent"):
        if dialect.is_turn(path):
            assert dialect.is_paid("POST", path)


@EVERY
def test_models_are_listed_under_its_version(dialect: Dialect):
    """With what the API wants to be asked with, the path is of this dialect."""
    headers = {**dialect.asking, dialect.key_header: "k"}
    found = find_dialect("GET", f"{dialect.version}/models", headers)
    assert found is not None
    assert found[1] == f"{dialect.version}/models"
    if dialect.asking:
        assert found[0] is dialect


@EVERY
def test_tools_come_in_one_shape(dialect: Dialect):
    """Whatever has none of its own comes as it was sent."""
    shape = {"type": "function", "function": TOOL}
    assert dialect.tools([TOOL]) == (shape,)
    assert dialect.tools([shape]) == (shape,)
    assert dialect.tools([{"type": "web_search"}, 7]) == ({"type": "web_search"},)
    assert dialect.tool_name(TOOL) == dialect.tool_name(shape) == "bash"


@EVERY
def test_a_stream_of_its_errors_can_be_edited(dialect: Dialect):
    """A secret in any string of an event is found, and the rest stays as it was."""
    body = dialect.error_event("a message")
    assert edit_pieces(body, lambda _: []) == body


def test_no_dialect_leaves_out_what_has_no_usual_answer():
    """Nor has a method that the gateway does not know of."""
    known = {name for name, _ in inspect.getmembers(Dialect) if not name.startswith("_")}
    for dialect in DIALECTS.values():
        assert not inspect.isabstract(type(dialect))
        own = {name for name in vars(type(dialect)) if not name.startswith("_")}
        assert own - known <= {"name"}


def test_names_of_dialects_stand_nowhere_else_in_the_gateway():
    """The gateway asks a dialect, and never which one it is."""
    root = Path(evalgate.gateway.__path__[0])
    rooms = {"dialects", "scripted"}
    providers = {"gemini": 2, "anthropic": 1}  # rows of the table of providers
    found: dict[str, int] = {}
    for path in root.rglob("*.py"):
        if path.relative_to(root).parts[0] not in rooms:
            for name in DIALECTS:
                count = path.read_text().count(json.dumps(name))
                found[name] = found.get(name, 0) + count
    assert {name: count for name, count in found.items() if count} == providers
