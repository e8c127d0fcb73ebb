"""Trials: one, many, planned, resumed, graded."""
