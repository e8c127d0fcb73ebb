"""GitHub's own description of its interface (openapi.json, made by .ci/github-description)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from openapi_core import OpenAPI
from openapi_core.exceptions import OpenAPIError
from openapi_core.testing import MockRequest, MockResponse

FILE = Path(__file__).parent / "openapi.json"
HOST = "https://api.github.com"


@cache
def _document() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(FILE.read_text())
    return loaded


@cache
def _checker() -> OpenAPI:
    return OpenAPI.from_dict(_document())


@dataclass
class Contract:
    """Collects what a client or the fake itself does against the description."""

    violations: list[str] = field(default_factory=list)

    def examine(self, method: str, target: str, body: bytes, status: int, answer: bytes) -> None:
        """Hold one request and its answer against the description."""
        parts = urlsplit(target)
        request = MockRequest(
            HOST,
            method.lower(),
            parts.path,
            args=dict(parse_qsl(parts.query)),
            data=body or None,
            content_type="application/json",
        )
        response = MockResponse(answer, status_code=status, content_type="application/json")
        try:
            _checker().validate_request(request)
            _checker().validate_response(request, response)
        except OpenAPIError as error:
            cause = f"{error}: {error.__cause__}"
            self.violations.append(f"{method} {target} -> {status}: {cause:.300}")


def minimal(name: str, /, **values: Any) -> dict[str, Any]:
    """Return the smallest object of a described kind, with some values of the caller's."""
    made: dict[str, Any] = _example({"$ref": f"#/components/schemas/{name}"})
    return {**made, **values}


def _example(schema: dict[str, Any]) -> Any:
    if "$ref" in schema:
        kind, name = schema["$ref"].split("/")[-2:]
        return _example(_document()["components"][kind][name])
    if schema.get("nullable"):
        return None
    if "enum" in schema:
        return schema["enum"][0]
    for several in ("oneOf", "anyOf"):
        if several in schema:
            return _example(schema[several][0])
    if "allOf" in schema:
        return {key: value for one in schema["allOf"] for key, value in _example(one).items()}
    kind = schema.get("type", "object")
    if kind == "object":
        properties = schema.get("properties", {})
        return {key: _example(properties[key]) for key in schema.get("required", ())}
    texts = {"uri": "https://example.com/x", "date-time": "2026-01-01T00:00:00Z"}
    plain = {"string": texts.get(schema.get("format", ""), "x"), "boolean": False, "array": []}
    return plain.get(kind, 1)
