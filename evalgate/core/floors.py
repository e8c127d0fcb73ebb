"""What is asked of a head whatever its base does: tasks that must pass, and a least pass rate."""

from __future__ import annotations

from evalgate.core.policy import Policy
from evalgate.core.sample import Sample


def below_floor(head: Sample, policy: Policy) -> tuple[str, ...]:
    """Return what the head does not reach of the policy's absolute floors, a sentence each."""
    head = head.without(policy.quarantined)
    found = [
        f"{name} must pass and passed {task.passed} of {len(task.measured)} times"
        for name in policy.must_pass
        if (task := head.tasks.get(name)) is not None and task.passed < len(task.measured)
    ]
    rate = head.pass_rate
    if rate is not None and rate < policy.min_pass_rate:
        below = f"below {policy.min_pass_rate * 100:g} %"
        found.append(f"the mean pass rate is {100 * rate:.1f} %, {below}")
    return tuple(found)
