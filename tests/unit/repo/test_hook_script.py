"""The hook's own look at a push, in real shells: silent only where nothing can be to judge."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evalgate.core.config import load_config
from evalgate.core.schema import Source
from evalgate.errors import UsageError
from evalgate.repo.fingerprint import fingerprint
from evalgate.repo.hook_script import (
    PREVIOUS,
    is_ours,
    lines_of,
    projects_in,
    quoted,
    render_script,
    with_project,
    write_script,
)
from evalgate.repo.place import find_place
from evalgate.repo.pushed import PushedRef, pair_for_push
from evalgate.repo.subject import Subject
from evalgate.repo.treeview import open_tree
from evalgate.repo.watched import Watch, agree, watch_of

ZERO = "0" * 40
CONFIG = """
[harness]
root = "the é agent"
[harness.parts]
prompt = ["prompts/[ab]*.md"]
code = ["code/**/*.py", "it's.py"]
[models.main]
id = "m"
upstream = "local-model"
[models.played]
id = "p"
upstream = "scripted:plans/fix it.toml"
"""
FILES = {
    "evalgate.toml": CONFIG,
    "README.md": "r",
    "the é agent/prompts/a.md": "a",
    "the é agent/prompts/zebra.md": "no part",
    "the é agent/code/x.py": "x",
    "the é agent/code/deep er/ü.py": "y",
    "the é agent/it's.py": "z",
    "the é agent/plans/fix it.toml": "format = 1",
    "elsewhere/prompts/a.md": "no part",
}


class Hooked:
    """A clone with the hook, whose Python is a program that keeps what it is given."""

    def __init__(self, work: Any, shell: str, prefix: str = ".") -> None:
        self.work, self.shell = work, shell
        self.hook = work.path / ".git/hooks/pre-push"
        self.asked = work.path / ".git/asked"
        stub = work.path / ".git/python of ours"
        stub.write_text('#!/bin/sh\n{ echo "$@"; cat; } >> "$(dirname "$0")/asked"\nexit 7\n')
        stub.chmod(0o755)
        place = find_place(work.path / prefix)
        watch = watch_of(place, "HEAD")
        assert watch is not None
        self.hook.parent.mkdir(exist_ok=True)
        text = render_script(str(stub), str(stub), {prefix: lines_of(prefix, watch)})
        write_script(self.hook, text)

    def push(self, *lines: str, remote: str = "origin", **environ: str) -> int:
        done = subprocess.run(
            [self.shell, str(self.hook), remote, "url"],
            cwd=self.work.path,
            input="".join(f"{line}\n" for line in lines),
            env={**os.environ, **environ},
            capture_output=True,
            text=True,
        )
        assert done.stderr == ""
        return done.returncode

    def line(self, head: str = "HEAD", base: str = "origin/main", ref: str = "refs/heads/x") -> str:
        known = ZERO if base == ZERO else self.work.oid(base)
        return f"{ref} {self.work.oid(head)} {ref} {known}"


@pytest.fixture(params=["sh", "bash"])
def shell(request: pytest.FixtureRequest) -> str:
    """A shell that may be a machine's /bin/sh."""
    found = shutil.which(request.param)
    if found is None:
        pytest.skip(f"{request.param} is not here")
    return found


@pytest.fixture
def hooked(work: Any, clone: Callable[..., Any], shell: str) -> Hooked:
    """The clone of a repository with a configuration and all kinds of parts."""
    work.commit(FILES)
    return Hooked(clone(work), shell)


