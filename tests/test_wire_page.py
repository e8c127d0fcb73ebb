"""The page on the wire tells the truth: its tables are whole, and its examples run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from evalgate.commands.faults import open_plan, ready_plans
from evalgate.core.config import load_config
from evalgate.core.exchange import Exchange
from evalgate.core.faults import FaultKind, load_fault_plan
from evalgate.core.redaction import Redactor
from evalgate.core.redaction_patterns import PATTERNS
from evalgate.core.schema import Source
from evalgate.core.scrubs import SCRUBS
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.keys.cleaning import Cleaner
from evalgate.gateway.keys.matching import Keyed, Keying
from evalgate.gateway.misses.divergence import explain
from evalgate.gateway.providers import UPSTREAMS
from evalgate.gateway.scripted.plan import load_plan
from tests.pages import README, ROOT, WIRE, blocks, coded, named, rows
from tests.serving import serving


def test_the_tables_of_the_wire_are_complete():
    """Dialects, upstreams, scrub rules and faults: no more and no fewer, in one order."""
    assert set(named("## Dialects", WIRE)) == set(DIALECTS)
    assert set(UPSTREAMS) < set(named("## Upstreams", WIRE))
    for cells in rows("## Upstreams", WIRE)[: len(UPSTREAMS) - 1]:
        provider = UPSTREAMS[coded(cells[0])[0]]
        assert (coded(cells[1]), coded(cells[2])) == ([provider.url], [provider.key_env])
    assert named("## The key of a request", WIRE) == [rule.name for rule in SCRUBS]
    assert f"patterns of {len({pattern.name for pattern in PATTERNS})} kinds of keys" in WIRE


def test_a_rule_of_one_dialect_is_shown_as_such():
    """The second column says what the rule says."""
    rules = {rule.name: rule for rule in SCRUBS}
    for first, dialect, _ in rows("## The key of a request", WIRE):
        for name in coded(first):
            assert dialect == (", ".join(rules[name].dialects) or "any"), name


def test_the_faults_and_the_ready_plans_are_all_there():
    """Each kind of the table is one, and the plan beside it does it."""
    table = rows("## Faults", WIRE)
    assert {coded(cells[0])[0] for cells in table} == set(FaultKind)
    assert {coded(cells[3])[0] for cells in table} == set(ready_plans())
    for cells in table:
        plan = open_plan(coded(cells[3])[0])
        assert {str(fault.kind) for fault in plan.faults} == {coded(cells[0])[0]}


def test_the_examples_of_files_can_be_read():
    """A scrub rule, a fault plan and a scripted plan."""
    rule, faults, plan = blocks("toml", WIRE)
    config = load_config(Source("wire.md", blocks("toml", README)[0] + rule), below=())
    assert config is not None
    assert config.cassettes.scrubs[-1].name == "build-number"
    (fault,) = load_fault_plan(Source("wire.md", faults)).faults
    assert (fault.kind, fault.status, fault.times) == (FaultKind.STATUS, 429, 2)
    assert [said.text for said in load_plan(Source("wire.md", plan)).tasks["add-subtracts"]] == [
        "I look at the file first.",
        "Done.",
    ]


def asked(build: str) -> bytes:
    """Return a request of the kind that the page explains a miss of."""
    output = f'"""Return the sum of a and b."""\n    return a - b\nBuild {build}\n'
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": output}
    turns = [("user", "mend it"), ("assistant", "I look"), ("user", [result])]
    messages = [{"role": role, "content": content} for role, content in turns]
    return json.dumps({"model": "m", "system": "s", "tools": [], "messages": messages}).encode()


def test_a_miss_is_explained_in_the_words_of_the_page():
    """Line by line, up to the cause, which takes a harness; and the rule of the page mends it."""

    def keyed(build: str, rule: str = "") -> Keyed:
        config = load_config(Source("wire.md", blocks("toml", README)[0] + rule), below=())
        assert config is not None
        cleaner = Cleaner(redactor=Redactor({}), places={}, scrubs=config.cassettes.scrubs)
        return Keying(cleaner).keyed(
            DIALECTS["anthropic"], "POST", "/v1/messages", asked(build), headers={}, query={}
        )

    page = blocks("text", WIRE)[0]
    ((then, now),) = re.findall(r"\[-(\d+)-\]\{\+(\d+)\+\}", page)
    old, new = keyed(then), keyed(now)
    tape = Exchange(
        dialect="anthropic",
        method="POST",
        path=old.path,
        request=old.request,
        key=old.key,
        status=200,
    )
    told = explain(new, [tape], frozenset()).explanation.replace("exchange 0", "exchange 1")
    lines = page.splitlines()
    assert told.splitlines()[:-1] == lines[:-1]
    assert lines[-1].endswith('the output of a tool differs: "bash"')
    assert told.splitlines()[-1] == "  cause     the output of a tool differs"
    rule = blocks("toml", WIRE)[0]
    assert keyed(then, rule).key == keyed(now, rule).key


@pytest.fixture
def provider() -> Iterator[tuple[str, list[bytes]]]:
    """Serve chat completions on loopback; give their URL and what was asked."""
    heard: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.rfile.read(int(self.headers["content-length"])))
            message = {"role": "assistant", "content": f"answer {len(heard)}"}
            data = json.dumps({"choices": [{"index": 0, "message": message}]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions", heard


def test_the_example_inside_a_process_runs(provider, tmp_path):
    """The provider is asked once, and the cassette lies where the example says."""
    url, heard = provider
    (program,) = blocks("python", WIRE)
    program, count = re.subn(r'^URL = ".*"$', f"URL = {url!r}", program, flags=re.MULTILINE)
    assert count == 1
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert len(heard) == 1
    assert (tmp_path / "hello.json").exists()


def test_the_versions_of_clients_are_those_that_are_installed():
    """What the table names beside "test suite" is pinned so."""
    pins = (ROOT / "tests/clients/requirements.txt").read_text()
    packages = json.loads((ROOT / "tests/clients/package.json").read_text())["dependencies"]
    versions = dict(re.findall(r"^(\S+?)==(\S+)$", pins, re.MULTILINE))
    versions["pi"] = packages["@mariozechner/pi-coding-agent"]
    versions["Codex"] = packages["@openai/codex"]
    told = [cells[0] for cells in rows("## Clients", WIRE) if "test suite" in cells[2]]
    found = [pair for cell in told for pair in re.findall(r"(\w+) (\d[\d.]+)", cell)]
    assert len(found) > 4
    for name, version in found:
        assert versions[name] == version, name
