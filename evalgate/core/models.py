"""The models a harness uses: their tables in a configuration, read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalgate.core.dialects import SPOKEN
from evalgate.core.files import is_safe_path
from evalgate.core.json import JsonObject
from evalgate.core.pricing import FREE, Price
from evalgate.core.schema import Reader
from evalgate.core.scripted import SCRIPTED, plan_path

#: The upstream that runs on this machine: it costs nothing, and that is known.
LOCAL_MODEL = "local-model"
#: The providers that are known by name; each has a URL and a variable of its own for its key.
PROVIDERS = ("anthropic", "gemini", "openai", LOCAL_MODEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """One model the harness uses, and where it is served."""

    name: str
    id: str
    upstream: str
    dialect: str = ""
    key_env: str = ""
    parameters: JsonObject = field(default_factory=dict)
    price: Price | None = None

    @property
    def plan(self) -> str | None:
        """The path below the harness's root of the plan that answers, None for a model."""
        return plan_path(self.upstream)

    @property
    def place(self) -> str:
        """Where it is asked, for a person; whose key that takes makes no other model of it."""
        return f"{self.upstream} ({self.dialect})" if self.dialect else self.upstream

    @property
    def served(self) -> tuple[str, str, str]:
        """Where requests for the id go: one id goes to one place."""
        return self.upstream, self.dialect, self.key_env


def read_models(top: Reader) -> dict[str, ModelSpec]:
    """Read ``[models.NAME]`` of a configuration; UsageError when there is none, or a wrong one."""
    models = top.named("models", read_model)
    if not models:
        raise top.error("name at least one model", "models", hint="[models.main] id = …")
    _refuse_two_places(models, top)
    return models


def _refuse_two_places(models: Mapping[str, ModelSpec], top: Reader) -> None:
    # The gateway knows a model by the id in the request, and by nothing else.
    first: dict[str, ModelSpec] = {}
    for model in models.values():
        other = first.setdefault(model.id, model)
        if other.served != model.served:
            problem = f"{model.id!r} is served elsewhere in models.{other.name}"
            hint = "one id goes to one upstream, with one key and one dialect"
            raise top.table("models").table(model.name).error(problem, "id", hint=hint)


def _upstream(table: Reader) -> str:
    upstream = table.text("upstream")
    plan = plan_path(upstream)
    if plan is None:
        return upstream
    hint = f'{SCRIPTED}FILE names a file of the harness, such as "{SCRIPTED}plans/fix.toml"'
    if not is_safe_path(plan):
        raise table.error("the plan must be a path below harness.root", "upstream", hint=hint)
    if any(mark in plan for mark in "*?[]\\"):
        raise table.error("the plan must be one file, not a glob", "upstream", hint=hint)
    return upstream


def read_model(table: Reader) -> ModelSpec:
    """Read the table of one model; its name is the table's."""
    price = table.table("price")
    upstream = _upstream(table)
    here = upstream == LOCAL_MODEL or plan_path(upstream) is not None
    free = FREE if here else None
    spec = ModelSpec(
        name=table.path[-1],
        id=table.text("id"),
        upstream=upstream,
        dialect=table.choice("dialect", "", ("", *SPOKEN)),
        key_env=table.text("key_env", ""),
        parameters=table.json("parameters"),
        price=_price(price) if price.raw else free,
    )
    table.done()
    return spec


def _price(table: Reader) -> Price:
    price = Price(
        input=table.number("input"),
        output=table.number("output"),
        cache_read=table.number("cache_read") if table.has("cache_read") else None,
        cache_write=table.number("cache_write") if table.has("cache_write") else None,
    )
    table.done()
    return price
