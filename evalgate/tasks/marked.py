"""Texts of other formats as tables whose readers know the line of every key: JSON, YAML, Python.

All of them come from strangers. What is no such text, repeats a key, or holds what no file could
hold is a UsageError with file and line.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from evalgate.core.schema import Reader, Source
from evalgate.errors import UsageError

#: What a key is found by: the keys that lead to it, and its place in the list it stands in.
Key = tuple[tuple[str, ...], int]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_NOT_JSON = (ValueError, RecursionError)
_LONGEST: Final = 4 << 20
_DEEPEST: Final = 50
_LITERAL: Final = 'a task is a table of literals: {"id": …} or Task(id=…); nothing is executed'


@dataclass(frozen=True, slots=True)
class Marked(Source):
    """A text, the lines of its keys, and the line on which it begins in its file."""

    lines: Mapping[Key, int] = field(default_factory=dict)
    start: int = 1

    def place(self, path: Sequence[str], *, nth: int = 0) -> str:
        """Return ``file:line`` of a key; of a missing one, the line of what it belongs to."""
        for length in range(len(path), 0, -1):
            line = self.lines.get((tuple(path[:length]), nth))
            line = line or self.lines.get((tuple(path[:length]), 0))
            if line is not None:
                return f"{self.name}:{self.start + line - 1}"
        return f"{self.name}:{self.start}"


def json_readers(name: str, data: bytes) -> list[Reader]:
    """Read a JSON object, or a list of them; a file ``.jsonl`` has one on each line."""
    text = _text(name, data)
    if name.endswith(".jsonl"):
        rows = [(number, row) for number, row in enumerate(text.split("\n"), 1) if row.strip()]
    elif text.lstrip().startswith("["):
        rows = list(_items(name, text))
    else:
        rows = [(1, text)]
    return [_json_reader(name, row, start) for start, row in rows]


def yaml_reader(name: str, data: bytes) -> Reader:
    """Read a YAML mapping; anchors and aliases, which can make a small text huge, are refused."""
    text = _text(name, data)
    lines: dict[Key, int] = {}
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        value = None if node is None else _Walk(name, loader, lines).value(node, (), 0)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = name if mark is None else f"{name}:{mark.line + 1}"
        message = f"{place}: {error.problem or error.context or 'no YAML'}"
        raise UsageError(message, hint="the file is not valid YAML") from error
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        message = f"{name}: {_first_line(error)}"
        raise UsageError(message, hint="the file is not valid YAML") from error
    return _sound(value, Marked(name, text, lines))


def python_readers(name: str, data: bytes) -> list[Reader]:
    """Read the tables in the lists that a Python file assigns to names; nothing is executed.

    A table is a literal: ``{"id": …}``, or the keyword arguments of a call, ``Task(id=…)``.
    """
    text = _text(name, data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python will refuse one day
            module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        message = f"{name}{f':{line}' if line else ''}: {_first_line(error)}"
        raise UsageError(message, hint="the file is not valid Python") from error
    readers: list[Reader] = []
    for node in module.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.List):
            readers += [_python_reader(name, one) for one in node.value.elts]
    return readers


def _text(name: str, data: bytes) -> str:
    if len(data) > _LONGEST and not name.endswith((".json", ".jsonl")):
        raise UsageError(f"{name}: is larger than {_LONGEST >> 20} MiB", hint="divide the file")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: {error}", hint="write the file in UTF-8") from error


def _json_reader(name: str, text: str, start: int) -> Reader:
    try:
        value = _DECODER.decode(text)
    except _NOT_JSON as error:
        line = start + getattr(error, "lineno", 1) - 1
        message = f"{name}:{line}: {_first_line(error)}"
        raise UsageError(message, hint="the file is not valid JSON") from error
    return _sound(value, Marked(name, text, _json_lines(text), start))


def _items(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Divide a list into the texts of its items, with the line on which each begins."""
    place, line = text.index("[") + 1, text[: text.index("[")].count("\n") + 1
    last = text.rstrip()
    if not last.endswith("]"):
        message = f"{name}: the list has no end"
        raise UsageError(message, hint="the file is not valid JSON")
    while True:
        while place < len(text) and text[place] in " \t\r\n,":
            line, place = line + (text[place] == "\n"), place + 1
        if place >= len(last) - 1:
            return
        try:
            _, end = _DECODER.raw_decode(text, place)
        except _NOT_JSON as error:
            message = f"{name}:{line}: {_first_line(error)}"
            raise UsageError(message, hint="the file is not valid JSON") from error
        yield line, text[place:end]
        line, place = line + text.count("\n", place, end), end


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, _ in pairs if sum(key == one for one, _ in pairs) > 1)
        raise ValueError(f"the key {twice[:40]!r} stands there twice")
    return found


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_no_number)


