"""`evalgate gate`: every decision that committed evidence can lead to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest


def verdict(repo) -> dict:
    return json.loads((repo.path / ".evalgate" / "verdict.json").read_text())


def page(repo) -> str:
    return (repo.path / ".evalgate" / "verdict.md").read_text()


def edit_and_record(repo, scripted, evalgate, prompt: str) -> None:
    repo.write("agent/prompts/rewrite.md", prompt)
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "--record", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    repo.commit(f"Edit the prompt: {prompt}")


def test_an_unchanged_harness_is_nothing_to_judge(recorded, evalgate):
    """Another commit, a dirty README: exit 0."""
    recorded.write("README.md", "More words.\n")
    assert evalgate("gate", cwd=recorded.path).returncode == 0
    recorded.commit("words")
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    assert verdict(recorded)["decision"] == "nothing to judge"


def test_a_prompt_that_hurts_is_blocked_with_the_reason(recorded, scripted, evalgate, tmp_path):
    """Exit 1; the page names part, task, failing check and diff; also in a clone."""
    edit_and_record(recorded, scripted, evalgate, "Be WRONG.\n")
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 1, done.stderr + done.stdout
    assert done.stdout.startswith("<!-- evalgate:v1 -->\n> [!CAUTION]\n> **Regression: ")
    text = page(recorded)
    assert "100 % → 0 %" in text
    assert "**prompt**: agent/prompts/rewrite.md +1 -1" in text
    assert "+Be WRONG." in text
    assert "`double` passed 3/3 before and passes 0/3 now. The check **hidden tests** fails" in text
    assert "-    return n * 2\n+    return n * 42" in text
    for said, factor in (
        ("In a trial that passed before", 2),
        ("In this trial, which fails", 42),
    ):
        words = f"```python\ndef double(n):\n    return n * {factor}\n```"
        assert f"{said}, the agent said last:\n\n````\n{words}\n````" in text
    found = verdict(recorded)
    assert (found["decision"], found["exit_code"], found["evidence"]) == (
        "regression",
        1,
        "regraded",
    )
    assert found["parts_changed"] == ["prompt"]
    clone = tmp_path / "clone"
    recorded.git("clone", "-q", str(recorded.path), str(clone))
    again = evalgate("gate", cwd=clone)
    assert again.returncode == 1, again.stderr
    assert json.loads((clone / ".evalgate/verdict.json").read_text())["tasks"] == found["tasks"]


def test_a_harmless_edit_passes(recorded, scripted, evalgate):
    """No detectable change, with the interval and what it does not exclude."""
    edit_and_record(recorded, scripted, evalgate, "Fix the bug, please.\n")
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    assert verdict(recorded)["decision"] == "undecided"
    assert "90 % interval" in done.stdout
    assert "is not excluded" in done.stdout


def test_a_better_prompt_is_an_improvement(repo, scripted, evalgate):
    """From all wrong to all right; the task that passes for the first time is named."""
    repo.write("agent/prompts/rewrite.md", "Be WRONG.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=repo.path, env=env).returncode == 0
    assert evalgate("baseline", "accept", "-k", "1", cwd=repo.path).returncode == 0
    repo.commit("baseline")
    edit_and_record(repo, scripted, evalgate, "Be right.\n")
    done = evalgate("gate", cwd=repo.path)
    assert done.returncode == 0
    assert verdict(repo)["decision"] == "improved"
    assert "passes for the first time" in done.stdout
    assert "files: " in read_good_news(repo, evalgate, "evalgate show ")
    runs = repo.path / ".evalgate/runs"
    runs.rename(runs.with_name("elsewhere"))
    assert evalgate("gate", cwd=repo.path).returncode == 0
    assert "return n * 2" in read_good_news(repo, evalgate, "evalgate cassette show ")


def read_good_news(repo, evalgate, command: str) -> str:
    """Do what the verdict says of a task that never passed before; return what that shows."""
    said = "double never passed before: read how it passes now: "
    (line,) = (line for line in page(repo).replace("\\", "").splitlines() if said in line)
    asked = line.partition(said)[2]
    assert asked.startswith(command)
    done = evalgate(*asked.split()[1:], cwd=repo.path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_unrecorded_edit_is_stale(recorded, evalgate):
    """Exit 7 with the command that measures it."""
    recorded.write("agent/prompts/rewrite.md", "Unmeasured.\n")
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 7
    assert "This edit is not measured" in done.stdout
    assert "evalgate run --record" in done.stdout
    assert "\nevalgate gate\n" in done.stdout
    recorded.commit("edit")
    assert "\nevalgate gate\n" in evalgate("gate", cwd=recorded.path).stdout


def test_the_next_step_judges_all_that_was_judged(recorded, evalgate):
    """Not the newest commit alone, where a base was named or a service chose it."""
    base = recorded.git("rev-parse", "HEAD")
    recorded.write("agent/prompts/rewrite.md", "Unmeasured.\n")
    recorded.commit("edit")
    recorded.write("README.md", "words\n")
    recorded.commit("words")
    again = f"\nevalgate gate --base {base[:12]}\n"
    assert again in evalgate("gate", "--base", "HEAD~2", cwd=recorded.path).stdout
    env = {"GITHUB_ACTIONS": "true"}
    assert again in evalgate("gate", "--base", "HEAD~2", cwd=recorded.path, env=env).stdout


def test_the_next_step_measures_and_judges_the_head_that_was_judged(recorded, scripted, evalgate):
    """Also one that is not checked out; and the work tree against a base that was named."""
    base = recorded.git("rev-parse", "HEAD")[:12]
    recorded.git("checkout", "-q", "-b", "edit")
    recorded.write("agent/prompts/rewrite.md", "Unmeasured.\n")
    head = recorded.commit("edit")[:12]
    recorded.git("checkout", "-q", "main")
    recorded.write("README.md", "words\n")
    recorded.commit("words")
    asked = ("gate", "--base", base, "--head", "edit")
    told = evalgate(*asked, cwd=recorded.path).stdout
    assert f"\nevalgate run --rev {head} --record   #" in told
    assert f"\nevalgate gate --base {base} --head {head}\n" in told
    env = {"SCRIPTED_URL": scripted.url}
    for command in (f"run --rev {head} --record", f"gate --base {base} --head {head}"):
        done = evalgate(*command.split(), cwd=recorded.path, env=env)
        assert done.returncode == 0, done.stderr
    recorded.write("agent/prompts/rewrite.md", "Another.\n")
    told = evalgate("gate", "--base", base, cwd=recorded.path).stdout
    assert "\nevalgate run --record   #" in told
    assert f"\nevalgate gate --base {base}\n" in told


def test_edit_record_accept_commit_works(recorded, scripted, evalgate):
    """Recordings made of a dirty work tree are those of the commit that follows."""
    edit_and_record(recorded, scripted, evalgate, "Fix it well.\n")
    assert evalgate("baseline", "accept", "-k", "1", cwd=recorded.path).returncode == 0
    recorded.commit("baseline")
    assert evalgate("gate", cwd=recorded.path).returncode == 0
    assert evalgate("replay", cwd=recorded.path).returncode == 0
    recorded.write("README.md", "x\n")
    recorded.commit("unrelated")
    assert evalgate("gate", "--base", "HEAD~3", cwd=recorded.path).returncode == 0


def test_a_run_made_here_is_evidence_when_nothing_is_recorded(recorded, scripted, evalgate):
    """Without recordings the gate takes the live trials of the same digests made here."""
    recorded.write("agent/prompts/rewrite.md", "Be WRONG.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", cwd=recorded.path, env=env).returncode == 0
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 1
    assert verdict(recorded)["evidence"] == "measured"


def test_without_a_baseline_the_way_to_one_is_shown(repo, scripted, evalgate):
    """Exit 3 with commands."""
    repo.write("agent/prompts/rewrite.md", "x\n")
    done = evalgate("gate", cwd=repo.path)
    assert done.returncode == 3
    assert "evalgate baseline accept" in done.stdout


def test_first_adoption_is_said(repo, evalgate):
    """The first commit has nothing to compare with."""
    done = evalgate("gate", cwd=repo.path)
    assert done.returncode == 3
    assert "first commit" in done.stdout + done.stderr


@pytest.mark.parametrize("act", ["edit", "delete"])
def test_a_touched_baseline_voids_the_verdict(recorded, scripted, evalgate, act):
    """Exit 6 names the file."""
    edit_and_record(recorded, scripted, evalgate, "Be WRONG.\n")
    (path,) = (recorded.path / "baselines").glob("*.toml")
    if act == "edit":
        path.write_text(path.read_text().replace('outcome = "passed"', 'outcome = "failed"'))
    else:
        path.unlink()
    recorded.commit("cheat")
    done = evalgate("gate", "--base", "HEAD~2", cwd=recorded.path)
    assert done.returncode == 6, done.stderr
    assert path.name in done.stdout


def test_an_author_can_not_choose_trials(recorded, scripted, evalgate):
    """With recordings taken away the rest is not judged."""
    edit_and_record(recorded, scripted, evalgate, "Be WRONG.\n")
    for path in sorted((recorded.path / "cassettes").rglob("2.json")):
        path.unlink()
    recorded.commit("chosen")
    done = evalgate("gate", "--base", "HEAD~2", cwd=recorded.path)
    assert done.returncode == 7
    assert "trials 1, 3 are recorded, not 1, 2, 3" in done.stdout


def test_the_base_s_tasks_and_policy_judge(recorded, scripted, evalgate):
    """A change that edits a test and the policy is judged by the base's, and both are named."""
    edit_and_record(recorded, scripted, evalgate, "Be WRONG.\n")
    config = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", config + "\n[policy]\nsuite_alpha = 0.0\ntask_alpha = 0.0\n")
    recorded.commit("and the policy")
    done = evalgate("gate", "--base", "HEAD~2", cwd=recorded.path)
    assert done.returncode == 1, done.stdout
    assert "this change edits the policy" in done.stdout


