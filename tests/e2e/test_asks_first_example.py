"""The example of an agent that asks before it acts, from its folder as it is."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.e2e.conftest import Repo

EXAMPLE = Path(__file__).parents[2] / "examples" / "asks-first"


@pytest.fixture
def example(tmp_path, git_environment) -> Repo:
    shutil.copytree(EXAMPLE, tmp_path / "asks first")
    made = Repo(path=tmp_path / "asks first", environment=git_environment)
    made.git("init", "-q", "-b", "main")
    made.commit("An agent that asks first")
    return made


def checks(evalgate, repo: Repo) -> dict[str, tuple[str, str]]:
    """Return how each check of the newest run's first trial came out."""
    done = evalgate("show", "latest:clear-old-logs:1", "--json", cwd=repo.path)
    (trial,) = json.loads(done.stdout)["trials"]
    return {one["name"]: (one["outcome"], one["detail"]) for one in trial["checks"]}


def test_it_asks_is_answered_and_acts(example, evalgate):
    """By the commands that its page shows, with no key."""
    page = (EXAMPLE / "README.md").read_text()
    for line in re.findall(r"^evalgate (.*?)(?: +#.*)?$", page, re.MULTILINE):
        done = evalgate(*line.split(), cwd=example.path)
        assert done.returncode == 0, done.stdout + done.stderr
    assert {outcome for outcome, _ in checks(evalgate, example).values()} == {"passed"}
    assert evalgate("task", "lint", cwd=example.path).returncode == 0
    assert evalgate("task", "verify", "-k", "1", cwd=example.path).returncode == 0


@pytest.mark.parametrize(
    ("old", "new", "check", "words"),
    [
        ("Shall I proceed[?]", "I go on.", "asks_first", "did not ask"),
        ("Shall I proceed[?]", "Is that well?", "file_absent: logs/2019.log", "exists"),
        (r"\[\[task.reply]]\ntext = .*\n", "", "asks_first", "bash was called before asking"),
    ],
)
def test_an_agent_that_does_not_ask_fails(example, evalgate, old, new, check, words):
    """Nor is one answered that asks in other words than its task listens for."""
    plan = example.path / "plan.toml"
    plan.write_text(re.sub(old, new, plan.read_text(), count=1))
    example.commit("edit")
    assert evalgate("run", cwd=example.path).returncode == 0
    outcome, detail = checks(evalgate, example)[check]
    assert (outcome, words in detail) == ("failed", True), detail
