"""`evalgate task calibrate-judge`: a judging model held against texts that people labelled."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalgate.checks.judge import BAR, LlmJudge
from evalgate.checks.table import build_judges
from evalgate.commands.answer import Answer
from evalgate.commands.console import Console
from evalgate.commands.making.budget import budget_of, require_judge_price
from evalgate.commands.project import Project, open_state, subject_of
from evalgate.core.judging import Calibration, votes_of
from evalgate.core.models import ModelSpec
from evalgate.core.rates import counted
from evalgate.core.redaction import Redactor
from evalgate.core.task import Task
from evalgate.errors import BudgetReachedError, ExitCode, UsageError
from evalgate.gateway.limits.spending import Spending
from evalgate.gateway.providers import resolve_upstream, secrets_of
from evalgate.gateway.server import open_gateway
from evalgate.runner.agent_stage import OverBudgetError
from evalgate.runner.judging import ask_judge

_LABELS_HINT = 'a line is {"text": "what is judged", "passed": true}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A text, whether people say that it meets the rubric, and its line in the file."""

    text: str
    passed: bool
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the judge made of a labelled text; ``passed`` None when it was not measured."""

    label: Label
    passed: bool | None
    models: tuple[str, ...]
    usd: float | None
    error: str


def calibrate_judge(
    project: Project,
    task: str,
    labels: Path,
    environ: Mapping[str, str],
    console: Console,
    *,
    rev: str | None = None,
    number: int = 1,
    usd: float | None = None,
) -> Answer:
    """Ask the task's judge about every labelled text, live, within the configuration's budget.

    ``usd`` is the most that it may cost, in place of the budget's money. Of several judges
    ``number`` counts from 1. Exit 4 where a text could not be judged, 1 where the judge may not
    decide.

    Raises:
        UsageError: there is no such judge, its price is unknown and money limited, or the labels
            are none.
        BudgetReachedError: it would take more than the budget.
    """
    with open_state(project, subject_of(rev)) as state:
        (chosen, *more) = state.selected([task])
        budget = budget_of(state.config, usd)
        models = state.config.models
    if more:
        raise UsageError(f"{task!r} means several tasks", hint="name one")
    judge = _judge(chosen, number, models)
    known = load_labels(labels)
    require_judge_price(judge.model, budget)
    count, samples = counted(len(known), "text"), counted(judge.samples, "sample")
    questions = counted(len(known) * judge.samples, "question")
    console.note(f"judge {judge.model.id}: {count} × {samples}: {questions}")
    spending = Spending(budget)
    try:
        outcomes = _ask(judge, chosen, known, environ, spending)
    except OverBudgetError:
        limit = spending.refused.limit if spending.refused else "this command"
        larger = "--usd" if limit.startswith("$") else "[budget]"
        hint = f"raise {larger}, or label fewer texts: only a whole calibration is kept"
        message = f"the labels take more than the budget of {limit}"
        raise BudgetReachedError(message, hint=hint) from None
    return _answer(judge, outcomes)


def load_labels(path: Path) -> tuple[Label, ...]:
    """Read labels, one JSON object a line; UsageError names the line that is none.

    A text counts once: asked about over and over it would say no more of the judge.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or "it is no UTF-8"
        raise UsageError(f"{path}: can not be read: {why}", hint=_LABELS_HINT) from error
    found: dict[str, Label] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            one = json.loads(line)
        except (ValueError, RecursionError):
            one = None
        good = isinstance(one, dict) and set(one) == {"text", "passed"}
        if not good or not isinstance(one["text"], str) or not isinstance(one["passed"], bool):
            raise UsageError(f"{path}:{number}: this is no label", hint=_LABELS_HINT)
        label = Label(text=one["text"], passed=one["passed"], line=number)
        first = found.setdefault(label.text, label)
        if first is not label:
            message = f"{path}:{number}: the text of line {first.line} once more"
            raise UsageError(message, hint="label each text once")
    if {label.passed for label in found.values()} != {True, False}:
        message = f"{path}: needs texts that pass and texts that do not"
        raise UsageError(message, hint="fifty of each make good bounds")
    return tuple(found.values())


