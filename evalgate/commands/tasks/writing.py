"""Task folders on disk: where they go, what is there, and a new one written whole or not at all."""

from __future__ import annotations

import os
import posixpath
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from evalgate.commands.project import State
from evalgate.core.commits import Commit
from evalgate.core.files import FileMode, Tree, is_safe_path, shadowed
from evalgate.core.mined import name_of_fix
from evalgate.disk import open_passing_folder, passing_folders
from evalgate.errors import UsageError, from_os_error
from evalgate.repo.git import Git


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFolders:
    """The folder of task folders; ``made_of`` are the commits that tasks there come from.

    ``in_suite`` is whether the suite takes what is written there.
    """

    folder: Path
    name: str
    made_of: frozenset[str] = frozenset()
    in_suite: bool = True

    @classmethod
    def of(cls, state: State, into: str | None) -> TaskFolders:
        """Return the one that is named, or that of the suite.

        Raises:
            UsageError: the suite's globs are not those of one folder, or what is named is none
                that tasks of the project can lie in.
        """
        globs = [glob.rstrip("/") for glob in state.config.suite]
        name = _placed(state, into) if into else ""
        name = name or next((g[:-2] for g in globs if g.endswith("/*") and "*" not in g[:-2]), "")
        if not name:
            message = f"suite.tasks = {globs} names no one folder that tasks go to"
            raise UsageError(message, hint="name it: --into tasks")
        folder = state.project.root / name
        texts = [p.read_text("utf-8", "replace") for p in sorted(folder.glob("*/task.toml"))]
        made_of = {
            line.partition('"')[2].partition('"')[0]
            for text in texts
            for line in text.splitlines()
            if line.startswith("commit = ")
        }
        in_suite = name in {glob.rpartition("/")[0] for glob in globs}
        return cls(folder=folder, name=name, made_of=frozenset(made_of), in_suite=in_suite)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what keeps tasks that are written there from being measured, if anything does."""
        if self.in_suite:
            return ()
        return (f'note: the suite does not take {self.name}: add "{self.name}/*" to suite.tasks',)

    def has(self, commit: Commit) -> bool:
        """Tell whether a task of that commit is there, or a folder of its name."""
        named = self.folder / name_of_fix(commit.subject, commit.id)
        return commit.id in self.made_of or named.exists()


def _placed(state: State, into: str) -> str:
    """Return the path of a folder below the project's root, as its tasks are called by it."""
    root = state.project.root
    path = posixpath.normpath(posixpath.join(root, posixpath.expanduser(into)))
    name, hint = posixpath.relpath(path, root), "name a folder of the project, as in --into tasks"
    real, top = Path(path).resolve(), root.resolve()
    own = (state.project.state, state.project.git.top / ".git")
    if name == "." or not is_safe_path(name) or not name.isprintable():
        raise UsageError(f"--into {into!r}: no folder below {root}", hint=hint)
    if not real.is_relative_to(top) or any(real.is_relative_to(one.resolve()) for one in own):
        raise UsageError(f"--into {into}: leads to {real}, where no tasks are kept", hint=hint)
    for task in state.folders:
        if f"{name}/".startswith(f"{task.path}/"):
            raise UsageError(f"--into {into}: {task.path} is a task itself", hint=hint)
    file = next((one for one in (Path(path), *Path(path).parents) if one.is_file()), None)
    if file is not None:
        raise UsageError(f"--into {into}: {file} is a file", hint=hint)
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFolder:
    """A folder that is to be written: its name, its files, and where the task comes from."""

    name: str
    files: Tree
    origin: Mapping[str, str]


def write_folder(place: Path, files: Tree) -> None:
    """Write a folder that is not there yet, as `write_folders` does."""
    write_folders({place: files})


def write_folders(wanted: Mapping[Path, Tree]) -> None:
    """Write folders that are not there yet: all of them or, interrupted or in want of room, none.

    A folder is whole when it has its name; until then git, and so every suite, passes it over. What
    a killed command left of others is removed.

    Raises:
        UsageError: something of that name is there, a file would lie outside of its folder or in
            another file, or the system does not take a name.
    """
    for place, files in wanted.items():
        require_free(place)
        for path in files:
            if not is_safe_path(path):
                raise UsageError(
                    f"{place}: {path!r} leaves the folder", hint="name a relative path"
                )
        if problem := shadowed(files):
            raise UsageError(f"{place}: {problem}", hint="a name is a file or a folder")
    named: list[Path] = []
    with ExitStack() as stack:
        asides = {
            parent: stack.enter_context(_aside(parent))
            for parent in dict.fromkeys(place.parent for place in wanted)
        }
        for place, files in wanted.items():
            _lay(asides[place.parent] / place.name, place, files)
        try:
            for place in wanted:
                named.append(place)
                _name(asides[place.parent] / place.name, place)
        except BaseException:
            for place in named:
                if not (asides[place.parent] / place.name).exists():
                    shutil.rmtree(place, ignore_errors=True)
            raise


@contextmanager
def _aside(parent: Path) -> Iterator[Path]:
    """Make a folder beside those that are to come, which git ignores."""
    parent.mkdir(parents=True, exist_ok=True)
    for left in passing_folders(parent):
        shutil.rmtree(left, ignore_errors=True)
    with open_passing_folder("tasks", parent) as aside:
        (aside / ".gitignore").write_text("*\n", encoding="utf-8")
        yield aside


def holds(place: Path, files: Tree) -> bool:
    """Tell whether a folder holds these files and no others."""
    if place.is_symlink() or not place.is_dir():
        return False
    there = [path for path in place.rglob("*") if path.is_symlink() or not path.is_dir()]
    held = {
        path.relative_to(place).as_posix(): os.fsencode(path.readlink())
        if path.is_symlink()
        else path.read_bytes()
        for path in there
    }
    return held == {path: file.data for path, file in files.items()}


def written(place: Path, files: Tree) -> bool:
    """Write a folder; False where something has its name, however many do so at once."""
    try:
        write_folders({place: files})
    except _TakenError:
        return False
    return True


def _name(whole: Path, place: Path) -> None:
    require_free(place)
    try:
        whole.rename(place)
    except OSError:
        require_free(place)  # another command was faster
        raise


def _lay(folder: Path, place: Path, files: Tree) -> None:
    """Lay files into a folder; errors name the place that it will have."""
    for path, file in files.items():
        target = folder / os.fsencode(path).decode("utf-8", "surrogateescape")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.mode is FileMode.SYMLINK:
                target.symlink_to(os.fsdecode(file.data))
            else:
                target.write_bytes(file.data)
                target.chmod(0o755 if file.mode is FileMode.EXECUTABLE else 0o644)
        except OSError as error:
            raise from_os_error(
                OSError(error.errno, error.strerror, os.fspath(place / path))
            ) from error
    folder.chmod(0o755)


def require_free(place: Path) -> None:
    """Refuse a place where something is; UsageError naming it."""
    if place.exists() or place.is_symlink():
        raise _TakenError(f"{place} is there already", hint="name another folder, or remove it")


class _TakenError(UsageError):
    """Something has the name that a new folder is to have."""


def ignored_files(git: Git, folder: Path) -> tuple[str, ...]:
    """Return the files of a folder that git ignores: a snapshot holds what its project forced in.

    They have to be forced in here as well, or the task is another one in every clone.
    """
    words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard")
    out = git.run(*words, "--", f":(top,literal){folder.resolve().relative_to(git.top.resolve())}")
    return tuple(filter(None, out.decode("utf-8", "surrogateescape").split("\0")))
