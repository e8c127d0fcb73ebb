"""One trial as a story for a terminal: asked, did, changed, went wrong, and what to do next.

Whatever an agent, a test or a model wrote stands indented and in one piece: it can not pose as a
heading, and no control character of it is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from shlex import quote
from typing import Final

from evalgate.core.plain import plain, shortened
from evalgate.core.short_name import short_of
from evalgate.core.trajectory import Step, ToolCall
from evalgate.core.trial import MARKS, CheckResult, Evidence, Outcome, Trial
from evalgate.report.tool_calls import call_line
from evalgate.report.trial_page import TrialPage

#: A line of a text is cut to so many characters.
_WIDE: Final = 240
#: So many last lines of a log, and of what somebody said last.
_LAST: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How much is told: lines of a text and of a tool's output, turns, lines of a diff."""

    text: int
    output: int
    turns: int
    patch: int


#: For who wants to know what became of a trial, and for who reads it.
SHORT: Final = Detail(text=8, output=0, turns=20, patch=60)
LONG: Final = Detail(text=30, output=12, turns=1000, patch=2000)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialStory:
    """What is told of one trial.

    ``place`` names it as ``RUN:TASK:N``, ``passing`` one of the same task that passed, if there is
    one; ``grading`` is what the check printed that failed first; ``files`` is where its files lie.
    """

    place: str
    trial: Trial
    page: TrialPage
    passing: str = ""
    grading: str = ""
    files: str = ""
    detail: Detail = field(default=SHORT)


def render_story(story: TrialStory) -> str:
    """Return the story as plain text."""
    parts = (_head, _asked, _did, _changed, _wrong, _checks, _next)
    return "\n\n".join(text for part in parts if (text := "\n".join(part(story))))


def _head(story: TrialStory) -> Iterator[str]:
    trial, conditions = story.trial, story.trial.conditions
    words = (f"{trial.task} #{trial.key.n}", str(trial.outcome), trial.reason)
    yield _line(": ".join(filter(None, words)))
    models = f" with {', '.join(conditions.models)}" if conditions.models else ""
    harness = short_of(trial.key.fingerprint)
    yield _line(f"  {trial.evidence} in {conditions.sandbox}{models}, harness {harness}")
    yield f"  {_took(trial)}"
    if trial.evidence is Evidence.FAULTED:
        yield from (_line(f"  fault: {fault}") for fault in trial.faults or ("none fired",))
    for hit in trial.tripwires:
        yield _line(f"  tripwire {hit.name}: {hit.place}: {hit.excerpt}")
    yield from (_line(f"  not known here: {note}") for note in story.page.lacking)


def _took(trial: Trial) -> str:
    signals = trial.signals
    counted = [
        _many(signals.turns, "turn"),
        _many(signals.tool_calls, "tool call"),
        f"{_or_unknown(signals.input_tokens)} + {_or_unknown(signals.output_tokens)} tokens",
        "time unknown" if signals.seconds is None else f"{signals.seconds:.1f} s",
        "cost unknown" if signals.cost_usd is None else f"${signals.cost_usd:.4f}",
    ]
    return ", ".join(counted)


def _many(number: int | None, word: str) -> str:
    return f"{_or_unknown(number)} {word}{'' if number == 1 else 's'}"


def _or_unknown(number: int | None) -> str:
    return "unknown" if number is None else str(number)


def _asked(story: TrialStory) -> Iterator[str]:
    prompt = story.page.trajectory.opening.prompt
    if prompt:
        yield "it was asked:"
        yield from _first(prompt, LONG.text)


