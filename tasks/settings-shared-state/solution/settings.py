"""The settings of a program."""

from defaults import DEFAULTS


def load(overrides):
    """Return the default settings, changed by the overrides."""
    settings = dict(DEFAULTS)
    settings.update(overrides)
    return settings
