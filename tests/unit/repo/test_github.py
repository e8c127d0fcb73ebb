"""The pairs of GitHub's events, and the errors where there is no sound one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalgate.errors import UsageError
from evalgate.repo.base import Looked, Pair, resolve_pair

ZERO = "0" * 40


def looked() -> Looked:
    """Look at everything."""
    return Looked(judged=(":(top)",), evidence=())


@pytest.fixture
def pull(work: Any) -> Any:
    """A pull request of two commits; main moved on; a merge commit is checked out."""
    work.git("branch", "fork")
    work.git("checkout", "-q", "-b", "topic")
    work.commit({"prompts/a.md": "p2\n"})
    work.commit({"prompts/a.md": "p3\n"})
    work.git("checkout", "-q", "main")
    work.commit({"agent/main.py": "main moved\n"})
    work.git("checkout", "-q", "--detach", "main")
    work.git("merge", "-q", "--no-ff", "-m", "merge ref", "topic")
    work.git("branch", "merge-ref")
    return work


def _event(work: Any, name: str, payload: object, *, path: Path | None = None) -> Pair:
    file = path or work.path.parent / "event.json"
    if path is None:
        file.write_text(json.dumps(payload))
    environ = {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(file)}
    return resolve_pair(work.locate(), base=None, head=None, environ=environ, look=looked)


def _payload(work: Any, head: str = "topic", base: str = "fork") -> object:
    sides = {"head": {"sha": work.oid(head)}, "base": {"sha": work.oid(base), "ref": "main"}}
    return {"pull_request": sides}


def test_the_merge_commit(pull: Any) -> None:
    """Against its first parent, whatever hours-old base the event names."""
    pair = _event(pull, "pull_request", _payload(pull))
    assert (pair.head.rev, pair.base) == ("HEAD", pull.oid("main"))
    pull.write("generated", "by an earlier step\n")
    assert _event(pull, "pull_request", _payload(pull)) == pair


def test_a_stale_merge_commit(pull: Any) -> None:
    """The event is about a newer push than the merge commit."""
    pull.git("checkout", "-q", "topic")
    pull.commit({"prompts/a.md": "p4\n"})
    pull.git("checkout", "-q", "merge-ref")
    with pytest.raises(UsageError, match="stale merge ref"):
        _event(pull, "pull_request", _payload(pull))


def test_a_target_event_on_the_base_branch(pull: Any) -> None:
    """``pull_request_target`` checks out main: nothing of the change is there."""
    pull.git("checkout", "-q", "main")
    with pytest.raises(UsageError, match="stale merge ref"):
        _event(pull, "pull_request_target", _payload(pull))


def test_the_head_commit(pull: Any) -> None:
    """Against the merge base, found from the event or better from the fetched branch."""
    pull.git("checkout", "-q", "topic")
    assert _event(pull, "pull_request", _payload(pull)).base == pull.oid("fork")
    pull.git("update-ref", "refs/remotes/origin/main", "main")
    assert _event(pull, "pull_request", _payload(pull)).base == pull.oid("fork")


def test_a_rebased_head_and_an_old_event(pull: Any) -> None:
    """The event's base is older than the fork point: the fetched branch knows better."""
    pull.git("checkout", "-q", "topic")
    pull.git("rebase", "-q", "main")
    pull.git("update-ref", "refs/remotes/origin/main", "main")
    assert _event(pull, "pull_request", _payload(pull)).base == pull.oid("main")


def test_a_shallow_merge_commit(pull: Any, clone: Any) -> None:
    """Depth 1 lacks the base and says so; depth 2 has it."""
    payload = _payload(pull)
    one = clone(pull, "--depth=1", "--branch=merge-ref", name="one")
    with pytest.raises(UsageError, match=pull.oid("main")[:12]) as caught:
        _event(one, "pull_request", payload)
    assert "fetch-depth: 2" in caught.value.hint
    two = clone(pull, "--depth=2", "--branch=merge-ref", name="two")
    assert _event(two, "pull_request", payload).base == pull.oid("main")
    one.git("fetch", "-q", "--depth=1", "origin", pull.oid("main"))
    assert _event(one, "pull_request", payload).base == pull.oid("main")


