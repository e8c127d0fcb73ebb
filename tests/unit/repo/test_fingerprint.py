"""Equal content has one name; every difference has another, and says where it is."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.errors import UsageError
from evalgate.repo.fingerprint import (
    Fingerprint,
    LineCount,
    carried_over,
    diff_counts,
    diff_parts,
    diff_text,
    fingerprint,
)
from evalgate.repo.pathspecs import to_pathspecs
from evalgate.repo.subject import Subject
from evalgate.repo.treeview import open_tree

PARTS = {"prompt": ["prompts/**"], "code": ["agent/**/*.py"]}


def _name(
    work: Any,
    subject: str = "HEAD",
    parts: Mapping[str, Sequence[str]] = PARTS,
    root: str = "",
    settings: bytes = b"{}",
) -> Fingerprint:
    paths = to_pathspecs([glob for globs in parts.values() for glob in globs], root=root)
    with open_tree(work.locate(), Subject.parse(subject), paths=paths) as view:
        return fingerprint(view, parts=parts, root=root, settings=settings)


def test_edit_stage_commit_have_one_name(work: Any) -> None:
    """Record in the work tree, commit afterwards: the evidence still fits."""
    old = _name(work)
    work.write("prompts/a.md", "be very brief\n")
    edited = _name(work, "WORKTREE")
    assert _name(work, "INDEX") == old != edited
    work.git("add", "-A")
    assert _name(work, "INDEX") == edited
    work.commit()
    assert _name(work) == _name(work, "INDEX") == _name(work, "WORKTREE") == edited
    assert len(edited.digest) == 64
    assert diff_parts(old, edited) == ["prompt"]


def test_unrelated_commits_and_reverts_keep_the_name(work: Any) -> None:
    """Content, not time."""
    old = _name(work)
    work.commit({"readme": "other\n"})
    assert _name(work) == old
    work.commit({"prompts/a.md": "worse\n"})
    assert _name(work) != old
    work.git("revert", "--no-edit", "HEAD")
    assert _name(work) == old


def test_everything_counts(work: Any) -> None:
    """Content, name, mode, the part a file is in, and the settings."""
    names = [_name(work).digest, _name(work, settings=b"{1}").digest]
    names.append(_name(work, parts={"prompts": PARTS["prompt"], "code": PARTS["code"]}).digest)
    names.append(_name(work, parts={"all": ["prompts/**", "agent/**"]}).digest)
    (work.path / "agent/main.py").chmod(0o755)
    names.append(_name(work, "WORKTREE").digest)
    (work.path / "prompts/a.md").rename(work.path / "prompts/b.md")
    names.append(_name(work, "WORKTREE").digest)
    assert len(set(names)) == len(names)


def test_the_order_of_globs_does_not_count(work: Any) -> None:
    """A part is a set of files."""
    one = _name(work, parts={"p": ["prompts/*.md", "readme"], "a": ["agent/**"]})
    two = _name(work, parts={"a": ["agent/**"], "p": ["readme", "**/*.md", "prompts/**"]})
    assert one.digest == two.digest
    assert [entry.path for entry in one.entries["p"]] == ["prompts/a.md", "readme"]


def test_a_project_in_a_subdirectory(work: Any) -> None:
    """Moving the whole project keeps the name."""
    old = _name(work)
    work.write("sub/deep/x", "x")
    for name in ("prompts", "agent"):
        work.git("mv", name, f"sub/{name}")
    work.commit()
    assert _name(work, root="sub").digest == old.digest


def test_a_glob_that_matches_nothing(work: Any) -> None:
    """A typo would give a name that never changes."""
    with pytest.raises(
        UsageError, match=r"part 'p': the glob 'promts/\*\*' matches nothing in HEAD"
    ):
        _name(work, parts={"p": ["prompts/**", "promts/**"]})
    with pytest.raises(UsageError, match="no globs"):
        _name(work, parts={"p": []})
    with pytest.raises(UsageError, match="can not be called"):
        _name(work, parts={"settings": ["prompts/**"]})


def test_ignored_files_do_not_count(work: Any) -> None:
    """What git does not know is not in any commit."""
    work.commit({".gitignore": "*.tmp\n"})
    work.write("prompts/x.tmp")
    assert _name(work, "WORKTREE") == _name(work)
    with pytest.raises(UsageError, match="matches nothing") as caught:
        _name(work, "WORKTREE", parts={"p": ["prompts/*.tmp"]})
    assert "ignore" in caught.value.hint


def test_links_that_leave_the_parts(work: Any) -> None:
    """Their targets could change without a change of the name."""
    for name, target in {
        "in": "a.md",
        "dir": "../agent",
        "out": "../readme",
        "far": "/etc/passwd",
        "up": "../../x",
    }.items():
        (work.path / "prompts" / name).symlink_to(target)
    work.commit()
    told = _name(work).warnings
    assert [text.split(" ")[0] for text in told] == ["prompts/far", "prompts/out", "prompts/up"]


def test_a_submodule_in_a_part(work: Any, make_work: Any) -> None:
    """It is told that only its commit counts, which counts also where .gitmodules ignores it."""
    other = make_work("other")
    other.commit({"x": "x"})
    work.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.path), "sub")
    work.commit()
    (told,) = _name(work, parts={"tools": ["sub"]}).warnings
    assert "sub is a submodule" in told
    before = _name(work, parts={"tools": ["sub"]})
    work.git("config", "-f", ".gitmodules", "submodule.sub.ignore", "all")
    work.git("update-index", "--add", "--cacheinfo", f"160000,{work.oid('HEAD')},sub")
    work.git("add", "-f", ".gitmodules")
    work.commit_staged()
    assert _name(work, parts={"tools": ["sub"]}).digest != before.digest


def test_a_sha256_repository_has_other_names(work: Any, make_work: Any) -> None:
    """The ids of the files differ, so the name must."""
    other = make_work("long", "--object-format=sha256")
    other.commit({"prompts/a.md": "be brief\n", "agent/main.py": "print()\n"})
    assert _name(other).digest != _name(work).digest
    assert _name(other) == _name(other, "WORKTREE")


def test_clones_agree(work: Any, clone: Any) -> None:
    """Shallow, partial and full clones give one name; a link of the clone's own is none."""
    names = {
        _name(clone(work, *options, name=f"clone{n}")).digest
        for n, options in enumerate([(), ("--depth=1",), ("--filter=blob:none", "--no-checkout")])
    }
    assert names == {_name(work).digest}


