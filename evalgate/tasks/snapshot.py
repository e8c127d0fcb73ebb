"""Snapshot folders: issue.md, repo.tar (of `git archive`), hidden_tests/, perhaps fix.patch."""

from __future__ import annotations

from typing import Final

from evalgate.core.files import Tree, subtree
from evalgate.core.patch_paths import paths_of_patch
from evalgate.core.python_tests import pytest_command
from evalgate.errors import UsageError
from evalgate.tasks.draft import PATCH_HINT, PATCHED, Draft, id_of_folder, script
from evalgate.tasks.marks import IN_PLACE
from evalgate.tasks.repo_tar import read_tar

#: The file that makes a folder one of these, beside one of the others.
MARK: Final = IN_PLACE["snapshot"]

_PARTS: Final = (MARK, "repo.tar", "fix.patch", "hidden_tests")
_SCRIPTS: Final = ("test.sh", "run.sh", "run_tests.sh", "run-tests.sh")

_PYTHON_SH: Final = f"""\
#!/bin/sh
# Runs hidden tests in Python by pytest where it is installed, else by unittest. Code under test
# that ends the process with 0 has not passed them: both have to leave a report.
tests="${{EVALGATE_TESTS:-/tests}}"
report="${{EVALGATE_LOGS:-/logs}}/report"
rm -rf sitecustomize.py usercustomize.py "$report"
export PYTHONPATH="$PWD" PYTHONDONTWRITEBYTECODE=1
if python3 -c 'import pytest' 2>/dev/null
then {pytest_command("-q")} --junitxml="$report" "$tests"
else python3 -c '
import sys, unittest
suite = unittest.defaultTestLoader.discover(sys.argv[1])
result = unittest.TextTestRunner(verbosity=2).run(suite)
open(sys.argv[2], "w").write("ran")
sys.exit(not (result.wasSuccessful() and result.testsRun))
' "$tests" "$report"
fi && [ -s "$report" ]
"""
_RUN_SH: Final = """\
#!/bin/sh
# What runs the hidden tests of a snapshot folder; its exit code counts.
tests="${{EVALGATE_TESTS:-/tests}}"
exec {shell} "$tests/{name}"
"""


def read_snapshot(path: str, files: Tree) -> tuple[Draft, ...]:
    """Read one folder; what its archive holds is a stranger's, and taken within limits."""
    for name in sorted(files):
        if name.split("/")[0] not in _PARTS:
            hint = f"a snapshot folder holds {', '.join(_PARTS)}"
            raise UsageError(f"{path}/{name}: nothing reads this", hint=hint)
    if "repo.tar" not in files:
        hint = "git archive --format=tar -o repo.tar COMMIT"
        raise UsageError(f"{path}/repo.tar: the file is missing", hint=hint)
    try:
        issue = files[MARK].data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}/{MARK}: {error}", hint="write the file in UTF-8") from error
    if not issue.strip() or "\0" in issue:
        raise UsageError(f"{path}/{MARK}: asks for nothing", hint="say what is wrong")
    fix = files.get("fix.patch")
    if fix is not None:
        try:
            paths_of_patch(fix.data)
        except ValueError as error:
            raise UsageError(f"{path}/fix.patch: {error}", hint=PATCH_HINT) from error
    draft = Draft(
        id=id_of_folder(path),
        instruction=issue,
        workspace=read_tar(f"{path}/repo.tar", files["repo.tar"].data),
        tests=_tests(path, subtree(files, "hidden_tests")),
        solution={} if fix is None else {"solve.sh": script(PATCHED), "fix.patch": fix},
    )
    return (draft,)


def _tests(path: str, tests: Tree) -> Tree:
    if not tests:
        message = f"{path}/hidden_tests: there is nothing in it"
        raise UsageError(message, hint="put the tests there that decide")
    if "test.sh" in tests:
        return tests
    for name in _SCRIPTS[1:]:
        if name in tests:
            shell = "bash" if b"bash" in tests[name].data.split(b"\n")[0] else "sh"
            return {**tests, "test.sh": script(_RUN_SH.format(shell=shell, name=name))}
    if any(name.endswith(".py") and "test" in name.rpartition("/")[2] for name in tests):
        return {**tests, "test.sh": script(_PYTHON_SH)}
    hint = "add test.sh: it runs in the repository and finds the tests at $EVALGATE_TESTS"
    raise UsageError(f"{path}/hidden_tests: nothing here runs the tests", hint=hint)
