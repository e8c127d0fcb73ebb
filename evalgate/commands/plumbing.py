"""A plumbing test: does the edited harness still run, against recordings of another one?"""

from __future__ import annotations
