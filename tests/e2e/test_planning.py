"""`evalgate plan`, `noise` and `compare`: what is known, and nothing is run."""

from __future__ import annotations

import json

from tests.e2e.small_task import write_task


def test_a_plan_says_what_finds_a_drop_and_what_it_costs(recorded, evalgate, scripted):
    """Simulated from the suite's own baseline, the same every time; no model is asked."""
    asked = len(scripted.requests)
    done = evalgate("--json", "plan", "--drop", "50", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["tasks"], found["stored_trials"], found["drop"]) == (2, 6, 0.5)
    assert [one["trials"] for one in found["choices"]] == [1, 3, 5, 10, 20]
    shares = [one["found"] for one in found["choices"]]
    assert shares[-1] > shares[0]
    assert all(one["usd_a_gate"] is None for one in found["choices"])
    assert found["unpriced"] == ["models.main.price"]
    told = evalgate("plan", cwd=recorded.path).stdout
    assert "Money: cost unknown (models.main.price is not set)." in told
    assert evalgate("--json", "plan", "--drop", "50", cwd=recorded.path).stdout == done.stdout
    assert len(scripted.requests) == asked


def test_a_configuration_that_could_not_block_is_warned_of_before_anything_runs(recorded, evalgate):
    """By what only reads it as well: `run --dry-run` and `plan`."""
    text = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", text.replace("trials = 3", "trials = 1"))
    recorded.write("tasks/double/instruction.md", "In `double.py`, double(2) should be 4!\n")
    recorded.commit("One trial, and only one task that is measured")
    done = evalgate("run", "--dry-run", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    assert "nothing could ever block" in done.stderr
    said = json.loads(evalgate("--json", "plan", cwd=recorded.path).stdout)["warnings"]
    assert "nothing could ever block" in said[0]
    assert f"As configured: {said[0]}." in evalgate("plan", cwd=recorded.path).stdout
    recorded.git("rm", "-rq", "baselines")
    recorded.commit("Nothing measured")
    done = evalgate("run", "--dry-run", cwd=recorded.path)
    assert "1 trial of 2 tasks could never block" in done.stderr


def test_few_stored_trials_are_asked_for_first(recorded, evalgate):
    """Before more tasks."""
    few = evalgate("plan", "--drop", "1", cwd=recorded.path).stdout
    assert "measure the baseline more often (evalgate run -k 20), or add tasks." in few


def test_money_chooses_the_best_it_buys(recorded, evalgate, scripted):
    """With a price that is known, and none without one."""
    done = evalgate("plan", "--usd", "5", cwd=recorded.path)
    assert "For $5.00 no gate is known to be affordable." in done.stdout
    config = recorded.path / "evalgate.toml"
    price = 'upstream = "env:SCRIPTED_URL"\nprice = { input = 1000, output = 1000 }'
    config.write_text(config.read_text().replace('upstream = "env:SCRIPTED_URL"', price))
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", cwd=recorded.path, env=env).returncode == 0
    assert evalgate("baseline", "accept", "-k", "1", cwd=recorded.path).returncode == 0
    done = evalgate("--json", "plan", "--usd", "2.9", cwd=recorded.path)
    found = json.loads(done.stdout)
    costs = {one["trials"]: one["usd_a_gate"] for one in found["choices"]}
    assert all(cost is not None for cost in costs.values())
    # Two of each are 0.48, and what confirms them is up to 2.40.
    assert found["affordable"]["trials"] == {"double": 2, "triple": 2}
    assert 0 <= found["affordable"]["found"] <= 1
    assert "For $2.90 at most" in evalgate("plan", "--usd", "2.9", cwd=recorded.path).stdout


def test_noise_is_that_of_the_suite(recorded, evalgate):
    """How often nothing is taken for something, and what would be seen."""
    done = evalgate("--json", "noise", "-k", "5", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert 0 <= found["false_blocks"] <= found["suspected"] <= 0.5
    assert found["smallest_drop"] is None or found["smallest_drop"] > 0.1


def test_without_numbers_there_is_no_plan(repo, evalgate):
    """The way to them is shown."""
    for command in (("plan",), ("noise",)):
        done = evalgate(*command, cwd=repo.path)
        assert done.returncode == 2
        assert "nobody measured the harness" in done.stderr
        assert "evalgate baseline accept" in done.stderr
    assert evalgate("plan", "--drop", "0", cwd=repo.path).returncode == 2


def test_two_runs_are_compared(recorded, scripted, evalgate):
    """By their names, the start of them, or `latest`; nothing is gated."""
    recorded.write("agent/prompts/rewrite.md", "Be WRONG.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", cwd=recorded.path, env=env).returncode == 0
    first, second = sorted(path.name for path in (recorded.path / ".evalgate/runs").iterdir())[-2:]
    done = evalgate("compare", first, "latest", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    assert "**Regression: " in done.stdout
    assert second in done.stdout
    asked = len(scripted.requests)
    back = evalgate("--json", "compare", second, first, cwd=recorded.path)
    assert json.loads(back.stdout)["decision"] == "improved"
    assert len(scripted.requests) == asked


def test_revisions_and_harnesses_are_compared_by_their_baselines(recorded, scripted, evalgate):
    """What nobody measured is named."""
    (baseline,) = (recorded.path / "baselines").glob("*.toml")
    done = evalgate("compare", "HEAD", baseline.name[:12], cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    assert "100 % → 100 %" in done.stdout
    recorded.write("agent/prompts/rewrite.md", "Another.\n")
    recorded.commit("edit")
    done = evalgate("compare", "HEAD~1", "HEAD", cwd=recorded.path)
    assert done.returncode == 2
    assert "the harness of HEAD (" in done.stderr
    env = {"SCRIPTED_URL": scripted.url}
    for _ in range(2):
        assert evalgate("run", "-k", "1", cwd=recorded.path, env=env).returncode == 0
    done = evalgate("compare", "HEAD~1", "HEAD", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    assert "2 live runs of harness" in done.stdout
    done = evalgate("compare", "nonsense", "HEAD", cwd=recorded.path)
    assert done.returncode == 2
    assert "'nonsense' names no run" in done.stderr


def test_the_ledger_lists_every_experiment(recorded, scripted, evalgate):
    """Oldest first, with its reason; as a table for a page too."""
    recorded.write("agent/prompts/rewrite.md", "Be WRONG | or not.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", cwd=recorded.path, env=env).returncode == 0
    done = evalgate(
        "baseline", "accept", "-k", "1", "--reason", "worse | on purpose", cwd=recorded.path
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(evalgate("--json", "ledger", cwd=recorded.path).stdout)["experiments"]
    assert [(one["passed"], one["measured"]) for one in found] in (
        [(6, 6), (0, 6)],
        [(0, 6), (6, 6)],
    )
    page = evalgate("ledger", "--markdown", cwd=recorded.path).stdout
    assert page.startswith("| date | harness | decision |")
    assert "worse \\| on purpose" in page
    (entry, *_) = (recorded.path / "baselines/ledger").glob("*.toml")
    entry.write_text("format = 1\n")
    done = evalgate("ledger", cwd=recorded.path)
    assert done.returncode == 2
    assert f"{entry.name}: this is no ledger entry" in done.stderr


def test_an_empty_ledger_says_how_to_begin(repo, evalgate):
    """No table of nothing."""
    assert "evalgate baseline accept" in evalgate("ledger", cwd=repo.path).stdout


def test_baselines_are_shown_and_verified(recorded, evalgate):
    """By how their names begin; what has no ledger entry, or was edited, is exit 6: all of it."""
    (baseline,) = (recorded.path / "baselines").glob("*.toml")
    shown = evalgate("baseline", "show", baseline.name[:8], cwd=recorded.path)
    assert shown.returncode == 0, shown.stderr
    assert "6/6 passed" in shown.stdout
    assert evalgate("baseline", "show", "ffffffff", cwd=recorded.path).returncode == 2
    verified = evalgate("baseline", "verify", cwd=recorded.path)
    assert verified.returncode == 0, verified.stderr
    assert "digest recomputed; 6 of 6 trials have their recording here" in verified.stdout
    (entry,) = (recorded.path / "baselines/ledger").glob("*.toml")
    entry.unlink()
    verified = evalgate("baseline", "verify", cwd=recorded.path)
    assert verified.returncode == 6
    assert "no ledger entry has its numbers" in verified.stdout
    baseline.write_text(baseline.read_text().replace('"passed"', '"failed"', 1))
    verified = evalgate("baseline", "verify", cwd=recorded.path)
    assert verified.returncode == 6
    assert "it was edited by hand" in verified.stdout
    (baseline.parent / "0123456789abcdef-01234567.toml").write_text("format = 99\n")
    verified = evalgate("baseline", "verify", "--json", cwd=recorded.path)
    assert verified.returncode == 6
    problems = json.loads(verified.stdout)["problems"]
    assert [one["what"] for one in problems] == ["file", "file"]
    assert "format 99 is newer than this evalgate knows" in problems[0]["said"]


def test_tasks_without_a_stored_trial_are_said_to_be_left_out(recorded, evalgate):
    """The simulation is of the others alone."""
    write_task(recorded, "treble", 3)
    recorded.commit("One more task")
    for command in ("plan", "noise"):
        done = evalgate(command, cwd=recorded.path)
        assert "Left out, for the baseline has no trial of them: treble." in done.stdout
        found = json.loads(evalgate("--json", command, cwd=recorded.path).stdout)
        assert (found["left_out"], found["tasks"]) == (["treble"], 2)


def test_tasks_that_changed_or_went_have_no_stored_trial(recorded, scripted, evalgate):
    """Their numbers are of something else: a plan and the warning of the gate do without them."""
    recorded.write("tasks/double/instruction.md", "In `double.py`, double(2) should be 4!\n")
    text = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", text.replace("trials = 3", "trials = 1"))
    recorded.commit("Another double")
    found = json.loads(evalgate("--json", "plan", cwd=recorded.path).stdout)
    assert (found["left_out"], found["tasks"], found["stored_trials"]) == (["double"], 1, 3)
    recorded.write("agent/prompts/rewrite.md", "Fix it, please.\n")
    recorded.commit("edit")
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("gate", "--live", cwd=recorded.path, env=env)
    assert "1 trial of 1 task that it has numbers of nothing could ever block" in done.stdout
    assert "stays open where nothing fell: policy.margin (10) lies within the noise" in done.stdout
    recorded.git("checkout", "-q", "HEAD~1")
    recorded.git("rm", "-rq", "tasks/triple")
    recorded.commit("No triple")
    for command in ("plan", "noise"):
        done = evalgate(command, cwd=recorded.path)
        assert done.returncode == 2, done.stdout
        assert "has no trial of any task as it is now" in done.stderr


def test_the_same_numbers_twice_are_told(recorded, evalgate):
    """No difference of a thing to itself is good news."""
    recorded.write("README.md", "Words.\n")
    recorded.commit("words")
    for sides in (
        ("latest", "latest"),
        ("HEAD", "HEAD"),
        ("HEAD~1", "HEAD"),
        ("latest", "HEAD"),  # the run that the baseline was accepted from
    ):
        done = evalgate("compare", *sides, cwd=recorded.path)
        assert done.returncode == 0, done.stderr
        assert "both sides are the same numbers" in done.stdout
    done = evalgate("--json", "compare", "HEAD", "HEAD", cwd=recorded.path)
    assert json.loads(done.stdout)["same_numbers"] is True


def test_no_name_is_no_name(recorded, evalgate):
    """Every name begins with nothing, so it named whatever there was."""
    commands = (
        ("compare", "", "latest"),
        ("compare", "latest", " "),
        ("baseline", "show", ""),
        ("baseline", "accept", ""),
        ("show", ""),
    )
    for command in commands:
        done = evalgate(*command, cwd=recorded.path)
        assert done.returncode == 2, (command, done.stdout)
        assert "hint:" in done.stderr


def test_one_bad_entry_hides_no_other(recorded, evalgate):
    """It is named, and the exit code tells."""
    recorded.write("baselines/ledger/bad.toml", "nonsense")
    done = evalgate("ledger", cwd=recorded.path)
    assert done.returncode == 2, done.stdout
    assert "6/6" in done.stdout
    assert "baselines/ledger/bad.toml: this is no ledger entry" in done.stderr
    found = json.loads(evalgate("--json", "ledger", cwd=recorded.path).stdout)
    assert len(found["experiments"]) == 1
    assert "bad.toml" in found["problems"][0]
