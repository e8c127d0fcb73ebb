"""One task of every format, worked on and graded end to end; odd ids, recorded and replayed."""

from __future__ import annotations

import json
import shutil
import subprocess
import unicodedata

import pytest

from evalgate.core.identity import storage_key
from tests.e2e.conftest import HARNESS
from tests.e2e.small_task import write_task
from tests.formats import GOOD, ROW, files, lay

PLAN = """format = 1
[[task]]
id = "*"
[[task.reply]]
text = "I mend it."
[[task.reply.call]]
name = "bash"
input = { command = '''printf 'def double(n):\\n    return n * FACTOR\\n' > double.py''' }
[[task.reply]]
text = "Say 7."
"""
IN_PLACE = ("snapshot", "terminal-bench")
SUITE = '[suite]\ntasks = ["tasks/*", "tasks/*.json"]'


def plan(repo, factor):
    """Let a plan play the model, for an agent with tools."""
    repo.write("agent/agent.py", (HARNESS / "agent.py").read_text())
    repo.write("plans/fix.toml", PLAN.replace("FACTOR", str(factor)))
    repo.write("agent/agent.py", (HARNESS / "agent.py").read_text())
    config = (repo.path / "evalgate.toml").read_text()
    config = config.replace('upstream = "env:SCRIPTED_URL"', 'upstream = "scripted:plans/fix.toml"')
    config = config.replace('"rewrite"', '"shell"').replace("trials = 3", "trials = 1")
    repo.write("evalgate.toml", config)


@pytest.fixture
def project(repo, tmp_path, evalgate):
    """A project whose tasks are one of every format, in place or imported."""
    shutil.rmtree(repo.path / "tasks")
    for name in IN_PLACE:
        lay(repo.path / "tasks" / name, GOOD[name])
    write_task(repo, "double", 2)
    (repo.path / "tasks/criteria.json").write_bytes(GOOD["criteria"]["task.json"].data)
    config = (repo.path / "evalgate.toml").read_text()
    repo.write("evalgate.toml", config.replace("[suite]", SUITE))
    start = tmp_path / "double é"
    lay(start, files(double_dot_py="def double(n):\n    return n + 40\n"))
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "The start"]):
        subprocess.run(["git", *words], cwd=start, env=repo.environment, check=True)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        cwd=start,
        env=repo.environment,
        check=True,
        capture_output=True,
    ).stdout.decode()
    row = json.dumps({**ROW, "base_commit": commit.strip()})
    lay(tmp_path, {**files(rows_dot_jsonl=row), **GOOD["golden"]})
    sources = (tmp_path / "rows.jsonl", tmp_path / "golden.py")
    done = evalgate("--json", "task", "import", *sources, "--repo", start, cwd=repo.path)
    assert done.returncode == 0, done.stderr
    plan(repo, 2)
    repo.commit("Tasks of every format")
    return repo


def outcomes(repo):
    """Return how each trial of the newest run ended, by task."""
    newest = max((repo.path / ".evalgate" / "runs").iterdir())
    lines = (newest / "trials.jsonl").read_text().splitlines()
    return {one["task"]: (one["outcome"], one.get("reason", "")) for one in map(json.loads, lines)}


TASKS = ["double", "snapshot", "criteria-double", "golden-double", "some__double-1"]


def test_a_task_of_every_format_runs(project, evalgate):
    """What is right passes, what is wrong fails; terminal-bench is for containers."""
    done = evalgate("run", *TASKS, "--sandbox", "process", cwd=project.path)
    assert done.returncode == 0, done.stderr
    found = outcomes(project)
    assert {task: outcome for task, (outcome, _) in found.items()} == dict.fromkeys(
        TASKS, "passed"
    ), found
    plan(project, 3)
    done = evalgate("run", *TASKS, "--sandbox", "process", cwd=project.path)
    assert done.returncode == 0, done.stderr
    wrong = {task: outcome for task, (outcome, _) in outcomes(project).items()}
    assert wrong == {**dict.fromkeys(TASKS, "failed"), "golden-double": "passed"}


def test_a_folder_of_terminal_bench_runs_in_its_image(project, evalgate, engine):
    """As it lies; what is right passes, what is wrong fails."""
    done = evalgate("run", "terminal-bench", cwd=project.path, env=engine)
    assert done.returncode == 0, done.stderr
    assert outcomes(project)["terminal-bench"][0] == "passed", done.stderr
    plan(project, 3)
    done = evalgate("run", "terminal-bench", cwd=project.path, env=engine)
    assert done.returncode == 0, done.stderr
    assert outcomes(project)["terminal-bench"][0] == "failed", done.stderr


def test_what_was_imported_can_be_proven(project, evalgate):
    """A right answer is known of a golden list, the fix of a row; checks alone may decide."""
    lay(project.path, files(more_dot_py=ANSWERED))
    assert evalgate("task", "import", "more.py", cwd=project.path).returncode == 0
    names = ("golden-seven", "some__double-1", "snapshot", "golden-double")
    done = evalgate("task", "verify", *names, "-k", "1", cwd=project.path)
    assert done.returncode == 1, done.stderr
    for name in names[:3]:
        assert f"\nproven: {name} (" in f"\n{done.stdout}"
    told = done.stdout.partition("NOT PROVEN: golden-double")[2]
    assert "no-solution" in told
    assert "untouched-passes" not in told


ANSWERED = 'TASKS = [{"id": "golden-seven", "prompt": "What is 3 + 4?", "expected_output": "7"}]\n'


def test_odd_ids_have_places_of_their_own(repo, evalgate):
    """In runs, recordings and baselines: no trial is another task's, on any file system."""
    ids = ["a/b", "a.b", "a_b", "con", "é", "x" * 100]
    shutil.rmtree(repo.path / "tasks")
    for number, name in enumerate(ids):
        write_task(repo, "double", 2)
        toml = repo.path / "tasks/double/task.toml"
        toml.write_text(toml.read_text().replace('name = "double"', f'name = "{name}"'))
        (repo.path / "tasks/double").rename(repo.path / f"tasks/t{number}")
    plan(repo, 2)
    repo.commit("Odd ids")
    done = evalgate("run", "--record", "--sandbox", "process", cwd=repo.path)
    assert done.returncode == 0, done.stderr
    assert evalgate("baseline", "accept", cwd=repo.path).returncode == 0
    keys = {storage_key(name) for name in ids}
    assert len({unicodedata.normalize("NFC", key).casefold() for key in keys}) == len(ids)
    places = [one.parent.name for one in (repo.path / "cassettes").glob("*/*/1.json")]
    assert sorted(places) == sorted(keys)
    (run,) = (repo.path / ".evalgate" / "runs").iterdir()
    assert keys <= {one.parent.name for one in run.glob("**/1")}
    done = evalgate("replay", cwd=repo.path)
    assert done.returncode == 0, done.stderr
    assert "6/6" in done.stdout
    assert outcomes(repo).keys() == set(ids)
    done = evalgate("baseline", "verify", cwd=repo.path)
    assert done.returncode == 0, done.stdout + done.stderr
