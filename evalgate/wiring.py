"""The only place that knows every implementation: builds what a run is made of."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from evalgate.agents.table import build_agent
from evalgate.checks.judge import judges_in
from evalgate.checks.table import build_checks
from evalgate.core.harness import Harness
from evalgate.core.redaction import Redactor
from evalgate.core.task import Task
from evalgate.core.tripwires import Tripwire
from evalgate.errors import NotAvailableError
from evalgate.gateway.format.header import Header
from evalgate.gateway.keys.own_rules import require_sound
from evalgate.gateway.providers import Upstreams, open_upstreams, resolve_upstream, secrets_of
from evalgate.gateway.server import open_gateway
from evalgate.protocols import SandboxProvider
from evalgate.runner.bench import Bench
from evalgate.runner.prove import Prover
from evalgate.sandboxes.container import containers_of
from evalgate.sandboxes.fitting import fit
from evalgate.sandboxes.leftovers import remove_leftovers
from evalgate.sandboxes.table import resolve

_log = logging.getLogger(__name__)


class Kind(StrEnum):
    """The ways to get trials."""

    RUN = "run"
    REPLAY = "replay"
    REGRADE = "regrade"
    TOP_UP = "top-up"
    CONFIRM = "confirm"

    @property
    def asks_model(self) -> bool:
        """Tell whether a model may be asked, so that keys and upstreams are needed."""
        return self in {Kind.RUN, Kind.TOP_UP, Kind.CONFIRM}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a run is made of: the harness, the tasks, how trials come about and where.

    ``provenance`` is what the headers of all recordings say alike; ``recorded_in`` are the
    sandboxes that the recordings to be played were made in; ``tripwires`` are looked for in
    place of the harness's own, by who judges it.
    """

    kind: Kind
    harness: Harness
    tasks: Sequence[Task]
    sandbox: str
    provenance: Header = field(default_factory=Header)
    recorded_in: Sequence[str] = ()
    tripwires: Sequence[Tripwire] | None = None


def provider_for(setup: Setup) -> SandboxProvider:
    """Return the sandbox provider.

    A replay or regrade falls back on what works here, and with ``auto`` takes what the
    recordings were made in, if it can, and says why; what is measured anew is isolated unless
    the configuration says otherwise.
    """
    live = setup.kind.asks_model
    recorded = () if live else setup.recorded_in
    containers = containers_of(setup.harness.config.sandbox, setup.harness.files)
    try:
        return resolve(setup.sandbox, isolated=live, recorded=recorded, containers=containers)
    except NotAvailableError as error:
        if live:
            raise
        _log.warning("another sandbox is taken: %s", error.message)
        return resolve("auto", recorded=recorded, containers=containers)


@contextmanager
def open_bench(setup: Setup, environ: Mapping[str, str]) -> Iterator[Bench]:
    """Build everything; only a live run has upstreams and the keys they need.

    A regrade opens no gateway: there is no agent to serve. UsageError for a scrub rule or a
    tripwire of the project's own that can not be run by.
    """
    remove_leftovers()  # of an evalgate that was killed
    harness = setup.harness
    wires = harness.config.tripwires.wires if setup.tripwires is None else setup.tripwires
    require_sound([*harness.config.cassettes.scrubs, *wires])
    live = setup.kind.asks_model
    served = harness.judges if live else None
    checks = {task.id: build_checks(task, served) for task in setup.tasks}
    judges = judges_in(check for many in checks.values() for _, check in many)
    redactor = Redactor(secrets_of([*harness.config.models.values(), *judges], environ))
    agent = build_agent(harness.config.agent)
    network = harness.config.sandbox.setup_network
    with ExitStack() as stack:
        upstreams = Upstreams()
        if live:
            tasks = [task.id for task in setup.tasks]
            models = harness.config.models.values()
            opening = open_upstreams(models, harness.files, tasks, environ)
            upstreams = stack.enter_context(opening)
        provider = provider_for(setup)  # after what only reads: it may make an image
        bench = Bench(
            harness=harness,
            agent=agent,
            provider=provider,
            fits={task.id: fit(provider, task, setup_network=network) for task in setup.tasks},
            redactor=redactor,
            upstreams=upstreams,
            gateway=None,
            checks=checks,
            provenance=setup.provenance,
            tripwires=tuple(wires),
            judges={one.id: resolve_upstream(one, environ) for one in judges} if live else {},
        )
        if setup.kind is not Kind.REGRADE:
            bench = bench.on(stack.enter_context(open_gateway(redactor=redactor)))
        yield bench


def prover_for(
    harness: Harness, sandbox: str, environ: Mapping[str, str], *, times: int, mutants: int
) -> Prover:
    """Return what tasks are proven by, in the sandbox that the configuration or a person names."""
    remove_leftovers()  # of an evalgate that was killed
    spec = harness.config.sandbox
    # Code of the past is run: as isolated as any trial, unless a person says otherwise.
    provider = resolve(sandbox, isolated=True, containers=containers_of(spec, harness.files))
    return Prover(
        provider=provider,
        redactor=Redactor(secrets_of(harness.config.models.values(), environ)),
        setup_network=spec.setup_network,
        times=times,
        mutants=mutants,
    )
