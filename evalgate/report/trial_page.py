"""What one trial's page shows: the trajectory step by step, its logs, its wire."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from evalgate.core.json import Json, JsonObject
from evalgate.core.rates import counted
from evalgate.core.trajectory import Step, ToolCall, Trajectory
from evalgate.report.share import Share

#: One text among many of a trial, such as the output of a tool, is cut here in a page.
_TEXT = 40_000
#: A log is cut here.
_LOG = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPage:
    """One trial, as the files of its run tell it; what there is no file of is empty.

    ``log`` is the agent's, ``grading`` that of the grade stage, ``divergence`` says why a replay
    left its recording; ``sandbox_calls`` is what an agent on the host asked for, ``wire`` the
    exchanges, a JSON object each. ``lacking`` says what could not be read.
    """

    trajectory: Trajectory = field(default_factory=Trajectory)
    log: str = ""
    grading: str = ""
    divergence: str = ""
    sandbox_calls: tuple[JsonObject, ...] = ()
    wire: tuple[JsonObject, ...] = ()
    lacking: tuple[str, ...] = ()

    def cut(self, share: Share) -> TrialPage:
        """Return the page within a share: the trajectory comes first, the wire last."""
        if share.left is None:
            return self
        opening = self.trajectory.opening
        trajectory = replace(
            self.trajectory,
            opening=replace(
                opening,
                system=share.take(opening.system, _TEXT),
                prompt=share.take(opening.prompt, _TEXT),
                tools=(),
            ),
            steps=tuple(_cut_step(step, share) for step in self.trajectory.steps),
        )
        wire: list[JsonObject] = []
        log, grading = share.take(self.log, _LOG), share.take(self.grading, _LOG)
        for one in self.wire:
            if share.left <= 0:
                break
            cut = _cut_value(one, share)
            wire.append(cut if isinstance(cut, dict) else {})
        left_out = len(self.wire) - len(wire)
        lacking = (f"{counted(left_out, 'exchange')} are left out here",) if left_out else ()
        return replace(
            self,
            trajectory=trajectory,
            log=log,
            grading=grading,
            divergence=share.take(self.divergence, _TEXT),
            wire=tuple(wire),
            lacking=(*self.lacking, *lacking),
        )

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        opening = self.trajectory.opening
        return {
            "system": opening.system,
            "prompt": opening.prompt,
            "steps": [_step(step) for step in self.trajectory.steps],
            "log": self.log,
            "grading": self.grading,
            "divergence": self.divergence,
            "sandbox_calls": [*self.sandbox_calls],
            "wire": [*self.wire],
            "lacking": list(self.lacking),
        }


def _step(step: Step) -> dict[str, Json]:
    return {
        "text": step.text,
        "reasoning": step.reasoning,
        "calls": [_call(call) for call in step.calls],
        "model": step.model,
        "conversation": step.conversation,
        "began": step.began,
        "seconds": step.seconds,
        "input_tokens": step.usage.input_tokens,
        "output_tokens": step.usage.output_tokens,
    }


def _call(call: ToolCall) -> dict[str, Json]:
    return {
        "name": call.name,
        "input": call.input,
        "output": call.output,
        "ok": call.ok,
        "seconds": call.seconds,
    }


def _cut_step(step: Step, share: Share) -> Step:
    return replace(
        step,
        text=share.take(step.text, _TEXT),
        reasoning=share.take(step.reasoning, _TEXT),
        calls=tuple(
            replace(
                call,
                input=_cut_input(call.input, share),
                output=None if call.output is None else share.take(call.output, _TEXT),
            )
            for call in step.calls
        ),
    )


def _cut_input(value: Json, share: Share) -> Json:
    # What is short stays an object; a file that is written may be very long.
    if isinstance(value, Mapping):
        return {name: _cut_value(inner, share) for name, inner in value.items()}
    return _cut_value(value, share)


def _cut_value(value: Json, share: Share) -> Json:
    """Return a value of JSON with its long texts cut; a deep or long one becomes cut text."""
    if isinstance(value, str):
        return share.take(value, _TEXT)
    if isinstance(value, Mapping | list):
        text = json.dumps(value, ensure_ascii=False)
        if share.left is not None and len(text) <= min(share.left, _TEXT):
            share.left -= len(text)
            return value
        if isinstance(value, Mapping):
            return {name: _cut_value(inner, share) for name, inner in value.items()}
        return share.take(text, _TEXT)
    return value
