"""A judge is held against labels by asking it live; what it says of itself counts for nothing."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from evalgate.checks.table import build_checks
from evalgate.commands.console import Console
from evalgate.commands.project import open_project
from evalgate.commands.tasks.calibrating import calibrate_judge, load_labels
from evalgate.core.claim import Claim
from evalgate.core.files import File
from evalgate.core.judging import Judgement
from evalgate.core.observation import Observation
from evalgate.core.trajectory import Trajectory
from evalgate.core.trial import Outcome
from evalgate.errors import BudgetReachedError, ExitCode, UsageError
from evalgate.tasks.harbor import load_harbor_task
from tests.judges import NO, YES, judged_in, open_judges
from tests.schemas import hold

QUIET = Console(quiet=True)
CONFIG = """
[harness.parts]
prompt = ["prompt.md"]
[models.main]
id = "m"
upstream = "http://127.0.0.1:9"
[models.judge]
id = "j"
upstream = "URL"
dialect = "openai-chat"
price = { input = 1, output = 1 }
[agent]
command = ["true"]
"""
TOML = """
[[metadata.evalgate.checks]]
type = "llm_judge"
rubric = "It says done."
samples = 3
advisory = true
judge = { id = "j", upstream = "judge" }
"""


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Twenty texts that are good and twenty that are not."""
    rows = [{"text": f"done {n}", "passed": True} for n in range(20)]
    rows += [{"text": f"perhaps {n}", "passed": False} for n in range(20)]
    path = tmp_path / "labels.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    return path


@pytest.fixture
def asked(tmp_path: Path, labels: Path, git_environment: dict[str, str]):
    """What a project is made of."""
    return tmp_path, labels, git_environment


def project_with(tmp_path: Path, url: str, environment: dict[str, str], budget: str = ""):
    """Make a repository with one judged task, which has a check that decides beside it."""
    files = {
        "evalgate.toml": CONFIG.replace("URL", url) + budget,
        "prompt.md": "x",
        "tasks/one/task.toml": TOML,
        "tasks/one/instruction.md": "Say it.",
        "tasks/one/tests/test.sh": "exit 0\n",
        "tasks/one/environment/workspace/a": "x",
    }
    top = tmp_path / "project"
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    subprocess.run(["git", "init", "-q", top], check=True, env=environment)
    return open_project(top)


def test_a_good_judge_may_decide(tmp_path, labels, git_environment):
    """Its bounds are said, with what it cost, and the line that lets it."""
    with open_judges(lambda prompt: YES if "done" in judged_in(prompt) else NO) as judges:
        project = project_with(tmp_path, judges.url, git_environment)
        answer = calibrate_judge(project, "one", labels, os.environ, QUIET)
        assert len(judges) == 3 * 40
    value = answer.value
    hold(value, "task-calibrate-judge")
    assert (answer.code, value["may_decide"]) == (ExitCode.OK, True)
    assert (value["true_positives"], value["true_negatives"]) == (20, 20)
    assert value["sensitivity_at_least"] == pytest.approx(0.8809, abs=1e-4)
    assert (value["models"], value["usd"]) == (["judge-2026"], pytest.approx(3 * 40 * 0.00011))
    toml = TOML.replace("advisory = true", value["calibration"])
    task = load_harbor_task("one", folder(toml))
    ((spec, judge),) = build_checks(task)
    assert not spec.advisory
    assert [served_later(judge, task, model) for model in ("judge-2026", "judge-2027")] == [
        (
            Outcome.PASSED,
            "judge judge-2026: 3 of 3 passed it (mean 1.00, spread 0.00, agreement 1.00)",
        ),
        (
            Outcome.ERRORED,
            "judge judge-2027: what was calibrated is judge-2026: "
            "run evalgate task calibrate-judge anew",
        ),
    ]
    for old, new in [("It says done", "It is done"), ("samples = 3", "samples = 5")]:
        with pytest.raises(UsageError, match="of another rubric, model or number of samples"):
            build_checks(load_harbor_task("one", folder(toml.replace(old, new))))
    with pytest.raises(UsageError, match=r"to decide it needs 0\.8 of both"):
        build_checks(load_harbor_task("one", folder(toml.replace("ves = 20", "ves = 9"))))


def served_later(judge, task, model: str) -> tuple[Outcome, str]:
    """Return what a check comes to whose answers a model of that name gave."""
    seen = Observation(
        task=task, workspace={}, claim=Claim(), trajectory=Trajectory(turns=1, final_answer="done")
    )
    said = Judgement(answers=(YES,) * 3, models=(model,))
    finding = judge.examine(replace(seen, judged={judge.question(seen).digest: said}))
    return finding.outcome, finding.detail


def folder(toml: str) -> dict[str, File]:
    """Return the files of a task."""
    texts = {"task.toml": toml, "instruction.md": "Say it.", "environment/workspace/a": "x"}
    return {name: File(data=text.encode()) for name, text in texts.items()}


