"""Checks of a project's own: found beside the tasks, part of them, and run in the sandbox alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalgate.checks.table import build_check
from evalgate.core.claim import Claim
from evalgate.core.files import File
from evalgate.core.own_name import is_own_name, problem_of_own_name
from evalgate.core.task import CheckSpec, Task
from evalgate.core.trial import Outcome
from evalgate.errors import UsageError
from evalgate.sandboxes.process import ProcessProvider
from evalgate.tasks.suite import load_suite
from tests.grading import grade_by
from tests.observing import conduct

CODE = """\
from checks.words import polite_words

def polite(seen, least=1):
    found = sum(word in (seen["final_answer"] or "") for word in polite_words())
    return found >= least, f"{found} polite words"

def odd(seen, what):
    return {"nan": float("nan"), "none": None, "one": 1, "true": True, "false": False}[what]

def ends(seen, how):
    import os, signal, sys
    if how == "exec":
        os.execvp("true", ["true"])
    if how == "imports":
        from checks import leaves
    if how == "broken":
        from checks import broken
    {"_exit": os._exit, "exit": sys.exit}.get(how, lambda code: None)(0)
    if how == "fails":
        sys.exit(10)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "parent":
        os.kill(os.getppid(), signal.SIGKILL)
    if how == "raises":
        raise ValueError("two\\nlines")
    if how == "base":
        raise KeyboardInterrupt
    if how == "deep":
        return ends(seen, how)
    sys.stdout.write("\\n"); sys.stderr.write("loud\\n"); return True, 7

def leaves_one(seen):
    import subprocess, sys
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"], close_fds=False)
    return False, "said"

def many(seen):
    return False, "é " * 100_000

def reads(seen):
    return open("a.txt").read() == "new" and seen["changed"] == ["a.txt"]
