"""What a repository has that could be an agent, and what its first configuration is then."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from evalgate.core.first_config import FirstConfig
from evalgate.errors import UsageError

#: Where an agent's own program may lie, the likeliest first.
_PROGRAMS = ("agent/main.py", "agent/agent.py", "agent.py", "src/agent.py", "main.py", "bot.py")
_PROMPTS = ("prompts/", ".claude/", "CLAUDE.md", "AGENTS.md")
_TOOLS = (".mcp.json", "tools/", "tools.json")
#: What lies beside an agent's program, by the ends of names.
_SUFFIXES: Mapping[str, Sequence[str]] = {
    "prompt": (".md", ".txt", ".j2", ".jinja", ".prompt"),
    "tools": (".json", ".toml", ".yaml", ".yml"),
    "code": (".py", ".js", ".mjs", ".ts", ".sh"),
}
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
    """The first configuration, what the image installs, and whether an agent has to be laid in."""

    config: FirstConfig
    install: str = ""
    starter: bool = False
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of agent: its ``command``, what it asks, and what it needs in its image."""

    command: Callable[[Sequence[str], str], Sequence[str]]
    env: Mapping[str, str] = field(default_factory=dict)
    install: str = ""
    overlay: bool = False


#: Every kind: its name on the command line -> what it makes of a repository's files.
KINDS: Mapping[str, Kind] = {
    "claude-code": Kind(
        command=lambda _files, _upstream: _CLAUDE,
        env={
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
            "DISABLE_AUTOUPDATER": "1",
        },
        install=_CLAUDE_INSTALL,
        overlay=True,
    ),
    "program": Kind(
        command=lambda files, _upstream: (
            *("python3", f"{{harness_dir}}/{program_in(files) or _PROGRAMS[0]}"),
            *("--model", "{model}", "--task", "{instruction_file}"),
        ),
    ),
    "starter": Kind(command=lambda _files, upstream: (*_STARTER, *_asking(upstream))),
}

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
    command = kind.command(files, upstream)
    if name == "program":
        command = _words(wishes.command or ask("Its command", shlex.join(command)))
    starter = name == "starter"
    if starter and _below(files, "agent/"):
        message = "the starter's agent lies in agent/, which is there already"
        raise UsageError(message, hint="--command tells how yours is started")
    parts = _parts(files, command, starter=starter)
    notes = _notes(name, wishes, parts)
    # With an image of its own a project needs containers; without one bubblewrap does too.
    dockerfile = "sandbox/Dockerfile" if kind.install or wishes.image else ""
    if dockerfile in files:
        notes.append(f"{dockerfile} is there already: [sandbox] dockerfile does not name it")
        dockerfile = ""
    if dockerfile:
        parts["sandbox"] = ["sandbox/**"]
    if not parts:
        message = "nothing here looks like a part of an agent: no prompts, no program"
        raise UsageError(message, hint="--command tells how it is started, or --agent starter")
    config = FirstConfig(
        parts=parts,
        overlay=_overlay(files) if kind.overlay else [],
        model=model,
        upstream=upstream,
        command=command,
        env=kind.env,
        suite=_suite(files),
        dockerfile=dockerfile,
    )
    return Start(config=config, install=kind.install, starter=starter, notes=notes)


def program_in(files: Sequence[str]) -> str | None:
    """Return the likeliest program of an agent among files, None if there is none."""
    found = [name for name in _PROGRAMS if name in files]
    return found[0] if found else None


def _likely(files: Sequence[str]) -> str:
    if program_in(files) is not None:
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


def _parts(files: Sequence[str], command: Sequence[str], *, starter: bool) -> dict[str, list[str]]:
    """Return parts whose globs match: prompts and tools by their names, code by the command."""
    if starter:
        return {
            "prompt": ["agent/prompts/*.md"],
            "tools": ["agent/tools.json"],
            "code": ["agent/agent.py"],
        }
    found: dict[str, list[str]] = {
        "prompt": _there(files, _PROMPTS),
        "tools": _there(files, _TOOLS),
        "code": [],
    }
    for word in command:
        name = word.removeprefix("{harness_dir}/")
        if name == word or name not in files:
            continue
        folder = posixpath.dirname(name)
        if not folder:
            found["code"].append(_escaped(name))
            continue
        suffixes = {posixpath.splitext(one)[1] for one in files if one.startswith(f"{folder}/")}
        for part, kinds in _SUFFIXES.items():
            found[part] += [f"{_escaped(folder)}/**/*{kind}" for kind in kinds if kind in suffixes]
    return {name: list(dict.fromkeys(globs)) for name, globs in found.items() if globs}


def _there(files: Sequence[str], names: Sequence[str]) -> list[str]:
    folders = [f"{name}**" for name in names if name.endswith("/") and _below(files, name)]
    return folders + [name for name in names if name in files]


def _below(files: Sequence[str], folder: str) -> bool:
    return any(name.startswith(folder) for name in files)


def _overlay(files: Sequence[str]) -> list[str]:
    """Return what Claude Code reads in the folder it works in."""
    single = [name for name in ("CLAUDE.md", "AGENTS.md", ".mcp.json") if name in files]
    return single + sorted(name for name in files if name.startswith(".claude/"))


def _notes(name: str, wishes: Wishes, parts: Mapping[str, Sequence[str]]) -> list[str]:
    notes = []
    if name == "program" and not wishes.command:
        notes.append("look at [agent] command: how your program is told model and task is a guess")
    if any("/" not in glob for glob in parts.get("code", ())):
        notes.append("[harness.parts] code is the program alone: add the modules that it imports")
    return notes


def _suite(files: Sequence[str]) -> str:
    """Return the folder of tasks: one that has other things than tasks in it is not taken."""
    taken = "tasks" in files or _below(files, "tasks/")
    ours = any(re.fullmatch(r"tasks/[^/]+/task\.toml", name) for name in files)
    return "evals" if taken and not ours else "tasks"


def _escaped(path: str) -> str:
    return re.sub(r"([*?\[\]\\])", r"\\\1", path)
