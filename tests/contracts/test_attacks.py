"""Hostile programs in every kind of sandbox: what is not held is written down, and no more."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalgate.protocols import SandboxProvider, Stage, StageResult, StageStatus
from evalgate.sandboxes.table import PROVIDERS
from tests.contracts.attacks import ATTACKS, BEGAN, ENDED, KNOWN, Attack, brief, table

ROOT = Path(__file__).parents[2]

#: Nothing that does harm is let loose where nothing would hold it.
CASES = [
    pytest.param(name, attack, id=f"{name}-{attack.name}")
    for name, known in KNOWN.items()
    for attack in ATTACKS
    if attack.harmless or attack.name not in known
]


@pytest.fixture
def port() -> Iterator[int]:
    """Listen on every address of the host."""
    with socket.create_server(("0.0.0.0", 0)) as server:
        yield server.getsockname()[1]


def addresses() -> list[str]:
    """Return the host's addresses beside the loopback."""
    said = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False).stdout
    return [one for one in said.split() if ":" not in one]


@pytest.mark.parametrize(("provider", "attack"), CASES, indirect=["provider"])
def test_what_is_promised_is_held(
    provider: SandboxProvider, attack: Attack, port: int, tmp_path: Path
) -> None:
    """An attack is tried to its end; it reaches nothing, but what the table says is not held."""
    secret = tmp_path / "secret"
    secret.write_text("planted")
    env = {
        "SECRET": str(secret),
        "HOSTS": " ".join(addresses()),
        "PORT": str(port),
        "OWNER": str(os.getpid()),
    }
    argv = ["python3", "-I", "-S", "-c", attack.program]
    with provider.open_sandbox() as sandbox:
        stage = Stage(trees={}, argv=argv, env=env, timeout=attack.timeout)
        result = sandbox.run(stage, threading.Event())
    began, *reached = result.log.decode().splitlines()
    assert began == BEGAN
    if not (attack.fatal and was_killed(result)):
        assert (result.status, result.exit_code) == (StageStatus.EXITED, 0), (result, reached)
        assert reached.pop() == ENDED
    known = attack.name in KNOWN[provider.name]
    if not known:
        assert [line for line in reached if line != "Killed"] == []
    elif not attack.needs:
        assert reached, "the table says that this is not held"


def was_killed(result: StageResult) -> bool:
    """Tell whether the kernel ended what ran; not every engine tells that it was for memory."""
    return result.status is StageStatus.MEMORY or result.exit_code == 128 + signal.SIGKILL


def test_each_provider_of_the_table_is_attacked() -> None:
    """What a new one does not hold is known before it is there."""
    assert set(KNOWN) == set(PROVIDERS)


@pytest.mark.parametrize(("page", "said"), [("docs/security.md", table()), ("README.md", brief())])
def test_the_pages_say_what_is_held(page: str, said: str) -> None:
    """The tables of README and of the page on security are made of this list."""
    assert said in (ROOT / page).read_text(encoding="utf-8")
