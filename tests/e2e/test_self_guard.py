"""The gate guards itself: what a change does to its own judge is named, refused or void."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from evalgate.gateway.format.cassette_format import dump_cassette, load_cassette
from tests.baselines import accept, forge
from tests.e2e.conftest import Repo, prompt, words


def verdict(repo: Repo) -> dict:
    return json.loads((repo.path / ".evalgate" / "verdict.json").read_text())


def edit(repo: Repo, name: str, old: str, new: str) -> None:
    text = (repo.path / name).read_text()
    assert old in text
    repo.write(name, text.replace(old, new))


def more_config(repo: Repo, text: str) -> None:
    repo.write("evalgate.toml", (repo.path / "evalgate.toml").read_text() + text)


NAMED = {
    "the policy": (
        lambda repo: more_config(repo, "[policy]\nmargin = 0.5\n"),
        "edits the policy (margin: 0.1 → 0.5)",
    ),
    "the limits": (
        lambda repo: more_config(repo, "[limits]\nmax_turns = 3\n"),
        "edits the limits (",
    ),
    "the ledger": (
        lambda repo: repo.write(
            "baselines/ledger/2026-02-02-x.toml",
            next((repo.path / "baselines/ledger").glob("*.toml")).read_text(),
        ),
        "adds to the ledger: harness",
    ),
    "a check": (
        lambda repo: edit(repo, "tasks/double/task.toml", "{ type =", "{ advisory = true, type ="),
        "edits tasks: double",
    ),
    "a hidden test": (
        lambda repo: edit(repo, "tasks/double/tests/test_double.py", "== 4", ">= 4"),
        "edits tasks: double",
    ),
    "what is left out": (
        lambda repo: edit(repo, "evalgate.toml", "[suite]", "[suite]\ntasks = ['tasks/double']"),
        "removes tasks: triple",
    ),
    "how many trials": (
        lambda repo: edit(repo, "evalgate.toml", "trials = 3", "trials = 1"),
        "edits suite.trials (3 → 1)",
    ),
    "the canary": (
        lambda repo: more_config(repo, "[tripwires]\nwithout = ['history']\n"),
        "edits the tripwires",
    ),
    "the workflow": (
        lambda repo: repo.write(".github/workflows/evalgate.yml", "on: push\n"),
        "edits the workflow",
    ),
    "the action": (
        lambda repo: repo.write(".github/actions/evalgate/gate.sh", "exit 0\n"),
        "edits the workflow: .github/actions/evalgate/gate.sh",
    ),
}


@pytest.mark.parametrize("what", NAMED)
@pytest.mark.parametrize("harness", [True, False])
def test_what_a_change_does_to_its_judge_is_named_on_top(here, evalgate, what, harness):
    """Above the first heading, whether the harness changed too or not."""
    act, said = NAMED[what]
    act(here)
    if harness:
        here.write("agent/prompts/rewrite.md", "another\n")
    here.commit("a change")
    done = evalgate("gate", cwd=here.path)
    top = done.stdout.partition("###")[0]
    assert f"⚠ this change {said}" in top.replace("\\", ""), done.stdout + done.stderr
    assert any(one.startswith(f"this change {said}") for one in verdict(here)["notes"])


def test_limits_are_no_tasks(here, evalgate):
    """They are named as what they are."""
    NAMED["the limits"][0](here)
    here.commit("limits")
    assert "edits tasks" not in evalgate("gate", cwd=here.path).stdout


@pytest.mark.parametrize("command", ["gate", "run"])
def test_no_part_of_the_harness_holds_a_task(here, evalgate, command):
    """The agent would read solutions and hidden tests among its own files."""
    edit(here, "evalgate.toml", '"agent/prompts/*.md"', '"**/*.md", "tasks/**"')
    here.commit("a prompt of everything")
    done = evalgate(command, cwd=here.path)
    assert done.returncode == 2, done.stdout
    assert "harness.parts.prompt: takes 'tasks/double/" in done.stderr
    edit(here, "evalgate.toml", "[suite]", "[suite]\ntasks = ['others']")  # of no task of its own
    if command == "gate":
        assert "takes 'tasks/double/" in evalgate("gate", cwd=here.path).stderr
    assert not (here.path / ".evalgate/runs").exists()


@pytest.mark.parametrize("folder", ["waivers", "ledger"])
@pytest.mark.parametrize("options", [(), ("--live",)])
def test_what_is_no_waiver_is_refused_when_it_comes(here, evalgate, folder, options):
    """Not at the next change, whose author did not bring it; and before anything is made."""
    here.write(f"baselines/{folder}/2026-01-02-x.toml", "format = 1\n")
    prompt(here, "one")
    done = evalgate("gate", *options, cwd=here.path)
    assert done.returncode == 2, done.stdout
    assert f"baselines/{folder}/2026-01-02-x.toml: this is no" in done.stderr
    assert not (here.path / ".evalgate/runs").exists()


@pytest.mark.parametrize("act", ["edit", "delete"])
@pytest.mark.parametrize("where", ["baselines", "baselines/ledger"])
def test_a_touched_baseline_is_void_and_the_way_back_is_shown(here, evalgate, act, where):
    """So is the ledger; a revert of the commit that brought them is such a change too."""
    before = here.git("rev-parse", "HEAD")
    (path,) = (here.path / where).glob("*.toml")
    path.unlink() if act == "delete" else path.write_text(path.read_text() + "# words\n")
    prompt(here, "one")
    done = evalgate("gate", cwd=here.path)
    assert done.returncode == 6, done.stdout
    assert path.name in verdict(here)["sentence"]
    here.git(*next(line for line in done.stdout.splitlines() if "git checkout" in line).split()[1:])
    here.commit("as it says")
    assert evalgate("gate", "--base", before, cwd=here.path).returncode == 7


@pytest.fixture
def foreign(here) -> Path:
    """The baseline of a harness that no commit has, on disk."""
    prompt(here, "prepared")
    file = accept(here.path)
    data = file.read_bytes()
    here.git("reset", "-q", "--hard", "HEAD~1")
    file.write_bytes(data)
    return file


def test_a_new_baseline_of_another_harness_is_refused(here, foreign, evalgate):
    """Whoever adds it prepares a change to come."""
    prompt(here, "one")
    accept(here.path)
    here.commit("Its own baseline")
    done = evalgate("gate", "--base", "HEAD~2", cwd=here.path)
    assert done.returncode == 6, done.stdout
    assert f"this change adds baselines/{foreign.name}" in verdict(here)["sentence"]


def test_so_it_is_where_the_harness_did_not_change(here, foreign, evalgate):
    """A change of words alone can not bring one either."""
    words(here, "harmless")
    assert evalgate("gate", cwd=here.path).returncode == 6
    assert foreign.name in verdict(here)["sentence"]


def test_a_head_that_nobody_measured_brings_none_either(here, foreign, evalgate):
    """It is no union: no harness of this line has the foreign one's files with the change in it."""
    prompt(here, "one")
    done = evalgate("gate", "--base", "HEAD~1", cwd=here.path)
    assert done.returncode == 6, done.stdout
    assert f"this change adds baselines/{foreign.name}" in verdict(here)["sentence"]
    (step,) = (line for line in done.stdout.splitlines() if "git rm -- " in line)
    here.git(*shlex.split(step)[1:])
    here.commit("as it says")
    assert evalgate("gate", "--base", "HEAD~2", cwd=here.path).returncode == 7


