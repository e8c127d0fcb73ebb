"""The verdict as Markdown, from the template of evalgate or the project's own."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from evalgate.core.verdict import Verdict
from evalgate.errors import UsageError
from evalgate.report.headlines import alert_of, headline_of
from evalgate.report.integrity import integrity_of
from evalgate.report.last_words import LastWords
from evalgate.report.markdown import code, escape, escape_html, fence
from evalgate.report.numbers import chance, first_numbers, signal_rows
from evalgate.report.shedding import LIMIT_BYTES, cut, levels
from evalgate.report.task_rows import culprits, fallen_rows, moved_rows, task_rows
from evalgate.report.tool_calls import CallsChange

#: What a wrong expression in a template can raise.
_TEMPLATE_ERRORS = (
    jinja2.TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


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

    ``differences`` maps a task to the diff between its last passing output and this one, ``calls``
    to the tool calls of both, ``words`` to what the agent said last in both. ``anchor`` says how
    the head stands to the last release, ``touched`` how often each tripwire was touched. ``run``
    names the trials of the head where the page is read, and ``away`` says that this is another
    machine than the one that judges.
    """

    head: str
    base: str
    how: str
    parts: tuple[PartChange, ...] = ()
    differences: Mapping[str, str] = field(default_factory=dict)
    calls: Mapping[str, CallsChange] = field(default_factory=dict)
    words: Mapping[str, LastWords] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    anchor: str = ""
    next_steps: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()
    hypothesis: str = ""
    touched: Mapping[str, int] = field(default_factory=dict)
    run: str = ""
    away: bool = False


def render_verdict(
    verdict: Verdict,
    story: Story,
    *,
    template: str | None = None,
    limit_bytes: int = LIMIT_BYTES,
) -> str:
    """Render the page in at most so many bytes of UTF-8; what is left out for that is named on it.

    UsageError names the line of a project's own template that is wrong.
    """
    # A template is text of the project under judgement: it reaches nothing of this process.
    environment = ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters.update(md=escape, code=code, html=escape_html, fence=fence)
    fallen = fallen_rows(verdict)
    environment.globals.update(
        alert=alert_of(verdict),
        headline=headline_of(verdict),
        advice=verdict.advice,
        # What the sentence says already is not said again.
        reasons=[one for one in verdict.reasons if one not in verdict.sentence],
        chance=chance,
        numbers=first_numbers(verdict),
        signals=signal_rows(verdict),
        flagged=[change for change in verdict.signals if change.flag],
        integrity=integrity_of(verdict, story.touched),
        tasks=task_rows(verdict),
        moved=moved_rows(verdict),
        fallen=fallen,
        culprits=culprits(verdict),
        limit_bytes=limit_bytes,
    )
    source = template or resources.files(__package__).joinpath("templates/verdict.md.j2").read_text(
        encoding="utf-8"
    )
    page = ""
    try:
        compiled = environment.from_string(source)
        for shown in levels(tasks=len(verdict.changes), fallen=len(fallen)):
            page = compiled.render(verdict=verdict, story=story, shown=shown)
            if len(page.encode("utf-8", "replace")) <= limit_bytes:
                return page
    except jinja2.TemplateSyntaxError as error:
        message = f"report.template:{error.lineno}: {error.message}"
        raise UsageError(message, hint="mend the template, or leave it out") from error
    except _TEMPLATE_ERRORS as error:
        if template is None:
            raise
        message = f"report.template:{_line(error)}: {error}"
        raise UsageError(message, hint="mend the template, or leave it out") from error
    return cut(page, limit_bytes)


def _line(error: Exception) -> int:
    # Jinja2 puts the template's own lines into the traceback.
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 1 for frame in reversed(frames) if frame[0] == "<template>"), 1)