#: What is written, and whether evalgate itself must look at the push.
EDITS: dict[str, tuple[Mapping[str, str | None], bool]] = {
    "nothing": ({}, False),
    "words": ({"README.md": "words"}, False),
    "a file that no glob takes": ({"the é agent/prompts/zebra.md": "new"}, False),
    "a part's name elsewhere": ({"elsewhere/prompts/a.md": "new"}, False),
    "a bracket": ({"the é agent/prompts/a.md": "new"}, True),
    "a new file of a part": ({"the é agent/prompts/bee.md": "new"}, True),
    "a scripted model's plan": ({"the é agent/plans/fix it.toml": "format = 2"}, True),
    "a plan that no model plays": ({"the é agent/plans/other.toml": "format = 1"}, False),
    "a quote": ({"the é agent/it's.py": "new"}, True),
    "deep, with a space": ({"the é agent/code/deep er/ü.py": "new"}, True),
    "a file of a part is gone": ({"the é agent/code/x.py": None}, True),
    "moved out of the part": (
        {"the é agent/code/x.py": None, "the é agent/code/x.txt": "x"},
        True,
    ),
    "moved within the part": ({"the é agent/code/x.py": None, "the é agent/code/z.py": "x"}, True),
    "the configuration": ({"evalgate.toml": CONFIG + "\n[agent]\nuse = 'command'\n"}, True),
    "the configuration is gone": ({"evalgate.toml": None}, True),
}


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("base", ["origin/main", ZERO])
def test_an_edit_is_looked_at_where_it_touches_what_is_watched(
    hooked: Hooked, name: str, base: str
) -> None:
    """On a branch that the remote has, and on a new one; and Python's own short way agrees."""
    files, looked = EDITS[name]
    for path, text in files.items():
        if text is None:
            (hooked.work.path / path).unlink()
        else:
            hooked.work.write(path, text)
    hooked.work.commit()
    assert hooked.push(hooked.line(base=base)) == (7 if looked else 0)
    assert hooked.asked.exists() == looked
    watch = watch_of(find_place(hooked.work.path), "HEAD") if "is gone" not in name else None
    if watch is not None:
        assert agree(hooked.work.locate(), watch, "origin/main", "HEAD") is not looked


def test_all_that_git_said_is_handed_on(hooked: Hooked) -> None:
    """One ref of several that touches a part is enough; names with spaces stay whole."""
    hooked.work.git("branch", "words")
    hooked.work.commit({"the é agent/it's.py": "new"})
    lines = (hooked.line("words"), hooked.line(ref="HEAD@{1 day ago}"))
    assert hooked.push(*lines) == 7
    words = f"-P -m evalgate hook run --project . --script {hooked.hook} origin url"
    assert hooked.asked.read_text().splitlines() == [words, *lines]
    hooked.asked.unlink()
    assert hooked.push(hooked.line("words"), f"(delete) {ZERO} refs/heads/y {'a' * 40}") == 0
    assert hooked.push() == 0
    assert not hooked.asked.exists()


def test_a_forced_push_is_compared_with_where_it_left(hooked: Hooked) -> None:
    """The same part on both sides of a fork is new all the same; a lost commit is doubt."""
    work = hooked.work
    work.git("switch", "-q", "-c", "mine")
    work.commit({"the é agent/it's.py": "new"})
    work.git("switch", "-q", "-c", "other", "origin/main")
    work.commit({"the é agent/it's.py": "new", "README.md": "other"})
    assert hooked.push(hooked.line("mine", "other")) == 7
    work.git("switch", "-q", "-c", "words", "origin/main")
    work.commit({"README.md": "words"})
    assert hooked.push(hooked.line("words", "mine")) == 0
    assert hooked.push(f"refs/heads/x {work.oid('words')} refs/heads/x {'a' * 40}") == 7


def test_doubt_is_never_nothing(hooked: Hooked) -> None:
    """Two merge bases, a root, a remote by its address, a strange line; a tag of a tree is none."""
    work = hooked.work
    tree = work.oid("HEAD^{tree}")
    assert hooked.push(f"refs/tags/t {tree} refs/tags/t {ZERO}") == 0
    assert hooked.push(hooked.line(base=ZERO), remote="/a/path") == 7
    assert hooked.push("a strange line") == 7
    work.git("switch", "-q", "--orphan", "root")
    work.commit(FILES)
    assert hooked.push(hooked.line(base=ZERO)) == 7
    assert hooked.push(hooked.line()) == 7
    for name in ("one", "two"):
        work.git("switch", "-q", "-c", name, "origin/main")
        work.commit({f"{name}.txt": name})
    old = work.oid("one")
    work.git("switch", "-q", "one")
    work.git("merge", "-q", "-m", "m", "two")
    work.git("switch", "-q", "two")
    work.git("merge", "-q", "-m", "m", old)
    assert hooked.push(hooked.line("two", "one")) == 7


