"""What the action's script hands to evalgate, and what it never does."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import clean_environment

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".github/actions/evalgate/gate.sh"
#: All that runs in somebody's checkout, perhaps beside a key.
SHIPPED = [
    *(ROOT / ".github").rglob("*.*"),
    *(ROOT / "examples/github").iterdir(),
    ROOT / "evalgate/starter/workflow.yml",
]

#: An evalgate that notes what it was called with, talks in workflow commands, and judges.
STAND_IN = """#!/bin/sh
echo "$*" >> "$NOTES"
if [ "$1" = comment ]; then echo "token ${GITHUB_TOKEN:-none}" >> "$NOTES"; exit "${TELLS:-0}"; fi
echo "gate's token ${GITHUB_TOKEN:-none}" >> "$NOTES"
echo "::set-env name=PATH::/evil"
while [ "$1" != --out ]; do shift; done
[ -n "${NO_VERDICT:-}" ] || echo "{}" > "$2/verdict.json"
exit "${JUDGES:-0}"
"""


@pytest.fixture
def act(tmp_path: Path) -> Any:
    """Run the script with some inputs; return how it ended, and what evalgate was called with."""
    program, notes = tmp_path / "evalgate", tmp_path / "notes"
    program.write_text(STAND_IN)
    program.chmod(0o755)

    def call(**variables: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
        inputs = {
            "INPUT_EVALGATE": str(program),
            "INPUT_DIRECTORY": "a folder",
            "INPUT_OUT": "the verdict é",
            **dict.fromkeys(("INPUT_PACKAGE", "INPUT_USD", "INPUT_ARTIFACT"), ""),
            **dict.fromkeys(("INPUT_LIVE", "INPUT_STRICT", "INPUT_ADVISORY"), "false"),
            "NOTES": str(notes),
            **variables,
        }
        notes.unlink(missing_ok=True)
        done = subprocess.run(
            ["bash", str(SCRIPT)],
            cwd=tmp_path,
            env=clean_environment(inputs),
            capture_output=True,
            text=True,
        )
        return done, notes.read_text().splitlines() if notes.exists() else []

    return call


def test_a_plain_gate(act: Any, tmp_path: Path) -> None:
    """Its words are no commands between two lines that nobody can guess; no token is needed."""
    done, notes = act(JUDGES="1")
    out = tmp_path / "the verdict é"
    assert done.returncode == 1
    assert notes == [
        f"-C a folder gate --fork-neutral --out {out}",
        "gate's token none",
        f"comment {out} --to summary --to outputs --to annotations",
        "token none",
    ]
    stop, inside, resume = done.stdout.splitlines()
    assert inside.startswith("::set-env")
    assert resume == f"::{stop.removeprefix('::stop-commands::')}::"
    assert len(stop) > len("::stop-commands::") + 32
    assert act()[0].stdout.splitlines()[0] != stop


def test_the_token_is_for_telling_alone(act: Any) -> None:
    """The gate starts agents and tests: it does not get it."""
    _, notes = act(GITHUB_TOKEN="secret")
    assert notes[1] == "gate's token none"
    assert notes[2].endswith("--to annotations --to comment")
    assert notes[3] == "token secret"


def test_live_trials_need_a_cap(act: Any) -> None:
    """Without one nothing is started."""
    done, notes = act(INPUT_LIVE="true")
    assert (done.returncode, notes) == (2, [])
    assert done.stdout.startswith("::error title=evalgate::live trials cost money")
    _, notes = act(INPUT_LIVE="true", INPUT_USD="5", INPUT_STRICT="true", INPUT_ADVISORY="true")
    assert notes[0].endswith(" --strict --advisory --live --usd 5")


@pytest.mark.parametrize("judges", ["0", "1", "6"])
def test_the_job_ends_as_the_verdict_says(act: Any, judges: str) -> None:
    """Whether GitHub took the words or not."""
    done, _ = act(JUDGES=judges, TELLS="9", GITHUB_TOKEN="secret")
    assert done.returncode == int(judges)
    assert "::warning title=evalgate::the verdict was not told everywhere" in done.stdout


def test_a_gate_without_a_verdict(act: Any) -> None:
    """A wrong configuration: nothing is told but that."""
    done, notes = act(JUDGES="2", NO_VERDICT="1")
    assert done.returncode == 2
    assert len(notes) == 2
    assert "::error title=evalgate::there is no verdict (exit code 2)" in done.stdout


def test_another_run_s_verdict_is_only_told(act: Any) -> None:
    """Nothing is judged then."""
    done, notes = act(INPUT_ARTIFACT="evalgate-verdict", GITHUB_TOKEN="secret", TELLS="9")
    assert done.returncode == 9
    assert notes == ["comment --artifact evalgate-verdict", "token secret"]


def test_nothing_of_the_branch_is_run_to_install_evalgate(act: Any, tmp_path: Path) -> None:
    """A module in the checkout is not taken for Python's own, or pip's: a key may be near."""
    ran, temporary = tmp_path / "ran", tmp_path / "runner's temp"
    temporary.mkdir()
    for name in ("venv", "pip", "ensurepip", "sitecustomize", "subprocess", "zipfile"):
        (tmp_path / f"{name}.py").write_text(f"open({str(ran)!r}, 'a').write({name!r})\n")
    done, notes = act(
        INPUT_EVALGATE="",
        INPUT_PACKAGE=str(_wheel(tmp_path)),
        GITHUB_ACTION_PATH=str(tmp_path / "a/b/c"),
        RUNNER_TEMP=str(temporary),
        PATH=f"{Path(sys.executable).parent}:/usr/bin:/bin",
        PIP_NO_INDEX="1",
    )
    assert not ran.exists(), ran.read_text()
    assert done.returncode == 0, done.stderr
    assert notes[0].startswith("-C a folder gate ")


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.name)
def test_no_module_is_looked_for_in_the_checkout(file: Path) -> None:
    """What ``-m`` names is found in the working folder first, unless Python is isolated."""
    assert re.findall(r"""\bpython3?"? (?!-I ).*""", file.read_text()) == []


def _wheel(folder: Path) -> Path:
    """Make a package that brings the program that stands in, and needs nothing."""
    path, about = folder / "git_evalgate-0.1.0-py3-none-any.whl", "git_evalgate-0.1.0.dist-info"
    files = {
        "git_evalgate-0.1.0.data/scripts/evalgate": STAND_IN,
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: git-evalgate\nVersion: 0.1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o100755 << 16
            wheel.writestr(entry, text)
    return path
