"""Hostile programs in every kind of sandbox: what is not held is written down, and no more."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalgate.protocols import SandboxProvider, Stage
from tests.contracts.attacks import ATTACKS, KNOWN, Attack, table

README = Path(__file__).parents[2] / "README.md"

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
    """An attack reaches nothing, unless the table says that this provider does not hold it."""
    known = attack.name in KNOWN[provider.name]
    secret = tmp_path / "secret"
    secret.write_text("planted")
    words = {"SECRET": str(secret), "HOSTS": repr(addresses()), "PORT": str(port)}
    code = attack.code.replace("OWNER", str(os.getpid()))
    for word, value in words.items():
        code = code.replace(word, value)
    argv = ["python3", "-I", "-S", "-c", code]
    with provider.open_sandbox() as sandbox:
        stage = Stage(trees={}, argv=argv, timeout=attack.timeout)
        result = sandbox.run(stage, threading.Event())
    reached = [line for line in result.log.decode().splitlines() if line not in {"", "Killed"}]
    assert known or reached == []


def test_the_readme_says_what_is_held() -> None:
    """The table of the README is made of this list."""
    assert table() in README.read_text(encoding="utf-8")
