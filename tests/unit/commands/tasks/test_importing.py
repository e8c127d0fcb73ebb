"""`evalgate task import`: all of what is named or nothing, and nothing is overwritten."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from evalgate.commands.tasks.importing import ImportOptions, write_tasks
from evalgate.commands.tasks.writing import TaskFolders, write_folders
from evalgate.core.files import File, FileMode
from evalgate.core.identity import storage_key
from evalgate.errors import EvalgateError, UsageError
from evalgate.repo.git import Git
from evalgate.tasks.formats import FORMATS, read_drafts
from evalgate.tasks.marks import IN_PLACE
from tests.formats import CRITERIA, GOOD, ROW, files, lay

IDS = ["*", " a", "a ", "a  b", "a[1]", "a?", "a:b", "tag:a", "e\u0301"]
PATCHES = [
    "nothing of the kind\n",
    "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n",
    "--- a/x\n+++ /etc/x\n@@ -1 +1 @@\n-a\n+b\n",
    "--- a/x\n+++ b/.git/config\n@@ -1 +1 @@\n-a\n+b\n",
    'diff --git "a/\\056\\056/x" "b/\\056\\056/x"\nnew file mode 100644\n',
    "diff --git a/x b/x\nrename from x\nrename to ../y\n",
    "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc\n",
    "diff --git a/x b/x\nindex 1..2 160000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
    "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-a\n+b\n",
    "@@ -1 +1 @@\n-a\n+b\n",
]
A = {"path": "a", "content": ""}


def json_of(good, **changed):
    return File(data=json.dumps({**good, **changed}).encode())


@pytest.fixture
def sources(tmp_path):
    """One task of every format on disk: folders, and files where these are the task."""
    found = {}
    for name in FORMATS:
        folder = lay(tmp_path / "sources" / name, GOOD[name])
        found[name] = folder if name in IN_PLACE else next(folder.iterdir())
    return found


def bring(tmp_path, *sources, **more):
    folders = TaskFolders(folder=tmp_path / "tasks", name="tasks")
    return write_tasks(ImportOptions(sources=sources, **more), folders)


def laid(tmp_path):
    """Return what lies in the folder of tasks."""
    folder = tmp_path / "tasks"
    return sorted(one.name for one in folder.iterdir()) if folder.exists() else []


def test_every_format_is_brought(tmp_path, sources):
    """Whole folders, scripts that run, in a document that says where."""
    answer = bring(tmp_path, *sources.values())
    names = [
        *("criteria-double", "golden-double", "golden-other", "snapshot", "some__double-1"),
        "terminal-bench",
    ]
    assert laid(tmp_path) == names
    assert sorted(one["id"] for one in answer.value["tasks"]) == names
    for name in names:
        assert (tmp_path / "tasks" / name / "tests/test.sh").stat().st_mode & 0o111
    toml = (tmp_path / "tasks/golden-other/task.toml").read_text()
    assert "timeout_sec = 120.0" in toml
    assert "max_turns = 15" in toml


def test_a_folder_full_of_them_is_looked_into(tmp_path, sources):
    """One level deep; what is none of them is passed over."""
    both = tmp_path / "many"
    for name in ("terminal-bench", "snapshot"):
        shutil.copytree(sources[name], both / name)
    lay(both, files(README_dot_md="words"))
    bring(tmp_path, both)
    assert laid(tmp_path) == ["snapshot", "terminal-bench"]


def test_what_lies_beside_the_tasks_is_neither_followed_nor_waited_for(tmp_path, sources):
    """Links to files and folders, one that leads nowhere, and a pipe to which nobody writes."""
    many = tmp_path / "many"
    shutil.copytree(sources["snapshot"], many / "real")
    shutil.copytree(sources["terminal-bench"], tmp_path / "elsewhere")
    (many / "folder").symlink_to(tmp_path / "elsewhere")
    (many / "file.py").symlink_to(sources["golden"])
    (many / "lost").symlink_to(tmp_path / "nowhere")
    (many / "ring").symlink_to(many / "ring")
    os.mkfifo(many / "pipe.json")
    bring(tmp_path, many)
    assert laid(tmp_path) == ["real"]
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        bring(tmp_path, many / "pipe.json")


@pytest.mark.parametrize("lone", [True, False])
def test_what_is_too_large_is_not_read(lone, tmp_path, sources):
    """As a file beside the tasks, or in the folder of one."""
    many = tmp_path / "many"
    shutil.copytree(sources["snapshot"], many / "one")
    with (many / "film.json" if lone else many / "one/hidden_tests/film").open("wb") as file:
        file.truncate((256 << 20) + 1)
    with pytest.raises(UsageError, match="more than 256 MiB"):
        bring(tmp_path, many)
    assert laid(tmp_path) == []


def test_nothing_is_overwritten(tmp_path, sources):
    """Also not where only one of several is there."""
    (tmp_path / "tasks/snapshot").mkdir(parents=True)
    with pytest.raises(UsageError, match="snapshot is there already"):
        bring(tmp_path, sources["golden"], sources["snapshot"])
    assert laid(tmp_path) == ["snapshot"]
    assert "would write" in bring(tmp_path, sources["golden"], dry_run=True).text
    assert laid(tmp_path) == ["snapshot"]


def test_all_or_nothing(tmp_path, sources):
    """A check that there is not, in one of two tasks."""
    bad = tmp_path / "bad.py"
    bad.write_text('T = [{"id": "x", "prompt": "p", "checks": ["no_such_check"]}]\n')
    with pytest.raises(UsageError, match=r"x would not be sound: .*'no_such_check'"):
        bring(tmp_path, sources["golden"], bad)
    assert laid(tmp_path) == []


@pytest.mark.parametrize(
    ("more", "words"),
    [({"upstream": "https://h"}, "must be a name"), ({"key_env": "HOME"}, "names no variable")],
)
def test_a_list_of_a_stranger_asks_no_judge_elsewhere(more, words, tmp_path):
    """Neither at a host of the stranger's, nor with a secret of this machine."""
    judge = {"id": "j", "upstream": "openai", **more}
    check = {"type": "llm_judge", "rubric": "r", "judge": judge, "advisory": True}
    path = tmp_path / "golden.py"
    path.write_text(f"T = {[{'id': 'x', 'prompt': 'p', 'checks': [check]}]}\n")
    with pytest.raises(UsageError, match=words):
        bring(tmp_path, path)
    assert laid(tmp_path) == []


