"""A look at a stranger's text has an end, and a text that breaks it is errored, not failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalgate.checks.apart import ApartError, look
from evalgate.core.json import JsonObject

HARD = "a" * 40 + "!"


@pytest.mark.parametrize(
    ("program", "given", "words"),
    [
        ("search", {"text": HARD, "pattern": "^(a+)+$", "first": False}, "did not end within 1 s"),
        ("lines", {"lines": [HARD], "pattern": "^(a+)+$"}, "did not end within 1 s"),
        (
            "json_schema",
            {"text": f'"{HARD}"', "schema": {"pattern": "^(a+)+$"}},
            "did not end within 1 s",
        ),
        ("search", {"text": "", "pattern": "a" * 9 + "(", "first": True}, "broke off: re."),
        ("json_schema", {"text": "{}", "schema": {"$ref": "x:y"}}, "it broke off: "),
    ],
)
def test_a_look_that_does_not_end_or_breaks_off(
    program: str, given: JsonObject, words: str
) -> None:
    """By whatever program, and said without a piece of the text."""
    with pytest.raises(ApartError) as caught:
        look(program, given, doing="it", seconds=1 if "1 s" in words else 60)
    assert words in str(caught.value)


def test_a_process_apart_has_no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It looks at what strangers wrote, and is given nothing that they could want."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    program = tmp_path / "told.py"
    program.write_text("import os\n\ndef main(given):\n    return dict(os.environ)\n")
    told = look(str(program.with_suffix("")), None, doing="it")
    assert told.pop("LD_LIBRARY_PATH") == "/nowhere"
    assert set(told) <= {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"}, "what an interpreter sets itself"
