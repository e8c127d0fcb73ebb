"""The check that a text is JSON and fits a schema."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any, ClassVar

from evalgate.checks.apart import look
from evalgate.checks.findings import PASSED, failed
from evalgate.checks.origin import Origin
from evalgate.core.json import JsonObject
from evalgate.core.observation import Observation
from evalgate.core.schema import Reader
from evalgate.errors import NotAvailableError
from evalgate.protocols import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSchema:
    """The text is JSON and fits a JSON Schema; needs the extra ``json-schema``.

    Example: ``{type = "json_schema", path = "out.json", schema = {required = ["total"]}}``.
    """

    version: ClassVar[int] = 1
    origin: Origin
    schema: dict[str, Any]

    @property
    def command(self) -> str | None:
        """The command whose output is read, if it is one."""
        return self.origin.command

    @classmethod
    def from_params(cls, params: Reader) -> JsonSchema:
        """Read where it stands, and ``schema``, a table.

        NotAvailableError when the extra is not installed.
        """
        require("jsonschema", extra="json-schema", check="json_schema")
        if not params.has("schema"):
            raise params.error("'schema' is missing")
        schema = params.json("schema")
        problem = look("json_schema_itself", schema, doing="reading the schema")
        if problem:
            raise params.error(f"is no JSON Schema: {problem}", "schema")
        return cls(origin=Origin.from_params(params), schema=schema)

    def examine(self, seen: Observation) -> Finding:
        """Pass when it fits."""
        text = self.origin.read(seen)
        if isinstance(text, Finding):
            return text
        given: JsonObject = {"text": text, "schema": self.schema}
        problem = look("json_schema", given, doing="validation")
        return failed(f"{self.origin.name} {problem}") if problem else PASSED


def require(module: str, *, extra: str, check: str) -> None:
    """Raise NotAvailableError when what a check needs is not installed."""
    if importlib.util.find_spec(module) is None:
        message = f"the check {check} needs {module}, which is not installed"
        raise NotAvailableError(message, hint=f'pip install "git-evalgate[{extra}]"')
