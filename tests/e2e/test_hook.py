"""The pre-push hook with a real `git push` to a real bare repository."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.e2e.conftest import Repo, copied
from tests.pages import next_commands


@pytest.fixture
def pushed(regressing, evalgate, tmp_path):
    """A recorded repository with the hook installed and a bare remote that has its main.

    A recorded regression of it lies on a branch.
    """
    recorded = copied(regressing, tmp_path)
    remote = tmp_path / "remote.git"
    recorded.git("init", "-q", "--bare", str(remote))
    recorded.git("remote", "add", "origin", str(remote))
    recorded.git("push", "-q", "origin", "main")
    done = evalgate("hook", "install", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    return recorded


def push(repo, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "push", *(arguments or ("origin", "main"))],
        cwd=repo.path,
        env={**repo.environment, **environment},
        capture_output=True,
        text=True,
    )


def regress(repo) -> None:
    """Make the recorded regression here, whatever the branch has besides."""
    repo.git("cherry-pick", "wrong")


def record(repo, scripted, evalgate, prompt: str) -> None:
    repo.write("agent/prompts/rewrite.md", prompt)
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=repo.path, env=env).returncode == 0
    repo.commit(prompt)


def test_a_push_that_touches_no_part_is_silent(pushed):
    """Nothing is said."""
    pushed.write("README.md", "words\n")
    pushed.commit("words")
    done = push(pushed)
    assert done.returncode == 0
    assert "evalgate" not in done.stderr


def test_a_recorded_regression_is_blocked(pushed, evalgate):
    """The remote does not get it, and one line says why; the page's commands work here."""
    regress(pushed)
    done = push(pushed)
    assert done.returncode != 0
    assert "evalgate: regression: Merging this lowers the pass rate: 100 % → 0 %" in done.stderr
    assert "double passed 3/3 before and passes 0/3 now" in done.stderr
    assert pushed.git("rev-parse", "main") != pushed.git("rev-parse", "origin/main")
    for command in next_commands(pushed.path / ".evalgate/verdict.md"):
        done = evalgate(*command, cwd=pushed.path)
        assert done.returncode == 0, (command, done.stderr)
    assert "hidden tests" in (pushed.path / ".evalgate/report.html").read_text()


def test_a_recorded_harmless_edit_goes_through(pushed, scripted, evalgate):
    """One line says so."""
    record(pushed, scripted, evalgate, "Fix it.\n")
    done = push(pushed)
    assert done.returncode == 0
    assert "evalgate: undecided: No detectable change" in done.stderr


def test_an_unmeasured_edit_gets_a_plumbing_replay_and_goes_through(pushed):
    """The plumbing works; this edit is not measured; the command and its cost."""
    pushed.write("agent/prompts/rewrite.md", "Unmeasured.\n")
    pushed.commit("edit")
    done = push(pushed)
    assert done.returncode == 0, done.stderr
    assert "the plumbing works" in done.stderr
    command = "evalgate run --record && evalgate gate"
    assert f"this edit is not measured: {command} (estimate: 6 trials of 2 tasks, " in done.stderr


def test_the_command_for_an_unmeasured_edit_judges_all_that_was_pushed(pushed, scripted, evalgate):
    """Also where another commit lies on top of it: run as printed, it comes to a decision."""
    base = pushed.git("rev-parse", "HEAD")
    pushed.write("agent/prompts/rewrite.md", "Be quite WRONG.\n")
    pushed.commit("edit")
    pushed.write("README.md", "words\n")
    pushed.commit("words")
    done = push(pushed)
    assert done.returncode == 0, done.stderr
    command = f"evalgate run --record && evalgate gate --base {base[:12]}"
    assert f"this edit is not measured: {command} (estimate: " in done.stderr
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=pushed.path, env=env).returncode == 0
    done = evalgate("gate", "--base", base[:12], cwd=pushed.path)
    assert done.returncode == 1, done.stdout
    assert f"against {base[:12]}" in done.stdout


