"""The table of publishers: a name -> how it is made of what surrounds a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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
