"""What is said before trials are made: in which sandbox, and what is in none."""

from __future__ import annotations

from collections.abc import Sequence

from evalgate.commands.console import Console
from evalgate.core.scripted import WORDS as SCRIPTED_WORDS
from evalgate.gateway.preflight import preflight
from evalgate.runner.bench import Bench
from evalgate.wiring import Kind


def announce(
    bench: Bench, kind: Kind, console: Console, *, recorded_in: Sequence[str] = ()
) -> None:
    """Say in which sandbox trials are made; what is in none is said however quiet."""
    provider = bench.provider
    promises = provider.promises
    if not (promises.hides_host_files and promises.own_network and promises.own_processes):
        console.warn(
            f"sandbox: {provider.name}: NO ISOLATION: agent and tests run as you, "
            "with your files and network"
        )
        if kind.asks_model and not bench.harness.config.sandbox.allows(provider.name):
            console.warn(
                f'no gate counts such trials unless sandbox.use = "{provider.name}" is set'
            )
    else:
        way = "" if kind is Kind.REGRADE else " but the way to the model"
        memory = "" if promises.limits_memory else ", memory without a limit"
        console.note(f"sandbox: {provider.name}, no network{way}{memory}")
    if kind is not Kind.REGRADE and bench.harness.config.agent.placement == "host":
        console.warn(
            "agent: on the host: NOT ISOLATED: it runs as you, with your files and network; "
            "its tools work in the sandbox"
        )
    others = [name for name in recorded_in if name != provider.name]
    if others:
        console.note(f"recorded in {', '.join(others)}: programs there may differ from those here")


def look_ahead(bench: Bench, console: Console) -> None:
    """Say what is scripted, and find out before anything is paid whether the models answer."""
    models = bench.harness.config.models.values()
    for model in models:
        if model.plan is not None:
            console.warn(f"models.{model.name} is scripted by {model.plan}: {SCRIPTED_WORDS}")
    for note in preflight(models, bench.upstreams):
        console.note(note)
