"""Of a long output the head and the tail are kept, and no piece of a secret at their edges."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.redaction import Redactor
from evalgate.sandboxes.output import Output

KEEP = 400
SECRET = "hunter2-correct-horse-battery-staple-9"
ANT = "sk-ant-api03-" + "aB3xY9" * 8
AMAZON = "aB3xY9/+" * 5
BODY = "\n".join(textwrap.wrap("MIIEow" * 40, 64))
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----"
REDACTOR = Redactor({"MY_KEY": SECRET})


def kept(data, *, step=None, keep=KEEP):
    """Return what is kept of these bytes, given in pieces of a size."""
    output = Output(keep)
    step = step or len(data) or 1
    for start in range(0, len(data), step):
        output.add(data[start : start + step])
    assert output.total == len(data)
    return output.render()


def filler(size):
    """Return lines of a program that is at work."""
    return "".join(f"step {n} of many is done\n" for n in range(size))[:size]


@given(st.binary(max_size=2 * KEEP), st.integers(1, KEEP))
def test_what_fits_is_kept_whole(data, step):
    """However it came."""
    assert kept(data, step=step) == data


@given(st.binary(min_size=2 * KEEP + 1, max_size=8 * KEEP), st.integers(1, KEEP))
def test_what_is_kept_is_head_and_tail_and_a_count(data, step):
    """The count says how many bytes are missing, and all others are there."""
    found = kept(data, step=step)
    marks = [
        (head, tail)
        for n in range(1, len(data) + 1)
        if (mark := b"\n[... %d bytes left out ...]\n" % n) in found
        for head, _, tail in [found.partition(mark)]
        if len(head) + n + len(tail) == len(data)
    ]
    assert any(data.startswith(head) and data.endswith(tail) for head, tail in marks)
    assert len(found) <= 2 * KEEP + 60


def test_whole_lines_are_kept():
    """Only the two that were cut are missing."""
    lines = [f"line {n:04d} is here\n" for n in range(200)]
    head, _, tail = kept("".join(lines).encode()).decode().partition("\n[... ")
    assert head.splitlines() == [line.strip() for line in lines[: len(head.splitlines())]]
    assert len(head) > KEEP - 20
    assert lines[-5:] == tail.splitlines(keepends=True)[-5:]
    assert len(tail) > KEEP - 20


@pytest.mark.parametrize(
    ("written", "secret"),
    [
        (SECRET, SECRET),
        (ANT, ANT),
        (f"aws_secret_access_key = {AMAZON}", AMAZON),
        (f'"SecretAccessKey": "{AMAZON}"', AMAZON),
        (PEM, BODY),
    ],
    ids=["known", "ant", "aws", "aws json", "pem"],
)
@pytest.mark.parametrize("glue", ["\n", " ", '", "'], ids=["lines", "words", "json"])
def test_no_piece_of_a_secret_is_left_at_an_edge(written, secret, glue):
    """Wherever the cut lies in it: what is left is found, or is not there."""
    pieces = {secret[at : at + 16] for at in range(len(secret) - 15)}
    words = filler(20_000).replace("\n", glue)
    size = len(written)
    for shift in range(size + 2):
        # So many of its bytes are kept in the head, and in the tail.
        text = f"{words[: KEEP - shift]}{written}{glue}{words}{glue}{written}"
        text += f"{glue}{words}"[: KEEP - shift]
        output = kept(text.encode())
        assert b"bytes left out" in output
        clean = REDACTOR.data(output).decode()
        assert [piece for piece in pieces if piece in clean] == [], shift


def test_a_line_without_an_end_is_kept_as_far_as_its_words_are_whole():
    """A program may print one line of JSON, or bytes without a blank."""
    text = ("word " * 400 + "last").encode()
    head, _, tail = kept(text).partition(b"\n[... ")
    assert (head[-9:], tail[-9:]) == (b"word word", b"word last")
    assert min(len(head), len(tail)) > KEEP - 10
    assert kept(b"x" * 5000) == b"\n[... 5000 bytes left out ...]\n"
