"""A miss names the exchange that came nearest, and where it differs."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.exchange import Exchange
from evalgate.core.redaction import Redactor
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.keys.cleaning import Cleaner
from evalgate.gateway.keys.matching import Keying
from evalgate.gateway.misses.differences import SHOWN
from evalgate.gateway.misses.divergence import explain

PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/m:generateContent",
}


def request(body, path=None, dialect="anthropic", **more):
    """Return a request in stored form."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    cleaner = Cleaner(redactor=Redactor({"TOKEN": "hunter2hunter2"}), places={})
    where = path or PATHS[dialect]
    return Keying(cleaner).keyed(DIALECTS[dialect], "POST", where, data, **more)


def exchange(keyed, reply=b""):
    """Return a recorded exchange of a request."""
    return Exchange(
        dialect=keyed.dialect, method="POST", path=keyed.path, request=keyed.request,
        query=keyed.query, asked=keyed.asked, key=keyed.key, status=200, body=reply,
    )  # fmt: skip


def recorded(*bodies, **more):
    """Return recorded exchanges of these requests."""
    return [exchange(request(body, **more)) for body in bodies]


def miss_of(now, then, **more):
    """Return the miss of one request against one that was recorded."""
    return explain(request(now, **more), recorded(then, **more), frozenset())


def say(*texts, **more):
    """Return a conversation."""
    return {"system": "s", "messages": [{"content": text} for text in texts], **more}


def test_nothing_recorded():
    """There is nothing to compare with."""
    miss = explain(request(say("a")), [], frozenset())
    assert (miss.nearest, miss.differs, miss.played) == (None, (), False)
    assert "nothing was recorded" in miss.sentence


def test_already_played():
    """The last of the equal ones is named."""
    tape = recorded(say("a"), say("a"), say("b"))
    miss = explain(request(say("a")), tape, frozenset({0, 1}))
    assert (miss.nearest, miss.played) == (1, True)


def test_the_nearest_has_the_longest_common_conversation():
    """A changed tool output is compared with the turn it belongs to."""
    tape = recorded(say("a"), say("a", "b"), say("a", "b", "c"), say("x", "y", "z"))
    miss = explain(request(say("a", "b", "C")), tape, frozenset({0, 1}))
    assert miss.nearest == 2
    assert miss.differs == ('messages[2].content: recorded "c", now "C"',)


def test_a_changed_part_does_not_hide_the_turn():
    """With another system prompt the first request is compared with the first."""
    tape = recorded(say("a"), say("a", "b"))
    miss = explain(request(say("a", system="t", temperature=1)), tape, frozenset())
    assert miss.nearest == 0
    assert miss.differs == (
        'system: recorded "s", now "t"',
        "temperature: recorded nothing, now 1",
    )


def test_long_values_are_shown_where_they_differ():
    """Both values, at most as long as allowed, with the difference in sight."""
    old = "x" * 500 + "old" + "y" * 500
    new = "x" * 500 + "new" + "y" * 500
    (difference,) = explain(request(say(new)), recorded(say(old)), frozenset()).differs
    left, right = difference.split(": recorded ")[1].split(", now ")
    assert "old" in left
    assert "new" in right
    assert max(len(left), len(right)) <= SHOWN


def test_a_secret_is_not_shown():
    """Both sides are in stored form."""
    miss = explain(request(say("hunter2hunter2")), recorded(say("a")), frozenset())
    assert miss.differs == ('messages[0].content: recorded "a", now "<secret:TOKEN>"',)


def test_many_differences_are_counted():
    """A report stays short."""
    miss = explain(request(say(*"abcdefghijkl")), recorded(say(*"ABCDEFGHIJKL")), frozenset())
    assert len(miss.differs) == 9
    assert miss.differs[-1] == "and 4 more"


