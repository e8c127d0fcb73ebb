"""The responses API: parts, outputs of tools, and servers that leave things out."""

from __future__ import annotations

import json

import pytest

from evalgate.core.trajectory import Usage
from evalgate.gateway.dialects.table import DIALECTS

RESPONSES = DIALECTS["openai-responses"]
MORE = {"type": "additional_tools", "role": "developer", "tools": [{"name": "exec_command"}]}
DEVELOPER = {"type": "message", "role": "developer", "content": "be brief"}
USER = {"role": "user", "content": "hello"}


def asked(**body):
    """Return a request, read."""
    return RESPONSES.read_request(json.dumps({"model": "m", **body}).encode())


def test_input_that_is_a_string_is_a_message():
    """The two are the same to the model."""
    read = asked(input="hello", temperature=0.5)
    assert read.model == "m"
    assert read.parts == {
        "system": [],
        "messages": [USER],
        "parameters": {"model": "m", "temperature": 0.5},
    }


def test_tools_and_system_messages_may_lead_the_input():
    """An agent puts its tools into the first item and its prompt into the second."""
    read = asked(instructions="you edit", tools=[{"name": "t"}], input=[MORE, DEVELOPER, USER])
    assert read.parts["system"] == ["you edit", DEVELOPER]
    assert read.parts["tools"] == [{"name": "t"}, {"name": "exec_command"}]
    assert read.parts["messages"] == [USER]
    later = asked(instructions=None, input=[USER, DEVELOPER, MORE])
    assert later.parts["system"] == []
    assert later.parts["messages"] == [USER, DEVELOPER, MORE]
    assert "tools" not in later.parts


def test_outputs_of_all_kinds_of_tools():
    """Success is known where the API has a word for it."""
    shell = [{"stdout": "out\n", "stderr": "err", "outcome": {"type": "exit", "exit_code": 1}}]
    read = asked(
        input=[
            USER,
            {"type": "function_call_output", "call_id": "a", "output": "plain"},
            {
                "type": "custom_tool_call_output",
                "call_id": "b",
                "output": [{"type": "input_text", "text": "one"}, {"type": "input_image"}],
            },
            {"type": "shell_call_output", "call_id": "c", "output": shell},
            {"type": "apply_patch_call_output", "call_id": "d", "status": "completed"},
            {"type": "apply_patch_call_output", "call_id": "e", "status": "failed", "output": "x"},
            {"type": "reasoning", "id": "rs"},
        ]
    )
    assert [(r.call_id, r.output, r.ok) for r in read.results] == [
        ("a", "plain", None),
        ("b", "one\n[input_image]", None),
        ("c", "out\nerr", False),
        ("d", "", True),
        ("e", "x", False),
    ]


def test_an_output_without_the_id_of_its_call():
    """One kind names its call by an id that clients make up: it is of the first one open."""
    call = {"type": "local_shell_call", "action": {"type": "exec"}}
    read = asked(
        input=[
            {**call, "call_id": "a"},
            {**call, "call_id": "b"},
            {"type": "local_shell_call_output", "output": "one"},
            {"type": "local_shell_call_output", "output": "two"},
            {"type": "local_shell_call_output", "output": "three"},
        ]
    )
    assert [(r.call_id, r.output) for r in read.results] == [
        ("a", "one"),
        ("b", "two"),
        ("", "three"),
    ]


def test_calls_that_the_provider_makes_itself_are_not_the_clients():
    """Only what waits for an output is a call of the agent's."""
    output = [
        {"type": "web_search_call", "id": "ws", "action": {"type": "search"}},
        {"type": "mcp_call", "id": "mcp", "name": "x", "arguments": "{}"},
        {"type": "tool_search_call", "call_id": None, "execution": "server"},
        {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}},
        {"type": "computer_call", "call_id": "c", "actions": [{"type": "click"}]},
        {"type": "function_call", "call_id": "f", "name": "n", "arguments": "{broken"},
        {"type": "function_call", "call_id": "g", "name": "n", "arguments": ""},
    ]
    reply = RESPONSES.read_reply(json.dumps({"status": "completed", "output": output}).encode())
    assert [(c.name, c.call_id, c.input) for c in reply.calls] == [
        ("shell", "s", {"commands": ["ls"]}),
        ("computer", "c", [{"type": "click"}]),
        ("n", "f", "{broken"),
        ("n", "g", {}),
    ]


