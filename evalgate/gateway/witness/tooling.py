"""The tools a request offers, in one shape whatever the API: that of function calling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evalgate.core.json import Json, JsonObject
from evalgate.gateway.reading import items, mapping, member, text

_SCHEMAS: Final = ("parameters", "input_schema", "parametersJsonSchema")
_GROUPS: Final = ("functionDeclarations", "function_declarations")


def tool_definitions(tools: Json) -> tuple[JsonObject, ...]:
    """Return each function as ``{"type": "function", "function": {name, description, …}}``.

    What has another shape, as tools that the provider runs itself, is returned as it was sent.
    """
    return tuple(_definitions(items(tools)))


def tool_name(tool: Json) -> str:
    """Return the name of a tool as it was sent; empty when it has none."""
    return text(tool, "name") or text(tool, "function", "name")


def _definitions(tools: list[Json]) -> Iterator[JsonObject]:
    for tool in tools:
        declared = [one for group in _GROUPS for one in items(tool, group)]
        for one in declared or [tool]:
            if isinstance(one, Mapping):
                yield _definition(one)


def _definition(tool: JsonObject) -> JsonObject:
    schema = next((name for name in _SCHEMAS if isinstance(member(tool, name), Mapping)), None)
    if "function" in tool or not text(tool, "name") or schema is None:
        return tool
    function: dict[str, Json] = {"name": tool["name"]}
    if "description" in tool:
        function["description"] = tool["description"]
    return {"type": "function", "function": {**function, "parameters": mapping(tool, schema)}}
