"""Every adapter: its name in the configuration -> how it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evalgate.agents.command import CommandAgent
from evalgate.core.config import AgentSpec
from evalgate.errors import UsageError
from evalgate.protocols import Agent

AGENTS: Mapping[str, Callable[[AgentSpec], Agent]] = {
    "command": lambda spec: CommandAgent(spec.command, spec.env, answering=spec.answering),
}


def build_agent(
    spec: AgentSpec, agents: Mapping[str, Callable[[AgentSpec], Agent]] = AGENTS
) -> Agent:
    """Build the adapter the configuration names.

    Raises:
        UsageError: there is none of that name, or it can not work where it is placed.
    """
    if spec.use not in agents:
        message = f"agent.use: unknown adapter {spec.use!r}"
        raise UsageError(message, hint=f"known adapters: {', '.join(sorted(agents))}")
    agent = agents[spec.use](spec)
    if spec.placement not in agent.placements:
        message = (
            f"agent.placement: {spec.use!r} can not be placed in {spec.placement!r}: "
            "its own tools work where it does, and can not be led into a sandbox"
        )
        raise UsageError(message, hint=f'placement = "{min(agent.placements)}"')
    return agent
