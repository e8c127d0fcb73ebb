"""Trajectory files: what is written is of the format, and comes back as it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.trajectory import NO_USAGE, Opening, Step, ToolCall, Trajectory, Usage
from evalgate.errors import UsageError
from evalgate.store.atif import VERSION, Origin, dump_atif
from evalgate.store.atif_reading import load_atif

ORIGIN = Origin(session="paginate#1", agent="pi", version="0123456789ab")

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
counts = st.none() | st.integers(0, 10**9)
seconds = st.floats(0, 1e6).map(lambda value: round(value, 3))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
calls = st.builds(
    ToolCall,
    name=words,
    call_id=st.sampled_from(["", "0", "call#1", "toolu_1"]),
    input=values,
    output=st.none() | words,
    ok=st.none() | st.booleans(),
    seconds=st.none() | seconds,
)
steps = st.builds(
    Step,
    text=words,
    reasoning=words,
    calls=st.lists(calls, max_size=3).map(tuple),
    usage=st.builds(
        Usage,
        input_tokens=counts,
        output_tokens=counts,
        cache_read_tokens=counts,
        cache_write_tokens=counts,
    ),
    model=st.none() | words,
    conversation=st.integers(0, 2),
    began=seconds,
    seconds=seconds,
)
openings = st.builds(
    Opening,
    system=words,
    prompt=words,
    tools=st.lists(st.dictionaries(words, values, max_size=2), max_size=2).map(tuple),
)


def trajectory(*made, opening=None):
    """Return the trajectory that these steps make."""
    answers = [step.text for step in made if not step.conversation]
    return Trajectory(
        calls=tuple(call for step in made for call in step.calls),
        turns=len(made),
        final_answer=(answers[-1] or None) if answers else None,
        steps=made,
        opening=opening or Opening(),
    )


def written(*made, origin=ORIGIN, **more):
    """Return the file of these steps, parsed."""
    return json.loads(dump_atif(trajectory(*made, **more), origin))


def read(value):
    """Return the trajectory of a file given as a value."""
    return load_atif(json.dumps(value), name="t.json")


@given(st.lists(steps, max_size=4), openings)
def test_what_is_written_comes_back(made, opening):
    """Whatever a provider says: ids used again, inputs that are no objects, unknown counts."""
    whole = trajectory(*made, opening=opening)
    text = dump_atif(whole, ORIGIN)
    assert load_atif(text, name="t.json") == whole
    assert dump_atif(whole, ORIGIN) == text


@given(st.lists(steps, max_size=4), openings)
def test_what_is_written_is_of_the_format(made, opening):
    """The rules that its own validator checks."""
    file = written(*made, opening=opening)
    allowed = {"schema_version", "session_id", "agent", "steps", "final_metrics", "extra"}
    assert file.keys() <= allowed
    assert file["steps"]
    assert [step["step_id"] for step in file["steps"]] == [*range(1, len(file["steps"]) + 1)]
    given_ids = []
    for step in file["steps"]:
        assert step["source"] in {"system", "user", "agent"}
        assert isinstance(step["message"], str)
        if step["source"] != "agent":
            assert step.keys() == {"step_id", "source", "message"}
        ids = [call["tool_call_id"] for call in step.get("tool_calls", [])]
        given_ids += ids
        assert all(isinstance(call["arguments"], dict) for call in step.get("tool_calls", []))
        results = step.get("observation", {}).get("results", [])
        assert {result["source_call_id"] for result in results} <= set(ids)
    assert "" not in given_ids
    assert len(set(given_ids)) == len(given_ids)


def test_a_file_as_it_is_read_by_others():
    """System, user and agent steps; success and duration stand in an extra."""
    call = ToolCall(
        name="ls", call_id="c1", input={"path": "."}, output="a.txt", ok=True, seconds=0.5
    )
    usage = Usage(input_tokens=7, output_tokens=3, cache_read_tokens=5, cache_write_tokens=2)
    step = Step(
        text="I look.", reasoning="Hm.", calls=(call,), usage=usage, model="m-1",
        began=1.0, seconds=2.0,
    )  # fmt: skip
    origin = Origin(
        session="paginate#1", agent="pi 0.73", version="0123456789ab", model="m-1", usage=usage,
        cost_usd=0.25, about={"task": "paginate", "n": 1},
    )  # fmt: skip
    tool = {"type": "function", "function": {"name": "ls"}}
    opening = Opening(system="Be careful.", prompt="Mend it.", tools=(tool,))
    assert written(step, origin=origin, opening=opening) == {
        "schema_version": "ATIF-v1.8",
        "session_id": "paginate#1",
        "agent": {
            "name": "pi 0.73",
            "version": "0123456789ab",
            "model_name": "m-1",
            "tool_definitions": [tool],
        },
        "steps": [
            {"step_id": 1, "source": "system", "message": "Be careful."},
            {"step_id": 2, "source": "user", "message": "Mend it."},
            {
                "step_id": 3,
                "source": "agent",
                "model_name": "m-1",
                "message": "I look.",
                "reasoning_content": "Hm.",
                "tool_calls": [
                    {
                        "tool_call_id": "c1",
                        "function_name": "ls",
                        "arguments": {"path": "."},
                        "extra": {"evalgate": {"ok": True, "seconds": 0.5}},
                    }
                ],
                "observation": {"results": [{"source_call_id": "c1", "content": "a.txt"}]},
                "metrics": {
                    # Cached tokens are part of the prompt here.
                    "prompt_tokens": 14,
                    "completion_tokens": 3,
                    "cached_tokens": 5,
                    "extra": {"evalgate": {"cache_write_tokens": 2}},
                },
                "llm_call_count": 1,
                "extra": {"evalgate": {"began": 1.0, "seconds": 2.0}},
            },
        ],
        "final_metrics": {
            "total_prompt_tokens": 14,
            "total_completion_tokens": 3,
            "total_cached_tokens": 5,
            "total_cost_usd": 0.25,
            "total_steps": 3,
        },
        "extra": {"evalgate": {"task": "paginate", "n": 1}},
    }


def test_unknown_counts_are_left_out():
    """Nothing is counted that was not measured; what is known of it is kept aside."""
    (_, silent, half, none) = written(
        Step(usage=Usage()), Step(usage=Usage(input_tokens=4)), Step(usage=NO_USAGE)
    )["steps"]
    assert "metrics" not in silent
    assert half["metrics"] == {"extra": {"evalgate": {"input_tokens": 4}}}
    assert none["metrics"] == {"prompt_tokens": 0, "completion_tokens": 0, "cached_tokens": 0}


def test_what_is_nested_too_deeply_is_cut():
    """A reply of a thousand brackets ends no trial."""
    deep = json.loads("[" * 900 + "]" * 900)
    found = load_atif(
        dump_atif(trajectory(Step(calls=(ToolCall(name="t", call_id="c", input=deep),))), ORIGIN),
        name="t.json",
    )
    assert "nested too deeply" in json.dumps(found.calls[0].input)


def foreign(**more):
    """Return a file as another program may write it."""
    call = {"tool_call_id": "c", "function_name": "now", "arguments": {}}
    return {
        "schema_version": "ATIF-v1.2",
        "agent": {"name": "other", "version": "1"},
        "steps": [
            {"step_id": 1, "source": "user", "message": [{"type": "text", "text": "What time?"}]},
            {
                "step_id": 2,
                "timestamp": "2026-01-01T00:00:00Z",
                "source": "agent",
                "message": "I look.",
                "reasoning_content": "Hm.",
                "tool_calls": [call],
                "observation": {
                    "results": [
                        {"source_call_id": "c", "content": "12:00"},
                        {"source_call_id": "c", "content": [{"type": "image", "source": {}}]},
                        {"content": "of no call"},
                    ]
                },
                "metrics": {"prompt_tokens": 120, "completion_tokens": 18, "cached_tokens": 100},
            },
            {"step_id": 3, "source": "user", "message": "Thanks."},
            {"step_id": 4, "source": "agent", "message": "Twelve."},
        ],
        **more,
    }


def test_a_file_of_another_program_is_read_as_far_as_it_goes():
    """Older versions, parts instead of texts, no extra."""
    found = read(foreign())
    assert (found.opening.prompt, found.turns, found.final_answer) == ("What time?", 2, "Twelve.")
    (call,) = found.calls
    assert (call.name, call.input, call.output) == ("now", {}, "12:00\n[image]")
    assert (call.ok, call.seconds) == (None, None)
    assert found.steps[0].usage == Usage(
        input_tokens=20, output_tokens=18, cache_read_tokens=100, cache_write_tokens=0
    )
    assert found.steps[1].usage == Usage()
    assert [step.reasoning for step in found.steps] == ["Hm.", ""]


@pytest.mark.parametrize("version", ["ATIF-v1.9", "ATIF-v2.0", "atif-v1.8", "1.8", ""])
def test_a_version_that_is_not_known_is_refused_by_name(version):
    """And the newest that is known is named."""
    with pytest.raises(UsageError, match=f"t.json: schema_version {version!r}.*{VERSION}") as error:
        read(foreign(schema_version=version))
    assert "upgrade" in (error.value.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "null", "{", "NaN", "[" * 9999,
        json.dumps(foreign(steps=None))[:-9],
        json.dumps(foreign(steps={})),
        json.dumps(foreign(steps=[3])),
        json.dumps(foreign(steps=[{"source": "agent"}])),
        json.dumps(foreign(steps=[{"source": "agent", "message": 7}])),
        json.dumps(foreign(steps=[{"source": "agent", "message": "", "tool_calls": [{}]}])),
        json.dumps(foreign(agent="pi")),
        json.dumps(foreign()).replace("120", "1.5"),
        json.dumps(foreign()).replace("120", "NaN"),
    ],
)  # fmt: skip
def test_what_is_no_trajectory_is_refused_with_its_name(text):
    """A damaged file is no traceback."""
    with pytest.raises(UsageError, match=r"^t\.json: "):
        load_atif(text, name="t.json")
