"""What an agent did before and does now, a line a call."""

from __future__ import annotations

from evalgate.core.trajectory import ToolCall
from evalgate.report.tool_calls import CallsChange, call_lines


def call(name: str, given: object, *, ok: bool | None = None) -> ToolCall:
    """Return a call."""
    return ToolCall(name=name, call_id="1", input=given, ok=ok)  # type: ignore[arg-type]


def test_a_call_is_one_line() -> None:
    """Its name, what it was given, and whether it failed; long ones are cut."""
    lines = call_lines(
        [
            call("read", {"path": "a.py", "lines": [1, 20]}),
            call("bash", {"command": "cat a\n  | wc -l"}, ok=False),
            call("apply_patch", "*** Begin Patch"),
            call("list", {}, ok=True),
            call("write", {"text": "x" * 1000}),
        ]
    )
    assert lines[:4] == (
        "read(path=a.py, lines=[1, 20])",
        "bash(command=cat a | wc -l) → failed",
        "apply_patch(*** Begin Patch)",
        "list()",
    )
    assert len(lines[4]) == 120
    assert lines[4].endswith("…")


def test_the_difference_is_a_diff() -> None:
    """Calls that went and came, a few equal ones around them."""
    change = CallsChange(before=("read(a)", "test()", "edit(a)"), after=("read(a)", "edit(a)"))
    assert change.diff == "@@ -1,3 +1,2 @@\n read(a)\n-test()\n edit(a)"
    assert change.sentence.startswith("Tool calls, from a trial that passed before (−, 3) to this")


def test_what_is_equal_or_unknown_is_said() -> None:
    """There is no diff then."""
    same, none = ("read(a)",), ()
    said = {
        "The tool calls are the same: 1.": CallsChange(before=same, after=same),
        "No tool was called.": CallsChange(before=none, after=none),
        "The tool calls of a trial that passed before are not known here.": CallsChange(
            before=None, after=same
        ),
        "The tool calls of this trial are not known here.": CallsChange(before=same, after=None),
        "The tool calls of a trial that passed before and of this trial are not known here.": (
            CallsChange(before=None, after=None)
        ),
    }
    assert [change.sentence for change in said.values()] == [*said]
    assert not any(change.diff for change in said.values())
