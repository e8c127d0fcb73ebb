"""Grading: what makes a trial pass, what fails it, and what could not be measured.

Every test runs real commands in the plain process sandbox.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from evalgate.core.claim import Claim
from evalgate.core.files import File, FileMode
from evalgate.core.observation import Observation
from evalgate.core.redaction import Redactor
from evalgate.core.task import CheckSpec, Task
from evalgate.core.trial import CheckResult, Outcome
from evalgate.errors import UsageError
from evalgate.protocols import Finding, Places, Promises, Stage, StageResult, StageStatus, Stop
from evalgate.runner.control import Controls
from evalgate.runner.grade import HIDDEN_TESTS, Grade, grade, overall
from evalgate.runner.stopped import TrialStoppedError
from tests.grading import grade_by

MakeTask = Callable[..., Task]
MakeClaim = Callable[..., Claim]
MakeCheck = Callable[..., CheckSpec]
Run = Callable[..., Grade]

PASSED, FAILED, ERRORED = Outcome.PASSED, Outcome.FAILED, Outcome.ERRORED

# The suite's own way to run hidden tests.
UNITTEST = """\
logs="${EVALGATE_LOGS}/verifier"
mkdir -p "$logs"
if python3 -I -B -m unittest discover -v -s "$EVALGATE_TESTS" -p 'test_*.py'; then
    reward=1
else
    reward=0
fi
echo "$reward" > "$logs/reward.txt"
"""
TEST_A = """\
import os, sys, unittest
sys.path.append(os.getcwd())
from a import x

class T(unittest.TestCase):
    def test_x(self):
        self.assertEqual(x, 1)

    def test_y(self):
        self.assertEqual(x + 1, 2)
"""
IDS = ("test_a.T.test_x", "test_a.T.test_y")


def reward(text: str, code: int = 0) -> str:
    """Return a test script that writes a reward file and ends with a code."""
    file = '"$EVALGATE_LOGS/verifier/reward.txt"'
    return f'mkdir -p "$EVALGATE_LOGS/verifier"\nprintf %s "{text}" > {file}\nexit {code}\n'


def outcome_of(grade: Grade) -> tuple[Outcome, str]:
    """Return outcome and detail of the hidden tests."""
    (check,) = (check for check in grade.checks if check.name == HIDDEN_TESTS)
    return check.outcome, check.detail


@pytest.fixture
def python_task(task: MakeTask) -> Task:
    """A task whose hidden tests are Python's own, two ids expected."""
    return task(UNITTEST, tests={"test_a.py": TEST_A}, expected_tests=IDS)


@pytest.mark.parametrize(
    ("script", "outcome", "detail"),
    [
        (reward("1"), PASSED, ""),
        (reward("1.0\n"), PASSED, ""),
        (reward("1", code=1), PASSED, ""),
        (reward("0"), FAILED, "no output"),
        (reward("0.5"), FAILED, "no output"),
        (reward("0", code=0), FAILED, "no output"),
        ("echo well; exit 0\n", PASSED, ""),
        ("echo bad; exit 1\n", FAILED, "bad"),
        (reward("nan"), ERRORED, "the reward nan lies outside 0 to 1"),
        (reward("2.0"), ERRORED, "the reward 2.0 lies outside 0 to 1"),
        (reward("-1"), ERRORED, "the reward -1 lies outside 0 to 1"),
        (reward("inf"), ERRORED, "the reward inf lies outside 0 to 1"),
        (reward("great"), ERRORED, "the reward file holds 'great', which is no number"),
        (reward(""), ERRORED, "the reward file holds '', which is no number"),
        ("nosuch-program\n", ERRORED, "tests/test.sh could not run: "),
        ("exec /nosuch\n", ERRORED, "tests/test.sh could not run: "),
        ("exec /etc/passwd\n", ERRORED, "tests/test.sh could not run: "),
    ],
)
def test_reward_first_then_exit_code(
    graded: Run, task: MakeTask, script: str, outcome: Outcome, detail: str
) -> None:
    """A reward of one passes; without one exit code 0; nonsense is not a measurement."""
    found, words = outcome_of(graded(task(script)))
    assert (found, words[: len(detail)]) == (outcome, detail)


