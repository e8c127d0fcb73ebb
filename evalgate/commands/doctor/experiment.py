"""Audits of how edits are judged, and of what is written down."""

from __future__ import annotations

from evalgate.commands.doctor.audit import Finding, advice, good, wrong
from evalgate.commands.doctor.facts import Facts
from evalgate.core.decision import Decision
from evalgate.core.models import LOCAL_MODEL
from evalgate.core.rates import counted

_SURPRISES = {str(Decision.IMPROVED), str(Decision.NOT_CONFIRMED)}


def harness(facts: Facts) -> Finding:
    """The parts of the harness can be read."""
    if facts.harness:
        return wrong(facts.harness, "correct [harness.parts]")
    return good(f"parts: {', '.join(facts.config.harness.parts)}")


def policy_first(facts: Facts) -> Finding:
    """The rules are committed before anything is measured by them."""
    repository = facts.repository
    if not repository.committed:
        fix = f"git add {facts.config.source} && git commit"
        return advice("HEAD has no configuration", fix)
    if repository.policy_edited:
        words = "[policy] is another one than HEAD's, which judges"
        return wrong(words, "commit it before the next run, apart from the harness")
    return good("the policy is HEAD's")


def one_change(facts: Facts) -> Finding:
    """Not more than one part of the harness is edited at once."""
    changed = facts.repository.parts_changed
    if len(changed) > 1:
        fix = "git add -p, and git commit one part at a time"
        return advice(
            f"{counted(len(changed), 'part')} are edited at once: {', '.join(changed)}", fix
        )
    return good(f"edited: {changed[0]}" if changed else "no part is edited")


def surprises(facts: Facts) -> Finding:
    """A surprise is looked into before it is believed."""
    records = facts.records
    if records.decision in _SURPRISES and not records.read:
        return advice(
            f"the newest verdict is {records.decision}, and nobody read a trial of it",
            "evalgate read latest, then evalgate gate again",
        )
    return good("no surprise waits to be read")


def cost_per_correct(facts: Facts) -> Finding:
    """It is known what a right answer costs."""
    unknown = [one.name for one in facts.config.models.values() if one.price is None]
    if unknown:
        fix = f"[models.{unknown[0]}] price = {{ input = …, output = … }}"
        return advice(f"no price of {', '.join(unknown)}: costs are unknown", fix)
    return good("every model has a price")


def revert_rule(facts: Facts) -> Finding:
    """Something stops an edit that does worse."""
    repository = facts.repository
    ways = [name for name in ("hook", "workflow") if getattr(repository, name)]
    if not ways:
        return advice(
            "neither a hook nor a workflow stops an edit that does worse", "evalgate hook install"
        )
    return good(f"a {' and a '.join(ways)} judges before an edit lands")


def real_model(facts: Facts) -> Finding:
    """A local model, or a plan, is for smoke alone."""
    small = [
        one.name
        for one in facts.config.models.values()
        if one.upstream == LOCAL_MODEL or one.plan is not None
    ]
    if small and facts.records.baselines:
        fix = f'[models.{small[0]}] upstream = "anthropic", and evalgate run --record'
        return advice(f"baselines are of {', '.join(small)}: a model for smoke alone", fix)
    return good("a model for smoke decides nothing" if small else "models are served elsewhere")


def written_down(facts: Facts) -> Finding:
    """Every baseline has an entry in the ledger."""
    records = facts.records
    if records.unwritten:
        return advice(f"not in the ledger: {records.unwritten[0]}", "evalgate ledger --add")
    if not records.baselines:
        return advice("no numbers are committed", "evalgate run --record, evalgate baseline accept")
    entries = counted(records.entries, "entry")
    return good(f"{counted(records.baselines, 'baseline')}, {entries} in the ledger")


def fresh_recordings(facts: Facts) -> Finding:
    """What is recorded is of today's harness."""
    records = facts.records
    if records.recorded and records.current not in records.recorded:
        return advice(
            "recordings are of another harness: they test the plumbing alone",
            "evalgate run --record",
        )
    return good("recordings are today's" if records.recorded else "nothing is recorded")
