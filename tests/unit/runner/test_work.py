"""How an agent stage ended, and whether that needs grading, fails, or was not measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evalgate.core.claim import Claim
from evalgate.core.exchange import Exchange, Miss, Witness
from evalgate.core.redaction import Redactor
from evalgate.core.trajectory import NO_USAGE, Trajectory
from evalgate.core.trial import Outcome
from evalgate.protocols import StageStatus
from evalgate.runner.work import Ungraded, Work, ungraded, words_of_engine

EXCHANGE = Exchange(
    dialect="anthropic", method="POST", path="/v1/messages", request=b"{}", key="k", status=200
)
QUIET = Witness(exchanges=(), trajectory=Trajectory(), usage=NO_USAGE)
SPOKE = replace(QUIET, exchanges=(EXCHANGE,))
MISS = Miss(key="k", nearest=None, differs=())


def work(
    status: StageStatus = StageStatus.EXITED,
    code: int | None = 0,
    witness: Witness = SPOKE,
    **fields: object,
) -> Work:
    """Return the end of an agent stage."""
    return Work(
        status=status, exit_code=code, seconds=1.5, claim=Claim(), witness=witness, **fields
    )


def failed(reason: str) -> Ungraded:
    """Return what counts against the agent."""
    return Ungraded(outcome=Outcome.FAILED, reason=reason)


def errored(reason: str) -> Ungraded:
    """Return what does not."""
    return Ungraded(outcome=Outcome.ERRORED, reason=reason)


@pytest.mark.parametrize(
    ("ended", "verdict"),
    [
        (work(), None),
        (work(code=1), None),
        (work(witness=QUIET), None),
        (
            work(code=3, witness=QUIET, log=b"a\nno such module\n"),
            errored("the agent exited with 3 before its first model call: no such module"),
        ),
        (
            work(code=3, witness=QUIET),
            errored("the agent exited with 3 before its first model call: no output"),
        ),
        (work(StageStatus.TIMEOUT, None), failed("the agent reached its time limit of 9 s")),
        (
            work(StageStatus.TOO_LARGE, 0, detail="2 GB"),
            failed("the agent left more files than are taken back: 2 GB"),
        ),
        (work(StageStatus.MEMORY, None), failed("the agent used up its memory")),
        (
            work(StageStatus.ENGINE, None, detail="gone"),
            errored("the agent stage ended with engine: gone"),
        ),
        (work(StageStatus.NOT_FOUND, None), errored("the agent stage ended with not_found")),
        (
            work(witness=replace(SPOKE, provider_error="401: bad key")),
            errored("the model could not be asked: 401: bad key"),
        ),
        (
            work(witness=replace(SPOKE, limit="the agent reached its limit of 3 turns")),
            failed("the agent reached its limit of 3 turns"),
        ),
        (
            work(witness=replace(SPOKE, misses=(MISS,))),
            errored("diverged: the request matches no recorded exchange: nothing was recorded"),
        ),
    ],
)
def test_what_counts_against_the_agent(ended: Work, verdict: Ungraded | None) -> None:
    """Its limits do; the network, the engine and our recordings do not."""
    assert ungraded(ended, seconds=9) == verdict


def test_a_divergence_comes_before_everything() -> None:
    """An agent that was refused a reply may well run into its time limit."""
    witness = replace(SPOKE, misses=(MISS,), provider_error="x", limit="y")
    found = ungraded(work(StageStatus.TIMEOUT, witness=witness), seconds=9)
    assert found is not None
    assert found.outcome is Outcome.ERRORED


def test_a_provider_that_fails_until_the_time_is_up_is_not_the_agent() -> None:
    """An agent that is refused an answer retries, and runs into its limit for no fault of its."""
    witness = replace(SPOKE, provider_error="the provider answered with HTTP 529: overloaded")
    assert ungraded(work(StageStatus.TIMEOUT, witness=witness), seconds=9) == errored(
        "the model could not be asked: the provider answered with HTTP 529: overloaded"
    )


def test_a_claim_with_a_secret_is_not_graded() -> None:
    """What may be kept of it is no longer what the agent wrote."""
    assert ungraded(work(secret="DB_PASSWORD"), seconds=9) == errored(
        "the claim holds the secret DB_PASSWORD"
    )
    late = ungraded(work(StageStatus.TIMEOUT, secret="DB_PASSWORD"), seconds=9)
    assert late == failed("the agent reached its time limit of 9 s")


def test_last_words_are_short() -> None:
    """The last line alone, bytes that are no text included."""
    assert work(log=b"a\n\xff" + b"x" * 500 + b"\n\n").last_words == "\ufffd" + "x" * 159


@pytest.mark.parametrize("code", [0, 7, None])
def test_a_recording_keeps_the_end_of_a_stage(code: int | None) -> None:
    """What a regrade needs stands beside claim and exchanges."""
    kept = work(StageStatus.TIMEOUT, code, detail="d", secret="S", log=b"bye\n").to_json()
    assert kept == {
        "status": "timeout",
        "exit_code": code,
        "seconds": 1.5,
        "detail": "d",
        "secret": "S",
        "last_words": "bye",
        "provider_error": None,
        "limit": None,
    }


def test_a_secret_in_an_engine_s_words_is_never_cut_in_two() -> None:
    """Wherever it stands, no piece of it is left: it is taken out before anything is cut."""
    secret = "sk-" + "s3cret" * 6
    redactor = Redactor({"TOKEN": secret})
    for behind in range(360, 440):
        said = words_of_engine(f"bwrap: {secret}{' b' * (behind // 2)}", redactor)
        assert len(said) <= 400
        assert "s3cret" not in said
