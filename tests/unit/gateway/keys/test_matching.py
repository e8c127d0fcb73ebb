"""Equal requests have equal keys, and no two others do."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.redaction import Redactor
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.keys.canonical import decode_exactly, encode
from evalgate.gateway.keys.cleaning import Cleaner
from evalgate.gateway.keys.matching import Keying

PLACES = {"REPO": "/tmp/run/repo"}
objects = st.dictionaries(
    st.text(max_size=3),
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=3)
        | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    ),
    max_size=4,
)  # fmt: skip


def key(body, dialect="anthropic", path="/v1/messages", places=PLACES):
    """Return the key of a request."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    spoken = DIALECTS[dialect]
    return keying(places=places).keyed(spoken, "POST", path, data).key


def keying(places=PLACES, **secrets):
    """Return what gives the requests of one trial their keys."""
    return Keying(Cleaner(redactor=Redactor(secrets), places=places))


@given(objects, st.randoms())
def test_spacing_and_order_of_members_do_not_matter(value, random):
    """Clients write the same request in their own way, some in random order."""
    shuffled = list(value.items())
    random.shuffle(shuffled)
    spaced = json.dumps(dict(shuffled), indent=2, ensure_ascii=False).encode("utf-8", "replace")
    assert key(spaced) == key(json.dumps(value, separators=(",", ":")).encode())


@given(objects, objects)
def test_other_requests_have_other_keys(one, other):
    """1, 1.0 and true are three values."""
    if json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True):
        assert key(one) != key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b'{"a":1}', b'{"a":1.0}'),
        (b'{"a":1}', b'{"a":true}'),
        (b'{"a":18446744073709551616}', b'{"a":18446744073709551617}'),
        (b'{"a":12345678901234567890123}', b'{"a":12345678901234567890124}'),
        (b'{"a":1,"a":2}', b'{"a":2}'),
        (b'{"a":{"b":1,"b":2}}', b'{"a":{"b":2}}'),
        (b'{"a":0.1}', b'{"a":0.1000000000000000055}'),
        (b'{"a":1e400}', b'{"a":1e401}'),
        (b'{"a":-0}', b'{"a":0}'),
        (b'{"a":NaN}', b'{"a":null}'),
        (b'{"a":"\\ud800"}', b'{"a":"\\ud801"}'),
        (b"\xff", b"\xfe"),
        (b"", b"{}"),
        (b'{"stream":true}', b"{}"),
        (b'{"x":{"metadata":1}}', b'{"x":{"metadata":2}}'),
        (b'{"a":"call_1"}', b'{"a":"call_2"}'),
    ],
)
def test_what_differs_never_meets(one, other):
    """What the encoder would lose is keyed by its bytes."""
    assert key(one) != key(other)


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (b'{"b":1,"a":"\\u00e9"}', '{"a":"é","b":1}'.encode()),
        (b'{"a": 1.10}', b'{"a":1.1}'),
        (b'{"a": 1e5}', b'{"a":100000.0}'),
        (b'{"a": -0.5}', b'{"a":-0.5}'),
        (b'{"a": [1, 2]}', b'{"a":[1,2]}'),
        (b"[]", b"[]"),
        (b'{"a":1} x', None),
        (b'{"a": 1, "a": 1}', None),
    ],
)
def test_the_canonical_form(body, kept):
    """Sorted, without spaces; None for what would not survive."""
    exact, value = decode_exactly(body)
    assert (encode(value) if exact else None) == kept


def test_only_named_members_of_the_top_are_dropped():
    """They name the session or the user; by a path, never by a name at any depth."""
    assert key({"m": 1, "metadata": {"user_id": "a"}}) == key({"m": 1})
    chat = {"user": "u", "prompt_cache_key": "p", "safety_identifier": "s"}
    assert key({"m": 1, **chat}, "openai-chat") == key({"m": 1}, "openai-chat")
    assert key({"m": 1, **chat}) != key({"m": 1})


def test_paths_of_the_run_are_scrubbed_also_as_names():
    """A member named by a path may sort elsewhere in another run."""
    one = {"/tmp/run/repo/f": 1, "/tmp/a": 2}
    other = {"/a/f": 1, "/tmp/a": 2}
    assert key(one) == key(other, places={"REPO": "/a"})


def test_method_and_path_are_part_of_the_key():
    """A count of tokens is no answer to a message."""
    spoken = DIALECTS["anthropic"]
    paths = {key({}), key({}, path="/v1/messages/count_tokens")}
    other = keying().keyed(spoken, "PUT", "/v1/messages", b"{}")
    assert len({*paths, other.key}) == 3


def test_headers_and_query_count_only_as_far_as_they_say_something():
    """The version of an API does; session ids, user agents and ``beta=true`` do not."""
    spoken = DIALECTS["anthropic"]

    def made(query=(), **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        asked = keying().keyed(spoken, "POST", "/v1/messages", b"{}", headers=named, query=query)
        return asked.key

    plain = made()
    assert made(X_Claude_Code_Session_Id="a", User_Agent="b", Cookie="c") == plain
    assert made([("beta", "true")]) == plain
    assert made([("alt", "sse")]) != plain
    assert made(Anthropic_Version="2023-06-01") != plain
    assert made(Anthropic_Version="1") != made(anthropic_version="2")
    noted = keying().keyed(
        spoken, "POST", "/v1/messages", b"{}", headers={"Anthropic-Beta": "x", "X-Api-Key": "k"}
    )
    assert (noted.key, noted.asked) == (plain, {"anthropic-beta": "x"})


def test_a_name_that_is_said_twice_in_a_query_counts_twice():
    """In its order; names among one another have none."""
    spoken = DIALECTS["passthrough"]

    def made(*query):
        return keying().keyed(spoken, "GET", "/v1/files", b"", query=query)

    first = made(("a", "1"), ("b", "x"), ("a", "2"))
    assert first.query == "a=1&a=2&b=x"
    assert made(("a", "1"), ("a", "2"), ("b", "x")).key == first.key
    others = [(("a", "2"), ("a", "1"), ("b", "x")), (("a", "2"), ("b", "x"))]
    assert first.key not in {made(*query).key for query in others}


def test_two_names_that_only_a_secret_tells_apart_lose_nothing():
    """They become one label, and both values still count."""
    redacting = keying(ONE="hunter2hunter2", TWO="secret99secret99")
    spoken = DIALECTS["anthropic"]

    def made(value):
        body = json.dumps({"<secret:ONE>": 1, "hunter2hunter2": value}).encode()
        return redacting.keyed(spoken, "POST", "/v1/messages", body)

    assert made(1).key != made(2).key
    assert b"hunter2" not in made(1).request.data