def test_a_plumbing_test_takes_the_sandbox_that_was_recorded_in(repo, scripted, evalgate, tmp_path):
    """A push is no moment to look for another one, or to build its image."""
    env = {"SCRIPTED_URL": scripted.url}
    command = ("run", "--record", "--sandbox", "process")
    assert evalgate(*command, cwd=repo.path, env=env).returncode == 0
    assert evalgate("baseline", "accept", "-k", "1", cwd=repo.path).returncode == 0
    repo.commit("Recordings and baseline")
    remote = tmp_path / "remote.git"
    repo.git("init", "-q", "--bare", str(remote))
    repo.git("remote", "add", "origin", str(remote))
    repo.git("push", "-q", "origin", "main")
    assert evalgate("hook", "install", cwd=repo.path).returncode == 0
    repo.write("agent/prompts/rewrite.md", "Unmeasured.\n")
    repo.commit("edit")
    done = push(repo)
    assert "the plumbing works" in done.stderr
    assert "sandbox: process:" in done.stderr


def test_a_broken_agent_shows_in_the_plumbing_replay(pushed):
    """An agent that no longer starts is said to be broken."""
    pushed.write("agent/agent.py", "raise SystemExit('no prompt file')\n")
    pushed.commit("break")
    done = push(pushed)
    assert "the plumbing is broken" in done.stderr
    assert "no prompt file" in done.stderr


def test_an_unmeasured_edit_is_blocked_where_the_project_says_so(pushed):
    """hook.on_stale = "block"."""
    config = (pushed.path / "evalgate.toml").read_text()
    pushed.write("evalgate.toml", config + '\n[hook]\non_stale = "block"\n')
    pushed.write("agent/prompts/rewrite.md", "Unmeasured.\n")
    pushed.commit("edit")
    assert push(pushed).returncode != 0


def test_a_skip_is_honoured_said_and_kept(pushed, evalgate):
    """EVALGATE_SKIP=reason lets a regression through aloud, and the ledger remembers it here."""
    regress(pushed)
    done = push(pushed, EVALGATE_SKIP="hot\nfix")
    assert done.returncode == 0
    assert "skipped: EVALGATE_SKIP=hot fix" in done.stderr
    assert pushed.git("status", "--porcelain") == ""
    said = evalgate("ledger", cwd=pushed.path).stdout
    heads = f"{pushed.git('rev-parse', 'HEAD~1')[:12]}..{pushed.git('rev-parse', 'HEAD')[:12]}"
    assert f"pushed unjudged from here: refs/heads/main ({heads}): hot fix" in said
    (skip,) = json.loads(evalgate("ledger", "--json", cwd=pushed.path).stdout)["skipped"]
    assert skip["reason"] == "hot fix"


def test_a_skip_of_a_push_that_touches_no_part_is_none(pushed, evalgate):
    """The variable may be set for good; only what would be judged is skipped."""
    pushed.write("README.md", "words\n")
    pushed.commit("words")
    assert "evalgate" not in push(pushed, EVALGATE_SKIP="always").stderr
    assert json.loads(evalgate("ledger", "--json", cwd=pushed.path).stdout)["skipped"] == []


def test_every_ref_of_a_push_is_judged_once(pushed):
    """A harmless branch and a harmful one, the latter under two names."""
    pushed.git("switch", "-qc", "words")
    pushed.write("README.md", "words\n")
    pushed.commit("words")
    pushed.git("switch", "-qc", "edit", "main")
    regress(pushed)
    pushed.git("tag", "-am", "annotated", "v1")
    done = push(pushed, "origin", "words", "edit", "edit:again", "v1")
    assert done.returncode != 0
    assert done.stderr.count("evalgate: regression") == 1
    assert push(pushed, "origin", "words").stderr.count("evalgate") == 0


