"""A claim graded by some provider, with nothing that other claims have left."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from evalgate.checks.table import build_checks
from evalgate.core.claim import Claim
from evalgate.core.redaction import Redactor
from evalgate.core.task import CheckSpec, Task
from evalgate.core.trajectory import Trajectory
from evalgate.protocols import Check, SandboxProvider
from evalgate.runner.control import Controls
from evalgate.runner.grade import Grade, grade


def grade_by(
    provider: SandboxProvider,
    task: Task,
    claim: Claim,
    *,
    checks: tuple[tuple[CheckSpec, Check], ...] | None = None,
    stop: threading.Event | None = None,
    secrets: Mapping[str, str] | None = None,
    trajectory: Trajectory | None = None,
) -> Grade:
    """Grade it by the task's own checks, or by others."""
    return grade(
        provider,
        task,
        build_checks(task) if checks is None else checks,
        claim,
        stop or threading.Event(),
        Controls(),
        redactor=Redactor(secrets or {}),
        trajectory=trajectory,
    )
