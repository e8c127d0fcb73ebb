"""Recordings made as users make them: through the gateway, from a provider that streams."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.asking import AT_ONCE, Heard, ask_all
from benchmarks.conversations import Conversation, Suite
from benchmarks.processes import Cost, Server, open_module


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Where the cassettes of a suite are, by conversation, and what it cost to make them.

    ``cpu`` is seconds in the gateway's process while it served, ``sealing`` while it wrote.
    """

    files: dict[str, Path]
    heard: Heard
    cpu: float
    sealing: float


@contextmanager
def open_provider(suite: Suite) -> Iterator[str]:
    """Start the provider that a suite is recorded from; return its base URL."""
    with open_module("upstream_process", json.dumps(asdict(suite))) as server:
        yield f"http://127.0.0.1:{server.hear()}"


@contextmanager
def open_gateway_process() -> Iterator[tuple[Server, Cost]]:
    """Start a gateway without routes; return it and what it costs when idle."""
    with open_module("gateway_process") as server:
        server.hear()
        yield server, server.cost()


def order(gateway: Server, verb: str, **arguments: Any) -> dict[str, Any]:
    """Tell a gateway process what to do, and return its answer."""
    answer: dict[str, Any] = json.loads(gateway.tell(json.dumps({"do": verb, **arguments})))
    return answer


def record(suite: Suite, conversations: Sequence[Conversation], folder: Path) -> Recorded:
    """Record a suite into ``folder/TASK/N.json``, as a run with ``--record`` does."""
    files = {
        one.name: folder / f"task-{one.task}" / f"{one.trial + 1}.json" for one in conversations
    }
    with open_provider(suite) as provider, open_gateway_process() as (gateway, idle):
        upstreams = {one.name: f"{provider}/gateway/{one.name}" for one in conversations}
        urls: dict[str, str] = order(gateway, "live", upstreams=upstreams)["urls"]
        # A paced provider keeps its readers waiting: more of them take the same time.
        at_once = 4 * AT_ONCE if suite.paced else AT_ONCE
        heard = ask_all(conversations, lambda one: urls[one.name], at_once=at_once)
        cpu = gateway.cost().cpu - idle.cpu
        sealed = order(gateway, "seal", files={name: str(path) for name, path in files.items()})
    return Recorded(files=files, heard=heard, cpu=cpu, sealing=sealed["cpu"])
