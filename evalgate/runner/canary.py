"""The canary of one trial: a token in a place that no task points to."""

from __future__ import annotations

import secrets
from importlib.resources import files
from typing import Final

from evalgate.core.files import File
from evalgate.sandboxes import image

#: What stands for the token in recordings: it is another one in each trial.
CANARY_LABEL: Final = "CANARY"

_PLACE: Final = ".evaluation/README.md"


def new_canary() -> str:
    """Return a token that nobody has seen."""
    return f"EVALGATE-CANARY-{secrets.token_hex(8)}"


def canary_files(token: str) -> dict[str, File]:
    """Return the files that hold the token, for the agent's home."""
    text = (files(image) / "canary" / "README.md").read_text(encoding="utf-8")
    return {_PLACE: File(data=text.replace("EVALGATE-CANARY-{token}", token).encode())}
