"""A scripted model answers in every dialect what its plan says, and keeps nothing."""

from __future__ import annotations

import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.scripted.server import at_task

FIRST = "I look at the file first, 北京 and all of it."
WRITTEN = {"path": "add.py", "content": "def add(a, b):\n    return a + b\n", "mode": 420}
TURNS = [
    (FIRST, [("read_file", {"path": "add.py"}), ("list_files", {})]),
    ("", [("write_file", WRITTEN)]),
    ("Done.", []),
    ("The plan is at its end.", []),
]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_agent_is_led_through_its_plan(server, client, stream):
    """Each turn gets its reply, then the end; what is written is read back the same."""
    dialect, said = DIALECTS[client.name], []
    for turn, (text, calls) in enumerate(TURNS):
        status, body = server.post(client.path(stream), client.body(said, stream))
        reply = dialect.read_reply(body)
        assert status == 200
        assert reply.finished
        assert reply.error is None
        assert reply.text == text
        assert [(call.name, call.input) for call in reply.calls] == calls
        assert [call.call_id for call in reply.calls] == [
            f"call_{turn}_{n}" for n in range(len(calls))
        ]
        assert reply.model == "scripted:m-1"
        assert reply.usage.input_tokens > 1
        assert reply.usage.output_tokens >= 1
        whole = server.post(client.path(False), client.body(said, False))[1]
        said += client.back(json.loads(whole))


def test_a_stream_and_a_whole_reply_say_and_count_the_same(server, client):
    """How a client asks changes nothing that is measured but the length of the request."""
    dialect = DIALECTS[client.name]
    whole = dialect.read_reply(server.post(client.path(False), client.body([], False))[1])
    streamed = dialect.read_reply(server.post(client.path(True), client.body([], True))[1])
    assert (streamed.text, streamed.calls) == (whole.text, whole.calls)
    assert streamed.stop_reason == whole.stop_reason
    assert streamed.usage.output_tokens == whole.usage.output_tokens


def test_a_stream_comes_in_deltas(server, client):
    """Text is cut into pieces, inside words, as a real stream is."""
    _, body = server.post(client.path(True), client.body([], True))
    assert b"I look at th" in body
    assert FIRST[:24].encode() not in body.split(b"output_text.done")[0]
    assert body.count(b"data: ") > 4


def test_the_same_question_gets_the_same_bytes(server, client):
    """Retries and trials at the same time are safe: nothing is kept between requests."""
    path, body = client.path(True), client.body([], True)
    with ThreadPoolExecutor(16) as pool:
        answers = set(pool.map(lambda _: server.post(path, body), range(32)))
    assert len(answers) == 1


def test_each_task_has_its_own_replies(server, client):
    """The task is in the URL; ``*`` answers for every other one."""
    _, body = server.post(client.path(False), client.body([], False), task="another")
    assert DIALECTS[client.name].read_reply(body).text == "Any task."


def test_without_tools_nothing_is_called(server, client):
    """A request for a title, say, is answered in words."""
    body = {**client.body([], False), "tools": []}
    reply = DIALECTS[client.name].read_reply(server.post(client.path(False), body)[1])
    assert (reply.text, reply.calls) == (FIRST, ())


def test_calls_alone_become_words_where_no_tool_is_offered(server, client):
    """An empty reply would be none."""
    whole = server.post(client.path(False), client.body([], False))[1]
    body = {**client.body(client.back(json.loads(whole)), False), "tools": []}
    reply = DIALECTS[client.name].read_reply(server.post(client.path(False), body)[1])
    assert (reply.text, reply.calls) == ("No tool was offered.", ())


def test_gemini_streams_a_list_to_whom_wants_no_events(server):
    """Without ``alt=sse`` the stream is one JSON list."""
    body = {"contents": [], "tools": [{}]}
    status, answer = server.post("/v1beta/models/m-1:streamGenerateContent", body)
    values = json.loads(answer)
    parts = [part for value in values for part in value["candidates"][0]["content"]["parts"]]
    assert status == 200
    assert "".join(part.get("text", "") for part in parts) == FIRST


def test_a_chat_stream_counts_only_for_whom_asked(server):
    """Usage comes with ``include_usage`` and not without, as it does elsewhere."""
    body = {"model": "m-1", "messages": [], "stream": True}
    _, answer = server.post("/v1/chat/completions", body)
    assert b'"usage"' not in answer
    assert answer.endswith(b"data: [DONE]\n\n")


def test_tokens_are_counted_by_length(server):
    """Both ways to count answer with the same number each time."""
    body = {"model": "m-1", "messages": [{"role": "user", "content": "x" * 400}]}
    status, answer = server.post("/v1/messages/count_tokens?beta=true", body)
    assert (status, json.loads(answer)) == (200, {"input_tokens": len(json.dumps(body)) // 4})
    status, answer = server.post("/v1/models/m-1:countTokens", {"contents": []})
    assert (status, json.loads(answer)) == (200, {"totalTokens": 4})


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_models_are_listed_and_described(server, version):
    """One answer serves the clients of every API that lists models at the same path."""
    _, every = server.get(f"/{version}/models")
    assert [row["id"] for row in every["data"]] == ["m-1", "m-2"]
    assert [row["name"] for row in every["models"]] == ["models/m-1", "models/m-2"]
    status, one = server.get(f"/{version}/models/m-2")
    assert (status, one["id"], one["display_name"]) == (200, "m-2", "m-2 (scripted)")
    assert server.get(f"/{version}/models/m-3")[0] == 404


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/v1/messages", {"model": "m-9", "messages": []}, 404, "'m-9' is not scripted"),
        ("/v1/messages", b"[]", 400, "not a JSON object"),
        ("/v1/messages", b"\xff", 400, "not a JSON object"),
        ("/v1/embeddings", {"model": "m-1"}, 404, "no scripted API"),
    ],
)
def test_what_can_not_be_answered_is_an_error(server, path, body, status, words):
    """The message says what is wrong, where clients of every API look for it."""
    got, answer = server.post(path, body)
    assert got == status
    assert words in json.loads(answer)["error"]["message"]


def test_a_task_may_have_any_name(server):
    """Slashes, spaces, per cent signs and dots stay apart from the API's path."""
    assert at_task("http://h", "a/b é") == "http://h/t-a%2Fb%20%C3%A9"
    for task in ("..", "a/../b", "x?y#z", "%2F"):
        status, _ = server.post("/v1/messages", {"model": "m-1", "messages": []}, task=task)
        assert status == 200


def test_a_base_url_answers_a_greeting(server):
    """Some agents ask at the base first."""
    with urllib.request.urlopen(at_task(server.url, "x"), timeout=20) as response:
        assert response.status == 200
