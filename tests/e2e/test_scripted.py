"""A scripted upstream: a plan in the repository plays the model, and every report says so."""

from __future__ import annotations

import json
import tomllib

import pytest

from evalgate.core.baseline import Baseline
from evalgate.core.schema import Source
from evalgate.gateway.scripted.plan import load_plan
from evalgate.gateway.scripted.server import at_task, open_scripted
from tests.e2e.conftest import HARNESS

NAMED = "scripted:scripted-1"
UPSTREAM = 'upstream = "env:SCRIPTED_URL"'
PLANNED = 'upstream = "scripted:plans/fix.toml"'
WORDS = "a plan of replies, not a model"

REPLY = '''
[[task]]
id = "{name}"
[[task.reply]]
text = """
```python
def {name}(n):
    return n * {factor}
```
"""
'''

SHELL = """format = 1

[[task]]
id = "*"

[[task.reply]]
text = "I look first."

[[task.reply.call]]
name = "bash"
input = { command = "ls" }

[[task.reply]]

[[task.reply.call]]
name = "bash"
input = { command = "sed -i 's/n + 40/n * 2/' double.py" }

[[task.reply.call]]
name = "bash"
input = { command = "cat double.py" }

[[task.reply]]
text = "Done."
"""


def plan(double=2, triple=3):
    """Return a plan that writes both functions with these factors."""
    return (
        "format = 1\n"
        + REPLY.format(name="double", factor=double)
        + REPLY.format(name="triple", factor=triple)
    )


@pytest.fixture
def planned(repo):
    """The project with a plan in place of its model."""
    repo.write("plans/fix.toml", plan())
    config = (repo.path / "evalgate.toml").read_text()
    repo.write("evalgate.toml", config.replace(UPSTREAM, PLANNED))
    repo.commit("scripted")
    return repo


@pytest.fixture
def accepted(planned, evalgate):
    """The same with recordings and a baseline."""
    done = evalgate("run", "--record", cwd=planned.path)
    assert done.returncode == 0, done.stderr
    done = evalgate("baseline", "accept", "-k", "1", cwd=planned.path)
    assert done.returncode == 0, done.stderr
    planned.commit("baseline")
    return planned


def verdict(repo):
    """Return the last verdict."""
    return json.loads((repo.path / ".evalgate" / "verdict.json").read_text())


def test_a_run_by_a_plan_needs_no_provider_and_says_so(planned, evalgate):
    """Nothing is asked elsewhere, nothing costs anything, and nobody takes it for a model."""
    done = evalgate("run", cwd=planned.path)
    assert done.returncode == 0, done.stderr
    assert "6/6 passed (100 %)" in done.stdout
    assert f"{NAMED}: {WORDS}" in done.stdout
    assert f"models.main is scripted by plans/fix.toml: {WORDS}" in done.stderr
    assert "cost $0" in done.stderr
    (run,) = (planned.path / ".evalgate" / "runs").iterdir()
    for line in (run / "trials.jsonl").read_text().splitlines():
        trial = json.loads(line)
        assert trial["conditions"]["models"] == [NAMED]
        assert trial["signals"]["cost_usd"] == 0.0
    assert NAMED in evalgate("show", "latest", cwd=planned.path).stdout
    told = json.loads(evalgate("--json", "run", cwd=planned.path).stdout)
    assert NAMED in json.dumps(told)


def test_an_agent_with_tools_is_led_turn_by_turn(planned, evalgate):
    """The same plan leads a loop with tools, in a dialect that streams."""
    planned.write("plans/fix.toml", SHELL)
    planned.write("agent/agent.py", (HARNESS / "agent.py").read_text())
    config = (planned.path / "evalgate.toml").read_text()
    config = config.replace('"--mode", "rewrite"', '"--mode", "shell", "--stream"')
    planned.write("evalgate.toml", config.replace('"openai"', '"anthropic"'))
    done = evalgate("run", "double", "-k", "2", cwd=planned.path)
    assert done.returncode == 0, done.stderr
    assert "2/2 passed" in done.stdout, done.stdout
    (run,) = (planned.path / ".evalgate" / "runs").iterdir()
    for line in (run / "trials.jsonl").read_text().splitlines():
        trial = json.loads(line)
        assert (trial["signals"]["turns"], trial["signals"]["tool_calls"]) == (3, 3)
        assert trial["final_answer"] == "Done."


def test_an_edited_plan_is_another_harness(accepted, evalgate):
    """What a plan says makes the outcome: the edit is seen, named, judged, and called scripted."""
    accepted.write("plans/fix.toml", plan(double=42))
    done = evalgate("run", "--record", cwd=accepted.path)
    assert done.returncode == 0, done.stderr
    done = evalgate("gate", cwd=accepted.path)
    assert done.returncode == 1, done.stderr
    assert verdict(accepted)["parts_changed"] == ["scripted"]
    assert f"{NAMED}: {WORDS}" in done.stdout.replace("\\", "")
    assert "plans/fix.toml" in done.stdout
    assert "scripted" in evalgate("baseline", "list", cwd=accepted.path).stdout


def test_a_plan_is_read_from_the_state_that_runs(accepted, evalgate):
    """The revision's plan plays, whatever lies in the work tree."""
    accepted.write("plans/fix.toml", plan(double=42, triple=42))
    at_head = evalgate("run", "--rev", "HEAD", "-k", "1", cwd=accepted.path)
    assert "2/2 passed" in at_head.stdout, at_head.stderr
    dirty = evalgate("run", "-k", "1", cwd=accepted.path)
    assert "0/2 passed" in dirty.stdout, dirty.stderr


