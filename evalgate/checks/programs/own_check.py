"""Calls a check of a project's own, in the sandbox in which claims are graded.

Ends with 0 for passed, 10 for failed, and anything else for what could not be measured; its last
line says why. The check is called in a process of its own: one that ends that process, or lets
the code do so that it looks at, has said nothing.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

PASSED, FAILED, ERRORED = 0, 10, 11
HERE = Path(__file__).resolve().parent
LONGEST = 300


def main(name: str, params: str) -> int:
    """Call ``package.module:function`` with what is seen and its parameters."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.close(reads)
        os.dup2(1, 2)  # one stream, so that the last line is the last
        told = json.dumps(called(name, json.loads(params))).encode()
        sys.stdout.flush()
        os.write(writes, told)
        os._exit(0)
    os.close(writes)
    _, status = os.waitpid(child, 0)
    os.set_blocking(reads, False)  # something that it left behind may hold the other end
    try:
        told = os.read(reads, 1 << 16)
    except BlockingIOError:
        told = b""
    code, words = json.loads(told) if told else (ERRORED, f"{name} {ended(status)}")
    sys.stdout.write(f"\n{words}\n")
    return int(code)


def called(name: str, params: dict[str, Any]) -> tuple[int, str]:
    """Return how the process should end, and why, in one line."""
    module, _, function = name.partition(":")
    at = f"{module.replace('.', '/')}.py"
    try:
        sys.path.insert(0, str(HERE / "code"))
        seen = json.loads((HERE / "seen.json").read_text(encoding="utf-8"))
        check = getattr(importlib.import_module(module), function)
        at = place(check) or at
        found = check(seen, **params)
        outcome, words = found if isinstance(found, tuple) and len(found) == 2 else (found, "")  # noqa: PLR2004
        if outcome is True:
            return PASSED, ""
        if outcome is False:
            return FAILED, line(f"{at}: {words or f'{name} returned False'}")
        return ERRORED, line(f"{at}: {name} returned {outcome!r}, which is neither True nor False")
    except SystemExit as error:
        return ERRORED, line(f"{raised(error) or at}: {name} called for an exit ({error.code!r})")
    except BaseException as error:  # noqa: BLE001 - whatever it is, it was no measurement
        told = traceback.format_exception_only(type(error), error)[-1]
        return ERRORED, line(f"{raised(error) or at}: {told}")


def place(check: Any) -> str:
    """Return the file and line of a function, or nothing."""
    code = getattr(inspect.unwrap(check), "__code__", None)
    return where(code.co_filename, code.co_firstlineno) if code else ""


def raised(error: BaseException) -> str:
    """Return the last file and line of the project's own that an error went through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [where(one.filename, one.lineno or 0) for one in frames]
    if isinstance(error, SyntaxError):
        own.append(where(error.filename or "", error.lineno or 0))
    return next((one for one in reversed(own) if one), "")


def where(file: str, number: int) -> str:
    """Return a line of the project's checks as it names its files; nothing for any other."""
    code = f"{HERE / 'code'}{os.sep}"
    return f"{file[len(code) :]}:{number}" if file.startswith(code) else ""


def line(words: str) -> str:
    """Return words in one line, no longer than is read."""
    return " ".join(words.split())[:LONGEST]


def ended(status: int) -> str:
    """Say how a process ended that told nothing."""
    if os.WIFSIGNALED(status):
        return f"was killed by signal {os.WTERMSIG(status)} before it returned"
    return f"ended its process with exit code {os.WEXITSTATUS(status)} before it returned"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
