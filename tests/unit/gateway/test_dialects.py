"""Replies are read the same, whether they come as JSON or in pieces, and whatever is in them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.trajectory import Usage
from evalgate.gateway.dialects.table import DIALECTS, find_dialect
from evalgate.gateway.streams.editing import edit_pieces

ANTHROPIC, CHAT = DIALECTS["anthropic"], DIALECTS["openai-chat"]
RESPONSES, GEMINI = DIALECTS["openai-responses"], DIALECTS["gemini"]
members = st.sampled_from([
    "type", "content", "choices", "delta", "message", "usage", "index", "tool_calls", "text",
    "messages", "role", "error", "function", "content_block", "model", "arguments", "tools",
    "input", "instructions", "output", "item", "response", "output_index", "item_id", "call_id",
    "status", "candidates", "parts", "functionCall", "functionResponse", "usageMetadata",
    "promptTokenCount", "candidatesTokenCount", "contents", "name", "id", "args", "custom",
    "thinking", "thought", "reasoning", "reasoning_content", "summary", "summary_index",
])  # fmt: skip
kinds = st.sampled_from([
    "message_start", "content_block_start", "content_block_delta", "message_delta", "error",
    "tool_use", "tool_result", "response.created", "response.output_item.done",
    "response.output_item.added", "response.output_text.delta",
    "response.function_call_arguments.delta", "response.completed", "response.failed",
    "function_call", "function_call_output", "shell_call_output", "message", "custom",
    "additional_tools", "thinking", "reasoning", "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta",
])  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | kinds,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(members, inner, max_size=4),
)


def events(*values, ending="\n"):
    """Return a stream of JSON events."""
    return "".join(f"data: {json.dumps(value)}{ending}{ending}" for value in values).encode()


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_an_anthropic_stream_is_put_together(ending):
    """Text, thinking and tool input come interleaved by index; the last count is the final one."""
    usage = {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 1}
    tool = {"type": "tool_use", "id": "t", "name": "bash", "input": {}}
    body = events(
        {"type": "message_start", "message": {"model": "m-1", "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_start", "index": 1, "content_block": tool},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "content_block_delta", "index": 1, "delta": {"partial_json": '{"command"'}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "b"}},
        {"type": "content_block_delta", "index": 1, "delta": {"partial_json": ':"ls"}'}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 42, "input_tokens": None},
        },
        {"type": "message_stop"},
        ending=ending,
    )
    reply = ANTHROPIC.read_reply(body)
    assert (reply.text, reply.stop_reason, reply.model) == ("ab", "tool_use", "m-1")
    (call,) = reply.calls
    assert (call.name, call.call_id, call.input) == ("bash", "t", {"command": "ls"})
    assert reply.usage == Usage(
        input_tokens=5, output_tokens=42, cache_read_tokens=7, cache_write_tokens=0
    )
    assert reply.finished
    cut = ANTHROPIC.read_reply(body[: body.index(b'"message_delta"')])
    assert not cut.finished
    assert cut.usage.output_tokens is None
    assert cut.usage.input_tokens == 5


def test_a_chat_stream_is_put_together():
    """Parallel tool calls are told apart by index; the usage is in a chunk without a choice."""

    def chunk(delta, finish=None, **more):
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}

    first = {"index": 0, "id": "a", "function": {"name": "ls", "arguments": ""}}
    second = {"index": 1, "id": "b", "function": {"name": "cat", "arguments": '{"f":'}}
    usage = {"prompt_tokens": 10, "completion_tokens": 3}
    body = events(
        chunk({"role": "assistant", "content": None}, model="m-1"),
        chunk({"content": "Hel"}),
        chunk({"content": "lo"}),
        chunk({"tool_calls": [first]}),
        chunk({"tool_calls": [second]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
        chunk({"tool_calls": [{"index": 1, "function": {"arguments": '"x"}'}}]}),
        chunk({}, "tool_calls"),
        {"choices": [], "usage": usage},
    )
    reply = CHAT.read_reply(body + b"data: [DONE]\n\n")
    assert (reply.text, reply.stop_reason, reply.model) == ("Hello", "tool_calls", "m-1")
    assert [(call.call_id, call.name, call.input) for call in reply.calls] == [
        ("a", "ls", {}),
        ("b", "cat", {"f": "x"}),
    ]
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (10, 3)
    assert reply.finished


@pytest.mark.parametrize(
    ("dialect", "body", "usage"),
    [
        (
            CHAT,
            {"usage": {"prompt_tokens": 10, "completion_tokens": 5,
                       "prompt_tokens_details": {"cached_tokens": 4}}},
            (6, 5, 4, 0),
        ),
        (CHAT, {"usage": {"prompt_tokens": 10, "completion_tokens": 5}}, (10, 5, 0, 0)),
        (CHAT, {"usage": None}, (None, None, None, None)),
        (CHAT, {}, (None, None, None, None)),
        (
            ANTHROPIC,
            {"usage": {"input_tokens": 6, "output_tokens": 5, "cache_read_input_tokens": 4,
                       "cache_creation_input_tokens": 3}},
            (6, 5, 4, 3),
        ),
        (ANTHROPIC, {}, (None, None, None, None)),
    ],
)  # fmt: skip
def test_cached_tokens_are_counted_once_and_unknown_ones_not_at_all(dialect, body, usage):
    """The conventions differ: inside the prompt's tokens, or beside them."""
    choices = {"choices": [{"message": {"content": "x"}}], "content": []}
    read = dialect.read_reply(json.dumps({**choices, **body}).encode()).usage
    counts = (read.input_tokens, read.output_tokens, read.cache_read_tokens)
    assert (*counts, read.cache_write_tokens) == usage


