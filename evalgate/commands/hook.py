"""`evalgate hook`: the pre-push hook; silent and at once where no harness part is touched.

Its way to "nothing to do" imports no click, GitPython, docker, VCR.py or Jinja2.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from evalgate.commands.project import Project, open_project, open_state
from evalgate.core.decision import worst
from evalgate.core.plain import plain
from evalgate.errors import (
    EvalgateError,
    ExitCode,
    InterruptedRunError,
    NoConfigurationError,
    UsageError,
)
from evalgate.repo.git import Git
from evalgate.repo.pair import Pair
from evalgate.repo.pushed import PushedRef, pair_for_push, parse_pre_push
from evalgate.repo.subject import Subject

_MARK = "# evalgate pre-push hook"

_SCRIPT = """#!/bin/sh
{mark}: judges pushes that touch the agent's harness
python={python}
if [ ! -x "$python" ]; then
  echo "evalgate: $python is gone: this push is not judged; evalgate hook install" >&2
  exit 0
fi
exec "$python" -P -m evalgate hook run --project {prefix} "$@"
"""

#: Decisions that stop a push whatever the project says.
_BLOCKING = (ExitCode.REGRESSION, ExitCode.VOID)


def install(directory: Path) -> str:
    """Write the pre-push hook; a hook of somebody else is left alone."""
    path = _hook_path(Git.locate(directory))
    if path.exists() and not _is_ours(path):
        message = f"{path} exists already and is not evalgate's"
        hint = f'add this line to it: "{sys.executable}" -P -m evalgate hook run "$@"'
        raise UsageError(message, hint=hint)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Git runs hooks at the top of the repository; the project may lie in a folder below.
    prefix = _quoted(_prefix(directory))
    script = _SCRIPT.format(mark=_MARK, python=_quoted(sys.executable), prefix=prefix)
    path.write_text(script, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return f"installed {path}"


def uninstall(directory: Path) -> str:
    """Remove the hook if it is evalgate's."""
    path = _hook_path(Git.locate(directory))
    if not path.exists() or not _is_ours(path):
        return "no evalgate hook is installed"
    path.unlink()
    return f"removed {path}"


def run_hook(directory: Path, remote: str, stdin: str) -> ExitCode:
    """Judge every pushed ref; the worst of what blocks is the exit code.

    Whatever keeps a ref from being judged is said and lets it through: the check on the
    pull request is the gate, and a hook that fails for its own reasons is switched off.
    """
    try:
        project = open_project(directory)
    except NoConfigurationError as error:  # a branch without evalgate is checked out
        _say(f"not judged: {error.message}")
        return ExitCode.OK
    codes = []
    for ref in parse_pre_push(stdin):
        try:
            codes.append(_judge_ref(project, ref, remote))
        except InterruptedRunError:
            raise
        except EvalgateError as error:
            _say(f"{ref.remote_ref}: not judged: {error.message}")
            _say(f"hint: {error.hint}")
    return worst(codes)


def _judge_ref(project: Project, ref: PushedRef, remote: str) -> ExitCode:
    pair = pair_for_push(project.git, ref, remote)
    if pair is None or pair.base is None or not _touched(project, pair.head.rev, pair.base):
        return ExitCode.OK
    reason = os.environ.get("EVALGATE_SKIP", "")
    if reason:
        _say(f"{ref.remote_ref}: skipped: EVALGATE_SKIP={reason}")
        return ExitCode.OK
    return _judge(project, pair, pair.base)


def _touched(project: Project, head: str, base: str) -> bool:
    try:
        with (
            open_state(project, Subject.parse(base)) as old,
            open_state(project, Subject.parse(head)) as new,
        ):
            return old.fingerprint.digest != new.fingerprint.digest
    except NoConfigurationError:  # a commit from before evalgate was adopted
        return False


def _judge(project: Project, pair: Pair, base: str) -> ExitCode:
    from evalgate.commands.console import Console  # noqa: PLC0415 - only when there is work
    from evalgate.commands.gate import GateOptions, gate  # noqa: PLC0415
    from evalgate.commands.plumbing import plumbing_of_push  # noqa: PLC0415

    console = Console(quiet=True)
    code, gated = gate(project, GateOptions(), console, pair=pair)
    verdict, head = gated.verdict, pair.head.rev
    _say(f"{verdict.decision}: {verdict.sentence}")
    for line in verdict.reasons:
        _say(f"  {line}")
    if code is ExitCode.DIVERGED:
        with open_state(project, Subject.parse(head)) as state:
            _say(plumbing_of_push(project, head, base, console))
            _say("this edit is not measured: evalgate run --record && evalgate gate")
            blocked = state.config.hook_on_stale == "block"
        return code if blocked else ExitCode.OK
    if code is not ExitCode.OK:
        _say(f"read {project.state / 'verdict.md'}")
    return code if code in _BLOCKING else ExitCode.OK


def _prefix(directory: Path) -> str:
    try:
        return open_project(directory).prefix or "."
    except NoConfigurationError:  # the hook may come first
        return "."


def _is_ours(path: Path) -> bool:
    return _MARK in path.read_text(encoding="utf-8", errors="replace")


def _hook_path(git: Git) -> Path:
    path = git.run("rev-parse", "--git-path", "hooks").decode().strip()
    return git.top / path / "pre-push"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _say(text: str) -> None:
    print(plain(f"evalgate: {text}"), file=sys.stderr, flush=True)
