"""Looks at Python sources without running them; what is no Python is named by its line."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_MARK = r"(?:todo|fixme|xxx|hack)\b[ :-]*"
_VERB = r"(?:implement|add|insert|put|write|fill in|finish|complete)"
_TAIL = (
    r"(?: ?(?:this|it|me|your|the|some|more|code|logic|implementation|function|method|here|later))"
)
#: What a comment says that stands in the place of code, without its signs, in small letters.
_PLACEHOLDER = re.compile(
    rf"{_MARK}(?:{_VERB})?{_TAIL}*|{_VERB}{_TAIL}+"
    r"|(?:your |the )?(?:code|logic|implementation) (?:goes |comes )?here|implementation"
    r"|(?:the )?(?:rest|remainder) of (?:the |this |your )?\w+(?: .*)?|placeholder\b.*"
    r"|(?:existing|previous|remaining|other) (?:code|logic|methods?|functions?)(?: .*)?"
    r"|(?:same |unchanged )?as before|unchanged"
)
_SIGNS = " #.!…:-"


def main(given: dict[str, Any]) -> Any:
    """Do one of the looks below; a dict with ``problem`` says that a source is no Python."""
    try:
        return _LOOKS[given.pop("look")](**given)
    except (SyntaxError, ValueError, tokenize.TokenError) as error:
        line = getattr(error, "lineno", None)
        return {"problem": "is no Python" + (f" (line {line})" if line else "")}


def defines(text: str, name: str, kind: str, signature: str) -> str:
    """Say how ``text`` lacks the definition, or nothing."""
    found = list(_named(ast.parse(text), name.split(".")))
    kinds = {"function": _FUNCTIONS, "class": (ast.ClassDef,)}.get(kind, _DEFINITIONS)
    fitting = [one for one in found if isinstance(one, kinds)]
    if not fitting:
        return f"does not define the {kind} {name}"
    if signature:
        wanted = signature_of(signature)
        if not any(_fits(one, wanted) for one in fitting):
            return f"defines {name} with another signature than {signature}"
    return ""


def signature_of(text: str) -> ast.FunctionDef:
    """Return the parameters ``a, b=1``, or ``(a, b=1) -> int`` with a result, as a function."""
    head = text.strip() if text.strip().startswith("(") else f"({text})"
    functions = [
        one for one in ast.parse(f"def f{head}: pass").body if type(one) is ast.FunctionDef
    ]
    (function,) = functions
    return function


def calls(text: str, name: str, caller: str) -> int:
    """Count the calls of ``name``, in all of it or in the definition ``caller``."""
    tree = ast.parse(text)
    places = list(_named(tree, caller.split("."))) if caller else [tree]
    found = (node for place in places for node in ast.walk(place) if isinstance(node, ast.Call))
    called = [_dotted(node.func) for node in found]
    return sum(one == name or one.endswith(f".{name}") for one in called)


def duplicates(before: dict[str, str], after: dict[str, str], lines: int) -> list[str]:
    """Name the two places of the first block that is new and there twice, as path and line."""
    old = _blocks(before, lines, strict=False)
    for block, places in _blocks(after, lines, strict=True).items():
        if len(places) > max(1, len(old.get(block, []))):
            return [f"{path}:{line}" for path, line, _ in places[:2]]
    return []


def placeholders(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Name the places of new comments that stand in the place of code, as path and line."""
    found = []
    for path, text in after.items():
        known = Counter(comment for _, comment in _comments(before.get(path, "")))
        for line, comment in _comments(text):
            known[comment] -= 1
            if known[comment] < 0 and _stands_for_code(comment):
                found.append(f"{path}:{line}")
    return found


def _stands_for_code(comment: str) -> bool:
    said = comment.strip(_SIGNS).lower()
    if not said:
        return "..." in comment or "…" in comment
    return _PLACEHOLDER.fullmatch(said) is not None


def _named(node: ast.AST, names: list[str]) -> Iterator[ast.AST]:
    """Find definitions by their dotted name, also below an ``if`` or a ``try``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _DEFINITIONS):
            if child.name == names[0]:
                if len(names) == 1:
                    yield child
                else:
                    yield from _named(child, names[1:])
        elif not isinstance(child, ast.expr):
            yield from _named(child, names)


def _fits(node: ast.AST, wanted: ast.FunctionDef) -> bool:
    if isinstance(node, ast.ClassDef):
        node = next(_named(node, ["__init__"]), node)
    if not isinstance(node, _FUNCTIONS):
        return False
    if wanted.returns and (not node.returns or _said(node.returns) != _said(wanted.returns)):
        return False
    asked, given = _parameters(wanted.args), _parameters(node.args)
    return len(asked) == len(given) and all(
        mine[:3] == theirs[:3] and theirs[3] in {"", mine[3]}
        for mine, theirs in zip(given, asked, strict=True)
    )


def _parameters(args: ast.arguments) -> list[tuple[str, str, str, str]]:
    """Return kind, name, default and annotation of each parameter."""
    plain = [*(("/", one) for one in args.posonlyargs), *(("", one) for one in args.args)]
    absent = [None] * (len(plain) - len(args.defaults))
    listed: list[tuple[str, ast.arg | None, ast.expr | None]] = [
        (kind, one, default)
        for (kind, one), default in zip(plain, [*absent, *args.defaults], strict=True)
    ]
    listed.append(("*", args.vararg, None))
    listed += [("kw", one, d) for one, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    listed.append(("**", args.kwarg, None))
    return [(k, one.arg, _said(d), _said(one.annotation)) for k, one, d in listed if one]


def _said(node: ast.expr | None) -> str:
    return "" if node is None else ast.unparse(node)


def _dotted(node: ast.expr) -> str:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id if isinstance(node, ast.Name) else "", *reversed(names)])


def _blocks(
    sources: dict[str, str], lines: int, *, strict: bool
) -> dict[tuple[str, ...], list[tuple[str, int, int]]]:
    """Return the places of each run of lines of code; comments and layout do not count."""
    found: dict[tuple[str, ...], list[tuple[str, int, int]]] = defaultdict(list)
    for path, text in sources.items():
        try:
            numbered = list(_statements(ast.parse(text).body))
        except (SyntaxError, ValueError):
            if strict:
                raise
            continue
        for at in range(len(numbered) - lines + 1):
            window = numbered[at : at + lines]
            places = found[tuple(code for _, code in window)]
            # A block that overlaps with itself is one place, as in a long list.
            first, last = window[0][0], window[-1][0]
            if not places or places[-1][0] != path or places[-1][2] < first:
                places.append((path, first, last))
    return found


def _statements(body: list[ast.stmt]) -> Iterator[tuple[int, str]]:
    """Return each statement with its line; a body follows its head, and imports do not count."""
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        inner = [
            block
            for name in ("body", "orelse", "finalbody")
            if isinstance(block := getattr(statement, name, None), list)
        ]
        inner += [handler.body for handler in getattr(statement, "handlers", [])]
        inner += [case.body for case in getattr(statement, "cases", [])]
        head = ast.unparse(statement).partition("\n")[0] if inner else ast.unparse(statement)
        yield statement.lineno, head
        for block in inner:
            yield from _statements(block)


def _comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


_LOOKS: dict[str, Callable[..., Any]] = {
    "calls": calls,
    "defines": defines,
    "duplicates": duplicates,
    "placeholders": placeholders,
}