def _did(story: TrialStory) -> Iterator[str]:
    steps, most = story.page.trajectory.steps, story.detail.turns
    own = _own(story)
    if not steps:
        return
    yield "it did:"
    hidden = range(most // 2, len(own) - most // 2) if len(own) > most + 1 else range(0)
    for number, step in enumerate(own):
        if number == hidden.start and hidden:
            yield f"    … {_many(len(hidden), 'turn')} more"
        if number not in hidden:
            yield from _turn(number + 1, step, story.detail)
    aside = len(steps) - len(own)
    if aside:
        yield f"  beside that: {_many(aside, 'turn')} in other conversations"


def _own(story: TrialStory) -> list[Step]:
    """Return the turns of the agent's own conversation."""
    return [step for step in story.page.trajectory.steps if not step.conversation]


def _turn(number: int, step: Step, detail: Detail) -> Iterator[str]:
    told = [*_first(step.text.strip("\n"), detail.text)] if step.text.strip() else []
    told += [line for call in step.calls for line in _call(call, detail)]
    told = told or ["    said nothing"]
    yield f"{number:>3} {told[0].removeprefix('    ')}"
    yield from told[1:]


def _call(call: ToolCall, detail: Detail) -> Iterator[str]:
    output = call.output or ""
    lines = output.strip("\n").split("\n") if output.strip() else []
    failed = call.ok is False
    came = "" if failed else f" → {_many(len(lines), 'line')}" if lines else ""
    yield "    " + _line(call_line(call) + came)
    if failed:
        yield from _last(output, 4, indent=6)
    else:
        yield from _first(output.strip("\n") if lines else "", detail.output, indent=6)


def _changed(story: TrialStory) -> Iterator[str]:
    if story.trial.patch:
        yield "what it changed:"
        yield from _first(story.trial.patch.rstrip("\n"), story.detail.patch)


def _wrong(story: TrialStory) -> Iterator[str]:
    trial, page = story.trial, story.page
    if trial.outcome is Outcome.PASSED:
        return
    failed = trial.outcome is Outcome.FAILED
    yield "where it went wrong:" if failed else "why it was not measured:"
    first = first_unpassed(trial)
    if first is not None:
        told = ": ".join(filter(None, (first.name, first.detail)))
        yield _line(f"  the first check that did not pass: {told}")
    elif trial.reason:
        yield _line(f"  {trial.reason}")
    if trial.agent_exit:
        yield f"  the agent ended with exit code {trial.agent_exit}"
    for name, text in (
        ("why it diverged", page.divergence),
        ("what the check printed last", story.grading),
        ("what the agent said last", _last_words(story)),
        ("the end of its log", "" if page.log.strip() == trial.final_answer.strip() else page.log),
    ):
        if text.strip():
            yield f"  {name}:"
            most = 40 if text is page.divergence else _LAST
            yield from _last(text, most)


def _last_words(story: TrialStory) -> str:
    """Return what the agent said last, nothing where that stands in full above."""
    said, own = story.trial.final_answer.strip(), _own(story)
    shown = bool(own) and own[-1].text.strip() == said and said.count("\n") < story.detail.text
    return "" if shown else said


def first_unpassed(trial: Trial) -> CheckResult | None:
    """Return the first check that decides and did not pass; None where there is none."""
    deciding = (check for check in trial.checks if not check.advisory)
    return next((check for check in deciding if check.outcome is not Outcome.PASSED), None)


def _checks(story: TrialStory) -> Iterator[str]:
    if story.trial.checks:
        yield "checks:"
    for check in story.trial.checks:
        advisory = " (advisory)" if check.advisory else ""
        told = ": ".join(filter(None, (f"{check.name}{advisory}", check.detail)))
        yield _line(f"  {MARKS[check.outcome]} {told}")


def _next(story: TrialStory) -> Iterator[str]:
    trial, place = story.trial, story.place
    yield "next:"
    if trial.outcome is Outcome.PASSED:
        run = place.partition(":")[0]
        yield _command("read", run, why="a few of its trials, surprising ones first")
    elif story.passing:
        yield _command("show", story.passing, why="one that passed")
    if trial.diverged:
        named = f"{trial.task}:{trial.key.n}"
        yield _command("cassette", "show", named, why="what was recorded")
    page = ("--format", "html", "-o", "trial.html")
    yield _command("report", place, *page, why="all of it, in a browser")
    if story.files:
        yield f"  its files: {_unbroken(story.files)}"


def _command(*words: str, why: str) -> str:
    return f"  evalgate {' '.join(_unbroken(quote(word)) for word in words)}   # {why}"


def _unbroken(text: str) -> str:
    return plain(text).replace("\n", "\\n")


def _first(text: str, most: int, *, indent: int = 4) -> Iterator[str]:
    lines = plain(text).split("\n") if text and most else []
    yield from (_cut(line, indent) for line in lines[:most])
    if len(lines) > most:
        yield _cut(f"… {_many(len(lines) - most, 'line')} more", indent)


def _last(text: str, most: int, *, indent: int = 4) -> Iterator[str]:
    lines = [line for line in plain(text).split("\n") if line.strip()]
    if len(lines) > most:
        yield _cut(f"… {_many(len(lines) - most, 'line')} before", indent)
    yield from (_cut(line, indent) for line in lines[-most:])


def _cut(line: str, indent: int) -> str:
    return f"{' ' * indent}{shortened(line, _WIDE)}".rstrip()


def _line(text: str) -> str:
    """Return a text in one line, its own indentation kept."""
    words = plain(text)
    return words[: len(words) - len(words.lstrip(" "))] + " ".join(words.split())
