"""The trajectory of a trial, put together from its turns: each call meets its output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from evalgate.core.exchange import Exchange
from evalgate.core.trajectory import Opening, Step, ToolCall, Trajectory
from evalgate.gateway.dialects.dialect import Asked, Dialect, Reply, ToolResult
from evalgate.gateway.witness.dialogue import Dialogues, spoken


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An exchange with a model, read; ``good`` when the reply came whole and without an error."""

    exchange: Exchange
    dialect: Dialect
    asked: Asked
    reply: Reply
    good: bool


@dataclass(slots=True, kw_only=True)
class _Open:
    """A call without its output yet: whose it is, its place, and when the model had asked."""

    conversation: int
    position: int
    asked: float


@dataclass(slots=True)
class _Course:
    """What is known so far. Requests are read one by one: each repeats all before it."""

    dialogues: Dialogues = field(default_factory=Dialogues)
    calls: list[ToolCall] = field(default_factory=list)
    waiting: dict[str, list[_Open]] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    openings: dict[int, Opening] = field(default_factory=dict)
    ids: Counter[str] = field(default_factory=Counter)


def trajectory_of(turns: Iterable[Turn]) -> Trajectory:
    """Return the trajectory; turns are in order of their requests, failed ones among them.

    A call's output is looked for by its id in later requests of the same conversation; in those
    of another one only while no other call had that id, since some providers count their ids
    anew in every reply, and some give none.
    """
    course = _Course()
    for turn in turns:
        conversation = course.dialogues.join(turn.asked, turn.dialect)
        _close(course, conversation, turn)
        if turn.good:
            course.openings.setdefault(conversation, _opening(turn))
            _go_on(course, conversation, turn)
    joined = [step.conversation for step in course.steps]
    main = course.dialogues.main(joined)
    answers = [step.text for step in course.steps if step.conversation == main]
    return Trajectory(
        calls=tuple(course.calls),
        turns=len(course.steps),
        final_answer=(answers[-1] or None) if answers else None,
        steps=tuple(_numbered(course, main)),
        opening=Opening() if main is None else course.openings[main],
    )


def _go_on(course: _Course, conversation: int, turn: Turn) -> None:
    """Add what the model said, and what it asked for."""
    exchange, reply = turn.exchange, turn.reply
    for call in reply.calls:
        opened = _Open(
            conversation=conversation,
            position=len(course.calls),
            asked=exchange.began + exchange.seconds,
        )
        course.waiting.setdefault(call.call_id, []).append(opened)
        course.ids[call.call_id] += 1
        course.calls.append(call)
    step = Step(
        text=reply.text,
        reasoning=reply.reasoning,
        calls=reply.calls,
        usage=reply.usage,
        model=reply.model,
        conversation=conversation,
        began=exchange.began,
        seconds=exchange.seconds,
    )
    course.steps.append(step)


def _close(course: _Course, conversation: int, turn: Turn) -> None:
    """Give calls the outputs that a request carries.

    An id that was used again in a later turn has several outputs: the last one counts. Of
    several open calls of one id the last ones get the last outputs, in order; a call that the
    model had to be asked for once more is left without.
    """
    by_id: dict[str, list[ToolResult]] = {}
    for result in turn.asked.results if course.waiting else ():
        by_id.setdefault(result.call_id, []).append(result)
    for call_id in [call_id for call_id in course.waiting if call_id in by_id]:
        waiting = course.waiting[call_id]
        alone = bool(call_id) and course.ids[call_id] == 1
        opened = [one for one in waiting if alone or one.conversation == conversation]
        _answer(course.calls, opened, by_id[call_id], turn.exchange.began)
        left = [one for one in waiting if one not in opened]
        if left:
            course.waiting[call_id] = left
        else:
            del course.waiting[call_id]


def _answer(
    calls: list[ToolCall], opened: Sequence[_Open], found: Sequence[ToolResult], now: float
) -> None:
    paired = min(len(opened), len(found))
    for one, result in zip(opened[-paired:], found[-paired:], strict=False):
        calls[one.position] = replace(
            calls[one.position],
            output=result.output,
            ok=result.ok,
            seconds=round(max(0.0, now - one.asked), 3),
        )


def _opening(turn: Turn) -> Opening:
    parts, dialect = turn.asked.parts, turn.dialect
    return Opening(
        system=spoken(parts.get("system"), dialect),
        prompt=spoken(parts.get("messages"), dialect),
        tools=dialect.tools(parts.get("tools")),
    )


def _numbered(course: _Course, main: int | None) -> Iterable[Step]:
    """Yield the steps with their calls as they ended, the agent's own conversation as number 0."""
    others = sorted({step.conversation for step in course.steps if step.conversation != main})
    numbers = {number: index for index, number in enumerate(others, 1)}
    position = 0
    for step in course.steps:
        end = position + len(step.calls)
        yield replace(
            step,
            calls=tuple(course.calls[position:end]),
            conversation=numbers.get(step.conversation, 0),
        )
        position = end