def test_a_task_made_easier_in_the_same_change_does_not_help(recorded, scripted, evalgate):
    """The base's task judges; recordings of the edited one answer another question."""
    test = recorded.path / "tasks/double/tests/test_double.py"
    test.write_text(test.read_text() + "\n# changed\n")
    edit_and_record(recorded, scripted, evalgate, "Be WRONG.\n")
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 7
    assert "double: recorded for another version of the task" in done.stdout
    assert "edits tasks: double" in page(recorded)
    env = {"SCRIPTED_URL": scripted.url}
    live = evalgate("gate", "--live", cwd=recorded.path, env=env)
    assert live.returncode == 1, "measured by the base's task"


def test_a_task_that_changed_since_the_baseline_is_incomparable(recorded, scripted, evalgate):
    """Its old numbers are not compared with new ones, and the sentence says of how many."""
    test = recorded.path / "tasks/double/tests/test_double.py"
    test.write_text(test.read_text() + "\n# changed\n")
    recorded.commit("tasks first")
    edit_and_record(recorded, scripted, evalgate, "Fix it.\n")
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 0, done.stdout
    by_task = {task["task"]: task["change"] for task in verdict(recorded)["tasks"]}
    assert by_task["double"] == "incomparable"
    assert "on the 1 of 2 tasks that can be compared" in verdict(recorded)["sentence"]


