"""Verdicts and runs as text for people."""
