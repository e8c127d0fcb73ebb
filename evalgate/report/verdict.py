"""The verdict as Markdown, from the template of evalgate or the project's own."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from evalgate.core.change import COMPARABLE, Change, TaskChange
from evalgate.core.decision import Decision
from evalgate.core.rates import mean_percent
from evalgate.core.signal_change import SIGNALS, level_of
from evalgate.core.verdict import Verdict
from evalgate.errors import UsageError
from evalgate.report.markdown import escape, escape_html, fence

#: How GitHub colours a decision; WARNING where nothing is said.
ALERTS: Mapping[Decision, str] = {
    Decision.REGRESSION: "CAUTION",
    Decision.VOID: "CAUTION",
    Decision.IMPROVED: "TIP",
    Decision.PASS: "NOTE",
    Decision.UNDECIDED: "NOTE",
    Decision.NOT_CONFIRMED: "NOTE",
    Decision.NOTHING_TO_JUDGE: "NOTE",
}

#: What a wrong expression in a template can raise.
_TEMPLATE_ERRORS = (
    jinja2.TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)

#: What stands before a signal that moved.
_FLAGS: Mapping[str, str] = {"up": "⚠ ", "down": "✓ ", "": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class PartChange:
    """One changed part of the harness: its files with line counts, its size, and its diff."""

    name: str
    files: tuple[str, ...]
    diff: str = ""
    size: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What the verdict's page needs beside the verdict itself.

    ``differences`` maps a task to the diff between its last passing output and this one;
    ``failures`` to the first failing check of this run, with its detail. ``anchor`` says how the
    head stands to the last release.
    """

    head: str
    base: str
    how: str
    parts: tuple[PartChange, ...] = ()
    differences: Mapping[str, str] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    anchor: str = ""
    next_steps: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()
    hypothesis: str = ""


def render_verdict(verdict: Verdict, story: Story, *, template: str | None = None) -> str:
    """Render the page; UsageError names the line of a project's own template that is wrong."""
    # A template is text of the project under judgement: it reaches nothing of this process.
    environment = ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters.update(md=escape, html=escape_html, fence=fence)
    environment.globals.update(
        alert=ALERTS.get(verdict.decision, "WARNING"),
        advice=verdict.advice,
        numbers=_numbers(verdict),
        moved=[change for change in verdict.changes if change.moved],
        flagged=[change for change in verdict.signals if change.flag],
        regressed=_regressed(verdict),
        rate=_rate,
    )
    source = template or resources.files(__package__).joinpath("templates/verdict.md.j2").read_text(
        encoding="utf-8"
    )
    try:
        return environment.from_string(source).render(verdict=verdict, story=story)
    except jinja2.TemplateSyntaxError as error:
        message = f"report.template:{error.lineno}: {error.message}"
        raise UsageError(message, hint="mend the template, or leave it out") from error
    except _TEMPLATE_ERRORS as error:
        if template is None:
            raise
        message = f"report.template:{_line(error)}: {error}"
        raise UsageError(message, hint="mend the template, or leave it out") from error


def _line(error: Exception) -> int:
    # Jinja2 puts the template's own lines into the traceback.
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 1 for frame in reversed(frames) if frame[0] == "<template>"), 1)


def _regressed(verdict: Verdict) -> list[TaskChange]:
    return list(verdict.of(Change.REGRESSED, Change.FELL))


def _rate(change: TaskChange, side: str) -> str:
    sample = change.base if side == "base" else change.head
    return "–" if sample is None else f"{sample.passed}/{len(sample.measured)}"


def _numbers(verdict: Verdict) -> list[tuple[str, str, str]]:
    base, head = verdict.base, verdict.head
    if base is None or head is None:
        return []
    rows = [("pass rate", _pass_rate(verdict, "base"), _pass_rate(verdict, "head"))]
    changes = {change.name: change for change in verdict.signals}
    outcome_costs = verdict.outcome_costs
    for name, signal in SIGNALS.items():
        change = changes.get(name)
        sides = (base, head)
        levels = [level_of(side, name) for side in sides]
        if change is not None:
            levels = [change.base, change.head]
        if levels != [None, None]:
            shown = ["unknown" if one is None else signal.form.format(one) for one in levels]
            flag = "" if change is None else change.flag
            rows.append((f"{_FLAGS[flag]}{signal.words} a trial", shown[0], shown[1]))
        if name == "cost_usd" and any(outcome_costs):
            costs = ["unknown" if one is None else one.sentence for one in outcome_costs]
            rows.append(("cost of a correct outcome", costs[0], costs[1]))
    return rows


def _pass_rate(verdict: Verdict, side: str) -> str:
    """Count what the sentence counts: the tasks that can be compared."""
    samples = [getattr(change, side) for change in verdict.of(*COMPARABLE)]
    measured = sum(len(sample.measured) for sample in samples)
    passed = sum(sample.passed for sample in samples)
    mean = mean_percent((sample.passed, len(sample.measured)) for sample in samples)
    return f"{mean} ({passed}/{measured})" if measured else mean