def test_a_baseline_that_is_only_deleted_voids_as_well(recorded, evalgate):
    """No edit of the harness is needed: such a change prepares the next one."""
    (path,) = (recorded.path / "baselines").glob("*.toml")
    path.unlink()
    recorded.commit("prepare")
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 6
    assert path.name in done.stdout


def test_first_adoption_in_an_existing_pyproject(repo, scripted, evalgate):
    """A base whose pyproject.toml has no table of ours is one without evalgate."""
    (repo.path / "evalgate.toml").unlink()
    repo.write("pyproject.toml", "[project]\nname = 'x'\n")
    repo.commit("before")
    repo.write(
        "pyproject.toml",
        "[tool.evalgate.harness.parts]\nprompt = ['agent/prompts/*']\n"
        "[tool.evalgate.models.main]\nid = 'm'\nupstream = 'env:U'\n"
        "[tool.evalgate.agent]\ncommand = ['true']\n",
    )
    repo.commit("adopt")
    done = evalgate("gate", cwd=repo.path)
    assert done.returncode == 3, done.stderr
    assert "first adoption" in done.stdout
    assert "\nevalgate baseline accept latest\n" in done.stdout.partition("### Next")[2]


def test_no_old_verdict_stays_when_a_gate_fails(recorded, evalgate):
    """A later step must not read yesterday's pass."""
    assert evalgate("gate", cwd=recorded.path).returncode == 0
    recorded.write("evalgate.toml", "]")
    assert evalgate("gate", cwd=recorded.path).returncode == 2
    assert not (recorded.path / ".evalgate/verdict.json").exists()


