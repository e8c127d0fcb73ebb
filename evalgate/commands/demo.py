"""`evalgate demo`: a whole gate on a temporary repository, from recordings of a real model."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from importlib import resources
from pathlib import Path

from evalgate.commands.console import Console
from evalgate.commands.gating.gate import GateOptions, gate
from evalgate.commands.project import open_project
from evalgate.disk import open_passing_folder
from evalgate.errors import UsageError
from evalgate.repo.history import commit_all

_IGNORED = shutil.ignore_patterns("__pycache__")
_DATES = ("2026-01-05T09:00:00+00:00", "2026-01-05T10:00:00+00:00")


def demo(*, keep: Path | None = None) -> str:
    """Run the whole gate on a bundled prompt edit; return the verdict and four lines."""
    console = Console(quiet=True)  # sixty lines of progress would bury the verdict
    with ExitStack() as stack:
        folder = _empty(keep) if keep else stack.enter_context(open_passing_folder("demo"))
        build(folder)
        code, gated = gate(open_project(folder), GateOptions(), console)
        verdict = gated.verdict
        where = f"cd {folder}" if keep else "evalgate demo --keep DIR, then cd DIR"
        lines = [
            "What happened: an agent's prompt was edited in a git repository, and the edit's"
            " recorded trials of a real 135M model",
            f"were graded again here and compared with the baseline committed for its parent:"
            f" {verdict.decision}, exit code {int(code)}.",
            f"See it: {where}; git log -p; evalgate gate; evalgate replay; evalgate show.",
            "Your turn: write evalgate.toml, evalgate run --record, evalgate baseline accept"
            " latest, commit; then edit a prompt.",
        ]
    return gated.page + "\n" + "\n".join(lines)


def build(folder: Path) -> None:
    """Write and commit the repository: the agent with its baseline, then the edited prompt."""
    with resources.as_file(resources.files("evalgate.demo")) as bundle:
        shutil.copytree(bundle / "harness", folder / "agent", ignore=_IGNORED)
        for name in ("tasks", "baselines", "cassettes"):
            shutil.copytree(bundle / name, folder / name, ignore=_IGNORED)
        shutil.copy(bundle / "evalgate.toml", folder)
        (folder / ".gitignore").write_text(".evalgate/\n")
        commit_all(folder, "An agent, its tasks and its baseline", date=_DATES[0])
        shutil.copy(bundle / "edited" / "rewrite.md", folder / "agent" / "prompts")
        shutil.rmtree(folder / "cassettes")
        shutil.copytree(bundle / "edited" / "cassettes", folder / "cassettes", ignore=_IGNORED)
        message = (bundle / "edited" / "message.txt").read_text(encoding="utf-8").strip()
        commit_all(folder, message, date=_DATES[1])


def _empty(folder: Path) -> Path:
    folder = folder.resolve()
    if folder.exists() and any(folder.iterdir()):
        message = f"{folder} is not empty"
        raise UsageError(message, hint="name a folder that does not exist yet")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