def test_lists_of_other_length_types_and_no_json():
    """Whatever differs, something is named."""
    longer = explain(request(say("a", "b")), recorded(say("a")), frozenset())
    assert longer.differs == ("messages: recorded 1 items, now 2",)
    typed = explain(request({"a": True}), recorded({"a": 1}), frozenset())
    assert typed.differs == ("a: recorded 1, now true",)
    raw = explain(request(b"\xffnew"), recorded(b"\xffold"), frozenset())
    assert raw.differs == ('body: recorded "\\\\xffold", now "\\\\xffnew"',)
    twice = explain(request(b'{"a":1,"a":2}'), recorded({"a": 2}), frozenset())
    assert twice.differs[0].startswith("body: ")
    other = explain(request({}, "/v1/messages/count_tokens"), recorded({}), frozenset())
    assert other.differs[0].startswith("path: ")


def test_deep_nesting_is_compared_as_one_value():
    """No input ends Python's stack."""
    deep, other = b"[" * 900 + b"]" * 900, b"[" * 900 + b"1" + b"]" * 900
    assert explain(request(deep), recorded(other), frozenset()).differs


TOOLS = [
    {"name": "read", "description": "Reads a file.", "input_schema": {"type": "object"}},
    {"name": "write", "description": "Writes a file.", "input_schema": {"type": "object"}},
]
CHAT_TOOLS = [
    {"type": "function", "function": {"name": one["name"], "description": one["description"]}}
    for one in TOOLS
]


def test_equal_and_differing_parts_are_named():
    """With the path of the first leaf, and its words."""
    old = say("a", system="You are careful and quick.", tools=TOOLS, max_tokens=5)
    new = {**old, "system": "You are bold and quick."}
    miss = miss_of(new, old)
    assert miss.equal == ("tools", "messages", "parameters")
    assert miss.differing == ("system",)
    assert (miss.path, miss.words) == ("system", "You are [-careful-]{+bold+} and quick.")
    assert miss.kind == "the system prompt differs"
    assert miss.explanation.splitlines() == [
        "the request matches no recorded exchange; nearest is exchange 0",
        "  equal     tools, messages, parameters",
        "  differing system",
        "  first     system",
        "  words     You are [-careful-]{+bold+} and quick.",
        "  cause     the system prompt differs",
    ]


@pytest.mark.parametrize(
    ("dialect", "old"),
    [
        ("anthropic", {"system": "You are old.", "messages": [{"role": "user", "content": "x"}]}),
        (
            "openai-chat",
            {"messages": [{"role": "system", "content": "You are old."},
                          {"role": "user", "content": "x"}]},
        ),
        (
            "openai-responses",
            {"input": [{"role": "developer", "content": "You are old."},
                       {"role": "user", "content": "x"}]},
        ),
        (
            "gemini",
            {"systemInstruction": {"parts": [{"text": "You are old."}]},
             "contents": [{"role": "user", "parts": [{"text": "x"}]}]},
        ),
    ],
)  # fmt: skip
def test_a_system_prompt_is_told_from_messages_in_every_dialect(dialect, old):
    """Wherever the API keeps it."""
    new = json.loads(json.dumps(old).replace("old", "new"))
    miss = miss_of(new, old, dialect=dialect)
    assert (miss.differing, miss.equal) == (("system",), ("messages",))
    assert miss.words == "You are [-old-]{+new+}."


@pytest.mark.parametrize(
    ("dialect", "tools", "path"),
    [
        ("anthropic", TOOLS, "tools[1].description"),
        ("openai-chat", CHAT_TOOLS, "tools[1].function.description"),
    ],
)
def test_a_tool_is_named(dialect, tools, path):
    """One edited description among many."""
    edited = json.loads(json.dumps(tools).replace("Writes a", "Writes the"))
    miss = miss_of({"tools": edited}, {"tools": tools}, dialect=dialect)
    assert (miss.path, miss.tool, miss.words) == (path, "write", "Writes [-a-]{+the+} file.")
    place, _, rest = path.partition("]")
    assert miss.differs[0].startswith(f'{place}] "write"{rest}: recorded "Writes a file."')
    assert 'the tool "write" differs' in miss.explanation


