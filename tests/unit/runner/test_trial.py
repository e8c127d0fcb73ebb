"""A trial is safe when its line is on disk: until then its journal and its bill are kept."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from evalgate.core.config import load_config
from evalgate.core.faults import Fault, FaultKind, FaultPlan
from evalgate.core.files import File
from evalgate.core.harness import Harness
from evalgate.core.limits import Allowance, Tally
from evalgate.core.schema import Source
from evalgate.core.task import CheckSpec
from evalgate.core.trial import Evidence, Outcome
from evalgate.gateway.format.cassette_format import dump_cassette, load_cassette
from evalgate.gateway.format.header import Header
from evalgate.gateway.limits.spending import Spending
from evalgate.gateway.limits.top_up import TopUp
from evalgate.runner.artifacts import cassette_path
from evalgate.runner.recorded import load_recorded
from evalgate.runner.run import Job, spent_before
from evalgate.runner.trial import live_trial, regraded_trial, replayed_trial
from evalgate.store.runs import RunFolder
from evalgate.wiring import Kind, Setup, open_bench
from tests.serving import serving

AGENT = """
import json, os, urllib.request
for text in TEXTS:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(url, body.encode(), {"content-type": "application/json"})
    urllib.request.urlopen(request).read()
"""

CONFIG = """
[harness.parts]
code = ["agent.py"]
[models.main]
id = "m"
upstream = "env:MODEL_URL"
price = { input = 1.0, output = 1.0 }
[agent]
command = ["python3", "{harness_dir}/agent.py"]
"""

REPLY = {
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}}],
    "usage": {"prompt_tokens": 500_000, "completion_tokens": 500_000},
}


@pytest.fixture
def asked():
    """Serve a model; the list of what it was asked, with its URL."""

    class Asked(list):
        url = ""

    found = Asked()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            found.append(request["messages"][-1]["content"])
            data = json.dumps(REPLY).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    with serving(server):
        yield found


@pytest.fixture
def bench(asked, task):
    """Return what opens a bench whose agent asks some texts, one after the other."""
    config = load_config(Source("evalgate.toml", CONFIG), below=())

    def make(*texts, kind=Kind.RUN, checks=()):
        code = File(data=AGENT.replace("TEXTS", repr(texts)).encode())
        harness = Harness(
            label="it",
            config=config,
            fingerprint="f" * 64,
            parts={"code": "d"},
            members={"code": ("agent.py",)},
            files={"agent.py": code},
        )
        setup = Setup(
            kind=kind,
            harness=harness,
            tasks=[task(checks=checks)],
            sandbox="process",
            provenance=Header(recording=1),
        )
        return open_bench(setup, {**os.environ, "MODEL_URL": asked.url})

    return make


@pytest.fixture
def run(tmp_path):
    """A run folder."""
    return RunFolder(tmp_path / "run")


STOP = threading.Event()


def journals(run):
    """Return what is left of journals."""
    return list(run.path.rglob("*.journal*"))


def _before(run, task, bench, recorded=None):
    """Return what a run has used, by what is on disk."""
    run.write_info({})
    jobs = [Job(task=task, n=1, recorded=recorded)]
    return spent_before(run, Allowance(), jobs, bench.harness.config).used


def test_an_attempt_that_nobody_takes_up_again_was_paid_for(bench, run, task, asked):
    """What it had asked is in no journal and no trial any more, so the run says it."""
    with bench("one", "two") as plain:
        live_trial(plain, task(), 1, run, STOP)
        assert _before(run, task(), plain).usd == 2.0
    with bench("one", "three") as plain:
        spending = Spending(Allowance(usd=100.0))
        made = live_trial(replace(plain, spending=spending), task(), 1, run, STOP)
        assert _before(run, task(), plain).usd == 3.0
        assert spending.lost == Tally()
        again = Spending(Allowance(usd=100.0))
        live_trial(replace(plain, spending=again), task(), 1, run, STOP)
        assert again.lost.usd == 1.0, "of two attempts one is dropped"
        made.settle()
        assert spending.lost.usd == 1.0, "two was never asked again"
    assert asked == ["one", "two", "three", "three"]


def test_checks_of_answer_and_conduct_find_the_same_again(bench, run, task, tmp_path):
    """What they look at is on the wire: live, in a replay, and in a regrade without an agent."""
    checks = (
        CheckSpec(type="exact_label", params={"labels": ["yes", "no"], "expected": "yes"}),
        CheckSpec(type="expected_output", params={"expected": "es"}),
        CheckSpec(type="tool_call_limit", params={"most": 0}),
        CheckSpec(type="tools_succeed"),
    )
    one = task(checks=checks)
    with bench("say yes", checks=checks) as live:
        live_trial(live, one, 1, run, STOP).settle()
        first = load_recorded(cassette_path(run, "greet", 1).read_bytes(), name="it").measured
    recorded = load_recorded(cassette_path(run, "greet", 1).read_bytes(), name="it")
    with bench("say yes", kind=Kind.REPLAY, checks=checks) as replay:
        folder = RunFolder(tmp_path / "other")
        replayed = replayed_trial(replay, one, recorded, folder, STOP).trial
    with bench("say yes", kind=Kind.REGRADE, checks=checks) as regrade:
        regraded = regraded_trial(regrade, one, recorded, STOP)
    assert [check["outcome"] for check in first["checks"]] == [
        *("passed", "passed", "failed", "passed", "failed")
    ]
    assert replayed.measured()["checks"] == regraded.measured()["checks"] == first["checks"]


def test_a_sealed_trial_that_is_not_on_disk_is_played_again(bench, run, task, asked):
    """A kill in between pays for nothing twice, and its bill is the run's until then."""
    with bench("one", "two") as plain:
        spending = Spending(Allowance(usd=100.0))
        one = replace(plain, spending=spending)
        first = live_trial(one, task(), 1, run, STOP)
        assert first.trial.outcome is Outcome.PASSED
        assert cassette_path(run, "greet", 1).exists()
        assert journals(run)
        assert spending.lost == Tally(), "the journal tells"
        assert _before(run, task(), one).usd == 2.0
        second = live_trial(one, task(), 1, run, STOP)
        assert asked == ["one", "two"]
        assert second.trial.signals.turns == first.trial.signals.turns == 2
        first.settle()
        second.settle()
        assert spending.lost == Tally()
    assert not journals(run)


