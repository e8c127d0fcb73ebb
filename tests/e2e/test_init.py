"""`evalgate init` in repositories of several kinds, and the commands that it prints, as printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from evalgate import __version__
from tests.e2e.conftest import HARNESS, Repo, fenced
from tests.terminal import at_terminal

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
#: A variable of CI would keep everybody from being asked.
ASKING = {"CI": ""}
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
        "evalgate.toml": '[harness.parts]\nprompt = ["p"]\n'
        '[models.main]\nid = "m"\nupstream = "openai"\n[agent]\ncommand = ["true"]\n',
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
    tasks = [path for path in told["written"] if path.startswith("tasks/")]
    assert "tasks/add-subtracts/task.toml" in tasks
    assert [path for path in told["written"] if path not in tasks] == [
        ".gitignore",
        ".gitattributes",
    ]
    # What nobody has committed is named again, however often it is called.
    again = json.loads(evalgate("init", "--json", cwd=fresh.path).stdout)
    assert again["written"] == []
    named = "evalgate.toml .gitignore .gitattributes .github tasks"
    assert again["next"][0] == f"git add {named} && git commit -m 'Adopt evalgate'"
    assert told["kept"] == ["evalgate.toml", ".github/workflows/evalgate.yml"]
    assert "exists already and is not evalgate's" in told["notes"][0]
    for name in ("evalgate.toml", ".github/workflows/evalgate.yml", ".git/hooks/pre-push"):
        assert (fresh.path / name).read_text() == files[name]
    lines = (fresh.path / ".gitattributes").read_text().splitlines()
    assert lines == [
        "baselines/** linguist-generated",
        "cassettes/** linguist-generated -merge -text",
    ]


def test_all_workflows(fresh, evalgate):
    """Those that are shown, with the action, for this branch and this provider's key."""
    fresh.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    fresh.write("bot.py", "")
    assert evalgate("init", "--no-hook", cwd=fresh.path).returncode == 0
    words = ("init", "--no-hook", "--workflows", "all", "--upstream", "openai")
    done = evalgate(*words, cwd=fresh.path)
    assert "evalgate.yml keeps no verdict to comment on: remove it" in done.stdout
    (fresh.path / ".github/workflows/evalgate.yml").unlink()
    done = evalgate(*words, cwd=fresh.path)
    assert "environment evalgate-live" in done.stdout
    assert "keeps no verdict" not in done.stdout
    there = fresh.path / ".github"
    names = {path.name: path for path in [*there.glob("workflows/*"), *there.glob("actions/*/*")]}
    workflows = [*ROOT.glob(".github/workflows/evalgate*"), *ROOT.glob("examples/github/*.yml")]
    for path in [*workflows, ROOT / ".github/actions/evalgate/action.yml"]:
        text = path.read_text().replace("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
        assert names.pop(path.name).read_text() == text.replace("[main]", "[trunk]")
        assert f"git-evalgate=={__version__}" in text or "git-evalgate==" not in text
    assert [*names] == ["gate.sh"]
    inner = fresh.path / "inner"
    inner.mkdir()
    (inner / "evalgate.toml").write_text('[harness.parts]\nprompt = ["p"]\n')
    done = evalgate("init", "--no-hook", "--workflows", "live", cwd=inner)
    assert done.returncode == 2
    assert "at the repository's top" in done.stderr
    assert "there is none called 'liv'" in evalgate("init", "--workflows", "liv", cwd=inner).stderr


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
    """What was not said; an empty answer takes the likely one, a no is heeded."""
    fresh.write("src/pkg/__init__.py", "")
    fresh.write("src/pkg/agent.py", "")
    answers = {
        "Which agent (claude-code, program, starter) [program]:": b"\n",
        "Which model [claude-sonnet-4-5]:": b"my-model\n",
        "Its command [python3 -m pkg.agent --model": b"\n",
        "Write a workflow for GitHub Actions (yes, no) [yes]:": b"perhaps\nno\n",
        "Install the pre-push hook (yes, no) [yes]:": b"\n",
    }
    with at_terminal("init", "--upstream", "openai", cwd=fresh.path, env=ASKING) as terminal:
        for question, answer in answers.items():
            terminal.wait_for(question)
            terminal.press(answer)
        assert terminal.end() == 0, terminal.text
    config = (fresh.path / "evalgate.toml").read_text()
    assert 'id = "my-model"' in config
    assert 'upstream = "openai"' in config
    assert 'env.PYTHONPATH = "{harness_dir}/src"' in config
    assert not (fresh.path / ".github").exists()
    assert (fresh.path / ".git/hooks/pre-push").exists()


@pytest.mark.parametrize("questions", [1, 3, 5])
def test_ctrl_c_at_a_question_leaves_nothing_behind(fresh, questions):
    """All is asked before anything is written."""
    fresh.write("bot.py", "")
    before = sorted(fresh.path.rglob("*"))
    asked = ("Which agent", "Who serves", "Which model", "Its command", "Write a workflow")
    with at_terminal("init", cwd=fresh.path, env=ASKING) as terminal:
        for question in asked[: questions - 1]:
            terminal.wait_for(question)
            terminal.press(b"\n")
        terminal.wait_for(asked[questions - 1])
        assert terminal.interrupt() == 130, terminal.text
    assert sorted(fresh.path.rglob("*")) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "other"), "--model other"),
        (("--command", "x", "--upstream", "openai"), "--command, --upstream openai"),
        (("--agent", "starter", "--image"), "--agent starter, --image"),
        (("--pyproject",), "--pyproject"),
    ],
)
def test_no_option_is_ignored_where_a_configuration_is(fresh, evalgate, words, said):
    """It is an error that names them, and nothing is written; without them nothing is amiss."""
    fresh.write("bot.py", "")
    first = ("--model", "mine", "--upstream", "env:X")
    assert evalgate("init", "--no-workflow", *first, cwd=fresh.path).returncode == 0
    before = {path: path.read_bytes() for path in fresh.path.rglob("*") if path.is_file()}
    done = evalgate("init", *words, cwd=fresh.path)
    assert done.returncode == 2
    assert f"evalgate.toml is there already, and does not say: {said}" in done.stderr
    assert "hint: edit evalgate.toml" in done.stderr
    assert {path: path.read_bytes() for path in before} == before
    for same in ((), first):
        done = evalgate("init", "--no-workflow", *same, cwd=fresh.path)
        assert done.returncode == 0, done.stderr
        assert "hook: already installed" in done.stdout


