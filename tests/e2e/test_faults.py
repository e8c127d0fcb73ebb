"""`--faults` and limits through the command line: what an agent bears, and what it may use."""

from __future__ import annotations

import json

import pytest

from evalgate.commands.faults import ready_plans
from tests.e2e.conftest import HARNESS, kill_at

#: What the demo's agent does not do: ask again after whatever it gave up for.
PATIENT = """
first = Model.ask
def ask(self, *args):
    for attempt in range(4):
        try:
            return first(self, *args)
        except SystemExit:
            if attempt == 3:
                raise
Model.ask = ask

"""

#: An agent that asks everything twice.
TWICE = """
first = Model.ask
Model.ask = lambda self, *args: (first(self, *args), first(self, *args))[1]

"""


def taught(repo, text):
    """Let the demo's agent do the work, with some code put before its end."""
    agent = repo.path / "agent/agent.py"
    before, main, rest = (HARNESS / "agent.py").read_text().partition('if __name__ == "__main__":')
    assert main
    agent.write_text(before + text + main + rest)


def newest(repo):
    return max((repo.path / ".evalgate" / "runs").iterdir())


def trials(repo):
    lines = (newest(repo) / "trials.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture
def patient(repo, scripted, evalgate):
    """Recordings of an agent that asks again."""
    taught(repo, PATIENT)
    done = evalgate("run", "--record", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    repo.commit("Recordings of a patient agent")
    scripted.requests.clear()
    return repo


@pytest.mark.parametrize("plan", ["retry", "reset"])
def test_an_agent_that_asks_again_comes_through(patient, scripted, evalgate, plan):
    """Exit 0: each trial ended as recorded, met its faults, and asked no model."""
    done = evalgate("replay", "--faults", plan, "-j", "2", cwd=patient.path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "under faults: 6 of 6 trials ended as recorded; 6 met a fault" in done.stdout
    assert "evidence: faulted" in done.stdout
    assert "never count" in done.stderr
    fired = {"retry": ["status 429 at request 1", "status 529 at request 2"]}
    for trial in trials(patient):
        assert trial["evidence"] == "faulted"
        assert trial["faults"] == fired.get(plan, ["reset at request 1"])
        assert trial["outcome"] == "passed"
    assert not scripted.requests


def test_an_agent_that_gives_up_is_found_out(recorded, evalgate):
    """Exit 1 and one line a trial: what fired, and how it ended."""
    done = evalgate("--json", "replay", "--faults", "retry", "double", cwd=recorded.path)
    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["exit_code"] == 1
    assert report["evidence"] == "faulted"
    assert len(report["problems"]) == 3
    for line in report["problems"]:
        assert "passed → failed" in line
        assert line.endswith(": status 429 at request 1")


def test_nothing_under_faults_is_evidence(recorded, scripted, evalgate):
    """No baseline, no recording, no run for the gate, nothing to replay or to resume."""
    env = {"SCRIPTED_URL": scripted.url}
    before = sorted((recorded.path / "cassettes").rglob("*.json"))
    recorded.write("agent/prompts/rewrite.md", "Another prompt.\n")
    done = evalgate("run", "--faults", "stall", cwd=recorded.path, env=env)
    assert done.returncode == 0, done.stderr
    assert "none counts" in done.stdout
    assert not list(newest(recorded).rglob("*cassette*"))
    for trial in trials(recorded):
        assert (trial["evidence"], trial["cassette"]) == ("faulted", "")
        assert trial["faults"] == ["stall of 2 s at request 1"]
    shown = evalgate("show", "latest:double:1", cwd=recorded.path).stdout
    assert "  fault: stall of 2 s at request 1\n" in shown
    assert evalgate("gate", cwd=recorded.path).returncode == 7
    done = evalgate("baseline", "accept", cwd=recorded.path)
    assert done.returncode == 2
    assert "was made under faults" in done.stderr
    done = evalgate("run", "--faults", "stall", "--record", cwd=recorded.path, env=env)
    assert done.returncode == 2
    assert "are not recorded" in done.stderr
    assert sorted((recorded.path / "cassettes").rglob("*.json")) == before


def test_a_plan_that_hits_nothing_says_so(recorded, evalgate, tmp_path):
    """Exit 5: what was never hit was never tested."""
    plan = tmp_path / "late.toml"
    plan.write_text('format = 1\n[[fault]]\nkind = "reset"\nat = 50\n')
    done = evalgate("replay", "--faults", plan, "double", cwd=recorded.path)
    assert done.returncode == 5, done.stderr
    assert "no fault fired" in done.stdout
    shown = evalgate("show", "latest:double:1", cwd=recorded.path).stdout
    assert "  fault: none fired\n" in shown
    plan.write_text('format = 1\n[[fault]]\nkind = "reset"\nat = 1\ntask = "trip*"\n')
    done = evalgate("replay", "--faults", plan, cwd=recorded.path)
    assert done.returncode == 1
    assert done.stdout.count("passed, as recorded: no fault fired") == 3


def test_a_plan_that_is_none(recorded, evalgate, tmp_path):
    """The ready ones are named; a bad file is named with its line."""
    done = evalgate("replay", "--faults", "retires", cwd=recorded.path)
    assert done.returncode == 2
    for name in ready_plans():
        assert name in done.stderr
    plan = tmp_path / "bad.toml"
    plan.write_text('format = 1\n[[fault]]\nkind = "flood"\nat = 1\n')
    done = evalgate("replay", "--faults", plan, cwd=recorded.path)
    assert done.returncode == 2
    assert "bad.toml:3: fault.kind" in done.stderr
    assert evalgate("replay", "--faults", tmp_path, cwd=recorded.path).returncode == 2


def priced(repo, more):
    """Give the model a price, and the configuration something more."""
    config = (repo.path / "evalgate.toml").read_text()
    price = "price = { input = 10.0, output = 0.0 }\n[agent]"
    repo.write("evalgate.toml", config.replace("[agent]", price) + more)


def test_a_limit_of_the_project_is_part_of_its_tasks(repo, scripted, evalgate):
    """Another limit is another measurement, also where nobody reaches it."""
    env = {"SCRIPTED_URL": scripted.url}
    digests = []
    for more in ("", "[limits]\nmax_tokens = 1000\n", "[limits]\nmax_tokens = 2000\n"):
        priced(repo, more)
        done = evalgate("run", "-k", "1", "double", cwd=repo.path, env=env)
        assert done.returncode == 0, done.stderr
        assert trials(repo)[0]["outcome"] == "passed"
        digests.append(trials(repo)[0]["task_digest"])
        repo.git("checkout", "-q", "evalgate.toml")
    assert len(set(digests)) == 3


def test_a_trial_beyond_its_limit_is_failed_and_replayed_as_such(repo, scripted, evalgate):
    """Measured, with its reason; the recorded refusal is met again without any count."""
    taught(repo, TWICE)
    priced(repo, "[limits]\nmax_tokens = 100\n")
    done = evalgate("run", "--record", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    reason = "evalgate: the limit of 100 tokens is reached: 120 were used"
    assert {(t["outcome"], t["reason"]) for t in trials(repo)} == {("failed", reason)}
    assert len(scripted.requests) == 6
    repo.commit("Recordings at their limit")
    done = evalgate("replay", cwd=repo.path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {(t["outcome"], t["reason"]) for t in trials(repo)} == {("failed", reason)}


def test_a_limit_of_money_needs_a_price(repo, scripted, evalgate):
    """Said before the first call, also when it is a task or the project that sets it."""
    repo.write(
        "evalgate.toml", (repo.path / "evalgate.toml").read_text() + "[limits]\nmax_usd = 1\n"
    )
    done = evalgate("run", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 2
    assert "its price is unknown, so max_usd of task double can not hold" in done.stderr
    assert not scripted.requests


def test_a_budget_of_tokens_cuts_off_a_running_trial(repo, scripted, evalgate):
    """Exit 8: what is cut off leaves no trial, is not spent twice, and is made again later."""
    taught(repo, TWICE)
    config = (repo.path / "evalgate.toml").read_text()
    env = {"SCRIPTED_URL": scripted.url}
    repo.write("evalgate.toml", config + "[budget]\ntokens = 360\n")
    done = evalgate("run", "-j", "1", cwd=repo.path, env=env)
    assert done.returncode == 8, done.stderr + done.stdout
    assert "the budget of 360 tokens is used up after 1 of 6 trials" in done.stderr
    assert "[budget]" in done.stderr
    assert len(scripted.requests) == 3
    assert "lost" not in json.loads((newest(repo) / "run.json").read_text())
    # The answer that the cut-off trial had got was paid for: it is played, and counted once.
    repo.write("evalgate.toml", config + "[budget]\ntokens = 600\n")
    done = evalgate("run", "-j", "1", cwd=repo.path, env=env)
    assert done.returncode == 8, done.stderr + done.stdout
    assert len(scripted.requests) == 5
    repo.write("evalgate.toml", config + "[budget]\ntokens = 1440\n")
    done = evalgate("run", "-j", "1", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert len(scripted.requests) == 2 * 6


def test_a_budget_holds_over_a_kill(repo, scripted, evalgate, start):
    """SIGKILL writes nothing down: what was paid before it stands in the journal, and counts."""
    taught(repo, TWICE)
    config = (repo.path / "evalgate.toml").read_text()
    kill_at(2, ("run", "-j", "1"), kept=1, repo=repo, scripted=scripted, start=start)
    env = {"SCRIPTED_URL": scripted.url}
    scripted.requests.clear()
    repo.write("evalgate.toml", config + "[budget]\ntokens = 240\n")
    done = evalgate("run", "-j", "1", cwd=repo.path, env=env)
    assert done.returncode == 8, done.stderr + done.stdout
    assert len(trials(repo)) == 1
    assert len(scripted.requests) == 1
