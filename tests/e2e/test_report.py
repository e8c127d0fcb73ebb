"""`evalgate report`: a run in four formats, from its files, its recordings and its verdict."""

from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ET

import jsonschema
import pytest

from tests.pages import ROOT

SCHEMA = json.loads((ROOT / "docs/report.schema.json").read_text())


def document(evalgate, repo, *arguments):
    done = evalgate("report", *arguments, "--format", "json", cwd=repo.path)
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    jsonschema.validate(value, SCHEMA)
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
    assert evalgate("report", "--format", form, "-o", file, cwd=recorded.path).returncode == 0
    assert file.read_bytes() == first
    printed = evalgate("report", "--format", form, cwd=recorded.path).stdout
    assert printed.strip() == first.decode().strip()


def test_junit_of_a_real_run_is_read(recorded, evalgate):
    """As any XML."""
    root = ET.fromstring(evalgate("report", "--format", "junit", cwd=recorded.path).stdout)
    names = [one.get("name") for one in root.iter("testcase")]
    assert names == [f"{task} #{n}" for task in ("double", "triple") for n in (1, 2, 3)]


def test_what_is_not_there_is_said(recorded, evalgate):
    """No such task, what of the project can not be read, no run at all."""
    done = evalgate("report", "latest:none", cwd=recorded.path)
    assert done.returncode == 2
    assert "holds no trial of none" in done.stderr
    recorded.write("tasks/double/task.toml", "no toml [")
    value = document(evalgate, recorded)
    assert "tags, baselines and recordings of the work tree are left out" in value["notes"][0]
    assert value["trials"][0]["page"]["wire"], "a live run holds its own recordings"
    shutil.rmtree(recorded.path / ".evalgate" / "runs")
    for asked in ((), ("no-such",)):
        done = evalgate("report", *asked, cwd=recorded.path)
        assert done.returncode == 2
        assert done.stderr.startswith("error: there is no run yet\nhint: ")
