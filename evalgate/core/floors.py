"""What is asked of a head whatever its base does: tasks that must pass, and a least pass rate."""

from __future__ import annotations

from evalgate.core.policy import Policy
from evalgate.core.rates import counted
from evalgate.core.sample import Sample, TaskSample


def below_floor(head: Sample, policy: Policy, base: Sample | None) -> tuple[str, ...]:
    """Return what the head does not reach of the policy's absolute floors, a sentence each.

    What was not measured did not pass. Tasks that only the head has raise no mean. A base that
    is below the least pass rate as well is named, for then the change need not be the cause.
    """
    head = head.without(policy.quarantined)
    found = []
    for name in unkept(head, policy):
        task = head.tasks.get(name)
        if task is None or not task.measured:
            found.append(f"{name} must pass and was not measured")
        else:
            times = counted(len(task.measured), "time")
            found.append(f"{name} must pass and passed {task.passed} of {times}")
    if base is not None and base.tasks:
        head = head.without(head.tasks.keys() - base.tasks.keys())
    rate = head.pass_rate
    if rate is not None and rate < policy.min_pass_rate:
        below = f"below {policy.min_pass_rate * 100:g} %"
        found.append(f"the mean pass rate is {100 * rate:.1f} %, {below}{_as_before(base, policy)}")
    return tuple(found)


def unkept(head: Sample, policy: Policy) -> tuple[str, ...]:
    """Return the tasks that must pass, and did not each time that they were measured, if ever."""
    asked = [name for name in policy.must_pass if name not in policy.quarantined]
    return tuple(name for name in asked if not _passes(head.tasks.get(name)))


def _passes(task: TaskSample | None) -> bool:
    return task is not None and bool(task.measured) and task.passed == len(task.measured)


def _as_before(base: Sample | None, policy: Policy) -> str:
    before = None if base is None else base.without(policy.quarantined).pass_rate
    if before is None or before >= policy.min_pass_rate:
        return ""
    return f", as that of the base is ({100 * before:.1f} %)"
