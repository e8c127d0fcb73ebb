"""Replies are stored as a person reads them, and come back byte for byte."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.gateway.format.folding import events_of, fold, unfold
from evalgate.gateway.format.lines import join_lines, split_lines

TEXT = "First line — é.\nThe model's second line, long enough to be named later.\n"
PIECES = ["First ", "line", " — é.\nThe", " model's second line, long", TEXT[45:]]


def written(value: Any) -> Any:
    """Return what a cassette file gives back."""
    return join_lines(orjson.loads(orjson.dumps(split_lines(value), option=orjson.OPT_INDENT_2)))


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def named(*events: dict[str, Any], pad: int = 0) -> bytes:
    """Return a stream as Anthropic and the Responses API frame it."""
    texts = [f"{compact(event)[:-1]}{' ' * pad}}}" for event in events]
    pairs = zip(events, texts, strict=True)
    return "".join(f"event: {event['type']}\ndata: {text}\n\n" for event, text in pairs).encode()


def plain(*events: Any) -> bytes:
    return "".join(f"data: {compact(event)}\n\n" for event in events).encode()


def text_delta(text: str) -> dict[str, Any]:
    delta = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def chunk(delta: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": None}], **more}


STREAMS = {
    "anthropic": named(
        {"type": "message_start", "message": {"id": "msg_1", "content": []}},
        *map(text_delta, PIECES),
        {"type": "message_stop"},
        pad=3,
    ),
    "chat": plain(
        chunk({"role": "assistant", "content": ""}),
        *(chunk({"content": piece}, obfuscation="x" * n) for n, piece in enumerate(PIECES)),
        *(
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
            for piece in ('{"pa', 'th": 1', "}")
        ),
    )
    + b"data: [DONE]\n\n",
    "responses": named(
        {"type": "response.created", "sequence_number": 0, "response": {"tools": [], "id": "r"}},
        {
            "type": "response.in_progress",
            "sequence_number": 1,
            "response": {"tools": [], "id": "r"},
        },
        *(
            {"type": "response.output_text.delta", "sequence_number": 2 + n, "delta": piece}
            for n, piece in enumerate(PIECES)
        ),
        {"type": "response.output_text.done", "sequence_number": 7, "text": TEXT},
    ),
    "gemini": "".join(
        "data: "
        + json.dumps(
            {
                "candidates": [{"content": {"parts": [{"text": piece}], "role": "model"}}],
                "usageMetadata": {"promptTokenCount": 4, "totalTokenCount": 7 * n},
            },
            separators=(",", ": "),
            ensure_ascii=False,
        )
        + "\r\n\r\n"
        for n, piece in enumerate(["<b>", *PIECES])
    )
    .replace("<", "\\u003c")
    .replace(">", "\\u003e")
    .encode(),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_comes_back_byte_for_byte(name):
    """Also through the file, where strings are arrays of lines."""
    body = STREAMS[name]
    folded = fold(body)
    assert "events" in folded
    assert unfold(folded) == unfold(written(folded)) == body


@pytest.mark.parametrize("name", STREAMS)
def test_the_text_of_the_model_is_one_string(name):
    """However many pieces it came in; no event is kept as raw text."""
    whole = json.dumps(fold(STREAMS[name]), ensure_ascii=False)
    assert json.dumps(TEXT, ensure_ascii=False)[1:-1] in whole
    assert "$raw" not in whole
    assert whole.count("second line") == 1


def test_a_run_of_deltas_is_a_template_and_its_cuts():
    """Anthropic; the padding that hides lengths is kept beside."""
    folded = fold(STREAMS["anthropic"])
    assert folded == {
        "events": [
            {"type": "message_start", "message": {"id": "msg_1", "content": []}},
            {
                "$times": 5,
                "event": text_delta("$text"),
                "leaves": {"text": {"text": TEXT, "cuts": "6 4 9 26 27"}},
            },
            {"type": "message_stop"},
        ],
        "frame": "named",
        "pads": "3 3 3 3 3 3 3",
    }


def test_numbers_that_count_are_derived_and_repeated_texts_are_named():
    """Responses: the first two events differ in type and number only; the last repeats all."""
    first, run, last = fold(STREAMS["responses"])["events"]
    each = ["response.created", "response.in_progress"]
    assert first["leaves"] == {"type": {"each": each}, "sequence_number": {"from": 0}}
    assert run["leaves"]["sequence_number"] == {"from": 2}
    assert last == {
        "$with": {
            "type": "response.output_text.done",
            "sequence_number": 7,
            "text": {"$text": 0},
        }
    }


def test_other_numbers_are_listed():
    """Gemini counts tokens in every event; its style of JSON is named."""
    folded = fold(STREAMS["gemini"])
    (run,) = folded["events"]
    assert run["leaves"]["totalTokenCount"] == {"numbers": "0 7 14 21 28 35"}
    assert (folded["style"], folded["frame"]) == ("google", "crlf")


def test_the_texts_of_parallel_calls_are_not_mixed():
    """They come in turns, told apart by an index: one string of both would be nobody's text."""
    calls = [{"index": n % 2, "function": {"arguments": f"part {n}"}} for n in range(4)]
    body = plain(*(chunk({"tool_calls": [call]}) for call in calls))
    folded = fold(body)
    assert [item["choices"][0]["delta"]["tool_calls"] for item in folded["events"]] == [
        [call] for call in calls
    ]
    assert unfold(folded) == body


