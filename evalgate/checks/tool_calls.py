"""Checks on the tool calls an agent made, as they went over the wire."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from evalgate.checks.findings import PASSED, errored, failed
from evalgate.checks.origin import conduct_of
from evalgate.checks.pattern import found_in, read_pattern
from evalgate.core.json import Json
from evalgate.core.observation import Observation
from evalgate.core.schema import Reader
from evalgate.core.trajectory import Trajectory
from evalgate.protocols import Finding

_ORDERS = ("strict", "unordered", "subset", "superset")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallLimit:
    """At most so many calls of the tools that a glob names, all of them by default.

    Example: ``{type = "tool_call_limit", most = 3, tool = "web_*"}``.
    """

    version: ClassVar[int] = 1
    most: int
    tool: str
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> ToolCallLimit:
        """Read ``most`` and ``tool``, a glob."""
        return cls(most=params.integer("most"), tool=params.text("tool", "*"))

    def examine(self, seen: Observation) -> Finding:
        """Pass when there are no more."""
        done = conduct_of(seen)
        if isinstance(done, Finding):
            return done
        made = sum(fnmatch.fnmatchcase(call.name, self.tool) for call in done.calls)
        return PASSED if made <= self.most else failed(f"{made} calls, more than {self.most}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEfficiency:
    """The calls that are needed, by those that were made, come to a score of at least so much.

    Example: ``{type = "tool_efficiency", needed = 4, least = 0.5}``.
    """

    version: ClassVar[int] = 1
    needed: int
    least: float
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> ToolEfficiency:
        """Read ``needed``, a number of calls, and ``least``, a score up to 1."""
        least = params.number("least")
        if least > 1:
            raise params.error(f"must be at most 1, not {least:g}", "least")
        return cls(needed=params.integer("needed", low=1), least=least)

    def examine(self, seen: Observation) -> Finding:
        """Pass when the score is high enough; fewer calls than needed are a score of 1."""
        done = _called(seen)
        if isinstance(done, Finding):
            return done
        made = len(done.calls)
        score = self.needed / max(made, self.needed)
        if score >= self.least:
            return PASSED
        return failed(f"{made} calls where {self.needed} do: {score:.2f}, below {self.least:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsSucceed:
    """Tools were called, and none of their calls failed.

    Example: ``{type = "tools_succeed"}``.
    """

    version: ClassVar[int] = 1
    tool: str
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> ToolsSucceed:
        """Read ``tool``, a glob."""
        return cls(tool=params.text("tool", "*"))

    def examine(self, seen: Observation) -> Finding:
        """Pass when all succeeded; errored when the model's API does not say whether they did."""
        done = conduct_of(seen)
        if isinstance(done, Finding):
            return done
        calls = [call for call in done.calls if fnmatch.fnmatchcase(call.name, self.tool)]
        if not calls:
            return failed("no tool was called")
        bad = [call.name for call in calls if call.ok is False]
        if bad:
            return failed(
                f"{len(bad)} of {len(calls)} calls failed: {', '.join(dict.fromkeys(bad))}"
            )
        unknown = sum(call.ok is None for call in calls)
        if unknown:
            return errored(
                f"of {unknown} of {len(calls)} calls it is not known whether they failed"
            )
        return PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOrder:
    """The tools called are those of a list: in its order, in any, no others, or no fewer.

    Example: ``{type = "tool_order", tools = ["read", "edit", "test"], order = "strict"}``.
    """

    version: ClassVar[int] = 1
    tools: tuple[str, ...]
    order: str
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> ToolOrder:
        """Read ``tools`` and ``order``.

        ``strict`` is each call in its place, ``unordered`` the same calls, ``subset`` no call
        beyond the list, ``superset`` all of the list and perhaps more. How often counts.
        """
        order = params.choice("order", "strict", _ORDERS)
        return cls(tools=params.texts("tools"), order=order)

    def examine(self, seen: Observation) -> Finding:
        """Pass when the names of the calls are as the order says."""
        done = conduct_of(seen)
        if isinstance(done, Finding):
            return done
        made = [call.name for call in done.calls]
        have, listed = Counter(made), Counter(self.tools)
        good = {
            "strict": made == [*self.tools],
            "unordered": have == listed,
            "subset": have <= listed,
            "superset": have >= listed,
        }[self.order]
        called = ", ".join(made) or "nothing"
        return PASSED if good else failed(f"not {self.order} as in the list: {called[:160]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenTool:
    """No call of the tools that a glob names or, with ``argument``, none with such an argument.

    Example: ``{type = "forbidden_tool", tool = "bash", argument = "command: .*rm -rf"}``.
    """

    version: ClassVar[int] = 1
    tool: str
    argument: str | None
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> ForbiddenTool:
        """Read ``tool``, a glob, and ``argument``, a pattern on the lines ``name: value``."""
        argument = read_pattern(params, "argument") if params.has("argument") else None
        return cls(tool=params.text("tool"), argument=argument)

    def examine(self, seen: Observation) -> Finding:
        """Pass when there is none."""
        done = conduct_of(seen)
        if isinstance(done, Finding):
            return done
        calls = [call for call in done.calls if fnmatch.fnmatchcase(call.name, self.tool)]
        if self.argument is None:
            return failed(f"{calls[0].name} was called") if calls else PASSED
        text = "\n".join(
            f"{name}: {value}" for call in calls for name, value in arguments(call.input)
        )
        if found_in(text, self.argument):
            return failed(f"{self.tool} was called with an argument like {self.argument!r}")
        return PASSED


def arguments(given: Json) -> Iterator[tuple[str, str]]:
    """Return all values of a call's input with their dotted names; the input itself has none."""
    waiting: list[tuple[str, Json]] = [("", given)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{name}.{key}".lstrip("."), one) for key, one in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [(name, one) for one in reversed(value)]
        else:
            yield name, str(value)


def _called(seen: Observation) -> Trajectory | Finding:
    done = conduct_of(seen)
    return done if isinstance(done, Finding) or done.calls else failed("no tool was called")