def test_the_digest_is_pinned(work: Any) -> None:
    """Recorded evidence is filed under it: a change here orphans every baseline."""
    blob = hashlib.sha1(b"blob 9\0be brief\n").hexdigest()
    text = b"evalgate-fingerprint\0v1\0sha1\0"
    text += f"part\x00prompt\x001\x00100644 {blob}\tprompts/a.md\x00".encode()
    text += b"settings\0{}"
    named = _name(work, parts={"prompt": ["prompts/**"]})
    assert named.digest == hashlib.sha256(text).hexdigest()


def test_a_change_is_carried_to_an_older_harness(work: Any) -> None:
    """File by file: what it adds, edits and deletes; all else stays as it was in the older one."""
    parts = {"prompt": ["prompts/**"]}
    files = {"prompts/a.md": "a\n", "prompts/b.md": "b\n", "prompts/c.md": "c\n"}
    work.commit(files)
    older = _name(work, parts=parts)
    work.commit({"prompts/b.md": "edited on main\n", "prompts/main.md": "new on main\n"})
    before = _name(work, parts=parts)
    (work.path / "prompts/a.md").unlink()
    work.commit({"prompts/c.md": "edited here\n", "prompts/here.md": "new here\n"})
    after = _name(work, parts=parts)
    work.git("checkout", "-q", "HEAD~2")
    (work.path / "prompts/a.md").unlink()
    work.commit({"prompts/c.md": "edited here\n", "prompts/here.md": "new here\n"})
    git = work.locate()
    assert carried_over(git, older, before, after) == _name(work, parts=parts).digest
    assert carried_over(git, before, before, after) == after.digest
    assert carried_over(git, older, before, before) == older.digest
    other = _name(work, parts=parts, settings=b"{1}")
    assert carried_over(git, older, before, other) not in {older.digest, after.digest}


@given(st.dictionaries(st.sampled_from("abcd"), st.text("xyz"), max_size=4), st.data())
def test_changed_parts(old: dict[str, str], data: st.DataObject) -> None:
    """Exactly the names whose digests differ or that exist on one side only."""
    new = data.draw(st.dictionaries(st.sampled_from("abcd"), st.text("xyz"), max_size=4))
    pair = [Fingerprint(digest="", parts=parts, entries={}, settings=b"") for parts in (old, new)]
    same = {name for name in old if new.get(name) == old[name]}
    assert diff_parts(*pair) == sorted((set(old) | set(new)) - same)


def test_the_diff_between_two_states(work: Any) -> None:
    """Each side may live in a temporary directory; outside programs are never asked."""
    work.git("config", "diff.external", "false")
    work.git("config", "diff.bin.textconv", "false")
    work.write(".gitattributes", "*.md diff=bin\n")
    work.write("prompts/a.md", "staged\n")
    work.git("add", "-A")
    work.write("prompts/a.md", "be brief\nand kind\n")
    work.write("prompts/raw", b"\0\xff")
    git = work.locate()
    with (
        open_tree(git, Subject.parse("INDEX")) as index,
        open_tree(git, Subject.parse("WORKTREE"), paths=[":(top)"]) as disk,
        open_tree(git, Subject.parse("HEAD")) as head,
    ):
        text = diff_text(git, index, disk, ["prompts/*.md"])
        assert "-staged\n+be brief\n+and kind\n" in text
        assert diff_counts(git, head, disk, ["**"], "prompts") == {
            "prompts/a.md": LineCount(added=1, removed=0),
            "prompts/raw": LineCount(added=None, removed=None),
        }
        assert diff_text(git, head, disk, []) == ""
        assert diff_text(git, disk, disk, ["**"]) == ""


def test_line_ends_on_disk_do_not_count(work: Any) -> None:
    """A checkout with CRLF is the same harness."""
    old = _name(work)
    work.git("config", "core.autocrlf", "true")
    (work.path / "prompts/a.md").unlink()
    work.git("checkout", "--", "prompts/a.md")
    assert (work.path / "prompts/a.md").read_bytes() == b"be brief\r\n"
    os.utime(work.path / "prompts/a.md", (1, 1))
    assert _name(work, "WORKTREE") == old
