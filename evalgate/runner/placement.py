"""Where the agent works: in the sandbox, or on the host with its tools in the sandbox."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import fields

from evalgate.core.task import Task
from evalgate.protocols import Places, Sandbox
from evalgate.runner.bench import Bench
from evalgate.sandboxes.hosted import open_hosted


@contextlib.contextmanager
def open_placed(bench: Bench, task: Task) -> Iterator[tuple[Sandbox, dict[str, str]]]:
    """Open what the agent of a bench works on a task in.

    Beside it come the paths that are this run's own, under the labels they are keyed by: a
    recording is played where they are others.
    """
    provider = bench.provider_of(task)
    if bench.harness.config.agent.placement == "host":
        with open_hosted(provider, bench.overlay) as hosted:
            yield hosted, {**_labelled(hosted.places), **hosted.further}
    else:
        with provider.open_sandbox() as sandbox:
            yield sandbox, _labelled(sandbox.places)


def _labelled(places: Places) -> dict[str, str]:
    return {field.name.upper(): getattr(places, field.name) for field in fields(places)}