def test_baselines_on_the_way_to_the_head_are_its_own(here, evalgate):
    """A branch may have measured what it tried first; what is not committed may yet be."""
    base = here.git("rev-parse", "HEAD")
    prompt(here, "first")
    file = accept(here.path)
    here.write("agent/prompts/rewrite.md", "second\n")
    done = evalgate("gate", cwd=here.path)
    assert done.returncode == 7, done.stdout
    assert f"adds a baseline of {file.name[:12]}" in done.stdout
    here.commit("Baseline of the first, and the second")
    assert evalgate("gate", "--base", base, cwd=here.path).returncode == 7
    assert "0 of its 6 trials recorded" in (here.path / ".evalgate/verdict.md").read_text()


def test_a_shallow_clone_may_hide_whose_a_baseline_is(here, evalgate):
    """Refused with the way out, and judged with it."""
    prompt(here, "first")
    accept(here.path)
    here.commit("Baseline of the first")
    prompt(here, "second")
    prompt(here, "third")
    base = here.git("rev-parse", "HEAD~4")
    clone = here.path.parent / "clone"
    here.git("config", "uploadpack.allowAnySHA1InWant", "true")
    here.git("clone", "-q", "--depth", "1", f"file://{here.path}", str(clone))
    here.git("fetch", "-q", "--depth=1", "origin", base, cwd=clone)
    group = {"head_sha": here.git("rev-parse", "HEAD"), "base_sha": base}
    file = here.path.parent / "event.json"
    file.write_text(json.dumps({"merge_group": group}))
    env = {"GITHUB_EVENT_NAME": "merge_group", "GITHUB_EVENT_PATH": str(file)}
    done = evalgate("gate", cwd=clone, env=env)
    assert done.returncode == 2, done.stdout
    assert "fetch-depth: 0" in done.stderr
    here.git("fetch", "-q", "--unshallow", cwd=clone)
    done = evalgate("gate", cwd=clone, env=env)
    assert done.returncode == 7, done.stderr
    assert "⚠ an event of a merge group does not say whether" in done.stdout