@pytest.mark.parametrize(
    "environ",
    [
        {"GIT_LITERAL_PATHSPECS": "1"},
        {"GIT_NOGLOB_PATHSPECS": "1"},
        {"GIT_CONFIG_PARAMETERS": "'core.bare=true'"},
        {"GIT_INDEX_FILE": "/nowhere/index"},
        {"GIT_GRAFT_FILE": "/nowhere/grafts"},
    ],
    ids=lambda one: next(iter(one)),
)
def test_variables_of_git_change_no_answer(hooked: Hooked, environ: dict[str, str]) -> None:
    """An edit is seen whatever is set."""
    hooked.work.commit({"the é agent/prompts/a.md": "new"})
    assert hooked.push(hooked.line(), **environ) == 7


def test_replaced_commits_and_ignored_submodules_are_seen(hooked: Hooked) -> None:
    """Git can be told to show another commit, and to overlook a submodule."""
    work = hooked.work
    plain = work.commit({"README.md": "words"})
    work.commit({"the é agent/prompts/a.md": "new"})
    work.git("replace", work.oid("HEAD"), plain)
    assert hooked.push(hooked.line()) == 7
    work.git("replace", "-d", work.oid("HEAD"))
    work.git("reset", "-q", "--hard", "origin/main")
    work.git("config", "diff.ignoreSubmodules", "all")
    module = f"160000,{plain},the é agent/prompts/b.md"
    work.git("update-index", "--add", "--cacheinfo", module)
    work.commit_staged()
    assert hooked.push(hooked.line()) == 7


def test_a_hook_that_was_there_runs_first(hooked: Hooked) -> None:
    """It gets the same words and lines, and stops the push by itself."""
    previous = hooked.hook.with_name(PREVIOUS)
    previous.write_text('#!/bin/sh\n{ echo "$@"; cat; } > .git/first\nexit "${CODE:-0}"\n')
    previous.chmod(0o755)
    assert hooked.push(hooked.line()) == 0
    first = hooked.work.path / ".git/first"
    assert first.read_text() == f"origin url\n{hooked.line()}\n"
    assert hooked.push() == 0
    assert first.read_text() == "origin url\n"
    assert hooked.push(hooked.line(), CODE="3") == 3
    previous.chmod(0o644)
    assert hooked.push(hooked.line(), CODE="3") == 0, "git would not run it either"


def test_an_evalgate_that_is_gone_stops_nobody(hooked: Hooked) -> None:
    """Neither without its Python nor without itself; it is said where there is a part to judge."""
    text = hooked.hook.read_text()
    hooked.work.commit({"the é agent/it's.py": "new"})
    for word in ("python", "package"):
        stub = quoted(str(hooked.work.path / ".git/python of ours"))
        hooked.hook.write_text(text.replace(f"{word}={stub}", f"{word}=/nosuch"))
        done = subprocess.run(
            [hooked.shell, str(hooked.hook), "origin", "url"],
            cwd=hooked.work.path,
            input=hooked.line(),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0
        assert "this push is not judged; evalgate hook install" in done.stderr


def test_projects_are_read_back_and_renewed() -> None:
    """Whatever their folders are called and their globs say; others stay as they are."""
    watch = Watch(config="c", oid="1", pathspecs=("a 'quote'\n# project \"x\"\n", "b"))
    projects = {".": lines_of(".", None), "it's é\n": lines_of("it's é\n", None)}
    script = render_script("/p", "/q", projects)
    assert is_ours(script)
    assert projects_in(script) == projects
    renewed = with_project(script, ".", watch)
    assert "untouched 'c' '1'" in renewed
    assert with_project(script, "unknown", watch) == script


def test_a_project_below_the_top(work: Any, clone: Callable[..., Any], shell: str) -> None:
    """Its parts are looked for below it alone."""
    work.commit({**{f"in [1]/{name}": text for name, text in FILES.items()}, **FILES})
    hooked = Hooked(clone(work), shell, prefix="in [1]")
    hooked.work.commit({"the é agent/it's.py": "not ours"})
    assert hooked.push(hooked.line()) == 0
    hooked.work.commit({"in [1]/the é agent/it's.py": "ours"})
    assert hooked.push(hooked.line()) == 7
    assert "--project in [1]" in hooked.asked.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "not TOML",
        "[harness.parts]\n",
        '[harness.parts]\np = "x"\n[models.m]\nupstream = "u"\n',
        '[harness.parts]\np = []\n[models.m]\nupstream = "u"\n',
        '[harness.parts]\np = ["../x"]\n[models.m]\nupstream = "u"\n',
        '[harness.parts]\np = ["\\u0000"]\n[models.m]\nupstream = "u"\n',
        '[harness.parts]\np = ["x"]\n[models.m]\nupstream = "scripted:../plan.toml"\n',
        '[harness]\nroot = 1\nparts = { p = ["x"] }\n[models.m]\nupstream = "u"\n',
    ],
)
def test_what_can_not_be_told_simply_is_not_watched(work: Any, text: str) -> None:
    """Such a push is evalgate's own to look at."""
    work.commit({"evalgate.toml": text, "x": "x"})
    assert watch_of(find_place(work.path), "HEAD") is None
    assert watch_of(find_place(work.path), "HEAD~5") is None


