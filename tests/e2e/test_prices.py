"""A change that edits its own prices is counted at the base's."""

from __future__ import annotations

import json

import pytest

PRICE = "price = { input = 1000, output = 1000 }"
BUDGET = "\n[policy.budgets]\ncost_usd = 1.1\n"


def verdict(repo) -> dict:
    return json.loads((repo.path / ".evalgate" / "verdict.json").read_text())


@pytest.fixture
def base(repo, scripted, evalgate):
    """A base with a price, a budget for cost, recordings and a baseline."""
    text = (repo.path / "evalgate.toml").read_text()
    upstream = 'upstream = "env:SCRIPTED_URL"'
    repo.write("evalgate.toml", text.replace(upstream, f"{upstream}\n{PRICE}") + BUDGET)
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=repo.path, env=env).returncode == 0
    accepted = evalgate("baseline", "accept", cwd=repo.path)
    assert accepted.returncode == 0, accepted.stderr
    repo.commit("a price, a budget and a baseline")
    scripted.usage = {"prompt_tokens": 300, "completion_tokens": 60}
    return repo


def cheapen(repo, price: str) -> None:
    """Edit the prompt, and what its model is said to cost."""
    text = (repo.path / "evalgate.toml").read_text()
    repo.write("evalgate.toml", text.replace(PRICE, price))
    repo.write("agent/prompts/rewrite.md", "Fix it, please.\n")
    repo.commit("an edit that is three times as dear")


@pytest.mark.parametrize(
    ("price", "told"),
    [
        ("price = { input = 100, output = 100 }", "input $100, output $100 a million tokens"),
        ("", "none"),
    ],
)
@pytest.mark.parametrize("way", ["live", "made by run", "recorded"])
def test_no_change_makes_itself_cheap(base, scripted, evalgate, price, told, way):
    """Neither by a lower price nor by none, however its trials came about."""
    cheapen(base, price)
    env = {"SCRIPTED_URL": scripted.url}
    if way != "live":
        record = ["--record"] if way == "recorded" else []
        assert evalgate("run", *record, cwd=base.path, env=env).returncode == 0
        base.git("add", "-A")
        base.git("commit", "-q", "--amend", "--no-edit")
    done = evalgate("gate", *(["--live"] if way == "live" else []), cwd=base.path, env=env)
    assert done.returncode == 1, done.stdout + done.stderr
    found = verdict(base)
    assert found["decision"] == "regression"
    assert "cost: $0.1200 → $0.3600 a trial" in found["sentence"]
    edit = "this change edits the price of scripted-1: input $1000, output $1000 a million tokens"
    assert f"{edit} → {told}" in done.stdout.replace("\\$", "$")


def test_a_gate_s_money_is_counted_at_the_base_s_prices(base, scripted, evalgate):
    """Else a change would spend ten times what it was given."""
    cheapen(base, "price = { input = 100, output = 100 }")
    scripted.requests.clear()
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("gate", "--live", "-j", "1", "--usd", "3.0", cwd=base.path, env=env)
    assert done.returncode in {1, 8}, done.stdout
    assert 0.36 * len(scripted.requests) <= 3.0 + 0.36


def test_a_budget_that_can_not_be_reckoned_is_not_kept(base, scripted, evalgate):
    """A head that does not say what it uses passes by no budget."""
    base.write("agent/prompts/rewrite.md", "Fix it, please.\n")
    base.commit("edit")
    scripted.usage = {}
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("gate", "--live", cwd=base.path, env=env)
    assert done.returncode == 4, done.stdout + done.stderr
    found = verdict(base)
    assert found["decision"] == "not measured"
    assert "cost has a budget" in found["sentence"]
    assert "double, triple" in found["sentence"]


def test_prices_of_its_own_models_are_taken_and_told(base, scripted, evalgate):
    """The base knows none for a model that it does not have."""
    text = (base.path / "evalgate.toml").read_text()
    base.write("evalgate.toml", text.replace('"scripted-1"', '"other-1"'))
    base.commit("another model")
    scripted.served = "other-1"
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("gate", "--live", cwd=base.path, env=env)
    assert "the price of other-1 is this change's own" in done.stdout


def test_an_accepted_price_is_counted_at_its_own(base, scripted, evalgate):
    """What a gate made at the base's prices becomes a baseline at those of its own state."""
    scripted.usage = {"prompt_tokens": 100, "completion_tokens": 20}
    cheapen(base, "price = { input = 100, output = 100 }")
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("gate", "--live", cwd=base.path, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    accepted = evalgate("baseline", "accept", "-k", "1", cwd=base.path)
    assert accepted.returncode == 0, accepted.stderr
    texts = [path.read_text() for path in (base.path / "baselines").glob("*.toml")]
    assert sorted("0.012" in text for text in texts) == [False, True]


def test_a_price_that_the_base_edits_makes_no_change_dear(base, scripted, evalgate):
    """Its older baseline is counted at the new one; so are both sides of a comparison."""
    scripted.usage = {"prompt_tokens": 100, "completion_tokens": 20}
    text = (base.path / "evalgate.toml").read_text()
    dearer = text.replace(PRICE, "price = { input = 2000, output = 2000 }")
    base.write("evalgate.toml", dearer)
    base.commit("the provider is dearer")
    base.write("agent/prompts/rewrite.md", "Fix it, please.\n")
    base.commit("an edit that costs the same")
    assert evalgate("run", cwd=base.path, env={"SCRIPTED_URL": scripted.url}).returncode == 0
    done = evalgate("gate", cwd=base.path)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "stale by 1 change of the harness" in done.stdout
    cost = verdict(base)["signals"]["cost_usd"]
    assert (cost["base"], cost["head"]) == (pytest.approx(0.24), pytest.approx(0.24))
    compared = json.loads(evalgate("--json", "compare", "HEAD~2", "latest", cwd=base.path).stdout)
    assert compared["signals"]["cost_usd"]["base"] == pytest.approx(0.24)
