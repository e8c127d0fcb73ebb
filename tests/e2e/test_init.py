"""`evalgate init` in repositories of several kinds, and the commands that it prints, as printed."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import HARNESS, Repo, fenced

BIN = Path(sys.executable).parent
ADD = "def add(a, b):\n    return a {} b\n"
#: A stand-in for an agent's program in the image: it reads CLAUDE.md where it works.
PROGRAM = """#!/usr/bin/env python3
import json, os, pathlib, sys, urllib.request
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
said = [{"role": "system", "content": pathlib.Path("CLAUDE.md").read_text()},
        {"role": "user", "content": words["-p"]}]
body = json.dumps({"model": words["--model"], "messages": said}).encode()
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
head = {"content-type": "application/json", "authorization": "Bearer x"}
answer = json.load(urllib.request.urlopen(urllib.request.Request(url, body, head)))
text = answer["choices"][0]["message"]["content"]
pathlib.Path("sums.py").write_text(text.partition("```python\\n")[2].partition("```")[0])
"""


def answer(request):
    """Fix the sample task, unless the prompt says WRONG."""
    wrong = "WRONG" in request["messages"][0]["content"]
    return 200, fenced(ADD.format("*" if wrong else "+"))


@pytest.fixture
def fresh(tmp_path, git_environment):
    """An empty repository, with the commands on PATH."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    made = Repo(path=tmp_path / "fresh é", environment={**git_environment, "PATH": path})
    made.path.mkdir()
    made.git("init", "-q", "-b", "main")
    return made