def test_what_is_no_event_of_json_stays_as_it_is():
    """Comments, [DONE], other names, events of several data lines, numbers JSON can not keep."""
    odd = [
        ": a comment",
        "event: other\ndata: {}",
        'data: {"a":\ndata: 1}',
        'data: {"a":1.0e2}',
        "",
    ]
    body = plain({"a": 1}) + "".join(f"{one}\n\n" for one in odd).encode() + b"data: [DONE]\n\n"
    folded = fold(body)
    assert folded["events"] == [
        {"a": 1},
        {"$raw": ": a comment"},
        {"$raw": "event: other\ndata: {}"},
        '{"a":\ndata: 1}',
        '{"a":1.0e2}',
        {"$raw": ""},
        "[DONE]",
    ]
    assert unfold(written(folded)) == body


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_cut_stream_is_kept_as_far_as_it_goes(cut):
    """Wherever it was cut."""
    body = STREAMS["anthropic"][:-cut]
    folded = fold(body)
    assert "events" in folded
    assert unfold(written(folded)) == body


@pytest.mark.parametrize(
    "event",
    [
        {"$times": 3, "event": {}, "leaves": {}},
        {"$raw": "x"},
        {"$with": {"$text": 0}},
        {"type": "delta", "text": "$text", "other": "$other"},
        {"text": {"$text": 0}},
        {"$lines": ["a", "b"]},
        {"type": 5, "$$lines": []},
    ],
)
def test_events_that_look_like_our_marks_are_safe(event):
    """A model may well be asked about this very format."""
    for body in (
        plain(event, event),
        plain({"t": TEXT}, {"t": "!"}, {**event, "more": TEXT + "!"}),
    ):
        assert unfold(written(fold(body))) == body


@pytest.mark.parametrize(
    ("body", "rest"),
    [
        (b'{"b":1,"a":"\xc3\xa9"}', {}),
        (b'{"b": 1, "a": "\\u00e9"}', {"style": "python"}),
        (b'{"b": 1, "a": "\xc3\xa9"}', {"style": "python-utf8"}),
        (b'{"b":1,"a":"\\u00e9"}', {"style": "compact-ascii"}),
        (b'{"b":1,"a":"\\u003cb\\u003e"}', {"style": "go"}),
        (b'{\n  "b": 1,\n  "a": []\n}\n', {"style": "indented", "newlines": 1}),
    ],
)
def test_json_is_stored_as_json_in_the_styles_servers_write(body, rest):
    """The order of members is kept."""
    folded = fold(body)
    assert folded == {"json": json.loads(body), **rest}
    assert list(folded["json"]) == ["b", "a"]
    assert unfold(written(folded)) == body


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not found\n",
        b'{"a":1.0e2}',
        b'{"a":1,"a":1}',
        b'{"a":123456789012345678901234567890}',
        b"{" * 100_000,
        b"[" * 900 + b"]" * 900,
        b'data: {"a":' + b"[" * 900 + b"]" * 900 + b"}\n\n",
        b'"a string"',
    ],
)
def test_other_text_is_kept_as_text(body):
    """Nothing that would not survive is parsed, and nesting raises nothing."""
    assert fold(body) == {"text": body.decode()}
    assert unfold(fold(body)) == body


