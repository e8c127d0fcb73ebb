"""Conversations are told apart by what stays the same in one of them."""

from __future__ import annotations

import pytest

from evalgate.gateway.dialects.dialect import Asked
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.witness.dialogue import Dialogues, spoken

CHAT = DIALECTS["openai-chat"]
PROMPT = "You mend code.\nYou are careful.\nYou say little.\nToday is {}."


def asked(system="", messages="go", *, tools=()):
    """Return a request, read."""
    return Asked(parts={"system": system, "messages": messages, "tools": list(tools)})


def joined(*requests):
    """Return the numbers of the conversations that requests belong to, and the main one's."""
    dialogues = Dialogues()
    numbers = [dialogues.join(one, CHAT) for one in requests]
    return numbers, dialogues.main(numbers)


def test_a_prompt_with_a_counter_in_it_stays_the_same_conversation():
    """Most of its lines are equal."""
    numbers, _ = joined(*(asked(PROMPT.format(day)) for day in range(3)))
    assert numbers == [0, 0, 0]


def test_another_prompt_or_the_lack_of_tools_is_another_conversation():
    """Titles are asked for without tools, sub-agents have prompts of their own."""
    tool = {"name": "bash"}
    numbers, main = joined(
        asked("Name this conversation."),
        asked(PROMPT, tools=[tool]),
        asked(PROMPT),
        asked("You look for files.", tools=[tool]),
        asked(PROMPT, tools=[tool]),
    )
    assert numbers == [0, 1, 2, 3, 1]
    assert main == 1, "the first in which tools were offered"


def test_without_tools_who_speaks_most_often_is_the_agent():
    """Or else who has more to say."""
    assert joined(asked("a title"), asked("an agent"), asked("an agent"))[1] == 1
    assert joined(asked("a"), asked("a much longer one"))[1] == 1
    assert joined()[1] is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openai-chat", {"role": "user", "content": "one"}),
        ("openai-chat", {"content": [{"type": "text", "text": "one"}, {"type": "image_url"}]}),
        ("anthropic", {"content": [{"type": "text", "text": "one"}]}),
        ("openai-responses", {"content": [{"type": "input_text", "text": "one"}]}),
        ("gemini", {"role": "user", "parts": [{"text": "one"}, {"inlineData": {}}]}),
    ],
)
def test_the_text_of_a_message_in_the_shape_of_its_api(name, message):
    """One line or more for each piece, and nothing for what is no text."""
    assert spoken([message, "two"], DIALECTS[name]) == "one\ntwo"


def test_text_that_is_nested_beyond_all_measure_is_left_out():
    """Nobody says anything that deep."""
    deep = "x"
    for _ in range(100):
        deep = [deep]
    assert spoken(deep, CHAT) == ""