def test_a_shallow_head(pull: Any, clone: Any) -> None:
    """Without history there is no merge base, and no guess."""
    one = clone(pull, "--depth=1", "--branch=topic", name="one")
    with pytest.raises(UsageError) as caught:
        _event(one, "pull_request", _payload(pull))
    assert "fetch-depth: 0" in caught.value.hint
    one.git("fetch", "-q", "--depth=1", "origin", "main:refs/remotes/origin/main")
    with pytest.raises(UsageError, match="no common ancestor") as caught:
        _event(one, "pull_request", _payload(pull))
    assert "fetch-depth: 0" in caught.value.hint


def test_a_merge_group(pull: Any) -> None:
    """The queue's head against the queue's base; there is no pull request in the event."""
    group = {"head_sha": pull.oid("merge-ref"), "base_sha": pull.oid("main")}
    pair = _event(pull, "merge_group", {"merge_group": group})
    assert (pair.head.rev, pair.base) == (group["head_sha"], group["base_sha"])
    assert "does not say whether its pull requests come from forks" in pair.note
    with pytest.raises(UsageError, match="not in this clone"):
        _event(pull, "merge_group", {"merge_group": group | {"base_sha": "1" * 40}})


def test_a_push_of_several_commits(pull: Any) -> None:
    """All of them: after against before."""
    push = {"before": pull.oid("fork"), "after": pull.oid("topic")}
    pair = _event(pull, "push", push)
    assert (pair.head.rev, pair.base) == (push["after"], push["before"])


@pytest.mark.parametrize("before", ["unknown", "main", "zero"])
def test_a_force_push_and_a_new_branch(pull: Any, before: str) -> None:
    """What was before is no ancestor: the first parent."""
    known = {"unknown": "1" * 40, "zero": ZERO, "main": pull.oid("main")}
    push = {"before": known[before], "after": pull.oid("topic"), "forced": before == "main"}
    pair = _event(pull, "push", push)
    assert pair.base == pull.oid("topic~1")
    assert ("new branch" if before == "zero" else "force push") in pair.how


def test_a_shallow_push(pull: Any, clone: Any) -> None:
    """A missing ``before`` is no force push there: never judge only the last commit."""
    two = clone(pull, "--depth=2", "--branch=topic", name="two")
    push = {"before": pull.oid("fork"), "after": pull.oid("topic"), "forced": False}
    with pytest.raises(UsageError, match="before the push") as caught:
        _event(two, "push", push)
    assert "fetch-depth: 0" in caught.value.hint
    assert _event(two, "push", push | {"before": pull.oid("topic~1")}).base == pull.oid("topic~1")
    assert _event(two, "push", push | {"forced": True}).base == pull.oid("topic~1")
    one = clone(pull, "--depth=1", "--branch=topic", name="one")
    with pytest.raises(UsageError, match="first parent"):
        _event(one, "push", push | {"before": ZERO})


def test_a_push_of_the_first_commit(pull: Any) -> None:
    """Nothing to compare with."""
    assert _event(pull, "push", {"before": ZERO, "after": pull.oid("fork")}).base is None


def test_a_deleted_branch(pull: Any) -> None:
    """There is nothing to judge."""
    with pytest.raises(UsageError, match="deleted"):
        _event(pull, "push", {"before": pull.oid("fork"), "after": ZERO})


def test_other_events_are_not_special(pull: Any) -> None:
    """A scheduled run judges HEAD."""
    assert _event(pull, "schedule", {}).base == pull.oid("main")
    environ = {"GITHUB_EVENT_NAME": "push"}
    assert resolve_pair(pull.locate(), base=None, head=None, environ=environ, look=looked).base


@pytest.mark.parametrize("payload", [{}, [], {"pull_request": {"head": {"sha": 3}}}])
def test_an_event_without_its_fields(pull: Any, payload: object) -> None:
    """The missing field is named."""
    with pytest.raises(UsageError, match=r"no pull_request\.head\.sha"):
        _event(pull, "pull_request", payload)


def test_an_event_that_can_not_be_read(pull: Any, tmp_path: Path) -> None:
    """The file is named."""
    for path in (tmp_path / "none", pull.path / "readme"):
        with pytest.raises(UsageError, match="can not be read"):
            _event(pull, "push", {}, path=path)
