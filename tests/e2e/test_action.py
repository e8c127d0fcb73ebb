"""The action and the workflows: they are what GitHub takes, and they gate a real repository.

`act` runs the workflows that are shipped, on this machine and without GitHub: what they check out
is there, and stand-ins are taken for two of GitHub's own actions.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from evalgate.cli.command_line import cli
from tests.conftest import SCRIPT, clean_environment
from tests.e2e.conftest import Evalgate, Repo, Scripted, prompt
from tests.github.fake import TOKEN, FakeGitHub

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
ACTION = ROOT / ".github/actions/evalgate/action.yml"
STARTER = ROOT / "evalgate/starter/workflow.yml"
WORKFLOWS = sorted(
    [*ROOT.glob(".github/workflows/*.yml"), *ROOT.glob("examples/github/*.yml"), STARTER]
)
STAND_INS = ROOT / "tests/github/stand_ins"

#: The step that uses the action, up to where its inputs begin.
USED = re.compile(
    r"^(( +)- uses: \./\.github/actions/evalgate\n(?:\2  id: .*\n)?)(?:\2  with:\n)?", re.MULTILINE
)

GATE = ROOT / ".github/workflows/evalgate.yml"
COMMENT = ROOT / ".github/workflows/evalgate-comment.yml"
AFTER_A_MERGE = ROOT / "examples/github/evalgate-baseline.yml"

Act = Callable[..., subprocess.CompletedProcess[str]]


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

    def call(repo: Repo, workflow: Path, event: str, payload: Any, *more: str) -> Any:
        folder = repo.path / ".github"
        shutil.copytree(ACTION.parent, folder / "actions/evalgate", dirs_exist_ok=True)
        text = workflow.read_text()
        text, count = USED.subn(rf"\1\2  with:\n\2    evalgate: {SCRIPT}\n", text)
        assert count == 1
        (folder / "workflows").mkdir(exist_ok=True)
        copied = folder / "workflows" / workflow.name
        copied.write_text(text)
        file = tmp_path / "payload.json"
        file.write_text(json.dumps(payload))
        pins = re.findall(r"uses: (actions/(?!checkout)([\w-]+)@\w+)", text)
        options = [
            *("--eventpath", file, "--workflows", copied, *more),
            *("--platform", "ubuntu-24.04=-self-hosted", "--no-cache-server"),
            *("--artifact-server-addr", "127.0.0.1", "--cache-server-addr", "127.0.0.1"),
            *("--env", f"GITHUB_API_URL={github.url}", "--env", f"ARTIFACTS={tmp_path / 'kept'}"),
            *("--env", "GITHUB_REPOSITORY=o/r", "--secret", f"GITHUB_TOKEN={TOKEN}"),
            *(
                one
                for pin, name in pins
                for one in ("--local-repository", f"{pin}={STAND_INS / name}")
            ),
        ]
        environment = clean_environment({"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)})
        return subprocess.run(
            [str(BIN / "act"), event, *map(str, options)],
            cwd=repo.path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=180,
        )

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
    assert "It needs a maintainer's measurement." in body
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


def test_what_a_merge_left_unmeasured_is_found(here: Repo, act: Act, tmp_path: Path) -> None:
    """In the queue it is red; after a merge the first job says so, and others go on from that."""
    before = here.git("rev-parse", "HEAD")
    after = prompt(here, "Be quick.")
    group = {"merge_group": {"head_sha": after, "base_sha": before}}
    done = act(here, GATE, "merge_group", group)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "exit status 7" in done.stdout
    push = {"before": before, "after": after, "forced": False, "ref": "refs/heads/main"}
    done = act(here, AFTER_A_MERGE, "push", push, "--job", "gate")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "exit-code=7" in done.stdout
