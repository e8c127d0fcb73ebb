"""`evalgate hook install` and `uninstall`: the pre-push hook as a file, with respect to others'."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import evalgate
from evalgate.core.config import load_config, require_config
from evalgate.core.schema import Source
from evalgate.errors import NoConfigurationError, UsageError
from evalgate.repo.git import Git
from evalgate.repo.hook_managers import hook_line, manager_of
from evalgate.repo.hook_script import (
    PREVIOUS,
    is_ours,
    lines_of,
    projects_in,
    read_script,
    render_script,
    write_script,
)
from evalgate.repo.place import Place, find_place, read_config, table_of
from evalgate.repo.watched import Watch, watch_in


def install(directory: Path, *, chain: bool = False) -> str:
    """Write the pre-push hook, or add this project to it; return what was done and will be.

    A hook of somebody else is left alone. With ``chain`` it is kept beside ours and run first,
    and a hook manager of this repository does not matter.

    Raises:
        UsageError: there is a hook, or a manager of hooks; the hint is what to add to it.
    """
    git = Git.locate(directory)
    place = _place(directory)
    prefix = "." if place is None else place.prefix or "."
    path = _hook_path(git)
    _refuse_shared(git, path, prefix)
    if not chain and (manager := manager_of(git.top)) is not None:
        message = f"{manager.file} says that {manager.name} has this repository's hooks"
        hint = f"add to it:\n{manager.snippet(prefix)}\nor: evalgate hook install --chain"
        raise UsageError(message, hint=hint)
    projects, previous = _there(path), path.with_name(PREVIOUS)
    if projects is None:
        if not chain or os.path.lexists(previous):
            message = f"{path} exists already and is not evalgate's"
            way = f"{previous} is in the way"
            if not chain:
                way = "evalgate hook install --chain keeps it and runs it first"
            raise UsageError(message, hint=f"{way}; or add this line to it: {_line(prefix)}")
        path.rename(previous)
    path.parent.mkdir(parents=True, exist_ok=True)
    watch = None if place is None else _watch(place)
    fresh = {**(projects or {}), prefix: lines_of(prefix, watch)}
    package = str(Path(evalgate.__file__).with_name("__main__.py"))
    text = render_script(sys.executable, package, fresh)
    done = "renewed" if prefix in (projects or {}) else "installed"
    if projects and os.access(path, os.X_OK) and read_script(path) == text:
        done = "already installed:"
    else:
        write_script(path, text)
    first = f"; {previous.name} runs first" if previous.exists() else ""
    return f"{done} {path}{first}: {_promise(place)}"


def _promise(place: Place | None) -> str:
    """Say what the hook will do with a push, and what it will not."""
    if place is None:
        return "no push is judged before there is a configuration (evalgate init writes one)"
    source = Source(place.config_path, read_config(place.git.top / place.config_path))
    below = table_of(place.config_name)
    try:
        config = require_config(load_config(source, below=below), where=place.config_path)
    except UsageError as error:
        return f"no push is judged before this is mended: {error.message}"
    stale = "blocked as well" if config.hook_on_stale == "block" else "let through with a word"
    return (
        "of the pushes that touch a part of the harness a recorded regression is blocked,"
        f" and an edit that nobody measured is {stale} ([hook] on_stale)"
    )


def is_installed(git: Git) -> bool:
    """Tell whether git calls evalgate before a push: its own hook, or a line in another's."""
    manager = manager_of(git.top)
    places = [_hook_path(git), *([git.top / manager.file] if manager is not None else [])]
    return any(path.is_file() and "evalgate" in read_script(path) for path in places)


def uninstall(directory: Path) -> str:
    """Remove this project from the hook, and the hook if it was the only one; return the words."""
    place = _place(directory)
    prefix = "." if place is None else place.prefix or "."
    path = _hook_path(Git.locate(directory))
    projects = _there(path) if os.path.lexists(path) else None
    if projects is None or (projects and prefix not in projects):
        return "no evalgate hook is installed"
    projects.pop(prefix, None)
    if projects:
        package = str(Path(evalgate.__file__).with_name("__main__.py"))
        write_script(path, render_script(sys.executable, package, projects))
        return f"removed {prefix} from {path}"
    path.unlink()
    previous = path.with_name(PREVIOUS)
    if os.path.lexists(previous):
        previous.rename(path)
        return f"removed {path}; the hook that was there before is back"
    return f"removed {path}"


def _there(path: Path) -> dict[str, str] | None:
    """Return the projects of the hook that is there, None if it is somebody else's."""
    if not os.path.lexists(path):
        return {}
    if not path.is_file():  # a link that leads nowhere
        return None
    script = read_script(path)
    return projects_in(script) if is_ours(script) else None


def _place(directory: Path) -> Place | None:
    try:
        return find_place(directory)
    except NoConfigurationError:  # the hook may come first
        return None


def _watch(place: Place) -> Watch | None:
    text = read_config(place.git.top / place.config_path)
    # Where git would store other bytes than these, the hook finds out and mends it.
    oid = place.git.run("hash-object", "--stdin", input=text.encode()).decode().strip()
    return watch_in(place, oid, text)


def _refuse_shared(git: Git, path: Path, prefix: str) -> None:
    """Refuse a folder of hooks that other repositories, or other machines, use as well."""
    told = git.run("config", "--show-scope", "--get", "core.hooksPath", ok=(0, 1)).decode()
    scope = told.partition("\t")[0]
    if not scope:
        return
    if scope in {"global", "system"}:
        message = f"core.hooksPath is set for every repository here ({scope}): nothing was written"
        raise UsageError(message, hint=f"add this line to {path}: {_line(prefix)}")
    if git.run("ls-files", "-z", "--", f":(top,literal){_within(git, path.parent)}"):
        message = f"{path.parent} is committed: nothing was written"
        raise UsageError(message, hint=f"add this line to {path}: {_line(prefix)}")


def _within(git: Git, folder: Path) -> str:
    try:
        return folder.resolve().relative_to(git.top.resolve()).as_posix()
    except ValueError:  # outside the work tree nothing is committed
        return ".git"


def _line(prefix: str) -> str:
    return hook_line(prefix, '"$@"')


def _hook_path(git: Git) -> Path:
    path = git.run("rev-parse", "--git-path", "hooks").decode().removesuffix("\n")
    return git.top / path / "pre-push"