def test_a_baseline_that_its_recordings_contradict_is_void(recorded, evalgate):
    """Its numbers are not those that were recorded; verify says so as well."""
    (path,) = (recorded.path / "baselines").glob("*.toml")
    forge(path)
    recorded.commit("worse numbers of the same harness, for the next change to beat")
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 6, done.stdout
    assert "double #1 failed, its recording passed" in verdict(recorded)["sentence"]
    done = evalgate("baseline", "verify", cwd=recorded.path)
    assert done.returncode == 6
    assert "double #1 failed, its recording passed" in done.stdout


@pytest.fixture
def joined(here) -> Repo:
    """Two branches that each edited a prompt and accepted a baseline; the first is merged."""
    for name in ("rewrite", "shell"):
        here.git("switch", "-qc", name, "main")
        here.write(f"agent/prompts/{name}.md", f"{name}, edited\n")
        accept(here.path)
        here.commit(f"{name} and its baseline")
    here.git("switch", "-q", "main")
    here.git("merge", "-q", "--no-ff", "-m", "Merge rewrite", "rewrite")
    return here


def landed(repo: Repo, before: str) -> dict[str, str]:
    file = repo.path.parent / "event.json"
    payload = {"before": before, "after": repo.git("rev-parse", "HEAD"), "forced": False}
    file.write_text(json.dumps(payload))
    return {"GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": str(file)}


@pytest.mark.parametrize("how", ["merge", "squash"])
@pytest.mark.parametrize("where", ["here", "on main"])
def test_a_union_has_no_baseline(joined, evalgate, how, where):
    """They join without a conflict, and nobody measured what comes of it."""
    before = joined.git("rev-parse", "HEAD")
    option = ("--no-ff",) if how == "merge" else ("--squash",)
    joined.git("merge", "-q", *option, "shell")
    if how == "squash":
        joined.commit("join")
    env = landed(joined, before) if where == "on main" else None
    done = evalgate("gate", cwd=joined.path, env=env)
    assert done.returncode == 3, done.stdout + done.stderr
    assert verdict(joined)["sentence"].startswith("There is no baseline for this union")
    assert "evalgate run --record" in done.stdout
    assert "evalgate baseline accept latest" in done.stdout
    prompt(joined, "a change that is based on the union")
    done = evalgate("gate", cwd=joined.path)
    assert verdict(joined)["baseline"]["match"] == "stale"


def test_a_branch_that_was_rebased_has_no_baseline(joined, evalgate):
    """Its own is of what it was before: of an older harness of this line, with its change in it."""
    joined.git("switch", "-q", "shell")
    joined.git("rebase", "-q", "main")
    joined.write("words.md", "more\n")
    joined.commit("words")
    done = evalgate("gate", "--base", "main", cwd=joined.path)
    assert done.returncode == 3, done.stdout + done.stderr
    assert verdict(joined)["sentence"].startswith("There is no baseline for this union")
    assert "counts for nothing here" in done.stdout


