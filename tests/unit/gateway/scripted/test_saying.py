"""The turn is counted from the conversation, whatever a client makes of it."""

from __future__ import annotations

import pytest

from evalgate.gateway.scripted.anthropic import AnthropicVoice
from evalgate.gateway.scripted.gemini import GeminiVoice
from evalgate.gateway.scripted.openai_chat import OpenAiChatVoice
from evalgate.gateway.scripted.openai_responses import OpenAiResponsesVoice
from evalgate.gateway.scripted.saying import count_turns, pieces, turn_of

USER = {"role": "user", "content": "x"}
SAID = {"role": "assistant", "content": "y"}


def call(turn, n=0):
    """Return a call of ours as an item of the Responses API."""
    return {"type": "function_call", "call_id": f"call_{turn}_{n}", "name": "t"}


def result(turn, n=0):
    """Return its result."""
    return {"type": "function_call_output", "call_id": f"call_{turn}_{n}", "output": "ok"}


@pytest.mark.parametrize(
    ("items", "turns"),
    [
        ([], 0),
        ([USER], 0),
        ([USER, SAID, USER], 1),
        ([USER, SAID, SAID, USER], 1),
        ([USER, {"type": "reasoning"}, SAID, call(0), result(0)], 1),
        ([USER, call(0, 0), call(0, 1), result(0, 0), result(0, 1)], 1),
        ([USER, call(0, 0), result(0, 0), call(0, 1), result(0, 1)], 1),
        ([USER, call(0), result(0), SAID, USER, call(2), result(2)], 3),
        ([USER, call(5), result(5)], 6),
        ([USER, {**call(0), "call_id": "theirs"}, result(0)], 1),
    ],
    ids=[
        "nothing said",
        "asked",
        "said once",
        "one turn in two messages",
        "one turn in three items",
        "parallel calls",
        "each result after its call",
        "three turns",
        "old turns cut off",
        "ids of another",
    ],
)
def test_turns_of_responses(items, turns):
    """One turn may come back as several items, in any order a client likes."""
    assert OpenAiResponsesVoice().turns({"input": items}) == turns


def test_a_previous_response_stands_for_the_turns_before():
    """A client may send only what is new."""
    asked = {"input": [result(1)], "previous_response_id": "resp_scripted-1"}
    assert OpenAiResponsesVoice().turns(asked) == 2
    assert OpenAiResponsesVoice().turns({"input": "text"}) == 0


@pytest.mark.parametrize("voice", [AnthropicVoice(), OpenAiChatVoice()])
def test_the_start_of_the_wanted_reply_is_no_turn(voice):
    """An assistant's message at the end is to be continued."""
    assert voice.turns({"messages": [USER, SAID]}) == 0
    assert voice.turns({"messages": [USER, SAID, USER]}) == 1


def test_turns_of_gemini():
    """Its clients make ids of their own: then the model's contents are counted."""
    said = {"role": "model", "parts": [{"functionCall": {"id": "x_1", "name": "t"}}]}
    user = {"role": "user", "parts": []}
    assert GeminiVoice().turns({"contents": [user, said, user, said, user]}) == 2


def test_a_tool_list_among_the_items_counts():
    """One client sends its tools as the first item."""
    voice = OpenAiResponsesVoice()
    assert voice.has_tools({"input": [{"type": "additional_tools", "tools": []}]})
    assert not voice.has_tools({"input": [USER]})


@pytest.mark.parametrize("voice", [AnthropicVoice(), OpenAiChatVoice(), GeminiVoice()])
@pytest.mark.parametrize("asked", [{}, {"messages": 1, "contents": {}}, {"messages": [1, None]}])
def test_odd_conversations_hold_no_turn(voice, asked):
    """What can not be read is not there."""
    assert voice.turns(asked) == 0
    assert not voice.has_tools(asked)


def test_only_ids_of_ours_name_a_turn():
    """Anything else is only counted."""
    assert turn_of("call_12_3") == 12
    assert turn_of("call_12_3x") is None
    assert count_turns(iter([(True, ["toolu_1"]), (False, []), (True, [])])) == 2


def test_pieces_join_to_the_text():
    """Nothing is lost in the cutting."""
    text = "北京 " * 20
    assert "".join(pieces(text)) == text
    assert len(list(pieces(text))) > 3
