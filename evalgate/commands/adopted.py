"""`evalgate init` where a configuration is there already: what it can still do, and what not."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from evalgate.commands.starting import Wishes
from evalgate.core.config import Config, load_config
from evalgate.core.schema import Source
from evalgate.errors import UsageError
from evalgate.repo.place import table_of


def config_there(root: Path, configured: str) -> Config | None:
    """Return the configuration, None where it is wrong: each other command says what is."""
    text = (root / configured).read_text(encoding="utf-8", errors="replace")
    try:
        return load_config(Source(configured, text), below=table_of(configured))
    except UsageError:
        return None


def require_heard(root: Path, configured: str, wishes: Wishes, *, pyproject: bool) -> None:
    """Refuse options that would change what is there; those that it says already may be given.

    Raises:
        UsageError: one would be ignored, and which.
    """
    config = config_there(root, configured)
    unheard = [*_unheard(config, wishes)]
    if pyproject and configured != "pyproject.toml":
        unheard.append("--pyproject")
    if not unheard:
        return
    message = f"{configured} is there already, and does not say: {', '.join(unheard)}"
    hint = (
        f"edit {configured}, of which nothing is changed here; to begin anew, remove it and run"
        " this again; without these options what is missing beside it is added"
    )
    raise UsageError(message, hint=hint)


def _unheard(config: Config | None, wishes: Wishes) -> Iterator[str]:
    models = () if config is None else tuple(config.models.values())
    if wishes.agent:
        yield f"--agent {wishes.agent}"
    if wishes.command and (config is None or shlex.join(config.agent.command) != wishes.command):
        yield "--command"
    if wishes.model and wishes.model not in {model.id for model in models}:
        yield f"--model {wishes.model}"
    if wishes.upstream and wishes.upstream not in {model.upstream for model in models}:
        yield f"--upstream {wishes.upstream}"
    if wishes.image and (config is None or not config.sandbox.dockerfile):
        yield "--image"