def test_a_tool_that_was_added_does_not_move_the_others():
    """Tools are compared by name; without names, place by place."""
    extra = {"name": "shell", "description": "Runs.", "input_schema": {}}
    added = miss_of({"tools": [extra, *TOOLS]}, {"tools": TOOLS})
    assert [line.split(":")[0] for line in added.differs] == ['tools[0] "shell"']
    gone = miss_of({"tools": TOOLS[1:]}, {"tools": TOOLS})
    assert gone.differs[0].startswith('tools[0] "read": recorded {')
    assert gone.differs[0].endswith("now nothing")
    turned = miss_of({"tools": TOOLS[::-1]}, {"tools": TOOLS})
    assert turned.differs == ('tools: recorded ["read", "write"], now ["write", "read"]',)
    nameless = miss_of({"tools": [{"type": "y"}]}, {"tools": [{"type": "x"}]})
    assert nameless.path == "tools[0].type"


def test_one_and_one_point_nothing_are_two_values():
    """Equal for Python, another key on the wire."""
    miss = miss_of({"temperature": 1.0}, {"temperature": 1})
    assert miss.differs == ("temperature: recorded 1, now 1.0",)
    assert miss.differing == ("parameters",)
    signed = miss_of({"temperature": -0.0}, {"temperature": 0.0})
    assert signed.differs == ('temperature: recorded "0.0", now "-0.0"',)


