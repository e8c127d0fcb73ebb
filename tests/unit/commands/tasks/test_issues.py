"""Issues out of a tracker, as a folder or as a list in JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from evalgate.commands.tasks.issues import load_issues
from evalgate.errors import UsageError


def test_a_folder(tmp_path: Path) -> None:
    """Each number in a file's name; the first file of a number; only what can be seen."""
    for name, text in {
        "12-a.md": "\x1b[31mOne\u202e",
        "issue 12.md": "Two",
        "notes.md": "No",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "7").mkdir()
    assert load_issues(tmp_path) == {"12": "One"}


def test_a_list(tmp_path: Path) -> None:
    """As gh prints it, where a body may be missing; other fields are passed over."""
    rows = [
        {"number": 12, "title": "Wrong sum", "body": "add(1) is 2\r\n", "labels": []},
        {"number": 13, "title": "No words", "body": None},
    ]
    (tmp_path / "issues.json").write_text(json.dumps(rows))
    found = load_issues(tmp_path / "issues.json")
    assert found == {"12": "Wrong sum\n\nadd(1) is 2", "13": "No words"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "issues.json:1: this is no JSON"),
        ('[\n{"number": 1,\n', "issues.json:2: this is no JSON"),
        ("[" * 100_000, "this is no JSON"),
        ("{}", "holds no list"),
        ("[7]", "number 1 of the list"),
        ('[{"number": 1, "title": "a", "body": ""}, {"number": "2", "title": "a"}]', "number 2"),
        ('[{"number": 1, "title": "a", "body": 3}]', "number 1"),
    ],
)
def test_what_is_no_list(tmp_path: Path, text: str, said: str) -> None:
    """It is named, with the command that makes one."""
    (tmp_path / "issues.json").write_text(text)
    with pytest.raises(UsageError) as caught:
        load_issues(tmp_path / "issues.json")
    assert said in caught.value.message
    assert "gh issue list" in caught.value.hint


def test_what_is_neither(tmp_path: Path) -> None:
    """A pipe is not waited for."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError):
        load_issues(tmp_path / "pipe")
