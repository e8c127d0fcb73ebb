"""An engine that stops to answer while a program runs, in a real container."""

from __future__ import annotations

import contextlib
import logging
import threading
from pathlib import Path

import pytest
from docker.errors import APIError

from evalgate.protocols import Stage, StageResult, StageStatus
from evalgate.sandboxes.container import ContainerProvider, Containers
from evalgate.sandboxes.docker import Engine
from tests.hanging import open_hanging_way


def test_an_interrupted_stage_does_not_wait_for_it(engine: Engine, tmp_path: Path, caplog) -> None:
    """It is asked for no more than a sign of life; the room stays for the next start."""
    stop, results = threading.Event(), []
    with open_hanging_way(tmp_path / "way", engine.address) as way:
        provider = ContainerProvider("docker", Engine(way.address), Containers(), tmp_path)
        provider.prepare()
        stage = Stage(trees={}, argv=["sh", "-c", "echo begun; exec sleep 60"], timeout=60)

        def run() -> StageResult:
            with provider.open_sandbox() as sandbox:
                return sandbox.run(stage, stop)

        thread = threading.Thread(target=lambda: results.append(run()))
        thread.start()
        while not (mine := [name for name in engine.ours() if running(engine, name, tmp_path)]):
            assert thread.is_alive()
        way.hangs.set()
        with caplog.at_level(logging.WARNING):
            stop.set()
            thread.join()
    assert results[0].status is StageStatus.INTERRUPTED
    assert way.asked
    assert all("/_ping " in line for line in way.asked)
    assert "can not be removed" in caplog.text
    assert (tmp_path / mine[0]).is_dir()
    assert engine.remove(mine[0])


@pytest.mark.parametrize("address", ["tcp://[::1", "tcp://127.0.0.1:99999", "tcp://h:abc", "junk"])
def test_an_address_that_is_none_is_no_fault_of_ours(address: str) -> None:
    """It is said like any engine that does not answer."""
    assert address in (Engine(address).unavailable() or "")


def running(engine: Engine, name: str, rooms: Path) -> bool:
    """Tell whether the program of a room below ``rooms`` runs; a first try may be gone again."""
    if not (rooms / name).is_dir():
        return False
    with contextlib.suppress(APIError):
        return "sleep 60" in str(engine._api.top(name)["Processes"])
    return False
