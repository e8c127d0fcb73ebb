"""What a repository has that could be an agent, and what its first configuration is then."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from evalgate.commands.agent_files import (
    PROGRAMS,
    below,
    code_in,
    parts_of,
    placed,
    programs_in,
    prompts_in,
    started,
)
from evalgate.core.first_config import FirstConfig
from evalgate.errors import UsageError

_CLAUDE = (
    *("claude", "-p", "{instruction}", "--model", "{model}", "--max-turns", "{max_turns}"),
    *("--permission-mode", "acceptEdits", "--allowedTools", "Bash,Edit,Read,Write"),
)
_CLAUDE_INSTALL = (
    "RUN apt-get update && apt-get install -y --no-install-recommends nodejs npm \\\n"
    "    && npm install --global @anthropic-ai/claude-code && rm -rf /var/lib/apt/lists/*\n"
)
_STARTER = (
    *("python3", "{harness_dir}/agent/agent.py", "--model", "{model}"),
    *("--instruction-file", "{instruction_file}", "--max-turns", "{max_turns}"),
)
#: How a program of one's own is told what to do: a guess.
_TOLD = ("--model", "{model}", "--task", "{instruction_file}")
#: A model this small calls no tools: it is asked for the whole file.
_SMALL, _SMALL_MODEL = "local-model", "smollm2-135m-instruct"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a person says; an empty word is asked for, or found out.

    ``image`` asks for one of the project's own, also where the agent needs none.
    """

    agent: str = ""
    command: str = ""
    model: str = ""
    upstream: str = ""
    image: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The first configuration, what the image installs, and whether an agent has to be laid in.

    ``notes`` have fields for where the configuration has the agent's ``{command}`` and ``{code}``.
    """

    config: FirstConfig
    install: str = ""
    starter: bool = False
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of agent: its ``command``, what it asks, and what it needs in its image."""

    command: Callable[[str], Sequence[str]]
    env: Mapping[str, str] = field(default_factory=dict)
    install: str = ""
    overlay: bool = False


#: Every kind: its name on the command line -> what it makes of a repository's files.
KINDS: Mapping[str, Kind] = {
    "claude-code": Kind(
        command=lambda _upstream: _CLAUDE,
        env={
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
            "DISABLE_AUTOUPDATER": "1",
        },
        install=_CLAUDE_INSTALL,
        overlay=True,
    ),
    "program": Kind(command=lambda _upstream: _TOLD),
    "starter": Kind(command=lambda upstream: (*_STARTER, *_asking(upstream))),
}

_STARTER_PARTS: Mapping[str, Sequence[str]] = {
    "prompt": ["agent/prompts/*.md"],
    "tools": ["agent/tools.json"],
    "code": ["agent/agent.py"],
}
_NO_PART = (
    "name a file of this repository in --command, such as 'python3 src/agent.py'; --agent starter"
    " lays an agent in; or write evalgate.toml by hand, with your globs below [harness.parts]"
)

#: Who serves the model if nobody says so, and the model then.
_DEFAULT_UPSTREAM, _DEFAULT_MODEL = "anthropic", "claude-sonnet-4-5"

Ask = Callable[[str, str], str]


