"""`evalgate show`: runs, a run, and a trial as a story, from the files that a run leaves."""

from __future__ import annotations

import json
import re

from tests.e2e.conftest import copied


def test_a_failing_trial_says_where_it_went_wrong(regressing, evalgate, tmp_path):
    """Of several trials the first that did not pass, in what the check printed about it."""
    repo = copied(regressing, tmp_path)
    listed = evalgate("show", cwd=repo.path).stdout
    assert len(re.findall(r" 6/6 +finished$", listed, re.MULTILINE)) == 2
    run = evalgate("show", "latest", cwd=repo.path).stdout
    command = re.search(r"^evalgate show (\S+:double:1)   # the story of one$", run, re.MULTILINE)
    assert command is not None
    told = evalgate("show", "latest:double", cwd=repo.path).stdout
    assert re.findall(r":double:(\d) +failed +hidden tests", told) == ["1", "2", "3"]
    story = evalgate("show", command[1], cwd=repo.path).stdout
    assert told.endswith(f"\n\n{story}")
    asked, did, changed, wrong, _, what_next = (
        story.split(f"\n\n{heading}:\n")[1]
        for heading in (
            *("it was asked", "it did", "what it changed", "where it went wrong", "checks", "next"),
        )
    )
    assert asked.startswith("    In `double.py`, double(2) should be 4.\n")
    assert "return n * 42" in did
    assert "    +    return n * 42\n" in changed
    assert "    test_it (test_double.T.test_it) ... FAIL\n" in wrong
    assert f"evalgate report {command[1]} --format html" in what_next


def test_a_failing_trial_is_shown_one_that_passed(recorded, evalgate):
    """Where the run has one."""
    (run,) = (recorded.path / ".evalgate/runs").iterdir()
    lines = [json.loads(line) for line in (run / "trials.jsonl").read_text().splitlines()]
    (first,) = (one for one in lines if (one["task"], one["n"]) == ("double", 1))
    first["outcome"] = "failed"
    (run / "trials.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    story = evalgate("show", "latest:double:1", cwd=recorded.path).stdout
    assert re.search(r"^  evalgate show \S+:double:[23]   # one that passed$", story, re.MULTILINE)
