"""Everything that trials of one harness share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from evalgate.core.faults import FaultPlan
from evalgate.core.files import File, Tree
from evalgate.core.harness import Harness
from evalgate.core.identity import MAIN
from evalgate.core.redaction import Redactor
from evalgate.core.task import CheckSpec, Task
from evalgate.core.tripwires import Tripwire
from evalgate.gateway.format.header import Header
from evalgate.gateway.limits.spending import Spending
from evalgate.gateway.limits.top_up import TopUp
from evalgate.gateway.providers import Upstreams
from evalgate.gateway.server import Gateway
from evalgate.gateway.upstream import Upstream
from evalgate.protocols import Agent, Check, SandboxProvider
from evalgate.runner.control import Controls
from evalgate.sandboxes.fitting import Fit


def _nobody(_: str) -> None:
    """Hear nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Everything trials of one harness share; built once and passed down.

    ``fits`` are all tasks as they are laid out, each with its provider.
    ``provenance`` is what the headers of all recordings say alike.
    ``upstreams`` is empty in a replay or regrade: there is no provider and no key. ``spending``
    is what live trials use together; under ``faults`` no trial is evidence. ``top_up`` bounds
    what a replay may ask of the model, None lets it ask nothing; ``pace`` is how fast recorded
    streams come, 0 at once; ``tripwires`` are looked for in what the agent does. ``series`` tells
    trials apart that only fresh ones may answer for. ``judges`` is where the models of judging
    checks are, by their ids, and empty as ``upstreams`` is. ``told`` hears which stage a trial
    is at.
    """

    harness: Harness
    agent: Agent
    provider: SandboxProvider
    redactor: Redactor
    upstreams: Upstreams
    gateway: Gateway | None
    checks: Mapping[str, tuple[tuple[CheckSpec, Check], ...]]
    fits: Mapping[str, Fit]
    provenance: Header = field(default_factory=Header)
    repositories: dict[str, dict[str, File]] = field(default_factory=dict)
    controls: Controls = field(default_factory=Controls)
    spending: Spending | None = None
    faults: FaultPlan | None = None
    top_up: TopUp | None = None
    pace: float = 0.0
    tripwires: tuple[Tripwire, ...] = ()
    series: str = MAIN
    told: Callable[[str], None] = _nobody
    judges: Mapping[str, Upstream] = field(default_factory=dict)

    @property
    def overlay(self) -> Tree:
        """The files of the harness that are laid into the agent's workspace, where they lie."""
        targets = self.harness.config.harness.overlay
        return {target: self.harness.files[source] for source, target in targets.items()}

    def laid_out(self, task: Task) -> Task:
        """Return a task with the files that its image holds."""
        return self.fits[task.id].task

    def provider_of(self, task: Task) -> SandboxProvider:
        """Return the provider of the sandboxes that a task is worked on in."""
        return self.fits[task.id].provider

    @property
    def images(self) -> Mapping[str, str]:
        """What names the content of all images that trials are made in, by what each is for."""
        providers = [self.provider, *(fit.provider for fit in self.fits.values())]
        return {name: image for one in providers for name, image in one.images.items()}

    def on(self, gateway: Gateway) -> Bench:
        """Return the same bench with a gateway to serve the agent."""
        return replace(self, gateway=gateway)
