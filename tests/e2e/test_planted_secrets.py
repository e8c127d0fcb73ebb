"""A secret in every place an agent, a provider or a test can reach: none is left behind.

One real recording, graded, accepted, judged and replayed, with another secret in each place.
Then every byte that is below the project, or was printed, is searched for each of them. The same
is done once more with values that evalgate is not told of: there the search must find them.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

HERE = Path(__file__).parent
PROVIDER = runpy.run_path(str(HERE / "planting_provider.py"))
MADE = runpy.run_path(str(HERE / "planting_places.py"))
secret_of = MADE["secret_of"]
PLACES: tuple[str, ...] = MADE["PLACES"]

#: The secrets of these places are not kept in any form, so that the control finds none.
NEVER_KEPT = {
    "header-x-api-key",
    "header-authorization",
    "header-basic-auth",
    "header-goog",
    "header-cookie",
    "header-of-its-own",
    "header-session",
    "query-key",
    "dropped-member",
    "metadata",
    "reply-header-cookie",
    "reply-header-location",
    "url-of-the-provider",
}

CONFIG = """
[harness.parts]
code = ["agent/*.py"]

[models.main]
id = "scripted-1"
upstream = "env:SCRIPTED_URL"
key_env = "PROVIDER_CREDENTIAL"

[models.lost]
id = "lost-1"
upstream = "env:LOST_URL"

[agent]
command = ["python3", "{harness_dir}/agent/planting_agent.py", "{base_url}", "{instruction}"]

[suite]
trials = 1
"""

TEST_SH = """#!/bin/sh
python3 speak.py grading-log
logs="${EVALGATE_LOGS:-/logs}/verifier"; mkdir -p "$logs"; echo 1 > "$logs/reward.txt"
"""


@dataclass(frozen=True)
class Text:
    """Something that is left of a recording; ``joined`` is it without line ends and quotes."""

    name: str
    data: bytes
    joined: bytes


@dataclass
class Recorded:
    """What is left of a recording: the project's files and everything that was printed."""

    texts: list[Text]
    codes: dict[str, int]

    def where(self, secret: str) -> list[str]:
        """Return where a secret stands, in whatever form."""
        plain, cut = forms_of(secret), base64_of(secret)
        found = [
            f"{t.name}: {n}" for t in self.texts for form, n in plain.items() if form in t.data
        ]
        return found + [
            f"{t.name}: {n}" for t in self.texts for form, n in cut.items() if form in t.joined
        ]

    @property
    def log(self) -> str:
        """What the agents said."""
        return "".join(t.data.decode() for t in self.texts if t.name.endswith("/log.txt"))


def read_all(folder: Path, printed: str) -> Iterator[Text]:
    """Yield what was printed, and every file that evalgate may have written, with its name."""
    yield text_of("what was printed", printed.encode())
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.startswith(".git/"):
            continue
        yield text_of(f"the name of {name}", name.encode())
        if path.is_file():
            yield text_of(name, path.read_bytes())
        if path.suffix == ".json":
            yield text_of(f"calls in {name}", calls_in(json.loads(path.read_text())))
            yield text_of(f"blocks in {name}", blocks_in(json.loads(path.read_text())))


def text_of(name: str, data: bytes) -> Text:
    return Text(name, data, re.sub(rb'\\+[nrt]|[\s",]', b"", data))


def calls_in(value: Any) -> bytes:
    """Return the arguments of parallel calls, whose pieces alternate, call after call."""
    calls: dict[int, str] = {}
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += reversed(one.values())
            if {"index", "function"} <= one.keys():
                calls[one["index"]] = calls.get(one["index"], "") + one["function"]["arguments"]
        elif isinstance(one, list):
            waiting += reversed(one)
    return "\n".join(calls.values()).encode()


def blocks_in(value: Any) -> bytes:
    """Return the texts of all blocks, one right behind the other."""
    texts: list[str] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += reversed(one.values())
            if isinstance(one.get("text"), str):
                texts.append(one["text"])
        elif isinstance(one, list):
            waiting += reversed(one)
        elif isinstance(one, str):  # of a body that is no whole JSON
            cut = re.findall(r'"text": ("(?:[^"\\]|\\.)*")', one)
            texts += map(json.loads, cut)
    return "".join(texts).encode()


def forms_of(secret: str) -> dict[bytes, str]:
    """Return the forms of a secret with their names; nothing of evalgate is used here."""
    first = {
        "plain": secret,
        "percent": quote(secret, safe=""),
        "form": quote_plus(secret),
        "html": html.escape(secret),
        "hex": secret.encode().hex(),
    }
    forms: dict[bytes, str] = {}
    for name, form in first.items():
        for ascii_only in (True, False):
            written = form
            for depth in range(5):
                forms.setdefault(written.encode(), f"{name}, {depth} times in JSON")
                written = json.dumps(written, ensure_ascii=ascii_only)[1:-1]
    return forms


