"""The command template: what is filled in, what the program finds in its environment."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from evalgate.agents.command import DUMMY_KEY, CommandAgent
from evalgate.agents.table import build_agent
from evalgate.core.config import AgentSpec
from evalgate.core.user_reply import UserReply
from evalgate.errors import UsageError
from evalgate.protocols import AgentCall, Places

CALL = AgentCall(
    places=Places(
        **{
            name: f"/room/{name}"
            for name in ("repo", "home", "tmp", "harness", "inbox", "tests", "logs")
        }
    ),
    instruction="Fix {model} in $HOME; `rm -rf`",
    model="m-1",
    models_json=json.dumps({"main": {"id": "m-1"}}),
    base_url="http://127.0.0.1:1/r",
    max_turns=7,
)


def test_every_field_is_filled_in() -> None:
    """Where things are, the model and the limit; the rest of a word stays."""
    template = (
        "python3",
        "{harness_dir}/a.py",
        "--{model}-{max_turns}",
        "{base_url}|{instruction_file}|{repo_dir}",
        "{}",
        '{"json": 1}',
    )
    assert CommandAgent(template).argv(CALL) == [
        "python3",
        "/room/harness/a.py",
        "--m-1-7",
        "http://127.0.0.1:1/r|/room/inbox/instruction.md|/room/repo",
        "{}",
        '{"json": 1}',
    ]


def test_what_is_filled_in_is_not_a_template() -> None:
    """An instruction that looks like a field is handed over as it is, in one word."""
    assert CommandAgent(("{instruction}",)).argv(CALL) == ["Fix {model} in $HOME; `rm -rf`"]


@pytest.mark.parametrize(
    "agent",
    [{"template": ("{modell}",)}, {"template": ("a",), "extra": {"X": "{modell}"}}],
)
def test_an_unknown_field_is_named(agent: dict[str, object]) -> None:
    """In the command as in the environment, with the fields there are."""
    with pytest.raises(UsageError, match=r"unknown field \{modell\} in '\{modell\}'") as caught:
        CommandAgent(**agent)
    assert "harness_dir" in caught.value.hint
    assert "model" in caught.value.hint


def test_an_empty_template_is_refused() -> None:
    """There is nothing to start; the hint shows a command."""
    with pytest.raises(UsageError, match="the template is empty") as caught:
        build_agent(AgentSpec())
    assert "python3" in caught.value.hint


def test_the_environment_leads_to_the_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    """Base URLs in the usual variables, the models as JSON, and no real key."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-real")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real")
    monkeypatch.setenv("GEMINI_API_KEY", "AIza-real")
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-real")
    environment = CommandAgent(("a",), {"MINE": "{model}"}).environment(CALL)
    assert environment == {
        "ANTHROPIC_API_KEY": DUMMY_KEY,
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:1/r",
        "EVALGATE_MODELS": CALL.models_json,
        "GEMINI_API_KEY": DUMMY_KEY,
        "GOOGLE_API_KEY": DUMMY_KEY,
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1/r",
        "OPENAI_API_BASE": "http://127.0.0.1:1/r/v1",
        "OPENAI_API_KEY": DUMMY_KEY,
        "OPENAI_BASE_URL": "http://127.0.0.1:1/r/v1",
        "MINE": "m-1",
    }


def test_the_configuration_wins_over_the_usual_variables() -> None:
    """A program that wants another address gets it."""
    agent = CommandAgent(("a",), {"OPENAI_BASE_URL": "{base_url}/v2"})
    assert agent.environment(CALL)["OPENAI_BASE_URL"] == "http://127.0.0.1:1/r/v2"


def test_an_adapter_is_found_by_its_name() -> None:
    """An unknown name lists the known ones."""
    assert build_agent(AgentSpec(command=("a",), env={"X": "1"})) == CommandAgent(
        ("a",), {"X": "1"}
    )
    with pytest.raises(UsageError, match="unknown adapter 'clod'") as caught:
        build_agent(AgentSpec(use="clod"))
    assert caught.value.hint == "known adapters: command"


def test_an_agent_whose_tools_can_not_be_led_away_must_be_in_the_sandbox() -> None:
    """Its adapter says where it may be placed; the error names agent and key."""

    class Rooted(CommandAgent):
        placements = frozenset({"sandbox"})

    agents = {"rooted": lambda spec: Rooted(spec.command)}
    for placement in ("sandbox", "host"):
        build_agent(AgentSpec(command=("a",), placement=placement))
    build_agent(AgentSpec(use="rooted", command=("a",)), agents)
    with pytest.raises(UsageError, match=r"agent\.placement: 'rooted' can not") as caught:
        build_agent(AgentSpec(use="rooted", command=("a",), placement="host"), agents)
    assert caught.value.hint == 'placement = "sandbox"'


def talked(tmp_path: Path, *replies: UserReply, answering: tuple[str, ...]) -> tuple[int, str]:
    """Run an agent that asks once and goes on when it is answered; return its end and words."""
    program = tmp_path / "agent.sh"
    program.write_text(
        'case "$1" in first) echo "Shall I proceed?";; "it\'s ok") echo "Done: $1";; '
        '*) echo "$1? no"; exit 3;; esac\n'
    )
    places = replace(CALL.places, tmp=str(tmp_path))
    call = replace(CALL, places=places, replies=replies)
    agent = CommandAgent(("sh", str(program), "first"), answering=answering)
    done = subprocess.run(agent.argv(call), capture_output=True, text=True)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("replies", "code", "words"),
    [
        ([], 0, "Shall I proceed?\n"),
        ([UserReply(reply="it's ok")], 0, "Shall I proceed?\nDone: it's ok\n"),
        ([UserReply(reply="it's ok", when="cheese")], 0, "Shall I proceed?\n"),
        ([UserReply(reply="it's ok")] * 2, 0, "Shall I proceed?\nDone: it's ok\n"),
        ([UserReply(reply="$(id)"), UserReply(reply="x")], 3, "Shall I proceed?\n$(id)? no\n"),
    ],
)
def test_an_agent_that_asks_is_answered(
    tmp_path: Path, replies: list[UserReply], code: int, words: str
) -> None:
    """As long as it asks, ends well, and there is a reply; each is one word of its command."""
    again = ("sh", str(tmp_path / "agent.sh"), "{reply}")
    assert talked(tmp_path, *replies, answering=again) == (code, words)


def test_an_agent_that_can_not_go_on_is_not_answered(tmp_path: Path) -> None:
    """Its command is as it is without a user."""
    assert talked(tmp_path, UserReply(reply="yes"), answering=()) == (0, "Shall I proceed?\n")
    with pytest.raises(UsageError, match=r"without \{reply\} the agent is told nothing"):
        CommandAgent(("a",), answering=("a",))
    with pytest.raises(UsageError, match=r"agent\.answering: unknown field \{repl\}"):
        CommandAgent(("a",), answering=("{repl}", "{reply}"))
