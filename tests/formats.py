"""One good task of every format, as the files of a folder."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path

from evalgate.core.files import File, Tree

TASK_YAML = """\
# A canary of the published tasks stands here.
instruction: |-
  In `double.py`, double(2) should be 4.
author_name: Somebody
author_email: somebody@example.invalid
difficulty: easy
category: programming
tags:
  - arithmetic
parser_name: pytest
max_agent_timeout_sec: 100.0
max_test_timeout_sec: 50
run_tests_in_same_shell: false
disable_asciinema: false
expert_time_estimate_min: 5
junior_time_estimate_min:
"""
COMPOSE = """\
services:
  client:
    build:
      dockerfile: Dockerfile
    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}
    container_name: ${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}
    command: [ "sh", "-c", "sleep infinity" ]
    environment:
      - TEST_DIR=${T_BENCH_TEST_DIR}
    volumes:
      - ${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}
"""
CRITERIA = {
    "id": "criteria-double",
    "prompt": "In `double.py`, double(2) should be 4.",
    "setup": {
        "files": {"double.py": "def double(n):\n    return n + 40\n", "README.md": "Words.\n"},
        "commands": [],
    },
    "successCriteria": [
        {"type": "file_exists", "description": "it is there", "params": {"path": "double.py"}},
        {
            "type": "file_contains",
            "params": {"path": "double.py", "pattern": "^def double"},
        },
        {"type": "file_unchanged", "params": {"path": "README.md"}},
        {
            "type": "command_succeeds",
            "params": {"command": "python3 -c 'import double; assert double.double(2) == 4'"},
        },
        {"type": "no_errors", "params": {"command": "python3 double.py"}},
    ],
    "timeoutMs": 60000,
    "maxTurns": 5,
    "tags": ["arithmetic"],
}
GOLDEN = '''\
"""Golden tasks, which nobody imports."""
import no_such_module

TASKS = [
    {
        "id": "golden-double",
        "prompt": "In `double.py`, double(2) should be 4.",
        "checks": [{"type": "file_exists", "path": "double.py"}],
        "max_tool_calls": 5,
        "tags": ["arithmetic"],
    },
    Golden(id="golden-other", prompt="Say 7.", checks=["only_expected_files"]),
]
'''
TEST = """\
import double


def test_it():
    assert double.double(2) == 4


def test_zero():
    assert double.double(0) == 0
"""
PATCH = """\
diff --git a/double.py b/double.py
--- a/double.py
+++ b/double.py
@@ -1,2 +1,2 @@
 def double(n):
-    return n + 40
+    return n * 2
"""
TEST_PATCH = """\
diff --git a/test_double.py b/test_double.py
new file mode 100644
--- /dev/null
+++ b/test_double.py
@@ -0,0 +1,9 @@
""" + "".join(f"+{line}\n" for line in TEST.splitlines())
ROW = {
    "instance_id": "some__double-1",
    "repo": "some/double",
    "base_commit": "0123456789abcdef0123456789abcdef01234567",
    "patch": PATCH,
    "test_patch": TEST_PATCH,
    "problem_statement": "In `double.py`, double(2) should be 4.",
    "hints_text": "",
    "created_at": "2026-01-01T00:00:00Z",
    "version": "1.0",
    "FAIL_TO_PASS": '["test_double.py::test_it"]',
    "PASS_TO_PASS": "[]",
}


def tar(members: Sequence[tuple[str, bytes]], **odd: object) -> bytes:
    """Return an archive of these files, and of one odd member with these properties."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        if odd:
            member = tarfile.TarInfo("odd")
            for key, value in odd.items():
                setattr(member, key, value)
            archive.addfile(member)
    return out.getvalue()


REPO_TAR = tar([("double.py", b"def double(n):\n    return n + 40\n"), ("sub/a.txt", b"a\n")])
UNITTEST = (
    "import unittest\nfrom double import double\n"
    "class T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(double(2), 4)\n"
)


def files(**named: str | bytes) -> dict[str, File]:
    """Return files; ``__`` in a name is a slash, ``_dot_`` a dot, ``_dash_`` a dash."""
    marks = {"__": "/", "_dot_": ".", "_dash_": "-"}
    found = {}
    for name, text in named.items():
        path = name
        for mark, letter in marks.items():
            path = path.replace(mark, letter)
        found[path] = File(data=text.encode() if isinstance(text, str) else text)
    return found


def lay(folder: Path, own: Tree) -> Path:
    """Write files below a folder of the disk; return it."""
    for path, file in own.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.data)
    return folder


#: Format -> the files of one good task of it.
GOOD = {
    "terminal-bench": files(
        task_dot_yaml=TASK_YAML,
        docker_dash_compose_dot_yaml=COMPOSE,
        Dockerfile="FROM evalgate-base:debian\nWORKDIR /app\nCOPY double.py /app/\n",
        double_dot_py="def double(n):\n    return n + 40\n",
        run_dash_tests_dot_sh="PYTHONPATH=. python3 -m unittest discover -s $TEST_DIR\n",
        tests__test_double_dot_py=UNITTEST,
        solution_dot_sh="#!/bin/bash\nsed -i 's/n + 40/n * 2/' double.py\n",
    ),
    "snapshot": files(
        issue_dot_md="In `double.py`, double(2) should be 4.\n",
        repo_dot_tar=REPO_TAR,
        hidden_tests__test_double_dot_py=UNITTEST,
        fix_dot_patch=PATCH,
    ),
    "criteria": files(task_dot_json=json.dumps(CRITERIA, indent=1)),
    "swe-bench": files(rows_dot_jsonl=json.dumps(ROW) + "\n"),
    "golden": files(golden_dot_py=GOLDEN),
}
