"""Documents in the project's tree: whatever is not one is refused by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from evalgate.core.files import File, Tree
from evalgate.errors import UsageError
from evalgate.store.baselines import FOLDER as BASELINES
from evalgate.store.baselines import load_baselines
from evalgate.store.ledger import FOLDER as LEDGER
from evalgate.store.ledger import load_ledger, read_ledger
from evalgate.store.waivers import FOLDER as WAIVERS
from evalgate.store.waivers import load_waivers

KINDS: Mapping[str, Callable[[Tree], object]] = {
    BASELINES: load_baselines,
    LEDGER: load_ledger,
    WAIVERS: load_waivers,
}


@pytest.mark.parametrize("folder", KINDS)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\xff",
        "format = 'x'",
        "format = 1",
        "format = nan",
        "format = inf",
        f"format = 1\nparts = {'[' * 5000}",
        "format = 1\npassed = 1\nmeasured = 1\nsample = 1\ntasks = 1\nparts = 1\ndate = 1\n"
        "fingerprint = 1\ndecision = 1\nevidence = 1\nmax_drop = inf",
        "format = 1\ndate = ''\nfingerprint = ''\ndecision = ''\nevidence = ''\n"
        "passed = {a = inf}\nmeasured = {}\nparts = {}",
    ],
)
def test_what_is_none_is_refused(folder: str, text: str) -> None:
    """Cut, of another kind, or made to do harm: the file is named, and nothing else is raised."""
    with pytest.raises(UsageError) as caught:
        KINDS[folder]({"x.toml": File(data=text.encode("latin-1"))})
    assert caught.value.message.startswith(f"{folder}/x.toml: this is no ")
    assert caught.value.hint == "restore it from git"


@pytest.mark.parametrize("folder", KINDS)
def test_a_newer_format_is_refused(folder: str) -> None:
    """By what it says of itself, whatever else it holds."""
    with pytest.raises(UsageError, match=f"{folder}/x.toml: format 99 is newer") as caught:
        KINDS[folder]({"x.toml": File(data=b"format = 99\n")})
    assert caught.value.hint == "upgrade git-evalgate"


def test_one_odd_entry_hides_no_other() -> None:
    """A ledger is read as far as it can be."""
    whole = (
        b"format = 1\ndate = '2026-01-01'\nfingerprint = 'f'\ndecision = 'pass'\n"
        b"evidence = 'measured'\n[passed]\n[measured]\n[parts]\n"
    )
    odd = File(data=whole.replace(b"[passed]", b"[passed]\na = inf"))
    entries, problems = read_ledger({"a.toml": odd, "b.toml": File(data=whole)})
    assert [one.fingerprint for one in entries] == ["f"]
    assert [one.message.split(":")[0] for one in problems] == [f"{LEDGER}/a.toml"]
