"""JSON nested deeper than it can be written."""

from __future__ import annotations

import json

from evalgate.core.shallow import shallow


def nested(depth):
    value = "end"
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def test_what_is_nested_too_deeply_is_told():
    """And can be written; what is not is left as it is."""
    assert shallow(nested(150)) == nested(150)
    assert "[nested too deeply]" in json.dumps(shallow(nested(100_000)))
    assert shallow(None) is None
