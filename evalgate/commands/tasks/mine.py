"""`evalgate task mine`: tasks from the fixes in a repository's own history, each proven."""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from evalgate.commands.answer import Answer
from evalgate.commands.console import Console
from evalgate.commands.making.trials import default_workers
from evalgate.commands.project import Project, State, open_state, subject_of
from evalgate.commands.tasks.fixes import FixReader, UnminableError, fixed_task
from evalgate.commands.tasks.issues import load_issues
from evalgate.commands.tasks.writing import TaskFolders, ignored_files, written
from evalgate.core.commits import Commit, unfit
from evalgate.core.json import Json
from evalgate.core.mined import Fix, name_of_fix, task_folder
from evalgate.core.proof import Proof, Rule
from evalgate.core.rates import counted
from evalgate.errors import InterruptedRunError, NothingRanError, UsageError
from evalgate.repo.commits import read_commits
from evalgate.runner.prove import Prover, prove
from evalgate.runner.stopped import TrialStoppedError
from evalgate.runner.waits import all_of
from evalgate.wiring import prover_for

#: More names of tests than this in a task.toml are no help to anybody.
_MOST_EXPECTED: Final = 60
_FELL: Final = {
    Rule.UNTOUCHED_PASSES: "its tests pass without the fix",
    Rule.NOTHING_PASSES: "its tests pass without the fix",
    Rule.SOLUTION_FAILS: "its tests fail with the fix",
    Rule.FLAKY: "its tests are flaky",
    Rule.NOT_MEASURED: "its tests could not be run",
    Rule.HISTORY: "it gives history away",
    Rule.TESTS_TOLD: "it gives its tests away",
    Rule.ANSWER_TOLD: "it gives the answer away",
}
_UNNAMED: Final = "no test is reported by name"
_SAY_NAMES: Final = (
    "hint: tests count by their names, which pytest tells with -rA and unittest with -v:"
    " --test-command 'python3 -m pytest -rA {tests}'"
)
_MISSING: Final = re.compile(r"No module named '?([\w.]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class MineOptions:
    """What the command line says.

    ``most`` is how many mined tasks there shall be, ``last`` how many commits are looked at;
    ``leave_out`` are globs of files that no snapshot holds.
    """

    span: str = "HEAD"
    most: int = 10
    last: int = 1000
    into: str | None = None
    issues: Path | None = None
    test_command: str = ""
    set_up: Sequence[str] = ()
    leave_out: Sequence[str] = ()
    times: int = 3
    workers: int | None = None
    sandbox: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mined:
    """What became of one candidate: a folder's files, or why there is none."""

    commit: Commit
    name: str
    fix: Fix | None = None
    fell: str = ""
    detail: str = ""


def mine(project: Project, options: MineOptions, console: Console) -> Answer:
    """Write a folder for every fix that is proven, until there are as many as are asked for.

    Nothing that is there is touched; the same command goes on where it stopped.

    Raises:
        NothingRanError: no commit of the range is a candidate.
        UsageError: the range names no commit, or there is nowhere to put tasks.
        NotAvailableError: there is no sandbox to prove them in.
    """
    with open_state(project, subject_of(None)) as state:
        folders = TaskFolders.of(state, options.into)
        commits = list(read_commits(project.git, options.span, most=options.last))
        reasons = [unfit(commit) for commit in commits]
        candidates = [c for c, reason in zip(commits, reasons, strict=True) if reason is None]
        if not candidates:
            looked = counted(len(commits), "commit")
            message = f"none of {looked} fixes something in source files and tests"
            hint = "name another range, or make a task by hand: evalgate task new"
            raise NothingRanError(message, hint=hint)
        there = [c for c in candidates if folders.has(c)]
        open_ = [c for c in candidates if not folders.has(c)]
        console.note(_looked_at(commits, candidates))
        found: list[_Mined] = []
        if not options.dry_run and len(there) < options.most:
            found = _all(state, folders, open_, options.most - len(there), options, console)
        answer = _answer(commits, reasons, candidates, there, found, options)
    kept = any(mined.fix for mined in found)
    return replace(answer, text="\n".join([answer.text, *(folders.notes if kept else ())]))


def _all(
    state: State,
    folders: TaskFolders,
    candidates: Sequence[Commit],
    wanted: int,
    options: MineOptions,
    console: Console,
) -> list[_Mined]:
    sandbox = options.sandbox or state.config.sandbox.use
    prover = prover_for(state.harness, sandbox, os.environ, times=options.times, mutants=0)
    prover = replace(prover, hasty=True)
    reader = FixReader.of(
        state,
        leave_out=options.leave_out,
        issues=load_issues(options.issues) if options.issues else None,
        test_command=options.test_command,
        set_up=options.set_up,
    )
    found: list[_Mined] = []
    kept = 0
    for mined in _proven(prover, reader, candidates, options.workers or default_workers()):
        place = folders.folder / mined.name
        if mined.fix is not None and not written(place, task_folder(mined.fix)):
            mined = replace(mined, fix=None, fell="it was written meanwhile")  # noqa: PLW2901
        found.append(mined)
        if mined.fix is not None:
            kept += 1
            if ignored_files(state.project.git, folders.folder / mined.name):
                forced = f"{folders.name}/{mined.name}"
                console.warn(f"git ignores files of it, which belong to it: git add -f {forced}")
        end = f"kept as {folders.name}/{mined.name}" if mined.fix else f"fell: {mined.fell}"
        more = f" ({mined.detail})" if mined.detail else ""
        console.note(f"{mined.commit.id[:8]} {mined.commit.subject[:60]}: {end}{more}")
        if kept == wanted:
            break
    return found


def _proven(
    prover: Prover, reader: FixReader, candidates: Sequence[Commit], workers: int
) -> Iterator[_Mined]:
    """Yield what became of candidates, in their order; those that nobody waits for are given up."""
    stop = threading.Event()
    with ThreadPoolExecutor(max_workers=workers) as pool:
        waiting: list[Future[_Mined]] = []
        left = iter(candidates)
        try:
            while True:
                for commit in left:
                    waiting.append(pool.submit(_one, prover, reader, commit, stop))
                    if len(waiting) > workers:
                        break
                if not waiting:
                    return
                all_of(waiting[:1])
                yield waiting.pop(0).result()
        except (KeyboardInterrupt, TrialStoppedError) as error:
            message = "interrupted: the folders that were written are whole"
            raise InterruptedRunError(message, hint="the same command goes on") from error
        finally:
            stop.set()
            for future in waiting:
                future.cancel()


def _one(prover: Prover, reader: FixReader, commit: Commit, stop: threading.Event) -> _Mined:
    name = name_of_fix(commit.subject, commit.id)
    try:
        fix = reader.read(commit)
        task = fixed_task(name, fix)
    except UnminableError as error:
        return _Mined(commit=commit, name=name, fell=error.why, detail=error.detail)
    except UsageError as error:
        return _Mined(commit=commit, name=name, fell="no task can be made of it", detail=str(error))
    proof = prove(prover, task, stop)
    if not proof.proven:
        flaw = next(flaw for flaw in proof.flaws if not flaw.advisory)
        fell = _FELL.get(flaw.rule, str(flaw.rule))
        return _Mined(commit=commit, name=name, fell=fell, detail=flaw.said)
    if not proof.passed:
        return _Mined(commit=commit, name=name, fell=_UNNAMED)
    return _Mined(commit=commit, name=name, fix=replace(fix, expected_tests=_expected(proof)))


def _expected(proof: Proof) -> tuple[str, ...]:
    """Return the tests that the fix makes pass, and those that must stay where they are few."""
    before = frozenset[str]().union(*(attempt.passed for attempt in proof.untouched))
    mended = [name for name in proof.passed if name not in before]
    names = proof.passed if len(proof.passed) <= _MOST_EXPECTED else tuple(mended)
    return names[:_MOST_EXPECTED]


def _hints(found: Sequence[_Mined]) -> Iterator[str]:
    """Yield what would keep more of them, where the same thing is missing again and again."""
    if any(mined.fell == _UNNAMED for mined in found):
        yield _SAY_NAMES
    failed = [one for one in found if one.fell == _FELL[Rule.SOLUTION_FAILS]]
    missing = Counter(name for one in failed for name in _MISSING.findall(one.detail))
    for name, count in missing.most_common(3):
        yield (
            f"hint: {count} of them have no module {name}: install it in [sandbox] dockerfile, or"
            f" --setup 'python3 -m pip install {name.partition('.')[0]}' with"
            " sandbox.setup_network = true"
        )
    if len(failed) * 2 > len(found) and not missing:
        yield (
            "hint: most tests fail with their own fix, so the sandbox may lack what they need:"
            " --setup COMMAND, another [sandbox] image, or --test-command"
        )


def _looked_at(commits: Sequence[Commit], candidates: Sequence[Commit]) -> str:
    return f"{counted(len(commits), 'commit')}, {counted(len(candidates), 'candidate')}"


def _answer(
    commits: Sequence[Commit],
    reasons: Sequence[str | None],
    candidates: Sequence[Commit],
    there: Sequence[Commit],
    found: Sequence[_Mined],
    options: MineOptions,
) -> Answer:
    kept = [mined for mined in found if mined.fix is not None]
    fell = Counter(mined.fell for mined in found if mined.fix is None)
    passed_over = Counter(reason for reason in reasons if reason is not None)
    untried = len(candidates) - len(there) - len(found)
    lines = [f"{_looked_at(commits, candidates)}, {counted(len(kept), 'task')} kept"]
    lines += [f"  there already: {len(there)}"] * bool(there)
    lines += [f"  not tried: {untried}"] * bool(untried)
    lines += [f"  fell: {count}: {why}" for why, count in fell.most_common()]
    lines += [f"  no candidate: {count}: {why}" for why, count in passed_over.most_common()]
    lines += [f"kept: {mined.name}" for mined in kept]
    if options.dry_run:
        lines += [f"candidate: {commit.id[:8]} {commit.subject}" for commit in candidates]
    lines += _hints(found)
    if kept:
        lines += ["next: read each instruction.md, then: evalgate task verify && git add tasks"]
    value: dict[str, Json] = {
        "commits": len(commits),
        "candidates": len(candidates),
        "there": len(there),
        "untried": untried,
        "kept": [{"task": mined.name, "commit": mined.commit.id} for mined in kept],
        "fell": dict(fell),
        "fallen": [
            {"commit": mined.commit.id, "why": mined.fell, "detail": mined.detail}
            for mined in found
            if mined.fix is None
        ],
        "no_candidate": dict(passed_over),
    }
    return Answer(text="\n".join(lines), value=value)
