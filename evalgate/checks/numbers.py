"""Numbers as agents and programs write them: a sign, thousands, a fraction, an exponent."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Final

#: What stands between thousands: a comma, an apostrophe of either form, an underscore, and blanks
#: at which no line is broken.
BETWEEN: Final = ",'\u2019_\u00a0\u2007\u2009\u202f"
#: Signs that are a minus beside the hyphen: of mathematics, small and wide, and the en dash.
_MINUSES: Final = "−﹣－–"  # noqa: RUF001 - they are meant
_MONEY: Final = "$€£¥"
_AS_HYPHEN: Final = str.maketrans(dict.fromkeys(_MINUSES, "-"))
#: All that hangs together as one number does, whether it is a sound one or not.
_RUN: Final = re.compile(
    rf"(?:(?<![\w.)])[-+])?[{_MONEY}]?(?<![\w.])"
    rf"(?:0[xXoObB]\w+|(?:\.?\d+(?:[./:{BETWEEN}]\d+| 0\d\d\b)*)(?:[eE][-+]?\d+)?[²³¹⁰⁴-⁹¼-¾]?)"
)
_SOUND: Final = re.compile(
    rf"([-+]?)[{_MONEY}]?"
    rf"((?:[1-9]\d{{0,2}}(?:([{BETWEEN}])\d{{3}})(?:\3\d{{3}})*|\d+)(?:\.\d+)?|\.\d+)"
    r"((?:[eE][-+]?\d+)?)"
)
_NO_DIGITS: Final = re.compile(rf"[{BETWEEN}]")
#: How far two numbers may lie apart by what a computer rounds, unless both are whole.
_ROUNDING: Final = Decimal("1e-12")


def with_hyphens(text: str) -> str:
    """Return the text with a hyphen for every minus."""
    return text.translate(_AS_HYPHEN)


def last_number(text: str) -> Decimal | None:
    """Return the last number in a text; None where it is none, or might be another.

    ``1,00`` might be one or a hundred, and ``1.000,5``, ``7/8`` or ``1 000`` are not clear either:
    nobody guesses.
    """
    found = _RUN.findall(with_hyphens(text))
    return number_of(found[-1]) if found else None


def number_of(text: str) -> Decimal | None:
    """Return the finite number that a text is."""
    sound = _SOUND.fullmatch(with_hyphens(text.strip()))
    if sound is None:
        return None
    sign, digits, _, exponent = sound.groups()
    plain = f"{sign}{_NO_DIGITS.sub('', digits)}{exponent}"
    try:
        return Decimal(plain) if math.isfinite(float(plain)) else None
    except (ValueError, ArithmeticError):
        return None


def is_about(got: Decimal, wanted: Decimal, *, tolerance: float) -> bool:
    """Tell whether two numbers are the same, within an absolute tolerance."""
    whole = all(one == one.to_integral_value() for one in (got, wanted))
    rounding = Decimal(0) if whole else _ROUNDING * max(abs(got), abs(wanted))
    return got == wanted or abs(got - wanted) <= max(Decimal(str(tolerance)), rounding)
