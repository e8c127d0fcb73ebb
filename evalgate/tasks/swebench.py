"""SWE-bench instances: rows of JSON that name a repository, a commit and two lists of tests."""

from __future__ import annotations

import json
import re
import shlex
from typing import Final

from evalgate.core.environment import is_image
from evalgate.core.files import File, Tree
from evalgate.core.patch_paths import paths_of_patch
from evalgate.core.python_tests import pytest_command
from evalgate.core.schema import Reader
from evalgate.tasks.draft import (
    PATCH_HINT,
    PATCHED,
    Draft,
    place_in,
    read_id,
    read_instruction,
    script,
)
from evalgate.tasks.marked import json_readers

#: What a row must hold to be one of these.
MARK: Final = b'"FAIL_TO_PASS"'

_IGNORED: Final = ("hints_text", "created_at", "version", "environment_setup_commit", "difficulty")
#: The usual name of an instance's image, where "__" stands as "_1776_".
_IMAGE: Final = "swebench/sweb.eval.x86_64.{name}:latest"
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
_REPO: Final = re.compile(r"[\w.-]+/[\w.-]+")

_TEST_SH: Final = """\
#!/bin/sh
# The tests that must pass now, and those that passed before: both lists count.
tests="${{EVALGATE_TESTS:-/tests}}"
logs="${{EVALGATE_LOGS:-/logs}}/verifier"
mkdir -p "$logs"
if ! python3 -c 'import pytest' || ! git apply --whitespace=nowarn "$tests/test.patch"
then echo 'no pytest, or the patch of the tests does not apply' > "$logs/reward.txt"; exit 1
fi
reward=1
# Code under test that ends the process with 0 has passed nothing: there has to be a report.
tested() {{
  rm -rf "$logs/report"
  {pytest} --junitxml="$logs/report" "$@" || reward=0
  [ -s "$logs/report" ] || reward=0
}}
tested {fail_to_pass}
{pass_to_pass}echo "$reward" > "$logs/reward.txt"
"""


def read_swebench(path: str, files: Tree) -> tuple[Draft, ...]:
    """Read the rows of JSON files; the workspace is that of an image, which is named."""
    return tuple(
        _draft(table)
        for name, file in sorted(files.items())
        for table in json_readers(place_in(path, name), file.data)
    )


def _draft(table: Reader) -> Draft:
    for ignored in _IGNORED:
        table.text(ignored, "")
    name = read_id(table, "instance_id")
    repository, commit = table.text("repo"), table.text("base_commit")
    if not _REPO.fullmatch(repository):
        raise table.error(f"{repository!r} is no owner/name", "repo")
    if not _COMMIT.fullmatch(commit):
        raise table.error(f"{commit!r} is no commit", "base_commit")
    required = [_ids(table, "FAIL_TO_PASS"), _ids(table, "PASS_TO_PASS")]
    if not required[0]:
        raise table.error("names no test", "FAIL_TO_PASS")
    image = _IMAGE.format(name=name.replace("__", "_1776_").casefold())
    if not is_image(image):
        hint = "letters, digits, '.', '_' and '-', as in owner__name-1"
        raise table.error(f"{name!r} can not stand in an image's name", "instance_id", hint=hint)
    draft = Draft(
        id=name,
        instruction=read_instruction(table, "problem_statement"),
        image=image,
        workdir="/testbed",
        tests={
            "test.sh": script(_test_sh(*required)),
            "test.patch": _patch(table, "test_patch"),
        },
        solution={"solve.sh": script(PATCHED), "fix.patch": _patch(table, "patch")},
        settings={"tags": [repository]},
        commit=commit,
        notes=(
            f"{name} begins at {commit[:12]} of {repository}, in an image that has pytest: {image}",
        ),
    )
    table.done()
    return draft


def _ids(table: Reader, key: str) -> list[str]:
    """Read ids of pytest, from a list or from the text of one, as the published rows have them."""
    if isinstance(table.raw.get(key), str):
        text = table.text(key)
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise table.error("is no list", key) from error
        inner = Reader({key: value}, table.source, table.path)
        ids = inner.texts(key)
    else:
        ids = table.texts(key)
    for one in ids:
        if "::" not in one or one.startswith("-") or not one.isprintable():
            hint = "tests are run by pytest: tests/test_a.py::test_b"
            raise table.error(f"{one[:80]!r} is no id of pytest", key, hint=hint)
    return list(ids)


def _test_sh(fail_to_pass: list[str], pass_to_pass: list[str]) -> str:
    kept = f"tested {shlex.join(pass_to_pass)}\n"
    return _TEST_SH.format(
        pytest=pytest_command("-q", own_options=True),
        fail_to_pass=shlex.join(fail_to_pass),
        pass_to_pass=kept if pass_to_pass else "",
    )


def _patch(table: Reader, key: str) -> File:
    text = table.text(key)
    if not text.strip():
        raise table.error("must not be empty", key)
    data = (text if text.endswith("\n") else f"{text}\n").encode()
    try:
        paths_of_patch(data)
    except ValueError as error:
        raise table.error(str(error), key, hint=PATCH_HINT) from error
    return File(data=data)