def _json_lines(text: str) -> dict[Key, int]:
    """Return the lines of all keys of a text that is JSON."""
    lines: dict[Key, int] = {}
    stack: list[tuple[str, tuple[str, ...], int]] = []  # kind, the way to it, place in its list
    way: tuple[str, ...] = ()
    nth, line, last, awaits = 0, 1, 0, False
    for token in _TOKEN.finditer(text):
        line, last = line + text.count("\n", last, token.start()), token.start()
        word = token[0]
        if word in "{[":
            stack.append((word, way, nth))
            awaits = word == "{"
            nth = 0 if word == "[" else nth
        elif word in "}]":
            _, way, nth = stack.pop()
            awaits = False
        elif word == "," and stack[-1][0] == "[":
            nth += 1
        elif word == ",":
            way, awaits = stack[-1][1], True
        elif awaits:
            way, awaits = (*stack[-1][1], json.loads(word, strict=False)), False
            lines.setdefault((way, nth), line)
    return lines


class _Loader(yaml.SafeLoader):  # type: ignore[misc] # PyYAML says no types
    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            problem = "anchors and aliases are not read"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
        return super().compose_node(parent, index)


@dataclass(frozen=True, slots=True)
class _Walk:
    """Makes plain values of the nodes of a YAML text, and notes the lines of its keys."""

    name: str
    loader: _Loader
    lines: dict[Key, int]

    def value(self, node: Any, way: tuple[str, ...], nth: int) -> Any:
        if isinstance(node, yaml.MappingNode):
            return self._table(node, way, nth)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(one, way, n) for n, one in enumerate(node.value)]
        value = self.loader.construct_object(node)
        # A day or bytes is a text here, as in every other format.
        return value if isinstance(value, str | int | float | None) else str(node.value)

    def _table(self, node: Any, way: tuple[str, ...], nth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, one in node.value:
            key, line = str(key_node.value), key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode) or key in found:
                message = f"{self.name}:{line}: the key {key[:40]!r} is none, or stands there twice"
                raise UsageError(message, hint="give every key one value")
            self.lines.setdefault(((*way, key), nth), line)
            found[key] = self.value(one, (*way, key), nth)
        return found


def _python_reader(name: str, node: ast.expr) -> Reader:
    lines: dict[Key, int] = {}
    found: dict[str, Any] = {}
    for key, line, value in _python_pairs(node):
        place = f"{name}:{line}"
        if key is None or key in found:
            raise UsageError(f"{place}: {key!r} is no key, or stands there twice", hint=_LITERAL)
        try:
            found[key] = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
            raise UsageError(f"{place}: {key}: is no literal", hint=_LITERAL) from error
        lines[((key,), 0)] = line - node.lineno + 1
    if not found:
        raise UsageError(f"{name}:{node.lineno}: is no task", hint=_LITERAL)
    return _sound(found, Marked(name, "", lines, node.lineno))


def _python_pairs(node: ast.expr) -> Iterator[tuple[str | None, int, ast.expr]]:
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            word = key.value if isinstance(key, ast.Constant) else None
            yield word if isinstance(word, str) else None, value.lineno, value
    elif isinstance(node, ast.Call) and not node.args:
        for keyword in node.keywords:
            yield keyword.arg, keyword.value.lineno, keyword.value


def _sound(value: Any, source: Marked) -> Reader:
    """Return a table's reader; refuse what is none, is too deep, or holds what no file can."""
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        inner: list[Any] = []
        if isinstance(one, Mapping):
            inner = [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            inner = [*one]
        elif isinstance(one, str) and ("\0" in one or not _encodes(one)):
            message = f"{source.place(())}: a text holds a character that no file can hold"
            raise UsageError(message, hint="take NUL and lone surrogates out")
        if depth > _DEEPEST:
            raise UsageError(f"{source.place(())}: is nested too deeply", hint="make it simpler")
        waiting += [(each, depth + 1) for each in inner]
    return Reader(value, source)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _first_line(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    return str(error).partition("\n")[0] or type(error).__name__