def test_every_expected_id_has_to_be_reported(graded: Run, task: MakeTask) -> None:
    """A reward without its reports was not measured; a reported failure was."""
    report = "echo 'test_x (test_a.T.test_x) ... ok'\n"
    found = outcome_of(graded(task(report + reward("1"), expected_tests=IDS)))
    assert found == (ERRORED, "reported success without a report of: test_a.T.test_y")
    report += "echo 'test_y (test_a.T.test_y) ... FAIL'\n"
    found = outcome_of(graded(task(report + reward("0"), expected_tests=IDS)))
    assert found == (FAILED, "not passed: test_a.T.test_y")


def test_output_that_reports_no_test_is_no_accident(graded: Run, task: MakeTask) -> None:
    """Scripts of any kind are graded, also those that print nothing or bytes."""
    found = outcome_of(graded(task("printf '\\377\\000\\033'; exit 0\n", expected_tests=IDS)))
    assert found[0] is ERRORED
    assert outcome_of(graded(task("exit 1\n")))[0] is FAILED


def test_a_right_and_a_wrong_answer(graded: Run, python_task: Task, claim: MakeClaim) -> None:
    """The real thing: hidden tests that import what the agent wrote."""
    assert outcome_of(graded(python_task, claim({"a.py": "x = 1\n"}))) == (PASSED, "")
    wrong = graded(python_task, claim({"a.py": "x = 2\n"}))
    assert outcome_of(wrong) == (FAILED, f"not passed: {', '.join(IDS)}")
    assert "AssertionError" in wrong.log
    assert wrong.log.startswith('$ /bin/sh "$EVALGATE_TESTS/test.sh"\n')


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("import os\nos._exit(0)\n", ERRORED),
        ("raise SystemExit(0)\n", FAILED),
        ("import os\nos._exit(1)\n", FAILED),
        ("import os\nos.kill(os.getppid(), 9)\nos._exit(0)\n", FAILED),
        ("x = = 1\n", FAILED),
    ],
)
def test_code_that_ends_the_tests_does_not_pass_them(
    graded: Run, python_task: Task, claim: MakeClaim, text: str, outcome: Outcome
) -> None:
    """Leaving early with success reports no test, so nothing is believed."""
    found, detail = outcome_of(graded(python_task, claim({"a.py": text})))
    assert found is outcome, detail


FORGER = """\
import sys
x = 2
for name in ("x", "y"):
    print(f"test_{name} (test_a.T.test_{name}) ... ok", file=sys.stderr)
"""


def test_a_forged_report_does_not_outvote_a_failure(
    graded: Run, python_task: Task, claim: MakeClaim
) -> None:
    """Printing the words of success beside real failures is a failure."""
    assert outcome_of(graded(python_task, claim({"a.py": FORGER})))[0] is FAILED


ALWAYS = """\
class TestCase:
    pass
def main(*args, **kwargs):
    raise SystemExit(0)
"""


@pytest.mark.parametrize(
    "files",
    [
        {"unittest.py": ALWAYS},
        {"unittest/__init__.py": ALWAYS, "unittest/__main__.py": "raise SystemExit(0)\n"},
        {"sitecustomize.py": "import os\nos._exit(0)\n"},
        {"usercustomize.py": "import os\nos._exit(0)\n"},
        {"conftest.py": "import os\nos._exit(0)\n"},
        {"pyvenv.cfg": "home = /nosuch\n"},
        {"python3": "#!/bin/sh\nexit 0\n", "sh": "#!/bin/sh\nexit 0\n"},
        {"test.sh": "exit 0\n", "tests/test.sh": "exit 0\n"},
        {"test_a.py": "import unittest\n", "tests/test_a.py": "import unittest\n"},
        {"verifier/reward.txt": "1\n", "logs/verifier/reward.txt": "1\n"},
    ],
    ids=lambda files: next(iter(files)),
)
def test_no_file_of_a_claim_makes_the_tests_pass(
    graded: Run, python_task: Task, claim: MakeClaim, files: dict[str, str]
) -> None:
    """Modules, scripts and rewards of the agent's own are not what is run."""
    wrong = claim({"a.py": "x = 2\n", **files})
    assert outcome_of(graded(python_task, wrong))[0] is FAILED
    right = claim({"a.py": "x = 1\n", **files})
    assert outcome_of(graded(python_task, right))[0] is PASSED


