"""What agents and tests write may steer no terminal, whichever command shows it."""

from __future__ import annotations

import pytest

EVIL = r"\033[2J\033]0;PWN\007\033[31mevil\033[0m"
TEST_SH = f"#!/bin/sh\nprintf '{EVIL}\\n'\nexit 1\n"


@pytest.fixture
def shown(repo, scripted, evalgate) -> list[str]:
    """Return what commands print of a project whose tests and model write escapes."""
    repo.write("tasks/double/task.toml", '[task]\nname = "double"\n')
    repo.write("tasks/double/tests/test.sh", TEST_SH)
    scripted.answer = lambda _: (200, "```python\n# \x1b[2J\x1b]0;PWN\x07evil\n```")
    env = {"SCRIPTED_URL": scripted.url}
    done = [evalgate("run", "-k", "1", "double", cwd=repo.path, env=env)]
    run = next((repo.path / ".evalgate" / "runs").iterdir()).name
    cassette = next((repo.path / ".evalgate").rglob("cassette.json"))
    done += [
        evalgate(*words, cwd=repo.path)
        for words in (
            ["show", run],
            ["show", f"{run}:double"],
            ["show", f"{run}:nosuch\x1b[2J"],
            ["cassette", "show", str(cassette)],
        )
    ]
    return [one.stdout + one.stderr for one in done]


def test_no_control_character_reaches_the_terminal(shown):
    """They are written out, in progress, tables, single trials, errors and recordings."""
    for text in shown:
        assert "\x1b" not in text
        assert "\x07" not in text
    for text in shown[:3]:
        assert "\\x1b[2J\\x1b]0;PWN\\x07evil" in text
    assert "\\x1b[2J" in shown[3]
