"""Each rule of `evalgate task lint` finds what breaks it, names file and line, and no more."""

from __future__ import annotations

import hashlib
import itertools
import unicodedata

import pytest

from evalgate.commands.tasks.lint import broken
from evalgate.commands.tasks.rules.table import RULES
from evalgate.core.files import File, FileMode
from evalgate.core.identity import storage_key
from evalgate.core.limits import Allowance
from evalgate.errors import UsageError
from evalgate.tasks.suite import load_suite, read_folders
from tests.pages import PAGES, coded, rows

TOML = """\
[task]
name = "NAME"
[agent]
timeout_sec = 120
[verifier]
timeout_sec = 60
[metadata.evalgate]
max_turns = 8
expected_files = ["a.py"]
"""
LINK = File(data=b"../../../b.py", mode=FileMode.SYMLINK)
GOOD = {
    "instruction.md": "Mend it.\n",
    "environment/workspace/a.py": "x\r\n",
    "environment/workspace/near": File(data=b"./a.py", mode=FileMode.SYMLINK),
    "tests/test.sh": "exit 0\n",
    "solution/solve.sh": "true\n",
    "README.md": "words\r\n",
}
NFD = unicodedata.normalize("NFD", "é")


def task(name="good", toml=TOML, folder="tasks/one", **changed):
    """Return a good folder, with files changed or (None) taken away."""
    files = {"task.toml": toml.replace("NAME", name), **GOOD, **changed}
    return {
        f"{folder}/{path}": file if isinstance(file, File) else File(data=file.encode())
        for path, file in files.items()
        if file is not None
    }


def without(line):
    return "".join(one for one in TOML.splitlines(keepends=True) if line not in one)


def found(files, limits=None):
    """Return rule, place and words of everything that is wrong."""
    return [(rule.name, one.place, one.words) for rule, one in broken(read_folders(files, limits))]


CASES = [
    ("unreadable", "tasks/one/task.toml:2", task(name="../x")),
    ("unreadable", "tasks/one/task.toml:2", task(name="x" * 300)),
    ("unreadable", "tasks/one/task.toml:9", task(toml=TOML.replace('"a.py"', '"../a.py"'))),
    ("unreadable", "tasks/one/instruction.md", task(**{"instruction.md": None})),
    ("unreadable", "tasks/one/task.toml", task(toml="= =")),
    ("id-taken", "tasks/two/task.toml:2", {**task("a_b"), **task("A_b", folder="tasks/two")}),
    ("id-form", "tasks/one/task.toml:2", task(NFD)),
    ("id-form", "tasks/one/task.toml:2", task(" a")),
    ("id-form", "tasks/one/task.toml:2", task("a\N{ZERO WIDTH SPACE}")),
    ("id-form", "tasks/one/task.toml:2", task("\N{RIGHT-TO-LEFT OVERRIDE}a")),
    ("id-form", "tasks/one/task.toml:2", task("a\N{NO-BREAK SPACE}b")),
    ("unreadable", '"tasks/o\\ne/task.toml":2', task(name="../x", folder="tasks/o\ne")),
    ("id-form", "tasks/one/task.toml:2", task("a[1]")),
    ("id-form", "tasks/one/task.toml:2", task("tag:a")),
    ("folder-taken", "tasks/one", {**task("a", folder="tasks/One"), **task("b")}),
    ("path-taken", "tasks/one/tests/x", task(**{"tests/X": "", "tests/x": ""})),
    ("crlf", "tasks/one/tests/test.sh:2", task(**{"tests/test.sh": "true\nfalse\r\n"})),
    ("crlf", "tasks/one/tests/run:1", task(**{"tests/run": "#!/bin/sh\r\n"})),
    ("crlf", "tasks/one/instruction.md:1", task(**{"instruction.md": "Mend it.\r\n"})),
    ("link-out", "tasks/one/tests/b", task(**{"tests/b": LINK})),
    (
        "link-out",
        "tasks/one/solution/b",
        task(**{"solution/b": File(data=b"/etc/passwd", mode=FileMode.SYMLINK)}),
    ),
    ("check", "tasks/one/task.toml:10", task(toml=TOML + 'checks = [{ type = "nosuch" }]\n')),
    ("check", "tasks/one/task.toml:10", task(toml=TOML + 'checks = [{ type = "file_exists" }]\n')),
    ("no-limits", "tasks/one/task.toml:7", task(toml=without("max_turns"))),
    ("no-limits", "tasks/one/task.toml:3", task(toml=without("timeout_sec = 120"))),
    ("no-limits", "tasks/one/task.toml:5", task(toml=without("timeout_sec = 60"))),
    ("path-unknown", "tasks/one/task.toml:9", task(toml=TOML.replace("a.py", "b.py"))),
    (
        "path-unknown",
        "tasks/one/task.toml:10",
        task(toml=TOML + 'checks = [{ type = "file_unchanged", path = "b.py" }]\n'),
    ),
    ("no-instruction", "tasks/one/instruction.md", task(**{"instruction.md": " \n"})),
    ("no-solution", "tasks/one", task(**{"solution/solve.sh": None})),
    ("stray", "tasks/one/test", task(**{"test/test.sh": "exit 0\n"})),
]