def test_a_forced_push_is_held_against_where_it_left(pushed):
    """What the remote had on top is no base of it."""
    pushed.write("README.md", "words\n")
    pushed.commit("words")
    assert push(pushed).returncode == 0
    pushed.git("reset", "-q", "--hard", "HEAD~1")
    regress(pushed)
    done = push(pushed, "--force", "origin", "main")
    assert done.returncode != 0
    assert "where it left what origin has" in (pushed.path / ".evalgate/verdict.md").read_text()


def test_from_a_submodule(pushed, scripted, evalgate, tmp_path):
    """The hook lies in the superproject's .git; the submodule is judged."""
    top = tmp_path / "top"
    pushed.git("init", "-q", str(top))
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "-b", "main")
    pushed.git(*add, str(tmp_path / "remote.git"), "inner é", cwd=top)
    inner = Repo(path=top / "inner é", environment=pushed.environment)
    done = evalgate("hook", "install", cwd=inner.path)
    assert str(top / ".git/modules") in done.stdout
    inner.write("README.md", "words\n")
    inner.commit("words")
    assert "evalgate" not in push(inner).stderr
    record(inner, scripted, evalgate, "Be WRONG.\n")
    done = push(inner)
    assert done.returncode != 0
    assert "evalgate: regression" in done.stderr


