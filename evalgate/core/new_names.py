"""The names that a change brings into a program: who is told one, is told of the solution."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from evalgate.core.files import Tree
from evalgate.core.giveaways import new_lines
from evalgate.core.python_text import tree_of

_WORD: Final = re.compile(r"[^\W\d]\w{2,}")


def new_names(before: Tree, sources: Tree) -> frozenset[str]:
    """Return what the sources define and no file said before, as a word of its own.

    Functions, classes, parameters, attributes and the names of modules and classes; a variable
    within a function is nobody's business.
    """
    defined = {
        name
        for path, file in sources.items()
        if path.endswith(".py")
        for name in _defined(file.data.decode("utf-8", "replace"))
    }
    # A name of two letters gives nothing away.
    return frozenset(filter(_WORD.fullmatch, defined - words_of(before)))


def names_in_new_lines(names: frozenset[str], before: Tree, after: Tree) -> frozenset[str]:
    """Return which of the names stand in lines that are new."""
    said = {word for _, line in new_lines(before, after) for word in _WORD.findall(line)}
    return names & said


def words_of(files: Tree) -> frozenset[str]:
    """Return every word of three letters or more in some files."""
    return frozenset(
        word
        for file in files.values()
        for word in _WORD.findall(file.data.decode("utf-8", "replace"))
    )


def _defined(text: str) -> Iterator[str]:
    tree = tree_of(text)
    if tree is None:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        if isinstance(node, ast.Module | ast.ClassDef):
            yield from _stored(node)


def _stored(block: ast.Module | ast.ClassDef) -> Iterator[str]:
    for statement in block.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        yield from (target.id for target in targets if isinstance(target, ast.Name))
