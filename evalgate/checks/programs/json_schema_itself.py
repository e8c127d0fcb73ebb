"""Tells whether a table is a JSON Schema."""

from __future__ import annotations

from typing import Any

from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for


def main(schema: dict[str, Any]) -> str:
    """Return what is wrong with it, or nothing."""
    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        return str(error.message)
    return ""
