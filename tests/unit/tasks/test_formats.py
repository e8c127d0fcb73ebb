"""Tasks of other formats: read as what they say, or refused by name, with file and line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from evalgate.checks.table import CHECKS, build_checks
from evalgate.core.environment import SetUp
from evalgate.core.files import File, FileMode
from evalgate.errors import UsageError
from evalgate.tasks.formats import FORMATS, format_of, read_drafts
from evalgate.tasks.harbor import load_harbor_task
from evalgate.tasks.marks import IN_PLACE
from evalgate.tasks.repo_tar import read_tar
from evalgate.tasks.suite import load_suite, read_folders
from tests.formats import CRITERIA, GOLDEN, GOOD, ROW, TASK_YAML, files, tar
from tests.pages import PAGES, coded, rows

PLACE = "tasks/one"


def tasks(name, changed=None):
    """Return the tasks that a good folder of a format makes, with files changed."""
    own = {**GOOD[name], **(changed or {})}
    own = {path: file for path, file in own.items() if file is not None}
    if "rows.json" in own:
        del own["rows.jsonl"]
    return [load_harbor_task(PLACE, one.folder()) for one in read_drafts(name, PLACE, own)]


def refused(name, changed):
    """Return the words with which changed files are refused."""
    with pytest.raises(UsageError) as caught:
        tasks(name, changed)
    assert caught.value.hint
    return caught.value.message


def criteria(**more):
    return files(task_dot_json=json.dumps({**CRITERIA, **more}, indent=1))


def criterion(**check):
    return criteria(successCriteria=[check])


def row(**more):
    return files(rows_dot_jsonl="\n" + json.dumps({**ROW, **more}))


def yaml(old, new):
    assert old in TASK_YAML
    return files(task_dot_yaml=TASK_YAML.replace(old, new))


def golden(old, new):
    assert old in GOLDEN
    return files(golden_dot_py=GOLDEN.replace(old, new))


@pytest.mark.parametrize("name", FORMATS)
def test_a_good_one_is_known_and_read(name):
    """With all that it says; its checks are ones that there are."""
    assert format_of(GOOD[name]) == name
    first, *_ = tasks(name)
    assert "double(2) should be 4" in first.instruction
    assert load_harbor_task(PLACE, read_drafts(name, PLACE, GOOD[name])[0].whole().folder())
    for check in first.checks:
        assert check.type in CHECKS
    build_checks(first)


def test_terminal_bench():
    """The tests' own script is run by ours, which makes a reward of its exit code."""
    (task,) = tasks("terminal-bench")
    assert (task.limits.agent_seconds, task.limits.grade_seconds) == (100, 50)
    assert task.tags == ("arithmetic",)
    assert set(task.environment.context) == {"Dockerfile", "double.py"}
    assert set(task.tests) == {"run-tests.sh", "test.sh", "test_double.py"}
    assert set(task.solution) == {"solve.sh"}
    image = "services:\n  client:\n    image: debian:13\n    working_dir: /work\n"
    (named,) = tasks("terminal-bench", files(docker_dash_compose_dot_yaml=image))
    assert (named.environment.image, named.environment.workdir) == ("debian:13", "/work")
    assert not named.environment.context


def test_a_snapshot():
    """Its archive is the workspace; who runs the tests is said or found out."""
    (task,) = tasks("snapshot")
    assert (task.id, set(task.workspace)) == ("one", {"double.py", "sub/a.txt"})
    assert b"pytest" in task.tests["test.sh"].data
    (own,) = tasks("snapshot", files(hidden_tests__run_dot_sh="#!/bin/bash\nexit 0\n"))
    assert b'exec bash "$tests/run.sh"' in own.tests["test.sh"].data
    (ours,) = tasks("snapshot", files(hidden_tests__test_dot_sh="exit 0\n"))
    assert ours.tests["test.sh"].data == b"exit 0\n"


def test_criteria():
    """All five types, limits in our units, files also as a list."""
    (task,) = tasks("criteria")
    assert task.id == "criteria-double"
    assert (task.limits.agent_seconds, task.limits.max_turns) == (60, 5)
    assert [check.type for check in task.checks] == [
        *("file_exists", "file_contains", "file_unchanged", "command_succeeds"),
        *("command_succeeds", "no_errors_in_output"),
    ]
    (answer,) = tasks("criteria", criterion(type="no_errors"))
    assert [(check.type, check.params) for check in answer.checks] == [("no_errors_in_output", {})]
    listed = {"files": [{"path": "a/b.py", "content": "x"}], "commands": ["npm install"]}
    (other,) = tasks("criteria", criteria(setup=listed))
    assert other.workspace["a/b.py"].data == b"x"
    assert other.environment.set_up == SetUp(commands=("npm install",), network=True)
    (offline,) = tasks("criteria", criteria(setup={**listed, "network": False}))
    assert not offline.environment.set_up.network
    params = {"path": "a", "text": "a.b"}
    (words,) = tasks("criteria", criterion(type="file_contains", params=params))
    assert words.checks[0].params["pattern"] == r"a\.b"


