"""An agent that asks is answered by its task, in the same sandbox, and is replayed with that."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from evalgate.core.config import load_config
from evalgate.core.files import File
from evalgate.core.harness import Harness
from evalgate.core.schema import Source
from evalgate.core.task import CheckSpec, Task
from evalgate.core.trial import Outcome
from evalgate.core.user_reply import UserReply
from evalgate.gateway.format.header import Header
from evalgate.runner.artifacts import cassette_path
from evalgate.runner.recorded import load_recorded
from evalgate.runner.trial import live_trial, replayed_trial
from evalgate.store.runs import RunFolder
from evalgate.wiring import Kind, Setup, open_bench
from tests.judges import open_judges

CONFIG = """
[harness.parts]
code = ["agent.py"]
[models.main]
id = "m"
upstream = "env:MODEL_URL"
[agent]
command = ["python3", "{harness_dir}/agent.py", "{instruction}"]
answering = ["python3", "{harness_dir}/agent.py", "{reply}"]
"""
AGENT = """
import json, os, pathlib, sys, urllib.request
kept = pathlib.Path(os.environ["HOME"], "session.json")
messages = json.loads(kept.read_text()) if kept.exists() else []
messages.append({"role": "user", "content": sys.argv[1]})
body = json.dumps({"model": "m", "messages": messages}).encode()
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
request = urllib.request.Request(url, body, {"content-type": "application/json"})
message = json.load(urllib.request.urlopen(request))["choices"][0]["message"]
kept.write_text(json.dumps([*messages, message]))
print(message["content"])
if message["content"] == "Done.":
    pathlib.Path("b.txt").write_text("b")
"""


def test_an_agent_that_asks_gets_its_answer(tmp_path: Path):
    """It asks before it acts, is told to go on, and acts; the replay does all of it again."""
    task = Task(
        id="ask",
        instruction="Write b.txt.",
        workspace={"a.txt": File(data=b"a")},
        tests={},
        digest="d",
        checks=(
            CheckSpec(type="asks_first"),
            CheckSpec(type="file_exists", params={"path": "b.txt"}),
        ),
        user=(UserReply(reply="Yes, it's fine."), UserReply(reply="Not asked for.")),
    )
    config = load_config(Source("evalgate.toml", CONFIG), below=())
    assert config is not None
    harness = Harness(
        label="it",
        config=config,
        fingerprint="f" * 64,
        parts={"code": "d"},
        members={"code": ("agent.py",)},
        files={"agent.py": File(data=AGENT.encode())},
    )
    setup = Setup(
        kind=Kind.RUN,
        harness=harness,
        tasks=[task],
        sandbox="process",
        provenance=Header(recording=1),
    )
    run, stop = RunFolder(tmp_path / "run"), threading.Event()
    says = {"Write b.txt.": "Shall I proceed?", "Yes, it's fine.": "Done."}
    with open_judges(lambda prompt: says[prompt]) as model:
        with open_bench(setup, {**os.environ, "MODEL_URL": model.url}) as bench:
            trial = live_trial(bench, task, 1, run, stop).trial
        assert [len(one["messages"]) for one in model] == [1, 3]
    assert (trial.outcome, trial.reason) == (Outcome.PASSED, "")
    assert (trial.signals.turns, trial.signals.confirmations_asked) == (2, 1)
    recorded = load_recorded(cassette_path(run, "ask", 1).read_bytes(), name="it")
    replaying = Setup(kind=Kind.REPLAY, harness=harness, tasks=[task], sandbox="process")
    with open_bench(replaying, dict(os.environ)) as bench:
        again = replayed_trial(bench, task, recorded, RunFolder(tmp_path / "b"), stop).trial
    assert again.measured() == recorded.measured
