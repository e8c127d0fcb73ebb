"""`evalgate hook`: the pre-push hook; silent and at once where no harness part is touched.

Its way to "nothing to do" imports no click, GitPython, docker, VCR.py or Jinja2.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from evalgate.commands.project import Project, open_project, open_state
from evalgate.errors import ExitCode, UsageError
from evalgate.repo.git import Git
from evalgate.repo.pushed import pair_for_push, parse_pre_push
from evalgate.repo.treeview import Subject

_MARK = "# evalgate pre-push hook"

_SCRIPT = """#!/bin/sh
{mark}: judges pushes that touch the agent's harness
python={python}
if [ ! -x "$python" ]; then
  echo "evalgate: $python is gone: this push is not judged; evalgate hook install" >&2
  exit 0
fi
exec "$python" -P -m evalgate hook run "$@"
"""

#: Decisions that stop a push whatever the project says.
_BLOCKING = (ExitCode.REGRESSION, ExitCode.VOID)


def install(directory: Path) -> str:
    """Write the pre-push hook; a hook of somebody else is left alone."""
    path = _hook_path(Git.locate(directory))
    if path.exists() and _MARK not in path.read_text(errors="replace"):
        message = f"{path} exists already and is not evalgate's"
        hint = f'add this line to it: "{sys.executable}" -P -m evalgate hook run "$@"'
        raise UsageError(message, hint=hint)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_SCRIPT.format(mark=_MARK, python=_quoted(sys.executable)))
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return f"installed {path}"


def uninstall(directory: Path) -> str:
    """Remove the hook if it is evalgate's."""
    path = _hook_path(Git.locate(directory))
    if not path.exists() or _MARK not in path.read_text(errors="replace"):
        return "no evalgate hook is installed"
    path.unlink()
    return f"removed {path}"


def run_hook(directory: Path, remote: str, stdin: str) -> ExitCode:
    """Judge every pushed ref; the first that is blocked decides the exit code."""
    reason = os.environ.get("EVALGATE_SKIP", "")
    project = open_project(directory)
    code = ExitCode.OK
    for ref in parse_pre_push(stdin):
        pair = pair_for_push(project.git, ref, remote)
        if pair is None or pair[1] is None or not _touched(project, pair[0], pair[1]):
            continue
        if reason:
            _say(f"{ref.remote_ref}: skipped: EVALGATE_SKIP={reason}")
            continue
        code = max(code, _judge(project, pair[0], pair[1]))
    return code


def _touched(project: Project, head: str, base: str) -> bool:
    prints = []
    for rev in (base, head):
        try:
            with open_state(project, Subject.parse(rev)) as state:
                prints.append(state.fingerprint.digest)
        except UsageError as error:
            if "does not exist in" not in error.message:
                raise
            prints.append("")  # a commit from before evalgate was adopted
    return prints[0] != prints[1]


def _judge(project: Project, head: str, base: str) -> ExitCode:
    from evalgate.commands.console import Console  # noqa: PLC0415 - only when there is work
    from evalgate.commands.gate import GateOptions, gate  # noqa: PLC0415
    from evalgate.commands.plumbing import plumbing  # noqa: PLC0415

    console = Console(quiet=True)
    code, gated = gate(project, GateOptions(base=base, head=head), console)
    verdict = gated.verdict
    _say(f"{verdict.decision}: {verdict.sentence}")
    for line in verdict.reasons:
        _say(f"  {line}")
    if code is ExitCode.DIVERGED:
        with open_state(project, Subject.parse(head)) as state:
            _say(plumbing(project, head, base, console))
            _say("this edit is not measured: evalgate run --record && evalgate gate")
            blocked = state.config.hook_on_stale == "block"
        return code if blocked else ExitCode.OK
    if code is not ExitCode.OK:
        _say(f"read {project.state / 'verdict.md'}")
    return code if code in _BLOCKING else ExitCode.OK


def _hook_path(git: Git) -> Path:
    path = git.run("rev-parse", "--git-path", "hooks").decode().strip()
    return git.top / path / "pre-push"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _say(text: str) -> None:
    print(f"evalgate: {text}", file=sys.stderr, flush=True)
