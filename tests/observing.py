"""A finished trial, made up for checks to look at."""

from __future__ import annotations

from collections.abc import Mapping

from evalgate.core.claim import Claim
from evalgate.core.files import File
from evalgate.core.json import Json
from evalgate.core.observation import CommandReport, Observation
from evalgate.core.task import Task
from evalgate.core.trajectory import Step, ToolCall, Trajectory


def call(name: str, *, ok: bool | None = True, **given: Json) -> ToolCall:
    """Return a tool call with its arguments."""
    return ToolCall(name=name, call_id="1", input=given, output="", ok=ok)


def conduct(*steps: str | ToolCall | tuple[str, ToolCall], answer: str | None = None) -> Trajectory:
    """Return what an agent did: in each turn it says something, calls a tool, or both."""
    pairs = [one if isinstance(one, tuple) else (one,) for one in steps]
    made = [
        Step(
            text="".join(one for one in pair if isinstance(one, str)),
            calls=tuple(one for one in pair if isinstance(one, ToolCall)),
        )
        for pair in pairs
    ]
    said = [step.text for step in made if step.text]
    return Trajectory(
        calls=tuple(one for step in made for one in step.calls),
        turns=len(made),
        final_answer=answer if answer is not None or not said else said[-1],
        steps=tuple(made),
    )


def answered(text: str) -> Observation:
    """Return a trial whose agent said that, and did nothing."""
    return observed(trajectory=conduct(text))


def observed(
    before: Mapping[str, str] | None = None,
    after: Mapping[str, str | None] | None = None,
    *,
    expected: tuple[str, ...] = (),
    trajectory: Trajectory | None = None,
    commands: Mapping[str, tuple[int | None, str]] | None = None,
    logs: Mapping[str, str] | None = None,
) -> Observation:
    """Return a trial that began with some files and changed others, None for those deleted."""
    workspace = {path: File(data=text.encode()) for path, text in (before or {}).items()}
    left = after or {}
    claim = Claim(
        changed={path: File(data=text.encode()) for path, text in left.items() if text is not None},
        deleted=tuple(path for path, text in left.items() if text is None),
    )
    task = Task(
        id="t", instruction="", workspace=workspace, tests={}, digest="", expected_files=expected
    )
    return Observation(
        task=task,
        workspace=claim.applied_to(workspace),
        claim=claim,
        commands={
            name: CommandReport(exit_code=code, output=text)
            for name, (code, text) in (commands or {}).items()
        },
        logs={path: File(data=text.encode()) for path, text in (logs or {}).items()},
        trajectory=trajectory,
    )
