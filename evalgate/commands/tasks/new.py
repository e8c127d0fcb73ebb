"""`evalgate task new`: a failure becomes a task that stays, with where it comes from."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from evalgate.commands.answer import Answer
from evalgate.commands.project import Project, State, open_state, subject_of
from evalgate.commands.tasks.again import task_again
from evalgate.commands.tasks.fixes import FixReader, UnminableError
from evalgate.commands.tasks.writing import (
    NewFolder,
    TaskFolders,
    ignored_files,
    require_free,
    write_folder,
)
from evalgate.core.commits import is_test_file
from evalgate.core.files import File, Tree
from evalgate.core.identity import folded
from evalgate.core.json import Json
from evalgate.core.mined import Fix, name_of_fix, task_folder
from evalgate.core.plain import readable
from evalgate.core.redaction import Redactor
from evalgate.core.transcripts import first_request
from evalgate.disk import read_at_most
from evalgate.errors import UsageError
from evalgate.gateway.providers import secrets_of
from evalgate.repo.commits import one_commit
from evalgate.tasks.harbor import load_harbor_task

#: The most that is read of a transcript or an instruction, in bytes.
_MOST: Final = 64 << 20
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
#: Asks a person; None where nobody can be asked.
Ask = Callable[[str], str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOptions:
    """What the command line says: one source, and what is to be taken in place of its own words.

    ``tests`` are files of hidden tests; ``at`` is the revision that the task begins with, and
    ``fix`` the commit that mends it, where the source says neither.
    """

    commit: str = ""
    run: str = ""
    transcript: Path | None = None
    name: str = ""
    instruction: str = ""
    tests: Sequence[Path] = ()
    at: str = ""
    fix: str = ""
    test_command: str = ""
    set_up: Sequence[str] = ()
    leave_out: Sequence[str] = ()
    into: str | None = None


def new_task(project: Project, options: NewOptions, ask: Ask) -> Answer:
    """Write a task; what is missing is asked for, or named with its flag.

    Raises:
        UsageError: something is missing and nobody can be asked, or there is such a folder.
    """
    sources = [options.commit, options.run, options.transcript]
    if sum(map(bool, sources)) != 1:
        message = "say what the task is made of: one commit, run or transcript"
        hint = "--from-commit SHA, --from-run RUN:TASK or --from-transcript FILE"
        raise UsageError(message, hint=hint)
    odd = next((name for name in ("at", "fix") if getattr(options, name)), "")
    if odd and options.transcript is None:
        message = f"--{odd} is for --from-transcript: a commit or run says where its task begins"
        raise UsageError(message, hint=f"leave --{odd} out")
    with open_state(project, subject_of(None)) as state:
        folders = TaskFolders.of(state, options.into)
        if options.run:
            tests = _tests(state, options.tests)
            folder = task_again(
                state, options.run, _words(options.instruction), tests, ask, name=options.name
            )
        else:
            folder = _from_history(state, options, ask)
        ids = {folded(one.id): one.path for one in state.folders}
    name = options.name or folder.name
    if not _NAME.fullmatch(name):
        raise UsageError(f"--name {name!r}: not a name of a folder", hint="use words and dashes")
    task = load_harbor_task(f"{folders.name}/{name}", folder.files)
    require_free(folders.folder / name)
    if folded(task.id) in ids:
        message = f"{ids[folded(task.id)]} is the task {task.id!r} already"
        raise UsageError(message, hint="give the new one another --name")
    write_folder(folders.folder / name, folder.files)
    place = f"{folders.name}/{name}"
    lines = [f"wrote {place}", f"next: evalgate task verify {task.id}"]
    if ignored_files(project.git, folders.folder / name):
        lines.insert(1, f"note: git ignores files of it, which belong to it: git add -f {place}")
    if not task.solution:
        lines.insert(1, "note: it has no solution yet, so it can not be proven: write solve.sh")
    lines += folders.notes
    value: dict[str, Json] = {"task": task.id, "folder": place, "origin": dict(folder.origin)}
    return Answer(text="\n".join(lines), value=value)


def _from_history(state: State, options: NewOptions, ask: Ask) -> NewFolder:
    reader = FixReader.of(
        state,
        leave_out=options.leave_out,
        test_command=options.test_command,
        set_up=options.set_up,
    )
    tests = _tests(state, options.tests) if options.tests else None
    try:
        if options.commit:
            return _from_commit(state, reader, options, tests, ask)
        return _from_transcript(state, reader, options, tests, ask)
    except UnminableError as error:
        raise UsageError(f"no task can be made of it: {error}") from error


def _from_commit(
    state: State, reader: FixReader, options: NewOptions, tests: Tree | None, ask: Ask
) -> NewFolder:
    commit = one_commit(state.project.git, options.commit)
    if not commit.parent:
        raise UsageError(f"{options.commit}: it has no parent, so there is no state before it")
    if tests is None and not commit.test_files:
        tests = _asked_tests(state, ask, f"{commit.id[:12]} touches no tests")
    instruction = _words(options.instruction)
    try:
        fix = reader.read(commit, instruction=instruction, tests=tests)
    except UnminableError as error:
        instruction = needed(ask, f"{error}", "What is wrong, in your own words?", "--instruction")
        fix = reader.read(commit, instruction=_words(instruction), tests=tests)
    if not fix.sources and not fix.deleted:
        raise UsageError(f"{options.commit}: it touches no source file, so it mends nothing")
    fix = replace(fix, tags=("regression",))
    return NewFolder(
        name=name_of_fix(commit.subject, commit.id), files=task_folder(fix), origin=fix.origin
    )


def _from_transcript(
    state: State, reader: FixReader, options: NewOptions, tests: Tree | None, ask: Ask
) -> NewFolder:
    path = options.transcript or Path()
    data = _read(path, "--from-transcript")
    redactor = Redactor(secrets_of(state.config.models.values(), os.environ))
    said = _words(options.instruction)
    said = said or _line(readable(redactor.text(first_request(data, str(path)))))
    if not said:
        reason = f"{path} holds no words of a user"
        said = _words(needed(ask, reason, "What should the agent do?", "--instruction"))
    if tests is None:
        tests = _asked_tests(state, ask, "a transcript has no tests")
    git = state.project.git
    at = options.at or (f"{options.fix}^" if options.fix else "HEAD")
    start = git.resolve(at)
    before = reader.files_of(start)
    if options.fix:
        fix = reader.fix_of(one_commit(git, options.fix), before, tests)
    else:
        names = tuple(sorted(filter(is_test_file, tests)))
        fix = Fix(instruction="", before=before, sources={}, tests=tests, test_files=names)
        fix = replace(fix, test_command=options.test_command, set_up=tuple(options.set_up))
    digest = hashlib.sha256(data).hexdigest()
    origin = {"transcript": path.name, "sha256": digest, "at": start}
    origin |= {"commit": git.resolve(options.fix)} if options.fix else {}
    fix = replace(fix, instruction=said, origin=origin, tags=("regression",))
    return NewFolder(name=name_of_fix(path.stem, digest), files=task_folder(fix), origin=origin)


def _tests(state: State, paths: Sequence[Path]) -> dict[str, File]:
    """Read files of tests; one outside the repository is laid into ``tests/``."""
    top, found = state.project.git.top.resolve(), {}
    for path in paths:
        place = path.resolve()
        inside = place.is_relative_to(top)
        name = place.relative_to(top).as_posix() if inside else f"tests/{place.name}"
        if not is_test_file(name):
            message = f"--test {path}: not a file of tests"
            raise UsageError(message, hint="call it test_….py, as pytest and unittest find it")
        found[name] = File(data=place.read_bytes())
    return found


def _asked_tests(state: State, ask: Ask, reason: str) -> dict[str, File]:
    path = needed(ask, reason, "A file of tests that fail until it is mended?", "--test")
    return _tests(state, [Path(path).expanduser()])


def needed(ask: Ask, reason: str, question: str, flag: str) -> str:
    """Ask for what is missing; UsageError naming the flag where nobody can be asked."""
    answer = ask(f"{reason}. {question}").strip() if ask is not None else ""
    if not answer:
        raise UsageError(reason, hint=f"give it with {flag}")
    return answer


def _words(text: str) -> str:
    """Return an instruction as a file holds it; one that begins with @ is a file's name."""
    if text.startswith("@"):
        text = _read(Path(text[1:]), "--instruction").decode("utf-8", "replace")
    return _line(readable(text))


def _line(text: str) -> str:
    return f"{text}\n" if text else ""


def _read(path: Path, option: str) -> bytes:
    """Read a file that somebody names, if it is one and not too large."""
    if not path.is_file():
        raise UsageError(f"{option} {path}: there is no such file", hint="name a file")
    data = read_at_most(path, _MOST)
    if data is None:
        raise UsageError(f"{option} {path}: is larger than {_MOST >> 20} MiB", hint="name another")
    return data
