"""The paths of one run become labels; all other text stays."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.places import place_spans, replace_places

PLACES = {"REPO": "/tmp/run-7/repo", "HOME": "/tmp/run-7/home/", "TMP": "/tmp/run-7", "ROOT": "/"}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("cd /tmp/run-7/repo && ls", "cd <REPO> && ls"),
        ("/tmp/run-7/repo/a.py:3", "<REPO>/a.py:3"),
        ("in /tmp/run-7/repo.", "in <REPO>."),
        ("/tmp/run-7/repository", "<TMP>/repository"),
        ("/tmp/run-7/repo.git", "<TMP>/repo.git"),
        ("/tmp/run-70/x", "/tmp/run-70/x"),
        ("/private/tmp/run-7/repo", "/private/tmp/run-7/repo"),
        ("file:///tmp/run-7/repo", "file://<REPO>"),
        ("-I/tmp/run-7/repo/include", "-I<REPO>/include"),
        ('"\\n/tmp/run-7/repo"', '"\\n<REPO>"'),
        ('"{\\"cmd\\":\\"a\\\\n/tmp/run-7/repo\\"}"', '"{\\"cmd\\":\\"a\\\\n<REPO>\\"}"'),
        ("HOME=/tmp/run-7/home:/bin", "HOME=<HOME>:/bin"),
        ("projects/-tmp-run-7-repo/x", "projects/<REPO:slug>/x"),
        ("foo-tmp-run-7-repo", "foo-tmp-run-7-repo"),
        ("/ is the root", "/ is the root"),
    ],
)
def test_places_become_labels(text, clean):
    """Longest first, whole names only."""
    assert replace_places(text.encode(), PLACES).decode() == clean


def test_a_path_with_odd_characters_is_found_in_json():
    """Quotes are escaped there; letters of other alphabets are not."""
    places = {"REPO": '/tmp/a "b" é'}
    text = json.dumps({"x": '/tmp/a "b" é/f'}, ensure_ascii=False)
    assert json.loads(replace_places(text.encode(), places)) == {"x": "<REPO>/f"}


@given(st.binary())
def test_scrubbing_is_total_and_idempotent(data):
    """Bytes outside UTF-8 pass."""
    once = replace_places(data + b" /tmp/run-7/repo", PLACES)
    assert once.endswith(b" <REPO>")
    assert replace_places(once, PLACES) == once


def test_spans_lead_from_one_run_to_another():
    """Positions count characters; only places that both runs have are moved."""
    new = {"REPO": "/work", "HOME": "/home/agent"}
    text = "é /tmp/run-7/repo/x /tmp/run-7/home /tmp/run-7/y projects/-tmp-run-7-repo"
    spans = place_spans(text, PLACES, new)
    assert [(text[span.start : span.end], span.text) for span in spans] == [
        ("/tmp/run-7/repo", "/work"),
        ("/tmp/run-7/home", "/home/agent"),
        ("-tmp-run-7-repo", "-work"),
    ]
