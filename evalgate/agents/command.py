"""Any agent program: a command template from the configuration."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from evalgate.core.config import PLACEMENTS
from evalgate.core.dialects import BASE_URLS, KEYS
from evalgate.errors import UsageError
from evalgate.protocols import AgentCall

_REPLY = "reply"
# What a run printed is told once it has ended: a pipe could outlive it.
_TALK = """
said=$1
sh -c "$2" >"$said" </dev/null; code=$?; cat "$said"
shift 2
while [ "$code" = 0 ] && [ "$#" -ge 2 ] && grep -Eq -e "$1" "$said"; do
  sh -c "$2" >"$said" </dev/null; code=$?; cat "$said"
  shift 2
done
exit "$code"
"""
_FIELD = re.compile(r"\{([a-z_]+)\}")

_FIELDS: Mapping[str, Callable[[AgentCall], str]] = {
    "base_url": lambda call: call.base_url,
    "harness_dir": lambda call: call.places.harness,
    "instruction": lambda call: call.instruction,
    "instruction_file": lambda call: f"{call.places.inbox}/instruction.md",
    "max_turns": lambda call: str(call.max_turns),
    "model": lambda call: call.model,
    "repo_dir": lambda call: call.places.repo,
}

#: What a program that insists on a key gets; the gateway puts the real one in on the way out.
DUMMY_KEY = "evalgate-gateway-holds-the-key"


@dataclass(frozen=True, slots=True)
class CommandAgent:
    """A command template; ``{harness_dir}`` and its like are filled in for each trial."""

    template: Sequence[str]
    extra: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    answering: Sequence[str] = ()
    placements: ClassVar[frozenset[str]] = frozenset(PLACEMENTS)

    def __post_init__(self) -> None:
        """Refuse a template that names nothing or something unknown."""
        if not self.template:
            message = "agent.command: the template is empty"
            hint = 'for example command = ["python3", "{harness_dir}/agent.py"]'
            raise UsageError(message, hint=hint)
        _require_known((*self.template, *self.extra.values()), _FIELDS, "command")
        _require_known(self.answering, (*_FIELDS, _REPLY), "answering")
        if self.answering and not any(f"{{{_REPLY}}}" in text for text in self.answering):
            message = "agent.answering: without {reply} the agent is told nothing"
            hint = 'for example answering = ["claude", "-p", "--continue", "{reply}"]'
            raise UsageError(message, hint=hint)

    def argv(self, call: AgentCall) -> Sequence[str]:
        """Fill the template in; with replies, the agent is started again for each that it asks for.

        A reply is given when the run before ended well and printed what the reply waits for.
        """
        values = _fields(call)
        first = [_filled(text, values) for text in self.template]
        if not (call.replies and self.answering):
            return first
        runs = [
            shlex.join(_filled(text, {**values, _REPLY: one.reply}) for text in self.answering)
            for one in call.replies
        ]
        waits = [one.when for one in call.replies]
        said = f"{call.places.tmp}/said"
        pairs = [word for pair in zip(waits, runs, strict=True) for word in pair]
        return ["/bin/sh", "-c", _TALK, "agent", said, shlex.join(first), *pairs]

    def environment(self, call: AgentCall) -> Mapping[str, str]:
        """Return base URLs in the usual variables, the models as JSON, and a dummy key."""
        values = _fields(call)
        return {
            "EVALGATE_MODELS": call.models_json,
            **dict.fromkeys(KEYS, DUMMY_KEY),
            **{name: call.base_url + end for name, end in BASE_URLS.items()},
            **{name: _filled(text, values) for name, text in self.extra.items()},
        }


def _require_known(texts: Iterable[str], known: Collection[str], key: str) -> None:
    for text in texts:
        for name in _FIELD.findall(text):
            if name not in known:
                message = f"agent.{key}: unknown field {{{name}}} in {text!r}"
                raise UsageError(message, hint=f"known fields: {', '.join(known)}")


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda match: values[match[1]], text)


def _fields(call: AgentCall) -> dict[str, str]:
    return {name: read(call) for name, read in _FIELDS.items()}
