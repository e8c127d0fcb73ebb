"""A page tells a broken task apart: what was called before and now, and what to do next."""

from __future__ import annotations

import shlex
import shutil

import pytest

from tests.e2e.conftest import HARNESS

PLAN = """format = 1

[[task]]
id = "*"
{look}
[[task.reply]]

[[task.reply.call]]
name = "bash"
input = {{ command = "sed -i 's/n + 40/n * {double}/' double.py; sed -i 's/+ 40/* 3/' triple.py" }}

[[task.reply]]
text = "Done."
"""
LOOK = """
[[task.reply]]

[[task.reply.call]]
name = "bash"
input = { command = "ls | head" }
"""


@pytest.fixture
def careless(repo, evalgate):
    """A harness that was recorded, and an edit of it, recorded, that looks at nothing first."""
    config = (repo.path / "evalgate.toml").read_text()
    config = config.replace('upstream = "env:SCRIPTED_URL"', 'upstream = "scripted:plan.toml"')
    repo.write("evalgate.toml", config.replace('"rewrite"', '"shell"'))
    repo.write("agent/agent.py", (HARNESS / "agent.py").read_text())
    for look, double, message in ((LOOK, 2, "careful"), ("", 9, "careless")):
        repo.write("plan.toml", PLAN.format(look=look, double=double))
        repo.write("agent/prompts/shell.md", f"Be {message}.\n")
        done = evalgate("run", "--record", cwd=repo.path)
        assert done.returncode == 0, done.stderr
        if look:
            done = evalgate("baseline", "accept", "-k", "1", cwd=repo.path)
            assert done.returncode == 0, done.stderr
        repo.commit(message)
    return repo


def test_the_calls_of_before_and_now_stand_beside_the_diff(careless, evalgate):
    """From the recordings alone, as in a clone; and the next command shows a trial that fails."""
    shutil.rmtree(careless.path / ".evalgate" / "runs")
    done = evalgate("gate", cwd=careless.path)
    assert done.returncode == 1, done.stdout + done.stderr
    page = done.stdout
    assert "**What fell most:** `double` passed 3/3 before and passes 0/3 now." in page
    fold = page.partition("<summary>double: 3/3 → 0/3</summary>")[2].partition("</details>")[0]
    assert "-    return n * 2\n+    return n * 9\n" in fold
    assert "Tool calls, from a trial that passed before (−, 2) to this one (+, 1):" in fold
    assert "\n-bash(command=ls | head)\n" in fold
    assert "\n+bash(command=sed -i 's/n + 40/n * 9/' double.py" in fold
    (step,) = (line for line in page.splitlines() if line.startswith("evalgate show "))
    shown = evalgate(*shlex.split(step, comments=True)[1:], cwd=careless.path)
    assert shown.returncode == 0, shown.stderr
    assert "double #1: failed" in shown.stdout


def test_what_is_not_known_here_is_said(careless, evalgate):
    """Without the base's recording nobody knows what was called before; the gate goes on."""
    base = careless.git("rev-parse", "HEAD~1")
    careless.git("reset", "-q", "--hard", base)
    careless.git("rm", "-rq", "cassettes")
    careless.commit("no recordings")
    careless.git("cherry-pick", "-n", "-X", "theirs", "ORIG_HEAD")
    careless.commit("careless")
    shutil.rmtree(careless.path / ".evalgate" / "runs")
    done = evalgate("gate", cwd=careless.path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "The tool calls of a trial that passed before are not known here." in done.stdout