ASKED = {
    "anthropic": {"content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {}}]},
    "openai-chat": {
        "choices": [{"message": {"tool_calls": [
            {"id": "c1", "function": {"name": "read", "arguments": "{}"}}]}}]
    },
    "openai-responses": {
        "output": [{"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}]
    },
    "gemini": {"candidates": [{"content": {"parts": [{"functionCall": {"name": "read"}}]}}]},
}  # fmt: skip


def conversation(dialect, output):
    """Return a first turn and a second one that carries an output."""
    if dialect == "anthropic":
        block = {"type": "tool_result", "tool_use_id": "c1", "content": output}
        return {"messages": ["a"]}, {"messages": ["a", "b", {"role": "user", "content": [block]}]}
    if dialect == "openai-chat":
        result = {"role": "tool", "tool_call_id": "c1", "content": output}
        return {"messages": [{"role": "user"}]}, {"messages": [{"role": "user"}, {}, result]}
    if dialect == "openai-responses":
        result = {"type": "function_call_output", "call_id": "c1", "output": output}
        return {"input": [{"role": "user"}]}, {"input": [{"role": "user"}, {}, result]}
    part = {"functionResponse": {"name": "read", "response": {"output": output}}}
    first = {"contents": [{"role": "user"}]}
    return first, {"contents": [{"role": "user"}, {}, {"role": "user", "parts": [part]}]}


@pytest.mark.parametrize("dialect", PATHS)
def test_another_output_of_a_tool_is_told_with_the_tool(dialect):
    """The most usual miss: tests that print how long they took."""
    first, second = conversation(dialect, "12 passed in 0.31 s")
    _, now = conversation(dialect, "12 passed in 0.27 s")
    tape = [
        exchange(request(first, dialect=dialect), json.dumps(ASKED[dialect]).encode()),
        exchange(request(second, dialect=dialect)),
    ]
    miss = explain(request(now, dialect=dialect), tape, frozenset({0}))
    assert (miss.nearest, miss.differing) == (1, ("messages",))
    assert miss.words == "12 passed in 0.[-31-]{+27+} s"
    assert miss.kind == 'the output of a tool differs: "read"'


def test_of_parallel_outputs_the_one_that_differs_is_told():
    """The others came out as they were recorded."""

    def results(*outputs):
        return [
            {"type": "tool_result", "tool_use_id": f"c{n}", "content": text}
            for n, text in enumerate(outputs)
        ]

    uses = [{"type": "tool_use", "id": f"c{n}", "name": f"tool{n}", "input": {}} for n in (0, 1)]
    first = exchange(request(say("a")), json.dumps({"content": uses}).encode())
    then, now = (say("a", "b", results("same", text)) for text in ("old", "new"))
    miss = explain(request(now), [first, exchange(request(then))], frozenset({0}))
    assert miss.kind == 'the output of a tool differs: "tool1"'


def test_of_equals_the_one_that_was_not_played_is_the_nearest():
    """A request that is repeated with a change is compared with the repetition."""
    tape = recorded(say("a"), say("a"))
    assert explain(request(say("b")), tape, frozenset({0})).nearest == 1
    assert explain(request(say("b")), tape, frozenset()).nearest == 0


def test_of_equal_beginnings_the_one_of_the_same_length_is_the_nearest():
    """Wherever on the tape it is."""
    tape = recorded(say("a", "b", "c", "d"), say("a", "b"))
    assert explain(request(say("a", "x")), tape, frozenset()).nearest == 1


def test_other_messages_are_told_apart():
    """A message, the model's own words, and a conversation of another length."""
    user = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    other = miss_of({"messages": [{**user[0], "content": "x"}, user[1]]}, {"messages": user})
    assert other.kind == "a message differs"
    changed = miss_of({"messages": [user[0], {**user[1], "content": "x"}]}, {"messages": user})
    assert changed.kind == "what the model said comes back changed"
    longer = miss_of({"messages": [*user, user[0]]}, {"messages": user})
    assert longer.kind == "the conversation has another length"
    assert (longer.path, longer.words) == ("messages", '{+{"content": "a", "role": "user"}+}')


def test_headers_and_query_are_named():
    """They belong to the key as well."""
    old = exchange(request(say("a"), headers={"anthropic-version": "1"}))
    miss = explain(request(say("a"), headers={"anthropic-version": "2"}), [old], frozenset())
    assert miss.differs == ('headers.anthropic-version: recorded "1", now "2"',)
    assert (miss.differing, miss.kind) == (("headers",), "a header differs")
    asked = explain(request(say("a"), query=[("a", "1")]), recorded(say("a")), frozenset())
    assert asked.differing == ("query",)


def test_a_changed_prompt_that_leads_the_messages_does_not_hide_the_turn():
    """Chat completions keep it there; the turn of the same length is the nearest."""

    def talk(system, *texts):
        messages = [{"role": "system", "content": system}]
        return {"messages": [*messages, *({"role": "user", "content": text} for text in texts)]}

    tape = recorded(
        talk("s", "a"), talk("s", "a", "b"), talk("s", "a", "b", "c"), dialect="openai-chat"
    )
    miss = explain(request(talk("t", "a", "b"), dialect="openai-chat"), tape, frozenset())
    assert (miss.nearest, miss.differs) == (1, ('messages[0].content: recorded "s", now "t"',))


def test_a_long_conversation_is_explained_at_once():
    """Pieces that are shared are not looked into: no second of a time limit is lost."""
    texts = [f"{number} {'word ' * 600}" for number in range(60)]
    bodies = [say(*texts[: number + 1]) for number in range(60)]
    keying = Keying(Cleaner(redactor=Redactor({}), places={}))
    tape = []
    for body in bodies:
        data = json.dumps(body).encode()
        tape.append(exchange(keying.keyed(DIALECTS["anthropic"], "POST", "/v1/messages", data)))
    now = request(say(*texts[:59], "other"))
    times = []
    for _ in range(5):
        begun = time.process_time()
        miss = explain(now, tape, frozenset(range(59)))
        times.append(time.process_time() - begun)
    assert (miss.nearest, miss.path) == (59, "messages[59].content")
    assert min(times) < 0.02


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-1, 1) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "type", "name", "content", "x"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
bodies = st.dictionaries(
    st.sampled_from(["system", "tools", "messages", "input", "contents", "instructions", "n"]),
    values,
    max_size=4,
)


@given(st.sampled_from(sorted(PATHS)), bodies, st.lists(bodies, min_size=1, max_size=3))
def test_any_two_requests_can_be_told_apart(dialect, now, then):
    """Whatever clients send: a difference is named when and only when there is one."""
    asked, tape = request(now, dialect=dialect), recorded(*then, dialect=dialect)
    miss = explain(asked, tape, frozenset())
    assert miss.played == any(one.key == asked.key for one in tape)
    if not miss.played:
        assert miss.differs
        assert miss.path
        assert miss.differing
        assert miss.kind
        assert set(miss.equal).isdisjoint(miss.differing)
        assert miss.explanation.startswith("the request matches no recorded exchange")
