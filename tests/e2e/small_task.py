"""A small task: a function that returns a multiple of its argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.e2e.conftest import Repo

#: Hidden tests that say what ``unittest -v`` says, without the time that its imports take.
TEST_SH = """#!/bin/sh
logs="${EVALGATE_LOGS:-/logs}/verifier"; mkdir -p "$logs"
reward=1
for test in "${EVALGATE_TESTS:-/tests}"/test_*.py; do python3 -I -S "$test" || reward=0; done
echo "$reward" > "$logs/reward.txt"
"""
TEST_PY = """import os
import sys

sys.path.append(os.getcwd())
from NAME import NAME

print("test_it (test_NAME.T.test_it) ... ", end="")
right = NAME(2) == WANTED
print("ok" if right else "FAIL")
sys.exit(not right)
"""


def write_task(repo: Repo, name: str, factor: int, checks: Sequence[str] = ()) -> None:
    folder = f"tasks/{name}"
    listed = ", ".join(['{ type = "only_expected_files" }', *checks])
    repo.write(
        f"{folder}/task.toml",
        f'[task]\nname = "{name}"\n[agent]\ntimeout_sec = 30\n[metadata.evalgate]\n'
        f'expected_files = ["{name}.py"]\n'
        f'expected_tests = ["test_{name}.T.test_it"]\nchecks = [{listed}]\n',
    )
    repo.write(f"{folder}/instruction.md", f"In `{name}.py`, {name}(2) should be {2 * factor}.\n")
    workspace = f"{folder}/environment/workspace"
    repo.write(f"{workspace}/{name}.py", f"def {name}(n):\n    return n + 40\n")
    repo.write(f"{folder}/tests/test.sh", TEST_SH)
    test = TEST_PY.replace("NAME", name).replace("WANTED", str(2 * factor))
    repo.write(f"{folder}/tests/test_{name}.py", test)
