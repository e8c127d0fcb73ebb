"""What a harness is made of, as pathspecs: git alone can tell that two commits agree in it.

The one use of this is to be done fast where nothing is to be judged. So it answers yes only
where that is certain, and leaves all else to the fingerprint.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalgate.core.scripted import plan_path
from evalgate.errors import UsageError
from evalgate.repo.git import Git
from evalgate.repo.pathspecs import literal, to_pathspecs
from evalgate.repo.place import Place, table_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What must not differ: the configuration, a path with its object, and the ``pathspecs``."""

    config: str
    oid: str
    pathspecs: tuple[str, ...]


def watch_of(place: Place, head: str) -> Watch | None:
    """Return what makes the harness of a commit, None where it can not be told so simply."""
    path = place.config_path
    if "\n" in path:
        return None
    name = f"{head}:{path}\n".encode("utf-8", "surrogateescape")
    told, _, blob = place.git.run("cat-file", "--batch", input=name).partition(b"\n")
    oid, _, kind = told.decode("utf-8", "surrogateescape").partition(" ")
    if not kind.startswith("blob "):
        return None
    try:
        return watch_in(place, oid, blob.removesuffix(b"\n").decode())
    except UnicodeDecodeError:
        return None


def watch_in(place: Place, oid: str, text: str) -> Watch | None:
    """Return what a configuration's text makes the harness of, a scripted model's plan as well.

    None for a file that is wrong.
    """
    try:
        table: Any = tomllib.loads(text)
        for name in table_of(place.config_name):
            table = table[name]
        harness, models = table["harness"], table["models"]
        root = f"{place.prefix}/{harness.get('root', '').strip('/')}".strip("/")
        globs = [glob for globs in harness["parts"].values() for glob in _texts(globs)]
        globs += filter(None, (plan_path(model["upstream"]) for model in models.values()))
        pathspecs = to_pathspecs(globs, root=root)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, UsageError):
        return None
    if not globs:
        return None
    # Another file of ours in the same folder may take the place of this one.
    folder = f"{place.prefix}/" if place.prefix else ""
    ours = dict.fromkeys((place.config_path, f"{folder}evalgate.toml"))
    return Watch(config=place.config_path, oid=oid, pathspecs=(*map(literal, ours), *pathspecs))


def agree(git: Git, watch: Watch, base: str, head: str) -> bool:
    """Tell whether ``base`` has the very harness of ``head``, of which the watch is."""
    quiet = ("--no-renames", "--name-only", "-z")
    return not git.compare_trees(*quiet, base, head, "--", *watch.pathspecs)


def _texts(globs: Any) -> list[str]:
    if isinstance(globs, Mapping | str) or not all(isinstance(one, str) for one in globs):
        raise TypeError
    return list(globs)
