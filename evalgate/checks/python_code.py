"""Checks on Python sources: what they define, call, repeat, or leave out."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import Any, ClassVar

from evalgate.checks.apart import look
from evalgate.checks.findings import PASSED, failed
from evalgate.checks.origin import read_path
from evalgate.checks.programs.python_code import signature_of
from evalgate.core.files import FileMode, Tree
from evalgate.core.json import JsonObject
from evalgate.core.observation import Observation
from evalgate.core.schema import Reader
from evalgate.protocols import Finding

_KINDS = ("definition", "function", "class")
_LEAST_STATEMENTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonDefines:
    """The file defines a function or class, with this signature if one is given.

    Example: ``{type = "python_defines", path = "a.py", name = "C.get", signature = "self, key"}``.
    """

    version: ClassVar[int] = 1
    path: str
    name: str
    kind: str
    signature: str
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> PythonDefines:
        """Read ``path``, ``name`` with dots, ``kind`` (function, class) and ``signature``.

        A signature holds names, kinds and defaults; annotations count where it has some. That of
        a class is of its ``__init__``.
        """
        signature = params.text("signature", "")
        try:
            signature_of(signature)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            problem = f"{signature[:60]!r} is no signature such as 'self, key, default=None'"
            raise params.error(problem, "signature") from error
        return cls(
            path=read_path(params),
            name=_name(params, "name"),
            kind=params.choice("kind", "definition", _KINDS),
            signature=signature,
        )

    def examine(self, seen: Observation) -> Finding:
        """Pass when it is defined, also below an ``if``."""
        text = _source(seen, self.path)
        if isinstance(text, Finding):
            return text
        problem = _look(
            "defines", text=text, name=self.name, kind=self.kind, signature=self.signature
        )
        return failed(f"{self.path} {problem}") if problem else PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonCalls:
    """The file calls a function or, with ``count``, so many times; ``caller`` is from where.

    Example: ``{type = "python_calls", path = "a.py", name = "clamp", caller = "pages"}``.
    """

    version: ClassVar[int] = 1
    path: str
    name: str
    caller: str
    count: int | None
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> PythonCalls:
        """Read ``path``, ``name``, ``caller`` (all of the file) and ``count`` (0: not at all)."""
        return cls(
            path=read_path(params),
            name=_name(params, "name"),
            caller=_name(params, "caller") if params.has("caller") else params.text("caller", ""),
            count=params.some_integer("count"),
        )

    def examine(self, seen: Observation) -> Finding:
        """Pass when it is called; ``os.path.join`` is a call of ``join`` and of ``path.join``."""
        text = _source(seen, self.path)
        if isinstance(text, Finding):
            return text
        count = _look("calls", text=text, name=self.name, caller=self.caller)
        if isinstance(count, str):
            return failed(f"{self.path} {count}")
        if count == self.count or (count and self.count is None):
            return PASSED
        where = f" from {self.caller}" if self.caller else ""
        wanted = "" if self.count is None else f", not {self.count}"
        return failed(f"{self.path} calls {self.name}{where} {count} times{wanted}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoDuplicatedBlock:
    """No run of statements that was not there twice before is there twice now, in Python files.

    Example: ``{type = "no_duplicated_block", statements = 5}``.
    """

    version: ClassVar[int] = 1
    statements: int
    files: str
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> NoDuplicatedBlock:
        """Read ``statements`` (6) and ``files``, a glob of paths (``*.py``)."""
        least = _LEAST_STATEMENTS
        return cls(
            statements=params.integer("statements", 6, low=least),
            files=params.text("files", "*.py"),
        )

    def examine(self, seen: Observation) -> Finding:
        """Pass when nothing was copied; layout and comments do not count, nor do imports."""
        if not any(fnmatch.fnmatchcase(path, self.files) for path in seen.claim.changed):
            return PASSED
        before, after = (
            {
                path: text
                for path, text in _texts(tree).items()
                if fnmatch.fnmatchcase(path, self.files)
            }
            for tree in (seen.task.workspace, seen.workspace)
        )
        found = _look("duplicates", before=before, after=after, lines=self.statements)
        if isinstance(found, str):
            return failed(f"a file {found}")
        if not found:
            return PASSED
        return failed(f"{self.statements} statements of {found[0]} are at {found[-1]} again")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoPlaceholderComments:
    """No new comment stands in the place of code, such as a bare TODO, in Python files.

    Example: ``{type = "no_placeholder_comments"}``.
    """

    version: ClassVar[int] = 1
    files: str
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> NoPlaceholderComments:
        """Read ``files``, a glob of paths (``*.py``)."""
        return cls(files=params.text("files", "*.py"))

    def examine(self, seen: Observation) -> Finding:
        """Pass when no file that the agent wrote has one that it had not before."""
        after = _texts(
            {
                p: file
                for p, file in seen.claim.changed.items()
                if fnmatch.fnmatchcase(p, self.files)
            }
        )
        before = _texts({p: file for p, file in seen.task.workspace.items() if p in after})
        found = _look("placeholders", before=before, after=after)
        if isinstance(found, str):
            return failed(f"a file {found}")
        return (
            failed(f"a comment in the place of code: {', '.join(found[:3])}") if found else PASSED
        )


def _name(params: Reader, key: str) -> str:
    name = params.text(key)
    if not all(piece.isidentifier() for piece in name.split(".")):
        raise params.error(f"{name!r} is no name of Python's", key)
    return name


def _source(seen: Observation, path: str) -> str | Finding:
    file = seen.workspace.get(path)
    return (
        failed(f"{path} does not exist") if file is None else file.data.decode("utf-8", "replace")
    )


def _texts(tree: Tree) -> dict[str, str]:
    return {
        path: file.data.decode("utf-8", "replace")
        for path, file in tree.items()
        if file.mode is not FileMode.SYMLINK
    }


def _look(what: str, **given: Any) -> Any:
    """Return what the look answers; a text is what is wrong with the file."""
    asked: JsonObject = {"look": what, **given}
    found = look("python_code", asked, doing="reading the source")
    return found["problem"] if isinstance(found, dict) else found