def test_an_error_in_a_stream_is_no_reply():
    """A provider may fail after it has begun."""
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    start = {"type": "message_start", "message": {"model": "m"}}
    assert ANTHROPIC.read_reply(events(start, error)).error == "Overloaded"
    chat = CHAT.read_reply(events({"error": {"message": "no"}}) + b"data: [DONE]\n\n")
    assert (chat.error, chat.finished) == ("no", False)


@pytest.mark.parametrize(
    ("dialect", "status", "body"),
    [
        (ANTHROPIC, 400, {"type": "error", "error": {"type": "invalid_request_error"}}),
        (ANTHROPIC, 429, {"type": "error", "error": {"type": "rate_limit_error"}}),
        (ANTHROPIC, 503, {"type": "error", "error": {"type": "api_error"}}),
        (ANTHROPIC, 504, {"type": "error", "error": {"type": "api_error"}}),
        (ANTHROPIC, 529, {"type": "error", "error": {"type": "overloaded_error"}}),
        (CHAT, 400, {"error": {"type": "invalid_request_error", "param": None, "code": None}}),
        (CHAT, 504, {"error": {"type": "server_error", "param": None, "code": None}}),
        (RESPONSES, 503, {"error": {"type": "server_error", "param": None, "code": None}}),
        (RESPONSES, 529, {"error": {"type": "server_error", "param": None, "code": None}}),
        (GEMINI, 503, {"error": {"code": 503, "status": "UNAVAILABLE"}}),
        (GEMINI, 529, {"error": {"code": 529, "status": "INTERNAL"}}),
    ],
)
def test_errors_have_the_shape_of_the_dialect_and_are_read_again(dialect, status, body):
    """What we write, we and every client can read."""
    written = dialect.error(status, "what is wrong")
    assert dialect.read_reply(written).error == "what is wrong"
    body["error"]["message"] = "what is wrong"
    assert json.loads(written) == body


def test_tool_results_are_read_from_a_request():
    """Text and blocks; what is no text is named; only one dialect says whether it went well."""
    blocks = [{"type": "text", "text": "one"}, {"type": "image", "source": {}}]
    content = [
        {"type": "text", "text": "and"},
        {"type": "tool_result", "tool_use_id": "a", "content": blocks},
        {"type": "tool_result", "tool_use_id": "b", "is_error": True},
    ]
    asked = ANTHROPIC.read_request(json.dumps({"messages": [{"content": content}]}).encode())
    assert [(r.call_id, r.output, r.ok) for r in asked.results] == [
        ("a", "one\n[image]", True),
        ("b", "", False),
    ]
    tool = {"role": "tool", "tool_call_id": "c", "content": "three"}
    asked = CHAT.read_request(json.dumps({"model": "m", "messages": [tool]}).encode())
    assert [(r.call_id, r.output, r.ok) for r in asked.results] == [("c", "three", None)]
    assert asked.model == "m"


def test_the_parts_of_a_request():
    """A chat's leading system messages are its system part."""
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    body = {"model": "m", "messages": messages, "tools": [1], "temperature": 0.5}
    parts = CHAT.read_request(json.dumps(body).encode()).parts
    assert parts == {
        "system": messages[:1],
        "messages": messages[1:],
        "tools": [1],
        "parameters": {"model": "m", "temperature": 0.5},
    }


@given(st.lists(json_values, max_size=4), st.binary(max_size=30), st.text(max_size=30))
def test_reading_is_total(values, junk, path):
    """Whatever a provider or an agent sends, reading it raises nothing."""
    bodies = [
        *(json.dumps(value).encode() for value in values),
        json.dumps(values).encode(),
        json.dumps(values).encode()[:-2] + junk,
        events(*values),
        events(*values)[:-9] + junk,
        junk,
        b"data:" + junk,
    ]
    for dialect in DIALECTS.values():
        for body in bodies:
            dialect.read_reply(body)
            dialect.read_request(body)
            dialect.model_of(path, body)
    for body in bodies:
        edit_pieces(body, lambda _: [])
    for method in ("GET", "POST"):
        found = find_dialect(method, path)
        assert found is None or found[1].startswith("/")


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("[", "]"),
        ('{"contents":[{"parts":[{"functionResponse":{"response":', "}}]}]}"),
        ('{"candidates":[{"content":{"parts":[', "]}}]}"),
        ('{"output":[{"type":"message","content":[', "]}]}"),
    ],
)
def test_nesting_beyond_all_measure_is_read(name, opening, closing):
    """Neither a parser's limit nor the stack's is an error of ours."""
    for depth in (100, 200, 450, 600, 50_000):
        body = (opening + '{"delta":[' * depth + "]}" * depth + closing).encode()
        for data in (body, b"data: " + body + b"\n\n"):
            DIALECTS[name].read_request(data)
            DIALECTS[name].read_reply(data)
            assert edit_pieces(data, lambda _: []) in {None, data}
