"""Proofs of small tasks, good ones and such as have one flaw each; real commands run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from evalgate.core.environment import Environment, SetUp
from evalgate.core.files import File
from evalgate.core.proof import Proof
from evalgate.core.redaction import Redactor
from evalgate.core.task import CheckSpec, Task
from evalgate.errors import NotAvailableError, UsageError
from evalgate.protocols import SandboxProvider, Stage, StageResult, Stop
from evalgate.runner.prove import Prover, prove
from evalgate.runner.search_stage import search
from evalgate.sandboxes.bwrap import BwrapProvider

MakeTask = Callable[..., Task]

TESTS = 'grep -qx "x = [12]" a.py && echo "test_x (t.T.test_x) ... ok" || exit 1\n'
SOLVE = {"solve.sh": "echo 'x = 1' > a.py\n"}
#: Passes every second time.
FLAKY = """\
grep -q 1 a.py || exit 1
n=$(cat {counter} 2>/dev/null || echo 0); echo $((n + 1)) > {counter}
[ $((n % 2)) = 0 ] && echo "test_x (t.T.test_x) ... ok" || echo "test_x (t.T.test_x) ... FAIL"
exit 0
"""


def proof_of(provider: SandboxProvider, task: Task, **more: object) -> Proof:
    prover = Prover(provider=provider, redactor=Redactor({}), **{"times": 2, **more})
    return prove(prover, task, threading.Event())


def rules(proof: Proof) -> list[str]:
    return [str(flaw.rule) for flaw in proof.flaws if not flaw.advisory]


def test_a_good_task(provider, task: MakeTask) -> None:
    """It is proven, its tests are named, and the slip that they can not see is shown."""
    proof = proof_of(provider, task(TESTS, solution=SOLVE))
    assert (proof.proven, rules(proof), proof.passed) == (True, [], ("t.T.test_x",))
    assert (proof.mutants, [one.said for one in proof.survivors]) == (2, [])
    weak = task('grep -q "x = [^0]" a.py\n', solution=SOLVE)
    proof = proof_of(provider, weak)
    assert proof.proven
    assert [one.said for one in proof.survivors] == ["a.py:1: constant changed"]
    assert proof.survivors[0].diff.endswith("-x = 1\n+x = (1 + 1)\n")


@pytest.mark.parametrize(
    ("script", "fields", "found"),
    [
        ("exit 0\n", {"solution": SOLVE}, ["untouched-passes"]),
        (TESTS, {}, ["no-solution"]),
        (TESTS, {"solution": {"solve.sh": "echo 'x = 3' > a.py\n"}}, ["solution-fails"]),
        (TESTS, {"solution": {"solve.sh": "exit 3\n"}}, ["solution-fails"]),
        ("nosuch-program\n", {"solution": SOLVE}, ["not-measured"]),
        (
            TESTS,
            {"solution": SOLVE, "checks": (CheckSpec(type="file_exists", params={"path": "b"}),)},
            ["solution-fails"],
        ),
    ],
)
def test_one_flaw(provider, task: MakeTask, script: str, fields: dict, found: list[str]) -> None:
    """Each flaw is found by its own rule."""
    assert list(dict.fromkeys(rules(proof_of(provider, task(script, **fields))))) == found


LABEL = CheckSpec(type="exact_label", params={"labels": ["bug", "other"], "expected": "bug"})
NO_TOOL = CheckSpec(type="forbidden_tool", params={"tool": "bash"})


@pytest.mark.parametrize(
    ("checks", "solution", "found"),
    [
        ((LABEL,), {"answer.txt": "bug\n"}, []),
        ((LABEL,), {"answer.txt": "other\n"}, ["solution-fails"]),
        ((LABEL,), {}, ["no-solution"]),
        ((NO_TOOL,), {"answer.txt": "bug\n"}, ["nothing-passes"]),
    ],
)
def test_a_task_that_is_no_coding(provider, task: MakeTask, checks, solution, found) -> None:
    """A final answer is proven by a right one."""
    one = replace(task(checks=checks, solution=solution), tests={})
    assert rules(proof_of(provider, one)) == found


def test_conduct_is_not_known_of_a_solution(provider, task: MakeTask) -> None:
    """A check of what an agent does is not tried on it, and that is noted."""
    proof = proof_of(provider, task(TESTS, solution=SOLVE, checks=(NO_TOOL,)))
    assert proof.proven
    assert "conduct" in [str(flaw.rule) for flaw in proof.flaws]


def test_a_task_that_asks_for_an_answer(provider, task: MakeTask) -> None:
    """Saying nothing fails, the solution's answer passes; what only an agent does is left out."""
    label = CheckSpec(type="exact_label", params={"labels": ["bug", "ask"], "expected": "bug"})
    checks = (label, CheckSpec(type="tools_succeed"), CheckSpec(type="asks_first"))
    asked = replace(task(checks=checks, solution={"answer.txt": "bug\n"}), tests={})
    proof = proof_of(provider, asked)
    assert (proof.proven, rules(proof)) == (True, [])
    assert "is none of the labels" in proof.untouched[0].reason
    wrong = replace(asked, solution={"answer.txt": File(data=b"ask\n")})
    assert rules(proof_of(provider, wrong)) == ["solution-fails"]