@pytest.mark.parametrize("python", ["with pytest", "without"])
@pytest.mark.parametrize(
    ("left", "passes"),
    [
        ({"double.py": "def double(n):\n    return n * 2\n"}, True),
        ({"double.py": "def double(n):\n    return n\n"}, False),
        ({"double.py": "import os\nos._exit(0)\n"}, False),
        ({"double.py": "", "sitecustomize.py": "import os\nos._exit(0)\n"}, False),
        ({"double.py": "", "conftest.py": "import os\nos._exit(0)\n"}, False),
    ],
)
def test_a_snapshot_is_not_passed_by_an_early_end(tmp_path, python, left, passes):
    """Its hidden tests have no list of names: they leave a report, or have not passed."""
    (task,) = tasks("snapshot")
    for name in ("tests", "logs", "repo", "bin"):
        (tmp_path / name).mkdir()
    for path, file in task.tests.items():
        (tmp_path / "tests" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / path).write_bytes(file.data)
    for path, text in left.items():
        (tmp_path / "repo" / path).write_text(text)
    own = sys.executable if python == "with pytest" else f"{sys.executable} -S"
    (tmp_path / "bin" / "python3").write_text(f'#!/bin/sh\nexec {own} "$@"\n')
    (tmp_path / "bin" / "python3").chmod(0o755)
    env = {
        "PATH": f"{tmp_path}/bin:/usr/bin:/bin",
        "EVALGATE_TESTS": str(tmp_path / "tests"),
        "EVALGATE_LOGS": str(tmp_path / "logs"),
    }
    done = subprocess.run(
        ["sh", tmp_path / "tests" / "test.sh"], cwd=tmp_path / "repo", env=env, capture_output=True
    )
    assert (done.returncode == 0) is passes, done.stdout + done.stderr


def test_golden_lists_are_not_executed():
    """The file imports what is not there, and calls what is not defined."""
    first, other = tasks("golden")
    assert (first.id, first.limits.max_tool_calls, first.tags) == (
        "golden-double",
        5,
        ("arithmetic",),
    )
    assert (other.id, other.instruction) == ("golden-other", "Say 7.\n")
    seven = {"type": "expected_output", "expected": "7", "match": "token"}
    for text, match in (("'7'", "token"), ("7", "number")):
        changed = golden('checks=["only_expected_files"]', f"expected_output={text}")
        task = tasks("golden", changed)[1]
        (check,) = task.checks
        assert task.solution["answer.txt"].data == b"7\n"
        assert {"type": check.type, **check.params} == {**seven, "match": match}


def test_swe_bench():
    """Both lists of tests are run, by their ids, after the patch of the tests."""
    kept = {"PASS_TO_PASS": ["test_double.py::test_zero", "t.py::test[a b]"]}
    (task,) = tasks("swe-bench", row(**kept))
    text = task.tests["test.sh"].data.decode()
    assert "\ntested test_double.py::test_it\n" in text
    assert "'t.py::test[a b]'\n" in text
    assert task.environment.image == "swebench/sweb.eval.x86_64.some_1776_double-1:latest"
    assert set(task.solution) == {"fix.patch", "solve.sh"}
    assert task.limits.agent_seconds == 120


