"""What a task asks of the place it is worked on in."""

from __future__ import annotations

import pytest

from evalgate.core.environment import Environment, SetUp, absolute_path


@pytest.mark.parametrize(
    ("script", "path"),
    [
        ("echo 1 > /logs/verifier/reward.txt", "/logs"),
        ("cd /app\n", "/app"),
        ("python3 /tests/test_x.py", "/tests"),
        ("cp '/solution/a' .", "/solution"),
        ('logs="${EVALGATE_LOGS:-/logs}/verifier"; ls "$EVALGATE_TESTS/tests/x"', ""),
        ("ls src/tests ./app $HOME/logs ${X}/solution https://host/app /apply /app.py", ""),
    ],
)
def test_absolute_paths_of_harbor_are_told_from_others(script: str, path: str) -> None:
    """A path behind a variable or within another path is none."""
    assert absolute_path(["", script]) == path


def test_a_task_that_asks_for_nothing_runs_anywhere() -> None:
    """Limits alone need no container; all else is named."""
    assert Environment(cpus=2, memory_mb=512).needs == ""
    assert Environment(image="a:1").needs == "the image a:1"
    assert Environment(absolute="/app").needs == "the path /app"
    assert Environment(set_up=SetUp(commands=("true",))).needs == "a set-up stage"