MEANT_WELL = """\
import sys, unittest
sys.path.insert(0, "src")

class T(unittest.TestCase):
    def test_x(self):
        import a
        self.assertEqual(a.x, 1)
"""


@pytest.mark.parametrize(
    "files",
    [
        {"unittest.py": ALWAYS},
        {"unittest/__init__.py": ALWAYS, "unittest/__main__.py": "raise SystemExit(0)\n"},
        {"src/sitecustomize.py": "import os\nos._exit(0)\n"},
        {"usercustomize/__init__.py": "import os\nos._exit(0)\n"},
    ],
    ids=lambda files: next(iter(files)),
)
def test_tests_that_run_in_the_workspace_are_not_replaced(
    graded: Run, task: MakeTask, claim: MakeClaim, files: dict[str, str]
) -> None:
    """A script that does not keep the workspace off Python's path is what people write."""
    script = (
        "PYTHONPATH=.:src; export PYTHONPATH\n"
        'cp "$EVALGATE_TESTS/test_a.py" . && python3 -B -m unittest test_a\n'
    )
    usual = task(script, tests={"test_a.py": MEANT_WELL})
    wrong = graded(usual, claim({"a.py": "x = 2\n", **files}))
    assert outcome_of(wrong)[0] is FAILED
    assert wrong.log.startswith(
        f"not laid out beside the tests, for it would steer them: {min(files)}"
    )
    assert outcome_of(graded(usual, claim({"a.py": "x = 1\n", **files})))[0] is PASSED


@pytest.mark.parametrize(
    "files", [{"../logs/verifier/reward.txt": "1\n"}, {"a.py/b": "x"}, {"d/" * 2000: "x"}]
)
def test_files_that_can_not_be_laid_out_are_errored(
    graded: Run, python_task: Task, claim: MakeClaim, files: dict[str, str]
) -> None:
    """A hostile claim is not measured, and ends no run."""
    outcome, detail = outcome_of(graded(python_task, claim(files)))
    assert outcome is ERRORED
    assert detail.startswith(
        "the grade stage ended with engine: unsafe path in the files for repo: "
    )


def test_a_path_too_long_for_this_machine_is_errored(
    graded: Run, python_task: Task, claim: MakeClaim
) -> None:
    """A program can make such paths; the system refuses to name them in one piece."""
    deep = claim({f"{'/'.join(['d' * 200] * 40)}/f": "x"})
    outcome, detail = outcome_of(graded(python_task, deep))
    assert outcome is ERRORED
    assert detail.startswith("the grade stage ended with engine: the files of a stage can not")


def test_a_task_that_can_not_be_laid_out_is_said(graded: Run, task: MakeTask) -> None:
    """That is no fault of a claim: whoever runs evalgate has to mend it."""
    with pytest.raises(UsageError, match="unsafe path in the files for tests"):
        graded(task(tests={"../x": ""}))


def test_tests_that_hang_on_a_claim_are_a_wrong_answer(
    graded: Run, task: MakeTask, claim: MakeClaim
) -> None:
    """The same tests end on the untouched files, so the agent made them hang."""
    slow = task("if [ -e hang ]; then sleep 60; fi\nexit 0\n", seconds=0.6)
    found = outcome_of(graded(slow, claim({"hang": ""})))
    assert found == (FAILED, "the tests hang on this claim (over 0.6 s)")


@pytest.mark.parametrize("files", [{}, {"other": ""}])
def test_tests_that_hang_anyway_are_our_fault(
    graded: Run, task: MakeTask, claim: MakeClaim, files: dict[str, str]
) -> None:
    """Tests that hang on the untouched files measure no agent."""
    found = outcome_of(graded(task("sleep 60\n", seconds=0.4), claim(files)))
    assert found == (ERRORED, "the grade stage ended with timeout")


