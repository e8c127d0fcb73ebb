"""The gate between an edited prompt and an agent that works."""

from __future__ import annotations

__version__ = "0.1.0"
