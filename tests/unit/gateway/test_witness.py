"""A trial is read from its exchanges alone."""

from __future__ import annotations

import json

from evalgate.core.exchange import Ending, Exchange
from evalgate.core.trajectory import NO_USAGE
from evalgate.gateway.witness import witness_of


def turn(reply, *results, dialect="openai-chat", **more):
    """Return an exchange: the tool results a request carries, and the reply."""
    messages = [{"role": "tool", "tool_call_id": i, "content": text} for i, text in results]
    path = "/v1/chat/completions" if dialect == "openai-chat" else "/v1/messages"
    plain = {"status": 200, "body": json.dumps(reply).encode(), **more}
    request = json.dumps({"messages": messages}).encode()
    return Exchange(dialect=dialect, method="POST", path=path, request=request, key="k", **plain)


def reply(text="", *ids, model="m-1"):
    """Return a chat reply that calls the tool ``t`` once for each id."""
    calls = [{"id": i, "function": {"name": "t", "arguments": "{}"}} for i in ids]
    message = {"content": text, "tool_calls": calls}
    usage = {"prompt_tokens": 2, "completion_tokens": 1}
    return {"model": model, "choices": [{"message": message}], "usage": usage}


def outputs(*exchanges):
    """Return id and output of each call."""
    return [(call.call_id, call.output) for call in witness_of(exchanges).trajectory.calls]


def test_nothing_was_asked():
    """No turn, no answer, no cost."""
    witness = witness_of([])
    assert (witness.trajectory.turns, witness.trajectory.final_answer) == (0, None)
    assert witness.usage == NO_USAGE
    assert witness.provider_error is None


def test_an_id_used_again_gets_the_later_output():
    """Local servers count their calls anew in every reply."""
    first, second = ("0", "one"), ("0", "two")
    assert outputs(
        turn(reply("", "0")), turn(reply("", "0"), first), turn(reply("ok"), first, second)
    ) == [("0", "one"), ("0", "two")]


def test_parallel_calls_with_one_id_are_told_apart_by_order():
    """As far as the wire can tell."""
    assert outputs(turn(reply("", "", "")), turn(reply(), ("", "a"), ("", "b"))) == [
        ("", "a"),
        ("", "b"),
    ]


def test_a_side_request_between_does_not_close_a_call():
    """Agents ask for titles and summaries in between."""
    assert outputs(turn(reply("", "a")), turn(reply("title")), turn(reply("ok"), ("a", "out"))) == [
        ("a", "out")
    ]


def test_a_call_without_an_output_stays_open():
    """The agent ended before it answered."""
    assert outputs(turn(reply("", "a"))) == [("a", None)]


def test_seconds_are_never_negative():
    """A replay may play exchanges in another order than the recorded one."""
    first = turn(reply("", "a"), began=5.0, seconds=2.0)
    calls = witness_of([first, turn(reply(), ("a", "x"), began=6.0)]).trajectory.calls
    assert calls[0].seconds == 0.0


def test_the_answer_is_that_of_the_last_success():
    """An error after it is told beside it."""
    failed = turn({"error": {"message": "boom"}}, status=503)
    witness = witness_of([turn(reply("first")), turn(reply("last")), failed])
    assert witness.trajectory.final_answer == "last"
    assert witness.trajectory.turns == 2
    assert witness.provider_error == "the provider answered with HTTP 503: boom"
    assert (witness.usage.input_tokens, witness.usage.output_tokens) == (4, 2)


def test_an_unknown_count_makes_the_sum_unknown():
    """Nothing is counted that was not measured."""
    silent = {"choices": [{"message": {"content": "x"}}]}
    usage = witness_of([turn(reply("a")), turn(silent)]).usage
    assert usage.input_tokens is None
    gone = witness_of([turn(reply("a"), ending=Ending.CLIENT_GONE, body=b'{"cho')])
    assert gone.usage.output_tokens is None
    assert gone.provider_error is None
    assert gone.trajectory.turns == 0


def test_models_are_named_once_in_order():
    """As the provider says them, not as the request did."""
    replies = (turn(reply("a", model=model)) for model in ("x", "y", "x"))
    assert witness_of(list(replies)).served_models == ("x", "y")


def test_counting_tokens_is_no_turn():
    """It costs nothing and says nothing."""
    count = Exchange(
        dialect="anthropic", method="POST", path="/v1/messages/count_tokens", request=b"{}",
        key="k", status=500, body=b"{}",
    )  # fmt: skip
    witness = witness_of([count])
    assert (witness.trajectory.turns, witness.provider_error) == (0, None)
    assert len(witness.exchanges) == 1
