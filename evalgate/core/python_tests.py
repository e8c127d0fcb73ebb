"""How hidden tests in Python are run, wherever a task folder is written."""

from __future__ import annotations

from typing import Final

#: By unittest: `python3 -B -m unittest …`, without byte code in anybody's workspace.
UNITTEST: Final = "python3 -B -m unittest"


def pytest_command(told: str, *, own_options: bool = False) -> str:
    """Return pytest without its cache; ``told`` says what it prints, such as ``-q``.

    An agent may have written options into the workspace's settings: they do not count, unless the
    tests are those of a project that needs its own.
    """
    options = "" if own_options else "-o addopts= "
    return f"python3 -B -m pytest {told} {options}-p no:cacheprovider"