SOLVE = {"solve.sh": 'cp "$(dirname "$0")/a.py" a.py\n', "a.py": "x = 1\n"}
TESTS_OF_X = """\
import os, sys, unittest
sys.path.append(os.getcwd())

class T(unittest.TestCase):
    def test_x(self):
        import a
        self.assertEqual(a.x, 1)
"""


@pytest.fixture
def solved_task(task: MakeTask) -> MakeTask:
    """Make a task with a solution, whose tests end with the code of Python's own."""

    def make(last: str = "", **fields: object) -> Task:
        script = 'python3 -I -B -m unittest discover -v -s "$EVALGATE_TESTS" -p "test_*.py"\n'
        return task(
            script + last,
            tests={"test_a.py": TESTS_OF_X},
            solution=SOLVE,
            expected_tests=("test_a.T.test_x",),
            **fields,
        )

    return make


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (
            "print('x' * 40_000_000)\nraise SystemExit(1)\n",
            "because of this claim, the grade stage ended with too_large: logs: more than",
        ),
        ("import os\nos._exit(127)\n", "because of this claim, tests/test.sh could not run: "),
        (
            "import os\nos._exit(0)\n",
            "because of this claim, reported success without a report of: test_a.T.test_x",
        ),
        (
            "import os\nlogs = os.environ['EVALGATE_LOGS'] + '/verifier'\n"
            "os.makedirs(logs, exist_ok=True)\n"
            "open(logs + '/reward.txt', 'w').write('nan')\n",
            "because of this claim, the reward nan lies outside 0 to 1",
        ),
        (
            "import os\nlogs = os.environ['EVALGATE_LOGS'] + '/verifier'\n"
            "os.makedirs(logs, exist_ok=True)\n"
            "os.symlink('1', logs + '/reward.txt')\n",
            "because of this claim, the reward file is a link",
        ),
        *(
            (
                "import os\nlogs = os.environ['EVALGATE_LOGS'] + '/verifier'\n"
                f"{made}\nos._exit(0)\n",
                "because of this claim, the reward, or the folder it lies in, is not what was made",
            )
            for made in (
                "os.mkdir(logs + '/reward.txt')",
                "os.mkfifo(logs + '/reward.json')",
                "os.rename(logs, logs + '.old'); os.symlink(logs + '.old', logs)",
                "os.rename(logs, logs + '.old'); open(logs, 'w').close()",
                "os.rmdir(logs)",
            )
        ),
        ("while True: pass\n", "the tests hang on this claim (over 3 s)"),
        (
            "import os, signal\nos.killpg(0, signal.SIGKILL)\n",
            "because of this claim, the grade stage ended too early",
        ),
    ],
)
def test_a_trouble_the_solution_does_not_have_is_a_wrong_answer(
    graded: Run, solved_task: MakeTask, claim: MakeClaim, text: str, detail: str
) -> None:
    """Ending the measurement is no way not to be measured."""
    found = outcome_of(graded(solved_task(seconds=3.0), claim({"a.py": text})))
    assert (found[0], found[1][: len(detail)]) == (FAILED, detail)


def test_a_script_that_a_claim_deletes(graded: Run, task: MakeTask, claim: MakeClaim) -> None:
    """Files of the workspace may be part of the tests; without them nothing runs."""
    made = task("sh -c ./check.sh\n", workspace={"a.py": "", "check.sh": "exit 1\n"})
    made.workspace["check.sh"] = File(data=b"#!/bin/sh\nexit 1\n", mode=FileMode.EXECUTABLE)
    outcome, detail = outcome_of(graded(made, claim(deleted=("check.sh",))))
    assert outcome is FAILED
    assert detail.startswith("because of this claim, tests/test.sh could not run: ")


