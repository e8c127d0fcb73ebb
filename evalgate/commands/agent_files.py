"""What of a repository's files could be an agent: its program, its prompts, its tools."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

HARNESS_DIR: Final = "{harness_dir}/"
#: Where an agent's own program may lie, the likeliest first; after these, any `_NAMED` one.
PROGRAMS: Final = (
    *("agent/main.py", "agent/agent.py", "agent.py", "src/agent.py", "main.py", "bot.py"),
)
_NAMED: Final = re.compile(r"(?:\w+_)?(?:agent|bot)\.py|(?:agents?|bot)/(?:main|__main__|cli)\.py")
_TOOLS: Final = (".mcp.json", "tools/", "tools.json")
_PROMPTS: Final = (
    *(".claude/", "CLAUDE.md", "AGENTS.md", "GEMINI.md", ".cursorrules"),
    ".github/copilot-instructions.md",
)
#: Folders whose files are about an agent, and none of it.
_BESIDE: Final = frozenset(
    {"test", "tests", "testing", "doc", "docs", "example", "examples", "tasks", "evals"}
    | {"benchmarks", "scripts", "node_modules", "vendor", "site-packages"}
)
#: What lies beside an agent's program, by the ends of names.
_SUFFIXES: Final[Mapping[str, Sequence[str]]] = {
    "prompt": (".md", ".txt", ".j2", ".jinja", ".prompt"),
    "tools": (".json", ".toml", ".yaml", ".yml"),
    "code": (".py", ".js", ".mjs", ".ts", ".sh"),
}
_CODE: Final = (".py", ".js", ".mjs", ".ts")


def programs_in(files: Sequence[str]) -> list[str]:
    """Return the files that look like an agent's program, the likeliest first."""
    known = [name for name in PROGRAMS if name in files]
    named = [name for name in _own(files) if re.search(rf"(?:^|/)(?:{_NAMED.pattern})$", name)]
    named.sort(key=lambda name: (name.count("/"), name))
    return list(dict.fromkeys((*known, *named)))


def code_in(files: Sequence[str]) -> list[str]:
    """Return the program files that an agent could hide among."""
    return [name for name in _own(files) if name.endswith(_CODE)]


def started(files: Sequence[str], name: str) -> list[str]:
    """Return the words that start a Python file: a module where it lies in a package."""
    top = _package(files, name)
    if not top:
        return ["python3", HARNESS_DIR + name]
    within = posixpath.relpath(name, posixpath.dirname(top))
    return ["python3", "-m", within.removesuffix(".py").removesuffix("/__main__").replace("/", ".")]


def placed(
    files: Sequence[str], words: Sequence[str]
) -> tuple[list[str], dict[str, str], list[str]]:
    """Return a command with its files named where a trial has them, its variables, those files.

    A trial works in a task's folder: ``python3 src/bot.py`` and ``python3 -m bot`` would find
    nothing there.
    """
    told, env, named = list[str](), dict[str, str](), list[str]()
    for at, word in enumerate(words):
        name = posixpath.normpath(word.removeprefix(HARNESS_DIR))
        module = _module(files, word) if at and words[at - 1] == "-m" else ""
        if module:
            named.append(module)
            above = posixpath.dirname(_package(files, module) or module)
            env["PYTHONPATH"] = f"{HARNESS_DIR}{above}".rstrip("/")
        is_file = name in files and ("/" in word or name.endswith((*_CODE, ".sh")))
        named += [name] if is_file else []
        told.append(HARNESS_DIR + name if is_file else word)
    return told, env, named


def parts_of(files: Sequence[str], programs: Iterable[str]) -> dict[str, list[str]]:
    """Return parts whose globs match: prompts and tools by their names, code by its programs."""
    found: dict[str, list[str]] = {
        "prompt": prompts_in(files),
        "tools": _there(files, _TOOLS),
        "code": [],
    }
    for name in programs:
        folder = _package(files, name) or posixpath.dirname(name)
        if not folder:
            found["code"].append(escaped(name))
            continue
        suffixes = {posixpath.splitext(one)[1] for one in files if one.startswith(f"{folder}/")}
        for part, kinds in _SUFFIXES.items():
            found[part] += [f"{escaped(folder)}/**/*{kind}" for kind in kinds if kind in suffixes]
    return {name: list(dict.fromkeys(globs)) for name, globs in found.items() if globs}


def prompts_in(files: Sequence[str]) -> list[str]:
    """Return globs of what is a prompt by its name, in any folder of one's own."""
    folders = sorted(
        {
            "/".join(steps[: at + 1])
            for steps in (name.split("/") for name in _own(files))
            for at, step in enumerate(steps[:-1])
            if step in {"prompt", "prompts"} and step not in steps[:at]
        }
    )
    return [f"{escaped(folder)}/**" for folder in folders] + _there(files, _PROMPTS)


def below(files: Sequence[str], folder: str) -> bool:
    """Tell whether a folder, which ends with a slash, holds a file."""
    return any(name.startswith(folder) for name in files)


def escaped(path: str) -> str:
    """Return the glob that means a path alone."""
    return re.sub(r"([*?\[\]\\])", r"\\\1", path)


def _own(files: Sequence[str]) -> list[str]:
    """Return the files outside hidden folders, and outside those that are about an agent."""
    folders = (name.split("/")[:-1] for name in files)
    return [
        name
        for name, steps in zip(files, folders, strict=True)
        if not any(step in _BESIDE or step.startswith(".") for step in steps)
    ]


def _package(files: Sequence[str], name: str) -> str:
    """Return the topmost package that a Python file lies in, empty if it lies in none."""
    folder = top = posixpath.dirname(name)
    while folder and f"{folder}/__init__.py" in files:
        top, folder = folder, posixpath.dirname(folder)
    return top if top and f"{top}/__init__.py" in files else ""


def _module(files: Sequence[str], module: str) -> str:
    """Return the file that a module is, the one nearest to the top; empty if there is none."""
    path = module.replace(".", "/")
    ends = (f"/{path}.py", f"/{path}/__main__.py")
    found = [name for name in _own(files) if f"/{name}".endswith(ends)]
    return min(found, key=lambda name: (name.count("/"), name), default="")


def _there(files: Sequence[str], names: Sequence[str]) -> list[str]:
    folders = [f"{name}**" for name in names if name.endswith("/") and below(files, name)]
    return folders + [name for name in names if name in files]
