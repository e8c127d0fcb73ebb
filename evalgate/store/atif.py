"""Trajectories as files: the Agent Trajectory Interchange Format of Harbor.

https://www.harborframework.com/docs/agents/trajectory-format . What it has no place for stands
in its ``extra`` objects below ``evalgate``: success and duration of a call, the second a turn
began, the conversation it belongs to. There are no times of day in it: a replay writes the same
bytes again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Final

from evalgate.core.json import Json, JsonObject
from evalgate.core.shallow import shallow
from evalgate.core.trajectory import ToolCall, Trajectory, Usage

#: The version that is written.
VERSION: Final = "ATIF-v1.8"

#: Where what is ours stands in every ``extra``.
EXTRA: Final = "evalgate"

#: The one argument of a call whose input is no object.
BARE: Final = "input"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Whose trajectory it is: ``version`` names the harness, ``model`` the one that answered.

    ``usage`` and ``cost_usd`` (US dollars) are those of the whole trial; what is unknown is left
    out. ``about`` says more about the trial.
    """

    session: str
    agent: str
    version: str
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    about: JsonObject = field(default_factory=dict)


def dump_atif(trajectory: Trajectory, origin: Origin) -> str:
    """Return the file's text; equal trajectories give equal text."""
    steps = list(_steps(trajectory))
    tools = shallow([*trajectory.opening.tools])
    whole: dict[str, Json] = {
        "schema_version": VERSION,
        "session_id": origin.session,
        "agent": _filled(
            name=origin.agent,
            version=origin.version,
            model_name=origin.model,
            tool_definitions=tools or None,
        ),
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        "final_metrics": _totals(origin, len(steps)),
    }
    if origin.about:
        whole["extra"] = {EXTRA: origin.about}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _steps(trajectory: Trajectory) -> Iterator[JsonObject]:
    opening = trajectory.opening
    if opening.system:
        yield {"source": "system", "message": opening.system}
    # A file without a step is none; an agent that asked its model nothing still had its task.
    yield {"source": "user", "message": opening.prompt}
    names = _Names()
    for step in trajectory.steps:
        ours = _filled(conversation=step.conversation or None)
        yield _filled(
            source="agent",
            model_name=step.model,
            message=step.text,
            reasoning_content=step.reasoning or None,
            **_calls([(names.give(call.call_id), call) for call in step.calls]),
            metrics=_metrics(step.usage),
            llm_call_count=1,
            extra={EXTRA: {**ours, "began": step.began, "seconds": step.seconds}},
        )


class _Names:
    """Gives each call an id of its own: some providers use ids again, and some give none."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def give(self, wanted: str) -> str:
        """Return the wanted id, or the next one like it that is free."""
        first = [wanted] if wanted else []
        more = (f"{wanted or 'call'}#{number}" for number in count(1))
        name = next(name for name in chain(first, more) if name not in self._given)
        self._given.add(name)
        return name


def _calls(named: list[tuple[str, ToolCall]]) -> dict[str, Json]:
    if not named:
        return {}
    results: list[Json] = [
        {"source_call_id": name, "content": call.output}
        for name, call in named
        if call.output is not None
    ]
    calls: list[Json] = [_call(name, call) for name, call in named]
    return _filled(tool_calls=calls, observation={"results": results} if results else None)


def _call(name: str, call: ToolCall) -> JsonObject:
    whole = isinstance(call.input, Mapping)
    ours = _filled(
        call_id=None if name == call.call_id else call.call_id,
        bare=None if whole else True,
        ok=call.ok,
        seconds=call.seconds,
    )
    return _filled(
        tool_call_id=name,
        function_name=call.name,
        arguments=shallow(call.input if whole else {BARE: call.input}),
        extra={EXTRA: ours} if ours else None,
    )


def _metrics(usage: Usage) -> Json:
    """Return the counts; here ``prompt_tokens`` are all, cached ones among them."""
    prompt = _prompt(usage)
    written = usage.cache_write_tokens
    ours = _filled(
        input_tokens=usage.input_tokens if prompt is None else None,
        # Where the whole prompt is known, none named is none written.
        cache_write_tokens=written if written or prompt is None else None,
    )
    return (
        _filled(
            prompt_tokens=prompt,
            completion_tokens=usage.output_tokens,
            cached_tokens=usage.cache_read_tokens,
            extra={EXTRA: ours} if ours else None,
        )
        or None
    )


def _prompt(usage: Usage) -> int | None:
    counts = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _totals(origin: Origin, steps: int) -> JsonObject:
    return _filled(
        total_prompt_tokens=_prompt(origin.usage),
        total_completion_tokens=origin.usage.output_tokens,
        total_cached_tokens=origin.usage.cache_read_tokens,
        total_cost_usd=origin.cost_usd,
        total_steps=steps,
    )


def _filled(**members: Json) -> dict[str, Json]:
    """Return the members that are known."""
    return {name: value for name, value in members.items() if value is not None}
