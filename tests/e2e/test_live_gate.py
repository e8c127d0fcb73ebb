"""`evalgate gate --live`: rounds, suspicion, fresh runs of both sides, and one decision."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest


def verdict(repo) -> dict:
    return json.loads((repo.path / ".evalgate" / "verdict.json").read_text())


def edit(repo, prompt: str) -> None:
    repo.write("agent/prompts/rewrite.md", prompt)
    repo.commit(f"Edit the prompt: {prompt}")


def turning(after: int, first, then):
    """Return an answer that is ``first`` for so many requests, and ``then`` for all others."""
    asked = []

    def answer(request):
        asked.append(request)
        return (first if len(asked) <= after else then)(request)

    return answer


@pytest.fixture
def live(recorded, scripted, evalgate):
    """Call the gate live; return the finished process."""

    def call(*options: str):
        env = {"SCRIPTED_URL": scripted.url}
        return evalgate("gate", "--live", *options, cwd=recorded.path, env=env)

    return call


def test_a_drop_is_confirmed_by_fresh_runs_of_both_sides(recorded, scripted, live):
    """Six trials of the head, then three of each task on each side, in turn."""
    edit(recorded, "Be WRONG.\n")
    scripted.requests.clear()
    done = live("-j", "1")
    assert done.returncode == 1, done.stderr
    found = verdict(recorded)
    assert (found["decision"], found["evidence"]) == ("regression", "measured")
    assert "in fresh runs of both sides, made side by side" in found["sentence"]
    assert found["reasons"][0].startswith("against the stored baseline: 100 % → 0 %")
    prompts = ["WRONG" in one["messages"][0]["content"] for one in scripted.requests]
    assert prompts[:6] == [True] * 6
    assert prompts[6:] == [True, True, False, False] * 3
    assert "3 fresh trials of 2 tasks on both sides, in turn" in done.stdout


def test_the_same_question_costs_nothing_twice(recorded, scripted, live):
    """What was made for it is the answer again."""
    edit(recorded, "Be WRONG.\n")
    assert live().returncode == 1
    first = verdict(recorded)
    scripted.requests.clear()
    assert live().returncode == 1
    assert scripted.requests == []
    assert verdict(recorded) == first


def test_an_unlucky_head_is_not_blocked(recorded, scripted, live):
    """What fresh runs do not confirm passes, and is told."""
    edit(recorded, "Fix it, please.\n")
    scripted.answer = turning(6, lambda _: (200, "no idea"), scripted.answer)
    done = live("-j", "1")
    assert done.returncode == 0, done.stderr
    found = verdict(recorded)
    assert found["decision"] == "suspect, not confirmed"
    assert found["reasons"] == [
        "fresh runs of both sides on 2 tasks: 100 % → 100 % (+0.0 points, 90 % interval -50 to +50)"
    ]


def test_a_world_that_got_worse_is_not_the_change_s_doing(recorded, scripted, live):
    """The base does as badly today: exit 3, and the baseline is to be made anew."""
    edit(recorded, "Fix it, please.\n")
    scripted.answer = lambda _: (200, "no idea")
    done = live()
    assert done.returncode == 3, done.stderr
    found = verdict(recorded)
    assert found["decision"] == "baseline moved"
    assert "The base itself does worse today" in found["sentence"]
    base = recorded.git("rev-parse", "--short=12", "HEAD~1")
    assert f"evalgate baseline renew --rev {base}" in done.stdout


def test_a_renewed_baseline_takes_the_place_of_the_old_one(recorded, scripted, live, evalgate):
    """Once the world moved, its numbers alone are compared with; the old ones stay to be read."""
    (old,) = (path.name for path in (recorded.path / "baselines").glob("*.toml"))
    scripted.answer = lambda _: (200, "no idea")
    env = {"SCRIPTED_URL": scripted.url}

    def call(*arguments: str):
        return evalgate(*arguments, cwd=recorded.path, env=env)

    assert call("run", "-k", "6").returncode == 0
    beside = call("baseline", "accept", "-k", "1")
    assert beside.returncode == 2
    assert "of this very harness: beyond chance" in beside.stderr
    assert "--supersede" in beside.stderr
    assert call("baseline", "accept", "-k", "1", "--supersede").returncode == 0
    renewed = call("baseline", "renew", "--live", "-k", "6")
    assert renewed.returncode == 0, renewed.stderr
    assert "in the place of 2 older" in renewed.stderr
    recorded.commit("Renew the baseline")
    moved = call("gate")
    assert moved.returncode == 0, moved.stdout
    assert "takes the place of the harness's older numbers: 0/12 passed, and 6/6 then" in (
        moved.stdout
    )
    listed = call("baseline", "list").stdout
    assert listed.count("superseded by") == 2
    assert "12/12" not in call("baseline", "show", old[:16]).stdout
    assert "0/12 passed" in call("baseline", "show", old[:16]).stdout
    assert f"{old}: digest recomputed" in call("baseline", "verify").stdout
    edit(recorded, "Fix it, please.\n")
    assert live().returncode == 0
    assert [one["base"]["measured"] for one in verdict(recorded)["tasks"]] == [6, 6]
    pruned = json.loads(call("--json", "baseline", "prune", "--keep", "9").stdout)
    assert (f"baselines/{old}" in pruned["files"], pruned["kept"]) == (True, 1)


def test_a_branch_that_did_not_know_of_a_renewal_brings_no_older_numbers_back(
    recorded, scripted, evalgate
):
    """Its baseline is older than the renewal: it is kept, named and not pooled."""

    def call(*arguments: str):
        done = evalgate(*arguments, cwd=recorded.path, env={"SCRIPTED_URL": scripted.url})
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    main = recorded.git("branch", "--show-current")
    recorded.git("switch", "-c", "nightly")
    call("run", "-k", "4")
    call("baseline", "accept", "-k", "1")
    recorded.commit("The night's numbers")
    (nightly,) = recorded.git(
        "diff", "--name-only", f"{main}...", "--", ":(glob)baselines/*.toml"
    ).split()
    recorded.git("switch", main)
    shutil.rmtree(recorded.path / ".evalgate/runs")  # as on another machine
    scripted.answer = lambda _: (200, "no idea")
    time.sleep(1.1)  # a baseline's time has whole seconds
    call("baseline", "renew", "--live", "-k", "6")
    recorded.commit("Renew the baseline")
    recorded.git("merge", "--no-edit", "nightly")
    merged = call("gate").stdout
    top = merged[: merged.index("<details>")] if "<details>" in merged else merged
    assert f"{nightly} is not pooled: it is older" in top
    assert "took the place of all before it" in top
    shown = call("baseline", "show", Path(nightly).name[:16]).stdout
    assert "0/12 passed" in shown
    assert "2 superseded left out" in shown


def test_a_provider_that_fails_is_not_measured(recorded, scripted, live):
    """Neither in a round nor in the confirmation; what errored is made again once it answers."""
    edit(recorded, "Be WRONG.\n")
    right, failing = scripted.answer, lambda _: (401, "no")
    scripted.answer = failing
    assert live("-j", "1").returncode == 4
    assert verdict(recorded)["decision"] == "not measured"
    scripted.answer = turning(6, right, failing)
    done = live("-j", "1")
    assert done.returncode == 4, done.stderr
    assert verdict(recorded)["decision"] == "not measured"
    assert verdict(recorded)["errored"] is None  # of the rounds, and not of what confirms
    scripted.answer = right
    done = live("-j", "1")
    assert done.returncode == 1, done.stderr


def test_what_errored_is_shown_whatever_is_decided(recorded, scripted, live, evalgate):
    """With its reason; and warned of where the base has less of it than chance explains."""
    config = (recorded.path / "evalgate.toml").read_text()
    lenient = f"{config}\n[policy]\nmax_errored = 0.8\n".replace("trials = 3", "trials = 5")
    recorded.write("evalgate.toml", lenient)
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", cwd=recorded.path, env=env).returncode == 0
    assert evalgate("baseline", "accept", "-k", "1", cwd=recorded.path).returncode == 0
    recorded.commit("five trials")
    edit(recorded, "Fix it, please.\n")
    scripted.answer = turning(3, lambda _: (401, "no"), scripted.answer)
    done = live("-j", "1")
    assert done.returncode == 4, done.stdout + done.stderr  # all there are of one task
    found = verdict(recorded)["errored"]
    assert (found["base"]["errored"], found["head"]["errored"]) == (0, 3)
    assert f"3 of {found['head']['trials']} trials of the head errored (0 of" in done.stdout
    assert found["p_more"] <= 0.05
    assert "⚠ more trials of the head errored than chance explains" in done.stdout


def test_strict_asks_for_an_answer(recorded, live):
    """Undecided is exit 4 then, here and in the file."""
    edit(recorded, "Fix it, please.\n")
    assert live().returncode == 0
    assert verdict(recorded)["decision"] == "undecided"
    assert live("--strict").returncode == 4
    assert verdict(recorded)["exit_code"] == 4


def test_what_must_pass_must_pass(recorded, scripted, live):
    """Whatever the base does: a floor of the policy, read from the base."""
    config = (recorded.path / "evalgate.toml").read_text()
    policy = '\n[policy]\nmust_pass = ["double"]\nsuite_alpha = 0.001\n'
    recorded.write("evalgate.toml", config + policy)
    recorded.commit("policy")
    edit(recorded, "Fix it, please.\n")
    right = scripted.answer
    asked = []

    def once_wrong(request):
        if "double" in request["messages"][-1]["content"]:
            asked.append(request)
            if len(asked) == 2:
                return 200, "no idea"
        return right(request)

    scripted.answer = once_wrong
    done = live()
    assert done.returncode == 1, done.stdout
    assert "double must pass and passed 2 of 3 times" in verdict(recorded)["sentence"]
    only = "policy.suite_alpha = 0.001: for trials that exist only"
    assert any(only in note for note in verdict(recorded)["notes"])


def test_fewer_rounds_where_it_is_clear(recorded, scripted, live, evalgate):
    """With five trials planned, a head that does well is not run five times."""
    config = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", config.replace("trials = 3", "trials = 5"))
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", cwd=recorded.path, env=env).returncode == 0
    assert evalgate("baseline", "accept", "-k", "1", cwd=recorded.path).returncode == 0
    recorded.commit("five trials")
    edit(recorded, "Fix it, please.\n")
    scripted.requests.clear()
    done = live()
    assert done.returncode == 0, done.stderr
    found = verdict(recorded)
    assert found["decision"] == "undecided"
    assert found["sentence"].startswith("No sign of a drop after 4 of 10 trials, stopped early")
    assert len(scripted.requests) == 4


def test_trials_under_other_tripwires_are_not_taken(recorded, scripted, evalgate):
    """What the change looks for in place of the base's would hide what it touched."""
    config = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", config + '\n[tripwires]\nwithout = ["history"]\n')
    edit(recorded, "Be WRONG.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", cwd=recorded.path, env=env).returncode == 0
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 7, done.stdout
    assert "this change edits the tripwires; the base's are looked for" in done.stdout