def start(files: Sequence[str], wishes: Wishes, ask: Ask) -> Start:
    """Return how to begin with a repository's files, given below the project's folder.

    ``ask`` is told a question and the likely answer, and returns the answer.

    Raises:
        UsageError: no such kind of agent, or a command that is none.
    """
    name = wishes.agent or ("program" if wishes.command else "")
    name = name or ask(f"Which agent ({', '.join(KINDS)})", _likely(files))
    if name not in KINDS:
        message = f"no kind of agent is called {name!r}"
        raise UsageError(message, hint=f"--agent {' or '.join(KINDS)}")
    kind = KINDS[name]
    upstream = wishes.upstream or ask("Who serves its model", _DEFAULT_UPSTREAM)
    likely = _SMALL_MODEL if upstream == _SMALL else _DEFAULT_MODEL
    model = wishes.model or ask("Which model", likely)
    command, env, programs = [*kind.command(upstream)], {**kind.env}, list[str]()
    if name == "program":
        guess = [*started(files, (programs_in(files) or PROGRAMS)[0]), *command]
        words = _words(wishes.command or ask("Its command", shlex.join(guess)))
        command, env, programs = placed(files, words)
    starter = name == "starter"
    if starter and below(files, "agent/"):
        message = "the starter's agent lies in agent/, which is there already"
        raise UsageError(message, hint="--command tells how yours is started")
    parts = parts_of(files, programs)
    if starter:
        parts = {name: [*globs] for name, globs in _STARTER_PARTS.items()}
        parts["prompt"] += prompts_in(files)
    notes = _notes(name, wishes, parts, files)
    # With an image of its own a project needs containers; without one bubblewrap does too.
    dockerfile = "sandbox/Dockerfile" if kind.install or wishes.image else ""
    if dockerfile in files:
        notes.append(f"{dockerfile} is there already: [sandbox] dockerfile does not name it")
        dockerfile = ""
    if dockerfile:
        parts["sandbox"] = ["sandbox/**"]
    if not parts:
        message = "nothing here looks like a part of an agent: no prompts, no program"
        raise UsageError(message, hint=_NO_PART)
    config = FirstConfig(
        parts=parts,
        overlay=_overlay(files) if kind.overlay else [],
        model=model,
        upstream=upstream,
        command=command,
        env=env,
        suite=_suite(files),
        dockerfile=dockerfile,
    )
    return Start(config=config, install=kind.install, starter=starter, notes=notes)


def _likely(files: Sequence[str]) -> str:
    if programs_in(files):
        return "program"
    claude = any(name == "CLAUDE.md" or name.startswith(".claude/") for name in files)
    return "claude-code" if claude else "starter"


def _asking(upstream: str) -> tuple[str, ...]:
    mode = "rewrite" if upstream == _SMALL else "shell"
    return ("--mode", mode, "--dialect", "anthropic" if upstream == "anthropic" else "openai")


def _words(line: str) -> list[str]:
    try:
        words = shlex.split(line)
    except ValueError as error:
        message = f"--command: {error}: {line!r}"
        raise UsageError(message, hint="quote it as for a shell") from error
    if not words:
        message = "--command: there is no word in it"
        raise UsageError(message, hint="for example 'python3 {harness_dir}/agent.py'")
    return words


def _overlay(files: Sequence[str]) -> list[str]:
    """Return what Claude Code reads in the folder it works in."""
    single = [name for name in ("CLAUDE.md", "AGENTS.md", ".mcp.json") if name in files]
    return single + sorted(name for name in files if name.startswith(".claude/"))


def _notes(
    name: str, wishes: Wishes, parts: Mapping[str, Sequence[str]], files: Sequence[str]
) -> list[str]:
    notes = []
    found = programs_in(files)
    if name == "program" and not wishes.command:
        notes.append("{command}: how your program is told model and task is a guess: look at it")
        if len(found) > 1:
            others = ", ".join(found[1:4])
            notes.append(f"of several programs {found[0]} was taken, not {others}: --command")
    if any("/" not in glob for glob in parts.get("code", ())):
        notes.append("[harness.parts] code is the program alone: add the modules that it imports")
    if name == "starter" and not wishes.agent and code_in(files):
        notes.append(
            f"no agent was found among {len(code_in(files))} program files: a starter agent is put"
            " into agent/, and that is what is judged; for your own, {command} says how it is"
            " started, and {code} which files it is made of"
        )
    if name == "claude-code":
        notes.append(
            "sandbox/Dockerfile installs Claude Code with apt and npm, for which building it needs"
            " a network; without one: evalgate sandbox base | bash -s -- my-base nodejs npm makes"
            " a base of Debian packages, and EVALGATE_BASE_IMAGE=my-base names it"
        )
    return notes


def _suite(files: Sequence[str]) -> str:
    """Return the folder of tasks: one that has other things than tasks in it is not taken."""
    taken = "tasks" in files or below(files, "tasks/")
    ours = any(re.fullmatch(r"tasks/[^/]+/task\.toml", name) for name in files)
    return "evals" if taken and not ours else "tasks"
