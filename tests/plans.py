"""Plans of runs, small enough to read in a test."""

from __future__ import annotations

from typing import Any

from evalgate.core.run_plan import RunPlan
from evalgate.core.trial import Evidence


def plan(**more: Any) -> RunPlan:
    """Return a plan of no trial, and what is otherwise."""
    known: dict[str, Any] = {
        "kind": "run",
        "evidence": Evidence.MEASURED,
        "evalgate": "0.1.0",
        "fingerprint": "f" * 64,
        "parts": {"prompt": "p"},
        "suite": "s",
        "sandbox": "process",
        "agent": "",
        "tasks": {"a": "1", "b": "2"},
        "trials": (),
    }
    return RunPlan(**{**known, **more})