def test_bytes_that_are_no_text_are_base64():
    """Also where only one byte of a stream is none."""
    for body in (b"\xff\x00", STREAMS["chat"] + b"\xff", b'{"a":"\xed\xa0\x80"}'):
        assert list(fold(body)) == ["base64"]
        assert unfold(fold(body)) == body


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-5, 70_000), st.text(max_size=6))
EVENTS = st.lists(
    st.one_of(
        st.dictionaries(
            st.sampled_from(["type", "text", "n", "$text", "$times"]),
            st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=2), max_leaves=4),
            max_size=3,
        ),
        st.builds(lambda text, n: {"type": "t", "d": {"text": text}, "n": n}, st.text(), LEAVES),
        st.builds(lambda text: {"type": "t", "text": text}, st.text(max_size=60)),
        st.builds(lambda text: {"type": "t", "text": text}, st.sampled_from([TEXT, "$text", ""])),
    ),
    min_size=1,
    max_size=8,
)


@given(EVENTS, st.sampled_from([named, plain]), st.integers(0, 2))
def test_any_stream_of_objects_is_told_as_events(events, framed, pad):
    """A type is one line; pads vary."""
    typed = [{**event, "type": str(event.get("type", "")).strip() or "t"} for event in events]
    kept = [event for event in typed if event["type"].isprintable()]
    body = named(*kept, pad=pad) if framed is named else plain(*kept)
    folded = fold(body)
    assert ("events" in folded) == bool(body and b"\n\n" in body and kept_some(kept))
    assert unfold(written(folded)) == body


def kept_some(events: list[dict[str, Any]]) -> bool:
    """Tell whether one of the events has no name of ours in it."""
    return any("$times" not in event for event in events)


PARTS = st.sampled_from(
    [
        *(
            b"data: ",
            b"data:",
            b"event: ",
            b"event: t\n",
            b"\n",
            b"\n\n",
            b"\r\n",
            b"\r",
            b" ",
            b"}",
        ),
        *(b'{"type":"t","text":"', b'"}', b'","n":1}', b"[DONE]", b": x", b"\xc3\xa9", b"\\u00e9"),
        *(b'{"a":1}', b'{"a": 2}', b"\xff", b"[", b"{", b'data: {"type":"t","text":"ab"}\n\n'),
    ]
)


@given(st.one_of(st.binary(), st.lists(PARTS, max_size=20).map(b"".join)))
def test_any_bytes_come_back(body):
    """Whatever they are."""
    assert unfold(written(fold(body))) == body


@given(st.lists(PARTS, max_size=20).map(b"".join))
def test_events_add_up_to_the_body(body):
    """Each one ends with its empty lines."""
    sizes = events_of(body)
    assert sum(sizes) == len(body)
    assert all(size > 0 for size in sizes)


def test_events_are_cut_behind_their_empty_line():
    """Of any kind; a carriage return and its line feed are one line end."""
    body = b"data: 1\n\ndata: 2\r\ndata: 3\r\n\r\n: c\r\r\ndata: 4"
    assert events_of(body) == [9, 20, 6, 7]
    assert events_of(b'{"a":\n\n1}') == [9]
    assert events_of(b"") == []


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"text": 1},
        {"base64": "!"},
        {"json": {}, "style": "no such"},
        {"events": {}},
        {"events": [1]},
        {
            "events": [
                {"$times": 2, "event": {"a": "$a"}, "leaves": {"a": {"text": "x", "cuts": "1"}}}
            ]
        },
        {
            "events": [
                {"$times": 1, "event": {"a": "$a"}, "leaves": {"a": {"text": "x", "cuts": "2"}}}
            ]
        },
        {
            "events": [
                {"$times": 1, "event": {"a": "a"}, "leaves": {"a": {"text": "x", "cuts": "1"}}}
            ]
        },
        {"events": [{"$times": 1, "event": 3, "leaves": {}}]},
        {"events": [{"$with": {"a": {"$text": 4}}}]},
        {"events": [{"a": 1}], "pads": "x"},
    ],
)
def test_a_damaged_value_is_an_error_and_no_reply(value):
    """A cassette that was edited must not play something else."""
    with pytest.raises((KeyError, TypeError, ValueError, IndexError, AttributeError)):
        unfold(value)
