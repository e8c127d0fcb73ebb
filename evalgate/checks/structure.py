"""The check that a source has, or has not, a structure: by ast-grep, for many languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from evalgate.checks.apart import look
from evalgate.checks.findings import PASSED, failed
from evalgate.checks.json_schema import require
from evalgate.checks.origin import read_path
from evalgate.core.observation import Observation
from evalgate.core.schema import Reader
from evalgate.protocols import Finding

#: A language that it does not know is a panic in ast-grep, so they are known here.
LANGUAGES: Final = (
    "bash", "c", "cpp", "csharp", "css", "go", "html", "java", "javascript", "json", "kotlin",
    "lua", "php", "python", "ruby", "rust", "scala", "swift", "tsx", "typescript", "yaml",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """A pattern of ast-grep matches in the file, or ``count`` times; needs the extra ``ast-grep``.

    Example: ``{type = "structure", path = "a.py", language = "python", pattern = "open($A)"}``.
    """

    version: ClassVar[int] = 1
    path: str
    language: str
    pattern: str
    count: int | None
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> Structure:
        """Read ``path``, ``language``, ``pattern`` and ``count`` (0: it must not be there).

        NotAvailableError when the extra is not installed.
        """
        require("ast_grep_py", extra="ast-grep", check="structure")
        language = params.choice("language", "", LANGUAGES)
        pattern = params.text("pattern")
        if not pattern.strip():
            raise params.error("must not be empty", "pattern")
        path, count = read_path(params), params.some_integer("count")
        return cls(path=path, language=language, pattern=pattern, count=count)

    def examine(self, seen: Observation) -> Finding:
        """Pass when it matches somewhere, or as often as is asked for."""
        file = seen.workspace.get(self.path)
        if file is None:
            return failed(f"{self.path} does not exist")
        text = file.data.decode("utf-8", "replace")
        given = {"text": text, "language": self.language, "pattern": self.pattern}
        count = int(look("structure", given, doing="the search for a structure"))
        if count == self.count or (count and self.count is None):
            return PASSED
        wanted = "" if self.count is None else f", not {self.count}"
        return failed(f"{self.path} holds the structure {self.pattern!r} {count} times{wanted}")
