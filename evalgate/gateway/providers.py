"""Where a model is served: the known providers, and what a configuration may say instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalgate.core.config import LOCAL_MODEL, ModelSpec
from evalgate.errors import NotAvailableError, UsageError
from evalgate.gateway.upstream import Upstream

#: The variable in which `evalgate local-model` tells its command where it serves.
LOCAL_MODEL_URL = "EVALGATE_LOCAL_MODEL_URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A known provider: its base URL, and the variable that holds its key."""

    url: str
    key_env: str
    key_header: str


UPSTREAMS: Mapping[str, Provider] = {
    "anthropic": Provider(
        url="https://api.anthropic.com", key_env="ANTHROPIC_API_KEY", key_header="x-api-key"
    ),
    "openai": Provider(
        url="https://api.openai.com", key_env="OPENAI_API_KEY", key_header="authorization"
    ),
    LOCAL_MODEL: Provider(url=f"env:{LOCAL_MODEL_URL}", key_env="", key_header="authorization"),
}


def resolve_upstream(model: ModelSpec, environ: Mapping[str, str]) -> Upstream:
    """Return where a model's requests go and with which key.

    Raises UsageError for an unknown upstream or a missing key, NotAvailableError when the
    variable that names a URL is not set.
    """
    known = UPSTREAMS.get(model.upstream)
    url = known.url if known else model.upstream
    key_env = model.key_env or (known.key_env if known else "")
    header = known.key_header if known else _header(model)
    if url.startswith("env:"):
        url = _from_environment(model, url.removeprefix("env:"), environ)
    if not url.startswith(("http://", "https://")):
        message = f"models.{model.name}.upstream: unknown upstream {model.upstream!r}"
        hint = f"one of {', '.join(UPSTREAMS)}, a URL, or env:NAME"
        raise UsageError(message, hint=hint)
    if key_env and not environ.get(key_env):
        message = f"models.{model.name}: the variable {key_env} holds no key"
        raise UsageError(message, hint=f"export {key_env}, or replay: it needs none")
    return Upstream(
        url=url.rstrip("/").removesuffix("/v1"),
        key=environ[key_env] if key_env else None,
        key_header=header,
    )


def _header(model: ModelSpec) -> str:
    return "x-api-key" if model.dialect == "anthropic" else "authorization"


def _from_environment(model: ModelSpec, name: str, environ: Mapping[str, str]) -> str:
    if name in environ:
        return environ[name]
    message = f"models.{model.name}: the variable {name} is not set"
    hint = f"set {name} to the model's base URL"
    if name == LOCAL_MODEL_URL:
        hint = "evalgate local-model -- evalgate run …"
    raise NotAvailableError(message, hint=hint)
