"""Tasks that a policy names: each must be one of the suite, or what it asks for is never asked."""

from __future__ import annotations

from evalgate.commands.project import State
from evalgate.errors import UsageError


def require_policy_tasks(state: State) -> None:
    """Refuse a policy that names a task which the suite of its own state does not have."""
    names = [task.id for task in state.tasks]
    for key, task in _named(state):
        if task not in names:
            message = f"{state.config.source}: policy.{key}: the suite has no task {task!r}"
            known = f"it has: {', '.join(names[:8])}" if names else "its suite is empty"
            raise UsageError(message, hint=f"mend the name, or take it out; {known}")


def unknown_must_pass(base: State) -> tuple[str, ...]:
    """Say which tasks must pass by a base's policy, and are none of its suite."""
    names = {task.id for task in base.tasks}
    return tuple(
        f"must pass, and the suite has no such task: {task}"
        for task in base.config.policy.must_pass
        if task not in names
    )


def _named(state: State) -> list[tuple[str, str]]:
    policy = state.config.policy
    shelved = [(f"quarantine.{one.task}", one.task) for one in policy.quarantine]
    return [*(("must_pass", task) for task in policy.must_pass), *shelved]
