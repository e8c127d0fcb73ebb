"""The tools a request offers, in one shape whatever the API: that of function calling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evalgate.core.json import Json, JsonObject
from evalgate.gateway.reading import mapping, member, text

_SCHEMAS: Final = ("parameters", "input_schema", "parametersJsonSchema")


def tool_definition(tool: JsonObject) -> JsonObject:
    """Return a function as ``{"type": "function", "function": {name, description, …}}``.

    What has another shape, as a tool that the provider runs itself, is returned as it was sent.
    """
    schema = next((name for name in _SCHEMAS if isinstance(member(tool, name), Mapping)), None)
    if "function" in tool or not text(tool, "name") or schema is None:
        return tool
    function: dict[str, Json] = {"name": tool["name"]}
    if "description" in tool:
        function["description"] = tool["description"]
    return {"type": "function", "function": {**function, "parameters": mapping(tool, schema)}}
