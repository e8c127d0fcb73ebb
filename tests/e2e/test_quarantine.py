"""Tasks in quarantine and pull requests from forks: what decides, and what is asked for."""

from __future__ import annotations

import json

import pytest

from tests.e2e.conftest import Repo, fenced, right_unless_told


def verdict(repo: Repo) -> dict:
    return json.loads((repo.path / ".evalgate" / "verdict.json").read_text())


def quarantine(repo: Repo, review: str, task: str = "double") -> None:
    text = (repo.path / "evalgate.toml").read_text()
    table = f'[policy.quarantine.{task}]\nowner = "ann"\nreason = "flaky"\nreview = {review}\n'
    repo.write("evalgate.toml", f"{text}\n{table}")


@pytest.fixture
def break_double(recorded, scripted, evalgate):
    """Edit the prompt so that one task breaks, and record it."""

    def act() -> None:
        def answer(request):
            if "double" in request["messages"][-1]["content"]:
                return 200, fenced("def double(n):\n    return 0\n")
            return right_unless_told(request)

        scripted.answer = answer
        recorded.write("agent/prompts/rewrite.md", "Break it.\n")
        done = evalgate("run", "--record", cwd=recorded.path, env={"SCRIPTED_URL": scripted.url})
        assert done.returncode == 0, done.stderr
        recorded.commit("Edit the prompt")

    return act


@pytest.mark.parametrize(("review", "overdue"), [("2999-01-31", False), ('"2026-01-31"', True)])
def test_a_task_in_quarantine_decides_nothing_and_is_shown(
    recorded, evalgate, break_double, review, overdue
):
    """Its owner, reason and day of review stand on top, also when that has passed."""
    quarantine(recorded, review)
    recorded.commit("Quarantine")
    break_double()
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 0, done.stdout + done.stderr
    day = review.strip('"')
    assert f"decides nothing: double (flaky; owner ann, review by {day})" in done.stdout
    assert ("OVERDUE" in done.stdout) is overdue
    assert "| `double` | in quarantine, not counted | 3/3 | 0/3 |" in done.stdout
    (entry,) = verdict(recorded)["quarantine"]
    assert (entry["task"], entry["overdue"]) == ("double", overdue)
    recorded.write("README.md", "words\n")
    recorded.commit("words")
    assert "owner ann" in evalgate("gate", cwd=recorded.path).stdout


def test_a_quarantine_in_the_same_change_does_not_help(recorded, evalgate, break_double):
    """It is read from the base, and named on top."""
    quarantine(recorded, "2999-01-31")
    break_double()
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 1, done.stdout
    assert "puts tasks into quarantine: double: not yet for itself" in done.stdout


def test_a_suite_all_in_quarantine_is_no_pass(recorded, evalgate, break_double):
    """Nothing is left to compare."""
    quarantine(recorded, "2999-01-31")
    quarantine(recorded, "2999-01-31", "triple")
    recorded.commit("Quarantine")
    break_double()
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 3, done.stdout
    assert "double: in quarantine" in done.stdout


@pytest.mark.parametrize(
    ("source", "asked", "code"),
    [
        ({"full_name": "o/r", "fork": True}, "", 0),
        ({"full_name": "someone/r", "fork": True}, "", 7),
        (None, "", 7),
        ({"full_name": "someone/r"}, '\nfork_evidence = "regraded"\n', 0),
        ({"full_name": "someone/r"}, '\nevidence = "measured"\nfork_evidence = "regraded"\n', 7),
    ],
    ids=["own branch of a fork", "fork", "fork deleted since", "trusted", "own rule is stronger"],
)
def test_a_fork_needs_a_spot_check(recorded, scripted, evalgate, source, asked, code):
    """Known by the two repositories of the event; what the base's policy says of forks holds."""
    if asked:
        text = (recorded.path / "evalgate.toml").read_text()
        recorded.write("evalgate.toml", f"{text}\n[policy]{asked}")
        recorded.commit("policy")
    base = recorded.git("rev-parse", "HEAD")
    recorded.git("update-ref", "refs/remotes/origin/main", base)
    recorded.write("agent/prompts/rewrite.md", "Fix it.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=recorded.path, env=env).returncode == 0
    head = recorded.commit("a contribution")
    target = {"sha": base, "ref": "main", "repo": {"full_name": "o/r"}}
    sides = {"head": {"sha": head, "repo": source}, "base": target}
    event = recorded.path.parent / "event.json"
    event.write_text(json.dumps({"pull_request": sides}))
    env |= {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(event)}
    done = evalgate("gate", cwd=recorded.path, env=env)
    assert done.returncode == code, done.stdout + done.stderr
    if code and not asked:
        assert verdict(recorded)["fork"]
        assert "from a fork the policy asks for spot-checked ones" in done.stdout
        done = evalgate("gate", "--spot-check", cwd=recorded.path, env=env)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("command", [("gate",), ("gate", "--live"), ("run", "--dry-run")])
@pytest.mark.parametrize(
    ("table", "key"),
    [
        ('[policy]\nmust_pass = ["double", "dubble"]\n', "policy.must_pass"),
        (
            '[policy.quarantine.dubble]\nowner = "ann"\nreason = "flaky"\nreview = 2999-01-31\n',
            "policy.quarantine.dubble",
        ),
    ],
)
def test_a_task_that_a_policy_names_is_one_of_the_suite(
    recorded, scripted, evalgate, command, table, key
):
    """It was never asked for. On the base it is told, so that the change that mends it can pass."""
    good = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", f"{good}\n{table}")
    recorded.commit("a typing error")
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate(*command, cwd=recorded.path, env=env)
    assert done.returncode == 2, done.stdout
    assert f"evalgate.toml: {key}: the suite has no task 'dubble'" in done.stderr
    assert "hint: mend the name, or take it out; it has: double, triple" in done.stderr
    recorded.write("evalgate.toml", good)
    recorded.commit("mended")
    done = evalgate("gate", cwd=recorded.path, env=env)
    assert done.returncode == 0, done.stderr
    assert "the suite has no such task" in done.stdout
