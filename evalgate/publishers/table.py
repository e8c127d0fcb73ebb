"""The table of publishers: a name -> how it is made of what surrounds a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evalgate.errors import NotAvailableError, UsageError
from evalgate.protocols import Publisher
from evalgate.publishers.surroundings import Surroundings
from evalgate.publishers.workflow import Outputs, Summary

#: In the order in which they are told: what stays here first, what may be refused last. Making
#: one raises NotAvailableError where it can not be told here, UsageError where something is wrong.
PUBLISHERS: Mapping[str, Callable[[Surroundings], Publisher]] = {
    "summary": lambda here: Summary(path=here.file("GITHUB_STEP_SUMMARY")),
    "outputs": lambda here: Outputs(path=here.file("GITHUB_OUTPUT")),
    "annotations": Surroundings.annotations,
    "comment": Surroundings.comment,
}


def build_publishers(names: Sequence[str], surroundings: Surroundings) -> list[Publisher]:
    """Return the publishers of these names, or of all places that are there, in their order.

    UsageError where a named one, or every one, is not there.
    """
    found: list[Publisher] = []
    missing: list[str] = []
    for name, make in PUBLISHERS.items():
        if names and name not in names:
            continue
        try:
            found.append(make(surroundings))
        except NotAvailableError as error:
            if names:
                raise UsageError(f"{name}: {error.message}", hint=error.hint) from error
            missing.append(f"{name}: {error.message}")
    if not found:
        message = f"there is no place to tell a verdict in: {'; '.join(missing)}"
        raise UsageError(message, hint="run it in GitHub Actions, or set what is missing")
    return found
