"""Tasks from a history: mined, proven, and made of single failures."""

from __future__ import annotations

import json
import shutil
import tomllib
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from evalgate.commands.project import open_project
from evalgate.commands.tasks.new import NewOptions, new_task
from evalgate.errors import UsageError
from tests.e2e.conftest import Repo, copied, make_repo
from tests.schemas import hold_answer

HEAD = "import unittest\n\nfrom pkg.a import *\n\n\nclass T(unittest.TestCase):\n"


def case(name: str, said: str) -> str:
    return f"    def test_{name}(self):\n        self.assertEqual({said})\n\n"


def step(repo: Repo, message: str, source: str, *cases: str) -> str:
    """Commit a state of the one module and its tests."""
    repo.write("pkg/a.py", source)
    repo.write("tests/test_a.py", HEAD + case("zero", "f(0), 0") + "".join(cases))
    return repo.commit(message)


@pytest.fixture(scope="session")
def history(tmp_path_factory, git_environment) -> Repo:
    """A repository with six fixes, of which one makes a task."""
    made = make_repo(tmp_path_factory.mktemp("history"), git_environment)
    made.write(".gitignore", "*.dat\n")
    made.write("pkg/forced.dat", "1\n")
    made.git("add", "-f", "pkg/forced.dat")
    step(made, "A module", "def f(n):\n    return n\n")
    good = "def f(n):\n    if n > 9:\n        return 9\n    return n\n"
    step(made, "f passes its bound (closes #4)\n\nUse `if n > 9:` there.", good,
         case("bound", "f(10), 9"), case("below", "f(9), 9"))  # fmt: skip
    step(made, "Fix words of f, which tests pass by anyway", f"{good}# f\n", case("one", "f(1), 1"))
    step(
        made, "Fix numbers below zero, they stay as they are", f"{good}#\n", case("two", "f(2), 3")
    )
    step(made, "Fix what is missing in the module here", f"{good}def doubled(n): return 2 * n\n",
         case("three", "doubled(3), 6"))  # fmt: skip
    step(made, "Fix it", good.replace("9", "8"), case("bound", "f(10), 8"))
    step(made, "Words", f"{good}# words\n")
    return made


def mined(repo: Repo, evalgate, *words: str) -> dict:
    arguments = ("--json", "task", "mine", "-k", "1", *words)
    done = evalgate(*arguments, cwd=repo.path)
    assert done.returncode == 0, done.stderr
    hold_answer(arguments, done.stdout)
    return json.loads(done.stdout)


def test_a_history_is_mined_once(history, tmp_path, evalgate):
    """What is proven is kept, why others fell is said, and nothing is made twice."""
    repo = copied(history, tmp_path)
    found = mined(repo, evalgate)
    (kept,) = found["kept"]
    assert kept["task"].startswith("f-passes-its-bound-")
    assert (found["commits"], found["candidates"]) == (8, 5)
    assert found["fell"] == {
        "its tests pass without the fix": 1,
        "its tests fail with the fix": 1,
        "its tests need names that only the fix has": 1,
        "its message says too little without the solution": 1,
    }
    folder = repo.path / "tasks" / kept["task"]
    assert (folder / "instruction.md").read_text() == "# F passes its bound\n"
    workspace = {p.name for p in (folder / "environment" / "workspace").rglob("*") if p.is_file()}
    assert "a.py" in workspace
    assert not {"double.py", "evalgate.toml"} & workspace  # neither other tasks nor ours
    ours = tomllib.loads((folder / "task.toml").read_text())["metadata"]["evalgate"]
    assert ours["origin"]["commit"] == kept["commit"]
    assert "tests.test_a.T.test_bound" in ours["expected_tests"]
    done = evalgate("task", "lint", kept["task"], cwd=repo.path)
    assert done.returncode == 0, done.stdout
    before = (folder / "task.toml").read_bytes()
    again = mined(repo, evalgate, "--most", "1")
    assert (again["kept"], again["there"], again["untried"]) == ([], 1, 4)
    assert (folder / "task.toml").read_bytes() == before
    arguments = ("--json", "task", "verify", kept["task"], "-k", "1")
    done = evalgate(*arguments, cwd=repo.path)
    assert done.returncode == 0, done.stdout
    hold_answer(arguments, done.stdout)
    (proof,) = json.loads(done.stdout)["tasks"]
    assert (proof["proven"], proof["survivors"], proof["mutants"] > 1) == (True, [], True)


