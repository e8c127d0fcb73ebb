"""The README tells the truth: its commands are the ones that are run."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from evalgate.core.config import load_config
from evalgate.core.decision import EXIT_CODES
from evalgate.core.schema import Source

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_the_first_screen_holds_the_two_commands():
    """Both do all their set-up; CI runs the second word for word."""
    demo, tests = blocks("sh")[:2]
    assert demo.strip().endswith(".venv/bin/evalgate demo")
    assert tests.strip() in (ROOT / ".ci/run").read_text()
    assert README.index(tests) < 2000


def test_the_example_configuration_is_one():
    """It parses, with nothing unknown in it, also with what is added to it further down."""
    text, *more = blocks("toml")
    assert load_config(Source("README.md", text), below=()) is not None
    for added in more:
        assert load_config(Source("README.md", text + added), below=()) is not None


def test_every_key_of_the_table_is_accepted():
    """And every documented key exists: the reader refuses unknown ones."""
    keys = re.findall(r"^\| `([a-z_]+(?:\.[A-Za-z_]+)+)` \|", README, re.MULTILINE)
    files = (ROOT / "evalgate/core" / name for name in ("config.py", "models.py", "cassettes.py"))
    source = "".join(file.read_text() for file in files)
    assert len(keys) > 20
    for key in keys:
        leaf = key.rsplit(".", 1)[1]
        assert leaf == "NAME" or f'"{leaf}"' in source, key


@pytest.mark.parametrize("code", sorted({int(code) for code in EXIT_CODES.values()}))
def test_every_exit_code_is_in_the_table(code):
    """No decision ends with a code that is not documented."""
    assert re.search(rf"\| {code} \|", README)


def test_every_command_is_named(evalgate, tmp_path):
    """Each command of --help stands in the README."""
    help_text = evalgate("--help", cwd=tmp_path).stdout
    commands = re.findall(r"^  ([a-z-]+)  ", help_text.split("Commands:")[1], re.MULTILINE)
    assert commands
    for command in commands:
        assert f"evalgate {command}" in README, command


def test_the_check_types_of_the_table_are_the_ones_there_are():
    """No more and no fewer."""
    from evalgate.checks.table import CHECKS

    rows = re.findall(r"^\| `([a-z_]+)` \|", README, re.MULTILINE)
    assert set(rows) == set(CHECKS)


def test_the_demo_and_the_repository_have_one_harness():
    """Their hashed tables say the same, so that one set of recordings serves both."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    ours = load_config(
        Source("pyproject.toml", (ROOT / "pyproject.toml").read_text()), below=("tool", "evalgate")
    )
    demo = ROOT / "evalgate/demo/evalgate.toml"
    theirs = load_config(Source("evalgate.toml", demo.read_text()), below=())
    assert ours is not None
    assert theirs is not None
    assert ours.settings == theirs.settings
    assert project["project"]["name"] == "git-evalgate"
