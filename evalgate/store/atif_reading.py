"""Trajectory files read: what this program wrote comes back whole, what others wrote as it can.

Others leave out what they do not know, and an ``extra`` of theirs says nothing here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn

from evalgate.core.trajectory import Opening, Step, ToolCall, Trajectory, Usage
from evalgate.errors import UsageError
from evalgate.store.atif import BARE, EXTRA, VERSION

_NEWEST: Final = int(VERSION.rpartition(".")[2])


def load_atif(text: str, *, name: str) -> Trajectory:
    """Read a trajectory file; ``name`` is what errors call it.

    UsageError when it is none, or of a version that is not known.
    """
    try:
        whole = _object(json.loads(text, parse_constant=_no_number))
        _known(str(whole.get("schema_version", "")), name)
        return _trajectory(whole)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        message = f"{name}: this is no trajectory: {error}"
        raise UsageError(message, hint="it should be a JSON file of the ATIF format") from error


def _known(version: str, name: str) -> None:
    found = re.fullmatch(r"ATIF-v1\.(\d{1,3})", version)
    if found and int(found[1]) <= _NEWEST:
        return
    message = f"{name}: schema_version {version!r} is not known; the newest one that is: {VERSION}"
    raise UsageError(message, hint="upgrade git-evalgate, if the format has grown since")


def _trajectory(whole: Mapping[str, Any]) -> Trajectory:
    found = [_object(step) for step in _list(whole["steps"])]
    steps = tuple(_step(step) for step in found if step["source"] == "agent")
    answers = [step.text for step in steps if not step.conversation]
    tools = _list(_object(whole["agent"]).get("tool_definitions"))
    return Trajectory(
        calls=tuple(call for step in steps for call in step.calls),
        turns=len(steps),
        final_answer=(answers[-1] or None) if answers else None,
        steps=steps,
        opening=Opening(
            system=_said(found, "system"),
            prompt=_said(found, "user"),
            tools=tuple(_object(tool) for tool in tools),
        ),
    )


def _said(steps: list[Mapping[str, Any]], source: str) -> str:
    """Return what was said first: later words of a user are no opening."""
    return next((_text(step["message"]) for step in steps if step["source"] == source), "")


def _step(step: Mapping[str, Any]) -> Step:
    ours = _ours(step)
    model = step.get("model_name")
    return Step(
        text=_text(step["message"]),
        reasoning=str(step.get("reasoning_content") or ""),
        calls=tuple(_calls(step)),
        usage=_usage(_object(step.get("metrics") or {})),
        model=None if model is None else str(model),
        conversation=int(ours.get("conversation", 0)),
        began=float(ours.get("began", 0.0)),
        seconds=float(ours.get("seconds", 0.0)),
    )


def _calls(step: Mapping[str, Any]) -> Iterator[ToolCall]:
    outputs: dict[str, str] = {}
    observation = _object(step.get("observation") or {})
    for result in map(_object, _list(observation.get("results"))):
        name, content = str(result.get("source_call_id")), result.get("content")
        if content is not None:
            before = f"{outputs[name]}\n" if name in outputs else ""
            outputs[name] = before + _text(content)
    for call in map(_object, _list(step.get("tool_calls"))):
        ours, name = _ours(call), str(call["tool_call_id"])
        arguments = _object(call["arguments"])
        seconds = ours.get("seconds")
        yield ToolCall(
            name=str(call["function_name"]),
            call_id=str(ours.get("call_id", name)),
            input=arguments[BARE] if ours.get("bare") else arguments,
            output=outputs.get(name),
            ok=None if ours.get("ok") is None else bool(ours["ok"]),
            seconds=None if seconds is None else float(seconds),
        )


def _usage(metrics: Mapping[str, Any]) -> Usage:
    """Take cached tokens out of the prompt's; none named means none cached."""
    ours = _ours(metrics)
    prompt, read = _count(metrics, "prompt_tokens"), _count(metrics, "cached_tokens")
    written = _count(ours, "cache_write_tokens")
    uncached = _count(ours, "input_tokens")
    if prompt is not None:
        read, written = read or 0, written or 0
        uncached = max(0, prompt - read - written)
    return Usage(
        input_tokens=uncached,
        output_tokens=_count(metrics, "completion_tokens"),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _count(found: Mapping[str, Any], name: str) -> int | None:
    value = found.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        message = f"{name} is {value!r}, which is no number of tokens"
        raise TypeError(message)
    return value


def _text(message: object) -> str:
    """Return a message's text; pictures and sounds are named."""
    if isinstance(message, str):
        return message
    parts = (_object(part) for part in _list(message))
    return "\n".join(str(part.get("text") or f"[{part['type']}]") for part in parts)


def _ours(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return _object(_object(value.get("extra") or {}).get(EXTRA) or {})


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        message = f"an object is missing where {value!r:.40} stands"
        raise TypeError(message)
    return value


def _list(value: object) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        message = f"a list is missing where {value!r:.40} stands"
        raise TypeError(message)
    return value


def _no_number(name: str) -> NoReturn:
    message = f"{name} is no measurement"
    raise ValueError(message)
