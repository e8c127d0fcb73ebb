"""What bwrap says when it can not start a program is handed on whole."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from evalgate.protocols import Stage, StageStatus
from evalgate.sandboxes.bwrap import BwrapProvider


def test_words_are_not_cut_before_secrets_are_taken_out() -> None:
    """Half a secret could not be found any more."""
    provider = BwrapProvider()
    if provider.unavailable() is not None:
        pytest.skip("bwrap can not run here")
    name = f"/no/sk-{'s3cret' * 6}/{'long/' * 80}program"
    with provider.open_sandbox() as sandbox:
        result = sandbox.run(Stage(trees={}, argv=[name], timeout=20), threading.Event())
    assert result.status is StageStatus.NOT_FOUND
    assert name in result.detail


def open_files() -> int:
    """Return how many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_stage_that_can_not_be_written_down_leaves_nothing_open() -> None:
    """The pipe that bwrap would tell its state by is closed at both ends."""
    provider = BwrapProvider()
    if provider.unavailable() is not None:
        pytest.skip("bwrap can not run here")
    stage = Stage(trees={}, argv=["true"], timeout=20, env={"WORD": "\ud800"})
    before = open_files()
    with provider.open_sandbox() as sandbox, pytest.raises(UnicodeEncodeError):
        sandbox.run(stage, threading.Event())
    assert open_files() == before
