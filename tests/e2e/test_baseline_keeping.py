"""`evalgate baseline renew`, `review` and `prune`: what is done with baselines as time goes by."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess

import pytest

from tests.conftest import SCRIPT, clean_environment


@pytest.fixture
def project(recorded, scripted, evalgate):
    """A call of evalgate where a harness has a baseline, with a model at hand."""

    def call(*arguments: str, **more):
        env = {"SCRIPTED_URL": scripted.url}
        return evalgate(*arguments, cwd=recorded.path, env=env, **more)

    return call


def names(repo) -> set[str]:
    return {path.name for path in (repo.path / "baselines").glob("*.toml")}


def test_a_task_that_changed_is_a_reason_and_has_a_price(recorded, project, scripted):
    """Nothing is run before it is asked for; then the new numbers are the baseline."""
    calm = project("baseline", "renew")
    assert calm.returncode == 0, calm.stderr
    assert "nothing is known against it" in calm.stdout
    path = recorded.path / "tasks/double/instruction.md"
    path.write_text(path.read_text() + "Please.\n")
    recorded.commit("another task")
    asked, before = len(scripted.requests), names(recorded)
    found = json.loads(project("--json", "baseline", "renew", "-k", "2").stdout)
    assert found["reasons"] == ["task double has changed"]
    assert (found["trials"], found["usd"], found["path"]) == (4, None, None)
    assert found["unpriced"] == ["models.main.price"]
    assert len(scripted.requests) == asked
    done = project("baseline", "renew", "-k", "2", "--live")
    assert done.returncode == 0, done.stderr
    assert len(scripted.requests) == asked + 4
    (new,) = names(recorded) - before
    assert new in done.stdout
    assert "git add baselines" in done.stdout
    assert "nothing is known against it" in project("baseline", "renew").stdout


def test_a_price_is_that_of_the_baseline_s_own_trials(recorded, project):
    """By the prices of today: another configuration is another harness, so the one before."""
    config = (recorded.path / "evalgate.toml").read_text()
    price = 'upstream = "env:SCRIPTED_URL"\nprice = { input = 1000, output = 1000 }'
    recorded.write("evalgate.toml", config.replace('upstream = "env:SCRIPTED_URL"', price))
    recorded.commit("a price")
    done = project("baseline", "renew")
    assert done.returncode == 0, done.stderr
    assert "nobody measured this harness: the newest baseline is 1 change old" in done.stdout
    assert "takes 40 live trials (20 of 2 tasks each), about $4.80" in done.stdout
    refused = project("baseline", "renew", "-k", "2", "--live", "--usd", "0.2")
    assert refused.returncode == 8
    assert len(names(recorded)) == 1


def test_a_model_that_moved_is_a_reason(recorded, project, scripted):
    """What the provider says it served, of the newest trials made here."""
    assert project("run", "--fresh", "-k", "1").returncode == 0
    (run, *_) = sorted((recorded.path / ".evalgate/runs").iterdir(), reverse=True)
    path = run / "trials.jsonl"
    path.write_text(path.read_text().replace('["scripted-1"]', '["scripted-2"]'))
    done = project("baseline", "renew")
    assert "models served: scripted-1 against scripted-2" in done.stdout, done.stdout


def edits(recorded, project, *prompts: str) -> list[str]:
    """Commit each prompt with a baseline of its own; return the names of their files."""
    found = []
    for prompt in prompts:
        before = names(recorded)
        recorded.write("agent/prompts/rewrite.md", prompt)
        assert project("run", "-k", "1").returncode == 0
        assert project("baseline", "accept", "-k", "1").returncode == 0
        recorded.commit(prompt)
        found += names(recorded) - before
    return found


def test_old_baselines_are_pruned(recorded, project):
    """On the default branch, listed first; a tag keeps its own."""
    (oldest,) = names(recorded)
    first, second, third = edits(recorded, project, "One.\n", "Two.\n", "Three.\n")
    recorded.git("tag", "-a", "-m", "a release", "v1", "HEAD~2")
    found = json.loads(project("--json", "baseline", "prune", "--keep", "1").stdout)
    assert set(found["files"]) == {f"baselines/{oldest}", f"baselines/{second}"}
    assert (found["kept"], found["deleted"]) == (2, False)
    assert len(names(recorded)) == 4
    recorded.git("switch", "-qc", "elsewhere")
    done = project("baseline", "prune", "--keep", "1", "--yes")
    assert done.returncode == 2
    assert "pruned on main alone, and this is branch elsewhere" in done.stderr
    recorded.git("switch", "-q", "main")
    done = project("baseline", "prune", "--keep", "1", "--yes")
    assert done.returncode == 0, done.stderr
    assert "a gate voids a change that deletes baselines" in done.stdout
    assert names(recorded) == {first, third}
    assert len(list((recorded.path / "baselines/ledger").glob("*.toml"))) == 4
    recorded.commit("prune")
    assert "nothing to prune" in project("baseline", "prune", "--keep", "1").stdout


def test_harnesses_that_nobody_measured_use_up_no_place(recorded, project):
    """Or the one that a stale base is compared with would go."""
    kept = names(recorded)
    for prompt in ("One.\n", "Two.\n"):
        recorded.write("agent/prompts/rewrite.md", prompt)
        recorded.commit(prompt)
    assert "nothing to prune" in project("baseline", "prune", "--keep", "1").stdout
    assert names(recorded) == kept


def test_what_is_pending_is_printed_where_nobody_can_answer(recorded, project):
    """With its difference, and the command that accepts it."""
    assert "nothing to review" in project("baseline", "review").stdout
    recorded.write("agent/prompts/rewrite.md", "Be WRONG.\n")
    assert project("run", "-k", "2").returncode == 0
    done = project("baseline", "review")
    assert done.returncode == 0, done.stderr
    assert "0/4 passed" in done.stdout
    assert re.search(r"double +3/3 +0/2 +fell", done.stdout)
    assert re.search(r"evalgate baseline accept \S+ -k 2\n", done.stdout)
    (one,) = json.loads(project("--json", "baseline", "review").stdout)["pending"]
    assert one["accept"] in done.stdout
    assert project(*one["accept"].split()[1:]).returncode == 0
    assert "nothing to review" in project("baseline", "review").stdout


def at_a_terminal(repo, keys: str) -> str:
    """Answer a review with keys, at a terminal of its own; return what it showed."""
    mine, theirs = pty.openpty()
    asking = subprocess.Popen(
        [SCRIPT, "baseline", "review"],
        cwd=repo.path,
        env={**clean_environment(), "TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown, answered = b"", 0
    with contextlib.suppress(OSError):  # the end of a terminal is an error
        while True:
            shown += os.read(mine, 4096)
            asked = shown.count(b"uit? ")
            os.write(mine, keys[answered:asked].encode())
            answered = asked
    os.close(mine)
    assert asking.wait(timeout=60) == 0, shown
    return shown.decode()


def test_keys_accept_reject_and_skip(recorded, project):
    """What is skipped is asked about again, what is rejected is not."""
    before = names(recorded)
    for prompt in ("One.\n", "Two.\n"):
        recorded.write("agent/prompts/rewrite.md", prompt)
        assert project("run", "-k", "1").returncode == 0
    assert "(a)ccept, (r)eject, (s)kip or (q)uit?" in at_a_terminal(recorded, "ss")
    assert names(recorded) == before
    at_a_terminal(recorded, "xra")
    (new,) = names(recorded) - before
    assert "nothing to review" in project("baseline", "review").stdout
    shown = json.loads(project("--json", "ledger").stdout)["experiments"]
    assert new[:16] in {one["fingerprint"][:16] for one in shown}
