"""The end of a trial that is none: the run was interrupted."""

from __future__ import annotations


class TrialStoppedError(Exception):
    """The run was interrupted while a trial was made or graded; it leaves no trace."""