@pytest.mark.parametrize(
    ("status", "finished"),
    [("completed", True), ("incomplete", True), ("queued", False), ("cancelled", False)],
)
def test_only_some_states_are_an_end(status, finished):
    """A response in the background has not been given yet."""
    reply = RESPONSES.read_reply(json.dumps({"status": status, "output": []}).encode())
    assert (reply.finished, reply.stop_reason) == (finished, status if finished else None)


def test_a_response_that_became_too_long(wire_body):
    """The reason is what it stopped for."""
    reply = RESPONSES.read_reply(wire_body("responses-incomplete.sse"))
    assert (reply.finished, reply.stop_reason) == (True, "max_output_tokens")


def test_the_items_of_a_stream_stand_in_its_events_or_at_its_end(stream):
    """Servers leave out one or the other, or the index of an item."""
    item = {"type": "message", "id": "i", "content": [{"type": "output_text", "text": "whole"}]}
    end = {"type": "response.completed", "response": {"model": "m"}}
    done = {"type": "response.output_item.done", "item": item}
    added = {"type": "response.output_item.added", "item": {**item, "content": []}}
    piece = {"type": "response.output_text.delta", "item_id": "i", "delta": "who"}
    other = {"type": "response.output_text.delta", "item_id": "j", "delta": "more"}
    full = {**end, "response": {"output": [item]}}
    for events in ((done, end), (full,), (added, piece, done, end), (added, done, full)):
        reply = RESPONSES.read_reply(stream(*events))
        assert (reply.text, reply.finished) == ("whole", True)
    cut = RESPONSES.read_reply(stream(added, piece, other))
    assert (cut.text, cut.finished) == ("who\nmore", False)


def test_an_error_event_has_two_shapes(stream):
    """The documented one, and one with an object inside."""
    event = {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}
    assert RESPONSES.read_reply(stream(event)).error == "no"
    assert RESPONSES.read_reply(stream({"type": "error", "message": "no"})).error == "no"
    for response in ({"status": "failed"}, {}):
        reply = RESPONSES.read_reply(stream({"type": "response.failed", "response": response}))
        assert (reply.error, reply.finished) == ("an error without a message", False)
    end = {"type": "response.completed", "response": {"status": "completed", "output": []}}
    reply = RESPONSES.read_reply(stream(event, end))
    assert (reply.error, reply.finished, reply.stop_reason) == ("no", False, None)


def test_pieces_of_a_cut_stream_belong_to_the_item_of_their_index(stream):
    """Items that were not begun aloud, one after the other, refusals among them."""

    def piece(kind, index, delta):
        return {"type": f"response.{kind}.delta", "output_index": index, "delta": delta}

    reply = RESPONSES.read_reply(
        stream(
            piece("output_text", 1, "b"),
            piece("refusal", 0, "a"),
            piece("output_text", 1, "b"),
            piece("refusal", 0, "a"),
        )
    )
    assert (reply.text, reply.finished) == ("aa\nbb", False)


def test_a_compacted_conversation_is_paid_for():
    """It has no status; its usage counts like any other."""
    usage = {"input_tokens": 100, "output_tokens": 9, "total_tokens": 109}
    body = {"object": "response.compaction", "output": [{"type": "compaction"}], "usage": usage}
    reply = RESPONSES.read_reply(json.dumps(body).encode())
    assert reply.finished
    assert reply.usage == Usage(
        input_tokens=100, output_tokens=9, cache_read_tokens=0, cache_write_tokens=0
    )
