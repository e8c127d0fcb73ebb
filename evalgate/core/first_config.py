"""The first configuration of a project, as the text that `evalgate init` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

_WIDTH: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstConfig:
    """What the configuration says; ``suite`` is the folder of tasks. All else has defaults."""

    parts: Mapping[str, Sequence[str]]
    overlay: Sequence[str]
    model: str
    upstream: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    suite: str = "tasks"
    dockerfile: str = ""

    def render(self, below: Sequence[str] = ()) -> str:
        """Return the TOML, its tables below the named ones."""
        start = "".join(f"{name}." for name in below)
        lines = [
            "# What evalgate judges. docs/configuration.md of git-evalgate lists every key.",
            f"[{start}harness.parts]  # what makes the agent: globs in git; one must match",
            *(f"{_key(name)} = {_texts(globs)}" for name, globs in self.parts.items()),
        ]
        if self.overlay:
            lines += ["", f"[{start}harness.overlay]  # laid into the agent's workspace"]
            lines += [f"{_text(path)} = {_text(path)}" for path in self.overlay]
        lines += [
            "",
            f"[{start}models.main]  # the key stays in the gateway; no agent sees it",
            f"id = {_text(self.model)}",
            f"upstream = {_text(self.upstream)}",
            "# Without it costs are unknown; it is hashed, so set it before the first recording.",
            "# price = { input = 3.00, output = 15.00 }  # dollars a million tokens",
            "",
            f"[{start}agent]",
            "command = [",
            *_wrapped(self.command),
            "]",
            *(f"env.{_key(name)} = {_text(value)}" for name, value in self.env.items()),
            "",
            f"[{start}suite]",
            f"tasks = {_texts([f'{self.suite}/*'])}",
            "trials = 5",
            "",
            f"[{start}sandbox]",
            'use = "auto"  # docker, podman or bwrap, whichever works first',
            f"dockerfile = {_text(self.dockerfile)}"
            if self.dockerfile
            else '# image = "…"  # another one than python:3.12-slim; or evalgate init --image',
            "",
            f"[{start}policy]",
            "margin = 0.10  # the drop of the pass rate that you care about",
            "",
            f"# [{start}budget]",
            "# usd = 5  # what a live run or gate may cost; needs the price",
        ]
        return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _texts(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, texts))}]"


def _wrapped(words: Sequence[str]) -> list[str]:
    """Return a list of words in lines of some width."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(word) < _WIDTH:
            lines[-1] += f" {_text(word)},"
        else:
            lines.append(f"    {_text(word)},")
    return lines


def _key(name: str) -> str:
    plain = name.replace("-", "").replace("_", "")
    return name if plain.isascii() and plain.isalnum() else _text(name)
