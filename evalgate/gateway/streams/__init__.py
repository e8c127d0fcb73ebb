"""Replies that come in pieces: read, joined, edited."""
