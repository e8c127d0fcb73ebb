"""A project: a git repository, where its configuration lies, and its states as values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.commands.shelf import Shelf, shelf_of
from evalgate.core.config import Config, load_config, require_config
from evalgate.core.files import Tree
from evalgate.core.harness import Harness
from evalgate.core.limits import Allowance
from evalgate.core.schema import Source
from evalgate.core.task import Task
from evalgate.errors import NoConfigurationError, UsageError
from evalgate.repo.base import Looked
from evalgate.repo.fingerprint import Fingerprint, fingerprint
from evalgate.repo.git import Git
from evalgate.repo.pathspecs import to_pathspecs
from evalgate.repo.place import find_place, read_config, table_of
from evalgate.repo.subject import Subject, SubjectKind
from evalgate.repo.treeview import TreeView, open_tree
from evalgate.tasks.own_checks import code_places
from evalgate.tasks.suite import Folder, load_suite, read_folders, select

if TYPE_CHECKING:
    from evalgate.core.baseline import Baseline

#: What runs the gate on GitHub, as globs from the top of the repository.
WORKFLOWS = (".github/workflows/**", ".github/actions/**")

WORKTREE = Subject(kind=SubjectKind.WORKTREE)


def subject_of(rev: str | None) -> Subject:
    """Return the state a command works on: the work tree unless a revision is named."""
    return WORKTREE if rev is None else Subject.parse(rev)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A git repository and the directory in it (``prefix``) that evalgate is told about."""

    git: Git
    prefix: str
    config_name: str

    @property
    def root(self) -> Path:
        """The project's directory on disk."""
        return self.git.top / self.prefix

    @property
    def state(self) -> Path:
        """The git-ignored directory for runs."""
        return self.root / ".evalgate"

    def shelf(self, config: Config) -> Shelf:
        """Return where a configuration says that recordings lie."""
        path, top = config.cassettes.path, self.git.top
        return shelf_of(path, root=self.root, top=top, source=config.source)

    def within(self, path: str) -> str:
        """Return a path of the project as a path of the repository."""
        return f"{self.prefix}/{path}".strip("/") if path else self.prefix


def open_project(directory: Path, config: str | None = None) -> Project:
    """Find repository and configuration from a directory upwards."""
    place = find_place(directory, config)
    return Project(git=place.git, prefix=place.prefix, config_name=place.config_name)


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """One state of a project: a revision, the index or the work tree; read once, when asked."""

    project: Project
    view: TreeView
    config: Config

    @property
    def shelf(self) -> Shelf:
        """Where this state says that recordings lie."""
        return self.project.shelf(self.config)

    @property
    def harness_root(self) -> str:
        """The harness's directory as a path of the repository."""
        return self.project.within(self.config.harness.root)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """Return the harness's name in this state."""
        harness = self.config.harness
        return fingerprint(
            self.view,
            parts=harness.parts,
            root=self.harness_root,
            settings=self.config.settings,
        )

    @cached_property
    def harness(self) -> Harness:
        """Return the harness with its files, as it is laid out for a trial."""
        print_ = self.fingerprint
        start = f"{self.harness_root}/" if self.harness_root else ""
        members = {
            part: tuple(entry.path for entry in entries) for part, entries in print_.entries.items()
        }
        names = sorted({name for paths in members.values() for name in paths})
        files = self.view.read([start + name for name in names])
        harness = Harness(
            label=self.view.label,
            config=self.config,
            fingerprint=print_.digest,
            parts=print_.parts,
            members=members,
            files={path.removeprefix(start): file for path, file in files.items()},
        )
        for source in self.config.harness.overlay:
            if source not in harness.files:
                message = f"{self.config.source}: harness.overlay: {source!r} is in no part"
                raise UsageError(message, hint="list it under [harness.parts], so it is hashed")
        self._require_dockerfile(harness)
        self.require_apart(self.task_paths)
        return harness

    @cached_property
    def task_paths(self) -> frozenset[str]:
        """The files of all tasks, as paths of the repository."""
        return frozenset(map(self.project.within, self._files_of_tasks))

    def require_apart(self, suite: frozenset[str]) -> None:
        """Refuse parts that hold files of tasks: an agent would read what it is graded by.

        Raises:
            UsageError: one does, and which.
        """
        start = f"{self.harness_root}/" if self.harness_root else ""
        for part, entries in self.fingerprint.entries.items():
            taken = sorted({start + entry.path for entry in entries} & suite)
            if taken:
                message = (
                    f"{self.config.source}: harness.parts.{part}: takes {taken[0]!r} of a task"
                )
                hint = "name folders apart from the suite: an agent must not read its solutions"
                raise UsageError(message, hint=hint)

    def _require_dockerfile(self, harness: Harness) -> None:
        """Refuse an image that is made of anything but parts: it would change with no notice."""
        sandbox = self.config.sandbox
        if not sandbox.dockerfile:
            return
        path = f"{self.harness_root}/{sandbox.dockerfile}".lstrip("/")
        if not self.view.read([path]):
            message = f"{self.config.source}: sandbox.dockerfile: {self.view.label} has no {path!r}"
            raise UsageError(message, hint="write it, or name the one there is")
        wanted = {sandbox.dockerfile}
        if sandbox.context:
            listed = self.view.entries([f"{sandbox.context}**"], root=self.harness_root)
            wanted |= {entry.path for entry in listed}
        for path in sorted(wanted.difference(harness.files), key=sandbox.dockerfile.__ne__):
            message = f"{self.config.source}: sandbox.dockerfile: {path!r} is in no part"
            glob = f"{sandbox.context}**" if sandbox.context else sandbox.dockerfile
            raise UsageError(message, hint=f'add to [harness.parts]: sandbox = ["{glob}"]')

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """Return the suite."""
        return self.tasks_under(self.config.limits)

    def tasks_under(self, limits: Allowance) -> tuple[Task, ...]:
        """Return the suite as it would be under other limits of the project."""
        return load_suite(self._files_of_tasks, limits)

    def selected(self, patterns: Sequence[str]) -> tuple[Task, ...]:
        """Return the tasks that globs of ids, or of tags after ``tag:``, name; all without one.

        A task that can not be read stands in the way of those alone that name it.
        """
        return select(load_suite(self._files_of_tasks, self.config.limits, only=patterns), patterns)

    @cached_property
    def folders(self) -> tuple[Folder, ...]:
        """Return every folder of a task, also those that can not be read."""
        return read_folders(self._files_of_tasks, self.config.limits)

    @cached_property
    def _files_of_tasks(self) -> Tree:
        return self.task_files({})

    def task_files(self, more: Tree) -> Tree:
        """Return the files of all tasks, as if some more were there; and their own checks' code."""
        within = self.project.within
        entries = self.view.entries([within(glob) for glob in _suite_globs(self.config)])
        start = f"{self.project.prefix}/" if self.project.prefix else ""
        files = self.view.read(entries)
        found = {**{path.removeprefix(start): file for path, file in files.items()}, **more}
        for place in code_places(found):  # beside the tasks, where no glob of the suite looks
            package = self.view.read_prefix(within(place))
            found |= {f"{place}/{path}": file for path, file in package.items()}
            for file in self.view.read([within(f"{place}.py")]).values():
                found[f"{place}.py"] = file
        return found

    def baselines(self, fingerprint: str | None = None) -> tuple[Baseline, ...]:
        """Return the committed baselines, those of one harness if named."""
        from evalgate.store.baselines import FOLDER, load_baselines  # noqa: PLC0415 - not for the hook

        files = self.view.read_prefix(self.project.within(FOLDER))
        return load_baselines(files, fingerprint=fingerprint)


