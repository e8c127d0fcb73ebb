"""What the agent said last, before and now."""

from __future__ import annotations

import pytest

from evalgate.report.last_words import LastWords

BOTH = "Both in a trial that passed before and in this one, the agent said"
BEFORE = "In a trial that passed before, the agent said"
AFTER = "In this trial, which fails, the agent said"
NOTHING = "nothing at the end."


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("all of it", "a diff", [(f"{BEFORE} last:", "all of it"), (f"{AFTER} last:", "a diff")]),
        ("all of it", " \n", [(f"{BEFORE} last:", "all of it"), (f"{AFTER} {NOTHING}", "")]),
        ("", "a diff", [(f"{BEFORE} {NOTHING}", ""), (f"{AFTER} last:", "a diff")]),
        ("same", "same", [(f"{BOTH} last:", "same")]),
        ("", "", [(f"{BOTH} {NOTHING}", "")]),
        (None, "a diff", [(f"{AFTER} last:", "a diff")]),
        ("all of it", None, [(f"{BEFORE} last:", "all of it")]),
        (None, None, []),
    ],
)
def test_words_are_told_as_far_as_they_are_known(before, after, told):
    """Both sides, one that said nothing, one that nobody kept."""
    assert [*LastWords(before=before, after=after).told] == told
