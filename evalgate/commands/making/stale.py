"""`evalgate replay --allow-stale PART`: a plumbing test of an edited harness.

The agent of today runs against recordings of another harness, which differs in the named parts
only. Its requests are answered by what stands at their place in the conversation.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalgate.commands.console import Console
from evalgate.commands.making.ended import Report
from evalgate.commands.making.plumbing import plumbing
from evalgate.commands.project import State
from evalgate.commands.shelved import Shelved, shelved
from evalgate.core.harness import Harness
from evalgate.core.rates import counted
from evalgate.core.task import Task
from evalgate.errors import DivergedError, ExitCode, UsageError
from evalgate.runner.recorded import RecordedTrial


def require_stale(
    harness: Harness, allowed: Sequence[str], *, recorded: bool, beside: Sequence[str]
) -> None:
    """Look at what ``--allow-stale`` is asked for before anything runs.

    UsageError for a part that the harness does not have, for options ``beside`` it that a
    plumbing test knows nothing of, and when this very harness is ``recorded``.
    """
    parts = ", ".join(sorted(harness.parts))
    for part in allowed:
        if part not in harness.parts:
            message = f"--allow-stale {part}: the harness has no such part"
            raise UsageError(message, hint=f"one of {parts}")
    for option in beside:
        message = f"--allow-stale and {option} do not go together"
        hint = "--allow-stale only tries whether the agent runs: leave one of them out"
        raise UsageError(message, hint=hint)
    if recorded:
        message = f"--allow-stale: this harness ({harness.short}) has recordings: nothing is stale"
        raise UsageError(message, hint="leave --allow-stale out, and they are replayed")


def replay_stale(
    state: State, tasks: Sequence[Task], allowed: Sequence[str], console: Console
) -> Report:
    """Run one stale recording a task; exit 7 when one of them is broken or can not be tried.

    DivergedError when every recording differs in more than the allowed parts.
    """
    harness = state.harness
    recorded, differing = _choose(harness, shelved(state), set(allowed))
    parts = ", ".join(differing) or "nothing"
    console.warn(f"stale: recordings of another harness (other: {parts}); nothing is measured")
    told = plumbing(harness, tasks, recorded, state.config.sandbox.use, console)
    broken = [task for task, trouble in told.items() if trouble]
    lines = [
        f"stale ({parts}): {task}: {trouble or 'runs'}: nothing measured"
        for task, trouble in told.items()
    ]
    closing = (
        f"stale ({parts}): {len(told) - len(broken)} of {counted(len(told), 'task')} run against "
        "recordings of another harness; nothing measured"
    )
    code = ExitCode.DIVERGED if broken else ExitCode.OK
    return Report(exit_code=code, problems=tuple(lines), closing=closing)


def _choose(
    harness: Harness, files: Sequence[Shelved], allowed: set[str]
) -> tuple[dict[str, RecordedTrial], list[str]]:
    """Return the first trial of each task of the newest set that may be used, and its parts."""
    sets: dict[str, list[Shelved]] = {}
    for file in files:
        if file.short and file.short != harness.short:
            sets.setdefault(file.short, []).append(file)
    if not sets:
        message = "there are no recordings of another harness"
        raise DivergedError(message, hint="record this one: evalgate run --record")
    fitting: list[tuple[str, str, list[str]]] = []
    refused: list[tuple[str, str, list[str]]] = []
    for short, many in sets.items():
        first = many[0].load()
        parts = _other_parts(first, harness)
        chosen = fitting if set(parts) <= allowed else refused
        chosen.append((first.tape.header.recorded, short, parts))
    if not fitting:
        _, short, parts = max(refused)
        message = f"the recordings of {short} differ in more: {', '.join(parts)}"
        hint = " ".join(f"--allow-stale {part}" for part in parts)
        raise DivergedError(message, hint=f"allow it with {hint}, or record this harness")
    _, short, parts = max(fitting)
    firsts: dict[str, RecordedTrial] = {}
    for file in sets[short]:
        one = file.load()
        firsts.setdefault(one.task, one)
    return firsts, parts


def _other_parts(recorded: RecordedTrial, harness: Harness) -> list[str]:
    before = recorded.tape.header.parts
    names = {*before, *harness.parts}
    return sorted(name for name in names if before.get(name) != harness.parts.get(name))