def test_several_runs_made_here_are_pooled(recorded, scripted, evalgate):
    """The gate takes all that was measured, not the run that came out best."""
    env = {"SCRIPTED_URL": scripted.url}
    recorded.write("agent/prompts/rewrite.md", "Another one.\n")
    right = scripted.answer
    scripted.answer = lambda _: (200, "```python\nx = 1\n```")
    assert evalgate("run", cwd=recorded.path, env=env).returncode == 0
    scripted.answer = right
    assert evalgate("run", "--fresh", cwd=recorded.path, env=env).returncode == 0
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 1, done.stdout
    assert "50 % (6/12)" in done.stdout
    assert "recording no." not in done.stdout  # runs are no recordings


def test_a_change_can_not_send_a_key_somewhere_else(recorded, scripted, evalgate):
    """A live gate refuses an upstream that the base does not have."""
    config = (recorded.path / "evalgate.toml").read_text()
    evil = config.replace('"env:SCRIPTED_URL"', f'"{scripted.url}"\nkey_env = "SOME_TOKEN"')
    recorded.write("evalgate.toml", evil)
    recorded.commit("evil")
    scripted.requests.clear()
    env = {"SCRIPTED_URL": scripted.url, "SOME_TOKEN": "t0ken-of-somebody-else"}
    done = evalgate("gate", "--live", cwd=recorded.path, env=env)
    assert done.returncode == 2
    assert scripted.url in done.stderr
    assert not scripted.requests


@pytest.mark.parametrize(("prompt", "code"), [("Be WRONG.\n", 1), ("Fix it.\n", 0)])
def test_a_reader_that_goes_away_changes_no_exit_code(recorded, scripted, evalgate, prompt, code):
    """`evalgate gate | true` ends with the gate's own code."""
    import subprocess
    import sys

    edit_and_record(recorded, scripted, evalgate, prompt)
    script = Path(sys.executable).parent / "evalgate"
    words = f'sleep 0.2 | "{script}" gate | true; exit ${{PIPESTATUS[1]}}'
    done = subprocess.run(["bash", "-c", words], cwd=recorded.path, env=recorded.environment)
    assert done.returncode == code


@pytest.mark.parametrize("damage", ["n", "measured"])
def test_a_recording_that_lacks_something_is_an_error(recorded, evalgate, damage):
    """Exit 2 names the file; what can not be compared is never called reproduced."""
    from evalgate.gateway.format.cassette_format import dump_cassette, load_cassette

    path = min((recorded.path / "cassettes").rglob("*.json"))
    tape = load_cassette(path.read_bytes(), name="x")
    header = replace(tape.header, **({"n": 0} if damage == "n" else {}))
    record = {k: v for k, v in tape.record.items() if k != damage}
    forged = tape.__class__(
        header=header, exchanges=tape.exchanges, claim=tape.claim, record=record
    )
    path.write_bytes(dump_cassette(forged))
    done = evalgate("regrade", cwd=recorded.path)
    assert done.returncode == 2, done.stdout
    assert path.name in done.stderr


