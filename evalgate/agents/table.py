"""Every adapter: its name in the configuration -> how it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evalgate.agents.command import CommandAgent
from evalgate.core.config import AgentSpec
from evalgate.errors import UsageError
from evalgate.protocols import Agent

AGENTS: Mapping[str, Callable[[AgentSpec], Agent]] = {
    "command": lambda spec: CommandAgent(spec.command, spec.env),
}


def build_agent(spec: AgentSpec) -> Agent:
    """Build the adapter the configuration names."""
    if spec.use not in AGENTS:
        message = f"agent.use: unknown adapter {spec.use!r}"
        raise UsageError(message, hint=f"known adapters: {', '.join(sorted(AGENTS))}")
    return AGENTS[spec.use](spec)