def test_a_hang_that_was_there_before_and_is_not_mended(
    graded: Run, task: MakeTask, claim: MakeClaim
) -> None:
    """The untouched files hang as well: only the solution tells that the tests can end."""
    script = "while [ -e hang ]; do sleep 0.1; done\nexit 0\n"
    fields = {"workspace": {"hang": ""}, "seconds": 0.6}
    right = task(script, solution={"solve.sh": "rm hang\n"}, **fields)
    for made in (claim(), claim({"b": ""})):
        assert outcome_of(graded(right, made)) == (
            FAILED,
            "the tests hang on this claim (over 0.6 s)",
        )
    for solution in ({"solve.sh": "true\n"}, {"solve.sh": "rm hang\nexit 3\n"}, {"notes": ""}):
        vain = task(script, solution=solution, **fields)
        assert outcome_of(graded(vain, claim({"b": ""}))) == (
            ERRORED,
            "the grade stage ended with timeout",
        )


def test_a_command_of_a_check_that_only_a_claim_stops(
    graded: Run, task: MakeTask, claim: MakeClaim, command_check: MakeCheck
) -> None:
    """The same rule: known-good files run it, so the claim is to blame."""
    checks = (command_check("test -e a.py || exit 127"), command_check("exit 127"))
    found = graded(task(checks=checks), claim(deleted=("a.py",))).checks
    assert [check.outcome for check in found] == [PASSED, FAILED, ERRORED]
    assert found[1].detail == "because of this claim, test -e a.py || exit 127: "


def test_what_was_measured_before_the_time_was_up_counts(
    graded: Run, task: MakeTask, claim: MakeClaim, command_check: MakeCheck
) -> None:
    """Only the command that hangs, and those after it, are without a report."""
    checks = tuple(
        command_check(text) for text in ("true", "test ! -e b || sleep 60", "test -e a.py")
    )
    found = graded(task(checks=checks, seconds=0.6), claim({"b": ""})).checks
    assert [check.outcome for check in found] == [PASSED, PASSED, FAILED, FAILED]
    assert found[2].detail == "because of this claim, the grade stage ended with timeout"


def test_the_control_of_a_task_is_run_once(task: MakeTask, claim: MakeClaim) -> None:
    """However many claims need it; one that the engine broke off tells nothing."""
    clean = ended(StageStatus.EXITED, **{"0_log": "", "0_exit": "1\n"})
    broken, large = ended(StageStatus.ENGINE), ended(StageStatus.TOO_LARGE)
    fake = Fake([large, broken, large, clean, large, large])
    controls, stop = Controls(), threading.Event()
    made = task(solution={"solve.sh": "true\n"})
    found = [
        grade(fake, made, (), claim(), stop, controls, redactor=Redactor({})).checks[0]
        for _ in range(4)
    ]
    assert [check.outcome for check in found] == [ERRORED, FAILED, FAILED, FAILED]
    assert fake.results == []
    solved = [stage for stage in fake.stages if "inbox" in stage.trees]
    assert len(solved) == 2
    assert solved[0].env["EVALGATE_SOLUTION"] == "/inbox"
    assert set(solved[0].trees["repo"]) == {"a.py"}


def test_a_command_runs_beside_the_tests(
    graded: Run, task: MakeTask, claim: MakeClaim, command_check: MakeCheck
) -> None:
    """Each command has its own output and code; deleted files are gone for it."""
    checks = tuple(
        command_check(command) for command in ("test -e new", "test ! -e a.py", "echo no; exit 3")
    )
    found = graded(task(checks=checks), claim({"new": ""}, deleted=("a.py",))).checks
    assert [check.outcome for check in found] == [PASSED, PASSED, PASSED, FAILED]
    assert found[3].detail == "echo no; exit 3: exit code 3: no"


def test_without_tests_the_checks_decide(graded: Run, command_check: MakeCheck) -> None:
    """A task may have checks alone; nothing is run when none asks for it."""
    fields = {"id": "t", "instruction": "", "tests": {}, "digest": ""}
    workspace = {"a.py": File(data=b"x")}
    spec = CheckSpec(type="file_exists", params={"path": "a.py"})
    only = graded(Task(workspace=workspace, checks=(spec,), **fields))
    assert only == Grade(checks=(CheckResult(name="file_exists: a.py", outcome=PASSED),), log="")
    ran = graded(Task(workspace=workspace, checks=(command_check("true"),), **fields))
    assert [check.outcome for check in ran.checks] == [PASSED]


