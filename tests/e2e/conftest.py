"""A scripted model on loopback, and a small project of somebody who uses evalgate."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import evalgate as package
from evalgate.sandboxes.container import docker
from evalgate.sandboxes.docker import Engine
from tests.baselines import accept
from tests.conftest import Start
from tests.e2e.small_task import write_task
from tests.providers import not_usable
from tests.serving import serving

AGENT = Path(__file__).with_name("rewriting_agent.py")
HARNESS = Path(package.__file__).parent / "demo" / "harness"

CONFIG = """
[harness.parts]
prompt = ["agent/prompts/*.md"]
tools = ["agent/tools.json"]
code = ["agent/agent.py"]

[models.main]
id = "scripted-1"
upstream = "env:SCRIPTED_URL"

[agent]
command = [
    "python3", "-S", "{harness_dir}/agent/agent.py", "--mode", "rewrite", "--dialect", "openai",
    "--model", "{model}", "--instruction-file", "{instruction_file}",
]

[suite]
trials = 3
"""

Answer = Callable[[dict[str, Any]], tuple[int, str]]
Evalgate = Callable[..., subprocess.CompletedProcess[str]]


@dataclass
class Scripted:
    """A scripted OpenAI-compatible model: ``answer`` maps a request to status and text.

    ``served`` is the id that it says it is; None says nothing.
    """

    url: str
    answer: Answer
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    served: str | None = "scripted-1"
    usage: dict[str, int] = field(
        default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 20}
    )

    def hold(self) -> tuple[threading.Event, threading.Event]:
        """Answer nothing for now; return what tells that one asked, and what lets them go on."""
        answer, reached, go = self.answer, threading.Event(), threading.Event()

        def held(request: dict[str, Any]) -> tuple[int, str]:
            reached.set()
            assert go.wait(60)
            return answer(request)

        self.answer = held
        return reached, go


def fenced(code: str) -> str:
    return f"```python\n{code}```"


def right_unless_told(request: dict[str, Any]) -> tuple[int, str]:
    """Fix the bug, unless the system prompt says WRONG."""
    system, user = request["messages"][0]["content"], request["messages"][-1]["content"]
    name = "double" if "double" in user else "triple"
    factor = {"double": 2, "triple": 3}[name]
    if "WRONG" in system:
        factor += 40
    return 200, fenced(f"def {name}(n):\n    return n * {factor}\n")


@contextlib.contextmanager
def serve() -> Iterator[Scripted]:
    """Serve a scripted model on loopback."""
    state = Scripted(url="", answer=right_unless_told)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                state.requests.append(request)
                state.headers.append({k.lower(): v for k, v in self.headers.items()})
            status, text = state.answer(request)
            body: dict[str, Any] = {"error": {"message": text}}
            if status == 200:
                message = {"role": "assistant", "content": text}
                body = {
                    **({} if state.served is None else {"model": state.served}),
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": state.usage,
                }
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            with contextlib.suppress(BrokenPipeError):  # who asked was interrupted
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    with serving(server):
        yield state


def kill_at(
    count: int, command: tuple[str, ...], *, kept: int, repo: Repo, scripted: Scripted, start: Start
) -> None:
    """Kill a command while its model is at a request of that number.

    It is not before so many exchanges of one trial are in a journal, which is written while the
    agent goes on.
    """
    plain, go = scripted.answer, threading.Event()

    def answer(request: dict[str, Any]) -> tuple[int, str]:
        if len(scripted.requests) == count:
            go.wait(60)
        return plain(request)

    def journalled() -> int:
        journals = (repo.path / ".evalgate/runs").rglob("cassette.journal*")
        return max((path.read_bytes().count(b"\n") - 1 for path in journals), default=0)

    scripted.answer = answer
    with start(*command, cwd=repo.path, env={"SCRIPTED_URL": scripted.url}) as running:
        deadline = time.monotonic() + 60
        while len(scripted.requests) < count or journalled() < kept:
            assert time.monotonic() < deadline
            assert running.poll() is None
            time.sleep(0.02)
        running.kill()
    scripted.answer = plain
    go.set()


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    """A scripted model that answers what the test says."""
    with serve() as state:
        yield state


@dataclass
class Repo:
    """A git repository of a user."""

    path: Path
    environment: dict[str, str]

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.path,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, message: str) -> str:
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD")


def make_repo(parent: Path, environment: dict[str, str]) -> Repo:
    """Make a repository with an agent, two tasks and a configuration, in an oddly named folder."""
    made = Repo(path=parent / "a project é", environment=environment)
    made.path.mkdir()
    made.git("init", "-q", "-b", "main")
    for name in ("tools.json", "prompts/rewrite.md", "prompts/shell.md"):
        made.write(f"agent/{name}", (HARNESS / name).read_text())
    made.write("agent/agent.py", AGENT.read_text())
    # The mark tells this test's agent processes from those of others.
    made.write("evalgate.toml", CONFIG.replace("[suite]", f'env.TEST_MARK = "{parent}"\n[suite]'))
    made.write("README.md", "A project.\n")
    write_task(made, "double", 2)
    write_task(made, "triple", 3)
    made.commit("An agent and its tasks")
    return made


def prompt(repo: Repo, text: str) -> str:
    """Commit another prompt."""
    repo.write("agent/prompts/rewrite.md", f"{text}\n")
    return repo.commit(f"Prompt: {text}")


def words(repo: Repo, text: str) -> str:
    """Commit something that is no part of the harness."""
    repo.write("README.md", f"{text}\n")
    return repo.commit(f"Words: {text}")


@pytest.fixture
def repo(tmp_path: Path, git_environment: dict[str, str]) -> Repo:
    """A repository with an agent, two tasks and a configuration."""
    return make_repo(tmp_path, git_environment)


@pytest.fixture(scope="session")
def recording(
    tmp_path_factory: pytest.TempPathFactory, git_environment: dict[str, str], evalgate: Evalgate
) -> tuple[Repo, Scripted]:
    """The same repository with recordings and a baseline of its harness, and what was asked."""
    made = make_repo(tmp_path_factory.mktemp("recording"), git_environment)
    with serve() as model:
        done = evalgate("run", "--record", cwd=made.path, env={"SCRIPTED_URL": model.url})
    assert done.returncode == 0, done.stderr
    done = evalgate("baseline", "accept", cwd=made.path)
    assert done.returncode == 0, done.stderr
    made.commit("Recordings and baseline")
    return made, model


@pytest.fixture(scope="session")
def regressing(
    recording: tuple[Repo, Scripted], tmp_path_factory: pytest.TempPathFactory, evalgate: Evalgate
) -> Repo:
    """The recorded repository; its branch ``wrong`` has a recorded regression on top."""
    original, _ = recording
    made = copied(original, tmp_path_factory.mktemp("regressing"))
    made.git("switch", "-qc", "wrong")
    made.write("agent/prompts/rewrite.md", "Be WRONG.\n")
    with serve() as model:
        done = evalgate("run", "--record", cwd=made.path, env={"SCRIPTED_URL": model.url})
    assert done.returncode == 0, done.stderr
    made.commit("Be WRONG.")
    made.git("switch", "-q", "main")
    return made


def copied(original: Repo, parent: Path) -> Repo:
    """Copy a repository for one test."""
    copy = Repo(path=parent / original.path.name, environment=dict(original.environment))
    shutil.copytree(original.path, copy.path, symlinks=True)
    copy.git("update-index", "-q", "--refresh")
    return copy


@pytest.fixture
def recorded(recording: tuple[Repo, Scripted], scripted: Scripted, tmp_path: Path) -> Repo:
    """A copy of that repository for one test; the scripted model remembers what was asked."""
    original, model = recording
    copy = copied(original, tmp_path)
    scripted.requests.extend(model.requests)
    scripted.headers.extend(model.headers)
    return copy


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory, git_environment: dict[str, str]) -> Repo:
    """A repository whose first commit has a baseline."""
    made = make_repo(tmp_path_factory.mktemp("measured"), git_environment)
    accept(made.path)
    made.commit("Baseline")
    return made


@pytest.fixture
def here(measured: Repo, tmp_path: Path) -> Repo:
    """A copy of it for one test."""
    return copied(measured, tmp_path)


@pytest.fixture
def engine() -> dict[str, str]:
    """Return the variables that lead a command to the engine at hand."""
    reason = not_usable(docker())
    if reason is not None:
        assert "EVALGATE_ENGINE" not in os.environ, reason
        pytest.skip(reason)
    base = os.environ.get("EVALGATE_BASE_IMAGE", "")
    return {"DOCKER_HOST": Engine().address, **({"EVALGATE_BASE_IMAGE": base} if base else {})}
