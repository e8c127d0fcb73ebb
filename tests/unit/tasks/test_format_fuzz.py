"""Files of every format, broken in many ways: errors, and never a traceback."""

from __future__ import annotations

import contextlib
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from evalgate.commands.tasks.lint import broken
from evalgate.core.files import File
from evalgate.errors import UsageError
from evalgate.tasks.formats import format_of, read_drafts
from evalgate.tasks.harbor import load_harbor_task
from evalgate.tasks.suite import read_folders
from tests.formats import GOOD, files

PLACE = "tasks/one"


def read_anything(own):
    """Read files all the way, hold them to the rules; nothing but a UsageError may come out."""
    for problem in broken(read_folders({f"{PLACE}/{path}": file for path, file in own.items()})):
        assert problem[1].words
    with contextlib.suppress(UsageError):
        drafts = read_drafts(name, PLACE, own) if (name := format_of(own)) else ()
        for draft in drafts:
            load_harbor_task(PLACE, draft.whole().folder())


PIECES = [
    *(b"\n", b": ", b"- ", b"{", b"}", b"[", b"]", b'"', b"'", b"null", b"NaN", b"1e999", b"-1"),
    *(b"true", b"\\ud800", b"\\u0000", b"&a ", b"*a", b"!!binary x", b"../", b"9" * 5000, b"? "),
    *(b"|", b"%", b"#", b"\t", b"\\", b"\xff", b"\r\n", b"0x1f", b"2026-13-45", b"12:61:99", b"_"),
    *(b"~", b"<<: ", b"(", b")", b"**{}", b"None", b"[" * 2000, b"", b"\0", b"!!python/name:os.x"),
]


NAMES = [
    "a\udcff",
    "x" * 300,
    "tests/\n",
    "task.toml",
    "issue.md",
    "tests",
    "solution/a\\b",
    "é",
    ".",
]
OURS = files(
    task_dot_toml="""\
schema_version = "1.4"
[task]
name = "local/ours"
[agent]
timeout_sec = 100
[verifier]
timeout_sec = 50.5
environment_mode = "separate"
[environment]
network_mode = "no-network"
[metadata.evalgate]
max_turns = 8
tags = ["a"]
expected_files = ["double.py"]
expected_tests = ["test_a.T.test_b"]
checks = [{ type = "file_contains", path = "double.py", pattern = "^def" }]
""",
    instruction_dot_md="Mend it.\n",
    environment__workspace__double_dot_py="x\n",
    tests__test_dot_sh="#!/bin/sh\nexit 0\n",
    solution__solve_dot_sh="true\n",
)


def mutated(data, chance):
    """Return bytes with a few pieces changed, or other bytes."""
    if chance.random() < 0.1:
        return chance.randbytes(chance.randrange(200))
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(len(data) + 1)
        piece = chance.choice(PIECES) if chance.random() < 0.8 else chance.randbytes(3)
        data = data[:at] + piece + data[at + chance.randrange(12) :]
    return data


@settings(max_examples=5000, database=None)
@given(seed=st.integers(0, 1 << 64))
def test_no_file_of_a_format_breaks_a_reader(seed):
    """5,000 over all formats: bytes, and good files with pieces changed."""
    chance = random.Random(seed)
    kinds = {**GOOD, "ours": OURS}
    # Reading YAML takes ten times as long.
    weights = [1 if name == "terminal-bench" else 3 for name in kinds]
    (name,) = chance.choices(list(kinds), weights)
    own = dict(kinds[name])
    path = chance.choice(sorted(own))
    file = File(data=mutated(own[path].data, chance))
    if chance.random() < 0.1:
        del own[path]
        path = chance.choice(NAMES)
    read_anything({**own, path: file})
