"""Which commit a gate compares with, and that its verdict says so: a row of the table a test."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from evalgate.report.markdown import escape
from tests.e2e.conftest import Repo, make_repo, prompt, words

EXACT, NONE = {"match": "exact", "changes": 0}, {"match": "none"}


def oid(repo: Repo, rev: str) -> str:
    return repo.git("rev-parse", f"{rev}^{{commit}}")


def cloned(repo: Repo, *options: str, name: str = "clone") -> Repo:
    """Clone by the file protocol, which honours ``--depth`` and ``--filter``."""
    path = repo.path.parent / name
    for key in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        repo.git("config", key, "true")
    repo.git("clone", "-q", *options, f"file://{repo.path}", str(path))
    return Repo(path=path, environment=repo.environment)


def event(repo: Repo, name: str, payload: object) -> dict[str, str]:
    """Return the environment of a GitHub event, its payload in a file."""
    file = repo.path.parent / f"{name}.json"
    file.write_text(json.dumps(payload))
    return {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(file), "GITHUB_ACTIONS": "true"}


def pull_request(head: str, base: str) -> object:
    one = {"full_name": "o/r"}
    sides = {"head": {"sha": head, "repo": one}, "base": {"sha": base, "ref": "main", "repo": one}}
    return {"pull_request": sides}


@pytest.fixture
def gate(evalgate):
    """Run the gate; return base commit, the words for it and its baseline, as all verdicts say."""

    def call(repo: Repo, *options: str, env: dict[str, str] | None = None):
        done = evalgate("--json", "gate", *options, cwd=repo.path, env=env)
        assert done.stdout, done.stderr
        found = json.loads(done.stdout)
        assert "error" not in found, found
        return read(repo, found)

    return call


def read(repo: Repo, found: dict | None = None):
    written = json.loads((repo.path / ".evalgate/verdict.json").read_text())
    assert found in (None, written)
    how, baseline = written["how"], written["baseline"]
    assert escape(how) in (repo.path / ".evalgate/verdict.md").read_text()
    if baseline is not None:
        baseline.pop("fingerprint", None)
    base = written["base"]
    return base and base["commit"], how, baseline


@pytest.fixture
def refused(evalgate):
    """Run the gate where there is no sound base; return the error. No verdict is left."""

    def call(repo: Repo, *options: str, env: dict[str, str] | None = None) -> dict:
        done = evalgate("--json", "gate", *options, cwd=repo.path, env=env)
        assert done.returncode == 2, done.stdout + done.stderr
        assert not (repo.path / ".evalgate/verdict.json").exists()
        return json.loads(done.stdout)["error"]

    return call


# On a machine of one's own.


def test_a_clean_tree(here, gate):
    """HEAD against its first parent."""
    first = oid(here, "HEAD")
    prompt(here, "one")
    assert gate(here) == (first, "HEAD against its first parent", EXACT)


def test_a_dirty_tree(here, gate):
    """The work tree against HEAD."""
    here.write("agent/prompts/rewrite.md", "dirty\n")
    assert gate(here) == (oid(here, "HEAD"), "work tree against HEAD", EXACT)


@pytest.mark.parametrize("name", ["scratch.txt", "README.md", "notes/a.py"])
def test_a_committed_edit_beside_files_that_are_not_judged(here, gate, name):
    """The edit is judged, not the scratch file beside it, and the verdict says so."""
    first = oid(here, "HEAD")
    prompt(here, "one")
    here.write(name, "scratch\n")
    how = "HEAD against its first parent (what is not committed is none of what is judged)"
    assert gate(here) == (first, how, EXACT)


@pytest.mark.parametrize(
    "name", ["agent/prompts/new.md", "tasks/double/instruction.md", "evalgate.toml"]
)
def test_a_file_that_is_judged(here, gate, name):
    """A part, a task or the configuration, new or edited: the work tree against HEAD."""
    prompt(here, "one")
    path = here.path / name
    here.write(name, f"{path.read_text()}\n" if path.exists() else "new\n")
    base, how, _ = gate(here)
    assert (base, how) == (oid(here, "HEAD"), "work tree against HEAD")


def test_recordings_of_a_committed_edit(recorded, gate, scripted, evalgate):
    """Commit, record, gate: what was recorded is read, though nobody has committed it."""
    first = oid(recorded, "HEAD")
    prompt(recorded, "Be WRONG.")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=recorded.path, env=env).returncode == 0
    how = "HEAD with what is recorded and accepted but not committed, against its first parent"
    assert gate(recorded) == (first, how, EXACT)
    found = json.loads((recorded.path / ".evalgate/verdict.json").read_text())
    assert found["decision"] == "regression"


def test_what_is_staged(here, gate):
    """The index against HEAD, whatever the work tree says."""
    here.write("agent/prompts/rewrite.md", "staged\n")
    here.git("add", "-A")
    here.write("agent/prompts/rewrite.md", "not staged\n")
    expected = (oid(here, "HEAD"), "index against HEAD", EXACT)
    assert gate(here, "--head", "INDEX") == expected


def test_an_unborn_branch(tmp_path, git_environment, gate):
    """Nothing to compare with."""
    made = make_repo(tmp_path, git_environment)
    made.git("update-ref", "-d", "HEAD")
    assert gate(made) == (None, "first commit: nothing to compare with", None)


def test_a_root(tmp_path, git_environment, gate):
    """Nothing to compare with."""
    made = make_repo(tmp_path, git_environment)
    assert gate(made) == (None, "first commit: nothing to compare with", None)


def test_a_criss_cross(here, gate):
    """Two bases are equally good: the first is taken, and the number is said."""
    here.git("switch", "-qc", "side")
    prompt(here, "side")
    here.git("switch", "-q", "main")
    one = words(here, "main")
    here.git("merge", "-qm", "m1", "side")
    here.git("switch", "-q", "side")
    here.git("merge", "-qm", "m2", one)
    base, how, _ = gate(here, "--base", "main")
    assert base in {one, oid(here, "side^1")}
    assert how == f"HEAD against {base[:12]}, where it left main (the first of 2 merge bases)"


# What a push means to the hook.


@pytest.fixture
def pushing(here, evalgate) -> Repo:
    """A repository with the hook, and a remote that has its main."""
    here.git("init", "-q", "--bare", str(here.path.parent / "remote.git"))
    here.git("remote", "add", "origin", str(here.path.parent / "remote.git"))
    here.git("push", "-q", "origin", "main")
    assert evalgate("hook", "install", cwd=here.path).returncode == 0
    return here


def push(repo: Repo, *refs: str):
    done = subprocess.run(
        ["git", "push", *refs], cwd=repo.path, env=repo.environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done


def test_a_push_over_a_known_commit(pushing):
    """Against what the remote has."""
    known = oid(pushing, "HEAD")
    prompt(pushing, "one")
    prompt(pushing, "two")
    push(pushing, "origin", "main")
    assert read(pushing) == (known, "the pushed commit against what origin has", EXACT)


def test_a_push_of_a_rewritten_branch(pushing):
    """Against where it left what the remote has."""
    fork = oid(pushing, "HEAD")
    prompt(pushing, "one")
    push(pushing, "origin", "main")
    pushing.git("reset", "-q", "--hard", fork)
    prompt(pushing, "another")
    push(pushing, "-f", "origin", "main")
    how = f"the pushed commit against {fork[:12]}, where it left what origin has"
    assert read(pushing) == (fork, how, EXACT)


def test_a_push_of_a_criss_cross(pushing):
    """Here too the number of bases is said."""
    pushing.git("switch", "-qc", "side")
    prompt(pushing, "side")
    pushing.git("switch", "-q", "main")
    one = words(pushing, "main")
    pushing.git("merge", "-qm", "m1", "side")
    pushing.git("push", "-q", "--no-verify", "origin", "main")
    pushing.git("switch", "-q", "side")
    pushing.git("merge", "-qm", "m2", one)
    pushing.write("agent/prompts/shell.md", "more\n")
    pushing.commit("more")
    push(pushing, "-f", "origin", "side:main")
    assert read(pushing)[1].endswith("where it left what origin has (the first of 2 merge bases)")


def test_a_push_over_an_unknown_commit(pushing):
    """What somebody else pushed and nobody fetched: the parent of the first new commit."""
    known = oid(pushing, "HEAD")
    other = cloned(Repo(path=pushing.path.parent / "remote.git", environment=pushing.environment))
    other.git("switch", "-qC", "main", "origin/main")
    prompt(other, "of somebody else")
    other.git("push", "-q", "origin", "main")
    prompt(pushing, "one")
    prompt(pushing, "two")
    push(pushing, "-f", "origin", "main")
    why = "what the remote has is not known here"
    how = f"the pushed commit against the parent of its first new one ({why})"
    assert read(pushing) == (known, how, EXACT)


def test_a_push_of_a_new_branch(pushing):
    """The parent of the first commit that the remote does not have."""
    known = oid(pushing, "HEAD")
    pushing.git("switch", "-qc", "feature")
    prompt(pushing, "one")
    prompt(pushing, "two")
    push(pushing, "origin", "feature")
    how = "the pushed commit against the parent of its first new one (new branch)"
    assert read(pushing) == (known, how, EXACT)


@pytest.mark.parametrize("refs", [(":gone",), ("v1",)])
def test_a_push_that_deletes_a_branch_or_tags_old_work(pushing, refs):
    """There is nothing to judge, and nothing is said."""
    pushing.git("push", "-q", "--no-verify", "origin", "main:gone")
    pushing.git("tag", "-am", "t", "v1")
    assert "evalgate" not in push(pushing, "origin", *refs).stderr
    assert not (pushing.path / ".evalgate/verdict.json").exists()


# What an event of GitHub means.


@pytest.fixture
def pull(here) -> Repo:
    """A pull request of two commits while main moved on; its merge commit is checked out."""
    here.git("branch", "fork")
    here.git("switch", "-qc", "topic")
    prompt(here, "p2")
    prompt(here, "p3")
    here.git("switch", "-q", "main")
    words(here, "main moved")
    here.git("switch", "-q", "--detach")
    here.git("merge", "-q", "--no-ff", "-m", "Merge topic into main", "topic")
    here.git("branch", "merge-ref")
    return here


def test_a_pull_request_s_merge_commit(pull, gate):
    """Against its first parent, not the hours-old base of the event."""
    env = event(pull, "pull_request", pull_request(oid(pull, "topic"), oid(pull, "fork")))
    how = "the pull request's merge commit against its first parent"
    assert gate(pull, env=env) == (oid(pull, "main"), how, EXACT)


def test_a_stale_merge_commit(pull, refused):
    """The event is about a newer push: refused, with the way out."""
    env = event(pull, "pull_request", pull_request("1" * 40, oid(pull, "fork")))
    found = refused(pull, env=env)
    assert "stale merge ref" in found["message"]
    assert "re-run" in found["hint"]


def test_a_pull_request_s_head(pull, gate):
    """Against where it left the target as it was fetched."""
    pull.git("update-ref", "refs/remotes/origin/main", "main")
    pull.git("switch", "-q", "topic")
    env = event(pull, "pull_request", pull_request(oid(pull, "topic"), oid(pull, "fork")))
    fork = oid(pull, "fork")
    how = f"the pull request's head against {fork[:12]}, where it left origin/main"
    assert gate(pull, env=env) == (fork, how, EXACT)


def test_a_merge_group(pull, gate):
    """Its head against its base; there is no pull request in the payload."""
    group = {"head_sha": oid(pull, "merge-ref"), "base_sha": oid(pull, "main")}
    env = event(pull, "merge_group", {"merge_group": group})
    how = "the merge group's head against its base"
    assert gate(pull, env=env) == (group["base_sha"], how, EXACT)


def test_a_push_event(pull, gate):
    """What is there now against what was there before, however many commits ago."""
    env = event(pull, "push", {"before": oid(pull, "fork"), "after": oid(pull, "topic")})
    how = "the pushed commit against the one before the push"
    assert gate(pull, env=env) == (oid(pull, "fork"), how, EXACT)


@pytest.mark.parametrize(("before", "why"), [("main", "force push"), ("0" * 40, "new branch")])
def test_a_force_push_event(pull, gate, before, why):
    """What was there before is no ancestor: the first parent."""
    before = before if why == "new branch" else oid(pull, before)
    env = event(pull, "push", {"before": before, "after": oid(pull, "topic")})
    how = f"the pushed commit against its first parent ({why})"
    assert gate(pull, env=env) == (oid(pull, "topic~1"), how, {"match": "stale", "changes": 1})


# Commits that are on main already.


@pytest.mark.parametrize("kind", ["squash", "rebase", "cherry-pick"])
def test_what_was_put_onto_main(pull, gate, kind):
    """Against its first parent, whose harness is known however it came there."""
    pull.git("switch", "-q", "main")
    if kind == "squash":
        pull.git("merge", "-q", "--squash", "topic")
        pull.commit("Squashed")
    elif kind == "rebase":
        pull.git("rebase", "-q", "main", "topic")
        pull.git("switch", "-q", "main")
        pull.git("merge", "-q", "--ff-only", "topic~1")
    else:
        pull.git("cherry-pick", "topic~1")
    parent = oid(pull, "HEAD~1")
    assert gate(pull) == (parent, "HEAD against its first parent", EXACT)


def test_a_revert(here, gate):
    """The harness before the revert was never measured; the one that comes back was."""
    prompt(here, "one")
    here.git("revert", "--no-edit", "HEAD")
    base, how, baseline = gate(here)
    assert (base, how) == (oid(here, "HEAD~1"), "HEAD against its first parent")
    assert baseline == {"match": "stale", "changes": 1}
    words(here, "unrelated")
    prompt(here, "two")
    assert gate(here)[2] == EXACT, "the baseline of before the revert is found again"


# Exact, stale, none.


@pytest.mark.parametrize("changes", [1, 3])
def test_a_baseline_that_is_stale(here, gate, changes):
    """So many changes of the harness lie between; other commits do not count."""
    for number in range(changes):
        words(here, f"w{number}")
        prompt(here, f"p{number}")
    here.write("evalgate.toml", (here.path / "evalgate.toml").read_text() + "\n[policy]\n")
    base = here.commit("an edit of the configuration that is none of the harness")
    prompt(here, "the head")
    stale = {"match": "stale", "changes": changes}
    assert gate(here) == (base, "HEAD against its first parent", stale)


def test_no_baseline(tmp_path, git_environment, gate):
    """Nobody measured anything."""
    made = make_repo(tmp_path, git_environment)
    base = oid(made, "HEAD")
    prompt(made, "one")
    assert gate(made) == (base, "HEAD against its first parent", NONE)


# Clones that lack something.


def test_a_clone_of_depth_1(here, refused):
    """Its parent is not there: refused, with two ways to get it."""
    parent = oid(here, "HEAD")
    prompt(here, "one")
    found = refused(cloned(here, "--depth", "1"))
    assert parent[:12] in found["message"]
    assert f"git fetch --depth=1 origin {parent}" in found["hint"]
    assert "fetch-depth: 2" in found["hint"]


def test_the_hint_for_a_clone_of_depth_1_helps(here, gate):
    """What it says is enough."""
    parent = oid(here, "HEAD")
    prompt(here, "one")
    clone = cloned(here, "--depth", "1")
    clone.git("fetch", "-q", "--depth=1", "origin", parent)
    assert gate(clone) == (parent, "HEAD against its first parent", EXACT)


def test_a_merge_commit_in_a_clone_of_depth_1(pull, refused):
    """The parents are written in it and not there."""
    env = event(pull, "pull_request", pull_request(oid(pull, "topic"), oid(pull, "fork")))
    found = refused(cloned(pull, "--depth", "1", "--branch", "merge-ref"), env=env)
    assert oid(pull, "main")[:12] in found["message"]


def test_a_push_event_in_a_shallow_clone(pull, gate, refused):
    """What was there before is not there: refused; fetched alone it is taken, as git can not tell
    that it is an ancestor and GitHub says that nothing was forced.
    """
    before = oid(pull, "fork")
    payload = {"before": before, "after": oid(pull, "topic"), "forced": False}
    clone = cloned(pull, "--depth", "2", "--branch", "topic")
    env = event(pull, "push", payload)
    assert "fetch-depth: 0" in refused(clone, env=env)["hint"]
    clone.git("fetch", "-q", "--depth=1", "origin", before)
    how = "the pushed commit against the one before the push"
    assert gate(clone, env=env) == (before, how, EXACT)


def test_an_older_baseline_beyond_the_edge(here, evalgate):
    """No baseline, and that older harnesses could not be looked at."""
    for number in range(3):
        prompt(here, f"p{number}")
    clone = cloned(here, "--depth", "2")
    done = evalgate("gate", cwd=clone.path)
    assert done.returncode == 3, done.stderr
    assert "older harnesses were not looked at" in done.stdout
    assert read(clone)[2] == NONE


def test_no_common_ancestor_in_a_shallow_clone(pull, refused):
    """It may be there or not: refused."""
    clone = cloned(pull, "--depth", "1", "--branch", "topic")
    clone.git("fetch", "-q", "--depth=1", "origin", "main:refs/remotes/origin/main")
    env = event(pull, "pull_request", pull_request(oid(pull, "topic"), oid(pull, "fork")))
    found = refused(clone, env=env)
    assert "no common ancestor" in found["message"]
    assert "fetch-depth: 0" in found["hint"]


def test_a_clone_without_blobs(here, gate):
    """Git brings what is looked at."""
    parent = oid(here, "HEAD")
    prompt(here, "one")
    clone = cloned(here, "--filter=blob:none")
    assert gate(clone) == (parent, "HEAD against its first parent", EXACT)


def test_a_clone_without_blobs_and_without_its_remote(here, refused):
    """What can not be brought is an error with the way out."""
    prompt(here, "one")
    clone = cloned(here, "--filter=blob:none")
    here.path.rename(Path(f"{here.path}-away"))
    found = refused(clone)
    assert "git fetch --refetch" in found["hint"], found
