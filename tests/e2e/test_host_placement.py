"""An agent on the host with its tools in a sandbox, end to end: recorded, replayed, interrupted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evalgate.sandboxes.bwrap import BwrapProvider
from evalgate.sandboxes.container import docker
from evalgate.sandboxes.docker import Engine
from tests.providers import not_usable

SCRIPT = Path(sys.executable).parent / "evalgate"

#: It tells its model every path of its run, and has nothing but the command line for its tools.
AGENT = """
import json, os, pathlib, re, subprocess, sys, urllib.request

def tool(*words, stdin=None):
    done = subprocess.run(["evalgate", "sandbox", *words], input=stdin, capture_output=True)
    assert done.returncode == 0, done
    return done.stdout.decode()

instruction = pathlib.Path(sys.argv[1]).read_text()
name = re.search(r"`(\\w+[.]py)`", instruction)[1]
before = tool("read", name)
about = [os.getcwd(), os.environ["HOME"], os.environ["TMPDIR"], __file__, sys.argv[1], sys.argv[2]]
about += tool("exec", "--", "pwd; echo $HOME $TMPDIR; git log --format=%s").splitlines()
system = pathlib.Path(__file__).parent.joinpath("prompts/rewrite.md").read_text()
messages = [
    {"role": "system", "content": system + " ".join(about)},
    {"role": "user", "content": instruction + before},
]
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps({"model": "scripted-1", "messages": messages}).encode(),
    {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
)
reply = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
tool("write", name, stdin=reply.split("```python\\n")[1].split("```")[0].encode())
tool("exec", "--timeout", "20", "--", "python3", name)
"""


def use(repo, sandbox: str, agent: str = AGENT) -> None:
    """Place an agent on the host, for one trial of each task."""
    repo.write("agent/agent.py", agent)
    config = (repo.path / "evalgate.toml").read_text()
    start, rest = config.split("command = [", 1)
    end = rest.split("]\n", 1)[1].replace("trials = 3", "trials = 1")
    command = '["python3", "{harness_dir}/agent/agent.py", "{instruction_file}", "{repo_dir}"]'
    repo.write(
        "evalgate.toml",
        f'{start}placement = "host"\ncommand = {command}\n{end}[sandbox]\nuse = "{sandbox}"\n',
    )
    repo.commit("On the host")


@pytest.fixture(params=["bwrap", "docker", "process"])
def sandbox(request) -> tuple[str, dict[str, str]]:
    """Each sandbox that can be used here, and the variables that lead to it."""
    if request.param == "bwrap" and (reason := BwrapProvider().unavailable()):
        pytest.skip(reason)
    if request.param != "docker":
        return request.param, {}
    if reason := not_usable(docker()):
        assert "EVALGATE_ENGINE" not in os.environ, reason
        pytest.skip(reason)
    base = os.environ.get("EVALGATE_BASE_IMAGE", "")
    lead = {"DOCKER_HOST": Engine().address, **({"EVALGATE_BASE_IMAGE": base} if base else {})}
    return "docker", lead


def newest(repo) -> Path:
    return max((repo.path / ".evalgate" / "runs").iterdir(), key=lambda run: run.stat().st_mtime)


def hits(run: Path) -> list[tuple[str, str]]:
    """Return the tripwires that the trials of a run hit, and where."""
    trials = [json.loads(line) for line in (run / "trials.jsonl").read_text().splitlines()]
    return sorted((hit["name"], hit["place"]) for trial in trials for hit in trial["tripwires"])


def patches(run: Path) -> list[str]:
    return [path.read_text() for path in sorted(run.glob("artifacts/*/*/diff.patch"))]


def test_a_regrade_sees_what_was_asked_of_the_sandbox(repo, scripted, evalgate) -> None:
    """No model was told of it: it stands in the recording, the token under its label."""
    rummaging = AGENT.replace(
        "instruction = ",
        'token = tool("exec", "--", "grep -rho EVALGATE-CANARY-[0-9a-f]* $HOME/.evaluation")\n'
        'tool("exec", "--", "git log --all; echo " + token.split()[0])\n'
        "instruction = ",
        1,
    )
    use(repo, "process", rummaging)
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "--record", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    then = hits(newest(repo))
    assert {name for name, _ in then} >= {"history", "canary"}
    assert {place for _, place in then} == {"exec 2 in the sandbox"}
    recorded = [path.read_text() for path in repo.path.glob("cassettes/*/*/*.json")]
    assert recorded
    assert all("git log --all; echo <CANARY>" in text for text in recorded)
    done = evalgate("regrade", cwd=repo.path)
    assert done.returncode == 0, done.stderr
    assert hits(newest(repo)) == then


@pytest.mark.parametrize("sandbox", ["bwrap", "docker"], indirect=True)
def test_who_kills_its_own_tools_is_told_why_it_failed(repo, scripted, evalgate, sandbox) -> None:
    """Everything in the sandbox is gone: `show` says so, beside the check that failed."""
    use_, lead = sandbox
    work = 'tool("write", name'
    assert work in AGENT
    kills = 'subprocess.run(["evalgate", "sandbox", "exec", "--", "kill -9 -1"])\n'
    suicidal = AGENT.replace(work, f"{kills}import time; time.sleep(60)\n{work}")
    use(repo, use_, suicidal)
    env = {"SCRIPTED_URL": scripted.url, **lead}
    done = evalgate("run", "-k", "1", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    shown = evalgate("show", f"{newest(repo).name}:double:1", cwd=repo.path).stdout
    assert "(the tools of the agent were killed)" in shown


def test_names_that_are_no_text_end_no_run(repo, scripted, evalgate) -> None:
    """What is kept of such a call is escaped; the run goes on, and its recording is graded."""
    odd = AGENT.replace(
        "instruction = ",
        'tool("write", os.fsdecode(b"caf\\xe9.txt"), stdin=b"x")\n'
        'assert tool("read", os.fsdecode(b"caf\\xe9.txt")) == "x"\n'
        'tool("exec", "--", "true", os.fsdecode(b"a\\xffb"))\n'
        "import socket\n"
        "with socket.socket(socket.AF_UNIX) as line:\n"
        '    line.connect(os.environ["EVALGATE_SANDBOX"])\n'
        '    line.sendall(b\'{"kind": "exec", "command": "echo \\\\ud800"}\\n\')\n'
        "    assert line.recv(9999)\n"
        "instruction = ",
        1,
    )
    use(repo, "process", odd)
    done = evalgate("run", "--record", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    called = [path.read_text() for path in newest(repo).glob("artifacts/*/*/tools.jsonl")]
    assert called
    for text in called:
        for words in ("caf\\\\udce9.txt", "echo \\\\ud800"):
            assert words in text
    done = evalgate("regrade", cwd=repo.path)
    assert done.returncode == 0, done.stderr


def test_the_overlay_lies_in_its_folder_and_among_its_tools(repo, scripted, evalgate) -> None:
    """An agent that reads its own settings where it begins finds them, and no claim holds them."""
    looking = AGENT.replace(
        "instruction = ",
        'assert os.listdir() == ["CLAUDE.md"], os.listdir()\n'
        'said = pathlib.Path("CLAUDE.md").read_text()\n'
        'assert said == tool("read", "CLAUDE.md") == "Be brief.\\n", said\n'
        "instruction = ",
        1,
    )
    repo.write("agent/prompts/brief.md", "Be brief.\n")
    use(repo, "process", looking)
    text = (repo.path / "evalgate.toml").read_text()
    more = '[harness.overlay]\n"agent/prompts/brief.md" = "CLAUDE.md"\n'
    repo.write("evalgate.toml", text + more)
    repo.commit("With an overlay")
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("run", "-k", "1", "double", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert "1/1" in done.stdout + done.stderr
    (patch,) = patches(newest(repo))
    assert "CLAUDE.md" not in patch


def test_it_is_recorded_and_replayed_elsewhere(repo, scripted, evalgate, sandbox, tmp_path) -> None:
    """The same claims and the same grades as inside; the paths of a run are in no request."""
    done = evalgate(
        "run", "-k", "1", "--sandbox", "process", cwd=repo.path, env={"SCRIPTED_URL": scripted.url}
    )
    assert done.returncode == 0, done.stderr
    inside = patches(newest(repo))
    name, env = sandbox
    use(repo, name)
    scripted.requests.clear()
    done = evalgate("run", "--record", cwd=repo.path, env={**env, "SCRIPTED_URL": scripted.url})
    assert done.returncode == 0, done.stderr
    assert "agent: on the host: NOT ISOLATED" in done.stderr
    assert "2/2" in done.stdout + done.stderr
    assert len(scripted.requests) == 2
    assert patches(newest(repo)) == inside

    temp = tmp_path / "another place"
    temp.mkdir()
    elsewhere = {"TMPDIR": str(temp), "HOME": str(temp)}
    done = evalgate("-q", "replay", cwd=repo.path, env={**env, **elsewhere})
    assert done.returncode == 0, done.stderr
    assert "agent: on the host: NOT ISOLATED" in done.stderr
    assert "2/2" in done.stdout + done.stderr
    # Where nothing but git is to be found, neither bwrap nor an engine is.
    (temp / "git").symlink_to(str(shutil.which("git")))
    done = evalgate("replay", cwd=repo.path, env={**elsewhere, "PATH": str(temp)})
    assert done.returncode == 0, done.stderr
    assert "sandbox: process" in done.stderr
    assert len(scripted.requests) == 2
    assert list(temp.glob("evalgate-*")) == []
    done = evalgate("regrade", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert "NOT ISOLATED" not in done.stderr


def test_what_its_tools_did_is_kept_without_secrets(repo, scripted, evalgate) -> None:
    """A line a call in tools.jsonl, and the tripwires look into it."""
    more = 'tool("exec", "--", "sh", "-c", "git log --all; : $0", "s3cret-of-the-host-0815")\n'
    use(repo, "process", AGENT + more)
    env = {"SCRIPTED_URL": scripted.url, "OWN_API_KEY": "s3cret-of-the-host-0815"}
    done = evalgate("run", "-k", "1", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    for path in newest(repo).glob("artifacts/*/1/tools.jsonl"):
        calls = [json.loads(line) for line in path.read_text().splitlines()]
        assert [call["kind"] for call in calls] == ["read", "exec", "write", "exec", "exec"]
        assert calls[3]["command"].startswith("python3 ")
        assert {"exit_code", "seconds", "bytes", "timed_out"} < calls[3].keys()
        assert "s3cret" not in path.read_text()
        assert "<secret:OWN_API_KEY>" in calls[4]["command"]
    assert "tripwire history: double #1, exec 5 in the sandbox" in done.stderr


SLEEPING = """
import os, subprocess, sys
subprocess.Popen(["setsid", "sh", "-c", 'trap "" TERM INT; sleep 600'])
open(os.environ["TEST_MARK"] + "/begun", "a").close()
subprocess.run(["evalgate", "sandbox", "exec", "--", "touch begun; sleep 600"])
"""


def alive(mark: str) -> list[int]:
    """Return the processes that have a mark in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            environment = path.read_bytes()
        except OSError:
            continue
        if mark.encode() in environment:
            found.append(int(path.parent.name))
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda one: one.name)
def test_an_end_in_the_middle_leaves_nothing(
    repo, scripted, evalgate, tmp_path, sandbox, number
) -> None:
    """Ctrl-C ends agent and tools at once; after SIGKILL the next command does."""
    name, env = sandbox
    use(repo, name, SLEEPING)
    rooms = tmp_path / "rooms"
    rooms.mkdir()
    env = {**env, "SCRIPTED_URL": scripted.url, "TMPDIR": str(rooms)}
    process = subprocess.Popen(
        [SCRIPT, "run", "-j", "1"],
        cwd=repo.path,
        env={**repo.environment, **env},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    while not (tmp_path / "begun").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    assert alive(str(rooms))
    process.send_signal(number)
    process.communicate()
    assert process.returncode == (130 if number is signal.SIGINT else -9)
    if number is signal.SIGKILL:
        done = evalgate("clean", cwd=repo.path, env=env)
        assert done.returncode == 0, done.stderr
    assert [pid for pid in alive(str(rooms)) if pid != os.getpid()] == []
    assert list(rooms.glob("evalgate-room-*")) == []
    if name == "docker":
        left = [one for one in Engine().ours() if one.startswith(f"evalgate-room-{process.pid}-")]
        assert left == []


def test_an_agent_that_is_not_there_is_exit_9(repo, scripted, evalgate) -> None:
    """As inside."""
    use(repo, "process")
    config = repo.path / "evalgate.toml"
    config.write_text(config.read_text().replace('["python3",', '["no-such-agent",'))
    done = evalgate("run", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 9, done.stderr
    assert "no-such-agent" in done.stderr