def colliding():
    """Return two ids that differ and have one name on disk: what the eight hex do not tell apart.

    Names without a letter of the Latin alphabet all have the slug ``task``.
    """
    seen = {}
    for number in itertools.count():
        name = "".join(chr(0x4E00 + (number >> shift & 0xFF)) for shift in (0, 8, 16))
        key = hashlib.sha256(name.encode()).digest()[:4]
        if key in seen:
            return seen[key], name
        seen[key] = name
    raise AssertionError


@pytest.mark.parametrize(("rule", "place", "files"), CASES)
def test_a_rule_finds_what_breaks_it(rule, place, files):
    """At its place, and no other rule is broken by it."""
    assert [(name, where) for name, where, _ in found(files)] == [(rule, place)]


def test_every_odd_name_is_told_apart_or_refused():
    """Names that meet on some disk or on the screen, and those that lead out."""
    names = ("a/b", "a.b", "a_b", "A_b", "con", "é", NFD, "x" * 300, "../x")
    files = {}
    for number, name in enumerate(names):
        files |= task(name, folder=f"tasks/{number}")
    assert found(files) == [
        ("id-taken", "tasks/3/task.toml:2", "the id 'A_b' is used by tasks/2 as well, as 'a_b'"),
        ("id-taken", "tasks/6/task.toml:2", "the id 'e\\u0301' is used by tasks/5 as well, as 'é'"),
        ("id-form", "tasks/6/task.toml:2", "the id 'e\\u0301' is not in Unicode's form NFC"),
        ("unreadable", "tasks/7/task.toml:2", f"task.name: {'x' * 80!r} can not be a task id"),
        ("unreadable", "tasks/8/task.toml:2", "task.name: '../x' can not be a task id"),
    ]


def test_a_good_folder_breaks_no_rule():
    """Carriage returns in a workspace, and words for people, are nobody's business."""
    assert found(task()) == []


def test_ids_that_have_one_name_on_disk_are_refused():
    """By the loader as well, so that no recording can be another task's."""
    first, other = colliding()
    assert storage_key(first) == storage_key(other)
    files = {**task(first), **task(other, folder="tasks/two")}
    assert [(name, place) for name, place, _ in found(files)] == [
        ("key-taken", "tasks/two/task.toml:2")
    ]
    with pytest.raises(UsageError, match="have one name on disk"):
        load_suite(files)


def test_a_limit_of_the_project_is_one():
    """The configuration says the turns for all tasks."""
    assert found(task(toml=without("max_turns")), Allowance(turns=15)) == []


def test_every_rule_is_tried_and_on_the_page():
    """With the words of the table."""
    assert {rule for rule, *_ in CASES} | {"key-taken"} == {rule.name for rule in RULES}
    table = rows("## Rules", PAGES["docs/tasks.md"])
    told = {coded(name)[0]: what.removesuffix(" |") for name, what in table}
    assert told == {rule.name: rule.what for rule in RULES}
