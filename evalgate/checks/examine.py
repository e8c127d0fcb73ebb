"""A check, examined: whatever it does, what it could not measure is errored."""

from __future__ import annotations

from evalgate.checks.apart import ApartError
from evalgate.checks.findings import errored
from evalgate.core.observation import Observation
from evalgate.core.trial import Outcome
from evalgate.protocols import Check, Finding


def examined(check: Check, seen: Observation) -> Finding:
    """Return what a check finds; errored when it raises, or gives something else than a finding."""
    try:
        finding: object = check.examine(seen)
    except ApartError as error:
        return errored(str(error))
    except Exception as error:  # noqa: BLE001 - whatever a check raises, it did not measure
        return errored(f"the check raised {error!r}")
    if not isinstance(finding, Finding) or not isinstance(finding.outcome, Outcome):
        return errored(f"the check returned {finding!r}, which is no finding")
    return finding
