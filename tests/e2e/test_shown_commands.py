"""What the pages show is what happens: the tour with its output, and the recipes for CI."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Repo, copied
from tests.pages import PAGES, README, blocks

BIN = Path(sys.executable).parent
RECIPES = PAGES["docs/ci.md"]


def shell(script: str, cwd: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", script],
        cwd=cwd,
        env={**environment, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def test_the_tour_goes_as_it_is_shown(tmp_path, git_environment):
    """Each command in the order of the page, and every line that it prints on stdout."""
    (tour,) = blocks("console", README)
    parts = re.split(r"^\$ (.+)\n", tour, flags=re.MULTILINE)
    assert parts[0] == ""
    commands, shown = parts[1::2], parts[2::2]
    assert len(commands) > 6
    script = "\n".join(f"{command}\necho '<ended>'" for command in commands)
    done = shell(script, tmp_path, git_environment)
    printed = done.stdout.split("<ended>\n")
    assert printed.pop() == ""
    assert dict(zip(commands, printed, strict=True)) == dict(zip(commands, shown, strict=True))
    again = shell("evalgate demo --keep tour", tmp_path, git_environment)
    assert again.returncode == 2
    assert "is not empty" in again.stderr


@pytest.fixture
def job(regressing, tmp_path) -> Repo:
    """A clone as a job of CI has it: what is judged is checked out, and was recorded elsewhere."""
    made = copied(regressing, tmp_path)
    remote = tmp_path / "remote.git"
    made.git("clone", "-q", "--bare", str(made.path), str(remote))
    made.git("clone", "-q", str(remote), str(tmp_path / "job"))
    return Repo(path=tmp_path / "job", environment=made.environment)


def test_the_recipe_for_any_ci(job):
    """A regression is exit code 1, with the page and its trials; what changes no part is 0."""
    (recipe,) = blocks("sh", RECIPES)
    job.git("switch", "-q", "wrong")
    done = shell(recipe, job.path, job.environment)
    assert done.returncode == 1, done.stderr
    assert "Regression" in (job.path / "verdict/verdict.md").read_text()
    assert "<failure" in (job.path / "verdict/trials.xml").read_text()
    job.git("switch", "-q", "main")
    job.write("README.md", "words\n")
    job.git("commit", "-qam", "words")
    assert shell(recipe, job.path, job.environment).returncode == 0


def test_the_recipe_for_gitlab(job, tmp_path):
    """A job by GitLab's schema, whose script ends with the verdict."""
    (recipe,) = blocks("yaml", RECIPES)
    file = tmp_path / ".gitlab-ci.yml"
    file.write_text(recipe)
    schema = ("--builtin-schema", "vendor.gitlab-ci")
    done = subprocess.run([BIN / "check-jsonschema", *schema, file], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    script = recipe.partition("  script:\n")[2].partition("  after_script:")[0]
    lines = re.findall(r"^    - (.+)$", script, re.MULTILINE)
    assert lines.pop(0).startswith("pip install")
    job.git("switch", "-q", "wrong")
    environment = {**job.environment, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
    assert shell("\n".join(["set -e", *lines]), job.path, environment).returncode == 1
