"""Bad input gives `error:` and `hint:` naming file, key and line; never a traceback."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

Edit = tuple[str, Callable[[str], str], int, str]


def put(text: str) -> Callable[[str], str]:
    return lambda _: text


def swap(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


TOML = "evalgate.toml"
TASK = "tasks/double/task.toml"
EDITS: dict[str, Edit] = {
    "no TOML": (TOML, put("a = = 1\n"), 2, "evalgate.toml"),
    "unknown table": (TOML, lambda t: t + "\n[pollcy]\n", 2, "pollcy: unknown key"),
    "unknown key": (TOML, swap("trials", "trails"), 2, "suite.trails: unknown key"),
    "wrong type": (TOML, swap("trials = 3", 'trials = "3"'), 2, "suite.trials: must be"),
    "no part": (TOML, swap("[harness.parts]", "[harness.partz]"), 2, "harness"),
    "no model": (TOML, swap("[models.main]", "[modells.main]"), 2, "modells"),
    "glob without match": (TOML, swap("prompts/*.md", "promts/*.md"), 2, "promts"),
    "unknown adapter": (TOML, swap("[agent]", '[agent]\nuse = "nosuch"'), 2, "nosuch"),
    "unknown field": (TOML, swap("{model}", "{modell}"), 2, "{modell}"),
    "unknown sandbox": (TOML, lambda t: t + '\n[sandbox]\nuse = "nosuch"\n', 2, "nosuch"),
    "unknown upstream": (TOML, swap("env:SCRIPTED_URL", "nosuch"), 2, "nosuch"),
    "unset variable": (TOML, swap("env:SCRIPTED_URL", "env:UNSET"), 9, "UNSET"),
    "no task": (TOML, swap("[suite]", '[suite]\ntasks = ["nosuch/*"]'), 5, "no task"),
    "task: no TOML": (TASK, put("]"), 2, "tasks/double/task.toml"),
    "task: unknown key": (TASK, swap("expected_files", "expected_fils"), 2, "expected_fils"),
    "task: unknown check": (TASK, swap("only_expected_files", "nosuch"), 2, "nosuch"),
    "task: check outside": (
        TASK,
        swap('{ type = "only_expected_files" }', '{ type = "file_exists", path = "../x" }'),
        2,
        "'../x' leaves the workspace",
    ),
    "task: path-like id": (TASK, swap('"double"', '"../double"'), 2, "../double"),
    "task: id used twice": (TASK, swap('"double"', '"TRIPLE"'), 2, "tasks/triple"),
    "task: negative limit": (TASK, swap("= 30", "= -1"), 2, "agent.timeout_sec"),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_file_that_is_wrong(repo, scripted, evalgate, name):
    """The error says where, the code is the right one, and no trial is made."""
    file, change, code, words = EDITS[name]
    path = repo.path / file
    path.write_text(change(path.read_text()))
    done = evalgate("run", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == code, done.stderr
    assert done.stderr.splitlines()[-2].startswith("error: "), done.stderr
    assert done.stderr.splitlines()[-1].startswith("hint: ")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not scripted.requests


@pytest.mark.parametrize(
    "missing", [TASK, "tasks/double/instruction.md", "tasks/double/tests/test.sh"]
)
def test_a_file_that_is_missing(repo, evalgate, missing):
    """The folder that lacks it is named, or the task is simply not there."""
    (repo.path / missing).unlink()
    done = evalgate("run", "double", cwd=repo.path, env={"SCRIPTED_URL": "http://127.0.0.1:9"})
    assert done.returncode in {2, 5}
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("toml", "named"),
    [("]", "triple"), ('[task]\nname = "third"\n[environment]\ngpus = 1\n', "third")],
)
def test_a_task_that_can_not_be_read_stops_no_other(repo, scripted, evalgate, toml, named):
    """Named, or in a run of all tasks, it is told as ever."""
    (repo.path / "tasks/triple/task.toml").write_text(toml)
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "-k", "1", "double", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    for words in ([], [named], ["double", f"{named[0]}*"]):
        done = evalgate("run", "-k", "1", *words, cwd=repo.path, env=env)
        assert done.returncode == 2, done.stderr
        assert "tasks/triple/task.toml" in done.stderr


COMMANDS = {
    "unknown command": (["nosuch"], 2, "nosuch"),
    "unknown option": (["run", "--nosuch"], 2, "--nosuch"),
    "unknown revision": (["fingerprint", "nosuch"], 2, "nosuch"),
    "a revision like an option": (["run", "--rev=--output=x"], 2, "--output=x"),
    "unknown task": (["run", "nosuch"], 5, "nosuch"),
    "unknown base": (["gate", "--base", "nosuch"], 2, "nosuch"),
    "unknown run": (["show", "nosuch"], 2, "there is no run yet"),
    "no run to accept": (["baseline", "accept"], 2, "there is no run yet"),
    "half a pair": (["fingerprint", "--diff", "HEAD"], 2, "A..B"),
    "no such directory": (["-C", "nosuch", "gate"], 2, "nosuch"),
    "no recording": (["replay"], 7, "no recording"),
    "no command": (["local-model"], 2, "no command"),
    "no model file": (["local-model", "--gguf", "nosuch", "true"], 2, "nosuch"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_line_that_is_wrong(repo, evalgate, name):
    """Two lines say what and how to go on."""
    arguments, code, words = COMMANDS[name]
    done = evalgate(*arguments, cwd=repo.path, env={"SCRIPTED_URL": "http://127.0.0.1:9"})
    assert done.returncode == code, done.stderr
    assert "error: " in done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", ["fingerprint", "run", "replay", "gate", "show", "regrade"])
def test_outside_of_a_repository(tmp_path, evalgate, verb):
    """Exit 2 says that this is no git repository."""
    done = evalgate(verb, cwd=tmp_path)
    assert done.returncode == 2
    assert "error: " in done.stderr
    assert "git" in done.stderr


@pytest.mark.parametrize("verb", ["fingerprint", "run", "replay", "gate"])
def test_an_empty_repository(tmp_path, git_environment, evalgate, verb):
    """No commit and no configuration: exit 2 with the way out."""
    import subprocess

    subprocess.run(["git", "init", "-q", str(tmp_path)], env=git_environment, check=True)
    done = evalgate(verb, cwd=tmp_path)
    assert done.returncode == 2
    assert "evalgate.toml" in done.stderr


def test_before_the_first_commit(repo, scripted, evalgate):
    """An unborn HEAD has a work tree, which can be run; HEAD is said to be nothing yet."""
    repo.git("checkout", "-q", "--orphan", "fresh")
    done = evalgate("fingerprint", "HEAD", cwd=repo.path)
    assert done.returncode == 2
    assert "commit" in done.stderr
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "-k", "1", cwd=repo.path, env=env).returncode == 0
    assert evalgate("gate", cwd=repo.path).returncode == 3


def test_a_broken_pipe_is_no_error(repo, evalgate):
    """`evalgate fingerprint | true` stays quiet."""
    import subprocess
    import sys
    from pathlib import Path

    script = f'"{Path(sys.executable).parent / "evalgate"}" --help | true; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(
        ["bash", "-c", script], cwd=repo.path, env=repo.environment, capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr


def test_from_a_folder_below_and_a_project_below_the_top(repo, scripted, evalgate):
    """The configuration is found upwards, and a project may lie in a folder of a repository."""
    (repo.path / "deep/er").mkdir(parents=True)
    here = evalgate("fingerprint", cwd=repo.path)
    below = evalgate("fingerprint", cwd=repo.path / "deep/er")
    assert below.stdout == here.stdout
    repo.git("rm", "-rq", "--cached", ".")
    inner = repo.path / "services/agent-one"
    inner.mkdir(parents=True)
    for name in ("agent", "tasks", "evalgate.toml"):
        (repo.path / name).rename(inner / name)
    repo.commit("moved")
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "--record", cwd=inner, env=env)
    assert done.returncode == 0, done.stderr
    assert evalgate("baseline", "accept", "-k", "1", cwd=inner).returncode == 0
    repo.commit("recorded")
    assert evalgate("replay", cwd=inner).returncode == 0
    assert (inner / "baselines").is_dir()


def test_no_path_gives_an_internal_error(recorded, evalgate, tmp_path):
    """A folder that is a file, bytes that are no text: two lines, and a code that is not 70."""
    blocked = tmp_path / "file"
    blocked.write_text("x")
    done = evalgate("gate", "--out", blocked, cwd=recorded.path)
    assert done.returncode == 2
    assert "hint: " in done.stderr
    (recorded.path / "evalgate.toml").write_bytes(b"\xff\xfe")
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 2
    assert "evalgate.toml" in done.stderr


def test_output_survives_a_narrow_encoding(recorded, evalgate):
    """A locale without check marks is no reason to fail."""
    done = evalgate("regrade", cwd=recorded.path, env={"PYTHONIOENCODING": "latin-1"})
    assert done.returncode == 0, done.stderr


def test_a_progress_nobody_reads_changes_no_exit_code(recorded):
    """`evalgate regrade 2>&1 >/dev/null | true` ends with 0."""
    import subprocess
    import sys
    from pathlib import Path

    script = Path(sys.executable).parent / "evalgate"
    words = f'"{script}" regrade 2>&1 >/dev/null | true; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", words], cwd=recorded.path, env=recorded.environment)
    assert done.returncode == 0


def test_a_sandbox_that_fails_voids_nothing(recorded, evalgate):
    """Too few file handles here: errored trials prove nothing against the author."""
    import subprocess
    import sys
    from pathlib import Path

    script = Path(sys.executable).parent / "evalgate"
    words = f'ulimit -n 18; exec "{script}" regrade'
    done = subprocess.run(
        ["bash", "-c", words],
        cwd=recorded.path,
        env=recorded.environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode in {0, 4, 9}, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_expected_tests_without_tests(repo, evalgate):
    """Nothing could report them, and everything would pass."""
    import shutil

    shutil.rmtree(repo.path / "tasks/double/tests")
    done = evalgate("run", cwd=repo.path, env={"SCRIPTED_URL": "http://127.0.0.1:9"})
    assert done.returncode == 2
    assert "expected_tests: names tests" in done.stderr


@pytest.mark.parametrize("money", ["nan", "inf", "-1"])
def test_a_budget_is_an_amount_of_money(repo, evalgate, money):
    """What is never reached stops nothing."""
    env = {"SCRIPTED_URL": "http://127.0.0.1:9"}
    assert evalgate("run", "--usd", money, cwd=repo.path, env=env).returncode == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["show", "pipe"], "pipe is no file that can be read"),
        (["show", "/dev/zero"], "/dev/zero is no file that can be read"),
        (["show", "/"], "there is no file '/', and no project to look into: not a git repository"),
        (["show", ""], "there is no file '', and no project to look into: not a git repository"),
        (["diff", "pipe", "nosuch"], "pipe is no file that can be read"),
        (["diff", "{file}", "nosuch"], "there is no file 'nosuch', and no project to look into"),
    ],
)
def test_a_cassette_that_is_none_outside_of_a_repository(tmp_path, recorded, evalgate, words, told):
    """What was named is told, before the missing repository, and never waited for."""
    outside = tmp_path / "outside"
    outside.mkdir()
    os.mkfifo(outside / "pipe")
    cassette = next((recorded.path / "cassettes").rglob("1.json"))
    words = [word.replace("{file}", str(cassette)) for word in words]
    done = evalgate("cassette", *words, cwd=outside)
    assert done.returncode == 2, done.stderr
    assert f"error: {told}" in done.stderr