def test_an_agent_that_is_not_found_is_said(fresh, evalgate):
    """A starter agent is no secret; the lines to change are named, and are those."""
    fresh.write("src/thing.py", "")
    fresh.write("prompts/system.md", "Be brief.\n")
    done = evalgate("init", "--no-hook", "--no-workflow", cwd=fresh.path)
    assert done.returncode == 0, done.stderr
    assert "a starter agent is put into agent/, and that is what is judged" in done.stdout
    lines = (fresh.path / "evalgate.toml").read_text().splitlines()
    places = dict(re.findall(r"evalgate\.toml:(\d+) (says how|which files)", done.stdout))
    assert {lines[int(n) - 1].split()[0] for n in places} == {"command", "code"}
    assert '"prompts/**"' in lines[2]


def test_a_command_without_a_file_is_told_how_to_name_one(fresh, evalgate):
    """The hint is none that sends one round in a circle."""
    fresh.write("pyproject.toml", "[project]\nname = 'x'\n")
    done = evalgate("init", "--pyproject", "--command", "my-agent", cwd=fresh.path)
    assert done.returncode == 2
    assert "name a file of this repository in --command" in done.stderr
    fresh.write("lib/my_agent.py", "")
    done = evalgate("init", "--pyproject", "--command", "python3 lib/my_agent.py", cwd=fresh.path)
    assert done.returncode == 0, done.stderr
    assert '"{harness_dir}/lib/my_agent.py"' in (fresh.path / "pyproject.toml").read_text()


def test_the_script_for_a_base_image_comes_along(tmp_path, evalgate):
    """Who installed evalgate alone has it: a script that bash can read, without a repository."""
    done = evalgate("sandbox", "base", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    script = tmp_path / "base"
    script.write_text(done.stdout)
    assert subprocess.run(["bash", "-n", str(script)]).returncode == 0
    assert script.read_bytes() == (ROOT / "sandbox/base").read_bytes()


def test_what_was_written_is_said_where_no_task_can_be_made(fresh, evalgate):
    """What stops the tasks is an error; the files lie there, and what comes next."""
    fresh.write("README.md", "words\n")
    fresh.write("evalgate.toml", WITHOUT_ONE_FOLDER)
    fresh.commit("begin")
    done = evalgate("init", "--mine", "3", cwd=fresh.path)
    assert done.returncode == 2, done.stderr
    assert "names no one folder that tasks go to" in done.stderr
    assert "left as it is: evalgate.toml" in done.stderr
    assert "wrote .gitignore" in done.stderr
    assert "evalgate run --record" in done.stderr


WITHOUT_ONE_FOLDER = """\
[harness.parts]
prompt = ["README.md"]

[models.main]
id = "m"
upstream = "openai"

[agent]
command = ["true"]

[suite]
tasks = ["one"]
"""
