"""`evalgate hook install` and `uninstall`: the pre-push hook as a file, with respect to others'."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import evalgate
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
from evalgate.repo.place import Place, find_place, read_config
from evalgate.repo.watched import Watch, watch_in


def install(directory: Path, *, chain: bool = False) -> str:
    """Write the pre-push hook, or add this project to it; return what was done.

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
            way = "--chain keeps it and runs it first" if not chain else f"{previous} is in the way"
            raise UsageError(message, hint=f"{way}; or add this line to it: {_line(prefix)}")
        path.rename(previous)
    path.parent.mkdir(parents=True, exist_ok=True)
    watch = None if place is None else _watch(place)
    projects = {**(projects or {}), prefix: lines_of(prefix, watch)}
    package = str(Path(evalgate.__file__).with_name("__main__.py"))
    write_script(path, render_script(sys.executable, package, projects))
    return f"installed {path}" + (f"; {previous.name} runs first" if previous.exists() else "")


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
