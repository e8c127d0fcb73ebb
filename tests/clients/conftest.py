"""Software written elsewhere, driven through the gateway: where it lies, and how it is run.

Nothing here knows a dialect: a client is a program with its settings, and a script of tool calls
that an independent mock of the providers answers with. It is recorded in one folder, and replayed
in another one, with another home and on another day, with nothing behind the gateway.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import pytest

from evalgate.core.exchange import Ending, Witness
from evalgate.core.redaction import Redactor
from evalgate.gateway.cassette import CassetteFile, load_cassette
from evalgate.gateway.format.header import Header
from evalgate.gateway.server import Gateway, Mode, RouteSpec, open_gateway
from evalgate.gateway.upstream import Upstream

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evalgate" / "clients"
PINS = Path(__file__).parent
PATH = f"{CACHE}/node/bin:{os.environ['PATH']}"
REQUIRED = os.environ.get("EVALGATE_CLIENTS") == "required"
PATIENCE = 120
MODEL = "mock-model"
DUMMY_KEY = "dummy-key-of-the-client"
PROMPT = "add() in calc.py is wrong. Fix it, run check.py, and say what you changed."
OTHER = f"{PROMPT} Be quick"
BUGGY = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
CHECK = "from calc import add\n\nprint('good' if add(2, 3) == 5 else 'bad')\n"
THOUGHT = "Look before you leap: what does add() return?"
ANSWER = "add() subtracted; now it adds. check.py says “good” ✓."


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs clients: they take seconds each, and may be absent."""
    for item in items:
        if PINS in item.path.parents:
            item.add_marker(pytest.mark.clients)


def installed(program: str) -> str:
    """Return a program that is installed as pinned; else skip, or fail where it is required."""
    pins = [(CACHE / name, PINS / name) for name in ("requirements.txt", "package-lock.json")]
    same = all(laid.is_file() and laid.read_bytes() == pin.read_bytes() for laid, pin in pins)
    if not same or not (CACHE / program).exists():
        give_up = pytest.fail if REQUIRED else pytest.skip
        give_up(f"{program} is not there as pinned: `bash .ci/clients` installs it")
    return str(CACHE / program)