def base64_of(secret: str) -> dict[bytes, str]:
    """Return what base64 makes of a secret, whatever stands around it."""
    raw = secret.encode()
    forms: dict[bytes, str] = {}
    for offset in range(3):
        for name, encode in (("base64", base64.b64encode), ("url", base64.urlsafe_b64encode)):
            code = encode(b"\0" * offset + raw)
            core = code[-(-8 * offset // 6) : 8 * (offset + len(raw)) // 6]
            forms.setdefault(core, f"{name} at {offset}")
    return forms


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """Serve the replies."""
    with PROVIDER["open_provider"]() as url:
        yield url


def record(folder: Path, provider: str, suffix: str) -> Recorded:
    """Record, show, report, accept, judge and replay, with all secrets in variables named so."""
    secrets = {
        f"PLACE_{n}_{suffix}": secret_of(name)
        for n, name in enumerate(PLACES)
        if not name.startswith("pattern-")
    }
    lost = provider.replace("://", f"://user:{secret_of('url-of-the-provider')}@") + "/lost"
    urls = {"SCRIPTED_URL": provider, "LOST_URL": lost, "PROVIDER_CREDENTIAL": PROVIDER["KEY"]}
    env = {**_environment(), **secrets, **urls}
    _write_project(folder)
    printed: list[str] = []
    codes: dict[str, int] = {}

    def call(program: str, *arguments: str) -> None:
        done = subprocess.run(
            [program, *arguments], cwd=folder, env=env, capture_output=True, text=True, timeout=300
        )
        printed.extend((done.stdout, done.stderr))
        codes[" ".join(arguments)] = done.returncode

    evalgate = str(Path(sys.executable).with_name("evalgate"))
    call("git", "init", "-q")
    call("git", "add", "-A")
    call("git", "commit", "-qm", "An agent")
    call(evalgate, "run", "--record")
    call(evalgate, "show", f"{_run_of(folder)}:traffic")
    for form in ("md", "junit", "json", "html"):
        call(
            evalgate, "report", _run_of(folder), "--format", form, "-o", f".evalgate/report.{form}"
        )
    call(evalgate, "read", _run_of(folder))
    call(evalgate, "baseline", "accept", "-k", "1")
    call(evalgate, "cassette", "scan")
    call(evalgate, "--json", "gate")
    call(evalgate, "regrade")
    call(evalgate, "replay")
    call(evalgate, "--json", "replay")
    call(evalgate, "--config", "claims.toml", "run")
    return Recorded(texts=list(read_all(folder, "".join(printed))), codes=codes)


def _run_of(folder: Path) -> str:
    return min(path.name for path in (folder / ".evalgate/runs").iterdir())


def _environment() -> dict[str, str]:
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "EVALGATE_", "GITHUB_"))
    }
    who = {"NAME": "T", "EMAIL": "t@example.invalid"}
    both = {f"GIT_{role}_{k}": v for role in ("AUTHOR", "COMMITTER") for k, v in who.items()}
    return {**kept, **both, "GIT_CONFIG_GLOBAL": "/dev/null"}


def _write_project(folder: Path) -> None:
    programs = ("planting_agent.py", "planting_places.py")
    files = {f"agent/{name}": (HERE / name).read_text() for name in programs}
    files["evalgate.toml"] = CONFIG
    files["claims.toml"] = f'{CONFIG}tasks = ["claims/*"]\n'
    for task, at in (("traffic", "tasks"), ("claim", "claims")):
        check = '{ type = "command_succeeds", command = "python3 speak.py check-detail; false"'
        checks = f"{check}, advisory = true }}" if task == "traffic" else ""
        files |= {
            f"{at}/{task}/task.toml": f'[task]\nname = "{task}"\n[metadata.evalgate]\n'
            f"max_turns = 200\nchecks = [{checks}]\n",
            f"{at}/{task}/instruction.md": task,
            f"{at}/{task}/environment/workspace/a.txt": "a\n",
            f"{at}/{task}/tests/test.sh": TEST_SH,
        }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory, provider: str) -> Recorded:
    """A recording by an evalgate that knows the secrets by the names of their variables."""
    return record(tmp_path_factory.mktemp("guarded"), provider, "TOKEN")


@pytest.fixture(scope="module")
def unguarded(tmp_path_factory: pytest.TempPathFactory, provider: str) -> Recorded:
    """A recording by an evalgate to which they are words like any other."""
    return record(tmp_path_factory.mktemp("unguarded"), provider, "WORD")


def test_no_secret_is_left_anywhere(guarded: Recorded):
    """Neither below the project nor in what was printed, in whatever form, whole or in pieces."""
    assert {name: found for name in PLACES if (found := guarded.where(secret_of(name)))} == {}
    assert guarded.where(PROVIDER["KEY"]) == []
    assert guarded.codes == {
        **dict.fromkeys(guarded.codes, 0),
        "replay": 7,
        "--json replay": 7,
        "--config claims.toml run": 4,
    }


def test_every_place_was_reached_and_has_a_label(guarded: Recorded):
    """What is kept shows the name of the secret; what is not kept was said all the same."""
    assert len(PLACES) >= 40
    for number, name in enumerate(PLACES):
        if name in NEVER_KEPT:
            assert f"planted {name}\n" in guarded.log, name
        elif name.startswith("pattern-"):
            assert f"planted {name}\n" in guarded.log, name
            assert guarded.where("<secret:github-token>")
        else:
            assert guarded.where(f"<secret:PLACE_{number}_TOKEN>"), name
        if name in MADE["REPLIES"]:
            assert f"planted {name}\n" in guarded.log, name


def test_the_search_finds_what_nobody_replaced(unguarded: Recorded):
    """The same recording with values that nothing tells from words: this is the control."""
    known = {name for name in PLACES if name.startswith("pattern-")} | NEVER_KEPT
    missed = [name for name in PLACES if name not in known and not unguarded.where(secret_of(name))]
    assert missed == []
    assert {name: found for name in known if (found := unguarded.where(secret_of(name)))} == {}
    assert unguarded.where(PROVIDER["KEY"]) == []
    assert unguarded.codes["--config claims.toml run"] == 0
