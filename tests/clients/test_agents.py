"""Coding agents as they are installed: pi in its four dialects, and Codex."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

Calls = list[list[tuple[str, dict[str, Any]]]]
MODEL = "mock-model"


@dataclass(frozen=True)
class Pi:
    """pi: ``api`` is its word for a dialect, ``below`` what that dialect adds to a base URL."""

    api: str
    below: str = ""
    finish: str | None = None
    program = "npm/node_modules/.bin/pi"

    def argv(self, ground):
        """Describe the provider in pi's settings, and ask without a session."""
        provider = {
            "baseUrl": f"{ground.base}{self.below}",
            "api": self.api,
            "apiKey": "ROUTE_KEY",
            "models": [{"id": MODEL}],
        }
        ground.settle(".pi/agent/models.json", {"providers": {"route": provider}})
        options = ["--mode", "json", "--offline", "--provider", "route", "--model", MODEL]
        return ["-p", *options, ground.prompt]

    def environment(self, ground):
        """Give it the key that its settings name."""
        return {"ROUTE_KEY": ground.key}

    def calls(self, repo) -> Calls:
        """Read two files at once, edit one, run the other: three of pi's four tools."""
        path = f"{repo}/calc.py"
        edit = {"oldText": "a - b", "newText": "a + b"}
        return [
            [("read", {"path": path}), ("bash", {"command": f"cd {repo} && cat check.py && pwd"})],
            [("edit", {"path": path, "edits": [edit]})],
            [("bash", {"command": "python3 check.py"})],
        ]


@dataclass(frozen=True)
class Codex:
    """Codex, which speaks Responses and no other dialect.

    As its own provider it tries a websocket first; a provider of the user's it asks by HTTP.
    """

    own: bool = False
    program = "npm/node_modules/.bin/codex"
    finish = None

    def argv(self, ground):
        """Name the provider on the command line: it takes no base URL from the environment."""
        base = json.dumps(f"{ground.base}/v1")
        described = f'{{name="route",base_url={base},env_key="ROUTE_KEY",wire_api="responses"}}'
        settings = (
            [f"openai_base_url={base}"]
            if self.own
            else ['model_provider="route"', f"model_providers.route={described}"]
        )
        return [
            *("exec", "--json", "--skip-git-repo-check", "--ephemeral", "-m", MODEL),
            "--dangerously-bypass-approvals-and-sandbox",
            *(part for setting in settings for part in ("-c", setting)),
            ground.prompt,
        ]

    def environment(self, ground):
        """Give it a key under the name it looks for."""
        return {"CODEX_API_KEY" if self.own else "ROUTE_KEY": ground.key}

    def calls(self, repo) -> Calls:
        """Look, edit and run with its one tool."""

        def run(cmd: str) -> tuple[str, dict[str, Any]]:
            return "exec_command", {"cmd": cmd}

        return [
            [run(f"cat {repo}/calc.py"), run(f"cd {repo} && cat check.py && pwd")],
            [run(f"sed -i 's/a - b/a + b/' {repo}/calc.py")],
            [run("python3 check.py")],
        ]


@pytest.mark.parametrize(
    ("pi", "dialect"),
    [
        pytest.param(Pi("openai-completions", "/v1"), "openai-chat", id="chat"),
        pytest.param(Pi("openai-responses", "/v1"), "openai-responses", id="responses"),
        pytest.param(Pi("anthropic-messages"), "anthropic", id="anthropic"),
        pytest.param(Pi("google-generative-ai", "/v1beta", finish="stop"), "gemini", id="gemini"),
    ],
)
def test_pi_works_the_same_from_a_recording(rig, pi, dialect):
    """Another folder, another home, no model: the same four exchanges and the same edit."""
    first = rig.record(pi)
    rig.check_recorded(first, dialect=dialect, exchanges=4)
    again = rig.replay(pi, first.tape)
    rig.check_replayed(again, first)
    assert final(again.stdout) == final(first.stdout)


@pytest.mark.parametrize("own", [False, True], ids=["http", "websocket-first"])
def test_codex_works_the_same_from_a_recording(rig, own):
    """Its requests hold ids, times and a date of their own; they are the same requests."""
    codex = Codex(own)
    first = rig.record(codex)
    rig.check_recorded(first, dialect="openai-responses", exchanges=4)
    again = rig.replay(codex, first.tape)
    rig.check_replayed(again, first)


@pytest.mark.parametrize("agent", [Pi("openai-completions", "/v1"), Codex()], ids=["pi", "codex"])
def test_an_agent_takes_a_miss_for_final(rig, agent):
    """It gives up at the first one, whatever it makes of it: pi even exits well."""
    first = rig.record(agent)
    again = rig.replay(agent, first.tape, prompt=rig.other)
    rig.check_refused(again, first)


def final(stdout: str) -> str:
    """Return the text of the last message of pi, which exits with 0 also when all failed."""
    last = json.loads(stdout.splitlines()[-1])["messages"][-1]
    assert last["stopReason"] == "stop", last
    return "".join(part["text"] for part in last["content"] if part["type"] == "text")
