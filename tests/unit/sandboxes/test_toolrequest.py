"""Requests and answers as they are sent: what is sound comes through, and nothing else does."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.errors import UsageError
from evalgate.sandboxes.toolanswer import ToolAnswer
from evalgate.sandboxes.toolrequest import KEEP, Exec, Read, ToolRequest, Write, load_request

WORDS = st.text(string.printable + "é\udcff", min_size=1)
MORE = st.fixed_dictionaries(
    {},
    optional={
        "timeout": st.floats(1, 1000),
        "keep": st.integers(1, KEEP),
        "cwd": WORDS,
        "stdin": st.binary(max_size=9),
    },
)
REQUESTS = st.one_of(
    st.builds(lambda command, more: Exec(command=command, **more), WORDS, MORE),
    st.builds(lambda argv, more: Exec(argv=argv, **more), st.lists(WORDS, min_size=1), MORE),
    st.builds(Read, path=WORDS),
    st.builds(Write, path=WORDS, data=st.binary(max_size=9)),
)
ANSWERS = st.builds(
    ToolAnswer,
    exit_code=st.none() | st.integers(0, 255),
    output=st.binary(max_size=9),
    data=st.none() | st.binary(max_size=9),
    size=st.none() | st.integers(0),
    late=st.booleans(),
    cancelled=st.booleans(),
    error=st.text(),
)


@given(request=REQUESTS, name=st.none() | st.integers() | st.text())
def test_a_request_comes_through(request: ToolRequest, name: object) -> None:
    """Every field of it, with the name that its sender gave it."""
    line = json.dumps({**request.dump(), "id": name}).encode()
    assert load_request(line) == (request, name)


@given(answer=ANSWERS)
def test_an_answer_comes_through(answer: ToolAnswer) -> None:
    """Every field of it."""
    assert ToolAnswer.load(json.loads(json.dumps(answer.dump()))) == answer


@given(
    document=st.dictionaries(
        st.sampled_from(
            ["exit_code", "output", "data", "bytes", "timed_out", "cancelled", "error"]
        ),
        st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.lists(st.none()),
    )
)
def test_nothing_that_is_said_inside_raises(document: dict) -> None:
    """Whoever answers there may say anything: what is left can be sent on."""
    answer = ToolAnswer.load(document)
    assert ToolAnswer.load(answer.dump()).error == answer.error


@pytest.mark.parametrize("path", [None, "", "a\0b", 7])
@pytest.mark.parametrize("kind", [Read, Write])
def test_what_is_no_path_is_no_request(kind: type, path: object) -> None:
    """Before it is sent, as when it is read."""
    with pytest.raises(UsageError, match="path: a text that is not empty"):
        kind(path=path)


def test_a_file_without_content_is_not_written() -> None:
    """An empty one is asked for as such."""
    with pytest.raises(UsageError, match="data: bytes in base64"):
        load_request(b'{"kind": "write", "path": "a"}')
    assert load_request(b'{"kind": "write", "path": "a", "data": ""}')[0] == Write(path="a")
