"""A recorded trial: a cassette, with everything a replay or regrade needs read out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from evalgate.core.claim import Claim
from evalgate.core.identity import Conditions
from evalgate.core.json import Json
from evalgate.core.judging import Judgement
from evalgate.core.sandboxcall import SandboxCall
from evalgate.core.trial import Evidence
from evalgate.core.tripwires import Hit
from evalgate.errors import UsageError
from evalgate.gateway.cassette import CassetteFile, load_cassette
from evalgate.gateway.format.header import Header
from evalgate.protocols import StageStatus

#: What the header of a trial's recording has to say, beside its conditions.
_NEEDED: Final = ("task", "task_digest", "fingerprint", "n", "recording")

_MENDING: Final = "restore it from git, or record it again"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTrial:
    """One recorded trial; ``measured`` is what a repetition must come to.

    ``recording`` counts how often this harness was recorded; ``seconds`` is the agent's
    wall time then; ``evidence`` is what the trial was worth; ``calls`` are what an agent on the
    host asked of its sandbox; ``logged`` is what tripwires found in its log; ``judged`` what
    judging models said, by the digest of the question.
    """

    tape: CassetteFile
    task: str
    task_digest: str
    fingerprint: str
    n: int
    evidence: Evidence
    recording: int
    conditions: Conditions
    status: StageStatus
    exit_code: int | None
    seconds: float
    detail: str
    last_words: str
    secret: str
    claim: Claim
    measured: Mapping[str, Json]
    calls: tuple[SandboxCall, ...] = ()
    logged: tuple[Hit, ...] = ()
    judged: Mapping[str, Judgement] = field(default_factory=dict)


def load_recorded(data: bytes, *, name: str) -> RecordedTrial:
    """Read a cassette file; UsageError names it when it is damaged or lacks something."""
    tape = load_cassette(data, name=name)
    header, conditions = tape.header, _conditions_of(tape.header, name)
    record: Mapping[str, Any] = tape.record
    try:
        agent: Mapping[str, Any] = record["agent"]
        code = agent["exit_code"]
        return RecordedTrial(
            tape=tape,
            task=header.task,
            task_digest=header.task_digest,
            fingerprint=header.fingerprint,
            n=header.n,
            # Recordings from before this was written down were of live trials.
            evidence=header.evidence or Evidence.MEASURED,
            recording=header.recording,
            conditions=conditions,
            status=StageStatus(agent["status"]),
            exit_code=None if code is None else int(code),
            seconds=float(agent["seconds"]),
            detail=str(agent["detail"]),
            last_words=str(agent["last_words"]),
            secret=str(agent.get("secret", "")),
            claim=Claim.from_json(tape.claim),
            calls=tuple(
                SandboxCall(kind=str(call["kind"]), command=str(call["command"]))
                for call in agent.get("calls", ())
            ),
            logged=tuple(Hit.from_json(hit) for hit in agent.get("tripwires", ())),
            measured=dict(record["measured"]),
            judged={
                str(name): Judgement.from_json(one) for name, one in agent.get("judged", {}).items()
            },
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"{name}: this is no recorded trial: {error!r}"
        raise UsageError(message, hint=_MENDING) from error


def _conditions_of(header: Header, name: str) -> Conditions:
    """Return the conditions of a trial; UsageError when the header is of none."""
    lacking = [needed for needed in _NEEDED if not getattr(header, needed)]
    if lacking or header.conditions is None:
        first = (*lacking, "conditions")[0]
        message = f"{name}: this is no recorded trial: its header does not say {first!r}"
        raise UsageError(message, hint=_MENDING)
    return header.conditions
