"""`--json`: the same before a verb and after it, of every verb, each document one of its schema."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta

import pytest
from jsonschema import Draft202012Validator

from evalgate.cli.command_line import command_line
from evalgate.core.change import Change
from evalgate.core.decision import Decision
from evalgate.core.trial import Evidence, Outcome, Signals
from evalgate.errors import EvalgateError, ExitCode
from evalgate.words import say
from tests.conftest import clean_environment
from tests.e2e.conftest import copied
from tests.formats import CRITERIA
from tests.schemas import OF_COMMAND, SCHEMAS, hold_answer, named, verbs

_WEEK = (datetime.now(UTC) + timedelta(days=7)).date().isoformat()
#: A way to call each verb in a repository with a recorded regression, and the code it ends with.
CALLS = {
    "run --dry-run": 0,
    "run double -k 1": 0,
    "replay double": 0,
    "regrade": 0,
    "gate --base main --head wrong": 1,
    "gate --base main --head main": 0,
    "compare main latest": 0,
    "show": 0,
    "show latest": 0,
    "show latest:double:1": 0,
    "read --sample 1": 0,
    "report --format json": 0,
    "report --format md": 0,
    "report --format junit -o run.xml": 0,
    "fingerprint": 0,
    "fingerprint --diff main..wrong": 0,
    "plan": 0,
    "plan --usd 1": 0,
    "noise": 0,
    "drift": 0,
    "bisect double main..wrong --dry-run": 0,
    "ledger": 0,
    "baseline list": 0,
    "baseline show {main}": 0,
    "baseline verify": 0,
    "baseline renew --rev main": 0,
    "baseline review": 0,
    "baseline prune --keep 1": 0,
    "baseline accept latest": 0,
    f"waive --max-drop 10 --until {_WEEK} --reason known --base main --head wrong": 0,
    "task list": 0,
    "task show double triple": 0,
    "task lint": 2,
    "task verify double -k 1 --mutants 0": 1,
    "task import {criteria} --into more --dry-run": 0,
    "task mine --dry-run": 0,
    "cassette list": 0,
    "cassette show double:1": 0,
    "cassette show double:1 --exchange 0": 0,
    "cassette diff double:1 double:1 --rev main..wrong": 0,
    "cassette scan": 0,
    "cassette verify": 0,
    "cassette prune --dry-run --to aside": 0,
    "cassette export --to har": 0,
    "cassette export --to jsonl": 0,
    "cassette export --to copies": 0,
    "comment verdict --to summary": 0,
    "init --dry-run": 0,
    "task new": 2,
    "task new --from-run latest:double --instruction Twice. --name again": 0,
    "clean --dry-run": 0,
    "hook run": 0,
    "hook install": 0,
    "hook uninstall": 0,
    "show no-such-run": 2,
}
#: What the test beside it calls.
ELSEWHERE = {
    "demo": "tests/e2e/test_demo.py",
    "doctor": "tests/unit/commands/doctor/test_audits.py",
    "task calibrate-judge": "tests/unit/commands/tasks/test_calibrating.py",
}


def test_one_document_wherever_it_is_asked_for(recorded, evalgate):
    """And the text without it."""
    verb = ("baseline", "list")
    before = evalgate("--json", *verb, cwd=recorded.path)
    after = evalgate(*verb, "--json", cwd=recorded.path)
    assert before.returncode == after.returncode == 0, before.stderr + after.stderr
    assert before.stdout == after.stdout
    assert isinstance(json.loads(after.stdout), dict)
    assert not evalgate(*verb, cwd=recorded.path).stdout.startswith("{")


def test_an_error_comes_in_the_same_envelope(recorded, evalgate):
    """Also one of the command line itself."""
    for arguments in (("replay", "--pace", "nan"), ("show", "no-such-run")):
        done = evalgate(*arguments, "--json", cwd=recorded.path)
        assert done.returncode == 2
        assert json.loads(done.stdout)["error"]["exit_code"] == 2


def test_every_verb_takes_it_but_those_that_run_a_program():
    """Whose arguments are the program's own, and those that print a file, or what a sandbox has."""
    inside = {f"sandbox {name}" for name in ("read", "write", "mcp", "exec", "base")}
    without = {name for name, verb in verbs() if not _takes_json(verb)}
    assert without == {"local-model"} | inside