def test_a_hook_is_replaced_while_it_runs(tmp_path: Path) -> None:
    """The shell that reads the old file reads it to its end."""
    hook = tmp_path / "pre-push"
    write_script(hook, "#!/bin/sh\necho reading\nread line\necho old\n")
    with subprocess.Popen(
        [hook], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "reading\n"
        write_script(hook, "#!/bin/sh\necho new\n")
        assert running.communicate("x\n")[0] == "old\n"
    assert subprocess.run([hook], capture_output=True, text=True).stdout == "new\n"
    assert list(tmp_path.iterdir()) == [hook]


GLOBS = (["p/*.md"], ["p/**"], ["p/[!x]*"], ["**/*.md"], ["p/a.md", "q?/*"])
NAMES = ("p/a.md", "p/x.md", "p/d/b.md", "q1/z", "q/z", "README", "src/é c.md", "w.md")


def _random_history(work: Any, luck: random.Random) -> list[str]:
    """Commit edits, deletions and other configurations on branches and merges of them."""
    commits = [work.commit({**dict.fromkeys(NAMES, "old"), "evalgate.toml": _config(luck)})]
    for number in range(9):
        work.git("checkout", "-q", "--detach", luck.choice(commits))
        if luck.random() < 0.25:
            other = luck.choice(commits)
            work.git("merge", "-q", "-Xours", "-m", "m", other, ok=(0, 1))
        for name in luck.sample(NAMES, luck.choice([0, 1, 2])):
            (work.path / name).unlink(missing_ok=True)
            if luck.random() < 0.8:
                work.write(name, luck.choice("abc"))
        work.commit({"evalgate.toml": _config(luck)} if luck.random() < 0.15 else {}, str(number))
        commits.append(work.oid("HEAD"))
    return commits


def _config(luck: random.Random) -> str:
    globs, margin = json.dumps(luck.choice(GLOBS)), luck.choice([1, 2])
    model = 'id = "m"\nupstream = "local-model"'
    return f"[harness.parts]\np = {globs}\n[models.m]\n{model}\n[policy]\nmargin = 0.{margin}\n"


def _digest(work: Any, commit: str) -> str:
    """Return the fingerprint of a commit, or what is wrong with its harness."""
    with open_tree(work.locate(), Subject.parse(commit)) as view:
        config = load_config(
            Source("evalgate.toml", view.read_text("evalgate.toml") or ""), below=()
        )
        assert config is not None
        parts, settings = config.harness.parts, config.settings
        try:
            return fingerprint(view, parts=parts, root="", settings=settings).digest
        except UsageError as error:
            return error.message


@pytest.mark.parametrize("seed", range(3))
def test_it_is_never_silent_where_a_fingerprint_differs(work: Any, seed: int) -> None:
    """Every pair of commits of a random history, pushed over one another and as new branches."""
    luck = random.Random(seed)
    commits = _random_history(work, luck)
    work.git("remote", "add", "origin", "/nowhere")
    work.git("update-ref", "refs/remotes/origin/main", luck.choice(commits))
    work.git("checkout", "-q", "--detach", luck.choice(commits))
    hooked = Hooked(work, "sh")
    digests = {commit: _digest(work, commit) for commit in commits}
    silent = 0
    for head in commits:
        for there in (*commits, ZERO):
            if hooked.push(f"x {head} x {there}"):
                continue
            ref = PushedRef(local_ref="x", local_oid=head, remote_ref="x", remote_oid=there)
            pair = pair_for_push(work.locate(), ref, "origin")
            assert pair is None or digests[head] == digests.get(pair.base or "")
            silent += 1
    assert silent
