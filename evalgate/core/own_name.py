"""How a task names a check of its project's own: package.module:function."""

from __future__ import annotations

import re
from keyword import iskeyword
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def is_own_name(name: str) -> bool:
    """Tell whether a type of check names a function."""
    parts = [*name.partition(":")[0].split("."), name.partition(":")[2]]
    return all(_NAME.fullmatch(part) and not iskeyword(part) for part in parts)


def problem_of_own_name(name: str) -> str:
    """Say what keeps a type of check from naming a function, and what would; nothing if it does."""
    if is_own_name(name):
        return ""
    module, colon, function = name.partition(":")
    meant = _meant(module, function)
    if not colon or ":" in function:
        return f"needs one colon, between module and function{meant}"
    if "/" in module or "\\" in module:
        return f"names a module by dots and without .py, as an import does{meant}"
    parts = [*module.split("."), function]
    if "" in parts:
        return "has an empty part: package.module:function"
    odd = next(one for one in parts if not _NAME.fullmatch(one) or iskeyword(one))
    return f"has a part that is no name in Python: {odd[:80]!r}"


def _meant(module: str, function: str) -> str:
    """Return the name that was probably meant, with words before it; or nothing."""
    path = module.replace("\\", "/").removesuffix(".py").strip("/").removeprefix("tasks/")
    dotted = re.sub(r"[/:]+", ".", path)
    if not function:
        dotted, _, function = dotted.rpartition(".")
    guess = f"{dotted}:{function.replace(':', '.').rpartition('.')[2]}"
    return f"; {guess!r}?" if dotted and is_own_name(guess) else ""