def test_every_verb_with_it_has_a_schema_and_is_called():
    """On the page, in the folder, and here."""
    taking = {name for name, verb in verbs() if _takes_json(verb)}
    assert set(OF_COMMAND) == taking
    schemas = {name for names in OF_COMMAND.values() for name in names}
    assert {*schemas, "error", "shared"} == set(SCHEMAS)
    called = {name for name in taking if any(call.startswith(name) for call in CALLS)}
    assert taking - called == set(ELSEWHERE)


@pytest.mark.parametrize(
    "before",
    [
        (),
        ("--config", "task"),
        ("-C", "gate", "--json"),
        ("-C.", "-q"),
        ("--config=task", "--json"),
    ],
)
def test_a_document_is_held_to_its_own_command(before):
    """Whatever stands before that; what calls no command holds to nothing, and is no pass."""
    call = (*before, "task", "new", "--name", "show", "--json")
    assert named(call) == "task new"
    with pytest.raises(AssertionError, match=r"^task-new: "):
        hold_answer(call, "{}")
    for wrong in (("tusk", "new"), ("task", "knew"), ("task",), ()):
        with pytest.raises(AssertionError, match="calls no command"):
            hold_answer((*before, *wrong, "--json"), "{}")


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_one_and_is_closed(name):
    """An object that a program reads has no member that is not written down."""
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["title"]
    for one in _objects(SCHEMAS[name]):
        if one.get("type") == "object" and name != "shared":  # what is shared is closed where it is
            assert "additionalProperties" in one or "$ref" in one, one


def test_the_words_of_a_schema_are_those_of_the_code():
    """No more and no fewer."""
    shared = SCHEMAS["shared"]["$defs"]
    for name, words in (("decision", Decision), ("evidence", Evidence), ("outcome", Outcome)):
        assert shared[name]["enum"] == [str(word) for word in words]
    assert shared["exit_code"]["enum"] == [int(code) for code in ExitCode]
    assert [*shared["signals"]["properties"]] == [*Signals().to_json()]
    change = SCHEMAS["verdict"]["properties"]["tasks"]["items"]["properties"]["change"]
    assert change["enum"] == [str(word) for word in Change]


@pytest.fixture
def place(regressing, tmp_path, scripted, monkeypatch):
    """A copy of that repository to be in, with the environment of a clean machine."""
    repo = copied(regressing, tmp_path)
    repo.git("switch", "-q", "wrong")
    for name in {*os.environ} - {*clean_environment()}:
        monkeypatch.delenv(name)
    here = {"SCRIPTED_URL": scripted.url, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    for name, value in {**clean_environment(), **here}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdin", None)
    monkeypatch.chdir(repo.path)
    return repo


@pytest.mark.parametrize(("call", "code"), CALLS.items(), ids=CALLS)
def test_every_document_is_one_of_its_schema(call, code, place, capfd):
    """In one process, without a start of the command, and with a closed standard input."""
    if call.startswith("comment"):
        command_line(["gate", "--base", "main", "--out", "verdict"])
    if "{main}" in call or "baseline prune" in call:
        place.git("switch", "-q", "main")
        call = call.replace("{main}", next((place.path / "baselines").glob("*.toml")).name[:12])
    if "{criteria}" in call:
        place.write("criteria.json", json.dumps(CRITERIA))
        call = call.replace("{criteria}", "criteria.json")
    if call.startswith("task mine"):
        place.write("double.py", "def double(n):\n    return n * 2\n")
        place.write("test_double.py", "import double\n\ndef test_it():\n    pass\n")
        place.commit("Fix double of odd numbers, fixes #3")
    capfd.readouterr()
    words = ["--json", *call.split()]
    try:
        done = command_line(words)
    except EvalgateError as error:
        done = int(error.exit_code)
        say(error, as_json=True)
    told = capfd.readouterr()
    assert done == code, told
    assert told.out.startswith("{")
    assert told.out.count("\n") == 1
    hold_answer(words, told.out)


def _takes_json(verb):
    return any("--json" in one.opts for one in verb.params)


def _objects(value):
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner)
