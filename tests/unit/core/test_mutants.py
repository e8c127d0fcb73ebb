"""Slips in the lines that a solution adds, and in no others."""

from __future__ import annotations

import pytest

from evalgate.core.files import File
from evalgate.core.mutants import mutants_of

KEPT = "def kept(a):\n    return a > 0\n\n\n"


def slips(before: str, after: str, *, path: str = "a.py", most: int = 100) -> list[tuple[str, str]]:
    found = mutants_of(
        {path: File(data=before.encode())}, {path: File(data=after.encode())}, most=most
    )
    return [(one.said.partition(": ")[2], one.file.data.decode()) for one in found]


@pytest.mark.parametrize(
    ("line", "said", "slipped"),
    [
        ("x = a < b", "comparison flipped", "x = (a >= b)"),
        ("x = a is b", "comparison flipped", "x = (a is not b)"),
        ("x = a in b", "comparison flipped", "x = (a not in b)"),
        ("x = a and b", "and / or swapped", "x = (a or b)"),
        ("x = a + b", "operator swapped", "x = (a - b)"),
        ("x = not a", "not removed", "x = (a)"),
        ("x = 3", "constant changed", "x = (3 + 1)"),
        ("x = True", "constant changed", "x = False"),
        ("x = 'é'", "text emptied", 'x = ""'),
        ("x = f(a)", "line removed", "pass"),
        ("return a", "nothing returned", "return None"),
        ("raise ValueError", "line removed", "pass"),
        ("f(lambda c: c, d=None, *e)", "line removed", "pass"),
    ],
)
def test_each_kind_of_slip(line: str, said: str, slipped: str) -> None:
    """Every kind is made, where the line stands."""
    body = "def f(a, b):\n    "
    assert (said, f"{KEPT}{body}{slipped}\n") in slips(KEPT, f"{KEPT}{body}{line}\n")


def test_only_what_is_new() -> None:
    """A line that was there before, a docstring and a comment are left alone."""
    assert slips(KEPT, f'{KEPT}# words\n"""Words."""\n') == []
    assert slips(KEPT, KEPT) == []


def test_bounded_and_spread() -> None:
    """Of many slips as many are taken as are asked for, from first to last."""
    lines = "".join(f"x{n} = {n}\n" for n in range(50))
    found = slips("", lines, most=5)
    assert len(found) == 5
    assert len(slips("", lines)) > 50
    assert slips("", lines, most=0) == []


def test_other_languages() -> None:
    """Without a grammar a line is removed, or a sign in it changed."""
    assert slips("", "if (a == 3) {\n}\n", path="a.js")[:3] == [
        ("line removed", "}\n"),
        ("== made !=", "if (a != 3) {\n}\n"),
        ("3 made 97", "if (a == 97) {\n}\n"),
    ]


@pytest.mark.parametrize("text", ["def (", "\x00", "x = 'é" + "'"])
def test_what_is_no_python(text: str) -> None:
    """What can not be read gives nothing, and no error."""
    assert all(said for said, _ in slips("", text))


def test_bytes_that_are_no_text() -> None:
    """A file that is no UTF-8 has no lines."""
    assert mutants_of({}, {"a.py": File(data=b"\xff = 1\n")}, most=9) == ()
