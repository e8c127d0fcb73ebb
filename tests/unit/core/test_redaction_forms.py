"""A known value is found in every form in which programs write it."""

from __future__ import annotations

import base64
import html
import json
import string
import textwrap
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.redaction import Redactor

LABEL = "<secret:TOKEN>"

#: What no program escapes.
PLAIN = string.ascii_letters + string.digits + "-._"

VALUES = {
    "plain": "hunter2hunter2",
    "long": "tok-5f2c9a7e_41d8B0c6-93aeF1d7b2",
    "short": "k1+/ab\"'",
    "odd": "p@ss/w\"rd +é\\'<&>北😀1234",
    "cloud": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    "lines": "first line of it\nsecond\tline\r\nthe third one",
    "symbols": "!@#$%^&*()+=",
}


def dumped(text: str, *, ascii_only: bool = True) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


FORMS = {
    "as it is": lambda value: value,
    "json": dumped,
    "json, utf-8": lambda value: dumped(value, ascii_only=False),
    "json, slashes escaped": lambda value: dumped(value).replace("/", "\\/"),
    "json, upper hex": lambda value: "".join(
        c if c in PLAIN else "".join(f"\\u{u.upper()}" for u in units(c)) for c in value
    ),
    "json in json": lambda value: dumped(dumped(value)),
    "json in json in json": lambda value: dumped(dumped(dumped(value))),
    "json in json, utf-8": lambda value: dumped(dumped(value, ascii_only=False), ascii_only=False),
    "percent": lambda value: quote(value, safe=""),
    "percent, lower hex": lambda value: "".join(
        c if c in PLAIN else "".join(f"%{b:02x}" for b in c.encode()) for c in value
    ),
    "percent, slashes kept": quote,
    "percent, as encodeURIComponent": lambda value: quote(value, safe="!'()*~"),
    "percent, twice": lambda value: quote(quote(value, safe=""), safe=""),
    "form": quote_plus,
    "form, in json": lambda value: dumped(quote_plus(value)),
    "html": html.escape,
    "html, numbers": lambda value: "".join(c if c in PLAIN else f"&#{ord(c)};" for c in value),
    "html, hex": lambda value: "".join(c if c in PLAIN else f"&#x{ord(c):x};" for c in value),
    "hex": lambda value: value.encode().hex(),
    "HEX": lambda value: value.encode().hex().upper(),
}


def units(character: str) -> list[str]:
    """Return the units of UTF-16, as hex."""
    written = character.encode("utf-16-be").hex()
    return [written[at : at + 4] for at in range(0, len(written), 4)]


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("form", FORMS)
def test_a_value_is_replaced_in_every_form(name, form):
    """Whole, and nothing around it."""
    redactor = Redactor({"TOKEN": VALUES[name]})
    text = FORMS[form](VALUES[name])
    assert redactor.text(f"before {text} after") == f"before {LABEL} after"
    assert redactor.leaks(text.encode()) == ["TOKEN"]


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("around", ["", "a", "ab", "user:", "é"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_is_found_at_any_offset(name, around, encode):
    """Also percent-encoded, or with slashes escaped."""
    redactor = Redactor({"TOKEN": VALUES[name]})
    text = encode((around + VALUES[name] + around).encode()).decode()
    for written in (text, quote(text, safe=""), text.replace("/", "\\/"), f"Basic {text}"):
        clean = redactor.text(written)
        assert LABEL in clean
        assert redactor.leaks(clean.encode()) == []


@pytest.mark.parametrize("start", range(0, 80, 3))
@pytest.mark.parametrize("end", ["\n", "\r\n", "\\n", "\\r\\n", "\\\\n", "\n    "])
def test_base64_that_is_cut_into_lines_is_found(start, end):
    """As ``base64 .env`` prints it, wherever the line ends fall."""
    secret = VALUES["long"]
    file = ("#" * start + f"\nTOKEN={secret}\n" + "# more of it\n" * 5).encode()
    written = end.join(textwrap.wrap(base64.b64encode(file).decode(), 76))
    redactor = Redactor({"TOKEN": secret})
    assert redactor.leaks(written.encode()) == ["TOKEN"]
    assert LABEL in redactor.text(written)


@pytest.mark.parametrize("tail", ["", "\\", "\\\\", '"', "\n", "\\n", '\\"', "\\\\\\"])
@pytest.mark.parametrize("value", ["ends1234\\", '"begins1234', 'both1234"', "\\x12345678\\"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_json_stays_json_also_next_to_escapes(value, tail, depth):
    """A backslash that belongs to the next character is not taken away."""
    written: object = [tail + value + tail, value]
    for _ in range(depth):
        written = json.dumps(written)
    read: object = Redactor({"TOKEN": value}).text(str(written))
    for _ in range(depth):
        read = json.loads(str(read))
    assert isinstance(read, list)
    assert read[1] == LABEL
    assert value not in read[0]


@given(
    st.text(st.characters(exclude_categories=("C",)), min_size=8, max_size=24),
    st.sampled_from(sorted(FORMS)),
    st.text(max_size=12),
)
def test_any_value_is_found(value, form, around):
    """Whatever its characters; the needles that spare a search overlook nothing."""
    redactor = Redactor({"TOKEN": value})
    data = (around + FORMS[form](value) + around).encode()
    assert "TOKEN" in redactor.leaks(data)
    assert redactor.leaks(redactor.data(data)) == []


def test_forms_of_other_values_stay():
    """A needle alone is no hit."""
    redactor = Redactor({"TOKEN": VALUES["odd"], "OTHER": VALUES["long"]})
    text = (
        'p@ss/w"rd +e 1234, tok-5f2c9a7e_41d8B0c6-93aeF1d7b3, '
        + base64.b64encode(b"x" * 90).decode()
    )
    assert redactor.text(text) == text
    assert redactor.leaks(text.encode()) == []