@contextmanager
def started(
    argv: Sequence[str | Path], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Start a program in a process group of its own, and end the whole group."""
    process = subprocess.Popen(
        list(argv),
        env=dict(env or {**os.environ, "PATH": PATH}),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            end(process)


def end(process: subprocess.Popen[str]) -> None:
    """End a program and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def serving(argv: Sequence[str | Path], word: str) -> Iterator[str]:
    """Run a server; yield what stands after ``word`` on the line in which it says it is ready."""
    with started(argv) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if word in line:
                yield line.split(word, 1)[1].strip()
                return
        pytest.fail(f"{argv[0]} did not start: {process.communicate()[1][-2000:]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where one run of a client takes place: ``base`` is the URL of its route."""

    base: str
    repo: Path
    home: Path
    tmp: Path
    prompt: str = PROMPT
    zone: str = "UTC"
    key: str = DUMMY_KEY

    @property
    def places(self) -> dict[str, str]:
        """The run's own paths, by the labels a trial gives them."""
        return {"REPO": str(self.repo), "HOME": str(self.home), "TMP": str(self.tmp)}

    def settle(self, path: str, settings: object) -> None:
        """Write a file of settings below the home folder."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings))


class Client(Protocol):
    """A program below the folder of clients, its settings, and the tool calls that do the work.

    ``finish`` is the mock's reason to stop for calls, where its own is none of the dialect.
    """

    program: str
    finish: str | None

    def argv(self, ground: Ground) -> Sequence[str]:
        """Lay its settings out, and return what stands after the program."""
        ...

    def environment(self, ground: Ground) -> Mapping[str, str]:
        """Return its variables."""
        ...

    def calls(self, repo: Path) -> list[list[tuple[str, dict[str, Any]]]]:
        """Return turn by turn the calls, tool and arguments, that fix a folder's program."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a run left: its output, its files and what the wire saw."""

    stdout: str
    stderr: str
    files: Mapping[str, str]
    witness: Witness
    tape: CassetteFile | None = None


@dataclass
class Rig:
    """A gateway, and clients that are recorded and replayed through it."""

    gateway: Gateway
    folder: Path
    other: str = OTHER

    def record(self, client: Client, *, model: str = MODEL) -> Ran:
        """Run a client against the mock, and seal what passed; its folder is gone afterwards."""
        root = self.folder / "first"
        with mock(client, root / "work" / "calculator", self.folder) as url:
            return self.record_at(client, {model: Upstream(url=url)})

    def record_at(self, client: Client, upstreams: Mapping[str, Upstream]) -> Ran:
        """Run a client against any model, and seal what passed."""
        root, file = self.folder / "first", self.folder / "cassette.json"
        ground = self.ground(root)
        spec = RouteSpec(mode=Mode.LIVE, upstreams=upstreams, places=ground.places)
        with self.gateway.open_route(spec) as route:
            out, err = drive(client, replace(ground, base=route.base_url))
            route.seal(file, header=Header(task="calc"), claim={"files": {}}, record={})
            witness = route.witness()
        files = contents(ground.repo)
        shutil.rmtree(root)  # whatever leads back there would be found out
        assert DUMMY_KEY.encode() not in file.read_bytes()
        tape = load_cassette(file.read_bytes(), name=file.name)
        return Ran(stdout=out, stderr=err, files=files, witness=witness, tape=tape)

    def replay(self, client: Client, tape: CassetteFile | None, *, prompt: str = PROMPT) -> Ran:
        """Run a client elsewhere, where it is another day, against what was recorded."""
        zone = "Etc/GMT+12" if datetime.now(UTC).hour < 12 else "Etc/GMT-14"
        ground = self.ground(self.folder / "elsewhere" / "and-deeper", prompt=prompt, zone=zone)
        spec = RouteSpec(mode=Mode.REPLAY, tape=tape, places=ground.places)
        with self.gateway.open_route(spec) as route:
            out, err = drive(client, replace(ground, base=route.base_url))
            witness = route.witness()
        return Ran(stdout=out, stderr=err, files=contents(ground.repo), witness=witness)

    def check_recorded(self, ran: Ran, *, dialect: str, exchanges: int) -> None:
        """The work is done, and all of it passed the gateway, well."""
        said = f"{ran.stdout[-1500:]}\n{ran.stderr[-1500:]}"
        seen = ran.witness.exchanges
        assert ran.files["calc.py"] == FIXED, said
        assert [(one.status, one.dialect) for one in seen] == [(200, dialect)] * exchanges, said
        assert {one.ending for one in seen} == {Ending.COMPLETE}
        assert ran.witness.trajectory.final_answer == ANSWER
        assert ran.tape.exchanges == seen

    def check_replayed(self, ran: Ran, first: Ran) -> None:
        """The same was asked and answered, nothing else, and the same work is done."""
        assert [miss.sentence for miss in ran.witness.misses] == []
        assert ran.witness.unused == 0
        assert ran.witness.exchanges == first.witness.exchanges
        assert ran.files == first.files

    def check_refused(self, ran: Ran, first: Ran) -> None:
        """One miss and no second attempt, the difference is named, and nothing is done."""
        (miss,) = ran.witness.misses
        assert OTHER.rsplit(maxsplit=1)[-1] in miss.sentence
        assert ran.witness.exchanges == ()
        assert ran.witness.unused == len(first.witness.exchanges)
        assert ran.files["calc.py"] == BUGGY

    def ground(self, root: Path, **more: str) -> Ground:
        """Lay the work out below a folder."""
        repo, home, tmp = root / "work" / "calculator", root / "home", root / "tmp"
        ground = Ground(base="", repo=repo, home=home, tmp=tmp, **more)
        for folder in (ground.repo, ground.home, ground.tmp):
            folder.mkdir(parents=True)
        (ground.repo / "calc.py").write_text(BUGGY)
        (ground.repo / "check.py").write_text(CHECK)
        return ground


def contents(repo: Path) -> dict[str, str]:
    """Return the text of every file below a folder."""
    files = (path for path in sorted(repo.rglob("*")) if path.is_file())
    return {path.relative_to(repo).as_posix(): path.read_text() for path in files}


def drive(client: Client, ground: Ground) -> tuple[str, str]:
    """Run a client to its end, and return what it wrote; nothing it started is left."""
    program = installed(client.program)
    env = {
        "PATH": PATH,
        "HOME": str(ground.home),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TERM": "dumb",
        "TMPDIR": str(ground.tmp),
        "TZ": ground.zone,
        **client.environment(ground),
    }
    with started([program, *client.argv(ground)], env=env, cwd=ground.repo) as process:
        try:
            return process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            end(process)
            said = "\n".join(process.communicate())[-2000:]
            pytest.fail(f"{program} did not end within {PATIENCE} s: {said}")


@contextmanager
def mock(client: Client, repo: Path, folder: Path) -> Iterator[str]:
    """Serve the client's script on a free port; yield the base URL."""
    file = folder / "script.json"
    file.write_text(json.dumps({"fixtures": script(client, repo)}))
    program = installed("npm/node_modules/.bin/llmock")
    with serving([program, "--port", "0", "--strict", "-f", file], "listening on ") as url:
        yield url


def script(client: Client, repo: Path) -> list[dict[str, Any]]:
    """Return what the mock answers turn by turn."""
    finish = {"finishReason": client.finish} if client.finish else {}
    answers: list[dict[str, Any]] = []
    for calls in client.calls(repo):
        made = [{"name": tool, "arguments": arguments} for tool, arguments in calls]
        answers.append({"reasoning": THOUGHT, "toolCalls": made, **finish})
    answers.append({"content": ANSWER})
    return [
        {"match": {"userMessage": "calc.py", "sequenceIndex": turn}, "response": answer}
        for turn, answer in enumerate(answers)
    ]


@pytest.fixture(scope="session")
def software() -> SimpleNamespace:
    """Return how a test runs software that is no client."""
    return SimpleNamespace(installed=installed, serving=serving)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """Return a rig whose gateway knows no secret."""
    with open_gateway(redactor=Redactor({})) as gateway:
        yield Rig(gateway, tmp_path)
