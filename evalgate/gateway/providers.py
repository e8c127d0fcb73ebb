"""Where models are served: the known providers, and what a configuration may say instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from evalgate.core.files import FileMode, Tree
from evalgate.core.models import LOCAL_MODEL, ModelSpec
from evalgate.core.redaction import known_secrets
from evalgate.core.schema import Source
from evalgate.core.scripted import SCRIPTED
from evalgate.errors import NotAvailableError, UsageError
from evalgate.gateway.dialects.anthropic import Anthropic
from evalgate.gateway.dialects.dialect import BEARER
from evalgate.gateway.dialects.openai_chat import OpenAiChat
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.scripted.plan import Plan, load_plan
from evalgate.gateway.scripted.server import at_task, open_scripted
from evalgate.gateway.upstream import Upstream

#: The variable in which `evalgate local-model` tells its command where it serves.
LOCAL_MODEL_URL = "EVALGATE_LOCAL_MODEL_URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A known provider: its base URL, the variable that holds its key, and its only dialect.

    ``dialect`` is empty where several are spoken; ``asked_by`` is the one of evalgate's own
    questions there.
    """

    url: str
    key_env: str
    key_header: str
    dialect: str = ""
    asked_by: str = OpenAiChat.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstreams:
    """Where each model is served: model id -> upstream.

    ``scripted`` are the ids that a plan answers for; it must be told the task.
    """

    by_model: Mapping[str, Upstream] = field(default_factory=dict)
    scripted: frozenset[str] = frozenset()

    def for_task(self, task: str) -> dict[str, Upstream]:
        """Return where the models are for the trials of one task."""
        return {
            model: replace(up, url=at_task(up.url, task)) if model in self.scripted else up
            for model, up in self.by_model.items()
        }


UPSTREAMS: Mapping[str, Provider] = {
    "anthropic": Provider(
        url="https://api.anthropic.com",
        key_env="ANTHROPIC_API_KEY",
        key_header="x-api-key",
        asked_by=Anthropic.name,
    ),
    "gemini": Provider(
        url="https://generativelanguage.googleapis.com",
        key_env="GEMINI_API_KEY",
        key_header="x-goog-api-key",
        dialect="gemini",
    ),
    "openai": Provider(url="https://api.openai.com", key_env="OPENAI_API_KEY", key_header=BEARER),
    LOCAL_MODEL: Provider(url=f"env:{LOCAL_MODEL_URL}", key_env="", key_header=BEARER),
}

#: What clients put after a base URL, so that a configured one may end with it or not.
_VERSIONS: Final = frozenset(dialect.version for dialect in DIALECTS.values())


@contextmanager
def open_upstreams(
    models: Iterable[ModelSpec], files: Tree, tasks: Sequence[str], environ: Mapping[str, str]
) -> Iterator[Upstreams]:
    """Resolve every model, and serve the plans among them while the context is open.

    ``files`` is the harness, in which the plans lie; ``tasks`` are the ids they must answer.
    Raises what `resolve_upstream` does, and UsageError for a plan that is wrong.
    """
    every = list(models)
    plans = {m.id: _plan(m, m.plan, files, tasks) for m in every if m.plan is not None}
    by_model = {m.id: resolve_upstream(m, environ) for m in every if m.plan is None}
    if not plans:
        yield Upstreams(by_model=by_model)
        return
    with open_scripted(plans) as url:
        for model in every:
            if model.plan is not None:
                by_model[model.id] = Upstream(url=url, dialects=dialects_of(model))
        yield Upstreams(by_model=by_model, scripted=frozenset(plans))


def resolve_upstream(model: ModelSpec, environ: Mapping[str, str]) -> Upstream:
    """Return where a model's requests go and with which key.

    Raises UsageError for an unknown upstream or a missing key, NotAvailableError when the
    variable that names a URL is not set.
    """
    known = UPSTREAMS.get(model.upstream)
    url = known.url if known else model.upstream
    key_env = key_variable(model)
    header = known.key_header if known else _key_header(model.dialect)
    if url.startswith("env:"):
        url = _from_environment(model, url.removeprefix("env:"), environ)
    if not url.startswith(("http://", "https://")):
        message = f"models.{model.name}.upstream: unknown upstream {model.upstream!r}"
        hint = f"one of {', '.join(UPSTREAMS)}, a URL, env:NAME, or {SCRIPTED}FILE"
        raise UsageError(message, hint=hint)
    if key_env and not environ.get(key_env):
        message = f"models.{model.name}: the variable {key_env} holds no key"
        raise UsageError(message, hint=f"export {key_env}, or replay: it needs none")
    url = url.rstrip("/")
    version = next(filter(url.endswith, _VERSIONS), "")
    return Upstream(
        url=url.removesuffix(version),
        dialects=dialects_of(model),
        key=environ[key_env] if key_env else None,
        key_header=header,
    )


def _key_header(dialect: str) -> str:
    """Return the header that carries a key at a URL."""
    return DIALECTS[dialect].key_header if dialect else BEARER


def key_variable(model: ModelSpec) -> str:
    """Return the name of the variable that holds a model's key, empty when it needs none."""
    known = UPSTREAMS.get(model.upstream)
    return model.key_env or (known.key_env if known else "")


def secrets_of(models: Iterable[ModelSpec], environ: Mapping[str, str]) -> dict[str, str]:
    """Return all values that must be stored nowhere, by the names of their variables.

    The keys of models are among them whatever they are called and however they look. A name
    tells the same key on every machine.
    """
    named = {name: environ.get(name, "") for name in map(key_variable, models) if name}
    return {**known_secrets(environ), **{name: key for name, key in named.items() if key}}


def dialects_of(model: ModelSpec) -> frozenset[str] | None:
    """Return the dialects in which a model may be asked, None for any."""
    known = UPSTREAMS.get(model.upstream)
    dialect = model.dialect or (known.dialect if known else "")
    return frozenset({dialect}) if dialect else None


def asked_by(model: ModelSpec) -> str:
    """Return the dialect in which evalgate itself asks a model."""
    known = UPSTREAMS.get(model.upstream)
    return model.dialect or (known.dialect or known.asked_by if known else OpenAiChat.name)


def _plan(model: ModelSpec, path: str, files: Tree, tasks: Sequence[str]) -> Plan:
    place = f"models.{model.name}.upstream"
    file = files.get(path)
    if file is None or file.mode is FileMode.SYMLINK:
        message = f"{place}: {path} is no file of the harness"
        raise UsageError(message, hint="commit the plan, below harness.root, as a file")
    try:
        text = file.data.decode()
    except UnicodeDecodeError as error:
        message = f"{path}: {error.reason} at byte {error.start}"
        raise UsageError(message, hint="write the plan in UTF-8") from error
    plan = load_plan(Source(path, text))
    without = sorted(task for task in tasks if not plan.covers(task))
    if without:
        message = f"{path}: plans nothing for {', '.join(without)}"
        raise UsageError(message, hint='add [[task]] with that id, or with id = "*" for any')
    return plan


def _from_environment(model: ModelSpec, name: str, environ: Mapping[str, str]) -> str:
    if name in environ:
        return environ[name]
    message = f"models.{model.name}: the variable {name} is not set"
    hint = f"set {name} to the model's base URL"
    if name == LOCAL_MODEL_URL:
        hint = "evalgate local-model -- evalgate run …"
    raise NotAvailableError(message, hint=hint)
