"""The table ``[tripwires]``: what it takes, and how it says what is wrong."""

from __future__ import annotations

import pytest

from evalgate.core.schema import Reader, Source
from evalgate.core.tripwires import TRIPWIRES, Place
from evalgate.core.tripwires_table import TripwiresSpec, read_tripwires
from evalgate.errors import UsageError


def read(text: str) -> TripwiresSpec:
    """Read a table as it stands in a file."""
    source = Source("evalgate.toml", f"[tripwires]\n{text}")
    return read_tripwires(Reader(source.parse()["tripwires"], source, ("tripwires",)))


def test_nothing_said_is_the_usual_table_shown() -> None:
    """A hit is shown and voids nothing."""
    assert read("") == TripwiresSpec(voids=False, wires=TRIPWIRES)


def test_a_project_leaves_out_and_adds() -> None:
    """Own ones come last and look where they say."""
    spec = read(
        'policy = "void"\nwithout = ["history"]\n[[tripwires.own]]\nname = "wiki"\n'
        'pattern = "wiki/answers"\nreason = "answers are there"\nin = ["calls", "log"]\n'
    )
    assert spec.voids
    assert [wire.name for wire in spec.wires] == [w.name for w in TRIPWIRES[1:]] + ["wiki"]
    assert spec.wires[-1].places == (Place.CALLS, Place.LOG)


OWN = '[[tripwires.own]]\nname = "n"\npattern = "p"\nreason = "r"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('policy = "block"', "policy"),
        ('without = ["histroy"]', "there is no tripwire 'histroy'"),
        (OWN.replace('"n"', '"history"'), "already"),
        (OWN.replace('"n"', '"canary"'), "already"),
        (OWN.replace('"n"', '""'), "no name"),
        (OWN + OWN, "already"),
        (OWN.replace('"p"', '"("'), "no pattern"),
        (OWN.replace('"p"', '"x*"'), "matches nothing"),
        (OWN.replace('"r"', '" "'), "must not be empty"),
        (OWN + 'in = ["wire"]\n', "there is no place 'wire'"),
        ("colour = 1", "colour"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, words: str) -> None:
    """File, line and key."""
    with pytest.raises(UsageError, match=words) as caught:
        read(text)
    assert caught.value.message.startswith("evalgate.toml:")
