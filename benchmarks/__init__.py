"""Measurements of evalgate against its own goals: `python -m benchmarks.NAME [--quick]`."""
