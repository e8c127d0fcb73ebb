"""The check that a model judges a text by a rubric; it decides nothing until it is calibrated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from evalgate.checks.findings import errored
from evalgate.checks.origin import conduct_of, read_path
from evalgate.core.claim import render_patch
from evalgate.core.identity import digest
from evalgate.core.judging import Calibration, Judgement, Question, question_of, votes_of
from evalgate.core.models import PROVIDERS, ModelSpec, read_model
from evalgate.core.observation import Observation
from evalgate.core.schema import Reader
from evalgate.core.trial import Outcome
from evalgate.errors import UsageError
from evalgate.protocols import Check, Finding

#: A judge decides when both its rates are at least so high, by their lower bounds.
BAR: Final = 0.8
#: How often a judge is asked about one text, unless the check says otherwise.
SAMPLES: Final = 5
_MOST_SAMPLES: Final = 99
_LONGEST: Final = 100_000
_LONGEST_RUBRIC: Final = 20_000
_ONE_TEXT: Final = "path is a file; of is the answer or the diff"
_LONGEST_ID: Final = 200
_ID: Final = re.compile(rf"[!-~]{{1,{_LONGEST_ID}}}")
_NAME: Final = re.compile(r"[^\s:/]+")
_PLACES: Final = f"{', '.join(PROVIDERS)}, or NAME where the configuration has [models.NAME]"


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmJudge:
    """Most samples of a judging model say that answer, difference or file meets the rubric.

    Example: ``{type = "llm_judge", rubric = "It says why.", judge = {id = "claude-haiku-4-5",
    upstream = "anthropic"}, advisory = true}``.
    """

    version: ClassVar[int] = 2
    rubric: str
    model: ModelSpec
    samples: int
    looks_at: str
    path: str
    calibration: Calibration | None
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> LlmJudge:
        """Read ``rubric``, ``judge`` (as a table of models), ``samples`` and what is judged.

        That is ``path``, or ``of``: the ``answer`` or the ``diff``. ``calibration`` is the line
        that `evalgate task calibrate-judge` wrote. A task may be a stranger's: it names neither a
        host nor a variable of this machine, only who is known here.
        """
        rubric = params.text("rubric")
        samples = params.integer("samples", SAMPLES, low=1, high=_MOST_SAMPLES)
        if not rubric.strip():
            raise params.error("must not be empty", "rubric")
        if len(rubric) > _LONGEST_RUBRIC:
            hint = "one criterion, in words: a judge reads it with each text"
            raise params.error(f"has more than {_LONGEST_RUBRIC} characters", "rubric", hint=hint)
        if params.has("of") and params.has("path"):
            raise params.error("is one too many beside 'path'", "of", hint=_ONE_TEXT)
        if samples % 2 == 0:
            raise params.error("must be odd, or there may be no majority", "samples")
        judge = params.table("judge")
        model = read_model(judge)
        if not _ID.fullmatch(model.id):
            problem = f"must be the name of a model: no blanks, 1 to {_LONGEST_ID} characters"
            raise judge.error(problem, "id", hint="as in claude-haiku-4-5 or openai/gpt-5-mini")
        if not _NAME.fullmatch(model.upstream):
            raise judge.error("must be a name, in a task", "upstream", hint=_PLACES)
        if model.key_env:
            hint = "take it out, or name a [models.NAME] of the configuration as upstream"
            raise judge.error("a task names no variable of this machine", "key_env", hint=hint)
        given = params.table("calibration")
        return cls(
            rubric=rubric,
            model=model,
            samples=samples,
            looks_at=params.choice("of", "answer", ("answer", "diff")),
            path=read_path(params) if params.has("path") else "",
            calibration=_calibration(given) if given.raw else None,
        )

    @property
    def name(self) -> str:
        """The name of what is calibrated (12 hex): another rubric or model is another judge."""
        asked = question_of(
            "",
            rubric=self.rubric,
            task="",
            model=self.model.id,
            parameters=self.model.parameters,
            samples=self.samples,
        )
        return digest(asked.digest, domain="evalgate-judge-name/1")[:12]

    def served_by(self, models: Mapping[str, ModelSpec], *, task: str) -> LlmJudge:
        """Return the judge where it is served: by a provider, or as one of the project's models.

        A price that it does not name is that of the project's model of the same id. UsageError
        when its upstream is the name of neither.
        """
        place = self.model.upstream
        if place in PROVIDERS:
            return self
        there = models.get(place)
        if there is None or there.plan is not None:
            problem = "no such model" if there is None else "a judge is no plan of the harness"
            message = f"task {task}: checks.llm_judge.judge.upstream: {place!r}: {problem}"
            raise UsageError(message, hint=_PLACES)
        price = self.model.price or (there.price if there.id == self.model.id else None)
        model = replace(
            self.model,
            upstream=there.upstream,
            dialect=self.model.dialect or there.dialect,
            key_env=there.key_env,
            price=price,
        )
        return replace(self, model=model)

    def require_calibrated(self, *, task: str) -> None:
        """Raise UsageError unless this very judge was shown to be right often enough."""
        known = self.calibration
        hint = "set advisory = true, or run evalgate task calibrate-judge"
        if known is None:
            problem = "decides, and was not calibrated"
        elif known.of != self.name:
            problem = "its calibration is of another rubric, model or number of samples"
        elif min(known.sensitivity, known.specificity) < BAR:
            problem = (
                f"passes good texts at a rate of at least {known.sensitivity:.2f}, and fails bad "
                f"ones of at least {known.specificity:.2f}: to decide it needs {BAR:g} of both"
            )
        else:
            return
        raise UsageError(f"task {task}: checks.llm_judge: {problem}", hint=hint)

    def question(self, seen: Observation) -> Question | Finding:
        """Return what the judge is asked about a trial, or the finding that there is nothing."""
        text = self._text(seen)
        return text if isinstance(text, Finding) else self.ask(text, task=seen.task.instruction)

    def ask(self, text: str, *, task: str) -> Question:
        """Return what the judge is asked about a text."""
        return question_of(
            text,
            rubric=self.rubric,
            task=task,
            model=self.model.id,
            parameters=self.model.parameters,
            samples=self.samples,
        )

    def examine(self, seen: Observation) -> Finding:
        """Go by the majority of what the judge said; an answer that is no verdict is an error."""
        question = self.question(seen)
        if isinstance(question, Finding):
            return question
        judgement = seen.judged.get(question.digest)
        if judgement is None:
            return errored("this was never judged, and no model may be asked here")
        known = self.calibration
        if known is not None and known.unlike(judgement.models):
            served, before = ", ".join(judgement.models), ", ".join(known.served)
            anew = "run evalgate task calibrate-judge anew"
            return errored(f"judge {served}: what was calibrated is {before}: {anew}")
        return finding_of(judgement, samples=self.samples)

    def _text(self, seen: Observation) -> str | Finding:
        if self.path:
            file = seen.workspace.get(self.path)
            if file is None:
                return Finding(outcome=Outcome.FAILED, detail=f"{self.path} does not exist")
            text = file.data.decode("utf-8", "replace")
        elif self.looks_at == "diff":
            text = render_patch(seen.task.workspace, seen.claim)
        else:
            done = conduct_of(seen)
            if isinstance(done, Finding):
                return done
            text = done.final_answer or ""
        if len(text) > _LONGEST:
            return errored(f"{len(text)} characters are too many to be judged")
        return text


def judges_in(checks: Iterable[Check]) -> tuple[ModelSpec, ...]:
    """Return the models of all judges among some checks, one of each id.

    UsageError when one id is served at two places.
    """
    found: dict[str, ModelSpec] = {}
    for check in checks:
        if isinstance(check, LlmJudge):
            first = found.setdefault(check.model.id, check.model)
            if first.served != check.model.served or first.price != check.model.price:
                message = f"the judge {first.id} is served at two places, or has two prices"
                raise UsageError(message, hint="one id goes to one upstream, at one price")
    return tuple(found.values())


def finding_of(judgement: Judgement, *, samples: int) -> Finding:
    """Say what a judgement comes to."""
    judge = f"judge {', '.join(judgement.models) or 'unknown'}"
    if judgement.error:
        return errored(f"{judge}: {judgement.error}")
    votes = votes_of(judgement.verdicts)
    if votes is None or votes.samples != samples:
        invalid = sum(one is None for one in judgement.verdicts)
        return errored(f"{judge}: {invalid} of {len(judgement.answers)} answers are no verdict")
    detail = (
        f"{judge}: {votes.passed} of {votes.samples} passed it (mean {votes.mean:.2f}, spread "
        f"{votes.spread:.2f}, agreement {votes.agreement:.2f})"
    )
    return Finding(outcome=Outcome.PASSED if votes.good else Outcome.FAILED, detail=detail)


def _calibration(table: Reader) -> Calibration:
    read = Calibration(
        of=table.text("of"),
        true_positives=table.integer("true_positives"),
        positives=table.integer("positives"),
        true_negatives=table.integer("true_negatives"),
        negatives=table.integer("negatives"),
        served=tuple(table.texts("served", ())),
    )
    table.done()
    if read.true_positives > read.positives or read.true_negatives > read.negatives:
        raise table.error("has more right answers than texts")
    return read
