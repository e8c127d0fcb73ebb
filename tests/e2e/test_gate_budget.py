"""The money of a live gate: one budget for all that it asks, however many runs that takes."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.pages import next_commands

#: What a trial costs here: 100 tokens in, 20 out.
COST = 0.12

#: What an edit may use that costs twice as much as its base's baseline says.
TWICE = {"prompt_tokens": 200, "completion_tokens": 40}


def verdict(repo) -> dict:
    return json.loads((repo.path / ".evalgate" / "verdict.json").read_text())


@pytest.fixture
def gate(repo, scripted, evalgate):
    """A base with a baseline and a price, an edit, and the gate; the model's requests begin at 0.

    The call takes what is appended to the base's configuration first.
    """
    env = {"SCRIPTED_URL": scripted.url}
    price = 'upstream = "env:SCRIPTED_URL"\nprice = { input = 1000, output = 1000 }'
    config = (repo.path / "evalgate.toml").read_text()

    def begin(prompt: str, more: str = ""):
        text = config.replace('upstream = "env:SCRIPTED_URL"', price) + more
        repo.write("evalgate.toml", text)
        done = evalgate("run", "--usd", "9", cwd=repo.path, env=env)
        assert done.returncode == 0, done.stderr
        accepted = evalgate("baseline", "accept", "-k", "1", cwd=repo.path)
        assert accepted.returncode == 0, accepted.stderr
        repo.commit("a price and a baseline")
        repo.write("agent/prompts/rewrite.md", prompt)
        repo.commit("edit")
        scripted.requests.clear()

        def call(*options: str):
            return evalgate("gate", "-j", "1", *options, cwd=repo.path, env=env)

        return call

    return begin


def test_rounds_and_confirmation_share_one_budget(gate, scripted, repo):
    """They had one each. The same command then asks for nothing more; a larger one goes on."""
    call = gate("Be WRONG.\n")
    scripted.usage = TWICE
    done = call("--live", "--usd", "2.9")
    assert done.returncode == 8, done.stdout + done.stderr
    assert len(scripted.requests) * 2 * COST == pytest.approx(2.9, abs=2 * COST)
    found = verdict(repo)
    assert (found["decision"], found["exit_code"]) == ("budget reached", 8)
    assert "Inconclusive: the budget ended before this was decided" in found["sentence"]
    assert "something was suspected and not confirmed" in found["reasons"][0]
    first = next_commands(repo.path / ".evalgate" / "verdict.md")[0]
    assert first == ["gate", "--live", "--usd", "5.80"]
    scripted.requests.clear()
    assert call("--live", "--usd", "2.9").returncode == 8
    assert scripted.requests == []
    assert call("--live", "--usd", "9").returncode == 1
    assert verdict(repo)["decision"] == "regression"


def test_too_little_for_any_gate_is_not_spent(gate, scripted, repo):
    """Nor a larger sum that is too small as well. One that only just pays for a gate is no pass."""
    call = gate("Fix it, please.\n")
    for usd in ("0.3", "2"):
        done = call("--live", "--usd", usd)
        assert done.returncode == 8, done.stdout + done.stderr
        found = verdict(repo)
        assert (found["decision"], found["exit_code"]) == ("budget reached", 8)
        assert found["sentence"] == "Inconclusive: the budget ended before a trial was made."
        assert found["evidence"] is None
        assert "Evidence" not in done.stdout
        why = f"for ${usd} no gate can end in a decision, confirming trials counted:"
        assert found["reasons"] == [f"{why} it takes about $2.64"]
        assert found["least_usd"] == pytest.approx(2.64)
    assert scripted.requests == []
    done = call("--json", "--live", "--usd", "2.65")
    assert done.returncode == 8, done.stdout + done.stderr
    assert len(scripted.requests) == 2
    found = json.loads(done.stdout)
    assert (found["decision"], found["exit_code"]) == ("budget reached", 8)
    assert found["sentence"].startswith("Inconclusive: the budget pays for no more trials than")
    assert found["reasons"][-1].startswith("It would have seen")
    assert found["smallest_drop"] is None or 0 < found["smallest_drop"] <= 1


def test_gates_of_one_pair_at_once_spend_one_budget(gate, scripted, repo):
    """Three at once made the same trials thrice. The second is refused, and may go on later."""
    call = gate("Fix it, please.\n")
    reached, go = scripted.hold()
    with ThreadPoolExecutor() as pool:
        first = pool.submit(call, "--live", "--usd", "4")
        assert reached.wait(60)
        refused = [call("--live", "--usd", "4"), call("--live", "--usd", "4")]
        go.set()
        assert first.result().returncode == 0, first.result().stderr
    for one in refused:
        assert one.returncode == 2, one.stdout
        assert "a live gate of this very pair is under way in process" in one.stderr
        assert "hint: wait until it has ended" in one.stderr
    assert len(scripted.requests) == 6
    assert call("--live", "--usd", "4").returncode == 0
    assert len(scripted.requests) == 6


def test_the_money_is_dealt_out_before_it_is_spent(gate, scripted, repo):
    """What confirms a suspicion is kept aside: fewer rounds, and a decision all the same."""
    call = gate("Be WRONG.\n")
    done = call("--live", "--usd", "2.9")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 trials a task, not 3; the rest is kept to confirm by" in done.stdout
    prompts = ["WRONG" in one["messages"][0]["content"] for one in scripted.requests]
    assert prompts[:4] == [True] * 4
    assert len(prompts) * COST <= 2.9


def test_a_dear_task_is_run_less_often(gate, scripted, repo):
    """More of the cheap one tells more for the same money."""
    right = scripted.answer

    def dear(request):
        double = "double" in request["messages"][-1]["content"]
        scripted.usage = {"prompt_tokens": 1000 if double else 10, "completion_tokens": 20}
        return right(request)

    scripted.answer = dear
    call = gate("Fix it, please.\n")
    # One of each costs 1.05; with what may be confirmed 11.55; two more of the cheap one 0.06.
    done = call("--live", "--usd", "11.7")
    assert done.returncode == 8, done.stdout + done.stderr
    assert "1 to 3 trials a task" in done.stdout
    asked = ["double" in one["messages"][-1]["content"] for one in scripted.requests]
    assert (asked.count(True), asked.count(False)) == (1, 3)
    assert verdict(repo)["decision"] == "budget reached"
    assert verdict(repo)["reasons"][-1].startswith("It would have seen")


def test_a_budget_that_ends_a_round_is_no_pass(gate, scripted, repo):
    """What was made is told, and kept for a gate that may use more."""
    call = gate("Fix it, please.\n", "[budget]\nturns = 6\n")
    text = (repo.path / "evalgate.toml").read_text()

    def edit_again(turns: int) -> None:
        repo.git("checkout", "-q", "HEAD~1")
        repo.write("evalgate.toml", text.replace("turns = 6", f"turns = {turns}"))
        repo.commit("another budget")
        repo.write("agent/prompts/rewrite.md", "Fix it, please.\n")
        repo.commit("edit")

    edit_again(4)
    done = call("--live")
    assert done.returncode == 8, done.stdout + done.stderr
    assert len(scripted.requests) == 4
    found = verdict(repo)
    assert found["decision"] == "budget reached"
    assert found["reasons"][0] == "the budget of 4 model turns is used up after 4 of 6 trials"
    assert found["reasons"][1].startswith("It would have seen")
    assert {task["head"]["measured"] for task in found["tasks"]} == {2}
    edit_again(6)
    done = call("--live")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(scripted.requests) == 6


def test_without_money_nothing_passes(gate, scripted, repo):
    """Nor is anything asked."""
    call = gate("Fix it, please.\n")
    done = call("--live", "--usd", "0")
    assert done.returncode == 8, done.stdout + done.stderr
    assert scripted.requests == []
    assert verdict(repo)["sentence"] == "Inconclusive: the budget ended before a trial was made."


def test_what_must_pass_decides_though_the_money_is_gone(gate, scripted, repo):
    """A floor that is not kept needs no further trial."""
    call = gate("Be WRONG.\n", '[policy]\nmust_pass = ["double"]\n')
    scripted.usage = TWICE
    done = call("--live", "--usd", "2.9")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "double must pass" in verdict(repo)["sentence"]
