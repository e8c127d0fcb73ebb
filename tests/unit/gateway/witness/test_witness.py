"""A trial is read from its exchanges alone."""

from __future__ import annotations

import json

import pytest

from evalgate.core.exchange import Ending, Exchange
from evalgate.core.redaction import Redactor
from evalgate.core.trajectory import NO_USAGE
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.keys.cleaning import Cleaner
from evalgate.gateway.keys.matching import Keying
from evalgate.gateway.witness.witness import witness_of

PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/m:generateContent",
}


def exchange(asked, reply, dialect="openai-chat", path=None, **more):
    """Return an exchange of a request and a reply, given as values or bytes."""
    keying = Keying(Cleaner(redactor=Redactor({}), places={}))
    where = path or PATHS[dialect]
    keyed = keying.keyed(DIALECTS[dialect], "POST", where, json.dumps(asked).encode())
    data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
    plain = {"status": 200, "body": data, **more}
    return Exchange(
        dialect=dialect, method="POST", path=where, request=keyed.request, key=keyed.key, **plain
    )


def turn(reply, *results, ask=None, **more):
    """Return a chat exchange: the tool results a request carries, and the reply."""
    messages = [{"role": "tool", "tool_call_id": i, "content": text} for i, text in results]
    return exchange({"messages": messages, **(ask or {})}, reply, **more)


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


def test_a_model_that_does_not_say_which_it_is_has_a_name_all_the_same():
    """None that any other model has; where nothing answered there is none."""
    silent = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}
    assert witness_of([turn(silent), turn(silent)]).served_models == ("unnamed",)
    assert witness_of([turn(silent), turn(reply("a", model="x"))]).served_models == ("x",)
    assert witness_of([turn({"error": {"message": "no"}}, status=500)]).served_models == ()


def test_counting_tokens_is_no_turn():
    """It costs nothing and says nothing."""
    count = exchange({}, {}, "anthropic", "/v1/messages/count_tokens", status=500)
    witness = witness_of([count])
    assert (witness.trajectory.turns, witness.provider_error) == (0, None)
    assert len(witness.exchanges) == 1


@pytest.mark.parametrize("status", [401, 402, 403, 404, 408, 409, 429, 500, 503, 529])
def test_a_provider_that_refuses_everybody_did_not_measure(status):
    """A key, an account, a model or a server that is not there is no fault of the agent."""
    failed = turn({"error": {"message": "no"}}, status=status)
    words = f"the provider answered with HTTP {status}: no"
    assert witness_of([turn(reply("a")), failed]).provider_error == words


@pytest.mark.parametrize("status", [400, 405, 413, 415, 422])
def test_a_request_that_is_malformed_is_the_agent_s(status):
    """Edited tools that no provider takes are measured, and wrong."""
    failed = turn({"error": {"message": "tools.0.name: too long"}}, status=status)
    assert witness_of([failed]).provider_error is None


def test_an_empty_account_is_no_malformed_request():
    """Whatever code it is told with."""
    said = "Your credit balance is too low to access the API."
    failed = turn({"error": {"message": said}}, status=400)
    assert witness_of([failed]).provider_error == f"the provider answered with HTTP 400: {said}"


@pytest.mark.parametrize(
    ("refusal", "error", "limit"),
    [("limit", None, "said"), ("model", "said", None), ("unreachable", "said", None)],
)
def test_refusals_of_our_own_keep_their_meaning(refusal, error, limit):
    """Whatever their HTTP status is."""
    headers = {"x-evalgate-refusal": refusal}
    witness = witness_of([turn({"error": {"message": "said"}}, status=400, headers=headers)])
    assert (witness.provider_error, witness.limit) == (error, limit)


def unanswered(began, seconds):
    """Return a request of which the agent saw nothing before it was gone."""
    return turn({}, status=0, body=b"", ending=Ending.CLIENT_GONE, began=began, seconds=seconds)


def answered(began, seconds):
    """Return a request with its reply."""
    return turn(reply("a"), began=began, seconds=seconds)


@pytest.mark.parametrize(
    ("exchanges", "waited"),
    [
        ([unanswered(0, 0.5)], "0.5"),
        ([answered(0, 5), answered(5, 10), unanswered(16, 60)], "60.0"),
        # The agent gave up waiting, and asked again in vain until its time was up.
        ([answered(0, 8), unanswered(9, 10), unanswered(19, 10)], "20.0"),
        # A side request was answered beside the one that was not.
        ([unanswered(0, 100), answered(0.1, 2)], "97.9"),
        # Stopped in the middle of a turn that was no longer than others.
        ([answered(0, 5), answered(5, 10), unanswered(16, 12)], None),
        # Asked again with success.
        ([unanswered(0, 60), answered(61, 2)], None),
        # A side request that nobody waited for.
        ([answered(0, 5), unanswered(5, 30), answered(5, 10), answered(15, 19.9)], None),
    ],
)
def test_a_provider_that_hangs(exchanges, waited):
    """It is told by a wait that is long beside those that had an end."""
    words = f"the provider had not answered after {waited} s" if waited else None
    assert witness_of(exchanges).provider_error == words
