"""What carries one port of the host's loopback into a sandbox, at the sandbox's side."""

from __future__ import annotations

from evalgate.core.files import File
from evalgate.protocols import Stage
from evalgate.sandboxes.inside import inner_text

#: Where the forwarder's files are laid, beside the places of a stage.
FORWARD = "forward"


def forwarder() -> dict[str, File]:
    """Return the files that carry a port inside a sandbox."""
    names = ("start.sh", "forward.py", "forward.js")
    return {name: File(data=inner_text(name).encode()) for name in names}


def forwarded(stage: Stage, top: str) -> list[str]:
    """Return the words that run a stage's program with its port carried over standard input."""
    return ["/bin/sh", f"{top}/{FORWARD}/start.sh", str(stage.reach), *stage.argv]
