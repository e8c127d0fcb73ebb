"""README and docs hold together: their commands, links and keys are the ones there are."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from evalgate.core.config import load_config
from evalgate.core.decision import EXIT_CODES
from evalgate.core.schema import Source
from evalgate.runner.recorded import load_recorded
from tests.pages import GITHUB, PAGES, README, ROOT, WIRE, blocks, coded, named


def test_the_first_screen_holds_the_two_commands():
    """Both do all their set-up; CI runs the second word for word."""
    demo, tests = blocks("sh", README)[:2]
    assert demo.strip().endswith(".venv/bin/evalgate demo")
    assert tests.strip() in (ROOT / ".ci/run").read_text()
    assert README.index(tests) < 2000


def test_the_example_configuration_is_one():
    """It parses, with nothing unknown in it, also with what is added to it further down."""
    text, *more = blocks("toml", README)
    assert load_config(Source("README.md", text), below=()) is not None
    for added in more:
        assert load_config(Source("README.md", text + added), below=()) is not None


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


def test_the_files_that_the_pages_point_to_are_there():
    """Links within the repository, and the places where something new goes."""
    for name, page in PAGES.items():
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page):
            assert ((ROOT / name).parent / link).exists(), (name, link)
    places = README.split("Where a new one goes:")[1].split("Imports point down")[0]
    assert len(coded(places)) > 6
    for path in coded(places):
        assert any((folder / path).exists() for folder in (ROOT, ROOT / "evalgate")), path


def test_links_within_the_pages_find_their_headings():
    """As GitHub names them."""
    pages = {Path(name).name: page for name, page in PAGES.items()}
    heads = {
        name: {re.sub(r"[^a-z0-9 -]", "", head.lower()).replace(" ", "-") for head in found}
        for name, page in pages.items()
        if (found := re.findall(r"^##+ (.+)$", page, re.MULTILINE))
    }
    for name, page in pages.items():
        for file, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page):
            assert anchor in heads[Path(file).name or name], anchor


def test_the_options_of_a_replay_are_named(evalgate, tmp_path):
    """All but those that every command has, on both pages, and no other ones."""
    help_text = evalgate("replay", "--help", cwd=tmp_path).stdout
    options = set(re.findall(r"^ +(--[a-z-]+) [A-Z]+ ", help_text, re.MULTILINE)) - {"--rev"}
    assert options == {"--faults", "--allow-stale", "--record-missing", "--pace"}
    told = {option.split()[0] for option in named("## Answers to what was recorded", WIRE)}
    assert told == options
    for option in options:
        assert f"`evalgate replay {option} " in README


def test_the_numbers_of_the_demo_are_those_of_its_recordings():
    """Before the edit and after it; what the rule makes of them is the test of the demo's."""
    told = re.search(r"(\d+) of 60 trials pass, and (\d+) of 60 did before it", README)
    assert told is not None
    passed = []
    for folder in (ROOT / "evalgate/demo/edited", ROOT):
        tapes = sorted((folder / "cassettes").glob("*/*/*.json"))
        trials = [load_recorded(tape.read_bytes(), name=tape.name).measured for tape in tapes]
        outcomes = Counter(str(trial["outcome"]) for trial in trials)
        assert outcomes.total() == 60
        passed.append(outcomes["passed"])
    assert [int(number) for number in told.groups()] == passed


def test_the_places_of_a_comment_are_the_ones_there_are():
    """In the table of the page, and on the command line."""
    from evalgate.cli.command_line import cli
    from evalgate.publishers.table import PUBLISHERS

    places = set(named("# On GitHub", f"\n{GITHUB}"))
    (to,) = (one for one in cli.commands["comment"].params if "--to" in one.opts)
    assert places == set(PUBLISHERS) == set(to.type.choices)
