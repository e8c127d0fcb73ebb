"""A benchmark's last line and its exit status say the same."""

from __future__ import annotations

import json

import pytest

from benchmarks.goals import Goal, MissingError, finish, refuse


@pytest.mark.parametrize(
    ("found", "at_least", "ok"), [(2.0, False, True), (2.1, False, False), (1.9, True, False)]
)
def test_a_missed_goal_is_exit_1(capsys, found, at_least, ok):
    goal = Goal(name="cost", found=found, limit=2.0, unit="ms", at_least=at_least)
    assert finish("b", [goal], quick=True, figures={"n": 1}) == (0 if ok else 1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ok" if ok else "MISSED")
    last = json.loads(lines[-1])
    assert (last["ok"], last["goals"][0]["ok"], last["figures"]) == (ok, ok, {"n": 1})


def test_a_missing_peer_is_exit_2_and_named(capsys):
    assert refuse("b", MissingError("aimock is not installed"), quick=False) == 2
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["missing"] == "aimock is not installed"
    assert last["ok"] is False
