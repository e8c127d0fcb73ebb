"""The configuration of a project: parsed tables to frozen values, and what is hashed of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evalgate.core.cassettes import CassettesSpec, read_cassettes
from evalgate.core.identity import canonical
from evalgate.core.limits import (
    LEAST_USD,
    MOST_TOKENS,
    MOST_TOOL_CALLS,
    MOST_TURNS,
    MOST_USD,
    Allowance,
)
from evalgate.core.models import ModelSpec, read_models
from evalgate.core.policy import Policy
from evalgate.core.pricing import Price
from evalgate.core.quarantine import read_quarantine
from evalgate.core.sandbox import SandboxSpec, read_sandbox
from evalgate.core.schema import Reader, Source
from evalgate.core.scripted import PART, scripted_among, served_as
from evalgate.core.trial import Evidence
from evalgate.core.tripwires_table import TripwiresSpec, read_tripwires
from evalgate.errors import NoConfigurationError

#: The tables that make the harness; all others may change without a new fingerprint.
HASHED = ("harness", "models", "agent", "sandbox")

#: Where an agent program may run; its tools are in the sandbox in both.
PLACEMENTS = ("sandbox", "host")

_TABLES = (
    *HASHED,
    "suite",
    "policy",
    "limits",
    "budget",
    "hook",
    "report",
    "cassettes",
    "tripwires",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HarnessSpec:
    """Where the harness lies: globs below ``root`` for each named part, and the overlay."""

    root: str
    parts: Mapping[str, tuple[str, ...]]
    overlay: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """The program under test: an adapter's name, or a command template.

    ``answering`` is the template by which it goes on once it was answered.
    """

    use: str = "command"
    command: tuple[str, ...] = ()
    placement: str = "sandbox"
    env: Mapping[str, str] = field(default_factory=dict)
    answering: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything a project says about itself.

    ``limits`` hold for each trial whose task says nothing else, ``budget`` for a whole run.
    ``settings`` is the canonical JSON of the hashed tables as they are written, without
    the harness's root: moving a harness to another directory changes nothing it does.
    """

    source: str
    harness: HarnessSpec
    models: Mapping[str, ModelSpec]
    agent: AgentSpec
    suite: tuple[str, ...]
    trials: int
    sandbox: SandboxSpec
    policy: Policy
    limits: Allowance
    budget: Allowance
    hook_on_stale: str
    template: str
    settings: bytes
    cassettes: CassettesSpec = field(default_factory=CassettesSpec)
    tripwires: TripwiresSpec = field(default_factory=TripwiresSpec)

    @property
    def prices(self) -> dict[str, Price | None]:
        """The price of each model by its id, None where it is unknown."""
        return {model.id: model.price for model in self.models.values()}

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The keys that would say what a model costs, and are not set."""
        models = self.models.values()
        return tuple(f"models.{one.name}.price" for one in models if one.price is None)

    def unplanned(self, served: Iterable[str]) -> tuple[str, ...]:
        """Return the scripted ids among served ones for which no plan is configured.

        Numbers of theirs are none of this harness, which asks a model.
        """
        planned = {served_as(model.id) for model in self.models.values() if model.plan is not None}
        return tuple(one for one in scripted_among(served) if one not in planned)


def load_config(source: Source, *, below: tuple[str, ...]) -> Config | None:
    """Read a configuration; None when the file has no table ``below`` (as pyproject may).

    Raises UsageError naming file, line and key of what is wrong.
    """
    data: Any = source.parse()
    for name in below:
        if not isinstance(data, Mapping) or name not in data:
            return None
        data = data[name]
    return read_config(Reader(data, source, below))


def read_config(top: Reader) -> Config:
    """Read the table that holds all others; UsageError names what is wrong in it."""
    tables = {name: top.table(name) for name in _TABLES}
    top.done()  # a table with a typing error must not look like a missing one
    harness = _harness(tables["harness"])
    models = read_models(top)
    suite, budget = tables["suite"], tables["budget"]
    limits, hook, report = tables["limits"], tables["hook"], tables["report"]
    config = Config(
        source=top.source.name,
        harness=_with_plans(harness, models),
        models=models,
        agent=_agent(tables["agent"]),
        suite=suite.texts("tasks", ["tasks/*"]),
        trials=suite.integer("trials", 5, low=1),
        sandbox=read_sandbox(tables["sandbox"]),
        policy=_policy(tables["policy"]),
        limits=_limits(limits),
        budget=_budget(budget),
        hook_on_stale=hook.choice("on_stale", "warn", ("warn", "block")),
        template=report.text("template", ""),
        settings=b"",
        cassettes=read_cassettes(tables["cassettes"]),
        tripwires=read_tripwires(tables["tripwires"]),
    )
    for reader in (suite, limits, budget, hook, report):
        reader.done()
    return replace(config, settings=_settings(top.raw))


def _settings(tables: Mapping[str, Any]) -> bytes:
    hashed = {name: tables[name] for name in HASHED if name in tables}
    if "harness" in hashed:
        hashed["harness"] = {k: v for k, v in hashed["harness"].items() if k != "root"}
    return canonical(hashed)


def _harness(table: Reader) -> HarnessSpec:
    parts, overlay = table.table("parts"), table.table("overlay")
    spec = HarnessSpec(
        root=table.text("root", "").strip("/"),
        parts={name: parts.texts(name) for name in parts.keys()},  # noqa: SIM118
        overlay={name: overlay.text(name) for name in overlay.keys()},  # noqa: SIM118
    )
    if not spec.parts:
        hint = 'add [harness.parts] with, for example, prompt = ["prompts/**"]'
        raise table.error("names no part", "parts", hint=hint)
    for name, globs in spec.parts.items():
        if not globs:
            raise parts.error("has no glob", name)
    table.done()
    return spec


def _with_plans(harness: HarnessSpec, models: Mapping[str, ModelSpec]) -> HarnessSpec:
    # What a scripted model says makes the outcome: a plan is hashed whether a glob says so or not.
    plans = sorted({model.plan for model in models.values() if model.plan is not None})
    if not plans:
        return harness
    globs = tuple(dict.fromkeys((*harness.parts.get(PART, ()), *plans)))
    return replace(harness, parts={**harness.parts, PART: globs})


def _agent(table: Reader) -> AgentSpec:
    env = table.table("env")
    spec = AgentSpec(
        use=table.text("use", "command"),
        command=table.texts("command", []),
        placement=table.choice("placement", "sandbox", PLACEMENTS),
        answering=table.texts("answering", []),
        env={name: env.text(name) for name in env.keys()},  # noqa: SIM118
    )
    table.done()
    return spec


#: Kinds of evidence that a policy may ask for.
_ASKED = (Evidence.REGRADED, Evidence.SPOT_CHECKED, Evidence.MEASURED)


def _policy(table: Reader) -> Policy:
    default = Policy()
    try:
        policy = Policy(
            margin=table.number("margin", default.margin),
            suite_alpha=table.number("suite_alpha", default.suite_alpha),
            task_alpha=table.number("task_alpha", default.task_alpha),
            max_errored=table.number("max_errored", default.max_errored),
            prove=table.flag("prove", default=default.prove),
            must_pass=tuple(table.texts("must_pass", ())),
            min_pass_rate=table.number("min_pass_rate", default.min_pass_rate),
            failed_run_usd=table.number("failed_run_usd", default.failed_run_usd),
            budgets=_ratios(table.table("budgets")),
            anchor=table.text("anchor", default.anchor),
            anchor_blocks=table.flag("anchor_blocks", default=default.anchor_blocks),
            evidence=Evidence(table.choice("evidence", default.evidence, _ASKED)),
            fork_evidence=Evidence(table.choice("fork_evidence", default.fork_evidence, _ASKED)),
            quarantine=read_quarantine(table.table("quarantine")),
        )
    except ValueError as error:
        raise table.error(str(error)) from error
    table.done()
    return policy


def _ratios(table: Reader) -> dict[str, float]:
    ratios = {name: table.number(name) for name in table.keys()}  # noqa: SIM118
    table.done()
    return ratios


def _limits(table: Reader) -> Allowance:
    """Read what a trial may use where its task says nothing."""
    return Allowance(
        turns=table.some_integer("max_turns", low=1, high=MOST_TURNS),
        tool_calls=table.some_integer("max_tool_calls", high=MOST_TOOL_CALLS),
        tokens=table.some_integer("max_tokens", low=1, high=MOST_TOKENS),
        usd=table.some_number("max_usd", low=LEAST_USD, high=MOST_USD),
    )


def _budget(table: Reader) -> Allowance:
    """Read what all live trials of one run may use together."""
    return Allowance(
        turns=table.some_integer("turns"),
        tool_calls=table.some_integer("tool_calls"),
        tokens=table.some_integer("tokens"),
        usd=table.some_number("usd"),
    )


def require_config(config: Config | None, *, where: str) -> Config:
    """Return the configuration, or say how to make one."""
    if config is None:
        message = f"no evalgate configuration in {where}"
        hint = "evalgate init writes one: evalgate.toml, or [tool.evalgate] in pyproject.toml"
        raise NoConfigurationError(message, hint=hint)
    return config
