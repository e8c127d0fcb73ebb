"""The `[sandbox]` table."""

from __future__ import annotations

import pytest

from evalgate.core.sandbox import SandboxSpec, read_sandbox
from evalgate.core.schema import Reader, Source
from evalgate.errors import UsageError


def read(text: str) -> SandboxSpec:
    source = Source("evalgate.toml", f"[sandbox]\n{text}")
    return read_sandbox(Reader(source.parse(), source).table("sandbox"))


def test_every_key_is_read() -> None:
    """Nothing said is the defaults; what is said is what is taken."""
    assert read("") == SandboxSpec()
    text = 'use = "docker"\ndockerfile = "./box/Dockerfile"\nmemory_mb = 512\nwork_mb = 64\n'
    spec = read(text + "cpus = 0.5\nprocesses = 99\nsetup_network = true\n")
    assert (spec.dockerfile, spec.context) == ("box/Dockerfile", "box/")
    assert (spec.memory_mb, spec.work_mb, spec.cpus, spec.processes) == (512, 64, 0.5, 99)
    assert spec.setup_network
    assert read('dockerfile = "Dockerfile"').context == ""


@pytest.mark.parametrize(
    "text",
    [
        'image = "a"\ndockerfile = "b"',
        "memory_mb = 1",
        "work_mb = 0",
        "cpus = 0",
        "processes = 0",
        "setup_network = 1",
        "memory = 1",
    ],
)
def test_what_can_not_be_is_refused(text: str) -> None:
    """With file and line."""
    with pytest.raises(UsageError, match=r"evalgate\.toml"):
        read(text)
