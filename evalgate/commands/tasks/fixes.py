"""A fix read from history: the state before it, its sources, its tests, and what it is told as."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evalgate.commands.project import State
from evalgate.core.commits import Commit, Kind, is_test_file
from evalgate.core.files import Tree
from evalgate.core.giveaways import hidden_tests, new_lines
from evalgate.core.mined import Fix, steering, task_folder
from evalgate.core.new_names import names_in_new_lines, new_names
from evalgate.core.plain import shortened
from evalgate.core.retelling import retold
from evalgate.core.task import Task
from evalgate.repo.git import Git
from evalgate.repo.subject import Subject, SubjectKind
from evalgate.repo.treeview import SUBMODULE, open_tree
from evalgate.sandboxes.taking import MAX_BYTES, MAX_FILES
from evalgate.tasks.harbor import load_harbor_task

_LFS = b"version https://git-lfs.github.com/spec/"


class UnminableError(Exception):
    """No task can be made of a fix: why, in words that many share, and what is its own."""

    def __init__(self, why: str, detail: str = "") -> None:
        super().__init__(f"{why} ({detail})" if detail else why)
        self.why = why
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class FixReader:
    """Reads fixes of one repository; ``leave_out`` are globs of what no snapshot holds.

    ``issues`` are texts of issues by their numbers, told in place of a commit's message.
    """

    git: Git
    leave_out: Sequence[str]
    issues: Mapping[str, str] = field(default_factory=dict)
    test_command: str = ""
    set_up: Sequence[str] = ()
    set_up_network: bool = False

    @classmethod
    def of(
        cls,
        state: State,
        *,
        leave_out: Sequence[str] = (),
        issues: Mapping[str, str] | None = None,
        test_command: str = "",
        set_up: Sequence[str] = (),
    ) -> FixReader:
        """Return the reader of a project: its tasks and what is measured lie in no snapshot."""
        own = [*(f"{glob.rstrip('/')}/*" for glob in state.config.suite), "baselines/*"]
        own += [".evalgate/*", f"{state.shelf.name}/*", "evalgate.toml"]
        return cls(
            git=state.project.git,
            leave_out=(*map(state.project.within, own), *leave_out),
            issues=issues or {},
            test_command=test_command,
            set_up=tuple(set_up),
            set_up_network=bool(set_up) and state.config.sandbox.setup_network,
        )

    def read(self, commit: Commit, *, instruction: str = "", tests: Tree | None = None) -> Fix:
        """Return the fix that a commit is.

        ``instruction`` is taken in place of its message, and ``tests`` in place of its own.

        Raises:
            UnminableError: there is no task in it.
        """
        before = self.files_of(commit.parent)
        fix = self.fix_of(commit, before, tests)
        return replace(fix, instruction=instruction) if instruction else self._told(commit, fix)

    def fix_of(self, commit: Commit, before: Tree, tests: Tree | None = None) -> Fix:
        """Return what a commit does to the files of some state, without an instruction."""
        names = commit.test_files if tests is None else tuple(sorted(filter(is_test_file, tests)))
        changed = set(commit.changed)
        sources = sorted(changed.intersection(commit.of_kind(Kind.SOURCE)))
        own = changed.intersection(commit.of_kind(Kind.TEST)) if tests is None else ()
        after = self._read(commit.id, [*sources, *own, *steering(names)])
        return Fix(
            instruction="",
            before=before,
            sources={path: after[path] for path in sources if path in after},
            deleted=tuple(set(commit.deleted).intersection(commit.of_kind(Kind.SOURCE), before)),
            tests={**{p: file for p, file in after.items() if p not in sources}, **(tests or {})},
            test_files=names,
            test_command=self.test_command,
            set_up=self.set_up,
            set_up_network=self.set_up_network,
            origin={"commit": commit.id, "subject": shortened(commit.subject, 200)},
        )

    def files_of(self, rev: str) -> Tree:
        """Return all files of a commit but those that are left out.

        Raises:
            UnminableError: there are too many, or some are not in the repository.
        """
        with open_tree(self.git, Subject(kind=SubjectKind.REVISION, rev=rev)) as view:
            entries = [
                entry
                for entry in view.entries(["**"])
                if not any(fnmatch.fnmatchcase(entry.path, glob) for glob in self.leave_out)
            ]
            for entry in entries:
                if entry.mode == SUBMODULE:
                    hint = f"{entry.path}: --leave-out '{entry.path}'"
                    raise UnminableError("it has a submodule", hint)
            if len(entries) > MAX_FILES:
                raise UnminableError("its files are too many", f"{len(entries)}: --leave-out GLOB")
            files = view.read(entries)
        for path, file in files.items():
            if file.data.startswith(_LFS):
                raise UnminableError("it has files in Git LFS", path)
        size = sum(len(file.data) for file in files.values())
        if size > MAX_BYTES:
            detail = f"{size / (1 << 20):.0f} MB: --leave-out GLOB"
            raise UnminableError("its files are too large", detail)
        return files

    def _read(self, rev: str, paths: Sequence[str]) -> Tree:
        with open_tree(self.git, Subject(kind=SubjectKind.REVISION, rev=rev)) as view:
            return view.read(paths)

    def _told(self, commit: Commit, fix: Fix) -> Fix:
        names = new_names(fix.before, fix.sources)
        needed = names_in_new_lines(names, fix.before, fix.tests)
        if needed:
            why = "its tests need names that only the fix has"
            raise UnminableError(why, ", ".join(sorted(needed)[:3]))
        lines = [line for _, line in new_lines(fix.before, fix.after)]
        for said in (*self._issues_of(commit), commit.message):
            text = retold(said, new_names=names, solution=lines, tests=_new_tests(fix))
            if text:
                return replace(fix, instruction=text)
        raise UnminableError("its message says too little without the solution")

    def _issues_of(self, commit: Commit) -> Iterator[str]:
        return (self.issues[number] for number in commit.issues if number in self.issues)


def _new_tests(fix: Fix) -> frozenset[str]:
    fresh = hidden_tests(fix.tests) - hidden_tests(fix.before)
    files = {path.rpartition("/")[2] for path in fix.tests if path not in fix.before}
    return fresh | files


def fixed_task(name: str, fix: Fix) -> Task:
    """Return the task that a fix makes, as it is read from its folder."""
    return load_harbor_task(f"tasks/{name}", task_folder(fix))
