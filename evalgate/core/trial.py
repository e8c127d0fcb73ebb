"""One attempt at a task: its outcome, its checks, its soft numbers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from evalgate.core.identity import Conditions, TrialKey
from evalgate.core.json import Json
from evalgate.core.trajectory import Usage
from evalgate.core.tripwires import Hit


class Outcome(StrEnum):
    """Three words that never mix: measured right, measured wrong, not measured."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"


#: A sign for each, wherever trials and checks are shown in a line.
MARKS: Final = {Outcome.PASSED: "✔", Outcome.FAILED: "✘", Outcome.ERRORED: "!"}


class Evidence(StrEnum):
    """Where a trial's numbers come from, from weak to strong.

    What was made under faults shows how an agent bears them, and is evidence of nothing else;
    nor is a replay whose missing answers came from the model of today.
    """

    FAULTED = "faulted"
    TOPPED_UP = "topped up"
    STALE = "stale"
    REGRADED = "regraded"
    REPLAYED = "replayed"
    SPOT_CHECKED = "spot-checked"
    MEASURED = "measured"

    @property
    def counts(self) -> bool:
        """Tell whether numbers of this kind may be compared, committed or made again."""
        return self.rank >= Evidence.REGRADED.rank

    @property
    def rank(self) -> int:
        """Its place from weak to strong, from 0."""
        return [*Evidence].index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one check found; an advisory one is shown and never decides."""

    name: str
    outcome: Outcome
    detail: str = ""
    advisory: bool = False

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "name": self.name,
            "outcome": str(self.outcome),
            "detail": self.detail,
            "advisory": self.advisory,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> CheckResult:
        """Read the JSON form."""
        return cls(
            name=str(value["name"]),
            outcome=Outcome(value["outcome"]),
            detail=str(value["detail"]),
            advisory=bool(value["advisory"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Soft numbers of a trial; None is unknown, never zero.

    ``seconds`` is the agent stage's wall time; ``cost_usd`` US dollars.
    """

    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_usd: float | None = None
    turns: int | None = None
    tool_calls: int | None = None
    failed_tool_calls: int | None = None
    diff_lines: int | None = None
    files_touched: int | None = None
    files_outside: int | None = None
    repeated_calls: int | None = None
    confirmations_asked: int | None = None

    @property
    def usage(self) -> Usage:
        """The tokens of the trial."""
        return Usage(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cache_read_tokens=self.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens,
        )

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Signals:
        """Read the JSON form; a number that is not finite raises ValueError."""
        for name, number in value.items():
            known = isinstance(number, int | float) and not isinstance(number, bool)
            if number is not None and not (known and math.isfinite(number)):
                message = f"{name} is {number!r}, which is no measurement"
                raise ValueError(message)
        return cls(**value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One attempt at a task.

    ``reason`` says in one line why it is not passed; ``patch`` is the claim as a unified
    diff; ``cassette`` the digest of the recording that proves it; ``artifacts`` a path
    below the run folder; ``faults`` names what went wrong at the wire on purpose;
    ``topped_up`` counts the exchanges of a replay that were not recorded before;
    ``tripwires`` is what the agent did that has nothing to do with its task.
    """

    task: str
    key: TrialKey
    outcome: Outcome
    reason: str = ""
    checks: tuple[CheckResult, ...] = ()
    signals: Signals = field(default_factory=Signals)
    conditions: Conditions
    evidence: Evidence
    cassette: str = ""
    patch: str = ""
    final_answer: str = ""
    agent_exit: int | None = None
    unused_exchanges: int = 0
    diverged: str = ""
    artifacts: str = ""
    faults: tuple[str, ...] = ()
    topped_up: int = 0
    tripwires: tuple[Hit, ...] = ()

    def measured(self) -> dict[str, Json]:
        """Return what a replay or regrade must reproduce: outcome, checks and signals.

        Wall time is read from the recording in a replay, so it is part of this as well.
        """
        return {
            "outcome": str(self.outcome),
            "reason": self.reason,
            "checks": [check.to_json() for check in self.checks],
            "signals": self.signals.to_json(),
        }

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form, one line of ``trials.jsonl``."""
        return {
            "task": self.task,
            "task_digest": self.key.task_digest,
            "fingerprint": self.key.fingerprint,
            "series": self.key.series,
            "n": self.key.n,
            **self.measured(),
            "conditions": self.conditions.to_json(),
            "evidence": str(self.evidence),
            "cassette": self.cassette,
            "patch": self.patch,
            "final_answer": self.final_answer,
            "agent_exit": self.agent_exit,
            "unused_exchanges": self.unused_exchanges,
            "diverged": self.diverged,
            "artifacts": self.artifacts,
            "faults": list(self.faults),
            "topped_up": self.topped_up,
            "tripwires": [hit.to_json() for hit in self.tripwires],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Trial:
        """Read the JSON form; KeyError, TypeError or ValueError when it is not one."""
        return cls(
            task=str(value["task"]),
            key=TrialKey(
                task_digest=str(value["task_digest"]),
                fingerprint=str(value["fingerprint"]),
                series=str(value["series"]),
                n=int(value["n"]),
            ),
            outcome=Outcome(value["outcome"]),
            reason=str(value["reason"]),
            checks=tuple(CheckResult.from_json(check) for check in value["checks"]),
            signals=Signals.from_json(value["signals"]),
            conditions=Conditions.from_json(value["conditions"]),
            evidence=Evidence(value["evidence"]),
            cassette=str(value["cassette"]),
            patch=str(value["patch"]),
            final_answer=str(value["final_answer"]),
            agent_exit=value["agent_exit"],
            unused_exchanges=int(value["unused_exchanges"]),
            diverged=str(value["diverged"]),
            artifacts=str(value["artifacts"]),
            faults=tuple(map(str, value.get("faults", ()))),
            topped_up=int(value.get("topped_up", 0)),
            tripwires=tuple(Hit.from_json(hit) for hit in value.get("tripwires", ())),
        )
