"""The canary of one trial: a token in a place that no task points to."""

from __future__ import annotations

import secrets
from importlib.resources import files
from typing import Final

from evalgate.core.files import File
from evalgate.sandboxes import image

#: The label of the token among the places of a run.
CANARY_LABEL: Final = "CANARY"
#: What stands for the token in all that is kept of a trial: it is another one in each.
CANARY: Final = f"<{CANARY_LABEL}>"

_PLACE: Final = ".evaluation/README.md"


def new_canary() -> str:
    """Return a token that nobody has seen."""
    return f"EVALGATE-CANARY-{secrets.token_hex(8)}"


def canary_files(token: str) -> dict[str, File]:
    """Return the files that hold the token, for the agent's home."""
    text = (files(image) / "canary" / "README.md").read_text(encoding="utf-8")
    return {_PLACE: File(data=text.replace("EVALGATE-CANARY-{token}", token).encode())}