def test_a_name_that_is_no_text_is_shown(graded: Run, task: MakeTask, claim: MakeClaim) -> None:
    """A detail can be written down, whatever files are called."""
    checks = (CheckSpec(type="only_expected_files"),)
    found = graded(task(checks=checks), claim({"n\udce9.txt": ""})).checks
    assert found[1].detail == "touched outside the expected files: n\\udce9.txt"


SECRET = "hunter2-correct-horse-battery-staple-9"


@pytest.mark.parametrize("before", range(110, 165, 3))
def test_no_piece_of_a_secret_is_in_a_detail(
    graded: Run, task: MakeTask, command_check: MakeCheck, before: int
) -> None:
    """Details are short; wherever that cuts a secret, it was taken out before."""
    said = "x" * before + f" {SECRET} " + "y" * (170 - before)
    checks = (command_check(f"printf '%s' '{said}'; exit 1"), command_check(f"{said} 2>&1"))
    script = f"echo '{said}'; exit 1\n"
    for secrets in ({"MY_KEY": SECRET}, {"OTHER": "o" * 20}):
        grade = graded(task(script, checks=checks), secrets=secrets)
        # Without a redactor that knows it the test would find what it looks for.
        pieces = {SECRET[at : at + 8] for at in range(len(SECRET) - 7)}
        texts = [check.detail.rpartition("exit code 1: ")[2] for check in grade.checks[:2]]
        found = [piece for text in (*texts, grade.log) for piece in pieces if piece in text]
        assert bool(found) is ("OTHER" in secrets)
        assert [check.outcome for check in grade.checks] == [FAILED, FAILED, ERRORED]


def test_no_piece_of_a_secret_is_in_what_is_said_of_a_reward(graded: Run, task: MakeTask) -> None:
    """Nor of a script, or a command, that could not run."""
    for before in range(4, 40, 5):
        text = "x" * before + SECRET
        outcome, detail = outcome_of(graded(task(reward(text)), secrets={"MY_KEY": SECRET}))
        assert outcome is ERRORED
        assert SECRET[:4] not in detail
    lost = "/" + "x" * 120 + SECRET
    outcome, detail = outcome_of(graded(task(f"exec {lost}\n"), secrets={"MY_KEY": SECRET}))
    assert outcome is ERRORED
    assert SECRET[:8] not in detail


def test_no_outcome_depends_on_what_is_taken_out(graded: Run, task: MakeTask) -> None:
    """A reward, a report and a file are read as they were written."""
    name = "hunter2_correct_horse_9"
    report = f"echo 'test_x ({name}.test_x) ... ok'\n"
    contains = CheckSpec(type="file_contains", params={"path": "a.py", "pattern": name})
    made = task(
        report + reward("1.000000"),
        expected_tests=(f"{name}.test_x",),
        workspace={"a.py": name},
        checks=(contains,),
    )
    grade = graded(made, secrets={"MY_KEY": name, "ONE": "1.000000"})
    assert [check.outcome for check in grade.checks] == [PASSED, PASSED]
    assert name not in grade.log


@dataclass
class Broken:
    """A check that can not do its work."""

    version: ClassVar[int] = 1
    command: str | None = None

    def examine(self, seen: Observation) -> Finding:
        """Raise."""
        raise RuntimeError(sorted(seen.workspace))


PLACES = Places(
    **{name: f"/{name}" for name in ("repo", "home", "tmp", "harness", "inbox", "tests", "logs")}
)
PROMISES = Promises(own_network=True, own_processes=True, hides_host_files=True, limits_memory=True)


