"""The pages of docs hold together with the code: their tables are whole, their commands there."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from evalgate.checks.table import CHECKS, build_checks
from evalgate.cli.command_line import cli
from evalgate.core.confirmation import LIVE_RULE
from evalgate.core.decision import EXIT_CODES, Decision, exit_code_of
from evalgate.core.files import File
from evalgate.core.policy import Policy
from evalgate.core.task import Limits, Task
from evalgate.errors import ExitCode, UsageError
from evalgate.tasks.harbor import load_harbor_task
from tests.pages import PAGES, blocks, coded, named, rows

TASKS_PAGE = PAGES["docs/tasks.md"]
EXIT_PAGE = PAGES["docs/exit-codes.md"]
_SPAN = re.compile(r"`evalgate ([^`\n]+)`")
_LINE = re.compile(r"^(?:.*bin/)?evalgate ([^#\n]+)", re.MULTILINE)


def commands(page: str) -> list[list[str]]:
    """Return the words of every command of evalgate in backticks or in a block of a page."""
    found = _SPAN.findall(page)
    for block in blocks(r"\w*", page):
        found += _LINE.findall(block)
    return [shlex.split(one, posix=False) for one in found]


def unknown_of(words: list[str]) -> list[str]:
    """Return what the command line does not know in these words."""
    command: click.Command = cli
    options: set[str] = set()
    for word in words:
        if word in {"--", "|"}:
            break
        if word.startswith("-"):
            options.add(word.partition("=")[0])
        elif isinstance(command, click.Group) and not options:
            if word not in command.commands:
                return [word]
            command = command.commands[word]
    known = {"-h", "--help", "--version"}
    known |= {opt for one in command.params for opt in (*one.opts, *one.secondary_opts)}
    return sorted(options - known)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_every_command_of_a_page_is_one(name):
    """With each option that is named behind it."""
    for words in commands(PAGES[name]):
        assert not unknown_of(words), words


def test_every_decision_is_told_with_its_code():
    """No more and no fewer."""
    told = {coded(first)[0]: code for first, code, *_ in rows("## Decisions", EXIT_PAGE)}
    assert set(told) == set(Decision)
    for decision, code in told.items():
        assert int(code.split(",")[0]) == EXIT_CODES[Decision(decision)]
    strict = exit_code_of(Decision.UNDECIDED, strict=True)
    assert told["undecided"] == f"0, with `--strict` {int(strict)}"


def test_every_exit_code_is_told():
    """Of every command, in order."""
    told = [int(first.strip("| ")) for first, *_ in rows("## Codes", EXIT_PAGE)]
    assert told == [int(code) for code in ExitCode]


def test_the_thresholds_in_plain_words_are_those_of_the_code():
    """Each where it is spoken of."""
    page, policy = PAGES["docs/statistics.md"], Policy()
    assert f"{policy.margin * 100:g} points unless you say otherwise" in page
    assert f"most\n{policy.suite_alpha:g} (`policy.suite_alpha`)" in page
    assert f"min-P at most {policy.task_alpha:g} (`policy.task_alpha`)" in page
    for number in re.findall(r"\d\.\d+", LIVE_RULE):
        assert f"{float(number):g}" in page.split("**A live gate**")[1].split("Why fresh")[0]


def test_the_figures_of_gates_are_those_that_were_measured():
    """The table says what the page of real gates does, and the sentence what the README does."""
    page, gates = PAGES["docs/statistics.md"], PAGES["docs/real-gates.md"]
    table = rows("## What the number of trials buys", page)
    told = [re.findall(r"[\d.]+%?", " ".join(cells)) for cells in table]
    measured = re.findall(r"^ +(\d+) +(\d+) +([\d.]+%) +([\d.]+%) +([\d.]+%)$", gates, re.MULTILINE)
    assert told == [[*row] for row in measured]
    costs = re.search(r"the edit costs .*-(\S+) points +-(\S+) points", gates)
    assert costs is not None
    assert re.findall(r"costs ([\d.]+)", page) == [*costs.groups()]
    for figure in ("1.6 to 3.5 % of simulated", "77 and 73 %", "2,334 real"):
        assert figure in page
        assert figure in PAGES["README.md"]


def task_of(toml: str) -> Task:
    """Read a task that has this in its task.toml."""
    page = {"instruction.md": "Do it.\n", "tests/test.sh": "", "environment/workspace/a": ""}
    files = {path: File(data=text.encode()) for path, text in page.items()}
    return load_harbor_task("tasks/one", {**files, "task.toml": File(data=toml.encode())})


def test_the_example_of_a_task_is_one():
    """With each kind of thing that the page tells of."""
    example, judged, user, _, set_up = blocks("toml", TASKS_PAGE)
    task = task_of(example)
    assert (task.id, task.limits.max_turns, task.tags) == ("paginate", 8, ("easy",))
    assert [spec.advisory for spec, _ in build_checks(task)] == [False, True]
    assert [one.when for one in task_of(user).user] == [r"proceed\?"]
    assert [spec.type for spec, _ in build_checks(task_of(judged))] == ["llm_judge"]
    assert task_of(set_up).environment.set_up.network


@pytest.mark.parametrize(
    "table",
    ["task", "agent", "verifier", "environment", "metadata.evalgate", "metadata.evalgate.setup"],
)
def test_every_key_of_a_task_is_told(table):
    """No more and no fewer: who writes another one is told those that there are."""
    with pytest.raises(UsageError) as caught:
        task_of(f"[{table}]\nzzzzzzzzzz = 1\n")
    known = set(caught.value.hint.removeprefix("known keys: ").split(", "))
    table_rows = rows("## Keys of `task.toml`", TASKS_PAGE)
    told = [coded(keys) for tables, keys, *_ in table_rows if table in coded(tables)]
    assert {key for keys in told for key in keys} == known


def test_the_defaults_of_a_task_are_told():
    """Its two times and its turns."""
    cells = {keys: default for _, keys, _, default, _ in rows("## Keys of `task.toml`", TASKS_PAGE)}
    usual = Limits()
    times = [row for row in rows("## Keys of `task.toml`", TASKS_PAGE) if "timeout" in row[1]]
    assert [float(row[3]) for row in times[:2]] == [usual.agent_seconds, usual.grade_seconds]
    assert cells["`max_turns`"].endswith(f" {usual.max_turns}")


def test_every_kind_of_check_is_told():
    """No more and no fewer."""
    assert set(named("## Checks", TASKS_PAGE)) == set(CHECKS)


def test_the_task_in_place_of_an_assertion_is_one():
    """It needs no tests: its check decides."""
    (example,) = blocks("toml", PAGES["docs/migration.md"])
    ((spec, _),) = build_checks(task_of(example))
    assert spec.type in CHECKS
