"""A miss is explained by the files that git matched for each part."""

from __future__ import annotations

from types import SimpleNamespace

from evalgate.core.exchange import Miss
from evalgate.core.files import File
from evalgate.gateway.format.header import Header
from evalgate.runner.causes import explained, sources_of

PATHS = ("prompts/a.md", "prompts/deep/er/b.md", "agent/main.py")


def harness(members, digests=None):
    """Return as much of a harness as is asked for; each file holds its own path."""
    files = {path: File(data=path.encode()) for path in PATHS}
    return SimpleNamespace(files=files, members=members, parts=digests or {})


def test_the_sources_of_a_part_are_its_members():
    """A submodule is one that has no file."""
    members = {"prompt": ("prompts/a.md", "prompts/deep/er/b.md"), "code": ("agent/main.py", "sub")}
    assert sources_of(harness(members)) == {
        "prompt": (b"prompts/a.md", b"prompts/deep/er/b.md"),
        "code": (b"agent/main.py",),
    }


def test_a_miss_is_explained_by_the_recording_s_parts():
    """Their digests stand in its header; a header without them blames what there is."""
    miss = Miss(key="k", nearest=0, differs=("x",), now="prompts/deep/er/b.md")
    members = {"prompt": PATHS[:2], "code": PATHS[2:]}
    now = harness(members, {"prompt": "2", "code": "3"})
    same = explained(miss, header=Header(parts={"prompt": "2", "code": "3"}), harness=now)
    assert same.part == ""
    assert "the harness is the same" in same.cause
    changed = explained(miss, header=Header(parts={"prompt": "1", "code": "1"}), harness=now)
    assert changed.part == "prompt"
    assert explained(miss, header=Header(), harness=now).part == "prompt"
