"""The one walk through a folder of recordings."""

from __future__ import annotations

from evalgate.commands.shelf import Shelf, files_below


def test_what_is_not_finished_is_on_no_shelf_and_is_scanned(tmp_path):
    """A writer's files and folders begin with a dot; links lead elsewhere."""
    for name in ("a/b/1.json", "a/b/.2.json", ".a.new/b/1.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "a/link.json").symlink_to(tmp_path / "a/b/1.json")
    shelf = Shelf(folder=tmp_path, within=None, name="shelf")
    assert [*shelf.on_disk()] == ["a/b/1.json"]
    assert [*files_below(tmp_path)] == [("a/b/1.json", b"a/b/1.json")]
    every = [path for path, _ in files_below(tmp_path, hidden=True)]
    assert every == [".a.new/b/1.json", "a/b/.2.json", "a/b/1.json"]