def test_ids_that_fold_get_folders_of_their_own(tmp_path):
    """By their name on disk."""
    bring(tmp_path, listed(tmp_path, "a/b", "a-b", "a.b"))
    assert laid(tmp_path) == sorted(["a-b", storage_key("a-b"), "a.b"])


@pytest.mark.parametrize("names", [("z", "z"), ("z", "Z"), ("É", "é")])
def test_an_id_is_there_once(names, tmp_path):
    """In one source, in two of them, and beside what the suite has; no folder is written."""
    with pytest.raises(UsageError, match=f"{names[1]!r} is there twice"):
        bring(tmp_path, listed(tmp_path, *names))
    sources = [listed(tmp_path / str(number), name) for number, name in enumerate(names)]
    with pytest.raises(UsageError, match=f"{names[1]!r} is there twice"):
        bring(tmp_path, *sources)
    assert laid(tmp_path) == []
    (other,) = read_drafts("golden", "", {"a.py": File(data=sources[0].read_bytes())})
    there = {f"tasks/other/{path}": file for path, file in other.whole().folder().items()}
    folders = TaskFolders(folder=tmp_path / "tasks", name="tasks")
    with pytest.raises(UsageError, match="id-taken: the id"):
        write_tasks(ImportOptions(sources=sources[1:]), folders, lambda more: {**there, **more})
    assert laid(tmp_path) == []


def listed(folder, *names):
    """Write a golden list of tasks with these ids; return its path."""
    folder.mkdir(exist_ok=True)
    table = [{"id": name, "prompt": "p", "expected_output": "1"} for name in names]
    (folder / "list.py").write_text(f"T = {table!r}\n")
    return folder / "list.py"


def odd(name, changed):
    """Return a good source of a format with files changed."""
    return name, {**GOOD[name], **changed}


ODD = [
    *((odd("criteria", {"task.json": json_of(CRITERIA, id=one)}), "id-form") for one in IDS),
    (odd("swe-bench", {"rows.jsonl": json_of(ROW, instance_id="a b")}), "in an image's name"),
    (odd("swe-bench", {"rows.jsonl": json_of(ROW, instance_id="-a")}), "can not be a task id"),
    (odd("swe-bench", {"rows.jsonl": json_of(ROW, instance_id="é")}), "in an image's name"),
    (odd("swe-bench", {"rows.jsonl": json_of(ROW, instance_id="a..b")}), "in an image's name"),
    *(
        (odd("swe-bench", {"rows.jsonl": json_of(ROW, **{key: bad})}), f"rows.jsonl:1: {key}: ")
        for key in ("patch", "test_patch")
        for bad in PATCHES
    ),
    *((odd("snapshot", {"fix.patch": File(data=bad.encode())}), "fix.patch: ") for bad in PATCHES),
    (odd("snapshot", {"fix.patch": File(data=bytes(range(256)))}), "line 1: holds NUL"),
    (odd("terminal-bench", {"Dockerfile": File(data=b"\x7fELF\0")}), "Dockerfile: is no text"),
    (odd("terminal-bench", {"Dockerfile": File(data=b"RUN x\n")}), "Dockerfile: names no image"),
    (odd("terminal-bench", {"tests/a": File(data=b""), "tests/A": File(data=b"")}), "path-taken"),
    (odd("terminal-bench", {"run-tests.sh": File(data=b"true\r\n")}), "crlf"),
    (
        odd("criteria", {"task.json": json_of(CRITERIA, setup={"files": {"a": "", "a/b": ""}})}),
        "setup.files: 'a/b' lies in 'a', which is no folder",
    ),
    (
        odd("criteria", {"task.json": json_of(CRITERIA, setup={"files": [A, A]})}),
        "'a' stands there twice",
    ),
    (odd("criteria", {"task.json": json_of(CRITERIA, timeoutMs=10**13)}), "timeoutMs: must be"),
    (odd("criteria", {"task.json": json_of(CRITERIA, maxTurns=10**9)}), "maxTurns: must be"),
]


