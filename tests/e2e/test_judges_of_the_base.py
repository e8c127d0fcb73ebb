"""No change makes itself judged milder: its judges are asked where the base says."""

from __future__ import annotations

import json

import pytest

from tests.judges import NO, YES, open_judges

MODEL = """
[models.grader]
id = "j"
upstream = "env:{name}"
dialect = "openai-chat"
price = {{ input = 1.0, output = 1.0 }}
"""
CHECK = (
    '{ type = "llm_judge", of = "diff", rubric = "It is short.", samples = 1, advisory = true,'
    ' judge = { id = "j", upstream = "grader" } },'
)
PROMPT = "agent/prompts/rewrite.md"


def strict(prompt: str) -> str:
    return NO


def mild(prompt: str) -> str:
    return YES


@pytest.fixture
def judges():
    """Two judges of one name: the base's, and one that passes everything."""
    with open_judges(strict) as of_base, open_judges(mild) as of_head:
        yield of_base, of_head


@pytest.fixture
def env(scripted, judges):
    of_base, of_head = judges
    return {"SCRIPTED_URL": scripted.url, "STRICT": of_base.url, "MILD": of_head.url}


@pytest.fixture
def base(repo, evalgate, env):
    """A base whose task is judged, with recordings and a baseline."""
    text = (repo.path / "evalgate.toml").read_text()
    price = 'upstream = "env:SCRIPTED_URL"\nprice = { input = 1.0, output = 1.0 }'
    text = text.replace('upstream = "env:SCRIPTED_URL"', price)
    repo.write("evalgate.toml", text + MODEL.format(name="STRICT"))
    for task in (repo.path / "tasks").iterdir():
        path = task / "task.toml"
        path.write_text(path.read_text().replace("checks = [", f"checks = [{CHECK}"))
    repo.commit("a judge")
    done = evalgate("run", "--record", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    accepted = evalgate("baseline", "accept", cwd=repo.path)
    assert accepted.returncode == 0, accepted.stderr
    repo.commit("a baseline")
    return repo


def soften(repo, judge: str = MODEL.format(name="MILD")) -> str:
    """Edit the prompt, and where the judge is asked."""
    text = (repo.path / "evalgate.toml").read_text()
    repo.write("evalgate.toml", text.replace(MODEL.format(name="STRICT"), judge))
    repo.write(PROMPT, "Fix it, please.\n")
    return repo.commit("an edit, and a milder judge")


def judged(repo) -> set[str]:
    """Return how the checks of the newest run came out that a judge made."""
    newest = max((repo.path / ".evalgate" / "runs").iterdir())
    lines = (newest / "trials.jsonl").read_text().splitlines()
    return {
        check["outcome"]
        for line in lines
        for check in json.loads(line)["checks"]
        if check["name"] == "llm_judge"
    }


def test_another_place_is_refused(base, evalgate, env, judges):
    """The change sends requests where the base does not; what its own judge said does not count."""
    of_base, of_head = judges
    soften(base)
    assert evalgate("run", cwd=base.path, env=env).returncode == 0
    assert judged(base) == {"passed"}
    of_base.clear()
    of_head.clear()
    refused = evalgate("gate", "--live", cwd=base.path, env=env)
    assert refused.returncode == 2
    assert "env:MILD" in refused.stderr
    assert not of_base
    assert not of_head
    done = evalgate("gate", cwd=base.path, env=env)
    assert done.returncode == 7, done.stdout
    edit = "this change edits the judge models.grader: env:STRICT (openai-chat) → env:MILD"
    assert edit in done.stdout


def test_a_known_place_is_no_way_round(base, evalgate, env, judges):
    """Another place that the base has: its own requests may go there, its judge's do not."""
    of_base, of_head = judges
    text = (base.path / "evalgate.toml").read_text()
    other = MODEL.format(name="MILD").replace("grader", "other").replace('"j"', '"k"')
    base.write("evalgate.toml", text + other)
    base.commit("another model")
    assert evalgate("run", "--record", cwd=base.path, env=env).returncode == 0
    assert evalgate("baseline", "accept", cwd=base.path).returncode == 0
    base.commit("its baseline")
    soften(base)
    of_base.clear()
    done = evalgate("gate", "--live", cwd=base.path, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert of_base
    assert not of_head
    assert judged(base) == {"failed"}
    assert "this change edits the judge models.grader" in done.stdout
    accepted = evalgate("baseline", "accept", "-k", "1", cwd=base.path)
    assert accepted.returncode == 2
    assert "judged by a gate's base, which asks judges elsewhere" in accepted.stderr
    promoted = evalgate("gate", "--live", "--promote", cwd=base.path, env=env)
    assert "not promoted: " in promoted.stdout


def test_a_judge_that_a_change_takes_away_is_asked(base, evalgate, env, judges):
    """The base's task still names it."""
    of_base, _ = judges
    soften(base, "")
    of_base.clear()
    done = evalgate("gate", "--live", cwd=base.path, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert of_base
    assert "this change takes away the judge models.grader" in done.stdout


def test_recordings_by_another_judge_are_incomparable(base, evalgate, env):
    """What the head's own judge said of it says nothing beside the base's."""
    soften(base)
    assert evalgate("run", "--record", cwd=base.path, env=env).returncode == 0
    base.git("add", "-A")
    base.git("commit", "-q", "--amend", "--no-edit")
    done = evalgate("gate", cwd=base.path, env=env)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "judge j: asked at env:STRICT (openai-chat) against env:MILD" in done.stdout


def test_a_bisection_asks_one_judge(base, evalgate, env, judges):
    """The bad end's, on every harness; what another was asked about is left out, and said."""
    of_base, of_head = judges
    good = base.git("rev-parse", "HEAD")
    soften(base)
    base.write(PROMPT, "Fix it. Be WRONG.\n")
    bad = base.commit("it breaks")
    of_base.clear()
    done = evalgate("bisect", "double", f"{good}..{bad}", "--json", cwd=base.path, env=env)
    found = json.loads(done.stdout)
    assert not of_base
    assert of_head
    assert found["culprit"]["commits"] == [bad]
    assert any("judge j: asked at env:MILD" in one for one in found["left_out"])


def test_a_drift_is_not_one_of_the_judge(base, evalgate, env):
    """A session by another judge begins anew, with a word."""
    newest = max((base.path / ".evalgate" / "runs").iterdir())
    lines = (newest / "trials.jsonl").read_text()
    (newest / "trials.jsonl").write_text(lines.replace("env:STRICT", "env:OLD"))
    assert evalgate("run", "--fresh", cwd=base.path, env=env).returncode == 0
    done = evalgate("drift", cwd=base.path)
    assert "other conditions hold: judge j: asked at env:OLD" in done.stdout