"""
LEAVES = "import sys\nsys.exit(0)\n"
OTHER = "def polite_words():\n    return ['please', 'thank']\n"
TOML = """\
[metadata.evalgate]
checks = [{ type = "checks.tone:polite", least = 2 }]
"""


def suite(**texts: str) -> tuple[Task, ...]:
    """Load a suite of one task, with the code beside it unless it says otherwise."""
    files = {
        "tasks/one/task.toml": TOML,
        "tasks/one/instruction.md": "Be polite.",
        "tasks/one/environment/workspace/a.txt": "old",
        "tasks/checks/tone.py": CODE,
        "tasks/checks/words.py": OTHER,
        "tasks/checks/leaves.py": LEAVES,
        "tasks/checks/broken.py": "\ndef",
        **texts,
    }
    return load_suite({path: File(data=text.encode()) for path, text in files.items() if text})


def test_the_code_is_part_of_the_task():
    """All of the package, in the digest; what lies elsewhere is not."""
    (task,) = suite()
    names = ("tone", "words", "leaves", "broken")
    assert set(task.own_checks) == {f"checks/{name}.py" for name in names}
    (other,) = suite(**{"tasks/checks/words.py": OTHER + "\n"})
    assert task.digest != other.digest
    (same,) = suite(**{"tasks/notes.py": "x = 1"})
    assert task.digest == same.digest


def test_code_that_is_not_there_is_named():
    """With the place where it was looked for."""
    with pytest.raises(UsageError, match=r"tasks/checks/tone\.py is no file beside the tasks"):
        suite(**{"tasks/checks/tone.py": ""})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a:b; rm -rf /", "a part that is no name in Python: 'b; rm -rf /'"),
        ("my-checks:b", "a part that is no name in Python: 'my-checks'"),
        ("a.class:b", "a part that is no name in Python: 'class'"),
        ("a:", "has an empty part: package.module:function"),
        (":b", "has an empty part"),
        ("a..b:c", "has an empty part"),
        ("a/b:c", "by dots and without .py, as an import does; 'a.b:c'?"),
        ("tasks/checks/tone.py:polite", "'checks.tone:polite'?"),
        ("a:b:c", "needs one colon, between module and function; 'a:c'?"),
        ("a:b.c", "a part that is no name in Python: 'b.c'"),
    ],
)
def test_a_name_that_is_no_function_is_refused(name, words):
    """It stands on a command line; what would be right is said, by lint as well."""
    with pytest.raises(UsageError) as caught:
        build_check(CheckSpec(type=name), task="t")
    assert words in caught.value.message
    assert "polite() in checks/tone.py" in caught.value.hint
    (task,) = suite(**{"tasks/one/task.toml": TOML.replace("checks.tone:polite", name)})
    assert task.checks[0].type == name


@pytest.mark.parametrize(
    ("name", "meant"), [("checks.tone.polite", "checks.tone:polite"), ("file_exist", "file_exists")]
)
def test_a_type_that_is_none_is_told_with_the_nearest(name, meant):
    """A colon that was forgotten, or a slip."""
    with pytest.raises(UsageError) as caught:
        build_check(CheckSpec(type=name), task="t")
    assert caught.value.hint.startswith(f"did you mean {meant!r}? known types: ")


@given(st.text("ab.:/\\py- é", max_size=12))
@example("a:b")
def test_a_name_is_one_or_its_problem_is_said(name):
    """And what is offered is one."""
    problem = problem_of_own_name(name)
    assert is_own_name(name) is (not problem)
    if problem.endswith("?"):
        assert is_own_name(problem.rpartition("; '")[2].removesuffix("'?"))


@pytest.mark.parametrize(
    ("name", "params", "outcome", "words"),
    [
        ("polite", {"least": 2}, Outcome.PASSED, ""),
        ("polite", {"least": 3}, Outcome.FAILED, "2 polite words"),
        ("polite", {"most": 3}, Outcome.ERRORED, "TypeError: polite() got an unexpected keyword"),
        ("reads", {}, Outcome.PASSED, ""),
        ("odd", {"what": "true"}, Outcome.PASSED, ""),
        ("odd", {"what": "false"}, Outcome.FAILED, "checks.tone:odd returned False"),
        ("odd", {"what": "nan"}, Outcome.ERRORED, "returned nan, which is neither"),
        ("odd", {"what": "none"}, Outcome.ERRORED, "returned None, which is neither"),
        ("odd", {"what": "one"}, Outcome.ERRORED, "returned 1, which is neither"),
        ("missing", {}, Outcome.ERRORED, "checks/tone.py: AttributeError"),
        ("polite", {"least": 3}, Outcome.FAILED, "checks/tone.py:3: 2 polite words"),
        ("ends", {"how": "_exit"}, Outcome.ERRORED, "ended its process with exit code 0"),
        ("ends", {"how": "exec"}, Outcome.ERRORED, "ended its process with exit code 0"),
        ("ends", {"how": "exit"}, Outcome.ERRORED, "checks.tone:ends called for an exit (0)"),
        ("ends", {"how": "fails"}, Outcome.ERRORED, "checks.tone:ends called for an exit (10)"),
        ("ends", {"how": "imports"}, Outcome.ERRORED, "checks/leaves.py:2: checks.tone:ends"),
        ("ends", {"how": "broken"}, Outcome.ERRORED, "checks/broken.py:2: SyntaxError"),
        ("ends", {"how": "kill"}, Outcome.ERRORED, "checks.tone:ends was killed by signal 9"),
        ("ends", {"how": "parent"}, Outcome.ERRORED, ""),
        ("ends", {"how": "raises"}, Outcome.ERRORED, "checks/tone.py:26: ValueError: two lines"),
        ("ends", {"how": "base"}, Outcome.ERRORED, "KeyboardInterrupt"),
        ("ends", {"how": "deep"}, Outcome.ERRORED, "RecursionError"),
        ("ends", {"how": "loud"}, Outcome.PASSED, ""),
        ("leaves_one", {}, Outcome.FAILED, "said"),
        ("many", {}, Outcome.FAILED, "é é"),
    ],
)
def test_what_an_own_check_finds(name, params, outcome, words, tmp_path: Path):
    """True or False, and whatever else it does was no measurement."""
    (task,) = suite()
    spec = CheckSpec(type=f"checks.tone:{name}", params=params)
    claim = Claim(changed={"a.txt": File(data=b"new")})
    grade = grade_by(
        ProcessProvider(tmp_path),
        task,
        claim,
        checks=((spec, build_check(spec, task="one")),),
        trajectory=conduct("please, and thank you"),
    )
    (found,) = grade.checks
    assert (found.outcome, words in found.detail) == (outcome, True), found
