"""Audits of the machine that it all runs on."""

from __future__ import annotations

from typing import Final

from evalgate.commands.doctor.audit import Finding, advice, good, wrong
from evalgate.commands.doctor.facts import Facts
from evalgate.core.sandbox import PROCESS
from evalgate.errors import ExitCode
from evalgate.repo.git import DEEPER

_GIB: Final = 1 << 30
_LITTLE: Final = 5 * _GIB
_NONE: Final = _GIB // 2


def engine(facts: Facts) -> Finding:
    """Something here isolates an agent: what is asked for, or with auto anything."""
    use, found = facts.config.sandbox.use, facts.machine.sandboxes
    if use in found:
        if found[use] is None:
            return good(f"{use} can be used")
        fix = 'start it, or sandbox.use = "auto"'
        return wrong(f"{use}: {found[use]}", fix, code=ExitCode.NOT_AVAILABLE)
    able = [name for name, reason in found.items() if reason is None and name != PROCESS]
    if able:
        return good(f"can be used: {', '.join(able)}")
    reasons = "; ".join(f"{name}: {reason}" for name, reason in found.items() if reason)
    fix = "apt-get install bubblewrap, or start Docker"
    return wrong(f"nothing isolates an agent: {reasons}", fix, code=ExitCode.NOT_AVAILABLE)


def disk(facts: Facts) -> Finding:
    """There is room for images, workspaces and recordings."""
    place, least = min(facts.machine.free.items(), key=lambda item: item[1])
    words = f"{least / _GIB:.1f} GiB are free at {place}"
    if least < _NONE:
        return wrong(words, "evalgate clean --images", code=ExitCode.NOT_AVAILABLE)
    return advice(words, "evalgate clean --images") if least < _LITTLE else good(words)


def depth(facts: Facts) -> Finding:
    """The clone has the history in which a base is found."""
    if facts.repository.shallow:
        return wrong("the clone is shallow: the base of an edit may be hidden", DEEPER)
    return good("the whole history is here")


def keys(facts: Facts) -> Finding:
    """The keys that live runs need are set; none is shown."""
    missing = sorted(name for name, there in facts.machine.keys.items() if not there)
    if missing:
        words = f"not set: {', '.join(missing)} (a replay needs none)"
        return advice(words, f"export {missing[0]}=…")
    names = ", ".join(sorted(facts.machine.keys))
    return good(f"set: {names}" if names else "no model needs a key")


def program(facts: Facts) -> Finding:
    """The `evalgate` that is called is this one: others have the same name."""
    programs = facts.machine.programs
    if not programs:
        return advice("evalgate is not on PATH", "activate its environment, or use git evalgate")
    first = next(iter(programs))
    foreign = [path for path, ours in programs.items() if not ours]
    if not programs[first]:
        return wrong(f"{first} is another program of that name", "put git-evalgate's first on PATH")
    if foreign:
        return advice(f"{foreign[0]} is another program of that name", f"rm {foreign[0]}")
    return good(first)


def leftovers(facts: Facts) -> Finding:
    """Nothing is left of runs that were killed."""
    found = facts.machine.leftovers
    if found:
        return advice(f"{len(found)} things are left, such as {found[0]}", "evalgate clean")
    return good("nothing is left of killed runs")