@pytest.mark.parametrize(("source", "words"), ODD)
def test_what_lint_would_refuse_is_not_imported(source, words, tmp_path):
    """And is named by where it comes from, never by a place that it would have had for a while."""
    name, own = source
    folder = lay(tmp_path / "sources" / name, own)
    with pytest.raises(UsageError) as caught:
        bring(tmp_path, folder)
    assert words in caught.value.message
    assert str(tmp_path / "sources") in caught.value.message
    assert caught.value.hint
    assert not (tmp_path / "tasks").exists()


def test_what_is_of_no_format_is_said_with_all_there_are(tmp_path, sources):
    """And so is a format that is none, or another one than the file is in."""
    empty = lay(tmp_path / "empty", files(a_dot_txt=""))
    with pytest.raises(UsageError, match="is of no format") as caught:
        bring(tmp_path, empty)
    assert all(name in caught.value.hint for name in FORMATS)
    with pytest.raises(UsageError, match="no such file"):
        bring(tmp_path, tmp_path / "nowhere")
    with pytest.raises(UsageError, match="'nosuch' is no format"):
        bring(tmp_path, empty, format_name="nosuch")
    with pytest.raises(UsageError, match="is of no format"):
        bring(tmp_path, sources["golden"], format_name="snapshot")


@pytest.mark.parametrize("target", ["/etc/passwd", "../Dockerfile", "../../../x"])
@pytest.mark.parametrize("place", ["tests", "."])
def test_links_are_not_followed(target, place, tmp_path, sources):
    """One that stays is taken as a link, one that leads out is refused."""
    folder = sources["terminal-bench"]
    (folder / "tests/near").symlink_to("run-tests.sh")
    bring(tmp_path, folder)
    assert (tmp_path / "tasks/terminal-bench/tests/near").is_symlink()
    shutil.rmtree(tmp_path / "tasks")
    (folder / place / "link").symlink_to(target)
    with pytest.raises(UsageError, match="link-out: leads out"):
        bring(tmp_path, folder)
    assert laid(tmp_path) == []


class Broken(dict[str, File]):
    """Files in the middle of which something happens."""

    def __init__(self, happens: type[BaseException]) -> None:
        super().__init__({"a": File(data=b""), "b": File(data=b"")})
        self.happens = happens

    def items(self):
        yield "a", self["a"]
        raise self.happens


@pytest.mark.parametrize("happens", [KeyboardInterrupt, MemoryError, SystemExit])
def test_an_interrupted_import_leaves_nothing(happens, tmp_path):
    """Neither what was whole already, nor a half of the next, nor a folder in passing."""
    whole = {"a": File(data=b"")}
    with pytest.raises(happens):
        write_folders({tmp_path / "one": whole, tmp_path / "two": Broken(happens)})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a": File(data=b""), "a/b": File(data=b"")}, "'a/b' lies in 'a'"),
        ({"x" * 300: File(data=b"")}, f"two/{'x' * 300}: "),
        ({"../x": File(data=b"")}, "'../x' leaves the folder"),
    ],
)
def test_what_no_disk_takes_is_named_by_its_place(files, words, tmp_path):
    """And nothing of the others is there either."""
    with pytest.raises(EvalgateError) as caught:
        write_folders({tmp_path / "one": {"a": File(data=b"")}, tmp_path / "two": files})
    assert words in caught.value.message
    assert f"{tmp_path}/two" in caught.value.message
    assert list(tmp_path.iterdir()) == []


def test_an_instance_begins_at_its_commit(tmp_path, git_environment):
    """In a clone, without its history; a commit that is not there is said."""
    clone = lay(tmp_path / "clone", files(double_dot_py="x\n", sub__run_dot_sh="true\n"))
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Start"]):
        subprocess.run(["git", *words], cwd=clone, env=git_environment, check=True)
    commit = Git.locate(clone).resolve("HEAD")
    rows = lay(tmp_path / "rows", {"a.json": row(commit), "b.json": row("0" * 40)})
    bring(tmp_path, rows / "a.json", repo=clone)
    workspace = tmp_path / "tasks/some__double-1/environment/workspace"
    assert sorted(one.relative_to(workspace).as_posix() for one in workspace.rglob("*.*")) == [
        *("double.py", "sub/run.sh")
    ]
    shutil.rmtree(tmp_path / "tasks")
    with pytest.raises(UsageError, match="000000"):
        bring(tmp_path, rows / "b.json", repo=clone)


def row(commit):
    return File(data=json.dumps([{**ROW, "base_commit": commit}]).encode(), mode=FileMode.REGULAR)
