"""A suite that is no coding at all: tickets get a label, and a prompt edit is judged by them."""

from __future__ import annotations

import json

from tests.e2e.conftest import Repo

AGENT = """\
import json, os, pathlib, sys, urllib.request

here = pathlib.Path(sys.argv[0]).parent
question = pathlib.Path(sys.argv[1]).read_text() + pathlib.Path("ticket.txt").read_text()
messages = [{"role": "system", "content": (here / "prompt.md").read_text()},
            {"role": "user", "content": question}]
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps({"model": sys.argv[2], "messages": messages}).encode(),
    {"content-type": "application/json"},
)
with urllib.request.urlopen(request) as reply:
    print(json.load(reply)["choices"][0]["message"]["content"])
"""
CONFIG = """\
[harness.parts]
prompt = ["agent/prompt.md"]
code = ["agent/agent.py"]

[models.main]
id = "scripted-1"
upstream = "env:SCRIPTED_URL"

[agent]
command = ["python3", "{harness_dir}/agent/agent.py", "{instruction_file}", "{model}"]

[suite]
trials = 5
"""
LABELS = ("bug", "billing", "other")
TICKETS = {
    "crash": ("bug", "It stops with an error when I press save."),
    "invoice": ("billing", "I paid twice this month."),
    "thanks": ("other", "I only want to say that I like it."),
}


def triage(path, environment) -> Repo:
    """A repository of a support desk: three tickets, graded by the exact label alone."""
    made = Repo(path=path / "support desk", environment=environment)
    made.path.mkdir()
    made.git("init", "-q", "-b", "main")
    made.write("evalgate.toml", CONFIG)
    made.write("agent/agent.py", AGENT)
    made.write("agent/prompt.md", "Answer with one label alone.\n")
    for name, (label, words) in TICKETS.items():
        check = f'{{ type = "exact_label", labels = {json.dumps(LABELS)}, expected = "{label}" }}'
        made.write(f"tasks/{name}/task.toml", f"[metadata.evalgate]\nchecks = [{check}]\n")
        made.write(f"tasks/{name}/instruction.md", f"Which label: {', '.join(LABELS)}?\n")
        made.write(f"tasks/{name}/environment/workspace/ticket.txt", f"{words}\n")
        made.write(f"tasks/{name}/solution/answer.txt", f"{label}\n")
    made.commit("A desk and its tickets")
    return made


def answer(request) -> tuple[int, str]:
    """The right label, in a whole sentence where the prompt asks for manners."""
    system, user = (message["content"] for message in request["messages"])
    label = next(label for label, words in TICKETS.values() if words in user)
    return 200, f"The label is {label}." if "manners" in system else label


def test_labels_through_the_whole_gate(tmp_path, git_environment, scripted, evalgate):
    """Proven, recorded, accepted; a harmless edit blocks nothing, a friendlier tone does."""
    repo, scripted.answer = triage(tmp_path, git_environment), answer

    def call(*words: str, code: int = 0) -> str:
        done = evalgate(*words, cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout

    assert "3 of 3 tasks are proven" in call("task", "verify", "-k", "1")
    call("run", "--record")
    call("baseline", "accept")
    repo.commit("The first baseline")
    repo.git("switch", "-qc", "edit")
    for prompt, decision, code in (
        ("Answer with one label alone, please.\n", "undecided", 0),
        ("Answer with manners.\n", "regression", 1),
    ):
        repo.write("agent/prompt.md", prompt)
        call("run", "--record")
        repo.commit(prompt)
        told = json.loads(call("--json", "gate", "--base", "main", "--head", "edit", code=code))
        assert told["decision"] == decision