def test_advisory_exits_with_0_and_keeps_the_code(recorded, scripted, evalgate):
    """verdict.json says 1."""
    edit_and_record(recorded, scripted, evalgate, "Be WRONG.\n")
    assert evalgate("gate", "--advisory", cwd=recorded.path).returncode == 0
    assert verdict(recorded)["exit_code"] == 1


def test_a_template_of_the_project_s_own(recorded, scripted, evalgate):
    """The base's template renders the page."""
    config = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", config + '\n[report]\ntemplate = "verdict.j2"\n')
    recorded.write("verdict.j2", "OURS {{ verdict.decision }}\n")
    recorded.commit("template")
    recorded.write("README.md", "x\n")
    recorded.commit("words")
    assert evalgate("gate", cwd=recorded.path).stdout.strip() == "OURS nothing to judge"


def test_json_is_one_document(recorded, evalgate):
    """Standard output is the verdict, and an error has the same envelope."""
    done = evalgate("--json", "gate", cwd=recorded.path)
    assert json.loads(done.stdout)["decision"] == "nothing to judge"
    done = evalgate("--json", "gate", "--base", "nosuch", cwd=recorded.path)
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["exit_code"] == 2


def test_as_a_git_subcommand(recorded, evalgate):
    """`git evalgate fingerprint` works through the second script."""
    import sys

    path = f"{Path(sys.executable).parent}:{recorded.environment['PATH']}"
    recorded.environment["PATH"] = path
    assert "settings" in recorded.git("evalgate", "fingerprint", "HEAD")


def test_a_pull_request_is_judged_by_its_merge_commit(recorded, scripted, evalgate, tmp_path):
    """In GitHub Actions the merge commit is compared with its first parent."""
    recorded.git("switch", "-qc", "feature")
    edit_and_record(recorded, scripted, evalgate, "Be WRONG.\n")
    head = recorded.git("rev-parse", "HEAD")
    recorded.git("switch", "-q", "main")
    recorded.write("README.md", "main moved\n")
    recorded.commit("moved")
    recorded.git("switch", "-q", "--detach")
    recorded.git("merge", "-q", "--no-ff", "-m", "Merge", "feature")
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"head": {"sha": head}, "base": {"ref": "main"}}}))
    env = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(event)}
    done = evalgate("gate", cwd=recorded.path, env=env)
    assert done.returncode == 1, done.stderr
    assert verdict(recorded)["base"]["commit"] == recorded.git("rev-parse", "HEAD^1")
    event.write_text(json.dumps({"pull_request": {"head": {"sha": "0" * 40}, "base": {}}}))
    done = evalgate("gate", cwd=recorded.path, env=env)
    assert done.returncode == 2, "a stale merge commit is refused"


def test_an_edited_workflow_is_named(recorded, evalgate):
    """The gate's own way of running is part of what a reviewer has to see."""
    recorded.write(".github/workflows/evalgate.yml", "on: push\n")
    recorded.write("agent/prompts/rewrite.md", "x\n")
    recorded.commit("quiet")
    done = evalgate("gate", cwd=recorded.path)
    assert "edits the workflow: .github/workflows/evalgate.yml" in done.stdout


@pytest.mark.parametrize("options", [(), ("--live",), ("--live", "--usd", "5")])
def test_a_base_without_tasks_has_nothing_to_run(recorded, evalgate, options):
    """Zero tasks are exit 5, never a pass, an estimate of nothing or a crash."""
    recorded.git("rm", "-rq", "tasks")
    recorded.commit("no task")
    recorded.write("agent/prompts/rewrite.md", "Another one.\n")
    recorded.commit("Another prompt")
    done = evalgate("gate", *options, cwd=recorded.path)
    assert done.returncode == 5, done.stderr
    found = verdict(recorded)
    assert (found["decision"], found["exit_code"]) == ("nothing ran", 5)
    assert "the base's suite, which judges, holds no task" in done.stdout
