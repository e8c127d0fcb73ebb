"""Every dialect reads the same from an answer, whether it comes whole or in pieces."""

from __future__ import annotations

import json

import pytest

from evalgate.core.trajectory import Usage
from evalgate.gateway.dialects.table import DIALECTS

TEXT = "I read 北京 – both 🗂️ files."
FILES = [("read_file", {"path": "a.py"}), ("read_file", {"path": "b.py"})]
PATCH = [("read_file", {"path": "a.py"}), ("apply_patch", "*** Begin Patch")]


def usage(*counts):
    """Return input, output, read from the cache, written to it."""
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    return Usage(**dict(zip(names, counts, strict=True)))


@pytest.mark.parametrize(
    ("name", "file", "calls", "counts", "stop"),
    [
        ("anthropic", "anthropic-parallel.sse", FILES, (472, 89, 2048, 128), "tool_use"),
        ("openai-chat", "chat-parallel.sse", FILES, (86, 300, 1920, 0), "tool_calls"),
        ("openai-responses", "responses-parallel.json", PATCH, (46, 300, 1920, 40), "completed"),
        ("openai-responses", "responses-parallel.sse", PATCH, (46, 300, 1920, 40), "completed"),
        ("gemini", "gemini-parallel.json", FILES, (86, 300, 1920, 0), "STOP"),
        ("gemini", "gemini-parallel.sse", FILES, (86, 300, 1920, 0), "STOP"),
        ("gemini", "gemini-parallel-array.json", FILES, (86, 300, 1920, 0), "STOP"),
    ],
)
def test_text_and_parallel_calls_and_cached_tokens(wire_body, name, file, calls, counts, stop):
    """Characters of many bytes are cut over events, thoughts are no text, no token counts twice."""
    reply = DIALECTS[name].read_reply(wire_body(file))
    assert reply.text == TEXT
    assert [(call.name, call.input) for call in reply.calls] == calls
    assert reply.usage == usage(*counts)
    assert (reply.stop_reason, reply.finished, reply.error) == (stop, True, None)
    assert reply.model


@pytest.mark.parametrize(
    ("name", "file", "text"),
    [
        ("anthropic", "anthropic-parallel.json", "I read both files."),
        ("openai-chat", "chat-parallel.json", ""),
    ],
)
def test_whole_answers(wire_body, name, file, text):
    """The same calls as in the stream; a chat may say nothing beside them."""
    reply = DIALECTS[name].read_reply(wire_body(file))
    in_pieces = DIALECTS[name].read_reply(wire_body(file.replace("json", "sse")))
    assert (reply.text, reply.calls) == (text, in_pieces.calls)
    assert (reply.usage, reply.stop_reason) == (in_pieces.usage, in_pieces.stop_reason)
    assert reply.finished


@pytest.mark.parametrize(
    ("name", "file", "text", "stop"),
    [
        ("anthropic", "anthropic-refusal.sse", "I can", "refusal"),
        ("openai-chat", "chat-refusal.sse", "I can not help.", "stop"),
        ("openai-responses", "responses-refusal.sse", "I can not help.", "completed"),
        ("gemini", "gemini-blocked.json", "", "PROHIBITED_CONTENT"),
    ],
)
def test_a_model_that_declines_has_answered(wire_body, name, file, text, stop):
    """A refusal is measured; it is no error of the provider."""
    reply = DIALECTS[name].read_reply(wire_body(file))
    assert (reply.text, reply.stop_reason, reply.calls) == (text, stop, ())
    assert (reply.finished, reply.error) == (True, None)


@pytest.mark.parametrize(
    ("name", "file", "message"),
    [
        ("anthropic", "anthropic-error.json", "Overloaded"),
        ("openai-chat", "chat-error.json", "You exceeded your current quota."),
        ("openai-responses", "chat-error.json", "You exceeded your current quota."),
        ("openai-responses", "responses-failed.sse", "The model failed to generate a response."),
        ("openai-responses", "responses-error.sse", "Rate limit reached."),
        ("gemini", "gemini-error.json", "You exceeded your current quota."),
        ("passthrough", "chat-error.json", "You exceeded your current quota."),
    ],
)
def test_an_error_is_no_answer(wire_body, name, file, message):
    """In place of an answer, or in the middle of a stream."""
    reply = DIALECTS[name].read_reply(wire_body(file))
    assert (reply.error, reply.finished, reply.stop_reason) == (message, False, None)
    assert reply.usage == Usage()


@pytest.mark.parametrize(
    ("name", "file", "known"),
    [
        ("anthropic", "anthropic-parallel.sse", (472, None, 2048, 128)),
        ("openai-chat", "chat-parallel.sse", (None, None, None, None)),
        ("openai-responses", "responses-parallel.sse", (None, None, None, None)),
        ("gemini", "gemini-parallel.sse", (86, None, 1920, 0)),
        ("gemini", "gemini-parallel-array.json", (86, None, 1920, 0)),
    ],
)
def test_a_stream_that_is_cut_anywhere(wire_body, name, file, known):
    """It is never finished, and what it will have cost is unknown until its end says it."""
    body = wire_body(file)
    dialect = DIALECTS[name]
    whole = dialect.read_reply(body)
    readable = []
    for length in range(0, len(body) - 1, 7):
        reply = dialect.read_reply(body[:length])
        assert whole.text.startswith(reply.text)
        if reply.usage != whole.usage:
            assert reply.usage in {Usage(), usage(*known)}
        if not reply.finished:
            assert reply.usage.output_tokens in {None, whole.usage.output_tokens}
        readable.append(reply)
    assert not readable[len(readable) // 2].finished
    assert readable[len(readable) // 2].text


@pytest.mark.parametrize("name", DIALECTS)
def test_an_error_we_write_is_read_again(name):
    """In the shape of the dialect, whatever the status is."""
    for status in (400, 401, 404, 429, 500, 502, 599):
        written = DIALECTS[name].error(status, "what is 'wrong'")
        reply = DIALECTS[name].read_reply(written)
        assert (reply.error, reply.finished) == ("what is 'wrong'", False)
        assert json.loads(written)["error"]["message"] == "what is 'wrong'"


@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "openai-responses", "gemini"])
def test_a_usage_that_is_missing_stays_unknown(name, wire_body):
    """It is never zero."""
    files = {"openai-chat": "chat", "openai-responses": "responses"}
    body = json.loads(wire_body(f"{files.get(name, name)}-parallel.json"))
    for silent in ({}, {"usage": None, "usageMetadata": None}):
        for key in ("usage", "usageMetadata"):
            body.pop(key, None)
        reply = DIALECTS[name].read_reply(json.dumps({**body, **silent}).encode())
        assert reply.finished
        assert reply.usage == Usage()