REFUSED = [
    ("terminal-bench", yaml("difficulty:", "dificulty:"), "task.yaml:6: dificulty: unknown key"),
    ("terminal-bench", yaml("50", "-1"), "task.yaml:12: max_test_timeout_sec: must be a number"),
    (
        "terminal-bench",
        yaml("pytest", "swebench"),
        "task.yaml:10: parser_name: must be one of pytest, not",
    ),
    (
        "terminal-bench",
        yaml("shell: false", "shell: true"),
        "task.yaml:13: run_tests_in_same_shell",
    ),
    ("terminal-bench", yaml("Somebody", "&a b"), "task.yaml:4: anchors and aliases"),
    ("terminal-bench", yaml("easy", "!!python/object:os.system x"), "task.yaml:6: could not deter"),
    ("terminal-bench", yaml("category:", "tags:"), "task.yaml:8: the key 'tags'"),
    ("terminal-bench", files(task_dot_yaml="- 1\n"), "task.yaml:1: the file: must be a table"),
    ("terminal-bench", {"run-tests.sh": None}, "tasks/one/run-tests.sh: the file is missing"),
    ("terminal-bench", {"Dockerfile": None}, "docker-compose.yaml:3: services.client.build"),
    ("terminal-bench", files(solution_dot_yaml="a: 1"), "solution.yaml: solutions in YAML"),
    (
        "terminal-bench",
        files(docker_dash_compose_dot_yaml="services:\n  a:\n    image: b\n  c:\n    image: d\n"),
        "docker-compose.yaml:1: services: several containers",
    ),
    (
        "terminal-bench",
        files(docker_dash_compose_dot_yaml="services:\n  a:\n    privileged: true\n    image: b\n"),
        "docker-compose.yaml:3: services.a.privileged: unknown key",
    ),
    ("snapshot", {"repo.tar": None}, "tasks/one/repo.tar: the file is missing"),
    ("snapshot", {"hidden_tests/test_double.py": None}, "hidden_tests: there is nothing in it"),
    ("snapshot", files(notes_dot_txt=""), "tasks/one/notes.txt: nothing reads this"),
    ("snapshot", files(issue_dot_md=" \n"), "tasks/one/issue.md: asks for nothing"),
    ("criteria", criteria(maxTurn=3), "task.json:50: maxTurn: unknown key"),
    ("criteria", criteria(maxTurns=0), "maxTurns: must be a whole number of at least 1"),
    ("criteria", criteria(id="../x"), "task.json:2: id: '../x' can not be a task id"),
    ("criteria", criteria(setup={"files": {"../a": ""}}), "setup.files.../a: '../a' leaves"),
    ("criteria", criteria(setup={"file": {}}), "task.json:5: setup.file: unknown key"),
    ("criteria", criteria(setup={"files": {"x/" * 2000 + "y": ""}}), "a path that no disk takes"),
    ("criteria", criteria(setup={"files": {"x" * 300: ""}}), "a path that no disk takes"),
    ("criteria", criteria(maxTurns=1 << 70), "maxTurns: is an enormous number"),
    ("criteria", criteria(successCriteria=[]), "successCriteria: must hold a criterion"),
    ("criteria", criterion(type="looks_good"), "successCriteria.type: must be one of"),
    ("criteria", criterion(type="file_exists", params={}), "'path' is missing"),
    ("criteria", criterion(type="no_errors", params={"cmd": "x"}), "params.cmd: unknown key"),
    ("criteria", files(task_dot_json='{"id": 1, "id": 2}'), "the key 'id' stands there twice"),
    ("criteria", files(task_dot_json='{"a": NaN}'), "NaN is no number of JSON"),
    ("criteria", files(task_dot_json="[" * 10_000), "task.json"),
    ("criteria", files(other_dot_py=""), "tasks/one/other.py: nothing reads this"),
    ("swe-bench", files(rows_dot_json="[[1]"), "rows.json:1: the file: must be a table"),
    ("swe-bench", files(rows_dot_json='[{"a": 1}]]'), "rows.json:1: "),
    ("swe-bench", row(extra=1), "rows.jsonl:2: extra: unknown key"),
    ("swe-bench", row(FAIL_TO_PASS="[]"), "rows.jsonl:2: FAIL_TO_PASS: names no test"),
    ("swe-bench", row(FAIL_TO_PASS=["test_a (x.T)"]), "'test_a (x.T)' is no id of pytest"),
    ("swe-bench", row(base_commit="HEAD"), "rows.jsonl:2: base_commit: 'HEAD' is no commit"),
    ("swe-bench", row(test_patch=""), "rows.jsonl:2: test_patch: must not be empty"),
    ("golden", golden('"prompt"', '"promt"'), "golden.py:5: the file: 'prompt' is missing"),
    ("golden", golden('"tags"', '"tag"'), "golden.py:10: tag: unknown key"),
    ("golden", golden("[{", "open('x'), [{"), "golden.py:8"),
    ("golden", golden('"Say 7."', "secret()"), "golden.py:12: prompt: is no literal"),
    (
        "golden",
        golden('"tags": ["ar', f'"expected_output": 0x{"f" * 6000}, "tags": ["ar'),
        "enormous",
    ),
    ("golden", golden('"type"', '"kind"'), "golden.py:8: checks: {'kind'"),
    ("golden", files(golden_dot_py="def f(:\n"), "golden.py:1: invalid syntax"),
    ("golden", files(golden_dot_py="X = 1\n"), "golden.py: there is no list of tasks"),
]


