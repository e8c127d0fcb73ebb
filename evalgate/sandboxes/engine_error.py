"""What goes wrong with a container engine."""

from __future__ import annotations


class EngineError(Exception):
    """The engine refused or failed; it says nothing about the program inside."""


class RefusedError(EngineError):
    """The engine works, and finds what it was asked for wrong, or not there."""


def broken_by(error: Exception) -> str:
    """Say in words what broke a connection; empty where that is not what went wrong."""
    inner = next((one for one in error.args if isinstance(one, Exception)), None)
    known = next((one for one in getattr(inner, "args", ()) if isinstance(one, OSError)), None)
    return f"the connection is broken: {known.strerror}" if known and known.strerror else ""