def test_two_at_once(history, tmp_path, evalgate):
    """Both end well, every task is written once and whole, and nothing is left beside it."""
    repo = copied(history, tmp_path)
    with ThreadPoolExecutor(max_workers=2) as pool:
        both = list(pool.map(lambda _: mined(repo, evalgate), range(2)))
    assert sum(len(one["kept"]) + one["there"] for one in both) >= 1
    assert sum(len(one["kept"]) for one in both) == 1
    (folder,) = (repo.path / "tasks").glob("f-passes-its-bound-*")
    assert [path for path in (repo.path / "tasks").iterdir() if path.name.startswith(".")] == []
    assert evalgate("task", "verify", folder.name, "-k", "1", cwd=repo.path).returncode == 0


def test_strangers_words_are_cleaned(history, tmp_path, evalgate):
    """What steers a terminal or turns words around is in no instruction, name or task.toml."""
    repo = copied(history, tmp_path)
    nasty = "\x1b[31mClos\u200bes\x1b[0m #8: f \u202epasses its\u2066 limit \x1b]0;x\x07of 9\x9b2J"
    better = "def f(n):\n    return min(n, 7)\n"
    step(repo, f"{nasty}\n\nThe \x1b[2Jnumber 8 comes out.", better, case("limit", "f(8), 7"))
    (issues := tmp_path / "issues").mkdir()
    for place in ("HEAD~1..HEAD", "--issues"):
        words = (place,) if place != "--issues" else ("--issues", str(issues), "HEAD~1..HEAD")
        (issues / "8.md").write_text("The number\x1b[2J 8 comes \u202eout of f\x00 here.\n")
        (kept,) = mined(repo, evalgate, *words)["kept"]
        folder = repo.path / "tasks" / kept["task"]
        told = (folder / "instruction.md").read_text() + (folder / "task.toml").read_text()
        assert "out" in told
        assert all(sign in "\n\t" or unicodedata.category(sign)[0] != "C" for sign in told)
        assert kept["task"].startswith("f-passes-its-limit-of-9-")
        shutil.rmtree(folder)


def test_what_would_keep_more_is_said(history, tmp_path, evalgate):
    """A command that names no test, and a module that is missing, each with what mends it."""
    repo = copied(history, tmp_path)
    quiet = evalgate("task", "mine", "-k", "1", "--test-command", "python3 -m unittest -q {tests}",
                     cwd=repo.path)  # fmt: skip
    assert "no test is reported by name" in quiet.stdout
    assert "hint: tests count by their names" in quiet.stdout
    repo.write("tests/test_a.py", f"import nosuch_module\n{HEAD}" + case("one", "f(1), 2"))
    repo.write("pkg/a.py", "def f(n):\n    return n + 1\n")
    repo.commit("Fix numbers that are one too small")
    lacking = evalgate("task", "mine", "-k", "1", "HEAD~1..HEAD", cwd=repo.path)
    assert "hint: 1 of them have no module nosuch_module" in lacking.stdout


def test_the_first_hour(history, tmp_path, evalgate):
    """From nothing to proven tasks and what they would cost, by one command."""
    repo = copied(history, tmp_path)
    for name in ("evalgate.toml", "tasks"):
        repo.git("rm", "-rq", name)
    repo.commit("Before evalgate")
    wishes = (
        "--yes",
        "--mine",
        "1",
        "--no-hook",
        "--no-workflow",
        "--upstream",
        "env:SCRIPTED_URL",
    )
    command = "python3 {harness_dir}/agent/agent.py --model {model}"
    arguments = ("--json", "init", *wishes, "--model", "scripted-1", "--command", command)
    done = evalgate(*arguments, cwd=repo.path)
    assert done.returncode == 0, done.stdout
    hold_answer(arguments, done.stdout)
    tasks = json.loads(done.stdout)["tasks"]
    assert len(tasks["mined"]["kept"]) == 1
    assert tasks["estimate"].startswith("estimate: 10 trials of 2 tasks")
    assert tasks["most_calls"] > 0
    assert not any("task mine" in line for line in json.loads(done.stdout)["next"])


def test_without_solution_there_is_no_proof(history, tmp_path, evalgate):
    """A task that nobody knows to be solvable is not proven: exit 1."""
    done = evalgate("task", "verify", "double", "-k", "1", cwd=copied(history, tmp_path).path)
    assert done.returncode == 1
    assert "NOT PROVEN: double" in done.stdout
    assert "no-solution: there is no solution/solve.sh" in done.stdout


