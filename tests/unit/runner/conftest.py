"""Small tasks that are graded for real, in a plain process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from evalgate.core.claim import Claim
from evalgate.core.files import File
from evalgate.core.task import CheckSpec, Limits, Task
from evalgate.protocols import SandboxProvider
from evalgate.runner.grade import Grade
from evalgate.sandboxes.process import ProcessProvider
from tests.grading import grade_by

Files = dict[str, str]


@pytest.fixture
def provider(tmp_path: Path) -> SandboxProvider:
    """The provider that needs nothing but this machine."""
    return ProcessProvider(tmp_path)


@pytest.fixture(scope="session")
def claim() -> Callable[..., Claim]:
    """Make a claim from texts: ``claim({"a.py": "x = 1"}, deleted=("b.py",))``."""

    def make(changed: Files | None = None, deleted: tuple[str, ...] = ()) -> Claim:
        return Claim(
            changed={path: File(data=text.encode()) for path, text in (changed or {}).items()},
            deleted=deleted,
        )

    return make


@pytest.fixture(scope="session")
def task() -> Callable[..., Task]:
    """Make a task from a test script, with more tests and files if wanted."""

    def make(
        script: str = "exit 0\n",
        *,
        id: str = "greet",  # noqa: A002 - the name of the field
        workspace: Files | None = None,
        tests: Files | None = None,
        solution: Files | None = None,
        seconds: float = 20.0,
        **fields: object,
    ) -> Task:
        texts = {"test.sh": script, **(tests or {})}
        return Task(
            id=id,
            instruction="",
            workspace={
                path: File(data=text.encode())
                for path, text in (workspace or {"a.py": "x = 0\n"}).items()
            },
            tests={path: File(data=text.encode()) for path, text in texts.items()},
            solution={path: File(data=text.encode()) for path, text in (solution or {}).items()},
            digest=f"digest of {id}",
            limits=Limits(grade_seconds=seconds),
            **fields,
        )

    return make


@pytest.fixture
def graded(provider: SandboxProvider) -> Callable[..., Grade]:
    """Grade a claim for real."""

    def run(
        task: Task,
        claim: Claim | None = None,
        stop: threading.Event | None = None,
        secrets: dict[str, str] | None = None,
    ) -> Grade:
        return grade_by(provider, task, claim or Claim(), stop=stop, secrets=secrets)

    return run


@pytest.fixture(scope="session")
def command_check() -> Callable[..., CheckSpec]:
    """Make a check that a shell command succeeds."""

    def make(command: str, *, advisory: bool = False) -> CheckSpec:
        return CheckSpec(type="command_succeeds", params={"command": command}, advisory=advisory)

    return make