@pytest.mark.parametrize(("name", "changed", "words"), REFUSED)
def test_what_is_not_known_is_refused_by_name(name, changed, words):
    """With the file, its line where it has one, and a hint."""
    assert words in refused(name, changed)


SPARSE = {"type": b"S", "size": 1 << 50}
TARS = [
    (tar([("../x", b"")]), "'../x' leaves the workspace"),
    (tar([("/etc/x", b"")]), "'/etc/x' leaves the workspace"),
    (tar([("a/.git/config", b"")]), "is git's"),
    (tar([("a", b"1"), ("./a", b"2")]), "'a' is in it twice"),
    (tar([("a", b""), ("a/b", b"")]), "'a/b' lies in 'a', which is no folder"),
    (tar([], type=b"2", linkname="../../etc"), "the link 'odd' leads out, to '../../etc'"),
    (tar([], type=b"2", linkname="/etc/passwd"), "the link 'odd' leads out"),
    (tar([("a", b"")], type=b"1", linkname="a"), "'odd' is neither a file nor a symbolic link"),
    (tar([], type=b"3"), "'odd' is neither a file nor a symbolic link"),
    (tar([("a", b"x" * 100)])[:600], "repo.tar: "),
    (tar([("a", b"x")], size=1 << 40), "or 256 MiB"),
    (tar([("a", b"")], size=-1024), "repo.tar: "),
    (tar([("a", b"")], type=b"x", size=-1024), "repo.tar: "),
    (tar([]), "holds no file"),
    (b"\x1f\x8b" + b"x" * 600, "can not be read"),
    (b"", "can not be read"),
]


@pytest.mark.parametrize(("data", "words"), TARS)
def test_an_archive_leads_nowhere(data, words):
    """Nothing of a stranger's archive is laid where it says, nor taken without end."""
    with pytest.raises(UsageError) as caught:
        read_tar("repo.tar", data)
    assert words in caught.value.message


def test_an_archive_keeps_links_and_modes():
    """Those that stay inside."""
    data = tar([("a/b", b"x")], type=b"2", linkname="a/b", mode=0o777)
    found = read_tar("repo.tar", data)
    assert found["odd"] == File(data=b"a/b", mode=FileMode.SYMLINK)


def placed(name, folder):
    return {f"{folder}/{path}": file for path, file in GOOD[name].items()}


def test_a_suite_of_all_that_is_loaded_in_place():
    """Beside one another, and a JSON file as it lies; the rest is imported, and is no task here."""
    own = {
        **{path: file for name in FORMATS for path, file in placed(name, f"tasks/{name}").items()},
        "tasks/alone.json": criteria(id="alone")["task.json"],
    }
    found = read_folders(own)
    assert [one.error for one in found if one.error] == []
    assert [task.id for task in load_suite(own)] == [
        *("alone", "criteria-double", "snapshot", "terminal-bench")
    ]
    assert {one.format for one in found} == set(IN_PLACE)


def test_a_folder_of_ours_may_hold_one_of_another_format():
    """A task about tasks."""
    own = placed("snapshot", "tasks/a/environment/workspace/inner")
    own |= files(tasks__a__task_dot_toml="", tasks__a__tests__test_dot_sh="")
    own |= files(tasks__a__instruction_dot_md="x")
    assert [task.id for task in load_suite(own)] == ["a"]


def test_every_format_is_told():
    """On the page, and whether it is imported."""
    told = rows("## Other formats", PAGES["docs/tasks.md"])
    assert {coded(name)[0]: how.removesuffix(" |") for name, _, how in told} == {
        name: "as it is" if name in IN_PLACE else "imported" for name in FORMATS
    }


def test_readers_of_other_formats_are_loaded_where_there_is_one():
    """YAML and archives would make every command slower."""
    code = (
        "import sys\nfrom evalgate.core.files import File\n"
        "from evalgate.tasks.suite import read_folders\n"
        "read_folders({'tasks/a/task.toml': File(data=b''), 'tasks/a/b.json': File(data=b'{}')})\n"
        "print(*sorted({'yaml', 'tarfile', 'tomli_w', 'ast'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() in ([], ["ast"])
