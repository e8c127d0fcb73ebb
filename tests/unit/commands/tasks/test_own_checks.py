"""Code of a project's own checks is found in a repository, wherever the suite's globs look."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from evalgate.commands.project import WORKTREE, open_project, open_state, subject_of
from evalgate.commands.tasks.lint import broken
from evalgate.errors import UsageError

CONFIG = """
[harness.parts]
prompt = ["prompt.md"]
[models.main]
id = "m"
upstream = "http://127.0.0.1:9"
[agent]
command = ["true"]
[suite]
tasks = ["SUITE"]
"""
TOML = """
[metadata.evalgate]
checks = [{ type = "KIND" }]
"""
CODE = "def polite(seen):\n    return True\n"


def project_with(tmp_path: Path, suite: str, kind: str, code: str, environment: dict[str, str]):
    """Make a repository, in a folder of which lies a project with one task and its code."""
    root = tmp_path / "repository" / "evals"
    folder = f"{suite.rpartition('/')[0]}/web-1".lstrip("/")
    files = {
        "evalgate.toml": CONFIG.replace("SUITE", suite),
        "prompt.md": "x",
        f"{folder}/task.toml": TOML.replace("KIND", kind),
        f"{folder}/instruction.md": "Say it.",
        f"{folder}/environment/workspace/a": "x",
        **({code: CODE} if code else {}),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", root.parent], check=True, env=environment)
    return open_project(root)


@pytest.mark.parametrize(
    ("suite", "kind", "code"),
    [
        ("tasks/*", "checks:polite", "tasks/checks.py"),
        ("tasks/*", "checks.tone:polite", "tasks/checks/tone.py"),
        ("tasks/web-*", "checks.tone:polite", "tasks/checks/tone.py"),
        ("tasks/web-*", "checks:polite", "tasks/checks.py"),
        ("web-*", "checks:polite", "checks.py"),
        ("web-*", "checks.tone:polite", "checks/tone.py"),
    ],
)
def test_code_beside_the_tasks_is_found(suite, kind, code, tmp_path, git_environment):
    """In the work tree and in a commit, by one digest; the edit of it is another task."""
    project = project_with(tmp_path, suite, kind, code, git_environment)
    with open_state(project, WORKTREE) as state:
        (task,) = state.tasks
        assert [f"{Path(suite).parent / path}" for path in task.own_checks] == [code]
        assert [one.task for one in state.folders] == [task], "what is shown is what is run"
        assert f"evals/{code}" in state.task_paths, "no part of the harness may take it"
    run = ["git", "-C", project.root]
    subprocess.run([*run, "add", "."], check=True, env=git_environment)
    subprocess.run([*run, "commit", "-qm", "it"], check=True, env=git_environment)
    with open_state(project, subject_of("HEAD")) as state:
        assert state.tasks == (task,)
    (project.root / code).write_text(CODE + "# edited\n")
    with open_state(project, WORKTREE) as state:
        assert state.tasks[0].digest != task.digest


def test_code_that_is_not_there_breaks_a_rule(tmp_path, git_environment):
    """Lint says what a run would stop at."""
    project = project_with(tmp_path, "tasks/*", "checks:polite", "", git_environment)
    words = "tasks/checks.py is no file beside the tasks"
    with open_state(project, WORKTREE) as state:
        assert [(rule.name, words in one.words) for rule, one in broken(state.folders)][:1] == [
            ("unreadable", True)
        ]
        with pytest.raises(UsageError, match=words):
            _ = state.tasks
