"""Secrets leave no trace, and nothing else does."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.redaction import Redactor, known_secrets

SECRET = 'p@ss/w"rd +é1234'
REDACTOR = Redactor({"DB_PASSWORD": SECRET, "SHORT": "abc"})
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq1\nabc=\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        json.dumps(SECRET)[1:-1].replace("/", "\\/"),
    ],
)
def test_a_known_value_is_replaced_in_every_form(form):
    """Plain, URL-encoded and escaped for JSON."""
    assert REDACTOR.text(f"a {form} b") == "a <secret:DB_PASSWORD> b"
    assert REDACTOR.leaks(form.encode()) == ["DB_PASSWORD"]


@given(st.binary(max_size=5), st.binary(max_size=5))
def test_base64_is_found_whatever_stands_around_the_value(before, after):
    """A key inside a basic-auth header, say, is shifted by what precedes it."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(before + SECRET.encode() + after)
        assert REDACTOR.leaks(text) == ["DB_PASSWORD"]
        assert REDACTOR.leaks(REDACTOR.data(text)) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("sk-ant-api03-abcdefghijklmnop_-1", "anthropic-key"),
        ("sk-proj-abcdefghij_klmnop-qrstuv", "openai-key"),
        ("sk-" + "a1" * 20, "openai-key"),
        ("AKIAIOSFODNN7EXAMPLE", "aws-key-id"),
        ("ghp_" + "a1" * 18, "github-token"),
        ("github_pat_" + "a1" * 20, "github-token"),
        ("xoxb-123456789012-abcdef", "slack-token"),
        ("AIza" + "a" * 35, "google-key"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjMifQ.abcdefghijklmn", "jwt"),
        (PEM, "private-key"),
        (json.dumps(PEM)[1:-1], "private-key"),
        (json.dumps(json.dumps(PEM))[1:-1].strip('\\"'), "private-key"),
        (PEM[:52], "private-key"),
    ],
)
def test_what_looks_like_a_key_is_replaced(text, name):
    """Also at once after an escaped line end, as in the JSON text of a request."""
    redactor = Redactor({})
    assert redactor.text(f'"\\n{text}"') == f'"\\n<secret:{name}>"'
    assert redactor.text(f"x {text} y") == f"x <secret:{name}> y"
    assert redactor.leaks(text.encode()) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "task-0123456789abcdef0123456789abcdef0123",
        "sk-loading-spinner",
        "toolu_01A09q90qw90lq917835lq9",
        "call_8f14e45fceea167a5a36dedd4bea2543",
        "550e8400-e29b-41d4-a716-446655440000",
        "-----BEGIN PRIVATE KEY----- is the first line",
        "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA7bq1abcdef\n-----END CERTIFICATE-----",
        "abc",
        "",
    ],
)
def test_ids_and_words_stay(text):
    """There is no guessing by entropy: it would eat the ids that tool calls are matched by."""
    assert REDACTOR.text(text) == text
    assert REDACTOR.leaks(text.encode()) == []


@given(st.text(), st.text())
def test_redaction_is_total_and_idempotent(before, after):
    """Whatever the text, a second pass changes nothing."""
    once = REDACTOR.text(before + SECRET + after)
    assert SECRET not in once
    assert REDACTOR.text(once) == once


@given(st.binary())
def test_bytes_outside_utf8_pass(data):
    """Binary bodies are looked through as they are."""
    assert Redactor({}).data(data) == data or Redactor({}).leaks(data)


def test_redacted_json_is_json():
    """A replacement never breaks a string."""
    value = {"a": [SECRET, PEM, "x" + SECRET], SECRET: 1}
    clean = json.loads(REDACTOR.text(json.dumps(value)))
    label = "<secret:DB_PASSWORD>"
    assert clean == {"a": [label, "<secret:private-key>", f"x{label}"], label: 1}


def test_spans_are_those_of_the_text():
    """Positions count characters, also after those of several bytes."""
    text = f"é北 {SECRET} é AKIAIOSFODNN7EXAMPLE"
    spans = REDACTOR.spans(text)
    assert [text[span.start : span.end] for span in spans] == [SECRET, "AKIAIOSFODNN7EXAMPLE"]
    assert [span.text for span in spans] == ["<secret:DB_PASSWORD>", "<secret:aws-key-id>"]


def test_a_value_keeps_the_name_it_is_known_by():
    """The name of a key does not depend on which route used it."""
    redactor = REDACTOR.also({"provider-key-1": SECRET, "other": "another-secret"})
    assert redactor.text(f"{SECRET} another-secret") == "<secret:DB_PASSWORD> <secret:other>"


def test_a_secret_inside_a_longer_one_does_not_cut_it():
    """Longest first."""
    redactor = Redactor({"A": "password", "B": "password-and-more"})
    assert redactor.text("password-and-more password") == "<secret:B> <secret:A>"


def test_known_secrets_go_by_the_name_of_the_variable():
    """The value alone says nothing."""
    environ = {
        "API_KEY": "k123456789",
        "site_token": "k123456789",
        "MY_SECRET": "short1",
        "DB_PASSWORD": "k123456789",
        "KEYBOARD": "k123456789",
        "HOME": "/home/someone1",
    }
    assert sorted(known_secrets(environ)) == ["API_KEY", "DB_PASSWORD", "site_token"]


@pytest.mark.parametrize(
    ("value", "known"),
    [
        ("postgres", False),
        ("development", False),
        ("12345678", False),
        ("postgr3s", True),
        ("p1", False),
        ("correct-horse-batt", True),
        ("1234567890123456", True),
    ],
)
def test_a_known_secret_looks_like_a_key(value, known):
    """Words and short numbers stand in code that has nothing to do with them."""
    assert bool(known_secrets({"POSTGRES_PASSWORD": value})) is known
