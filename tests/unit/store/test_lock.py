"""A lock that a dead process does not keep."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evalgate.store.lock import HeldError, hold

HOLDER = """
import sys, time
from pathlib import Path
from evalgate.store.lock import hold
with hold(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_another_process_names_itself_and_keeps_it_no_longer_than_it_lives(tmp_path: Path) -> None:
    """SIGKILL leaves the file and not the lock."""
    path = tmp_path / "a folder" / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, path], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(HeldError) as caught, hold(path):
            pytest.fail("two have it")
        assert caught.value.owner == other.pid
        other.kill()
    assert path.exists()
    with hold(path):
        pass
    assert not path.exists()


def test_it_is_given_back_after_an_error(tmp_path: Path) -> None:
    """Whatever ends the context."""
    with pytest.raises(ValueError, match="no"), hold(tmp_path / "lock"):
        raise ValueError("no")
    with hold(tmp_path / "lock"), pytest.raises(HeldError), hold(tmp_path / "lock"):
        pytest.fail("two have it")
