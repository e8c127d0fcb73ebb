"""Baselines on disk: whole, named by their content, refused by name otherwise."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalgate.core.baseline import Baseline
from evalgate.core.files import File
from evalgate.errors import UsageError
from evalgate.store.baselines import (
    dump_baseline,
    load_baseline,
    load_baselines,
)
from evalgate.store.ledger import dump_ledger

Make = Callable[..., Baseline]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
@example("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n")
@example('""" \\ \\u0041 """\n')
@example("\x00\x07\x1b\x7f\n\t\n")
@example("\r\n")
def test_a_baseline_comes_back(baseline: Make, patch: str) -> None:
    """Any passing patch survives TOML to the byte, Windows line ends too."""
    one = baseline(patch=patch)
    again = load_baseline(dump_baseline(one), name=f"baselines/{one.filename}")
    assert again.to_json() == one.to_json()
    assert again.sample.tasks["greet"].passing_patch == patch


def test_a_baseline_is_readable(baseline: Make) -> None:
    """A patch keeps its lines, and an unknown number is absent."""
    text = dump_baseline(baseline(patch="--- a/x\n+++ b/x\n")).decode()
    assert 'passing_patch = """\n--- a/x\n+++ b/x\n"""' in text
    assert "cost_usd" not in text
    assert "seconds = 1.25" in text


def refused(data: bytes, name: str) -> UsageError:
    """Return the error, which names the file."""
    with pytest.raises(UsageError) as caught:
        load_baseline(data, name=name)
    assert caught.value.message.startswith(f"{name}: ")
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'outcome = "passed"', b'outcome = "failed"'),
        (b"seconds = 1.25", b"seconds = 9.25"),
        (b'suite = "s', b'suite = "t'),
        (b'sandbox = "process"', b'sandbox = "bwrap"'),
        (b'evidence = "measured"', b'evidence = "regraded"'),
    ],
)
def test_an_edited_number_is_seen(baseline: Make, old: bytes, new: bytes) -> None:
    """A baseline that someone improved by hand is not believed."""
    data = dump_baseline(baseline())
    assert old in data
    error = refused(data.replace(old, new, 1), f"baselines/{baseline().filename}")
    assert "it was edited by hand" in error.message


def test_a_renamed_baseline_is_seen(baseline: Make) -> None:
    """One harness's numbers can not be passed off as another's."""
    error = refused(dump_baseline(baseline()), f"baselines/{'e' * 16}-00000000.toml")
    assert baseline().filename in error.message


def test_a_newer_format_is_refused_by_name(baseline: Make) -> None:
    """An old evalgate does not guess what a new one wrote."""
    data = dump_baseline(baseline()).replace(b"format = 1\n", b"format = 2\n", 1)
    error = refused(data, "baselines/x.toml")
    assert error.message.endswith("format 2 is newer than this evalgate knows")
    assert error.hint == "upgrade git-evalgate"


@pytest.mark.parametrize(
    "text",
    ["", "format = 1\n", "format = inf\n", "format = 'x'\n", "= 1\n", "format = 1\ntasks = 3\n"],
)
def test_what_is_no_baseline_is_refused(text: str) -> None:
    """Empty, foreign or broken files are named, not fatal."""
    assert "this is no baseline" in refused(text.encode(), "baselines/x.toml").message


def test_numbers_that_are_none_are_refused(baseline: Make) -> None:
    """A NaN in a committed file can not make every comparison false."""
    data = dump_baseline(baseline()).replace(b"seconds = 1.25", b"seconds = nan", 1)
    error = refused(data, f"baselines/{baseline().filename}")
    assert "seconds is nan, which is no measurement" in error.message


@settings(max_examples=100)
@given(st.data())
def test_a_damaged_baseline_is_refused_or_the_same(baseline: Make, data: st.DataObject) -> None:
    """Cut anywhere or with any byte changed, what loads has the content of its name."""
    one = baseline(1)
    whole = dump_baseline(one)
    at = data.draw(st.integers(0, len(whole) - 1))
    replacement = data.draw(st.one_of(st.none(), st.binary(max_size=2)))
    damaged = whole[:at] if replacement is None else whole[:at] + replacement + whole[at + 1 :]
    with contextlib.suppress(UsageError):
        assert load_baseline(damaged, name=one.filename).digest == one.digest


def test_only_baselines_are_read(baseline: Make) -> None:
    """The ledger beside them and other files are not; one harness can be asked for."""
    one, two = baseline(1), baseline(2, fingerprint="e" * 64)
    files = {
        one.filename: File(data=dump_baseline(one)),
        two.filename: File(data=dump_baseline(two)),
        "ledger/2026-01-01-x.toml": File(data=b"no TOML"),
        "README.md": File(data=b"no TOML"),
    }
    assert load_baselines({}) == ()
    assert load_baselines(files) == (two, one)
    assert load_baselines(files, fingerprint="e" * 64) == (two,)
    assert load_baselines(files, fingerprint="e" * 63 + "d") == ()


def test_a_ledger_entry_is_toml_with_a_format() -> None:
    """Every file begins with the version of its format."""
    data = dump_ledger({"decision": "pass", "sentence": "a\r\nb\n"})
    assert data.startswith(b"format = 1\n")
    assert tomllib.loads(data.decode())["sentence"] == "a\r\nb\n"
