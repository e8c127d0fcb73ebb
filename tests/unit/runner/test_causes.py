"""Files belong to the parts whose globs match them, as git matches."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from evalgate.core.exchange import Miss
from evalgate.core.files import File
from evalgate.runner.causes import explained, sources_of

PATHS = (
    "prompts/a.md", "prompts/deep/er/b.md", "agent/main.py", "agent/lib/x.py", "tools.json",
    "tools[1].json", "a+b.txt",
)  # fmt: skip


def harness(parts, digests=None):
    """Return as much of a harness as is asked for; each file holds its own path."""
    files = {path: File(data=path.encode()) for path in PATHS}
    config = SimpleNamespace(harness=SimpleNamespace(parts=parts))
    return SimpleNamespace(files=files, config=config, parts=digests or {})


@pytest.mark.parametrize(
    ("glob", "matched"),
    [
        ("prompts/**", ["prompts/a.md", "prompts/deep/er/b.md"]),
        ("prompts", ["prompts/a.md", "prompts/deep/er/b.md"]),
        ("prompts/*.md", ["prompts/a.md"]),
        ("**/*.py", ["agent/lib/x.py", "agent/main.py"]),
        ("agent/**/*.py", ["agent/lib/x.py", "agent/main.py"]),
        ("**/b.md", ["prompts/deep/er/b.md"]),
        ("*.json", ["tools.json", "tools[1].json"]),
        ("tool?.json", ["tools.json"]),
        ("[!p]*.txt", ["a+b.txt"]),
        ("a+b.txt", ["a+b.txt"]),
        ("[z-a]*", []),
    ],
)
def test_globs(glob, matched):
    """Stars stop at a slash, two of them do not."""
    assert sources_of(harness({"part": [glob]})) == {"part": tuple(p.encode() for p in matched)}


def test_a_miss_is_explained_by_the_recording_s_parts():
    """Their digests stand in its header; a header without them blames what there is."""
    miss = Miss(key="k", nearest=0, differs=("x",), now="prompts/deep/er/b.md")
    now = harness({"prompt": ["prompts/**"], "code": ["agent/**"]}, {"prompt": "2", "code": "3"})
    same = explained(miss, header={"parts": {"prompt": "2", "code": "3"}}, harness=now)
    assert same.part == ""
    assert "the harness is the same" in same.cause
    changed = explained(miss, header={"parts": {"prompt": "1", "code": "1"}}, harness=now)
    assert changed.part == "prompt"
    assert explained(miss, header={}, harness=now).part == "prompt"
