"""`evalgate read`: trials are told, keys say who has read them, verdict and ledger keep it."""

from __future__ import annotations

import json
import tomllib

import pytest

from tests.terminal import at_terminal


def at_a_terminal(repo, keys: str, *arguments: str, code: int = 0) -> str:
    """Run the command at a terminal of its own, type ahead, and return what it showed."""
    with at_terminal(*arguments, cwd=repo.path, env={"CI": ""}) as terminal:
        terminal.press(keys.encode())
        assert terminal.end() == code, terminal.text
    return terminal.raw.decode()


def verdict(repo) -> dict:
    return json.loads((repo.path / ".evalgate" / "verdict.json").read_text())


def test_it_is_only_printed_where_nobody_can_be_asked(recorded, evalgate):
    """From the question to the end; and nothing is said to have been read."""
    done = evalgate("read", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("it was asked:") == 5
    assert "return n * 2" in done.stdout
    assert "0 of 5 read" in done.stdout
    value = json.loads(evalgate("read", "--sample", "2", "--json", cwd=recorded.path).stdout)
    assert [one["outcome"] for one in value["sample"]] == ["passed"] * 2
    assert value["read"] == {"of": 5, "read": 0, "by": {}}
    again = json.loads(evalgate("read", "--sample", "2", "--json", cwd=recorded.path).stdout)
    assert again == value


def test_verdict_and_ledger_say_who_has_read_how_many(recorded, scripted, evalgate):
    """Of the head, under whichever run its recordings are graded."""
    recorded.write("agent/prompts/rewrite.md", "Fix it, please.\n")
    recorded.commit("Ask nicely")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=recorded.path, env=env).returncode == 0
    recorded.commit("Recordings")
    done = evalgate("gate", "--base", "HEAD~2", cwd=recorded.path)
    assert verdict(recorded)["read"] == {"of": 5, "read": 0, "by": {}}
    assert "trajectories: 0 of 5 read; evalgate read " in done.stdout
    recorded.git("config", "user.name", "Ada Ö")
    shown = at_a_terminal(recorded, "rsr" + "q", "read")
    assert "2 of 5 read (Ada Ö 2)" in shown
    done = evalgate("gate", "--base", "HEAD~2", cwd=recorded.path)
    assert verdict(recorded)["read"] == {"of": 5, "read": 2, "by": {"Ada Ö": 2}}
    assert "2 of 5 read" in done.stdout
    assert evalgate("baseline", "accept", cwd=recorded.path).returncode == 0
    newest = max(
        (recorded.path / "baselines/ledger").iterdir(), key=lambda one: one.stat().st_mtime
    )
    assert tomllib.loads(newest.read_text())["read"] == {"Ada Ö": 2}
    entries = json.loads(evalgate("ledger", "--json", cwd=recorded.path).stdout)["experiments"]
    assert {"Ada Ö": 2} in [one["read"] for one in entries]


def test_a_terminal_that_ends_ends_the_reading(recorded):
    """By the key for it, or for interrupting; what was read before is kept."""
    assert "1 of 5 read" in at_a_terminal(recorded, "xrq", "read")
    assert "Traceback" not in at_a_terminal(recorded, "sr\x04", "read", code=130)
    assert "2 of 5 read" in at_a_terminal(recorded, "q", "read")


def test_an_experiment_stays_one_whoever_reads_it(recorded, evalgate, scripted):
    """`ledger --add` names it by what was measured."""
    recorded.write("agent/prompts/rewrite.md", "Fix it, please.\n")
    recorded.commit("Ask nicely")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=recorded.path, env=env).returncode == 0
    recorded.commit("Recordings")
    folder = recorded.path / "baselines/ledger"
    for keys in ("q", "r" + "q"):
        at_a_terminal(recorded, keys, "read")
        evalgate("gate", "--base", "HEAD~2", "--head", "HEAD", cwd=recorded.path)
        assert evalgate("ledger", "--add", cwd=recorded.path).returncode == 0
        added = [one for one in folder.iterdir() if "decision" in one.read_text()]
    assert len(added) == 2  # that of the baseline, and one experiment


@pytest.mark.parametrize("arguments", [("no-such",), ("latest:none",), ("--sample", "0")])
def test_what_is_not_there_is_said(recorded, evalgate, arguments):
    """As `evalgate show` says it."""
    done = evalgate("read", *arguments, cwd=recorded.path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