def test_new_tasks(history, recorded, tmp_path, evalgate):
    """From a commit, from a transcript and from a failed trial, each with its origin."""
    (tmp_path / "1").mkdir()
    repo = copied(history, tmp_path / "1")
    fix = repo.git("log", "--format=%H", "--grep=closes")
    test = str(repo.path / "tests" / "test_a.py")
    (repo.path / "said.jsonl").write_text(
        '{"type": "system"}\n'
        '{"type": "user", "message": {"role": "user", "content": [{"text": "Hold f below 9."}]}}\n'
    )
    done = evalgate("task", "new", "--from-commit", fix, "--name", "plain", cwd=repo.path)
    assert "git add -f tasks/plain" in done.stdout
    shutil.rmtree(repo.path / "tasks" / "plain")
    calls = {
        "commit": ("--from-commit", fix),
        "transcript": ("--from-transcript", "said.jsonl", "--fix", fix, "--test", test),
    }
    for kind, words in calls.items():
        arguments = ("--json", "task", "new", "--name", kind, *words)
        done = evalgate(*arguments, cwd=repo.path)
        assert done.returncode == 0, done.stdout
        hold_answer(arguments, done.stdout)
        assert json.loads(done.stdout)["origin"]["commit"] == fix
        again = evalgate(*arguments, cwd=repo.path)
        assert again.returncode == 2
        assert "is there already" in again.stdout
    assert (repo.path / "tasks/transcript/instruction.md").read_text() == "Hold f below 9.\n"
    (recorded.path / "tests").mkdir()
    (recorded.path / "tests/test_more.py").write_text("import unittest\n")
    named = ("--json", "task", "new", "--from-run", "latest:double:2", "--name", "again")
    done = evalgate(*named, "--test", "tests/test_more.py", cwd=recorded.path)
    assert done.returncode == 0, done.stdout
    origin = json.loads(done.stdout)["origin"]
    assert (origin["task"], origin["trial"]) == ("double", "2")
    ours = tomllib.loads((recorded.path / "tasks/again/task.toml").read_text())
    assert ours["metadata"]["evalgate"]["checks"][-1]["type"] == "command_succeeds"
    assert evalgate("task", "show", "again", cwd=recorded.path).returncode == 0


def test_a_person_is_asked_for_what_is_missing(history, tmp_path):
    """One question for each thing, and where nothing is said the flag is named."""
    repo = copied(history, tmp_path)
    repo.write("said.json", "[]")
    options = NewOptions(transcript=repo.path / "said.json", name="asked")
    answers = [" Hold f below 9. ", str(repo.path / "tests/test_a.py")]
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return answers[len(asked) - 1]

    new_task(open_project(repo.path), options, ask)
    assert ["agent do?" in asked[0], "file of tests" in asked[1]] == [True, True]
    folder = repo.path / "tasks" / "asked"
    assert (folder / "instruction.md").read_text() == "Hold f below 9.\n"
    assert (folder / "tests/files/tests/test_a.py").exists()
    with pytest.raises(UsageError) as caught:
        new_task(open_project(repo.path), replace(options, name="b"), lambda _: "")
    assert caught.value.hint == "give it with --instruction"


MISSING = {
    "": "--from-commit SHA, --from-run RUN:TASK or --from-transcript FILE",
    "--from-commit HEAD --from-run latest:double": "--from-commit SHA",
    "--from-commit nosuch": "see git log",
    "--from-commit HEAD": "--test",
    "--from-run latest": "as latest:my-task",
    "--from-run latest:double": "--instruction TEXT, or --test FILE",
    "--from-commit HEAD --at HEAD": "leave --at out",
    "--from-run latest:double --fix HEAD": "leave --fix out",
    "--from-run latest:nosuch": "has no trial of nosuch\nhint: its tasks: double, triple",
    "--from-transcript empty.json": "--instruction",
    "--from-transcript /dev/zero": "there is no such file",
    "--from-commit HEAD --test tests/test_a.py --instruction @/dev/zero": "hint:",
    "--from-transcript README.md": "--test",
    "--from-transcript README.md --test README.md": "test_",
    "--from-run latest:double --instruction x --name ../x": "words and dashes",
}


@pytest.mark.parametrize("words", MISSING)
def test_what_is_missing_is_named_with_its_flag(words, recorded, evalgate):
    """Without a terminal nobody is asked, and nothing is written."""
    (recorded.path / "empty.json").write_text("[]")
    done = evalgate("task", "new", *words.split(), cwd=recorded.path)
    assert done.returncode in {2, 5}
    assert MISSING[words] in done.stderr
    assert recorded.git("status", "--short", "tasks") == ""


@pytest.mark.parametrize("words", ["nosuch", "v1..", "--last 0", "HEAD~1..HEAD --into tasks"])
def test_ranges_that_are_none(words, recorded, evalgate):
    """An error with a hint, and no traceback."""
    done = evalgate("task", "mine", *words.split(), cwd=recorded.path)
    assert done.returncode in {2, 5}
    assert "hint:" in done.stderr
