"""Why a replay diverged, as far as the harness is concerned."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from evalgate.core.exchange import Miss
from evalgate.core.harness import Harness
from evalgate.gateway.misses.cause import blame

#: The wildcards of git's globs, the longest first, as regular expressions.
_WILD: Final = re.compile(
    r"(?P<any>\*\*/)|(?P<below>/\*\*$)|(?P<star>\*+)|(?P<one>\?)|(?P<set>\[[^]]+\])"
)
_REGEX: Final = {"any": "(?:.*/)?", "below": "/.*", "star": "[^/]*", "one": "[^/]"}


def explained(miss: Miss, *, header: Mapping[str, Any], harness: Harness) -> Miss:
    """Return the miss with what the harness has to do with it; ``header`` is the recording's."""
    then = {str(name): str(digest) for name, digest in dict(header.get("parts", {})).items()}
    return blame(miss, then=then, now=harness.parts, sources=sources_of(harness))


def sources_of(harness: Harness) -> dict[str, tuple[bytes, ...]]:
    """Return the files of each part, by name; the tables of the configuration have none."""
    return {
        name: tuple(
            file.data for path, file in sorted(harness.files.items()) if _is_matched(path, globs)
        )
        for name, globs in harness.config.harness.parts.items()
    }


def _is_matched(path: str, globs: Sequence[str]) -> bool:
    """Tell whether a part has a file: a glob that names a directory has all that is in it."""
    # What git takes for a set of letters may be none here: then the file is of no part.
    with suppress(re.error):
        return any(re.fullmatch(f"(?s:{_regex(glob)}(?:/.*)?)", path) for glob in globs)
    return False


def _regex(glob: str) -> str:
    pieces, end = [], 0
    for found in _WILD.finditer(glob):
        pieces.append(re.escape(glob[end : found.start()]))
        wild = found.lastgroup or ""
        pieces.append(_REGEX.get(wild) or found[0].replace("[!", "[^"))
        end = found.end()
    return "".join((*pieces, re.escape(glob[end:])))
