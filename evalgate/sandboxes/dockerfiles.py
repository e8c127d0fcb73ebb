"""What a Dockerfile stands on, and which of the files beside it its builder is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from evalgate.core.files import Tree
from evalgate.disk import open_passing_folder
from evalgate.sandboxes.docker import not_ignored
from evalgate.sandboxes.layout import lay_tree

_IGNORE: Final = ".dockerignore"

_FROM: Final = re.compile(r"from\s+(?:--platform=\S+\s+)?(\S+)(?:\s+as\s+(\S+))?", re.IGNORECASE)
_ARG: Final = re.compile(r"arg\s+(\w+)=(\S+)", re.IGNORECASE)
_FIELD: Final = re.compile(r"\$(?:\{(\w+)(?::-([^}]*))?\}|(\w+))")


def bases_of(text: str, args: Mapping[str, str]) -> tuple[str, ...]:
    """Return the images that a Dockerfile is built on, each once, in order.

    ``args`` are the build arguments given from outside. Its own stages and ``scratch`` are no
    images; a name with a field that nobody fills is left out, because its builder refuses it.
    """
    known: dict[str, str] = {}
    stages, found = {"scratch"}, []
    for line in text.splitlines():
        words = line.strip()
        if arg := _ARG.match(words):
            known.setdefault(arg[1], args.get(arg[1], arg[2].strip("\"'")))
        elif base := _FROM.match(words):
            name = _FIELD.sub(lambda field: _filled(field, known), base[1])
            if name.lower() not in stages and "$" not in name:
                found.append(name)
            stages.add((base[2] or "scratch").lower())
    return tuple(dict.fromkeys(found))


def context_of(files: Tree, dockerfile: str) -> Tree:
    """Return the files that are sent to a builder: without what ``.dockerignore`` names.

    Raises:
        UsageError: an unsafe path, or a malformed link.
    """
    if _IGNORE not in files:
        return files
    lines = files[_IGNORE].data.decode("utf-8", "replace").splitlines()
    patterns = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    with open_passing_folder("context") as folder:
        lay_tree(files, folder, allow_git=False)
        kept = not_ignored(folder, patterns, dockerfile=dockerfile)
    return {path: file for path, file in files.items() if path in kept}


def _filled(field: re.Match[str], known: Mapping[str, str]) -> str:
    return known.get(field[1] or field[3], field[2] or field[0])