def test_a_union_that_was_measured_is_like_any_other(joined, evalgate):
    """The command that it names makes it one."""
    joined.git("merge", "-q", "--no-ff", "-m", "join", "shell")
    accept(joined.path)
    joined.commit("The union's baseline")
    prompt(joined, "a change")
    assert evalgate("gate", cwd=joined.path).returncode == 7
    assert verdict(joined)["baseline"]["match"] == "exact"


def test_how_often_a_harness_was_recorded_is_shown(recorded, scripted, evalgate):
    """Whoever records until it fits is seen."""
    env = {"SCRIPTED_URL": scripted.url}
    recorded.write("agent/prompts/rewrite.md", "Fix it.\n")
    for option in ((), ("--again",)):
        done = evalgate("run", "--record", *option, cwd=recorded.path, env=env)
        assert done.returncode == 0, done.stderr
    recorded.commit("recorded twice")
    done = evalgate("gate", cwd=recorded.path)
    assert "recording no. 2 of this harness" in done.stdout
    assert verdict(recorded)["recordings"] == 2


@pytest.fixture
def rewritten(recorded, scripted, evalgate):
    """Record a prompt, let a test rewrite what each recording says was measured, and commit."""

    def act(prompt: str, rewrite) -> None:
        recorded.write("agent/prompts/rewrite.md", prompt)
        env = {"SCRIPTED_URL": scripted.url}
        assert evalgate("run", "--record", cwd=recorded.path, env=env).returncode == 0
        newest = recorded.git("ls-files", "-o", "--exclude-standard", "cassettes").splitlines()
        for name in newest:
            path = Path(recorded.path, name)
            tape = load_cassette(path.read_bytes(), name=name)
            record = {**tape.record, "measured": rewrite(tape.record["measured"])}
            path.write_bytes(
                dump_cassette(
                    tape.__class__(
                        header=tape.header,
                        exchanges=tape.exchanges,
                        claim=tape.claim,
                        record=record,
                    )
                )
            )
        recorded.commit("Recordings")

    return act


def test_numbers_that_a_regrade_does_not_reproduce_are_void(recorded, evalgate, rewritten):
    """A recording that says passed, of a claim that fails."""
    rewritten("Be WRONG.\n", lambda then: {**then, "outcome": "passed", "reason": ""})
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 6, done.stdout
    assert "not reproduced" in verdict(recorded)["sentence"]


@pytest.mark.parametrize(("signal", "code"), [("repeated_calls", 0), ("diff_lines", 6)])
def test_a_recording_from_before_a_signal_was_known(recorded, evalgate, rewritten, signal, code):
    """It lacks the newest signals and is as good as ever; one that lacks another is not."""

    def without(then):
        return {**then, "signals": {k: v for k, v in then["signals"].items() if k != signal}}

    rewritten("Fix it.\n", without)
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == code, done.stdout


def test_recordings_that_a_change_edits_or_deletes_are_named(recorded, evalgate):
    """Those that the base has; the baseline that counted one says that another lies there."""
    first, second = sorted(recorded.git("ls-files", "cassettes").splitlines())[:2]
    path = Path(recorded.path, first)
    tape = load_cassette(path.read_bytes(), name=first)
    record = {**tape.record, "measured": {**tape.record["measured"], "reason": "another"}}
    path.write_bytes(
        dump_cassette(
            tape.__class__(
                header=tape.header, exchanges=tape.exchanges, claim=tape.claim, record=record
            )
        )
    )
    Path(recorded.path, second).unlink()
    prompt(recorded, "Be WRONG.")
    evalgate("gate", cwd=recorded.path)
    notes = verdict(recorded)["notes"]
    assert any(f"edits 1 recording that the base has: {first};" in one for one in notes)
    assert f"this change deletes 1 recording that the base has: {second}" in notes
    told = evalgate("baseline", "verify", cwd=recorded.path).stdout
    assert "4 of 6 trials have their recording here" in told
    assert "another recording lies in the place of double #1" in told
