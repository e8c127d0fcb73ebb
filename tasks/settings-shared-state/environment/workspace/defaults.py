"""The default settings."""

DEFAULTS = {"theme": "light", "size": 12, "wrap": True}