def follow(repo, said: str, cwd: Path, **environ: str) -> str:
    """Run the lines that were printed as what comes next; return what they print."""
    lines = said.partition("next:\n")[2].splitlines()
    told = ""
    for line in lines:
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=cwd,
            env={**repo.environment, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        told += done.stdout + done.stderr
    return told


def test_a_python_agent(fresh, evalgate, scripted, tmp_path):
    """From nothing to a blocked push, by the printed commands; begun again, nothing is changed."""
    for name in ("tools.json", "prompts/rewrite.md"):
        fresh.write(f"agent/{name}", (HARNESS / name).read_text())
    fresh.write("agent/main.py", (HARNESS / "agent.py").read_text())
    fresh.write(".gitignore", "dist/")
    fresh.commit("mine")
    scripted.answer = answer
    command = (
        "python3 {harness_dir}/agent/main.py --mode rewrite --dialect openai"
        " --model {model} --instruction-file {instruction_file}"
    )
    words = ("--command", command, "--model", "scripted-1", "--upstream", "env:SCRIPTED_URL")
    before = evalgate("init", "--dry-run", *words, cwd=fresh.path)
    assert "would write evalgate.toml" in before.stdout
    assert fresh.git("status", "--porcelain") == ""
    done = evalgate("init", *words, cwd=fresh.path)
    assert done.returncode == 0, done.stderr
    assert before.stdout.count("would write") == done.stdout.count("wrote")
    assert (fresh.path / ".gitignore").read_text() == "dist/\n.evalgate/\n"
    told = follow(fresh, done.stdout, fresh.path, SCRIPTED_URL=scripted.url)
    assert "5/5" in told
    assert fresh.git("status", "--porcelain") == ""
    again = evalgate("init", cwd=fresh.path)
    assert "wrote" not in again.stdout
    assert fresh.git("status", "--porcelain") == ""

    fresh.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    fresh.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    fresh.git("push", "-q", "origin", "main")
    fresh.write("agent/prompts/rewrite.md", "Be WRONG.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=fresh.path, env=env).returncode == 0
    fresh.commit("edit")
    push = ["git", "push", "origin", "main"]
    done = subprocess.run(
        push, cwd=fresh.path, env=fresh.environment, capture_output=True, text=True
    )
    assert done.returncode != 0, done.stderr
    assert "evalgate: regression" in done.stderr


def test_files_of_claude_code(fresh, evalgate, scripted, engine):
    """CLAUDE.md is laid into the workspace; the program comes with the image."""
    fresh.write("CLAUDE.md", "Be brief.\n")
    fresh.write("prompts/review.md", "Review.\n")
    fresh.write(".claude/commands/fix it.md", "Fix.\n")
    fresh.commit("mine")
    scripted.answer = answer
    words = ("--model", "scripted-1", "--upstream", "env:SCRIPTED_URL")
    done = evalgate("init", *words, cwd=fresh.path)
    assert done.returncode == 0, done.stderr
    image = (fresh.path / "sandbox/Dockerfile").read_text()
    install = image[image.index("RUN apt-get") : image.index("RUN id -u")]
    assert "@anthropic-ai/claude-code" in install
    copied = "COPY claude /usr/local/bin/claude\nRUN chmod 755 /usr/local/bin/claude\n"
    fresh.write("sandbox/Dockerfile", image.replace(install, copied))
    fresh.write("sandbox/claude", PROGRAM)
    told = follow(fresh, done.stdout, fresh.path, SCRIPTED_URL=scripted.url, **engine)
    assert "5/5" in told
    assert scripted.requests[0]["messages"][0]["content"] == "Be brief.\n"


def test_an_empty_repository(fresh, evalgate, scripted):
    """An agent to begin with is laid in; a small model works with it too."""
    scripted.answer = answer
    words = ("--model", "scripted-1", "--upstream", "env:SCRIPTED_URL")
    done = evalgate("init", *words, cwd=fresh.path)
    assert done.returncode == 0, done.stderr
    assert "wrote agent/prompts/shell.md" in done.stdout
    told = follow(fresh, done.stdout, fresh.path, SCRIPTED_URL=scripted.url)
    assert "nothing to judge" in told or "no baseline" in told or "Nothing" in told


def test_pyproject_is_added_to(fresh, evalgate):
    """Only text at its end; a file that can not take it is left as it is."""
    text = "# mine\n[project]\nname = 'x' # odd   spacing"
    fresh.write("pyproject.toml", text)
    fresh.write("bot.py", "")
    done = evalgate("init", "--pyproject", "--no-hook", "--no-workflow", cwd=fresh.path)
    assert done.returncode == 0, done.stderr
    assert (fresh.path / "pyproject.toml").read_text().startswith(f"{text}\n\n# What evalgate")
    assert not (fresh.path / "evalgate.toml").exists()
    assert not (fresh.path / ".github").exists()
    assert not (fresh.path / ".git/hooks/pre-push").exists()
    assert evalgate("fingerprint", cwd=fresh.path).returncode == 0
    assert "left as it is: pyproject.toml" in evalgate("init", cwd=fresh.path).stdout
    fresh.write("pyproject.toml", "tool = { x = 1 }\n")
    done = evalgate("init", "--pyproject", cwd=fresh.path)
    assert done.returncode == 2
    assert "nothing can be added" in done.stderr
    assert (fresh.path / "pyproject.toml").read_text() == "tool = { x = 1 }\n"


def test_what_is_there_is_left(fresh, evalgate):
    """A configuration, a workflow, lines and a hook of somebody else."""
    files = {
        "evalgate.toml": '[harness.parts]\nprompt = ["p"]\n',
        ".github/workflows/evalgate.yml": "name: mine\n",
        ".gitattributes": "baselines/** linguist-generated\n",
        ".git/hooks/pre-push": "#!/bin/sh\n",
        "p": "p",
    }
    for name, text in files.items():
        fresh.write(name, text)
    done = evalgate("init", "--json", cwd=fresh.path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["written"] == [".gitignore", ".gitattributes"]
    assert told["kept"] == ["evalgate.toml", ".github/workflows/evalgate.yml"]
    assert "exists already and is not evalgate's" in told["notes"][0]
    for name in ("evalgate.toml", ".github/workflows/evalgate.yml", ".git/hooks/pre-push"):
        assert (fresh.path / name).read_text() == files[name]
    lines = (fresh.path / ".gitattributes").read_text().splitlines()
    assert lines == [
        "baselines/** linguist-generated",
        "cassettes/** linguist-generated -merge -text",
    ]


def test_a_folder_below_the_top(fresh, evalgate, scripted):
    """The project lies there; the workflow lies where GitHub looks, and names the folder."""
    folder = fresh.path / "services/a b"
    fresh.write("services/a b/bot.py", "")
    scripted.answer = answer
    words = ("--model", "scripted-1", "--upstream", "env:SCRIPTED_URL", "--agent", "starter")
    done = evalgate("init", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    workflow = fresh.path / ".github/workflows/evalgate-services-a b.yml"
    assert "evalgate -C 'services/a b' gate" in workflow.read_text()
    assert "--project" in (fresh.path / ".git/hooks/pre-push").read_text()
    follow(fresh, done.stdout, folder, SCRIPTED_URL=scripted.url)
    assert "wrote" not in evalgate("init", cwd=folder / "agent").stdout


def test_what_was_stopped_half_way_goes_on(fresh, evalgate):
    """The configuration comes last: without it the next call writes what is missing."""
    fresh.write("tasks", "a file\n")
    fresh.write("evals/add-subtracts", "a file\n")
    done = evalgate("init", cwd=fresh.path)
    assert done.returncode == 2
    assert "Not a directory" in done.stderr or "exists" in done.stderr
    assert not (fresh.path / "evalgate.toml").exists()
    (fresh.path / "evals/add-subtracts").unlink()
    done = evalgate("init", cwd=fresh.path)
    assert done.returncode == 0, done.stderr
    assert "wrote evalgate.toml" in done.stdout
    assert (fresh.path / "evals/add-subtracts/task.toml").exists()


def test_no_repository(tmp_path, evalgate):
    """The hint is how to make one."""
    done = evalgate("init", cwd=tmp_path)
    assert done.returncode == 2
    assert "not a git repository" in done.stderr
    assert "git init" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_is_asked(fresh):
    """What was not said; an empty answer takes the likely one."""
    fresh.write("bot.py", "")
    master, slave = pty.openpty()
    with subprocess.Popen(
        [BIN / "evalgate", "init", "--upstream", "openai"],
        cwd=fresh.path,
        env=fresh.environment,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    ) as running:
        os.write(master, b"\nmy-model\n\n")
        assert running.wait(60) == 0
    os.close(slave)
    told = os.read(master, 100_000).decode()
    os.close(master)
    assert "Which agent (claude-code, program, starter) [program]:" in told
    config = (fresh.path / "evalgate.toml").read_text()
    assert 'id = "my-model"' in config
    assert 'upstream = "openai"' in config
