"""Summary, annotations and outputs: within GitHub's limits, and no words become commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalgate.core.decision import EXIT_CODES, Decision
from evalgate.core.outline import Outline, TaskOutline
from evalgate.protocols import Telling
from evalgate.publishers.workflow import SUMMARY_LIMIT, Outputs, Summary, annotations_of
from evalgate.report.shedding import cut


def outline(decision: Decision = Decision.REGRESSION, *, worse: int = 1) -> Outline:
    return Outline(
        decision=decision,
        exit_code=EXIT_CODES[decision],
        sentence="100 % → 50 %,\nand so\ron::x",
        tasks=tuple(
            TaskOutline(task=f"a,b:{n}", change="regressed", base="4/5", head="1/5")
            for n in range(worse)
        ),
    )


def telling(page: str, told: Outline | None = None) -> Telling:
    return Telling(outline=told or outline(), page=lambda limit: cut(page, limit))


def test_words_are_no_commands() -> None:
    """Every line is one command, whatever its words are."""
    first, second = annotations_of(outline())
    assert first == ("::error title=evalgate%3A regression::100 %25 → 50 %25,%0Aand so\\ron::x")
    assert second == "::error title=evalgate%3A a%2Cb%3A0::a,b:0: regressed: 4/5 → 1/5"


@pytest.mark.parametrize(("worse", "shown"), [(0, 1), (9, 10), (10, 10), (300, 10)])
def test_no_more_than_ten(worse: int, shown: int) -> None:
    """GitHub drops the rest in silence, so the last one says how many there are."""
    lines = annotations_of(outline(worse=worse))
    assert len(lines) == shown
    if worse > 9:
        assert lines[-1].endswith(f"{worse - 8} more tasks did worse: they are in the verdict")


@pytest.mark.parametrize("decision", Decision)
def test_the_level_is_that_of_the_exit_code(decision: Decision) -> None:
    """A blocking decision is an error, a pass a notice, what was not measured a warning."""
    (line,) = annotations_of(outline(decision, worse=0))
    code = int(EXIT_CODES[decision])
    level = {0: "notice", 1: "error", 6: "error"}.get(code, "warning")
    assert line.startswith(f"::{level} ")


def test_outputs_can_set_no_others(tmp_path: Path) -> None:
    """The delimiter is another one each time."""
    path = tmp_path / "output"
    Outputs(path=path).publish(telling("x"))
    text = path.read_text()
    found = re.findall(r"(?ms)^([\w-]+)<<(evalgate_[0-9a-f]{32})\n(.*?)\n\2\n", text)
    assert [name for name, _, _ in found] == ["decision", "exit-code", "evidence", "sentence"]
    assert len({end for _, end, _ in found}) == 4
    assert found[1][2] == "1"


@pytest.mark.parametrize("there", [0, 1000, SUMMARY_LIMIT - 500, SUMMARY_LIMIT])
def test_a_summary_stays_within_its_limit(tmp_path: Path, there: int) -> None:
    """One that is too large is refused whole by GitHub, and nobody is told."""
    path = tmp_path / "summary"
    path.write_bytes(b"x" * there)
    told = Summary(path=path).publish(telling("> **Top**\n\n" + "words é\n\n" * 300_000))
    assert path.stat().st_size <= SUMMARY_LIMIT
    full = there == SUMMARY_LIMIT
    assert told.done == ("nothing" if full else "written")
    assert ("**Top**" in path.read_text()) is not full
