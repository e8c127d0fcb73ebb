"""Holds a JSON text against a JSON Schema."""

from __future__ import annotations

import json
from typing import Any

from jsonschema.validators import validator_for
from referencing import Registry


def main(given: dict[str, Any]) -> str:
    """Return what is wrong with ``text`` by ``schema``, or nothing; no reference is fetched."""
    try:
        value = json.loads(given["text"], parse_constant=_refuse)
    except (ValueError, RecursionError):
        return "is no JSON"
    schema = given["schema"]
    validator = validator_for(schema)(schema, registry=Registry())
    errors = sorted(validator.iter_errors(value), key=lambda error: list(map(str, error.path)))
    if not errors:
        return ""
    place = "".join(f"[{one!r}]" for one in errors[0].absolute_path)
    # Its message holds the value: a place and the keyword say enough.
    return f"does not fit the schema at ${place}: {errors[0].validator}"


def _refuse(name: str) -> None:
    """NaN and its like are no JSON."""
    raise ValueError(name)