def test_a_flaky_test_is_named(provider, task: MakeTask, tmp_path) -> None:
    """Two gradings of the same solution that differ name the test, and prove nothing."""
    script = FLAKY.format(counter=tmp_path / "counter")
    proof = proof_of(provider, task(script, solution=SOLVE), times=3, mutants=0)
    assert rules(proof) == ["flaky"]
    assert "t.T.test_x passes" in proof.flaws[-1].said


def test_what_pytest_says_is_told(provider, task: MakeTask) -> None:
    """Such as a module that the sandbox lacks, which a set-up would bring."""
    script = "echo \"E   ModuleNotFoundError: No module named 'freezegun'\"; echo 1 error; exit 2\n"
    proof = proof_of(provider, task(script, solution=SOLVE), hasty=True)
    assert proof.flaws[-1].said.endswith(
        "1 error (ModuleNotFoundError: No module named 'freezegun')"
    )


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (Environment(image="a:1"), "needs the image a:1"),
        (Environment(set_up=SetUp(commands=("true",), network=True)), "asks for the network"),
    ],
)
def test_a_place_that_can_not_be_made_is_told_of_its_task(provider, task, place, said) -> None:
    """Others are proven all the same; only a sandbox that is gone ends it."""
    made = replace(task(TESTS, solution=SOLVE), environment=place)
    proof = proof_of(provider, made)
    assert (rules(proof), proof.measured) == (["not-measured"], False)
    assert said in proof.flaws[0].said

    class Gone:
        name = "gone"

        def unavailable(self) -> str:
            return "gone"

    with pytest.raises((NotAvailableError, UsageError), match=said):
        proof_of(Gone(), made)


def test_in_haste_one_flaw_is_enough(provider, task: MakeTask) -> None:
    """Nothing more is tried of a task that is given up."""
    proof = proof_of(provider, task("exit 0\n", solution=SOLVE), hasty=True)
    assert (len(proof.untouched), len(proof.solved)) == (1, 0)


@pytest.fixture(scope="module")
def closed(tmp_path_factory) -> SandboxProvider:
    """A sandbox that shows nothing of this machine but its programs."""
    found = BwrapProvider(tmp_path_factory.mktemp("rooms"))
    if reason := found.unavailable():
        pytest.skip(reason)
    try:
        found.prepare()
    except NotAvailableError as error:
        pytest.skip(error.message)
    return found


def test_an_honest_place(closed, task: MakeTask) -> None:
    """In a place as agents have it there is one commit, the canary, and nothing to be found."""
    found = search(closed, task(TESTS, tests={"test_a.py": "1\n"}), {}, threading.Event())
    assert (found.flaws, found.claim.touched) == ((), ())


class Planting:
    """A provider whose sandboxes hold more than is laid there: as an image or a cache does."""

    def __init__(self, provider: SandboxProvider, planted: dict[str, str]) -> None:
        self.provider = provider
        self.promises = provider.promises
        self.planted = {path: File(data=text.encode()) for path, text in planted.items()}

    @contextmanager
    def open_sandbox(self) -> Iterator[Planting]:
        with self.provider.open_sandbox() as self.sandbox:
            self.places = self.sandbox.places
            yield self

    def run(self, stage: Stage, stop: Stop) -> StageResult:
        place = "repo" if any(".git" in path for path in self.planted) else "inbox"
        planted = {place: {**stage.trees.get(place, {}), **self.planted}}
        return self.sandbox.run(replace(stage, trees={**stage.trees, **planted}), stop)


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("test_secret.py", "def test_a(): ...\n", "a hidden test lies at"),
        ("test_secret.py", "another\n", ""),
        ("elsewhere/a.py", "x = 1\n", "the finished deep/a.py lies at"),
        ("elsewhere/a.py", "x = 2\n", ""),
        ("site-packages/deep/a.py", "x = 2\n", "another version of deep/a.py lies at"),
        ("deep/.git/HEAD", "ref: refs/heads/main\n", "a repository lies at"),
    ],
)
def test_what_lies_about(closed, task: MakeTask, path: str, text: str, said: str) -> None:
    """A hidden test, the finished file and a repository are found by content and by place."""
    one = task(
        TESTS, tests={"test_secret.py": "def test_a(): ...\n"}, workspace={"deep/a.py": "x = 0\n"}
    )
    solved = {"deep/a.py": File(data=b"x = 1\n")}
    found = search(Planting(closed, {path: text}), one, solved, threading.Event())
    assert [flaw.said.partition(" /")[0] for flaw in found.flaws] == ([said] if said else [])


LONG = "def test_a():\n    assert a() == 1  # nothing that is anywhere by chance\n"


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("cache/0f3a", LONG, ["a hidden test lies at"]),
        ("cache/0f3a", LONG.replace("1", "2"), []),
        ('cache/it\'s "here".bak', LONG.upper(), ["the finished deep/a.py lies at"]),
    ],
)
def test_what_lies_about_under_another_name(closed, task: MakeTask, path, text, said) -> None:
    """Content is known by its size and digest; short files may be anywhere."""
    one = task(TESTS, tests={"test_secret.py": LONG}, workspace={"deep/a.py": "x = 0\n"})
    solved = {"deep/a.py": File(data=LONG.upper().encode())}
    found = search(Planting(closed, {path: text}), one, solved, threading.Event())
    assert [flaw.said.partition(" /")[0] for flaw in found.flaws] == said
