"""`evalgate hook run`: the pre-push hook; silent and at once where no harness part is touched.

Its way to "nothing to do" imports no click, GitPython, docker, VCR.py or Jinja2, and little else:
on each push of a repository it is paid for.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalgate.core.decision import worst
from evalgate.errors import EvalgateError, ExitCode, InterruptedRunError, from_os_error
from evalgate.repo.pair import Pair
from evalgate.repo.place import Place, find_place
from evalgate.repo.pushed import PushedRef, pair_for_push, pushed_refs
from evalgate.repo.watched import Watch, agree, watch_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls: the project's folder as it was named, and the hook's own file, None if unknown."""

    project: str = "."
    script: Path | None = None


def call_hook(words: Sequence[str]) -> ExitCode | None:
    """Run the hook as its script calls it, without the command line; None for other words."""
    named: dict[str, str] = {}
    rest = list(words)
    while len(rest) > 1 and rest[0] in {"--project", "--script"}:
        named[rest[0]] = rest[1]
        del rest[:2]
    if any(word.startswith("-") for word in rest):
        return None
    script = Path(named["--script"]) if "--script" in named else None
    caller = Caller(project=named.get("--project", "."), script=script)
    return run_hook(Path.cwd(), rest[0] if rest else "", standard_input(), caller)


def standard_input() -> str:
    """Return what is said on standard input, nothing where it is closed, or a terminal."""
    if sys.stdin is None or stat.S_ISCHR(os.fstat(sys.stdin.fileno()).st_mode):
        return ""
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")


def run_hook(directory: Path, remote: str, stdin: str, caller: Caller) -> ExitCode:
    """Judge every pushed ref; the worst of what blocks is the exit code.

    Whatever keeps a ref from being judged is said and lets it through: the check on the
    pull request is the gate, and a hook that fails for its own reasons is switched off.
    ``stdin`` is what git says, empty where nobody says anything.
    """
    remote = remote or os.environ.get("PRE_COMMIT_REMOTE_NAME", "")
    watches: dict[str, Watch | None] = {}
    codes = []
    with _stopping_nobody():
        place = find_place(directory / caller.project)
        for pair, ref in _pairs(place, remote, pushed_refs(place.git, stdin, os.environ)):
            with _stopping_nobody(ref):
                codes.append(_judge(place, watches, pair, ref))
    newest = list(watches.values())
    if caller.script is not None and len(newest) == 1 and newest[0] is not None:
        _renew(caller.script, caller.project, newest[0])
    return worst(codes)


def _pairs(place: Place, remote: str, refs: Sequence[PushedRef]) -> list[tuple[Pair, str]]:
    """Return what is to be compared, each once, with a ref that it is pushed for."""
    found: dict[tuple[str, str | None], tuple[Pair, str]] = {}
    for ref in refs:
        with _stopping_nobody(ref.remote_ref):
            pair = pair_for_push(place.git, ref, remote)
            if pair is not None:
                found.setdefault((pair.head.rev, pair.base), (pair, ref.remote_ref))
    return list(found.values())


def _judge(place: Place, watches: dict[str, Watch | None], pair: Pair, ref: str) -> ExitCode:
    head, base = pair.head.rev, pair.base
    if base is None:
        _say(f"{ref}: all of its history is new there: nothing to compare with")
        return ExitCode.OK
    if head not in watches:
        watches[head] = watch_of(place, head)
    watch = watches[head]
    if watch is not None and agree(place.git, watch, base, head):
        return ExitCode.OK
    # Only now is there work, and all of evalgate is needed.
    from evalgate.commands.hooks.pushed_edit import judge_push  # noqa: PLC0415

    code, said = judge_push(place, ref, pair, base)
    for line in said:
        _say(line)
    return code


def _renew(script: Path, project: str, watch: Watch) -> None:
    """Let the hook's own look at a push know the configuration of now."""
    from evalgate.repo.hook_script import read_script, with_project, write_script  # noqa: PLC0415

    with contextlib.suppress(OSError):
        text = read_script(script)
        renewed = with_project(text, project, watch)
        if renewed != text:
            write_script(script, renewed)


@contextlib.contextmanager
def _stopping_nobody(ref: str = "") -> Iterator[None]:
    """Say what keeps a ref from being judged, and go on; an interruption is none of that."""
    try:
        yield
    except InterruptedRunError:
        raise
    except (EvalgateError, OSError) as trouble:
        error = trouble if isinstance(trouble, EvalgateError) else from_os_error(trouble)
        _say(f"{ref}: not judged: {error.message}".removeprefix(": "))
        if error.hint:
            _say(f"hint: {error.hint}")


def _say(text: str) -> None:
    from evalgate.core.plain import plain  # noqa: PLC0415 - most pushes say nothing

    print(plain(f"evalgate: {text}"), file=sys.stderr, flush=True)
