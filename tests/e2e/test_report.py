"""`evalgate report`: a run in four formats, from its files, its recordings and its verdict."""

from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ET

import pytest

from tests.schemas import hold


def document(evalgate, repo, *arguments):
    done = evalgate("report", *arguments, "--format", "json", cwd=repo.path)
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    hold(value, "report")
    return value


def test_everything_of_a_run_is_told(recorded, evalgate):
    """Steps and wire of its recordings, tags of its tasks, the baseline as a point in time."""
    file = recorded.path / "tasks/double/task.toml"
    told = file.read_text().replace("[metadata.evalgate]", '[metadata.evalgate]\ntags = ["sums"]')
    file.write_text(told)
    value = document(evalgate, recorded)
    assert value["totals"]["passed"] == 6
    assert [one["tags"] for one in value["tasks"]] == [["sums"], []]
    assert [(one["tag"], one["passed"]) for one in value["tags"]] == [("sums", 3)]
    assert [one["kind"] for one in value["timeline"]] == ["run", "baseline"]
    page = value["trials"][0]["page"]
    assert page["lacking"] == []
    assert "double(2) should be 4" in page["steps"][0]["text"] + page["prompt"]
    assert [one["path"] for one in page["wire"]] == ["/v1/chat/completions"]
    assert "return n * 2" in value["trials"][0]["patch"]


def test_a_failing_trial_is_held_against_the_last_passing_one(recorded, scripted, evalgate):
    """Of an earlier run, where none of its own passed; and the verdict is that of the run."""
    recorded.write("agent/prompts/rewrite.md", "Be WRONG.\n")
    recorded.commit("Be wrong")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=recorded.path, env=env).returncode == 0
    recorded.commit("Recordings")
    assert evalgate("gate", "--base", "HEAD~2", cwd=recorded.path).returncode == 1
    value = document(evalgate, recorded)
    assert value["evidence"] == "regraded"
    assert value["verdict"]["decision"] == "regression"
    assert {one["change"] for one in value["tasks"]} <= {"regressed", "fell"}
    reference = value["references"]["double"]
    assert reference["where"] < value["run"]
    assert "return n * 2" in reference["patch"]
    trial = value["trials"][0]
    assert re.search(r"^-.*n \* 2$", trial["difference"], re.MULTILINE)
    assert re.search(r"^\+.*n \* 42$", trial["difference"], re.MULTILINE)
    assert trial["page"]["steps"], "a regrade tells the recorded trajectory"


def test_a_clone_tells_what_was_said_by_the_recordings_of_the_base(
    recorded, scripted, evalgate, tmp_path
):
    """It has no earlier run; what passed before is in a baseline, and its recording in git."""
    (before,) = (recorded.path / "cassettes").iterdir()
    recorded.write("agent/prompts/rewrite.md", "Be WRONG.\n")
    recorded.commit("Be wrong")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=recorded.path, env=env).returncode == 0
    shutil.rmtree(before, ignore_errors=True)
    recorded.commit("Recordings")
    clone = tmp_path / "clone"
    recorded.git("clone", "-q", str(recorded.path), str(clone))
    assert evalgate("gate", "--base", "HEAD~2", cwd=clone).returncode == 1
    done = evalgate("report", "latest", "--format", "json", cwd=clone)
    reference = json.loads(done.stdout)["references"]["double"]
    assert reference["where"].endswith(".toml")
    assert "return n * 2\n" in reference["steps"][-1]["text"]
    verdict = clone / ".evalgate/verdict.json"
    kept = json.loads(verdict.read_text())
    for base in (None, [], {"commit": 1}, {"commit": "f" * 40}, {"commit": "--all"}):
        verdict.write_text(json.dumps({**kept, "base": base}))
        done = evalgate("report", "latest", "--format", "json", cwd=clone)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["references"]["double"]["steps"] == []


def test_one_task_and_one_trial_can_be_named(recorded, evalgate):
    """As `evalgate show` takes them."""
    assert len(document(evalgate, recorded, "latest:double")["trials"]) == 3
    assert [one["n"] for one in document(evalgate, recorded, "latest:double:2")["trials"]] == [2]


@pytest.mark.parametrize("form", ["md", "json", "junit", "html"])
def test_a_file_is_written_where_it_is_asked_for(recorded, evalgate, form):
    """Also into a folder with a space that is not there yet; the same bytes each time."""
    file = recorded.path / "out put" / f"run.{form}"
    done = evalgate("report", "--format", form, "-o", file, "--json", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"format": form, "path": str(file)}
    first = file.read_bytes()
    again = evalgate("report", "--format", form, "-o", file, cwd=recorded.path)
    assert again.returncode == 0
    assert again.stderr.endswith(f"wrote {file}\n")
    other = file.parent.with_name("elsewhere") / file.name
    said = evalgate("report", "--format", form, "-o", other, cwd=recorded.path).stderr
    assert said.endswith(f"wrote {other}, in the new folder {other.parent}\n")
    assert file.read_bytes() == first
    printed = evalgate("report", "--format", form, cwd=recorded.path).stdout
    assert printed.strip() == first.decode().strip()


def test_junit_of_a_real_run_is_read(recorded, evalgate):
    """As any XML."""
    root = ET.fromstring(evalgate("report", "--format", "junit", cwd=recorded.path).stdout)
    done = evalgate("report", "--format", "json", "--json", cwd=recorded.path)
    hold(json.loads(done.stdout), "report")
    names = [one.get("name") for one in root.iter("testcase")]
    assert names == [f"{task} #{n}" for task in ("double", "triple") for n in (1, 2, 3)]


def test_what_is_not_there_is_said(recorded, evalgate):
    """No such task, what of the project can not be read, no run at all."""
    done = evalgate("report", "latest:none", cwd=recorded.path)
    assert done.returncode == 2
    assert "holds no trial of none" in done.stderr
    done = evalgate("report", "-o", recorded.path, cwd=recorded.path)
    assert done.returncode == 2
    assert "is a directory" in done.stderr
    recorded.write("tasks/double/task.toml", "no toml [")
    value = document(evalgate, recorded)
    assert "tags, baselines and recordings of the work tree are left out" in value["notes"][0]
    assert value["trials"][0]["page"]["wire"], "a live run holds its own recordings"
    shutil.rmtree(recorded.path / ".evalgate" / "runs")
    for asked in ((), ("no-such",)):
        done = evalgate("report", *asked, cwd=recorded.path)
        assert done.returncode == 2
        assert done.stderr.startswith("error: there is no run yet\nhint: ")


def test_a_task_is_no_run(recorded, evalgate):
    """How its trials are named is said, and works."""
    for command in ("regrade", "report", "show"):
        done = evalgate(command, "double", cwd=recorded.path)
        assert done.returncode == 2
        assert done.stderr.startswith("error: no run named 'double'\nhint: it is a task: ")
        assert "its trials of a run are latest:double;" in done.stderr
        assert evalgate(command, "latest:double", cwd=recorded.path).returncode == 0
