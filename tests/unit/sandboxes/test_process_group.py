"""What is looked at before a program is started."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalgate.sandboxes.process_group import missing_program

_NOBODY = 65534


@pytest.fixture
def user() -> Iterator[None]:
    """Be a user whom modes hold back."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(_NOBODY)
    yield
    os.seteuid(before)


@pytest.mark.usefixtures("user")
def test_a_program_that_may_be_run_and_not_read_is_there() -> None:
    """Nothing is missing for it to start; whether it does is told by the start."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "tool")
        program.write_bytes(b"\x7fELF")
        program.chmod(0o111)
        with pytest.raises(PermissionError):
            program.read_bytes()
        assert missing_program("tool", folder, "/") is None
        assert missing_program("./tool", "/nowhere", folder) is None
        assert missing_program("gone", folder, "/") == "gone: no such program"
