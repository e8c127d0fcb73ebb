"""A request finds its dialect by method, path, and, where paths are shared, a header."""

from __future__ import annotations

import pytest

from evalgate.gateway.dialects.table import DIALECTS, find_dialect

VERSION = {"anthropic-version": "2023-06-01"}
GOOGLE = {"x-goog-api-key": "k"}
PRO = "/v1beta/models/gemini-2.5-pro"


def found(method, path, headers=None):
    """Return name and path of a request's dialect."""
    dialect, route = find_dialect(method, path, headers or {}) or (None, None)
    return (dialect.name if dialect else None), route


@pytest.mark.parametrize(
    ("path", "name", "route"),
    [
        ("/v1/messages", "anthropic", "/v1/messages"),
        ("/x/v1/messages", "anthropic", "/v1/messages"),
        ("/v1/messages/count_tokens", "anthropic", "/v1/messages/count_tokens"),
        ("/v1/chat/completions", "openai-chat", "/v1/chat/completions"),
        ("/chat/completions", "openai-chat", "/v1/chat/completions"),
        ("/v1/responses", "openai-responses", "/v1/responses"),
        ("/responses", "openai-responses", "/v1/responses"),
        ("/v1/responses/compact", "openai-responses", "/v1/responses/compact"),
        ("/v1/responses/input_tokens", "openai-responses", "/v1/responses/input_tokens"),
        (f"{PRO}:generateContent", "gemini", f"{PRO}:generateContent"),
        (f"/x{PRO}:streamGenerateContent", "gemini", f"{PRO}:streamGenerateContent"),
        (f"{PRO}:countTokens", "gemini", f"{PRO}:countTokens"),
        ("/v1/models/m:generateContent", "gemini", "/v1/models/m:generateContent"),
        ("/v1/models/m:streamGenerateContent", "gemini", "/v1/models/m:streamGenerateContent"),
        (f"/v1beta{PRO}:generateContent", "gemini", f"{PRO}:generateContent"),
        ("/v1/tunedModels/m:generateContent", "gemini", "/v1/tunedModels/m:generateContent"),
    ],
)
def test_what_is_posted_is_told_by_its_path(path, name, route):
    """Base URLs differ, the API's own path does not; no other method means the same."""
    assert found("POST", path) == (name, route)
    assert found("GET", path)[0] != name
    assert found("DELETE", path)[0] == "passthrough"


@pytest.mark.parametrize(
    ("path", "headers", "name", "route"),
    [
        ("/v1/models", VERSION, "anthropic", "/v1/models"),
        ("/v1/models/claude-x", VERSION, "anthropic", "/v1/models/claude-x"),
        ("/v1/models", {}, "openai-chat", "/v1/models"),
        ("/models", {}, "openai-chat", "/v1/models"),
        ("/v1/models/meta/llama", {}, "openai-chat", "/v1/models/meta/llama"),
        ("/v1/models", GOOGLE, "gemini", "/v1/models"),
        ("/v1/models/gemini-2.5-pro", GOOGLE, "gemini", "/v1/models/gemini-2.5-pro"),
        ("/v1beta/models", {}, "gemini", "/v1beta/models"),
        (PRO, {}, "gemini", PRO),
    ],
)
def test_the_list_of_models_is_told_by_a_header(path, headers, name, route):
    """Three APIs have it at one path; it is recorded and is no turn."""
    assert found("GET", path, headers) == (name, route)
    assert not DIALECTS[name].is_turn(route)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/messagesx"),
        ("POST", "/v1/messages/"),
        ("POST", "/v1/embeddings"),
        ("POST", f"{PRO}:embedContent"),
        ("POST", PRO),
        ("GET", "/v1/responses/resp_1"),
        ("GET", f"{PRO}:generateContent"),
        ("PUT", "/"),
    ],
)
def test_what_is_unknown_is_passed_through_as_it_is(method, path):
    """It is recorded and replayed, and read as little as possible."""
    assert found(method, path) == ("passthrough", path)


def test_nothing_is_no_path():
    """There is nothing to ask for."""
    assert find_dialect("POST", "") is None


@pytest.mark.parametrize(
    ("name", "turns", "others"),
    [
        ("anthropic", ["/v1/messages"], ["/v1/messages/count_tokens", "/v1/models"]),
        ("openai-chat", ["/v1/chat/completions"], ["/v1/models"]),
        (
            "openai-responses",
            ["/v1/responses", "/v1/responses/compact"],
            ["/v1/responses/input_tokens"],
        ),
        (
            "gemini",
            [f"{PRO}:generateContent", f"{PRO}:streamGenerateContent"],
            [f"{PRO}:countTokens", PRO, "/v1beta/models"],
        ),
        ("passthrough", [], ["/v1/embeddings"]),
    ],
)
def test_a_turn_is_what_the_model_answers(name, turns, others):
    """Only those are counted, limited and paid for."""
    dialect = DIALECTS[name]
    assert [path for path in (*turns, *others) if dialect.is_turn(path)] == turns


@pytest.mark.parametrize(
    ("name", "path", "body", "model"),
    [
        ("anthropic", "/v1/messages", b'{"model": "m"}', "m"),
        ("openai-chat", "/v1/chat/completions", b'{"model": "m"}', "m"),
        ("openai-chat", "/v1/models", b"", None),
        ("openai-responses", "/v1/responses", b'{"model": "m"}', "m"),
        ("gemini", f"{PRO}:generateContent", b'{"model": "m"}', "gemini-2.5-pro"),
        ("gemini", PRO, b"", "gemini-2.5-pro"),
        ("gemini", "/v1beta/models", b"", None),
        ("passthrough", "/v1/embeddings", b'{"model": "m"}', "m"),
        ("passthrough", "/v1/files", b"\xff", None),
        ("passthrough", "/v1/files", b'{"model": 1}', None),
    ],
)
def test_the_model_stands_in_the_body_or_in_the_path(name, path, body, model):
    """It decides where the request goes."""
    assert DIALECTS[name].model_of(path, body) == model


@pytest.mark.parametrize("name", DIALECTS)
def test_what_a_dialect_says_of_itself(name):
    """What is dropped has a reason, is never the conversation itself, and is named once."""
    dialect = DIALECTS[name]
    assert dialect.name == name
    paths = [drop.path for drop in dialect.drops]
    assert len(set(paths)) == len(paths)
    assert all(drop.reason and drop.path for drop in dialect.drops)
    assert all(path[-1] not in {"*", dialect.conversation} for path in paths)
    assert {*dialect.headers, *dialect.noted} == {
        header.lower() for header in (*dialect.headers, *dialect.noted)
    }
    assert not dialect.headers & dialect.noted
    if dialect.conversation:
        assert dialect.part_of(dialect.conversation) == "messages"
    assert dialect.part_of("temperature") == "parameters"


@pytest.mark.parametrize(
    ("name", "member", "part"),
    [
        ("anthropic", "system", "system"),
        ("anthropic", "tools", "tools"),
        ("openai-chat", "tools", "tools"),
        ("openai-chat", "system", "parameters"),
        ("openai-responses", "instructions", "system"),
        ("openai-responses", "tools", "tools"),
        ("gemini", "systemInstruction", "system"),
        ("gemini", "system_instruction", "system"),
        ("gemini", "toolConfig", "parameters"),
        ("passthrough", "messages", "parameters"),
    ],
)
def test_the_part_of_a_member(name, member, part):
    """So a difference can be named by what it means."""
    assert DIALECTS[name].part_of(member) == part
