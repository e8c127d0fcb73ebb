"""Fault plans: what they say, and what is wrong with one that says it badly."""

from __future__ import annotations

import pytest

from evalgate.core.faults import Fault, FaultKind, FaultPlan, load_fault_plan
from evalgate.core.schema import Source
from evalgate.errors import UsageError


def plan(text: str, *, head: str = "format = 1\n") -> FaultPlan:
    return load_fault_plan(Source("bad-day.toml", head + text))


def test_a_plan_is_read() -> None:
    """Every key of every kind, in the plan's order."""
    read = plan(
        '[[fault]]\nkind = "status"\nturn = 2\nstatus = 429\nheaders = { retry-after = "0" }\n'
        '[[fault]]\nkind = "drop"\nat = 3\ntimes = 2\nafter_bytes = 500\ntask = "web/*"\n'
        '[[fault]]\nkind = "stall"\nat = 1\nseconds = 2.5\n'
        '[[fault]]\nkind = "sse-error"\nat = 1\nafter_events = 0\n'
    )
    assert read.faults == (
        Fault(kind=FaultKind.STATUS, turn=2, status=429, headers={"retry-after": "0"}),
        Fault(kind=FaultKind.DROP, at=3, times=2, status=0, after_bytes=500, task="web/*"),
        Fault(kind=FaultKind.STALL, at=1, status=0, seconds=2.5),
        Fault(kind=FaultKind.SSE_ERROR, at=1, status=0, after_events=0),
    )
    assert [one.title for one in read.faults] == [
        "status 429",
        "drop",
        "stall of 2.5 s",
        "sse-error",
    ]
    assert len(read.of_task("web/login")) == 4
    assert len(read.of_task("cli")) == 3


def test_a_plan_is_named_by_its_content() -> None:
    """Comments and order of keys make no other plan; a number does."""
    one = plan('[[fault]]\nkind = "reset"\nat = 1\n')
    assert plan('# why\n[[fault]]\nat = 1\nkind = "reset"\n').digest == one.digest
    assert plan('[[fault]]\nat = 2\nkind = "reset"\n').digest != one.digest


def test_where_a_fault_fits() -> None:
    """``at`` is reached by number, ``turn`` only while that turn is asked for."""
    at, turn = Fault(kind=FaultKind.RESET, at=2), Fault(kind=FaultKind.RESET, turn=2)
    assert [at.fits(request=n, turn=None) for n in (1, 2, 3)] == [False, True, True]
    assert [turn.fits(request=9, turn=n) for n in (1, 2, 3, None)] == [False, True, False, False]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no fault"),
        ("[[fault]]\nat = 1\n", "kind: must be one of status, reset"),
        ('[[fault]]\nat = 1\nkind = "flood"\n', "kind: must be one of"),
        ('[[fault]]\nkind = "reset"\n', "either at or turn"),
        ('[[fault]]\nkind = "reset"\nat = 1\nturn = 1\n', "either at or turn"),
        ('[[fault]]\nkind = "reset"\nat = 0\n', "bad-day.toml:4: fault.at: "),
        ('[[fault]]\nkind = "reset"\nat = 1\ntimes = 0\n', "fault.times"),
        ('[[fault]]\nkind = "reset"\nat = 1\nstatus = 500\n', "status: unknown key"),
        ('[[fault]]\nkind = "status"\nat = 1\n', "'status' is missing"),
        ('[[fault]]\nkind = "status"\nat = 1\nstatus = 200\n', "fault.status"),
        ('[[fault]]\nkind = "status"\nat = 1\nstatus = 600\n', "400 to 599"),
        ('[[fault]]\nkind = "status"\nat = 1\nstatus = 500\nheaders = { a = 1 }\n', "a string"),
        (
            '[[fault]]\nkind = "status"\nat = 1\nstatus = 500\nheaders = { a = "\\n" }\n',
            "can not be sent",
        ),
        (
            '[[fault]]\nkind = "status"\nat = 1\nstatus = 500\nheaders.Content-Length = "9"\n',
            "frames the answer",
        ),
        ('[[fault]]\nkind = "stall"\nat = 1\n', "'seconds' is missing"),
        ('[[fault]]\nkind = "stall"\nat = 1\nseconds = 1e9\n', "at most 3600"),
        ('[[fault]]\nkind = "drop"\nat = 1\nafter_bytes = 1\nafter_events = 1\n', "either after"),
        ('[[fault]]\nkind = "sse-error"\nat = 1\nafter_bytes = 1\n', "between events"),
        ("[fault]\nat = 1\n", "must be a list of tables"),
        ('[[fault]]\nkind = "reset"\nat = 1\n[more]\n', "unknown key"),
        ("[[fault\n", "bad-day.toml"),
    ],
)
def test_what_is_wrong_is_named(text: str, words: str) -> None:
    """File and key, and never a traceback."""
    with pytest.raises(UsageError) as caught:
        plan(text)
    assert caught.value.message.startswith("bad-day.toml")
    assert words in caught.value.message


@pytest.mark.parametrize("head", ["", "format = 2\n", "format = 0\n", 'format = "1"\n'])
def test_the_format_is_asked_for(head: str) -> None:
    """A plan of a later version is refused by name."""
    with pytest.raises(UsageError, match="format"):
        plan('[[fault]]\nkind = "reset"\nat = 1\n', head=head)
