"""Benchmarks are no part of the package: they are found in the repository, after all else."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = str(Path(__file__).parents[3])
if ROOT not in sys.path:
    # At the end, so that the evalgate that is tested stays the one that is installed.
    sys.path.append(ROOT)