@contextmanager
def open_state(project: Project, subject: Subject) -> Iterator[State]:
    """Open one state of the project; what is read of the work tree is what evalgate needs."""
    name = project.within(project.config_name)
    paths: tuple[str, ...] = ()
    if subject.kind is SubjectKind.WORKTREE:
        paths = looked_at(project).paths
    with open_tree(project.git, subject, paths=paths) as view:
        text = view.read_text(name)
        if text is None:
            message = f"{name} does not exist in {view.label}"
            hint = "commit the configuration, or name a revision that has it"
            raise NoConfigurationError(message, hint=hint)
        yield State(project=project, view=view, config=_config(project, text, view.label))


def _config(project: Project, text: str, where: str) -> Config:
    source = Source(project.within(project.config_name), text)
    below = table_of(project.config_name)
    return require_config(load_config(source, below=below), where=where)


def _suite_globs(config: Config) -> list[str]:
    """Return globs of all files of tasks: those of folders, and files that are tasks."""
    suite = config.suite
    return [glob if glob.endswith(".json") else f"{glob.rstrip('/')}/**" for glob in suite]


def _code_globs(config: Config) -> list[str]:
    """Return globs of all code that tasks may name: it lies beside their folders.

    Beside a folder at the top that is Python alone, and not all there is.
    """
    parents = {glob.rstrip("/").rpartition("/")[0] for glob in config.suite}
    return sorted(f"{parent}/**" if parent else "**/*.py" for parent in parents)


def looked_at(project: Project) -> Looked:
    """Return what of the work tree is looked at, by the configuration that stands there."""
    text = read_config(project.root / project.config_name)
    config = _config(project, text, "the work tree")
    parts = [glob for globs in config.harness.parts.values() for glob in globs]
    image = config.sandbox
    parts += [f"{image.context}**"] if image.context else []
    ours = [*_suite_globs(config), *_code_globs(config), project.config_name]
    ours += [config.template] if config.template else []
    shelf = project.shelf(config).within
    recordings = () if shelf is None else to_pathspecs(["**"], root=shelf)
    return Looked(
        judged=(
            *to_pathspecs(parts, root=project.within(config.harness.root)),
            *to_pathspecs(ours, root=project.prefix),
            *to_pathspecs(WORKFLOWS),
        ),
        evidence=(*recordings, *to_pathspecs(["baselines/**"], root=project.prefix)),
    )