def test_a_live_gate_takes_a_plan_that_the_base_does_not_have(accepted, evalgate):
    """It is answered here: no key of this machine is sent anywhere."""
    accepted.write("plans/other.toml", plan(double=42))
    config = (accepted.path / "evalgate.toml").read_text()
    accepted.write("evalgate.toml", config.replace("plans/fix.toml", "plans/other.toml"))
    accepted.commit("another plan")
    done = evalgate("gate", "--live", cwd=accepted.path)
    assert done.returncode == 1, done.stderr
    assert verdict(accepted)["evidence"] == "measured"


def test_a_model_is_not_compared_with_a_plan(accepted, scripted, evalgate):
    """The numbers of a plan are no baseline for a model: exit 3, and the reason says scripted."""
    config = (accepted.path / "evalgate.toml").read_text()
    accepted.write("evalgate.toml", config.replace(PLANNED, UPSTREAM))
    done = evalgate("run", "--record", cwd=accepted.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    done = evalgate("gate", cwd=accepted.path)
    assert done.returncode == 3, done.stdout
    assert "incomparable" in verdict(accepted)["sentence"]
    assert NAMED in " ".join(verdict(accepted)["reasons"])


def test_scripted_numbers_are_no_baseline_of_a_harness_that_asks_a_model(repo, evalgate):
    """A URL that leads to a plan is found out by what the replies say."""
    with open_scripted({"scripted-1": load_plan(Source("p", plan()))}) as url:
        env = {"SCRIPTED_URL": at_task(url, "double")}
        done = evalgate("run", cwd=repo.path, env=env)
    assert "3/6 passed" in done.stdout, done.stderr
    done = evalgate("baseline", "accept", "-k", "1", cwd=repo.path)
    assert done.returncode == 2
    assert f"is scripted ({NAMED}), and this harness asks a model" in done.stderr


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("plans/none.toml", "plans/none.toml"),
        ("/etc/passwd", "evalgate.toml:9: models.main.upstream: the plan must be a path below"),
        ("../x.toml", "the plan must be a path below harness.root"),
        ("plans/*.toml", "must be one file, not a glob"),
        ("", "the plan must be a path below harness.root"),
    ],
)
def test_a_plan_that_is_not_in_the_harness_is_refused(planned, evalgate, path, words):
    """Missing, absolute or outside: exit 2, and nothing runs."""
    config = (planned.path / "evalgate.toml").read_text()
    planned.write("evalgate.toml", config.replace("plans/fix.toml", path))
    done = evalgate("run", cwd=planned.path)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (planned.path / ".evalgate" / "runs").exists()


def test_a_plan_that_leaves_a_task_out_is_refused(planned, evalgate):
    """Before the first trial, with the task's name."""
    planned.write("plans/fix.toml", "format = 1\n" + REPLY.format(name="double", factor=2))
    done = evalgate("run", cwd=planned.path)
    assert done.returncode == 2
    assert "plans/fix.toml: plans nothing for triple" in done.stderr


def test_an_upstream_that_is_not_there_is_told_before_anything_runs(repo, evalgate):
    """Exit 9, no run folder, no trial that could not be measured."""
    done = evalgate("run", cwd=repo.path, env={"SCRIPTED_URL": "http://127.0.0.1:9"})
    assert done.returncode == 9
    assert "models.main: can not be reached" in done.stderr
    assert not (repo.path / ".evalgate" / "runs").exists()


def test_two_tables_can_not_send_one_model_to_two_places(repo, evalgate):
    """A request names its model by the id alone."""
    config = (repo.path / "evalgate.toml").read_text()
    more = '[models.cheap]\nid = "scripted-1"\nupstream = "local-model"\n[agent]'
    repo.write("evalgate.toml", config.replace("[agent]", more))
    done = evalgate("run", cwd=repo.path)
    assert done.returncode == 2
    assert "models.cheap.id: 'scripted-1' is served elsewhere in models.main" in done.stderr


def test_scripted_recordings_of_a_harness_that_asks_a_model_are_not_believed(recorded, evalgate):
    """Recorded against a plan behind a URL: the verdict is void and says what answered."""
    recorded.write("agent/prompts/rewrite.md", "Fix it well.\n")
    with open_scripted({"scripted-1": load_plan(Source("p", plan()))}) as url:
        env = {"SCRIPTED_URL": at_task(url, "double")}
        done = evalgate("run", "--record", cwd=recorded.path, env=env)
    assert done.returncode == 0, done.stderr
    assert evalgate("gate", cwd=recorded.path).returncode == 6
    assert verdict(recorded)["decision"] == "void"
    assert f"{NAMED} answered, and the harness asks a model" in verdict(recorded)["reasons"]


def test_a_scripted_baseline_of_a_harness_that_asks_a_model_is_refused(recorded, evalgate):
    """However it came to be committed: nothing is compared with it, and the verdict names it."""
    (path,) = (recorded.path / "baselines").glob("*.toml")
    text = path.read_text().replace('"scripted-1"', f'"{NAMED}"')
    name = Baseline.from_json(tomllib.loads(text)).filename
    path.unlink()
    recorded.commit("no baseline")
    path.with_name(name).parent.mkdir(exist_ok=True)
    path.with_name(name).write_text(text)
    recorded.commit("a baseline of a plan")
    recorded.write("agent/prompts/rewrite.md", "Fix it well.\n")
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 3, done.stdout
    assert verdict(recorded)["sentence"] == (
        f"The base's baseline is scripted ({NAMED}); its harness asks a model."
    )
