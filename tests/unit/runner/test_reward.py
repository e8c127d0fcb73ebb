"""The reward file of Harbor's format."""

from __future__ import annotations

import pytest

from evalgate.core.files import File, FileMode
from evalgate.core.redaction import Redactor
from evalgate.runner.reward import read_reward

REDACTOR = Redactor({})


def read(**files: str) -> float | None:
    logs = {f"verifier/reward.{kind}": File(data=text.encode()) for kind, text in files.items()}
    return read_reward(logs, REDACTOR)


@pytest.mark.parametrize(
    ("files", "reward"),
    [
        ({}, None),
        ({"txt": " 1\n"}, 1.0),
        ({"txt": "0.5"}, 0.5),
        ({"json": "1"}, 1.0),
        ({"json": '{"reward": 1, "style": 0.2}'}, 1.0),
        ({"json": '{"tests": 1.0, "style": 0.2}'}, 0.2),
        ({"json": '{"reward": 0}', "txt": "1"}, 0.0),
        ({"json": '{"reward": 1}', "txt": "0"}, 0.0),
        ({"json": "0.5", "txt": "5e-1"}, 0.5),
        ({"txt": "1."}, 1.0),
        ({"txt": "+.5E+0"}, 0.5),
    ],
)
def test_one_number_is_read(files: dict[str, str], reward: float | None) -> None:
    """Of text and JSON the lesser; of several numbers the worst, unless one is the reward."""
    assert read(**files) == reward


@pytest.mark.parametrize(
    "files",
    [
        *({"txt": text} for text in ("", "one", "nan", "inf", "-0.1", "1.5", "1e999")),
        *(
            {"txt": text}
            for text in ("1_0e-1", "\N{ARABIC-INDIC DIGIT ONE}", "infinity", "0x1", "1 1")
        ),
        *({"json": text} for text in ("", "{}", "[]", "[1]", "null", "true", '"1"', "NaN")),
        *({"json": f'{{"reward": {text}}}'} for text in ("NaN", "2", "-1", "true", '"1"', "null")),
        {"json": '{"reward": 1', "txt": "1"},
        {"json": '{"reward": 1}', "txt": "one"},
        {"json": "[" * 100_000},
        {"json": f'{{"reward": {"9" * 400}}}'},
    ],
)
def test_anything_else_is_no_reward(files: dict[str, str]) -> None:
    """Only finite numbers from 0 to 1; what is wrong is told in a line."""
    with pytest.raises(ValueError, match="the reward"):
        read(**files)


def test_a_link_is_no_reward() -> None:
    """It could lead anywhere."""
    link = {"verifier/reward.json": File(data=b"1", mode=FileMode.SYMLINK)}
    with pytest.raises(ValueError, match="is a link"):
        read_reward(link, REDACTOR)
