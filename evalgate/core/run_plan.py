"""What a run was to make, as it stands in ``run.json``: the same plan goes on with the same run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalgate.core.identity import MAIN
from evalgate.core.json import Json
from evalgate.core.trial import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTrial:
    """One trial of a plan; ``recording`` is the digest of what it is played from, if it is."""

    task: str
    n: int
    recording: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """Which trials of which harness, and all that would make them another run.

    ``kind`` is the way to trials, and ``evidence`` what they are worth; ``evalgate`` its version.
    ``parts`` maps the parts of the harness to their digests, ``tasks`` the tasks; ``suite`` is the
    digest of all of them. ``sandbox`` and ``agent`` say what was found, ``images`` what it is made
    of. ``faults`` and ``tripwires`` name what was let in and looked for, ``beside`` the other
    harness of which trials are; ``prices``, and ``judges`` (where judging models are asked), name
    those of who judges where they are not its own.
    """

    kind: str
    evidence: Evidence
    evalgate: str
    fingerprint: str
    parts: Mapping[str, str]
    suite: str
    sandbox: str
    agent: str
    tasks: Mapping[str, str]
    trials: tuple[PlannedTrial, ...]
    images: Mapping[str, str] = field(default_factory=dict)
    faults: str = ""
    beside: str = ""
    series: str = MAIN
    prices: str = ""
    judges: str = ""
    tripwires: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the form in ``run.json``: what is empty, or as ever, is left out."""
        optional: dict[str, Json] = {
            "images": dict(self.images),
            "faults": self.faults,
            "beside": self.beside,
            "series": "" if self.series == MAIN else self.series,
            "prices": self.prices,
            "judges": self.judges,
            "tripwires": self.tripwires,
        }
        return {
            "kind": self.kind,
            "evidence": str(self.evidence),
            "evalgate": self.evalgate,
            "fingerprint": self.fingerprint,
            "parts": dict(self.parts),
            "suite": self.suite,
            "sandbox": self.sandbox,
            "agent": self.agent,
            "tasks": dict(self.tasks),
            "trials": [[one.task, one.n, one.recording] for one in self.trials],
            **{name: value for name, value in optional.items() if value},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> RunPlan:
        """Read the written form; LookupError, TypeError, ValueError or AttributeError otherwise."""
        optional = {
            name: str(value[name])
            for name in ("faults", "beside", "series", "prices", "judges", "tripwires")
            if name in value
        }
        return cls(
            kind=str(value["kind"]),
            evidence=Evidence(value["evidence"]),
            evalgate=str(value["evalgate"]),
            fingerprint=str(value["fingerprint"]),
            parts=_texts(value["parts"]),
            suite=str(value["suite"]),
            sandbox=str(value["sandbox"]),
            agent=str(value["agent"]),
            tasks=_texts(value["tasks"]),
            trials=tuple(
                PlannedTrial(task=str(task), n=int(n), recording=str(recording))
                for task, n, recording in value["trials"]
            ),
            images=_texts(value.get("images", {})),
            **optional,
        )


def _texts(value: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(text) for name, text in value.items()}