@dataclass
class Fake:
    """A provider whose stages end as told; it keeps what it was asked to run."""

    results: list[StageResult]
    stages: list[Stage] = field(default_factory=list)
    name: str = "fake"
    promises: Promises = PROMISES
    places: Places = PLACES

    def unavailable(self) -> str | None:
        """It can always be used."""
        return None

    @contextmanager
    def open_sandbox(self) -> Iterator[Fake]:
        """Be the sandbox too."""
        yield self

    def run(self, stage: Stage, stop: Stop) -> StageResult:
        """Give the next result."""
        self.stages.append(stage)
        return self.results.pop(0)


def ended(status: StageStatus, **logs: str) -> StageResult:
    """Return the end of a stage."""
    tree = {name.replace("_", "."): File(data=text.encode()) for name, text in logs.items()}
    return StageResult(
        status=status, exit_code=0, log=b"", log_bytes=0, seconds=1.0, trees={"logs": tree}
    )


def test_a_check_that_raises_did_not_measure(task: MakeTask, claim: MakeClaim) -> None:
    """A broken check is errored, and the others are examined all the same."""
    checks = ((CheckSpec(type="broken"), Broken()), (CheckSpec(type="broken"), Broken()))
    fake = Fake([ended(StageStatus.EXITED, **{"0_log": "", "0_exit": "0\n"})])
    found = grade_by(fake, task(), claim({"b": ""}), checks=checks).checks
    assert [check.outcome for check in found] == [PASSED, ERRORED, ERRORED]
    assert found[1].detail == "the check raised RuntimeError(['a.py', 'b'])"


@pytest.mark.parametrize(
    "status", [StageStatus.ENGINE, StageStatus.NOT_FOUND, StageStatus.TOO_LARGE]
)
def test_an_engine_that_fails_is_not_measured(
    task: MakeTask, claim: MakeClaim, command_check: MakeCheck, status: StageStatus
) -> None:
    """Docker stopped in the middle says nothing about an agent, nor what ends the control too."""
    fake = Fake([ended(status)] if status is StageStatus.ENGINE else [ended(status)] * 2)
    found = grade_by(fake, task(), claim({"b": ""})).checks
    assert [(c.outcome, c.detail) for c in found] == [
        (ERRORED, f"the grade stage ended with {status}")
    ]


def test_an_interrupted_grading_leaves_no_grade(task: MakeTask, claim: MakeClaim) -> None:
    """Ctrl-C is no outcome."""
    fake = Fake([ended(StageStatus.INTERRUPTED)])
    with pytest.raises(TrialStoppedError):
        grade_by(fake, task(), claim())


def test_the_stage_holds_files_and_tests_and_no_network(task: MakeTask, claim: MakeClaim) -> None:
    """Snapshot and claim are the workspace; the tests lie beside it, and nothing of the host."""
    fake = Fake([ended(StageStatus.EXITED, **{"0_log": "", "0_exit": "0\n"})])
    grade_by(fake, task(), claim({"b": ""}))
    (stage,) = fake.stages
    assert {name: set(tree) for name, tree in stage.trees.items()} == {
        "repo": {"a.py", "b"},
        "tests": {"test.sh"},
    }
    assert stage.env == {"EVALGATE_TESTS": "/tests", "EVALGATE_LOGS": "/logs"}
    assert stage.reach is None
    assert stage.keep == ("logs",)


def result(outcome: Outcome, *, advisory: bool = False, detail: str = "") -> CheckResult:
    """Return a check's result, named by its outcome."""
    return CheckResult(name=f"a {outcome} check", outcome=outcome, advisory=advisory, detail=detail)


def test_failed_decides_before_errored() -> None:
    """What was measured wrong stays wrong, whatever else could not be measured."""
    assert overall(()) == (PASSED, "")
    assert overall((result(PASSED),)) == (PASSED, "")
    assert overall((result(ERRORED), result(PASSED))) == (ERRORED, "a errored check")
    assert overall((result(ERRORED), result(FAILED, detail="why"))) == (
        FAILED,
        "a failed check: why",
    )


@pytest.mark.parametrize("outcome", [FAILED, ERRORED])
def test_an_advisory_check_never_decides(outcome: Outcome) -> None:
    """It is shown beside the others."""
    assert overall((result(PASSED), result(outcome, advisory=True))) == (PASSED, "")