@pytest.mark.parametrize("allowed", [False, True])
def test_trials_without_isolation_count_where_the_configuration_says_so(
    recorded, scripted, evalgate, allowed
):
    """A word on the command line makes them for a person to see; no gate decides by them."""
    config = (recorded.path / "evalgate.toml").read_text()
    if allowed:
        recorded.write("evalgate.toml", config + '\n[sandbox]\nuse = "process"\n')
    edit(recorded, "Be WRONG.\n")
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "--sandbox", "process", cwd=recorded.path, env=env)
    assert done.returncode == 0
    assert ("no gate counts such trials" in done.stderr) is not allowed
    done = evalgate("gate", cwd=recorded.path)
    assert ("This edit is not measured" in done.stdout) is not allowed


def test_a_gate_makes_no_trial_without_isolation(recorded, scripted, evalgate, tmp_path):
    """Where nothing isolates it is refused with the ways out, unless the configuration says so."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "python3", "sh"):
        (programs / name).symlink_to(shutil.which(name))
    away = {"DOCKER_HOST": f"unix://{tmp_path}/no", "CONTAINER_HOST": f"unix://{tmp_path}/no"}
    env = {"SCRIPTED_URL": scripted.url, "PATH": str(programs), **away}
    edit(recorded, "Fix it, please.\n")
    done = evalgate("gate", "--live", cwd=recorded.path, env=env)
    assert done.returncode == 9, done.stdout
    assert "nothing here isolates an agent" in done.stderr
    assert "install Docker or bubblewrap" in done.stderr
    assert "`evalgate replay` works here" in done.stderr


def test_a_confirmation_under_other_tripwires_is_made_again(recorded, scripted, live):
    """What the base looks for since then was not looked for in it."""
    config = (recorded.path / "evalgate.toml").read_text()
    prompt = (recorded.path / "agent/prompts/rewrite.md").read_text()
    edit(recorded, "Be WRONG.\n")
    assert live("-j", "1").returncode == 1
    recorded.write("evalgate.toml", config + '\n[tripwires]\nwithout = ["history"]\n')
    edit(recorded, prompt)
    edit(recorded, "Be WRONG.\n")
    scripted.requests.clear()
    assert live("-j", "1").returncode == 1
    assert len(scripted.requests) == 6 + 12


def test_all_rounds_are_accepted_together(recorded, scripted, live, evalgate):
    """They are one sample; a confirmation, which is of two harnesses, is none."""
    edit(recorded, "Be WRONG.\n")
    assert live("-j", "1").returncode == 1
    confirming = evalgate("baseline", "accept", "latest", cwd=recorded.path)
    assert confirming.returncode == 2
    assert "was made to check other trials" in confirming.stderr
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--fresh", cwd=recorded.path, env=env).returncode == 0
    assert evalgate("run", "--fresh", "double", cwd=recorded.path, env=env).returncode == 0
    done = evalgate("baseline", "accept", "-k", "1", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    assert "the 3 live runs of this harness made here" in done.stderr
    listed = evalgate("baseline", "list", cwd=recorded.path).stdout
    assert "0/15 passed" in listed


def test_the_classic_story(recorded, scripted, live, evalgate):
    """A line asks for shorter messages; every check stays green; diffs grow and answers swell.

    The gate passes it, and warns of what no check looks at.
    """
    config = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", config.replace("trials = 3", "trials = 5"))
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", cwd=recorded.path, env=env).returncode == 0
    assert evalgate("baseline", "accept", "-k", "1", cwd=recorded.path).returncode == 0
    recorded.commit("five trials")
    edit(recorded, "Fix it. Keep commit messages SHORT.\n")
    right = scripted.answer

    def vague(request):
        status, text = right(request)
        if "SHORT" in request["messages"][0]["content"]:
            text = text.replace("    return", "    # TODO: describe\n    # TODO: tidy\n    return")
        return status, text

    scripted.answer = vague
    done = live("--advisory")
    assert done.returncode == 0, done.stderr
    found = verdict(recorded)
    assert found["decision"] in {"pass", "undecided"}
    assert found["signals"]["diff_lines"]["flag"] == "up"
    assert "| ⚠ diff lines a trial | 2 | 4 | +100 % (90 % interval" in done.stdout
    budget = (recorded.path / "evalgate.toml").read_text() + "[policy.budgets]\ndiff_lines = 1.3\n"
    recorded.git("checkout", "-q", "HEAD~1")
    recorded.write("evalgate.toml", budget)
    recorded.commit("a budget")
    edit(recorded, "Fix it. Keep commit messages SHORT.\n")
    done = live()
    assert done.returncode == 1, done.stdout
    assert "more than +30 % is not allowed" in verdict(recorded)["sentence"]


def test_news_too_good_to_be_true_are_made_again_and_to_be_read(repo, scripted, evalgate):
    """Fresh runs of both sides confirm them, and the trials that passed are named."""
    env = {"SCRIPTED_URL": scripted.url}
    repo.write("agent/prompts/rewrite.md", "Be WRONG.\n")
    assert evalgate("run", "--record", cwd=repo.path, env=env).returncode == 0
    assert evalgate("baseline", "accept", cwd=repo.path).returncode == 0
    repo.commit("A bad start")
    edit(repo, "Be right.\n")
    done = evalgate("gate", "--live", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert "fresh trials of 2 tasks on both sides, in turn" in done.stdout
    assert "in fresh runs of both sides" in verdict(repo)["sentence"]
    for task in ("double", "triple"):
        assert f"{task} never passed before: read how it passes now: evalgate show" in done.stdout
