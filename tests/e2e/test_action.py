"""The action and the workflows: they are what GitHub takes, and they gate a real repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import click
import pytest

from evalgate.cli.command_line import cli
from tests.baselines import accept
from tests.e2e.conftest import Evalgate, Repo, Scripted, prompt
from tests.github.acting import ACTION, BIN, ROOT, Act, acted
from tests.github.fake import TOKEN, FakeGitHub
from tests.pages import next_commands

STARTER = ROOT / "evalgate/starter/workflow.yml"
WORKFLOWS = sorted(
    [*ROOT.glob(".github/workflows/*.yml"), *ROOT.glob("examples/github/*.yml"), STARTER]
)
GATE = ROOT / ".github/workflows/evalgate.yml"
COMMENT = ROOT / ".github/workflows/evalgate-comment.yml"
AFTER_A_MERGE = ROOT / "examples/github/evalgate-baseline.yml"
LIVE = ROOT / "examples/github/evalgate-live.yml"
DRIFT = ROOT / "examples/github/evalgate-drift.yml"

#: Stands in for GitHub's program, which asks GitHub alone.
GH = """#!/bin/sh
echo "$GH_TOKEN $*" >> "$NOTES"
"""
PRICE = "price = { input = 1, output = 1 }"


def run(*argv: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)


def test_workflows_and_action_are_valid() -> None:
    """By the schemas that GitHub publishes."""
    for schema, files in (("github-workflows", WORKFLOWS), ("github-actions", [ACTION])):
        done = run(BIN / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", *files)
        assert done.returncode == 0, done.stdout


def test_no_workflow_can_be_taken_over() -> None:
    """No template in a script, no unpinned action, no token that is left behind."""
    options = ("--offline", "--no-progress", "--persona", "pedantic", "--min-severity", "medium")
    done = run(BIN / "zizmor", *options, ACTION, *WORKFLOWS)
    assert done.returncode == 0, done.stdout


def test_actions_are_pinned_alike() -> None:
    """By commit, with the version beside it, and one version everywhere."""
    seen: dict[str, set[str]] = {}
    for file in WORKFLOWS:
        for name, pin in re.findall(r"uses: ([\w-]+/[\w-]+)@(.+)", file.read_text()):
            assert re.fullmatch(r"[0-9a-f]{40} # v\d+\.\d+\.\d+", pin), (file, name)
            seen.setdefault(name, set()).add(pin)
    assert {name: len(pins) for name, pins in seen.items()} == dict.fromkeys(seen, 1)


def test_the_gate_s_workflow_has_no_secret_and_the_comment_s_no_foreign_code() -> None:
    """Whoever opens a pull request gets nothing from either."""
    gate = GATE.read_text()
    assert "secrets." not in gate
    assert "token" not in gate.split("jobs:")[1]
    assert re.search(r"(?m)^permissions:\n  contents: read\n\w", gate)
    comment = COMMENT.read_text()
    assert "ref:" not in comment
    assert "download-artifact" not in comment
    assert "- run:" not in comment


def test_the_commands_of_the_workflows_are_there() -> None:
    """With all of their options."""
    lines = [
        line.split("|")[0].split()
        for file in WORKFLOWS
        for line in re.findall(r"run: (?:\.venv/bin/)?evalgate (.+)", file.read_text())
    ]
    assert len(lines) == 4
    for words in lines:
        command: click.Command = cli
        while isinstance(command, click.Group):
            command = command.commands[words.pop(0)]
        options = {option for one in command.params for option in one.opts}
        assert {word for word in words if word.startswith("-")} <= options, words


@pytest.fixture
def act(tmp_path: Path, github: FakeGitHub) -> Act:
    """Run a shipped workflow of a repository, as of an event."""

    def call(repo: Repo, workflow: Path, event: str, payload: Any, *more: str, **env: str) -> Any:
        where = {"home": tmp_path, "api": github.url, "variables": env}
        return acted(repo.path, workflow, event, payload, *more, **where)

    return call


def merged(repo: Repo, source: str) -> dict[str, Any]:
    """Check a pull request's merge commit out; return its event."""
    repo.git("switch", "-q", "--detach", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge topic into main", "topic")
    return {
        "number": 7,
        "repository": {"full_name": "o/r", "default_branch": "main"},
        "pull_request": {
            "number": 7,
            "head": {
                "sha": repo.git("rev-parse", "topic"),
                "ref": "topic",
                "repo": {"full_name": source},
            },
            "base": {
                "sha": repo.git("rev-parse", "main"),
                "ref": "main",
                "repo": {"full_name": "o/r"},
            },
        },
    }


def few(workflow: Path, folder: Path) -> Path:
    """Return a copy of a workflow that makes two trials of a task, and no more."""
    text = workflow.read_text()
    assert "--usd 10" in text
    copy = folder / workflow.name
    copy.write_text(text.replace("--usd 10", "--usd 10 -k 2"))
    return copy


def priced(repo: Repo) -> None:
    """Give the model a price, without which no sum bounds a run, and the harness its numbers."""
    config, model = (repo.path / "evalgate.toml").read_text(), 'upstream = "env:SCRIPTED_URL"'
    own = '\n[sandbox]\nuse = "process"\n'  # as the numbers are made up to be
    repo.write("evalgate.toml", config.replace(model, f"{model}\n{PRICE}") + own)
    accept(repo.path)
    repo.commit("A price, and its baseline")


def test_a_fork_s_unmeasured_edit_ends_neutral_and_is_commented(
    here: Repo, act: Act, github: FakeGitHub, tmp_path: Path
) -> None:
    """Both workflows, one after the other: not red, with the command for a maintainer."""
    here.git("switch", "-qc", "topic")
    prompt(here, "Be quick.")
    payload = merged(here, "fork/r")
    done = act(here, GATE, "pull_request", payload)
    assert done.returncode == 0, done.stdout + done.stderr
    value = json.loads((tmp_path / "kept/evalgate-verdict/verdict.json").read_text())
    assert (value["decision"], value["exit_code"]) == ("stale", 7)
    assert value["sentence"].endswith("It needs a maintainer's measurement.")
    page = (tmp_path / "kept/evalgate-verdict/verdict.md").read_text()
    assert "git fetch origin main pull/7/head:pull-7\n" in page
    assert "evalgate gate --live --base origin/main --head pull-7\n" in page
    assert github.asked == []

    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for file in (tmp_path / "kept/evalgate-verdict").iterdir():
            made.write(file, file.name)
    github.artifacts["evalgate-verdict"] = archive.read_bytes()
    head = payload["pull_request"]["head"]["sha"]
    github.open_pull(7, head)
    here.git("switch", "-q", "-f", "main")
    finished = {
        "repository": {"full_name": "o/r", "default_branch": "main"},
        "workflow_run": {
            "id": 40,
            "run_attempt": 1,
            "event": "pull_request",
            "conclusion": "success",
            "head_sha": head,
            "head_branch": "topic",
            "head_repository": {"full_name": "fork/r", "owner": {"login": "fork"}},
        },
    }
    done = act(here, COMMENT, "workflow_run", finished)
    assert done.returncode == 0, done.stdout + done.stderr
    (body,) = github.bodies()
    assert "> [!NOTE]\n> **Waits for a maintainer: " in body
    assert "> [!NOTE]\n> **Waits for a maintainer: " in page
    assert "It needs a maintainer's measurement." in body
    assert "\nGITHUB_REPOSITORY=o/r evalgate comment --pr 7   # " in body
    assert "\ngit fetch origin main pull/7/head:pull-7\nevalgate gate --live --base" in body
    assert TOKEN not in done.stdout


@pytest.mark.parametrize("word", ["WRONG", ""])
def test_a_pull_request_is_gated_by_its_recordings(
    recorded: Repo, scripted: Scripted, evalgate: Evalgate, act: Act, tmp_path: Path, word: str
) -> None:
    """A regression is red; a change that is no part of the harness is green."""
    recorded.git("switch", "-qc", "topic")
    if word:
        prompt(recorded, f"Be {word}.")
        done = evalgate("run", "--record", cwd=recorded.path, env={"SCRIPTED_URL": scripted.url})
        assert done.returncode == 0, done.stderr
    recorded.write("README.md", "Other words.\n")
    recorded.commit("A change")
    done = act(recorded, GATE, "pull_request", merged(recorded, "o/r"))
    value = json.loads((tmp_path / "kept/evalgate-verdict/verdict.json").read_text())
    assert value["decision"] == ("regression" if word else "nothing to judge")
    assert done.returncode == (1 if word else 0), done.stdout + done.stderr
    if not word:
        return
    # Who reads the page has the branch, and nothing of the job.
    recorded.git("switch", "-q", "-f", "topic")
    shutil.rmtree(recorded.path / ".evalgate")
    commands = next_commands(tmp_path / "kept/evalgate-verdict/verdict.md")
    assert [words[0] for words in commands] == ["regrade", "show", "report"]
    for words in commands:
        done = evalgate(*words, cwd=recorded.path)
        assert done.returncode == 0, (words, done.stderr)


def test_what_a_merge_left_unmeasured_is_red_in_the_queue(here: Repo, act: Act) -> None:
    """Nobody merges it unseen."""
    before = here.git("rev-parse", "HEAD")
    group = {"merge_group": {"head_sha": prompt(here, "Be quick."), "base_sha": before}}
    done = act(here, GATE, "merge_group", group)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "exit status 7" in done.stdout


def test_what_a_merge_left_unmeasured_is_measured_and_proposed(
    here: Repo, scripted: Scripted, evalgate: Evalgate, act: Act, tmp_path: Path
) -> None:
    """Three jobs: it is found, measured with the key, and proposed by who has none."""
    bare, programs = tmp_path / "remote.git", tmp_path / "programs"
    here.git("init", "-q", "--bare", str(bare))
    here.git("remote", "add", "origin", str(bare))
    programs.mkdir()
    (programs / "gh").write_text(GH)
    (programs / "gh").chmod(0o755)
    priced(here)
    before = here.git("rev-parse", "HEAD")
    after = prompt(here, "Be quick.")
    push = {"before": before, "after": after, "forced": False, "ref": "refs/heads/main"}
    path = f"{programs}:{BIN}:{os.environ['PATH']}"
    notes = tmp_path / "notes"
    told = {"SCRIPTED_URL": scripted.url, "PATH": path, "NOTES": str(notes)}
    done = act(here, few(AFTER_A_MERGE, tmp_path), "push", push, **told)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "exit-code=7" in done.stdout
    branch = here.git("for-each-ref", "--format=%(refname:short)", cwd=bare)
    assert branch == f"evalgate/baseline-{after}"
    here.git("fetch", "-q", "origin", branch)
    changed = here.git("diff", "--name-only", "HEAD", "FETCH_HEAD").splitlines()
    assert [name.split("/")[:2] for name in changed if "/ledger/" in name] == [
        ["baselines", "ledger"]
    ]
    assert len(changed) == 2
    here.git("reset", "-q", "--hard", "FETCH_HEAD")
    assert evalgate("baseline", "verify", cwd=here.path).returncode == 0
    said = notes.read_text().splitlines()
    assert said[0] == f"{TOKEN} auth setup-git"
    assert said[1].startswith(f"{TOKEN} pr create --head {branch} --title Baseline of the harness")


def test_the_label_measures_and_the_schedule_makes_a_session(
    here: Repo, scripted: Scripted, act: Act, github: FakeGitHub, tmp_path: Path
) -> None:
    """A live gate by the base's action, with its comment; a session of the unchanged harness."""
    priced(here)
    shutil.copytree(ACTION.parent, here.path / ".github/actions/evalgate")
    here.commit("The action")
    here.git("switch", "-qc", "topic")
    prompt(here, "Be WRONG.")
    payload = merged(here, "o/r")
    github.open_pull(7, payload["pull_request"]["head"]["sha"])
    other = {**payload, "action": "labeled", "label": {"name": "another"}}
    done = act(here, LIVE, "pull_request", other, SCRIPTED_URL=scripted.url)
    assert (done.returncode, scripted.requests) == (0, []), done.stdout + done.stderr
    labelled = {**other, "label": {"name": "evalgate-live"}}
    done = act(here, LIVE, "pull_request", labelled, SCRIPTED_URL=scripted.url)
    assert done.returncode == 1, done.stdout + done.stderr
    (body,) = github.bodies()
    assert "**Regression: do not merge this as it is.**" in body, body
    assert "Evidence: **measured**" in body
    assert "evalgate show" not in body

    here.git("switch", "-q", "-f", "main")
    done = act(here, DRIFT, "workflow_dispatch", {}, SCRIPTED_URL=scripted.url)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Too few sessions to see a drift" in done.stdout
    there, kept = here.path / "baselines", tmp_path / "kept/evalgate-session"
    assert len([*kept.glob("*.toml")]) == 1 + len([*there.glob("*.toml")])
