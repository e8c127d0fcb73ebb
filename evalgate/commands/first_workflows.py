"""The workflows of GitHub Actions that `evalgate init` writes."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from evalgate import __version__
from evalgate.errors import UsageError
from evalgate.gateway.providers import UPSTREAMS

#: What there is beside the gate on pull requests. All of it takes the action.
BESIDE: Final = ("comment", "live", "drift", "baseline")

_FOLDER: Final = ".github/workflows"
_ACTION: Final = ".github/actions/evalgate"
#: Whose key the workflows that ask a model are written for.
_KEY: Final = UPSTREAMS["anthropic"].key_env
_BRANCH: Final = "branches: [main]"


def named(words: str) -> tuple[str, ...]:
    """Return the workflows that a list names, ``all`` of them or none; UsageError for others."""
    wanted = [word.strip() for word in words.split(",") if word.strip()]
    unknown = [word for word in wanted if word not in (*BESIDE, "all")]
    if unknown:
        message = f"--workflows: there is none called {unknown[0]!r}"
        raise UsageError(message, hint=f"{', '.join(BESIDE)}, or all")
    return BESIDE if "all" in wanted else tuple(one for one in BESIDE if one in wanted)


def workflows(
    beside: Sequence[str], *, prefix: str, branch: str, upstream: str
) -> Iterator[tuple[str, str, bool]]:
    """Yield path from the top of the repository, text, and whether it is a program, of each file.

    With nothing ``beside`` it the gate is one file. ``prefix`` is the project's folder, ``branch``
    the default one, ``upstream`` who serves the model. UsageError for a project below the top that
    wants more than the gate.
    """
    if not beside:
        yield _gate_alone(prefix)
        return
    if prefix:
        message = "--workflows: those beside the gate's are for a project at the repository's top"
        raise UsageError(message, hint="leave the option out; docs/github.md has them to adapt")
    files = resources.files("evalgate.starter") / "github"
    provider = UPSTREAMS.get(upstream)
    key = (provider and provider.key_env) or _KEY
    for name in ("evalgate.yml", *(f"evalgate-{one}.yml" for one in beside)):
        text = _text(files / name).replace(_KEY, key)
        yield f"{_FOLDER}/{name}", text.replace(_BRANCH, f"branches: [{branch}]"), False
    for one in sorted((files / "action").iterdir(), key=lambda one: one.name):
        yield f"{_ACTION}/{one.name}", _text(one), one.name.endswith(".sh")


def _gate_alone(prefix: str) -> tuple[str, str, bool]:
    directory = f" -C '{prefix}'" if prefix else ""
    text = _text(resources.files("evalgate.starter") / "workflow.yml")
    text = text.replace("{version}", __version__).replace("{directory}", directory)
    name = "evalgate.yml" if not prefix else f"evalgate-{prefix.replace('/', '-')}.yml"
    return posixpath.join(_FOLDER, name), text, False


def _text(file: Traversable) -> str:
    return file.read_text(encoding="utf-8")
