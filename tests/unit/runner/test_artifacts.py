"""What a finished trial leaves in its run folder, and what `show` says of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evalgate.commands.telling.show import tell_trial
from evalgate.core.claim import Claim
from evalgate.core.exchange import Miss, Witness
from evalgate.core.identity import Conditions, TrialKey
from evalgate.core.redaction import Redactor
from evalgate.core.trajectory import NO_USAGE, Step, ToolCall, Trajectory, Usage
from evalgate.core.trial import Evidence, Outcome, Signals, Trial
from evalgate.protocols import StageStatus
from evalgate.runner.artifacts import write_artifacts
from evalgate.runner.work import Work
from evalgate.store.atif_reading import load_atif
from evalgate.store.runs import RunStore
from tests.plans import plan

TOKEN = "hunter2hunter2"
CALL = ToolCall(name="sh", call_id="c", input={"command": "ls"}, output="a b", ok=True, seconds=1.5)
STEP = Step(text="Done.", calls=(CALL,), model="m-1", usage=Usage(input_tokens=3, output_tokens=2))
COURSE = Trajectory(calls=(CALL,), turns=1, final_answer="Done.", steps=(STEP,))
MISS = Miss(
    key="k", nearest=0, differs=("system: recorded 1, now 2",), differing=("system",),
    path="system", words=f"[-1-]{{+{TOKEN}+}}", kind="the system prompt differs",
)  # fmt: skip


@pytest.fixture
def store(tmp_path):
    """A project's state directory."""
    return RunStore(tmp_path / "state")


def keep(store, *, trajectory=COURSE, misses=(), agent="pi 0.73"):
    """Write the artifacts of one trial to a new run; return their folder."""
    witness = Witness(
        exchanges=(), trajectory=trajectory, usage=NO_USAGE, misses=misses, served_models=("m-1",)
    )
    work = Work(status=StageStatus.EXITED, exit_code=0, seconds=1.0, claim=Claim(), witness=witness)
    trial = Trial(
        task="a/b",
        key=TrialKey(task_digest="d", fingerprint="f" * 64, series="main", n=2),
        outcome=Outcome.ERRORED if misses else Outcome.PASSED,
        conditions=Conditions(sandbox="process", agent=agent),
        evidence=Evidence.REPLAYED,
        signals=Signals(cost_usd=0.5),
        diverged=misses[0].sentence if misses else "",
        artifacts="a-b/2",
    )
    with store.open(plan(kind="replay"), fresh=True) as run:
        write_artifacts(run, trial, work, "graded\n", Redactor({"TOKEN": TOKEN}))
        run.append(trial)
    return run.path / "artifacts" / "a-b" / "2"


def test_the_trajectory_is_a_file_of_the_format(store):
    """It can be read back, says whose it is, and is the same when the trial is repeated."""
    text = (keep(store) / "trajectory.json").read_text()
    assert load_atif(text, name="t.json") == COURSE
    value = json.loads(text)
    assert value["agent"] == {"name": "pi 0.73", "version": "f" * 12, "model_name": "m-1"}
    assert value["session_id"] == "a/b#2"
    assert value["final_metrics"]["total_cost_usd"] == 0.5
    assert text == (keep(store) / "trajectory.json").read_text()
    nameless = json.loads((keep(store, agent="") / "trajectory.json").read_text())
    assert nameless["agent"]["name"] == "agent"


def test_no_secret_and_no_odd_sign_gets_into_it(store):
    """A model may repeat a key, or say half of a pair of surrogates."""
    odd = replace(STEP, text=f"{TOKEN} \ud800", calls=())
    folder = keep(store, trajectory=Trajectory(turns=1, steps=(odd,)))
    found = load_atif((folder / "trajectory.json").read_text(), name="t.json")
    assert found.steps[0].text == "<secret:TOKEN> ?"


def test_an_agent_that_asked_nothing_has_a_trajectory(store):
    """The format wants a step: there is that of the user."""
    found = load_atif(
        (keep(store, trajectory=Trajectory()) / "trajectory.json").read_text(), name="t"
    )
    assert found == Trajectory()


def test_why_a_replay_diverged_is_kept_and_shown(store):
    """Once, however often the agent asked again; nothing is kept when it did not."""
    assert not (keep(store) / "divergence.txt").exists()
    told = (keep(store, misses=(MISS, MISS)) / "divergence.txt").read_text()
    assert told.count("nearest is exchange 0") == 1
    assert "words     [-1-]{+<secret:TOKEN>+}" in told
    *_, run = store.all()
    shown = tell_trial(run, run.trials[0], None)
    assert "  why it diverged:\n    the request matches no recorded exchange" in shown
    assert "      cause     the system prompt differs" in shown
