"""A look at text of strangers that may come to no end: in a process of its own, with limits.

Some texts make some expressions run for ever, some sources overflow a parser, and neither can be
stopped from inside. Nothing of the text is run, and no key of this machine is in that process.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from evalgate.core.json import Json

#: Ample for a file of the largest claim; what needs longer does not end.
SECONDS: Final = 10.0

_PROGRAMS: Final = Path(__file__).parent / "programs"
_ERROR: Final = re.compile(r"[A-Za-z_.]{1,40}(?:[Ee]rror|Exception)\b")
#: Where an interpreter may find its own library; nothing else of the environment is needed.
_NEEDED: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_RUN: Final = """
import json, resource, runpy, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
main = runpy.run_path(sys.argv[1])["main"]
json.dump(main(json.load(sys.stdin)), sys.stdout)
"""


class ApartError(Exception):
    """A look came to no end, so nothing is known."""


def look(program: str, given: Json, *, doing: str, seconds: float = SECONDS) -> Any:
    """Run one of `programs` on what is given, and return the JSON that it answers with.

    ``doing`` names it in words. Raises ApartError when time or memory did not suffice.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _RUN, str(_PROGRAMS / f"{program}.py")],
            input=json.dumps(given).encode(),
            capture_output=True,
            check=False,
            cwd="/",
            env={name: os.environ[name] for name in _NEEDED if name in os.environ},
            timeout=seconds,
            start_new_session=True,  # Ctrl-C stops the run, and is no failure of a check
        )
    except subprocess.TimeoutExpired:
        raise ApartError(f"{doing} did not end within {seconds:g} s") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        # The name of the error, and no more: its words may hold a piece of the text.
        named = _ERROR.match(said)
        why = named[0] if named else f"exit code {done.returncode}"
        raise ApartError(f"{doing} broke off: {why}")
    return json.loads(done.stdout)