def test_a_judge_that_passes_everything_may_not_decide(tmp_path, labels, git_environment):
    """However often it agrees with the good half; what it got wrong is named by line."""
    with open_judges(lambda _: YES) as judges:
        project = project_with(tmp_path, judges.url, git_environment)
        answer = calibrate_judge(project, "one", labels, os.environ, QUIET)
    hold(answer.value, "task-calibrate-judge")
    assert (answer.code, answer.value["calibration"]) == (ExitCode.REGRESSION, None)
    assert answer.value["specificity_at_least"] == 0
    assert "otherwise: line 21: people say it does not" in answer.text


def test_what_could_not_be_judged_is_named(tmp_path, labels, git_environment):
    """It is neither right nor wrong, and there is no calibration without it."""
    with open_judges(lambda text: "well" if "done 7\n" in text else YES) as judges:
        project = project_with(tmp_path, judges.url, git_environment)
        answer = calibrate_judge(project, "one", labels, os.environ, QUIET)
    assert answer.code is ExitCode.NOT_MEASURED
    assert answer.value["not_judged"] == [{"line": 8, "reason": "an answer is no verdict"}]
    assert answer.value["positives"] == 19


@pytest.mark.parametrize(
    ("budget", "usd", "limit", "option"),
    [
        ("", 0.001, "$0.001", "--usd"),
        ("[budget]\nusd = 0.001\n", None, "$0.001", "--usd"),
        ("[budget]\nusd = 9\n", 0.001, "$0.001", "--usd"),
        ("[budget]\ntokens = 700\n", 9, "700 tokens", "[budget]"),
    ],
)
def test_it_has_a_limit(budget, usd, limit, option, asked):
    """The budget's, or the one that is named; half a calibration is none."""
    tmp_path, labels, environment = asked
    with open_judges(lambda _: YES) as judges:
        project = project_with(tmp_path, judges.url, environment, budget)
        with pytest.raises(BudgetReachedError) as caught:
            calibrate_judge(project, "one", labels, os.environ, QUIET, usd=usd)
        assert caught.value.message == f"the labels take more than the budget of {limit}"
        assert caught.value.hint.startswith(f"raise {option}, ")
        assert len(judges) < 12


def test_a_limit_of_money_needs_a_price(tmp_path, labels, git_environment):
    """Nobody is asked before that is known."""
    project = project_with(tmp_path, "http://127.0.0.1:9", git_environment)
    toml = project.root / "evalgate.toml"
    toml.write_text(toml.read_text().replace("price = { input = 1, output = 1 }\n", ""))
    with pytest.raises(UsageError, match="judge j: its price is unknown"):
        calibrate_judge(project, "one", labels, os.environ, QUIET, usd=1.0)


def test_how_much_is_asked_is_said_first(tmp_path, labels, git_environment, capsys):
    """Before anything is spent."""
    with open_judges(lambda _: YES) as judges:
        project = project_with(tmp_path, judges.url, git_environment)
        calibrate_judge(project, "one", labels, os.environ, Console(quiet=False))
        assert len(judges) == 120
    assert capsys.readouterr().err == "judge j: 40 texts × 3 samples: 120 questions\n"


def test_which_judge_is_said(tmp_path, labels, git_environment):
    """There is one, so a second one is an error, and so is a task that is none."""
    project = project_with(tmp_path, "http://127.0.0.1:9", git_environment)
    with pytest.raises(UsageError, match="has 1 judge, and no number 2"):
        calibrate_judge(project, "one", labels, {}, QUIET, number=2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"text": "a", "passed": true}\n{"text": 1, "passed": true}', ":2: this is no label"),
        ("[]", ":1: this is no label"),
        ("[" * 100_000, ":1: this is no label"),
        ('{"text": "a", "passed": true, "by": "me"}', ":1: this is no label"),
        ('{"text": "a", "passed": true}', "needs texts that pass and texts that do not"),
        (
            '{"text": "a", "passed": true}\n\n{"text": "a", "passed": false}',
            ":3: the text of line 1",
        ),
        ("", "needs texts that pass and texts that do not"),
    ],
)
def test_labels_that_are_none_are_named_by_line(text, words, tmp_path):
    """Not a traceback."""
    path = tmp_path / "labels"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        load_labels(path)
    with pytest.raises(UsageError, match="can not be read"):
        load_labels(tmp_path / "none")


def test_a_line_ends_where_a_line_of_json_does(tmp_path):
    """Not at what Unicode calls the end of one; a mark of the byte order is none of it."""
    path = tmp_path / "labels"
    lines = '\N{BYTE ORDER MARK}{"text": "a\N{LINE SEPARATOR}b", "passed": true}\r\n'
    path.write_text(lines + '{"text": "c", "passed": false}\r\n', encoding="utf-8", newline="")
    assert [label.text for label in load_labels(path)] == ["a\N{LINE SEPARATOR}b", "c"]