def test_from_elsewhere_with_variables_of_git(pushed, tmp_path):
    """Repository and work tree are named; pathspecs are to be literal, an index is nowhere."""
    regress(pushed)
    named = {"GIT_DIR": str(pushed.path / ".git"), "GIT_WORK_TREE": str(pushed.path)}
    strange = {"GIT_LITERAL_PATHSPECS": "1", "GIT_INDEX_FILE": str(tmp_path / "none")}
    done = subprocess.run(
        ["git", "-c", "diff.ignoreSubmodules=all", "push", "origin", "main"],
        cwd=pushed.path,
        env={**pushed.environment, **named, **strange},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "evalgate: regression" in done.stderr


def test_the_hooks_own_look_learns_of_a_new_configuration(pushed):
    """A push with another configuration is evalgate's; the next one is git's alone again."""
    pushed.write("evalgate.toml", (pushed.path / "evalgate.toml").read_text() + "\n[budget]\n")
    pushed.commit("budget")
    known = pushed.git("rev-parse", "HEAD:evalgate.toml")
    hook = pushed.path / ".git/hooks/pre-push"
    assert known not in hook.read_text()
    assert push(pushed).returncode == 0
    assert known in hook.read_text()
    pushed.write("README.md", "words\n")
    pushed.commit("words")
    hook.write_text(hook.read_text().replace("python=", "python=/nosuch"))
    assert "evalgate" not in push(pushed).stderr
    pushed.write("agent/tools.json", "[]\n")
    pushed.commit("edit")
    assert "this push is not judged; evalgate hook install" in push(pushed).stderr


def test_a_folder_that_is_not_checked_out_stops_nobody(pushed, evalgate):
    """The project lies in a folder that this branch has not, or its file is broken on disk."""
    words = ("hook", "run", "--project", "no/such", "origin", "url")
    done = evalgate(*words, cwd=pushed.path)
    assert done.returncode == 0
    assert "not judged: no such directory" in done.stderr
    pushed.write("evalgate.toml", "not TOML")
    line = f"x {pushed.git('rev-parse', 'HEAD')} x {pushed.git('rev-parse', 'HEAD~1')}\n"
    assert evalgate("hook", "run", "origin", cwd=pushed.path, stdin=line).returncode == 0


def test_a_new_branch_a_tag_and_a_deletion(pushed):
    """A new branch is judged from where it left what the remote has; tags and deletions pass."""
    pushed.git("switch", "-qc", "feature")
    regress(pushed)
    assert push(pushed, "origin", "feature").returncode != 0
    assert push(pushed, "origin", "feature", EVALGATE_SKIP="x").returncode == 0
    assert push(pushed, "origin", ":feature").returncode == 0
    pushed.git("tag", "v1", "main")
    assert push(pushed, "origin", "v1").returncode == 0


def test_from_a_linked_worktree(pushed, tmp_path):
    """Git sets GIT_DIR there; the right repository is judged."""
    regress(pushed)
    pushed.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    done = subprocess.run(
        ["git", "push", "origin", "other"],
        cwd=tmp_path / "linked",
        env=pushed.environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "regression" in done.stderr


def test_without_a_baseline_a_push_goes_through_with_a_word(repo, evalgate, tmp_path):
    """An unmeasured base can not block anybody."""
    remote = tmp_path / "remote.git"
    repo.git("init", "-q", "--bare", str(remote))
    repo.git("remote", "add", "origin", str(remote))
    repo.git("push", "-q", "origin", "main")
    assert evalgate("hook", "install", cwd=repo.path).returncode == 0
    repo.write("agent/prompts/rewrite.md", "x\n")
    repo.commit("edit")
    done = push(repo)
    assert done.returncode == 0
    assert "no baseline" in done.stderr


def test_a_branch_without_evalgate_goes_through_with_a_word(pushed):
    """What is checked out need not have a configuration."""
    pushed.git("switch", "-q", "--orphan", "pages")
    pushed.write("index.html", "x")
    pushed.commit("pages")
    done = push(pushed, "origin", "pages")
    assert done.returncode == 0
    assert "evalgate: not judged: no evalgate configuration" in done.stderr


def test_what_can_not_be_judged_is_said_and_goes_through(pushed):
    """A hook that blocks for reasons of its own is switched off; the check in CI is the gate."""
    pushed.write("evalgate.toml", (pushed.path / "evalgate.toml").read_text() + "\n[polcy]\n")
    pushed.commit("break")
    done = push(pushed)
    assert done.returncode == 0
    assert "not judged: evalgate.toml" in done.stderr


def test_a_state_folder_that_can_not_be_written_stops_nobody(pushed):
    """What the system refuses is said like all else."""
    regress(pushed)
    shutil.rmtree(pushed.path / ".evalgate", ignore_errors=True)
    pushed.write(".evalgate", "a file\n")
    done = push(pushed)
    assert done.returncode == 0, done.stderr
    assert "refs/heads/main: not judged: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_regression_after_an_unmeasured_push_is_said(pushed, scripted, evalgate):
    """Push, be warned, record, push: the comparison is with the harness measured before."""
    pushed.write("agent/prompts/rewrite.md", "Unmeasured.\n")
    pushed.commit("edit")
    assert push(pushed).returncode == 0
    record(pushed, scripted, evalgate, "Be WRONG.\n")
    done = push(pushed)
    assert done.returncode == 0, "two changes can not be told apart, so nothing is blocked"
    assert "no baseline: The base was not measured" in done.stderr
    assert "1 change back" in done.stderr
    assert "lowers the pass rate: 100 % → 0 %" in done.stderr


def test_a_project_below_the_top_is_judged(recorded, scripted, evalgate, tmp_path):
    """Git runs hooks at the top of the repository; the project may lie below."""
    inner = recorded.path / "services/one"
    inner.mkdir(parents=True)
    for name in ("agent", "tasks", "evalgate.toml", "cassettes", "baselines"):
        recorded.git("mv", name, f"services/one/{name}")
    recorded.commit("moved")
    remote = tmp_path / "remote.git"
    recorded.git("init", "-q", "--bare", str(remote))
    recorded.git("remote", "add", "origin", str(remote))
    recorded.git("push", "-q", "origin", "main")
    assert evalgate("hook", "install", cwd=inner).returncode == 0
    recorded.write("services/one/agent/prompts/rewrite.md", "Be WRONG.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=inner, env=env).returncode == 0
    recorded.commit("edit")
    done = push(recorded)
    assert done.returncode != 0
    assert "regression" in done.stderr
