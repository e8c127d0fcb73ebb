"""Mutants: the solution with one small slip in a line that it adds.

Tests that let such a slip pass do not hold an agent to the solution. Not every mutant is wrong
(some do the same by other words), so a survivor is something to look at, and no disproof.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from evalgate.core.claim import split_lines
from evalgate.core.files import File, FileMode, Tree
from evalgate.core.python_text import compiles, tree_of

_FLIPPED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_SWAPPED: Final[dict[type[ast.operator], ast.operator]] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.FloorDiv(),
    ast.Div: ast.Mult(),
    ast.FloorDiv: ast.Mult(),
    ast.Mod: ast.FloorDiv(),
}
_REMOVED: Final = (ast.Assign, ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Expr)
#: In other languages: words and signs that stand alone, and what takes their place.
_WORDS: Final = (
    (re.compile(r"=="), "!="),
    (re.compile(r"!="), "=="),
    (re.compile(r"<="), "<"),
    (re.compile(r">="), ">"),
    (re.compile(r"&&"), "||"),
    (re.compile(r"\btrue\b"), "false"),
    (re.compile(r"\bfalse\b"), "true"),
    (re.compile(r"(?<![\w.])\d+(?![\w.])"), "97"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One changed file: what was changed in it where, and its new content."""

    path: str
    said: str
    file: File


def mutants_of(before: Tree, after: Tree, *, most: int) -> tuple[Mutant, ...]:
    """Return up to ``most`` mutants of what ``after`` adds, spread evenly over all there are."""
    found = [
        mutant
        for path in sorted(after)
        if before.get(path) != after[path] and after[path].mode is not FileMode.SYMLINK
        for mutant in _of_file(path, before.get(path), after[path])
    ]
    unique = list({(one.path, one.file.data): one for one in found}.values())
    if len(unique) <= most:
        return tuple(unique)
    return tuple(unique[at * len(unique) // most] for at in range(most))


def _of_file(path: str, before: File | None, after: File) -> Iterator[Mutant]:
    try:
        old, new = (before.data.decode() if before else ""), after.data.decode()
    except UnicodeDecodeError:
        return
    added = _added(split_lines(old), split_lines(new))
    edits = _of_python(new, added) if path.endswith(".py") else _of_text(new, added)
    for line, said, text in edits:
        data = text.encode()
        if data != after.data:
            where = f"{path}:{line}: {said}"
            yield Mutant(path=path, said=where, file=replace(after, data=data))


def _added(old: list[str], new: list[str]) -> frozenset[int]:
    """Return the numbers of the lines that are new, from 1."""
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    return frozenset(
        line + 1
        for tag, _, _, start, end in matcher.get_opcodes()
        if tag in {"replace", "insert"}
        for line in range(start, end)
    )


def _of_python(text: str, added: frozenset[int]) -> Iterator[tuple[int, str, str]]:
    tree = tree_of(text)
    if tree is None:
        return
    documents = {id(node) for node in _documents(tree)}
    data, starts = text.encode(), _starts(text)
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt | ast.expr) or id(node) in documents:
            continue
        if node.lineno not in added:
            continue
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        for said, replacement in _slips(node):
            slipped = (data[:start] + replacement.encode() + data[end:]).decode()
            if compiles(slipped):
                yield node.lineno, said, slipped


def _starts(text: str) -> list[int]:
    """Return where each line begins, in bytes, as `ast` counts lines."""
    places = [0]
    for line in text.encode().splitlines(keepends=True):
        places.append(places[-1] + len(line))
    return places


def _documents(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield docstrings, with the statement that each is: they do nothing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node
            yield node.value


def _slips(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield what is changed in a node, and its text with that change."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        flipped = _FLIPPED[type(node.ops[0])]()
        other = ast.Compare(left=node.left, ops=[flipped], comparators=node.comparators)
        yield "comparison flipped", _text(other)
    elif isinstance(node, ast.BoolOp):
        swapped = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and / or swapped", _text(ast.BoolOp(op=swapped, values=node.values))
    elif isinstance(node, ast.BinOp) and type(node.op) in _SWAPPED:
        other_op = _SWAPPED[type(node.op)]
        yield "operator swapped", _text(ast.BinOp(left=node.left, op=other_op, right=node.right))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not removed", _text(node.operand)
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node)
    elif isinstance(node, ast.Return) and node.value is not None:
        if not (isinstance(node.value, ast.Constant) and node.value.value is None):
            yield "nothing returned", "return None"
    elif isinstance(node, _REMOVED):
        yield "line removed", "pass"


def _other_constants(node: ast.Constant) -> Iterator[tuple[str, str]]:
    if isinstance(node.value, bool):
        yield "constant changed", repr(not node.value)
    elif isinstance(node.value, int | float):
        yield "constant changed", f"({node.value!r} + 1)"
    elif isinstance(node.value, str) and node.value:
        yield "text emptied", '""'


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(node))})"


def _of_text(text: str, added: frozenset[int]) -> Iterator[tuple[int, str, str]]:
    lines = split_lines(text)
    for number in sorted(added):
        line = lines[number - 1]
        if not line.strip():
            continue
        around = lines[: number - 1], lines[number:]
        yield number, "line removed", "".join((*around[0], *around[1]))
        for pattern, word in _WORDS:
            other = pattern.sub(word, line, count=1)
            if other != line:
                said = f"{pattern.search(line)[0]} made {word}"  # type: ignore[index]
                yield number, said, "".join((*around[0], other, *around[1]))