def _judge(task: Task, number: int, models: Mapping[str, ModelSpec]) -> LlmJudge:
    judges = build_judges(task, models)
    if not judges:
        raise UsageError(f"task {task.id} has no check llm_judge", hint="add one to task.toml")
    if not 1 <= number <= len(judges):
        message = f"task {task.id} has {counted(len(judges), 'judge')}, and no number {number}"
        raise UsageError(message, hint="--judge counts from 1")
    return judges[number - 1]


def _ask(
    judge: LlmJudge,
    task: Task,
    labels: Sequence[Label],
    environ: Mapping[str, str],
    spending: Spending,
) -> list[Outcome]:
    redactor = Redactor(secrets_of([judge.model], environ))
    upstream = resolve_upstream(judge.model, environ)
    outcomes = []
    with open_gateway(redactor=redactor) as gateway:
        for label in labels:
            question = judge.ask(label.text, task=task.instruction)
            said = ask_judge(
                gateway, upstream, judge.model, question, spending=spending, stop=threading.Event()
            )
            votes = None if said.error else votes_of(said.verdicts)
            error = said.error or ("" if votes else "an answer is no verdict")
            passed = votes.good if votes else None
            outcomes.append(
                Outcome(label=label, passed=passed, models=said.models, usd=said.usd, error=error)
            )
    return outcomes


def _answer(judge: LlmJudge, outcomes: Sequence[Outcome]) -> Answer:
    good = [one for one in outcomes if one.label.passed and one.passed is not None]
    bad = [one for one in outcomes if not one.label.passed and one.passed is not None]
    lost = [one for one in outcomes if one.passed is None]
    models = tuple(sorted({model for one in outcomes for model in one.models}))
    found = Calibration(
        of=judge.name,
        true_positives=sum(one.passed is True for one in good),
        positives=len(good),
        true_negatives=sum(one.passed is False for one in bad),
        negatives=len(bad),
        served=models,
    )
    costs = [one.usd for one in outcomes]
    usd = None if None in costs else sum(one for one in costs if one is not None)
    may = not lost and min(found.sensitivity, found.specificity) >= BAR
    line = (
        f'calibration = {{ of = "{found.of}", true_positives = {found.true_positives}, '
        f"positives = {found.positives}, true_negatives = {found.true_negatives}, "
        f"negatives = {found.negatives}, served = {json.dumps(models, ensure_ascii=False)} }}"
    )
    shown = [
        f"judge     {', '.join(models) or 'unknown'}, {counted(judge.samples, 'sample')} a text",
        f"good      {found.true_positives} of {found.positives} passed, "
        f"at least {found.sensitivity:.2f} of all (Wilson, 95 %)",
        f"bad       {found.true_negatives} of {found.negatives} failed, "
        f"at least {found.specificity:.2f} of all",
        f"cost      {'unknown' if usd is None else f'${usd:.4f}'}",
        *(f"not judged: line {one.label.line}: {one.error}" for one in lost),
        *(
            f"otherwise: line {one.label.line}: people say {_word(passed=one.label.passed)}"
            for one in (*good, *bad)
            if one.passed is not one.label.passed
        ),
    ]
    if may:
        shown += ["It may decide; add this to the check, and take advisory out:", line]
    else:
        shown.append(f"It may not decide: both bounds must be at least {BAR:g}, of all texts.")
    code = ExitCode.NOT_MEASURED if lost else ExitCode.OK if may else ExitCode.REGRESSION
    return Answer(
        text="\n".join(shown),
        value={
            "judge": found.of,
            "models": list(models),
            "samples": judge.samples,
            "true_positives": found.true_positives,
            "positives": found.positives,
            "sensitivity_at_least": found.sensitivity,
            "true_negatives": found.true_negatives,
            "negatives": found.negatives,
            "specificity_at_least": found.specificity,
            "not_judged": [{"line": one.label.line, "reason": one.error} for one in lost],
            "usd": usd,
            "may_decide": may,
            "calibration": line if may else None,
        },
        code=code,
    )


def _word(*, passed: bool) -> str:
    return "it passes" if passed else "it does not"
