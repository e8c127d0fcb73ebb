"""A plan is read strictly: what is wrong in it is named with its line."""

from __future__ import annotations

import pytest

from evalgate.core.schema import Source
from evalgate.errors import UsageError
from evalgate.gateway.scripted.plan import END, Call, Said, load_plan

GOOD = """format = 1
[[task]]
id = "one"
[[task.reply]]
text = "a"
[[task.reply.call]]
name = "t"
[task.reply.call.input]
path = "p"
lines = [1, 2]
[[task.reply]]
text = "b"
[[task]]
id = "two"
reply = [{ text = "c" }]
"""


def load(text):
    """Read a plan from text."""
    return load_plan(Source("plans/x.toml", text))


def test_replies_are_read_in_order():
    """Text, calls and their input come as they are written; the end comes after the last."""
    plan = load(GOOD)
    call = Call(name="t", input={"path": "p", "lines": [1, 2]})
    assert plan.said("one", 0) == Said(text="a", calls=(call,))
    assert plan.said("one", 1) == Said(text="b")
    assert plan.said("one", 2) == plan.said("one", 99) == END
    assert plan.said("two", 0) == Said(text="c")


def test_a_task_without_a_plan_has_no_reply():
    """Nothing is made up for it, unless a plan is for any task."""
    plan = load(GOOD)
    assert plan.said("three", 0) is None
    assert not plan.covers("three")
    wild = load(GOOD + '[[task]]\nid = "*"\nreply = [{ text = "d" }]\n')
    assert wild.covers("three")
    assert wild.said("three", 0) == Said(text="d")
    assert wild.said("two", 0) == Said(text="c")


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("format = 1", "", "plans/x.toml", "'format' is missing"),
        ("format = 1", "format = 2", "plans/x.toml:1", "2 is newer"),
        ("format = 1", "format = 0", "plans/x.toml:1", "at least 1"),
        ("format = 1", "format = 1\nmodel = 3", "plans/x.toml:2", "unknown key"),
        ('id = "one"', "", "plans/x.toml:2", "'id' is missing"),
        ('id = "one"', 'id = ""', "plans/x.toml:3", "can not be empty"),
        ('id = "one"', "id = 1", "plans/x.toml:3", "must be a string"),
        ('id = "two"', 'id = "one"', "plans/x.toml:14", "has a plan already"),
        ('reply = [{ text = "c" }]', "", "plans/x.toml:13", "has no reply"),
        ('reply = [{ text = "c" }]', "reply = 1", "plans/x.toml:13", "must be a list of tables"),
        ('reply = [{ text = "c" }]', "reply = [1]", "plans/x.toml:13", "a list of tables"),
        ('text = "b"', "", "plans/x.toml:11", "says nothing"),
        ('text = "b"', "text = 1", "plans/x.toml:12", "must be a string"),
        ('text = "b"', 'txt = "b"', "plans/x.toml:12", "unknown key"),
        ('name = "t"', "", "plans/x.toml:6", "'name' is missing"),
        ('name = "t"', 'nam = "t"', "plans/x.toml:6", "'name' is missing"),
        ('path = "p"', "path = 2026-01-01", "plans/x.toml:8", "what JSON knows"),
        ('path = "p"', "path = nan", "plans/x.toml:8", "what JSON knows"),
        ("[task.reply.call.input]", "[task.reply.call.inputs]", "plans/x.toml:8", "unknown key"),
        (GOOD, "format = 1", "plans/x.toml", "plans nothing"),
        (GOOD, "format =", "plans/x.toml", "Invalid value"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(old, new, place, words):
    """File, line and key stand in the message."""
    with pytest.raises(UsageError) as caught:
        load(GOOD.replace(old, new, 1))
    assert caught.value.message.startswith(f"{place}:")
    assert words in caught.value.message


def test_the_second_of_two_tables_is_found():
    """A mistake in a later reply is not blamed on an earlier one."""
    text = "\n".join(GOOD.splitlines()[:12])
    text += '\n[[task]]\nid = "three"\n[[task.reply]]\n[[task.reply.call]]\nname = 1\n'
    with pytest.raises(UsageError, match=r"plans/x.toml:17: task\.reply\.call\.name"):
        load(text)
