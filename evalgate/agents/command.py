"""Any agent program: a command template from the configuration."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from evalgate.core.config import PLACEMENTS
from evalgate.core.dialects import BASE_URLS, KEYS
from evalgate.errors import UsageError
from evalgate.protocols import AgentCall

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
    placements: ClassVar[frozenset[str]] = frozenset(PLACEMENTS)

    def __post_init__(self) -> None:
        """Refuse a template that names nothing or something unknown."""
        if not self.template:
            message = "agent.command: the template is empty"
            hint = 'for example command = ["python3", "{harness_dir}/agent.py"]'
            raise UsageError(message, hint=hint)
        for text in (*self.template, *self.extra.values()):
            for name in _FIELD.findall(text):
                if name not in _FIELDS:
                    message = f"agent.command: unknown field {{{name}}} in {text!r}"
                    raise UsageError(message, hint=f"known fields: {', '.join(_FIELDS)}")

    def argv(self, call: AgentCall) -> Sequence[str]:
        """Fill the template in."""
        values = _fields(call)
        return [_filled(text, values) for text in self.template]

    def environment(self, call: AgentCall) -> Mapping[str, str]:
        """Return base URLs in the usual variables, the models as JSON, and a dummy key."""
        values = _fields(call)
        return {
            "EVALGATE_MODELS": call.models_json,
            **dict.fromkeys(KEYS, DUMMY_KEY),
            **{name: call.base_url + end for name, end in BASE_URLS.items()},
            **{name: _filled(text, values) for name, text in self.extra.items()},
        }


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda match: values[match[1]], text)


def _fields(call: AgentCall) -> dict[str, str]:
    return {name: read(call) for name, read in _FIELDS.items()}