def test_a_top_up_is_booked_and_kept_as_any_other_trial(bench, run, task, asked, tmp_path):
    """It plays what was recorded, asks the rest, and loses neither before it is on disk."""
    with bench("one") as plain:
        live_trial(plain, task(), 1, run, STOP).settle()
    recorded = load_recorded(cassette_path(run, "greet", 1).read_bytes(), name="it")
    here = RunFolder(tmp_path / "other")
    with bench("one", "two", kind=Kind.TOP_UP) as plain:
        spending, bound = Spending(Allowance(usd=100.0)), TopUp(5)
        one = replace(plain, spending=spending, top_up=bound)
        first = replayed_trial(one, task(), recorded, here, STOP)
        assert (first.trial.evidence, first.trial.topped_up) == (Evidence.TOPPED_UP, 1)
        assert asked == ["one", "two"]
        assert journals(here)
        assert spending.lost == Tally(), "the journal tells"
        assert _before(here, task(), one, recorded).usd == 1.0
        again = TopUp(5)
        second = replayed_trial(replace(one, top_up=again), task(), recorded, here, STOP)
        assert (second.trial.evidence, second.trial.topped_up) == (Evidence.TOPPED_UP, 1)
        assert asked == ["one", "two"]
        assert (bound.used, again.used) == (1, 1)
        first.settle()
        second.settle()
        assert spending.lost == Tally()
    assert not journals(here)


def test_nothing_is_sealed_under_faults(bench, run, task, asked, tmp_path):
    """Not in a live trial, and not in a top-up: it was broken on purpose."""
    stall = Fault(kind=FaultKind.STALL, at=1)
    plan = FaultPlan(name="stall", digest="d", faults=(stall,))
    with bench("one") as plain:
        live_trial(plain, task(), 1, run, STOP).settle()
    recorded = load_recorded(cassette_path(run, "greet", 1).read_bytes(), name="it")
    here = RunFolder(tmp_path / "other")
    with bench("one", "two", kind=Kind.TOP_UP) as plain:
        under = replace(plain, top_up=TopUp(5), faults=plan)
        topped = replayed_trial(under, task(), recorded, here, STOP)
        live = live_trial(under, task(), 2, here, STOP)
    assert topped.trial.topped_up == 1
    for made in (topped, live):
        assert made.trial.evidence is Evidence.FAULTED
        assert made.trial.faults
    assert not list(here.path.rglob("cassette.json"))


def test_a_recording_says_what_it_is_worth(bench, run, task, tmp_path):
    """One from before that was written down is of a live trial; it is read as it stands."""
    with bench("one") as plain:
        live_trial(plain, task(), 1, run, STOP).settle()
    data = cassette_path(run, "greet", 1).read_bytes()
    recorded = load_recorded(data, name="it")
    assert recorded.evidence is Evidence.MEASURED
    header = replace(recorded.tape.header, evidence=None)
    old = dump_cassette(replace(recorded.tape, header=header))
    assert load_recorded(old, name="old").evidence is Evidence.MEASURED
    assert dump_cassette(load_cassette(old, name="old")) == old
    with bench("one", "two", kind=Kind.TOP_UP) as plain:
        here = RunFolder(tmp_path / "other")
        replayed_trial(replace(plain, top_up=TopUp(5)), task(), recorded, here, STOP)
    topped = load_recorded(cassette_path(here, "greet", 1).read_bytes(), name="it")
    assert topped.evidence is Evidence.TOPPED_UP


def test_a_replay_writes_no_journal_and_a_regrade_neither(bench, run, task, asked, tmp_path):
    """They ask nobody, so there is nothing that could be lost."""
    with bench("one") as plain:
        live_trial(plain, task(), 1, run, STOP).settle()
    recorded = load_recorded(cassette_path(run, "greet", 1).read_bytes(), name="it")
    here = RunFolder(tmp_path / "other")
    with bench("one", kind=Kind.REPLAY) as one:
        made = replayed_trial(one, task(), recorded, here, STOP)
        assert made.trial.evidence is Evidence.REPLAYED
        assert not journals(here)
    with bench("one", kind=Kind.REGRADE) as one:
        trial = regraded_trial(one, task(), recorded, STOP)
        assert (trial.outcome, trial.evidence) == (Outcome.PASSED, Evidence.REGRADED)
        assert trial.cassette == recorded.tape.digest
    assert asked == ["one"]
