"""`act` runs the workflows that are shipped, on this machine and without GitHub.

What they check out is there, and stand-ins are taken for some of GitHub's own actions.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.conftest import SCRIPT, clean_environment
from tests.github.fake import TOKEN

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
ACTION = ROOT / ".github/actions/evalgate/action.yml"
STAND_INS = ROOT / "tests/github/stand_ins"

Act = Callable[..., subprocess.CompletedProcess[str]]

#: The step that uses the action, up to where its inputs begin.
_USED = re.compile(
    r"^(( +)- uses: \./\S*\.github/actions/evalgate\n(?:\2  id: .*\n)?)(?:\2  with:\n)?",
    re.MULTILINE,
)
_INSTALLED = re.compile(r"- run: python3 -I -m pip install git-evalgate==\S+")


def acted(
    folder: Path,
    workflow: Path,
    event: str,
    payload: Any,
    *more: str,
    home: Path,
    api: str,
    variables: Mapping[str, str],
) -> subprocess.CompletedProcess[str]:
    """Run a shipped workflow of a repository, as of an event, with this evalgate.

    Artifacts come below ``kept`` in ``home``. ``api`` is GitHub's address; all steps see the
    ``variables``.
    """
    shutil.copytree(ACTION.parent, folder / ".github/actions/evalgate", dirs_exist_ok=True)
    text, used = _USED.subn(rf"\1\2  with:\n\2    evalgate: {SCRIPT}\n", workflow.read_text())
    text, installed = _INSTALLED.subn(f'- run: echo "{BIN}" >> "$GITHUB_PATH"', text)
    assert used or installed
    copied = folder / ".github/workflows" / workflow.name
    copied.parent.mkdir(exist_ok=True)
    copied.write_text(text)
    file = home / "payload.json"
    file.write_text(json.dumps(payload))
    pins = dict(re.findall(r"uses: (actions/([\w-]+)@\w+)", text))
    told = {"GITHUB_API_URL": api, "ARTIFACTS": str(home / "kept"), "GITHUB_REPOSITORY": "o/r"}
    options = [
        *("--eventpath", file, "--workflows", copied, *more),
        *("--platform", "ubuntu-24.04=-self-hosted", "--no-cache-server"),
        *("--artifact-server-addr", "127.0.0.1", "--cache-server-addr", "127.0.0.1"),
        *("--secret", f"GITHUB_TOKEN={TOKEN}", "--secret", "ANTHROPIC_API_KEY=a-key"),
    ]
    for name, value in {**told, **variables}.items():
        options += ["--env", f"{name}={value}"]
    for pin, name in pins.items():
        options += ["--local-repository", f"{pin}={STAND_INS / name}"]
    return subprocess.run(
        [str(BIN / "act"), event, *map(str, options)],
        cwd=folder,
        env=clean_environment({"HOME": str(home), "XDG_CACHE_HOME": str(home)}),
        capture_output=True,
        text=True,
        timeout=300,
    )
