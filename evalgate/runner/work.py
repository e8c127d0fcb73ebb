"""The agent's work on one task: done here, or read from a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from evalgate.core.claim import Claim
from evalgate.core.exchange import Witness
from evalgate.core.json import Json
from evalgate.core.judging import Judgement
from evalgate.core.redaction import Redactor
from evalgate.core.sandboxcall import SandboxCall
from evalgate.core.trial import Outcome
from evalgate.core.tripwires import LOG, Hit
from evalgate.protocols import StageStatus

#: As much of an engine's words as tells why; the reason comes last.
_LONGEST_WORDS: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What came out of the agent stage: how it ended, the claim, and what the wire saw.

    ``secret`` names a secret that stood in the claim: what is kept here is without it, and
    no longer what the agent wrote. ``faults`` names what went wrong at the wire on purpose;
    ``tripwires`` what the agent looked for instead of working; ``calls`` what an agent on the
    host asked of its sandbox; ``judged`` what judging models said, by the digest of the question.
    """

    status: StageStatus
    exit_code: int | None
    seconds: float
    claim: Claim
    witness: Witness
    log: bytes = b""
    log_bytes: int = 0
    detail: str = ""
    secret: str = ""
    faults: tuple[str, ...] = ()
    tripwires: tuple[Hit, ...] = ()
    calls: tuple[SandboxCall, ...] = ()
    judged: Mapping[str, Judgement] = field(default_factory=dict)

    @property
    def last_words(self) -> str:
        """The last line of the log, shortened."""
        lines = self.log.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip()[:160] if lines else "no output"

    def to_json(self) -> dict[str, Json]:
        """Return what a recording keeps beside claim and exchanges.

        Of the log that is its last line, and what tripwires found in all of it.
        """
        judged: Json = {name: one.to_json() for name, one in sorted(self.judged.items())}
        logged: list[Json] = [hit.to_json() for hit in self.tripwires if hit.place == LOG]
        return {
            "status": str(self.status),
            "exit_code": self.exit_code,
            "seconds": self.seconds,
            "detail": self.detail,
            "secret": self.secret,
            "last_words": self.last_words,
            "provider_error": self.witness.provider_error,
            "limit": self.witness.limit,
            **({"tripwires": logged} if logged else {}),
            **({"calls": [call.asked for call in self.calls]} if self.calls else {}),
            **({"judged": judged} if judged else {}),
        }


def words_of_engine(said: str, redactor: Redactor) -> str:
    """Return the end of what a sandbox said, without secrets: half a secret can not be found."""
    return redactor.text(said)[-_LONGEST_WORDS:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungraded:
    """The outcome of a trial that needs no grading, and why."""

    outcome: Outcome
    reason: str


def ungraded(work: Work, *, seconds: float) -> Ungraded | None:
    """Say why a trial needs no grading; None when it does. ``seconds`` is the agent's limit.

    A time-out or a limit is the agent's doing and counts as failed; whatever kept the
    agent from being measured is errored, also when waiting for it took all the time. An exit
    code alone proves nothing either way: agents exit with 0 after failing and with 1 after
    succeeding.
    """
    if work.witness.misses:
        return _errored(f"diverged: {work.witness.misses[0].sentence}")
    if work.status is StageStatus.TOO_LARGE:
        return _failed(f"the agent left more files than are taken back: {work.detail}")
    if work.status is StageStatus.MEMORY:
        return _failed("the agent used up its memory")
    if work.status not in {StageStatus.EXITED, StageStatus.TIMEOUT}:
        return _errored(f"the agent stage ended with {work.status}: {work.detail}".rstrip(": "))
    if work.witness.provider_error:
        return _errored(f"the model could not be asked: {work.witness.provider_error}")
    if work.status is StageStatus.TIMEOUT:
        return _failed(f"the agent reached its time limit of {seconds:g} s")
    if work.witness.limit:
        return _failed(work.witness.limit)
    unfit = _unfit(work)
    return None if unfit is None else _errored(unfit)


def _failed(reason: str) -> Ungraded:
    return Ungraded(outcome=Outcome.FAILED, reason=reason)


def _errored(reason: str) -> Ungraded:
    return Ungraded(outcome=Outcome.ERRORED, reason=reason)


def _unfit(work: Work) -> str | None:
    """Say why the claim of a stage that came to its end says nothing about the agent."""
    if work.exit_code and not work.witness.exchanges and not work.faults:
        where = "before its first model call"
        return f"the agent exited with {work.exit_code} {where}: {work.last_words}"
    if work.secret:
        return f"the claim holds the secret {work.secret}"
    return None
