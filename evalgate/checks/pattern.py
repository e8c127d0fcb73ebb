"""A regular expression on text of strangers: in a process of its own, with limits.

Some texts make some expressions run for ever, and a search can not be stopped from inside.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

#: Ample for a file of the largest claim; an expression that needs longer does not end.
SECONDS = 10.0

_FOUND, _NOT_FOUND = 10, 11
_ERROR = re.compile(r"[A-Za-z.]{1,40}[Ee]rror\b")
_SEARCH = f"""
import json, re, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))
pattern, text = json.load(sys.stdin)
sys.exit({_FOUND} if re.search(pattern, text, {int(re.MULTILINE)}) else {_NOT_FOUND})
"""


class SearchError(Exception):
    """A search came to no end, so nothing is known."""


def found_in(text: str, pattern: str, *, seconds: float = SECONDS) -> bool:
    """Tell whether a pattern matches somewhere; ``^`` and ``$`` match at every line.

    Raises SearchError when time or memory did not suffice.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _SEARCH],
            input=json.dumps([pattern, text]).encode(),
            capture_output=True,
            check=False,
            cwd="/",
            timeout=seconds,
            start_new_session=True,  # Ctrl-C stops the run, and is no failure of a search
        )
    except subprocess.TimeoutExpired:
        raise SearchError(f"the search did not end within {seconds:g} s") from None
    if done.returncode not in {_FOUND, _NOT_FOUND}:
        said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        # The name of the error, and no more: its words may hold a piece of the text.
        named = _ERROR.match(said)
        why = named[0] if named else f"exit code {done.returncode}"
        raise SearchError(f"the search broke off: {why}")
    return done.returncode == _FOUND
