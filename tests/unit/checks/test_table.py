"""Each check: its example, what passes it, what fails it, and what it can not tell.

This is the table of the whole kind: a check that is not in it fails the first test.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

from evalgate.checks.examine import examined
from evalgate.checks.judge import LlmJudge
from evalgate.checks.table import CHECKS, asks_model, build_check, needs_agent, needs_answer
from evalgate.core.judging import Judgement, Question
from evalgate.core.observation import Observation
from evalgate.core.task import CheckSpec
from evalgate.core.trial import Outcome
from evalgate.errors import UsageError
from evalgate.protocols import Finding
from tests.checks_table import PAGE, example_of, rendered
from tests.observing import answered, call, conduct, observed

PASSED, FAILED, ERRORED = Outcome.PASSED, Outcome.FAILED, Outcome.ERRORED
PAGES = "def pages(items, size=10):\n    return clamp(len(items) // size)\n"
BLOCK = "".join(f"    x{n} = {n}\n" for n in range(6))
JUDGE = {"id": "j", "upstream": "anthropic"}
JUDGED = {"rubric": "It says that it is done.", "judge": JUDGE}
YES, NO = ['{"reason": "so", "passed": true}'], ['```json\n{"passed": false}\n```']
TESTS = "pytest --junitxml=$EVALGATE_LOGS/junit.xml"


def judged_by(answers: list[str], error: str) -> Observation:
    """Return a trial whose answer was judged so."""
    seen = answered("done")
    judge = build_check(CheckSpec(type="llm_judge", params=JUDGED, advisory=True), task="t")
    assert isinstance(judge, LlmJudge)
    question = judge.question(seen)
    assert isinstance(question, Question)
    said = Judgement(answers=tuple(answers), models=("j-1",), error=error)
    return replace(seen, judged={question.digest: said})


def junit(**results: str) -> dict[str, str]:
    """Return the report of some tests below ``test_pages``, each passed or with a trouble."""
    cases = "".join(
        f'<testcase classname="test_pages" name="{name}">{"" if how == "ok" else f"<{how}/>"}'
        "</testcase>"
        for name, how in results.items()
    )
    return {"junit.xml": f"<testsuites><testsuite>{cases}</testsuite></testsuites>"}


@dataclass
class Case:
    """A check by its parameters, what it looks at, and what it finds."""

    kind: str
    params: dict[str, Any]
    seen: Observation
    outcome: Outcome
    words: str = ""


FOUND = [
    # type, parameters, what is seen, outcome, words of the finding
    Case("file_exists", {"path": "a"}, observed({"a": ""}), PASSED),
    Case("file_exists", {"path": "a"}, observed({"a": ""}, {"a": None}), FAILED, "not exist"),
    Case("file_absent", {"path": "a"}, observed({"b": ""}), PASSED),
    Case("file_absent", {"path": "a"}, observed({"a": ""}), FAILED, "a exists"),
    Case("file_absent", {"path": "a"}, observed({"a/b": ""}), FAILED, "a/b exists"),
    Case("file_contains", {"path": "a", "pattern": "^two$"}, observed({"a": "1\ntwo\n"}), PASSED),
    Case("file_contains", {"path": "a", "pattern": "x"}, observed({"a": "y"}), FAILED),
    Case("file_contains", {"path": "a", "pattern": "x", "count": 2}, observed({"a": "xx"}), PASSED),
    Case("file_contains", {"path": "a", "pattern": "x", "count": 0}, observed({"a": "y"}), PASSED),
    Case(
        "file_contains",
        {"path": "a", "pattern": "x", "count": 1},
        observed({"a": "xx"}),
        FAILED,
        "2 times, not 1",
    ),
    Case("file_unchanged", {"path": "a"}, observed({"a": ""}), PASSED),
    Case("file_unchanged", {"path": "a"}, observed({"a": ""}, {"a": "x"}), FAILED, "changed"),
    Case("file_unchanged", {"path": "b"}, observed({"a": ""}), ERRORED, "not in the task's"),
    Case("only_expected_files", {}, observed({}, {"a": ""}, expected=("a",)), PASSED),
    Case("only_expected_files", {}, observed({}, {"b": ""}, expected=("a",)), FAILED, "b"),
    Case("command_succeeds", {"command": "c"}, observed(commands={"c": (0, "")}), PASSED),
    Case("command_succeeds", {"command": "c"}, observed(commands={"c": (1, "no")}), FAILED, "no"),
    Case("command_succeeds", {"command": "c"}, observed(commands={"c": (127, "")}), ERRORED),
    Case("diff_size", {"lines": 2}, observed({"a": "1\n"}, {"a": "2\n"}), PASSED),
    Case("diff_size", {"lines": 1}, observed({"a": "1\n"}, {"a": "2\n"}), FAILED, "2 lines"),
    Case("diff_size", {"files": 1}, observed({}, {"a": "", "b": ""}), FAILED, "2 files"),
    Case("diff_adds", {"pattern": "^new$"}, observed({"a": "x\n"}, {"a": "x\nnew\n"}), PASSED),
    Case("diff_adds", {"pattern": "^x$"}, observed({"a": "x\n"}, {"a": "x\nnew\n"}), FAILED),
    Case(
        "diff_adds",
        {"pattern": "print", "files": "*.py", "absent": True},
        observed({}, {"a.py": "print()\n"}),
        FAILED,
        "added in a.py",
    ),
    Case(
        "diff_adds",
        {"pattern": "print", "files": "*.py", "absent": True},
        observed({}, {"a.txt": "print()\n"}),
        PASSED,
    ),
    Case("diff_removes", {"pattern": "x"}, observed({"a": "x\n"}, {"a": None}), PASSED),
    Case("diff_removes", {"pattern": "x"}, observed({"a": "x\n"}, {"a": "x\ny\n"}), FAILED),
    Case(
        "python_defines",
        {"path": "a.py", "name": "pages", "signature": "items, size=10", "kind": "function"},
        observed({"a.py": PAGES}),
        PASSED,
    ),
    Case(
        "python_defines",
        {"path": "a.py", "name": "C.get", "signature": "(self, key: str, *rest) -> int"},
        observed({"a.py": "if 1:\n class C:\n  async def get(self, key: str, *rest) -> int: 1"}),
        PASSED,
    ),
    Case(
        "python_defines",
        {"path": "a.py", "name": "pages", "signature": "items, size=5"},
        observed({"a.py": PAGES}),
        FAILED,
        "another signature",
    ),
    Case("python_defines", {"path": "a.py", "name": "C"}, observed({"a.py": "C = 1"}), FAILED),
    Case(
        "python_defines",
        {"path": "a.py", "name": "pages", "kind": "class"},
        observed({"a.py": PAGES}),
        FAILED,
        "does not define the class pages",
    ),
    Case(
        "python_defines",
        {"path": "a.py", "name": "x"},
        observed({"a.py": "\n\ndef x(:"}),
        FAILED,
        "is no Python (line 3)",
    ),
    Case(
        "python_defines",
        {"path": "a.py", "name": "x"},
        observed({"a.py": "x = " + "-" * 200_000 + "1"}),
        ERRORED,
        "reading the source broke off",
    ),
    Case("python_calls", {"path": "a.py", "name": "clamp"}, observed({"a.py": PAGES}), PASSED),
    Case(
        "python_calls",
        {"path": "a.py", "name": "clamp", "caller": "pages", "count": 1},
        observed({"a.py": PAGES + "clamp(1)\n"}),
        PASSED,
    ),
    Case(
        "python_calls",
        {"path": "a.py", "name": "join", "count": 0},
        observed({"a.py": "os.path.join()"}),
        FAILED,
        "1 times, not 0",
    ),
    Case(
        "python_calls",
        {"path": "a.py", "name": "clamp", "caller": "other"},
        observed({"a.py": PAGES}),
        FAILED,
        "from other 0 times",
    ),
    Case("no_duplicated_block", {}, observed({}, {"a.py": f"def f():\n{BLOCK}"}), PASSED),
    Case(
        "no_duplicated_block",
        {},
        observed({"a.py": f"def f():\n{BLOCK}"}, {"b.py": f"def g():\n    # as f\n\n{BLOCK}"}),
        FAILED,
        "6 statements of a.py:2 are at b.py:4 again",
    ),
    Case(
        "no_duplicated_block",
        {},
        observed({"a.py": f"def f():\n{BLOCK}\ndef g():\n{BLOCK}"}, {"b.py": "x = 1\n"}),
        PASSED,
    ),
    Case("no_duplicated_block", {}, observed({}, {"a.py": "x = [1,\n"}), FAILED, "is no Python"),
    Case("no_placeholder_comments", {}, observed({}, {"a.py": "# why: a trap\nx = 1\n"}), PASSED),
    Case(
        "no_placeholder_comments",
        {},
        observed({"a.py": "x = 1  # TODO\n"}, {"a.py": "x = 2  # TODO\n"}),
        PASSED,
    ),
    Case(
        "no_placeholder_comments",
        {},
        observed({"a.py": "x = 1\n"}, {"a.py": "x = 1\n# ... rest of the code\n"}),
        FAILED,
        "a.py:2",
    ),
    Case(
        "structure",
        {"path": "a.py", "language": "python", "pattern": "clamp($A)"},
        observed({"a.py": PAGES}),
        PASSED,
    ),
    Case(
        "structure",
        {"path": "a.ts", "language": "typescript", "pattern": "eval($A)", "count": 0},
        observed({"a.ts": "const x: number = eval('1')"}),
        FAILED,
        "1 times, not 0",
    ),
    Case(
        "no_errors_in_output",
        {"command": "make", "allowed": "^0 errors"},
        observed(commands={"make": (2, "built\n0 errors\n")}),
        PASSED,
    ),
    Case(
        "no_errors_in_output",
        {"command": "make"},
        observed(commands={"make": (0, "ValueError: x\n")}),
        FAILED,
        "make: the output tells of an error",
    ),
    Case("no_errors_in_output", {"command": "make"}, observed(), ERRORED, "did not run"),
    Case("expected_output", {"expected": "7"}, answered("It is 7."), PASSED),
    Case("expected_output", {"expected": "7"}, answered("It is 17, or 7.5, or -7"), FAILED),
    Case("expected_output", {"expected": "a b", "match": "exact"}, answered(" a b\n"), PASSED),
    Case("expected_output", {"expected": "7", "match": "exact"}, answered("It is 7"), FAILED),
    Case(
        "expected_output",
        {"expected": "1234.5", "match": "number", "tolerance": 0.1, "path": "a"},
        observed({"a": "3 parts: 1,234.56 EUR"}),
        PASSED,
    ),
    Case("expected_output", {"expected": "7", "match": "number"}, answered("7 of 17"), FAILED),
    Case("expected_output", {"expected": "7"}, observed(), ERRORED, "no agent worked"),
    Case("exact_label", {"labels": ["bug", "ask"], "expected": "bug"}, answered("bug\n"), PASSED),
    Case(
        "exact_label",
        {"labels": ["bug", "ask"], "expected": "bug", "last_line": True},
        answered("because:\nask"),
        FAILED,
        "ask, not bug",
    ),
    Case(
        "exact_label",
        {"labels": ["bug", "ask"], "expected": "bug"},
        answered("a bug"),
        FAILED,
        "none of the labels",
    ),
    Case(
        "exact_label",
        {"labels": ["a"], "expected": "a"},
        observed(trajectory=conduct()),
        ERRORED,
        "no turn of a model",
    ),
    Case("json_schema", {"schema": {"required": ["a"]}}, answered('{"a": 1}'), PASSED),
    Case("json_schema", {"schema": {"required": ["a"]}}, answered("{}"), FAILED, "$: required"),
    Case("json_schema", {"schema": {}}, answered("NaN"), FAILED, "is no JSON"),
    Case("json_schema", {"schema": {}}, answered("[" * 100_000), FAILED, "is no JSON"),
    Case(
        "json_schema",
        {"schema": {"$ref": "http://127.0.0.1:9/schema"}},
        answered("{}"),
        ERRORED,
        "validation broke off",
    ),
    Case(
        "tests_pass",
        {"command": TESTS, "required": ["test_pages.py::a"], "stay_green": ["test_pages.b"]},
        observed(commands={TESTS: (1, "")}, logs=junit(a="ok", b="ok", c="failure")),
        PASSED,
    ),
    Case(
        "tests_pass",
        {"command": TESTS, "required": ["test_pages.a"], "stay_green": ["test_pages.b"]},
        observed(commands={TESTS: (1, "")}, logs=junit(a="ok", b="error")),
        FAILED,
        "no longer passed: test_pages.b",
    ),
    Case(
        "tests_pass",
        {"command": TESTS, "required": ["test_pages.a"]},
        observed(commands={TESTS: (0, "")}, logs=junit(a="skipped")),
        FAILED,
        "not passed: test_pages.a",
    ),
    Case(
        "tests_pass",
        {"command": TESTS, "required": ["test_pages.a"]},
        observed(commands={TESTS: (2, "")}, logs=junit(test_pages="error")),
        FAILED,
        "not reported: test_pages.a",
    ),
    Case(
        "tests_pass",
        {"command": TESTS, "required": ["test_pages.a"]},
        observed(commands={TESTS: (0, "")}, logs=junit(b="ok")),
        ERRORED,
        "not reported: test_pages.a",
    ),
    Case(
        "tests_pass",
        {"command": TESTS, "required": ["a"]},
        observed(commands={TESTS: (0, "")}, logs={"junit.xml": "<!DOCTYPE x []><testsuite/>"}),
        ERRORED,
        "document type",
    ),
    Case("tests_pass", {"command": TESTS, "required": ["a"]}, observed(), ERRORED, "did not run"),
    Case(
        "commit_message",
        {},
        observed(
            {"pages.py": "x\n"},
            {"pages.py": "y\n"},
            trajectory=conduct(call("bash", command='git commit -am "Count the last pages"')),
        ),
        PASSED,
    ),
    Case(
        "commit_message",
        {},
        observed(
            {"pages.py": "x\n"},
            {"pages.py": "y\n"},
            trajectory=conduct(
                call("bash", cmd="git add . && git commit -m \"$(cat <<'EOF'\nFix bug\nEOF\n)\"")
            ),
        ),
        FAILED,
        "names nothing",
    ),
    Case("commit_message", {}, observed(trajectory=conduct("done")), FAILED, "no tool call made"),
    Case("commit_message", {"path": "m"}, observed({"m": "x" * 80}), FAILED, "80 characters"),
    Case("commit_message", {}, observed(), ERRORED, "no agent worked"),
    Case("asks_first", {}, answered("I will change it. Shall I proceed?"), PASSED),
    Case(
        "asks_first",
        {"acting": ["bash"]},
        observed(trajectory=conduct(call("read"), "Do you want me to?", call("bash"))),
        PASSED,
    ),
    Case(
        "asks_first",
        {"asking": ["ask_user"]},
        observed(trajectory=conduct(call("ask_user"), call("bash"))),
        PASSED,
    ),
    Case(
        "asks_first",
        {},
        observed(trajectory=conduct(("Shall I proceed?", call("bash")))),
        FAILED,
        "bash was called before asking",
    ),
    Case("asks_first", {}, answered("Done."), FAILED, "did not ask"),
    Case("asks_first", {}, observed(), ERRORED, "no agent worked"),
    Case("tool_call_limit", {"most": 0}, answered("hi"), PASSED),
    Case(
        "tool_call_limit",
        {"most": 1, "tool": "web_*"},
        observed(trajectory=conduct(call("web_get"), call("web_find"), call("bash"))),
        FAILED,
        "2 calls, more than 1",
    ),
    Case("tool_call_limit", {"most": 1}, observed(trajectory=conduct()), ERRORED, "no turn"),
    Case(
        "tool_efficiency",
        {"needed": 1, "least": 0.5},
        observed(trajectory=conduct(call("a"), call("a"))),
        PASSED,
    ),
    Case(
        "tool_efficiency",
        {"needed": 1, "least": 0.6},
        observed(trajectory=conduct(call("a"), call("a"))),
        FAILED,
        "0.50, below 0.6",
    ),
    Case("tool_efficiency", {"needed": 1, "least": 0}, answered("hi"), FAILED, "no tool"),
    Case("tool_efficiency", {"needed": 1, "least": 0}, observed(), ERRORED, "no agent"),
    Case("tools_succeed", {}, observed(trajectory=conduct(call("a"))), PASSED),
    Case("tools_succeed", {}, observed(trajectory=conduct(call("a", ok=False))), FAILED, "1 of 1"),
    Case("tools_succeed", {}, answered("hi"), FAILED, "no tool was called"),
    Case("tools_succeed", {}, observed(trajectory=conduct(call("a", ok=None))), ERRORED, "known"),
    *(
        Case(
            "tool_order",
            {"tools": ["a", "b", "b"], "order": order},
            observed(trajectory=conduct(*map(call, made))),
            PASSED if good else FAILED,
        )
        for order, goods in {
            "strict": {"abb"},
            "unordered": {"abb", "bab"},
            "subset": {"abb", "bab", "a", ""},
            "superset": {"abb", "bab", "abbc"},
        }.items()
        for made in ("abb", "bab", "a", "abbc", "abc")
        for good in [made in goods]
    ),
    Case("tool_order", {"tools": []}, observed(), ERRORED, "no agent worked"),
    Case("forbidden_tool", {"tool": "bash"}, observed(trajectory=conduct(call("read"))), PASSED),
    Case("forbidden_tool", {"tool": "ba*"}, observed(trajectory=conduct(call("bash"))), FAILED),
    Case(
        "forbidden_tool",
        {"tool": "bash", "argument": r"^command: .*rm -rf"},
        observed(trajectory=conduct(call("bash", command="cd a; rm -rf ."))),
        FAILED,
        "rm -rf",
    ),
    Case(
        "forbidden_tool",
        {"tool": "bash", "argument": "rm"},
        observed(trajectory=conduct(call("bash", command="ls"), call("other", command="rm"))),
        PASSED,
    ),
    Case("forbidden_tool", {"tool": "bash"}, observed(), ERRORED, "no agent worked"),
    *(
        Case("llm_judge", JUDGED, judged_by(answers, error), outcome, words)
        for answers, error, outcome, words in [
            (YES * 3 + NO * 2, "", PASSED, "judge j-1: 3 of 5 passed it (mean 0.60, spread 0.49"),
            (YES * 2 + NO * 3, "", FAILED, "agreement 0.60)"),
            (YES * 4 + ["It passed."], "", ERRORED, "1 of 5 answers are no verdict"),
            (YES * 3, "", ERRORED, "0 of 3 answers are no verdict"),
            (YES * 3, "it could not be asked: no", ERRORED, "it could not be asked: no"),
        ]
    ),
    Case("llm_judge", JUDGED, answered("other"), ERRORED, "never judged"),
    Case("llm_judge", JUDGED, observed(), ERRORED, "no agent worked"),
    Case("llm_judge", {**JUDGED, "path": "a"}, observed(), FAILED, "a does not exist"),
]

BAD = [
    ("llm_judge", {"rubric": "r", "samples": 4, "judge": JUDGE}, "samples: must be odd"),
    ("llm_judge", {"rubric": "r", "judge": {}}, "judge: 'upstream' is missing"),
    ("llm_judge", {**JUDGED, "samples": 101}, "samples: must be at most 99, not 101"),
    ("llm_judge", {**JUDGED, "rubric": "x" * 20_001}, "rubric: has more than 20000 characters"),
    ("llm_judge", {**JUDGED, "of": "diff", "path": "a"}, "of: is one too many beside 'path'"),
    *(
        ("llm_judge", {**JUDGED, "judge": {**JUDGE, "id": odd}}, "judge.id: must be the name of a")
        for odd in ("", " ", "a b", "a\n", "\x1b[31m", "a\u200b", "x" * 201)
    ),
    *(
        ("llm_judge", {"rubric": "r", "judge": {"id": "j", "upstream": upstream}}, "be a name")
        for upstream in ("https://h", "http://h", "env:HOME", "scripted:plan.toml", "", "a\n")
    ),
    (
        "llm_judge",
        {"rubric": "r", "judge": {**JUDGE, "key_env": "AWS_SECRET_ACCESS_KEY"}},
        "judge.key_env: a task names no variable",
    ),
    ("llm_judge", {"rubric": "r", "judge": JUDGE}, "decides, and was not calibrated"),
    ("asks_first", {"acting": "bash"}, "acting: must be a list of strings"),
    ("command_succeeds", {}, "'command' is missing"),
    ("commit_message", {"longest": 0}, "longest: must be a whole number of at least 1"),
    ("diff_adds", {"pattern": "("}, "pattern: is no regular expression"),
    ("diff_removes", {"pattern": "x", "absent": 1}, "absent: must be true or false"),
    ("diff_size", {}, "needs 'lines' or 'files'"),
    ("exact_label", {"labels": ["a"], "expected": "b"}, "'b' is none of the labels"),
    ("expected_output", {"expected": " "}, "expected: must not be empty"),
    ("expected_output", {"expected": "x", "match": "number"}, "'x' is no finite number"),
    ("expected_output", {"expected": "nan", "match": "number"}, "'nan' is no finite number"),
    ("expected_output", {"expected": "1", "tolerance": 1}, 'is for match = "number" alone'),
    ("expected_output", {"expected": "1", "path": "a", "command": "b"}, "one too many"),
    ("file_absent", {"path": "../a"}, "path: '../a' leaves the workspace"),
    ("file_contains", {"path": "a", "pattern": "a", "count": -1}, "count: must be a whole number"),
    ("file_exists", {"path": "a", "pth": "a"}, "pth: unknown key"),
    ("file_unchanged", {}, "'path' is missing"),
    ("forbidden_tool", {"tool": "a", "argument": "["}, "argument: is no regular expression"),
    ("json_schema", {}, "'schema' is missing"),
    ("json_schema", {"schema": {"type": "objekt"}}, "schema: is no JSON Schema"),
    ("no_duplicated_block", {"statements": 1}, "statements: must be a whole number of at least 2"),
    ("no_errors_in_output", {"pattern": "("}, "pattern: is no regular expression"),
    ("no_placeholder_comments", {"files": 3}, "files: must be a string"),
    ("only_expected_files", {"path": "a"}, "path: unknown key"),
    ("python_calls", {"path": "a", "name": "a b"}, "name: 'a b' is no name of Python's"),
    ("python_defines", {"path": "a", "name": "a", "signature": "a,,"}, "is no signature such as"),
    ("structure", {"path": "a", "language": "klingon", "pattern": "a"}, "must be one of bash, c"),
    ("tests_pass", {"command": "a"}, "needs a test in 'required' or in 'stay_green'"),
    ("tool_call_limit", {"most": "3"}, "most: must be a whole number"),
    ("tool_efficiency", {"needed": 1, "least": 1.5}, "least: must be at most 1"),
    ("tool_efficiency", {"needed": 1, "least": float("nan")}, "least: must be a number"),
    ("tool_order", {"tools": ["a"], "order": "loose"}, "order: must be one of strict"),
    ("tools_succeed", {"tool": 1}, "tool: must be a string"),
]


@pytest.mark.parametrize("kind", CHECKS)
def test_each_check_is_shown_whole(kind: str) -> None:
    """Its example builds it; a case passes it, another fails it, and bad parameters are named."""
    example = example_of(kind)
    assert example.pop("type") == kind
    advisory = example.pop("advisory", False)
    spec = CheckSpec(type=kind, params=example, advisory=advisory)
    assert build_check(spec, task="t").version >= 1
    assert {case.outcome for case in FOUND if case.kind == kind} >= {PASSED, FAILED}
    assert any(name == kind for name, *_ in BAD)


@pytest.mark.parametrize("case", FOUND, ids=lambda case: f"{case.kind}-{case.outcome}")
def test_what_a_check_finds(case: Case) -> None:
    """The outcome, and the words for a person."""
    spec = CheckSpec(type=case.kind, params=case.params, advisory=True)
    found = examined(build_check(spec, task="t"), case.seen)
    assert (found.outcome, case.words in found.detail) == (case.outcome, True), found
    assert bool(found.detail) is (case.outcome is not PASSED or case.kind == "llm_judge")


@pytest.mark.parametrize(("kind", "params", "words"), BAD)
def test_bad_parameters_are_named(kind: str, params: dict[str, Any], words: str) -> None:
    """With the task and the check."""
    with pytest.raises(UsageError) as caught:
        build_check(CheckSpec(type=kind, params=params), task="t")
    assert caught.value.message.startswith(f"task t: checks.{kind}")
    assert words in caught.value.message


@pytest.mark.parametrize("kind", CHECKS)
def test_a_check_that_can_not_look_is_errored(kind: str) -> None:
    """Whatever breaks in the middle of it, in any of them, nothing was measured."""
    example = {
        key: value for key, value in example_of(kind).items() if key not in {"type", "advisory"}
    }
    check = build_check(CheckSpec(type=kind, params=example, advisory=True), task="t")
    broken: Any = None
    assert examined(check, broken).outcome is ERRORED


@pytest.mark.parametrize("given", [float("nan"), None, True, "passed", 1.0])
def test_what_is_no_finding_is_errored(given: object) -> None:
    """Not a number is neither passed nor failed, nor is anything else."""

    class Odd:
        version: ClassVar[int] = 1
        command: str | None = None

        def examine(self, seen: Observation) -> Finding:
            finding: Any = given
            return finding

    found = examined(Odd(), observed())
    assert (found.outcome, "which is no finding" in found.detail) == (ERRORED, True)


@pytest.mark.parametrize(
    ("kind", "params", "agent", "answer"),
    [
        ("tool_order", {"tools": []}, True, False),
        ("llm_judge", {"path": "a"}, True, False),
        ("commit_message", {}, True, False),
        ("commit_message", {"path": "a"}, False, False),
        ("exact_label", {"labels": ["a"], "expected": "a"}, False, True),
        ("expected_output", {"command": "a", "expected": "a"}, False, False),
        ("file_exists", {"path": "a"}, False, False),
    ],
)
def test_what_needs_an_agent_or_its_answer(
    kind: str, params: dict[str, Any], agent: bool, answer: bool
) -> None:
    """A solution has files and may have an answer; it calls nothing."""
    spec = CheckSpec(type=kind, params=params)
    assert (needs_agent(spec), needs_answer(spec)) == (agent, answer)


def test_which_checks_ask_a_model() -> None:
    """Those that have a question: they are in a group of their own in the table."""
    asking = {name for name, kind in CHECKS.items() if hasattr(kind, "question")}
    assert asking == {name for name in CHECKS if asks_model(CheckSpec(type=name))} == {"llm_judge"}


def test_the_table_of_the_page_is_as_the_docstrings_say() -> None:
    """``python -m tests.checks_table`` writes it anew."""
    assert PAGE.read_text() == rendered(PAGE.read_text())
