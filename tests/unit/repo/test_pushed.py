"""Lines of a pre-push hook and the pairs they mean, against real remotes."""

from __future__ import annotations

from typing import Any

import pytest

from evalgate.errors import UsageError
from evalgate.repo.pair import Pair
from evalgate.repo.pushed import PushedRef, pair_for_push, parse_pre_push

ZERO = "0" * 40


@pytest.fixture
def origin(work: Any, clone: Any) -> Any:
    """A clone whose remote is called origin."""
    return clone(work)


def _pair(
    work: Any, local: str, known: str, ref: str = "refs/heads/x", remote: str = "origin"
) -> Any:
    pushed = PushedRef(local_ref=ref, local_oid=local, remote_ref=ref, remote_oid=known)
    return _commits(pair_for_push(work.locate(), pushed, remote))


def _commits(pair: Pair | None) -> tuple[str, str | None] | None:
    return pair and (pair.head.rev, pair.base)


def test_lines_are_parsed() -> None:
    """Several refs, deletions, names with spaces; an empty input is no ref."""
    a, b = "a" * 40, "b" * 40
    text = (
        f"refs/heads/main {a} refs/heads/main {b}\n"
        f"(delete) {ZERO} refs/heads/old {b}\n"
        f"HEAD@{{1 day ago}} {a} refs/heads/new {ZERO}\n"
    )
    one, two, three = parse_pre_push(text)
    assert one == PushedRef(
        local_ref="refs/heads/main", local_oid=a, remote_ref="refs/heads/main", remote_oid=b
    )
    assert (two.local_ref, two.local_oid) == ("(delete)", ZERO)
    assert (three.local_ref, three.remote_ref) == ("HEAD@{1 day ago}", "refs/heads/new")
    assert parse_pre_push("") == []
    with pytest.raises(UsageError, match="not a line of pre-push"):
        parse_pre_push("one two three\n")


def test_a_fast_forward(origin: Any) -> None:
    """All new commits: against what the remote has."""
    old = origin.oid("HEAD")
    origin.commit({"b": "b"})
    new = origin.commit({"c": "c"})
    assert _pair(origin, new, old) == (new, old)
    assert _pair(origin, old, old) is None


def test_a_deletion(origin: Any) -> None:
    """Nothing is judged, whatever the object format."""
    assert _pair(origin, ZERO, origin.oid("HEAD")) is None
    assert _pair(origin, "0" * 64, origin.oid("HEAD")) is None


def test_a_new_branch(origin: Any) -> None:
    """Against the parent of the first commit the remote lacks."""
    fork = origin.oid("HEAD")
    origin.git("checkout", "-q", "-b", "topic")
    assert _pair(origin, fork, ZERO) is None
    origin.commit({"b": "b"})
    new = origin.commit({"c": "c"})
    assert _pair(origin, new, ZERO) == (new, fork)


@pytest.mark.parametrize("late", [False, True])
def test_a_new_branch_with_an_older_one_merged_in(origin: Any, late: bool) -> None:
    """First parents only: where a merged branch began is not where this one did."""
    origin.git("branch", "older")
    fork = origin.commit({"f": "f"})
    origin.git("update-ref", "refs/remotes/origin/main", fork)
    origin.git("branch", "topic")
    for name in ("topic", "older") if late else ("older", "topic"):
        origin.git("checkout", "-q", name)
        origin.commit({name: name})
    origin.git("checkout", "-q", "topic")
    origin.git("merge", "-q", "-m", "m", "older")
    assert _pair(origin, origin.oid("HEAD"), ZERO) == (origin.oid("HEAD"), fork)


def test_a_force_push(origin: Any) -> None:
    """Against where the two went apart; over unknown work against what is known."""
    fork = origin.oid("HEAD")
    old = origin.commit({"b": "b"})
    origin.git("reset", "-q", "--hard", fork)
    new = origin.commit({"c": "c"})
    assert _pair(origin, new, old) == (new, fork)
    assert _pair(origin, new, "1" * 40) == (new, fork)
    assert _pair(origin, fork, old) is None


def test_tags_are_peeled(origin: Any) -> None:
    """A tag on new work is judged, one on old work or on no commit is not."""
    old = origin.oid("HEAD")
    origin.git("tag", "-a", "-m", "t", "old")
    new = origin.commit({"b": "b"})
    origin.git("tag", "-a", "-m", "t", "new")
    origin.git("tag", "tree", "HEAD^{tree}")
    assert _pair(origin, origin.oid("refs/tags/old"), ZERO, "refs/tags/old") is None
    assert _pair(origin, origin.oid("refs/tags/new"), ZERO, "refs/tags/new") == (new, old)
    assert _pair(origin, origin.oid("refs/tags/tree"), ZERO, "refs/tags/tree") is None


def test_the_first_push_of_all(work: Any, make_work: Any) -> None:
    """From the root: there is no base."""
    make_work("remote", "--bare")
    work.git("remote", "add", "origin", "../remote")
    work.commit({"b": "b"})
    head = work.oid("HEAD")
    assert _pair(work, head, ZERO) == (head, None)


def test_a_push_by_url(origin: Any) -> None:
    """No branches are tracked for a URL: what any remote has is not new."""
    old = origin.oid("HEAD")
    new = origin.commit({"b": "b"})
    url = origin.git("remote", "get-url", "origin")
    assert _pair(origin, new, ZERO, remote=url) == (new, old)
    assert _pair(origin, new, ZERO, remote="") == (new, old)


def test_unrelated_histories(origin: Any) -> None:
    """No common ancestor: from the root."""
    old = origin.oid("HEAD")
    origin.git("checkout", "-q", "--orphan", "alone")
    new = origin.commit({"z": "z"})
    assert _pair(origin, new, old) == (new, None)


def test_sha256(make_work: Any) -> None:
    """Longer ids, longer zeros."""
    work = make_work("long", "--object-format=sha256")
    old = work.commit({"a": "a"})
    new = work.commit({"b": "b"})
    assert _pair(work, new, old) == (new, old)
    assert _pair(work, new, "0" * 64) == (new, None)


def test_what_git_really_sends(origin: Any, tmp_path: Any) -> None:
    """The lines of a real push of three refs are understood."""
    out = tmp_path / "lines"
    hook = origin.write(".git/hooks/pre-push", f"#!/bin/sh\ncat > '{out}'\n")
    hook.chmod(0o755)
    old = origin.oid("HEAD")
    new = origin.commit({"b": "b"})
    origin.git("tag", "-a", "-m", "t", "v1")
    origin.git("push", "-q", "--dry-run", "origin", "HEAD:refs/heads/new", "v1", "main")
    refs = parse_pre_push(out.read_text())
    assert {ref.remote_ref for ref in refs} == {"refs/heads/new", "refs/tags/v1", "refs/heads/main"}
    pairs = [pair_for_push(origin.locate(), ref, "origin") for ref in refs]
    assert {_commits(pair) for pair in pairs} == {(new, old)}
