"""Notes that only grow: what was written is read again, and what is no note is passed over."""

from __future__ import annotations

from pathlib import Path

from evalgate.store.lines import append_line, objects_in, read_lines


def test_what_was_added_is_read_in_its_order(tmp_path: Path) -> None:
    """Line ends within a text are none of the file."""
    path = tmp_path / "notes.jsonl"
    assert list(read_lines(path)) == []
    notes = [{"who": "Zoë\u2028\n", "n": 1}, {"who": "", "n": 2}]
    for note in notes:
        append_line(path, note)
    assert list(read_lines(path)) == notes


def test_a_line_that_is_no_object_hides_no_other() -> None:
    """Cut off by a crash, of another kind, or no text at all."""
    data = b'{"a": 1}\n[1]\n"x"\n\n\xff\xfe\n{"b": "\xff"}\n{"c'
    assert list(objects_in(data)) == [{"a": 1}, {"b": "\ufffd"}]
