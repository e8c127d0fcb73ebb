"""`evalgate cassette …`: looks into recordings, moves them, and hands them to other tools."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import evalgate.vcr as evalgate_vcr
from evalgate.core.redaction import Redactor
from evalgate.gateway.cassette import dump_cassette, load_cassette
from evalgate.gateway.format.header import Header
from evalgate.gateway.format.journal import open_journal

KEY = "k3y-of-the-test-0123456789abcdef"
RULE = """
[[cassettes.scrub]]
name = "build-number"
pattern = 'Build \\d+'
replace = "Build <N>"
reason = "every build has another number"
"""


def cassettes(repo, folder: str = "cassettes") -> list[Path]:
    return sorted((repo.path / folder).rglob("*.json"))


def record(repo, scripted, evalgate, *more: str, cwd: Path | None = None):
    done = evalgate(
        "run", "--record", *more, cwd=cwd or repo.path, env={"SCRIPTED_URL": scripted.url}
    )
    assert done.returncode == 0, done.stderr
    return done


def configure(repo, text: str) -> None:
    path = repo.path / "evalgate.toml"
    path.write_text(path.read_text() + text)


def ask(evalgate, cwd: Path, *arguments: str | Path, code: int = 0, **more):
    """Ask for the document of a command about cassettes."""
    done = evalgate("cassette", *arguments, "--json", cwd=cwd, **more)
    assert done.returncode == code, done.stderr + done.stdout
    return json.loads(done.stdout)


def tell(evalgate, cwd: Path, *arguments: str | Path, code: int = 0, **more) -> str:
    """Ask for the text of a command about cassettes."""
    done = evalgate("cassette", *arguments, cwd=cwd, **more)
    assert done.returncode == code, done.stderr + done.stdout
    return done.stdout + done.stderr


# Recording


def test_two_branches_that_recorded_merge_without_conflict(recorded, scripted, evalgate):
    """Each adds recordings of its own harness; no file of the base is renamed apart."""
    text = (recorded.path / "agent/prompts/rewrite.md").read_text()
    recorded.write("agent/prompts/shell.md", "Shell.\n" * 9)
    recorded.commit("Room between two edits")
    for branch, edit in (("one", "agent/prompts/rewrite.md"), ("two", "agent/prompts/shell.md")):
        recorded.git("checkout", "-q", "-b", branch, "main")
        recorded.write(edit, f"{text}\nSay it as branch {branch} does.\n")
        record(recorded, scripted, evalgate)
        assert evalgate("baseline", "accept", "-k", "1", cwd=recorded.path).returncode == 0
        recorded.commit(f"Edit and recordings of {branch}")
    recorded.git("merge", "-q", "--no-edit", "one")
    assert recorded.git("status", "--porcelain") == ""
    value = ask(evalgate, recorded.path, "verify")
    assert (value["whole"], value["wrong"]) == (18, [])
    assert len(list((recorded.path / "baselines").glob("*.toml"))) == 3


def test_a_recording_replaces_what_was_tried_and_leaves_what_is_committed(
    recorded, scripted, evalgate
):
    """An edit that was recorded and given up goes; the base's recordings stay until pruned."""
    (base,) = (recorded.path / "cassettes").iterdir()
    recorded.write("agent/prompts/rewrite.md", "Tried.\n")
    record(recorded, scripted, evalgate)
    (tried,) = set((recorded.path / "cassettes").iterdir()) - {base}
    recorded.write("agent/prompts/rewrite.md", "Tried again.\n")
    record(recorded, scripted, evalgate)
    now = set((recorded.path / "cassettes").iterdir())
    assert base in now
    assert tried not in now
    assert len(now) == 2


def test_the_first_recording_for_a_public_host_warns_once(repo, scripted, evalgate):
    """What is pushed to such a host may be read by everybody; said once, never an error."""
    repo.git("remote", "add", "origin", "git@github.com:somebody/something.git")
    assert "on github.com is public" in record(repo, scripted, evalgate).stderr
    assert "public" not in record(repo, scripted, evalgate, "--again").stderr
    repo.write("agent/prompts/rewrite.md", "Another prompt.\n")
    assert "public" not in record(repo, scripted, evalgate).stderr


def test_no_remote_no_warning(repo, scripted, evalgate):
    """A repository that goes nowhere needs no warning."""
    assert "public" not in record(repo, scripted, evalgate).stderr


@pytest.mark.parametrize("absolute", [True, False])
def test_recordings_may_lie_outside_the_repository(repo, scripted, evalgate, tmp_path, absolute):
    """They are written and read there, and the gate says that no commit holds them."""
    place = tmp_path / "recordings é"
    configure(repo, f'\n[cassettes]\npath = "{place if absolute else "../recordings é"}"\n')
    repo.commit("Recordings elsewhere")
    record(repo, scripted, evalgate)
    assert not (repo.path / "cassettes").exists()
    assert len(list(place.rglob("*.json"))) == 6
    done = evalgate("replay", cwd=repo.path)
    assert done.returncode == 0, done.stderr
    assert evalgate("baseline", "accept", "-k", "1", cwd=repo.path).returncode == 0
    repo.commit("A baseline")
    repo.write("agent/prompts/rewrite.md", "Another prompt.\n")
    record(repo, scripted, evalgate)
    assert len(list(place.rglob("*.json"))) == 12  # another clone may need the older ones
    repo.commit("An edit")
    done = evalgate("gate", cwd=repo.path)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "recordings are read from" in done.stdout
    assert "no commit holds them" in done.stdout
    value = ask(evalgate, repo.path, "list")
    assert value["place"] == str(place)
    refused = tell(evalgate, repo.path, "prune", code=2)
    assert f"recordings, as {place}/" in refused
    assert f": {place} lies outside the repository\nhint: put them aside: --to" in refused
    assert ask(evalgate, repo.path, "scan")["files"] == 14


def test_recordings_may_lie_in_another_folder_of_the_repository(repo, scripted, evalgate):
    """A revision and the work tree find them there."""
    configure(repo, '\n[cassettes]\npath = "evals/taped [1]"\n')
    record(repo, scripted, evalgate)
    assert len(cassettes(repo, "evals/taped [1]")) == 6
    assert evalgate("replay", cwd=repo.path).returncode == 0
    repo.commit("Recordings")
    assert evalgate("replay", "--rev", "HEAD", cwd=repo.path).returncode == 0
    assert ask(evalgate, repo.path, "list", "--rev", "HEAD")["total"]["trials"] == 6


@pytest.mark.parametrize("path", [".", "..", ".git/tapes", "/"])
def test_a_folder_that_is_not_for_recordings_is_refused(repo, evalgate, path):
    """Recordings replace whole folders: none may be the project itself."""
    configure(repo, f'\n[cassettes]\npath = "{path}"\n')
    assert "cassettes.path" in tell(evalgate, repo.path, "list", code=2)


# Listing and showing


def test_the_list_tells_harness_by_harness(recorded, evalgate):
    """Whose recordings they are, how many, of when, by which model, how large."""
    value = ask(evalgate, recorded.path, "list")
    (one,) = value["harnesses"]
    assert one["fingerprint"] == value["fingerprint"]
    assert one["harness"] == "current"
    assert one["tasks"] == {"double": 3, "triple": 3}
    assert (one["trials"], one["recording"], one["models"]) == (6, 1, ["scripted-1"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", one["recorded"][0])
    assert value["total"]["bytes"] == sum(len(p.read_bytes()) for p in cassettes(recorded))
    recorded.write("agent/prompts/rewrite.md", "Another prompt.\n")
    (one,) = ask(evalgate, recorded.path, "list")["harnesses"]
    assert one["harness"] == "HEAD's"
    recorded.commit("Another prompt")
    assert " other " in tell(evalgate, recorded.path / "tasks", "list")


def test_the_list_names_what_can_not_be_read(recorded, evalgate):
    """Damage and strays are told, and hide nothing else."""
    first = cassettes(recorded)[0]
    first.write_bytes(first.read_bytes()[:-40])
    recorded.write("cassettes/notes.txt", "hm\n")
    text = tell(evalgate, recorded.path, "list", code=2)
    assert "can not be read: cassettes/" in text
    assert "no recording belongs there: cassettes/notes.txt" in text
    assert "5 trials of 1 harness," in text


def test_before_anything_is_recorded(repo, evalgate, tmp_path):
    """Each command says what is not there, and what to do."""
    assert "nothing is recorded" in tell(evalgate, repo.path, "list")
    assert "evalgate run --record" in tell(evalgate, repo.path, "show", "double", code=2)
    assert "evalgate run --record" in tell(evalgate, repo.path, "export", "--to", "har", code=2)
    assert "no recording" in tell(evalgate, repo.path, "verify", code=5)
    assert "nothing to prune" in tell(evalgate, repo.path, "prune")
    assert "0 files scanned, clean" in tell(evalgate, repo.path, "scan")
    empty = tmp_path / "empty"
    empty.mkdir()
    repo.git("init", "-q", str(empty))
    for verb in ("list", "scan", "verify", "prune"):
        assert "configuration" in tell(evalgate, empty, verb, code=2)


def test_a_cassette_is_shown_with_what_was_scrubbed(repo, scripted, evalgate):
    """The table names rule, dialect, hits and reason; a rule of the project's own is in it."""
    path = "tasks/double/instruction.md"
    repo.write(path, (repo.path / path).read_text() + "It is Build 1234 and Build 77.\n")
    configure(repo, f'\n[cassettes]\nwithout = ["date"]\nalso = ["uuid"]\n{RULE}')
    record(repo, scripted, evalgate)
    value = ask(evalgate, repo.path, "show", "double:2")
    rules = {row["rule"]: row for row in value["scrubs"]}
    assert rules["build-number"] == {
        "rule": "build-number",
        "dialect": "any",
        "hits": 2,
        "reason": "every build has another number",
    }
    assert "date" not in rules
    assert rules["uuid"]["hits"] == 0
    assert {"places", "secrets"} <= rules.keys()
    assert value["same_rules"]
    assert value["header"]["n"] == 2
    assert value["measured"]["outcome"] == "passed"
    (exchange,) = value["exchanges"]
    assert (exchange["status"], exchange["messages"]) == (200, 2)
    assert exchange["reply"]["usage"]["input_tokens"] == 100
    assert exchange["new_bytes"] > 100
    assert all(drop["reason"] for drop in value["drops"])
    text = tell(evalgate, repo.path, "show", "double:2")
    assert re.search(r"build-number +any +2 +every build has another number", text)
    assert re.search(r"0 +openai-chat +POST /v1/chat/completions +200", text)
    full = tell(evalgate, repo.path, "show", "double:2", "--exchange", "0")
    assert "Build <N>" in full
    assert "def double(n):\n" in full
    assert "numbered from 0 to 0" in tell(
        evalgate, repo.path, "show", "double", "--exchange", "1", code=2
    )
    # Without the rule the recording is scrubbed again: it still answers, under the rules of now.
    configure(repo, "# nothing else\n")
    assert evalgate("replay", cwd=repo.path).returncode == 0


def test_a_cassette_is_named_by_path_or_by_task(recorded, evalgate):
    """From any folder; in a revision, too; a wrong name is answered with a near one."""
    first = cassettes(recorded)[0]
    name = first.relative_to(recorded.path).as_posix()
    below = recorded.path / "tasks" / "double"
    for asked, cwd in (
        (name, recorded.path),
        (name, below),
        ("double:1", below),
        (f"../../{name}", below),
    ):
        assert ask(evalgate, cwd, "show", asked)["header"]["task"] == "double"
    value = ask(evalgate, recorded.path.parent, "show", name, code=2)
    assert "not a git repository" in value["error"]["message"]
    done = evalgate(
        "-C", recorded.path, "--json", "cassette", "show", name, cwd=recorded.path.parent
    )
    assert json.loads(done.stdout)["cassette"] == name
    shutil.rmtree(recorded.path / "cassettes")
    assert ask(evalgate, recorded.path, "show", "double:3", "--rev", "HEAD")["sealed"]
    assert "did you mean double" in tell(
        evalgate, recorded.path, "show", "doubel", "--rev", "HEAD", code=2
    )


def test_a_cassette_of_another_recorder_is_shown_as_that(recorded, evalgate, tmp_path):
    """It is of no trial: nothing is said of task, agent or sandbox."""
    with evalgate_vcr.use_cassette(tmp_path / "it.json", mode="record"):
        pass
    text = tell(evalgate, recorded.path, "show", tmp_path / "it.json")
    assert re.search(r"recorded in process by evalgate\.vcr on \d{4}-\d\d-\d\d\n", text)
    assert "task" not in text
    assert "sandbox" not in text


def test_the_journal_of_a_broken_recording_is_shown(recorded, evalgate, tmp_path):
    """What a killed process left behind can be looked into, and is called what it is."""
    tape = load_cassette(cassettes(recorded)[0].read_bytes(), name="x")
    path = tmp_path / "journal.jsonl"
    header = Header(task="double", n=1)
    with open_journal(path, header=header, redactor=Redactor({})) as journal:
        journal.append(0, tape.exchanges[0])
    value = ask(evalgate, recorded.path, "show", path)
    assert not value["sealed"]
    assert value["exchanges"][0]["status"] == 200
    assert "the journal of task double #1" in tell(evalgate, recorded.path, "show", path)


def test_what_is_no_file_among_recordings_is_named(recorded, scripted, evalgate, tmp_path):
    """A pipe in place of a recording is an error of ours, and is not waited for."""
    place = cassettes(recorded)[0]
    place.unlink()
    os.mkfifo(place)
    name = place.relative_to(recorded.path)
    for words in (("list",), ("verify",), ("show", "double:1"), ("prune", "--to", tmp_path / "x")):
        said = tell(evalgate, recorded.path, *words, code=2)
        assert f"error: {name} is no file that can be read\nhint: " in said
    for words in (("scan",), ("scan", "cassettes")):
        assert f"{name} is no file that can be read" in tell(
            evalgate, recorded.path, *words, code=2
        )
    assert "neither a file nor a folder" in tell(evalgate, recorded.path, "scan", name, code=2)


def test_a_pipe_that_git_does_not_see_is_named(repo, scripted, evalgate, tmp_path):
    """In the folder of this harness, and in a folder outside of the repository."""
    short = json.loads(evalgate("--json", "fingerprint", cwd=repo.path).stdout)["fingerprint"][:12]
    for folder in (repo.path / "cassettes", tmp_path / "outside"):
        (folder / short / "double").mkdir(parents=True)
        os.mkfifo(folder / short / "double" / "1.json")
    done = evalgate("run", "--record", cwd=repo.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 2, done.stderr
    assert "double/1.json is no file that can be read\nhint: " in done.stderr
    configure(repo, f'\n[cassettes]\npath = "{tmp_path / "outside"}"\n')
    said = tell(evalgate, repo.path, "verify", code=2)
    assert "double/1.json is no file that can be read\nhint: " in said


BROKEN = {
    "no repository": (None, "not a git repository"),
    "no configuration": ("", "no evalgate configuration"),
    "a broken configuration": ("trials = [", "evalgate.toml"),
}


@pytest.mark.parametrize(("text", "why"), BROKEN.values(), ids=BROKEN)
def test_a_file_that_is_named_needs_no_project(recorded, evalgate, tmp_path, text, why):
    """It is shown, compared and scanned by the usual rules, and the answer says why by these."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    for name, path in zip("ab", cassettes(recorded), strict=False):
        shutil.copy(path, place / f"{name}.json")
    if text is not None:
        recorded.git("init", "-q", cwd=place)
    if text:
        (place / "evalgate.toml").write_text(text)
    shown = ask(evalgate, place, "show", "a.json")
    assert shown["header"]["task"] == "double"
    assert why in shown["unconfigured"]
    assert why in tell(evalgate, place, "show", "a.json")
    assert tell(evalgate, place, "show", "a.json", "--exchange", "0")
    compared = ask(evalgate, place, "diff", "a.json", "b.json")
    assert compared["exchanges"]["equal"] == 1
    assert why in tell(evalgate, place, "diff", "a.json", "b.json")
    (place / "b.json").write_text(f"sk-ant-api03-{'Ab1' * 20}")
    scanned = ask(evalgate, place, "scan", "a.json", "b.json", code=6)
    assert (scanned["files"], len(scanned["leaks"])) == (2, 1)
    assert why in tell(evalgate, place, "scan", ".", code=6)
    assert "error: " in tell(evalgate, place, "show", "a.json", "--rev", "HEAD", code=2)


def test_two_cassettes_are_compared(recorded, scripted, evalgate):
    """The same task before and after an edit of the prompt: the edit is what differs."""
    recorded.write("agent/prompts/rewrite.md", "Mend the file.\n")
    record(recorded, scripted, evalgate)
    recorded.commit("An edit, with recordings")
    value = ask(evalgate, recorded.path, "diff", "double:1", "double:1", "--rev", "HEAD~1..HEAD")
    assert value["parts"] == ["prompt"]
    assert value["exchanges"] == {"a": 1, "b": 1, "equal": 0}
    assert value["first"]["a"] == value["first"]["b"] == 0
    assert any("Mend the file." in line for line in value["first"]["differs"])
    assert {row["path"] for row in value["header"]} >= {"fingerprint", "parts.prompt"}
    same = ask(evalgate, recorded.path, "diff", "double:1", "double:2")
    assert (same["exchanges"]["equal"], same["equal_replies"], same["first"]) == (1, 1, None)


# Secrets


def test_nothing_of_what_is_recorded_holds_a_secret(recorded, evalgate):
    """Clean is exit 0, also in a revision; recordings, baseline and ledger are looked through."""
    value = ask(evalgate, recorded.path, "scan", env={"OTHER_API_KEY": KEY})
    assert value == {"files": 8, "leaks": [], "unreadable": [], "unconfigured": ""}
    assert ask(evalgate, recorded.path, "scan", "--rev", "HEAD")["files"] == 8


def test_a_known_value_is_found_and_not_shown(recorded, evalgate):
    """Whatever is in the environment now: file, exchange, kind and path are told."""
    env = {"OTHER_API_KEY": "You fix bugs in Python files."}
    value = ask(evalgate, recorded.path, "scan", code=6, env=env)
    assert len(value["leaks"]) == 6
    first = value["leaks"][0]
    assert first == {
        "file": cassettes(recorded)[0].relative_to(recorded.path).as_posix(),
        "exchange": 0,
        "kind": "OTHER_API_KEY",
        "path": "request.messages[0].content",
        "form": "plain",
    }
    text = tell(evalgate, recorded.path, "scan", code=6, env=env)
    assert "exchange 0 request.messages[0].content: OTHER_API_KEY" in text
    assert env["OTHER_API_KEY"] not in text


def test_the_key_of_a_known_provider_is_found_however_it_looks(recorded, evalgate):
    """A scan knows what a run knows: here a key that nothing else tells from a word."""
    config = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", config.replace('"env:SCRIPTED_URL"', '"anthropic"'))
    recorded.write("baselines/notes.txt", "it is onlyletters\n")
    env = {"ANTHROPIC_API_KEY": "onlyletters"}
    done = evalgate("cassette", "scan", cwd=recorded.path, env=env)
    assert done.returncode == 6, done.stdout + done.stderr
    assert "baselines/notes.txt: bytes: ANTHROPIC_API_KEY" in done.stdout


def test_what_is_no_cassette_is_scanned_as_bytes_and_named(recorded, evalgate):
    """Damage is no hiding place, nor is base64, an ignored file, or a file outside the shelf."""
    hidden = base64.b64encode(b"k: " + b"sk-ant-" + b"a1" * 20).decode()
    recorded.write(".gitignore", ".evalgate\ncassettes/aaaaaaaaaaaa\n")
    recorded.write("cassettes/aaaaaaaaaaaa/t/1.json", f'{{"a": ["{hidden}"]}}')
    recorded.write("notes.txt", f"the key is {KEY}\n")
    value = ask(evalgate, recorded.path, "scan", code=6)
    (leak,) = value["leaks"]
    assert (leak["kind"], leak["path"], leak["form"]) == ("anthropic-key", "a[0]", "base64")
    assert "aaaaaaaaaaaa/t/1.json" in value["unreadable"][0]
    env = {"OTHER_API_KEY": KEY}
    given = ask(evalgate, recorded.path / "tasks", "scan", "../notes.txt", code=6, env=env)
    assert [leak["kind"] for leak in given["leaks"]] == ["OTHER_API_KEY"]
    assert "does not exist" in tell(evalgate, recorded.path, "scan", "nowhere", code=2)


# Verifying


def test_recordings_are_verified(recorded, evalgate):
    """Whole, in their places, of these tasks, and what the baseline says they are."""
    value = ask(evalgate, recorded.path, "verify")
    assert (value["files"], value["whole"]) == (6, 6)
    assert (value["wrong"], value["stale"], value["notes"]) == ([], [], [])
    assert value["baseline_rows"] == {"proven": 6, "unproven": 0}


def test_damage_and_wrong_places_are_wrong(recorded, evalgate):
    """Exit 6, and every file that is wrong is named."""
    one, two, *_ = cassettes(recorded)
    one.write_text(one.read_text().replace("openai-chat", "anthropic"))
    two.rename(two.with_name("9.json"))
    wrong = ask(evalgate, recorded.path, "verify", code=6)["wrong"]
    assert any("1.json was edited or damaged" in said for said in wrong)
    assert any("9.json: is the recording of double #2" in said for said in wrong)


def test_a_number_whose_recording_was_swapped_is_wrong(recorded, scripted, evalgate):
    """A recording of the same trial, made again by hand, proves nothing the baseline says."""
    shutil.rmtree(recorded.path / "cassettes")
    record(recorded, scripted, evalgate)
    wrong = ask(evalgate, recorded.path, "verify", code=6)["wrong"]
    assert any("double #1 is not what it names" in said for said in wrong)


def test_a_recording_made_anew_leaves_the_older_numbers_unproven(recorded, scripted, evalgate):
    """That is told, and is nothing wrong: the newer recording says that it is the second."""
    record(recorded, scripted, evalgate, "--again")
    value = ask(evalgate, recorded.path, "verify")
    assert value["baseline_rows"] == {"proven": 0, "unproven": 6}
    assert "recorded anew since" in value["notes"][0]


def test_recordings_of_another_task_are_stale(recorded, evalgate):
    """Exit 7, as for a replay."""
    recorded.write("tasks/double/instruction.md", "Something else.\n")
    stale = ask(evalgate, recorded.path, "verify", code=7)["stale"]
    assert len(stale) == 3
    assert "of another version of the task double" in stale[0]


def test_each_recording_is_counted_once_as_good_wrong_or_stale(recorded, evalgate):
    """What is wrong is never called whole, whatever else is the matter with it."""
    recorded.write("tasks/double/instruction.md", "Something else.\n")
    double, *_, triple = cassettes(recorded)
    double.rename(double.with_name("9.json"))
    triple.write_text(triple.read_text().replace("openai-chat", "anthropic"))
    said = tell(evalgate, recorded.path, "verify", code=6)
    assert said.strip().splitlines()[-1].startswith("6 recordings: 2 good, 2 wrong, 2 stale; 6 num")


@pytest.fixture
def merging(recorded, scripted, evalgate):
    """A merge of two branches that each recorded the same harness anew: all files conflict."""
    recorded.git("checkout", "-qb", "other")
    record(recorded, scripted, evalgate, "--again")
    recorded.commit("other")
    recorded.git("checkout", "-q", "main")
    record(recorded, scripted, evalgate, "--again")
    recorded.commit("mine")
    with pytest.raises(AssertionError):
        recorded.git("merge", "-q", "other")
    return recorded


def recordings_in(repo, rev: str) -> dict[str, str]:
    names = repo.git("ls-tree", "-r", "--name-only", rev, "--", "cassettes").splitlines()
    return {name: repo.git("rev-parse", f"{rev}:{name}") for name in names}


def recordings_on_disk(repo) -> dict[str, str]:
    return {str(p.relative_to(repo.path)): repo.git("hash-object", str(p)) for p in cassettes(repo)}


def test_a_merge_in_conflict_names_the_folder_and_its_cure(merging, evalgate):
    """One short line, whatever number of files; and the cure cures."""
    (folder,) = (merging.path / "cassettes").iterdir()
    cure = f"git restore --source=HEAD --staged --worktree -- cassettes/{folder.name}"
    done = evalgate("cassette", "verify", cwd=merging.path)
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"error: a merge is not finished: 6 files below cassettes/{folder.name}\nhint: "
    )
    assert f"{cure} (or --source=MERGE_HEAD)" in done.stderr
    mine, theirs = (recordings_in(merging, rev) for rev in ("HEAD", "MERGE_HEAD"))
    merging.git(*cure.replace("HEAD", "MERGE_HEAD").split()[1:])
    assert recordings_on_disk(merging) == theirs
    merging.git(*cure.split()[1:])
    assert recordings_on_disk(merging) == mine
    merging.commit("merged")
    assert "6 good, 0 wrong" in tell(evalgate, merging.path, "verify")


def test_conflict_markers_that_were_committed_are_told_in_one_line(merging, evalgate):
    """The merge is over for git, and no recording of that harness is one."""
    merging.commit("merged, as it was")
    (folder,) = (merging.path / "cassettes").iterdir()
    command = f"git restore --source=MERGE^1 --staged --worktree -- cassettes/{folder.name}"
    cure = f"take one side whole: {command} (or MERGE^2)"
    lines = tell(evalgate, merging.path, "verify", code=6).splitlines()
    (line,) = [line for line in lines if line.startswith("wrong: cassettes")]
    assert line.startswith(f"wrong: cassettes/{folder.name}: the conflict")
    assert cure in line
    assert "6 recordings: 0 good, 6 wrong, 0 stale" in lines[-1]
    done = evalgate("replay", cwd=merging.path)
    assert done.returncode == 2
    assert "holds the conflict markers of a merge" in done.stderr
    assert f"hint: {cure}" in done.stderr
    merging.git(*command.replace("MERGE", "HEAD").split()[1:])
    assert "6 good, 0 wrong" in tell(evalgate, merging.path, "verify")


def test_a_mixture_of_two_recordings_is_refused_by_name(recorded, scripted, evalgate):
    """Half of each proves nothing: whatever reads recordings says so, and how to mend it."""
    (old,) = (recorded.path / "cassettes").iterdir()
    recorded.write("agent/prompts/rewrite.md", "Mend the file.\n")
    record(recorded, scripted, evalgate)
    recorded.commit("An edit")
    record(recorded, scripted, evalgate, "--again")
    (folder,) = {*(recorded.path / "cassettes").iterdir()} - {old}
    recorded.git("checkout", "HEAD", "--", str(next(folder.rglob("1.json"))))
    said = f"cassettes/{folder.name} is a mixture of the recordings 1 and 2 of one harness"
    cure = f"git restore --source=HEAD --staged --worktree -- cassettes/{folder.name}"
    lines = tell(evalgate, recorded.path, "verify", code=6).splitlines()
    assert any(line.startswith(f"wrong: {said}; ") and cure in line for line in lines)
    assert "12 recordings: 6 good, 6 wrong, 0 stale" in lines[-1]
    recorded.commit("A mixture")
    for command in (
        ("replay",),
        ("regrade",),
        ("baseline", "accept"),
        ("gate", "--base", "HEAD~2"),
    ):
        done = evalgate(*command, cwd=recorded.path)
        assert done.returncode == 2, (command, done.stdout)
        assert f"error: {said}\nhint: " in done.stderr, command
    recorded.git(*cure.replace("HEAD", "HEAD~1").split()[1:])
    assert "12 good, 0 wrong" in tell(evalgate, recorded.path, "verify")


def test_first_recordings_of_two_branches_are_a_mixture(recorded, scripted, evalgate):
    """Both are number 1: the id tells them apart. Sets from before there was one stay good."""
    (folder,) = (recorded.path / "cassettes").iterdir()
    shutil.rmtree(folder)
    record(recorded, scripted, evalgate)
    recorded.git("checkout", "HEAD", "--", str(next(folder.rglob("1.json"))))
    said = f"cassettes/{folder.name} is a mixture of 2 recordings of one harness, each its number 1"
    assert f"wrong: {said}; " in tell(evalgate, recorded.path, "verify", code=6)
    done = evalgate("regrade", cwd=recorded.path)
    assert done.returncode == 2, done.stdout
    assert f"error: {said}\nhint: " in done.stderr
    for path in cassettes(recorded):
        tape = load_cassette(path.read_bytes(), name="x")
        old = replace(tape, header=replace(tape.header, recording_id=""))
        path.write_bytes(dump_cassette(old))
    shutil.rmtree(recorded.path / "baselines")
    assert "6 good, 0 wrong" in tell(evalgate, recorded.path, "verify")


def test_a_run_that_goes_on_is_one_recording(recorded, scripted, evalgate):
    """Also when the set it was to follow was changed meanwhile: one number, and one id."""
    env = {"SCRIPTED_URL": scripted.url}
    right, asked = scripted.answer, iter(range(100))
    scripted.answer = lambda request: right(request) if next(asked) < 3 else (401, "no")
    evalgate("run", "--record", "--again", "-j", "1", cwd=recorded.path, env=env)
    scripted.answer = right
    shutil.rmtree(recorded.path / "cassettes")
    record(recorded, scripted, evalgate)
    headers = [json.loads(p.read_bytes())["header"] for p in cassettes(recorded)]
    assert len({(one["recording"], one["recording_id"]) for one in headers}) == 1


# Pruning and exporting


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_a_dry_run_refuses_what_the_run_would(repo, scripted, evalgate, tmp_path, dry):
    """It promises nothing that would not come about."""
    record(repo, scripted, evalgate)
    (tmp_path / "file").write_text("x")
    repo.git("update-ref", "refs/evalgate/cassettes/taken/by", "HEAD")
    for arguments, said in (
        ((), "in no commit: 4 recordings"),
        (("--to", tmp_path / "file"), "is no folder"),
        (("--to-ref", "a..b"), "'refs/evalgate/cassettes/a..b' is no name of a ref"),
        (("--to-ref", "refs/heads/x"), "is no ref for files"),
        (("--to-ref", "taken"), "there can be no ref refs/evalgate/cassettes/taken beside"),
    ):
        done = evalgate("cassette", "prune", *arguments, *dry, cwd=repo.path)
        assert done.returncode == 2, (arguments, done.stdout)
        assert said in done.stderr
        assert "\nhint: " in done.stderr
    assert len(cassettes(repo)) == 6


def test_what_is_nowhere_else_is_not_removed(repo, scripted, evalgate):
    """Without a place for them, only what is committed as it is may go."""
    record(repo, scripted, evalgate)
    said = tell(evalgate, repo.path, "prune", code=2)
    assert "in no commit: 4 recordings" in said
    assert len(cassettes(repo)) == 6
    repo.commit("Recordings")
    value = ask(evalgate, repo.path, "prune", "--dry-run")
    assert (len(value["kept"]), len(value["removed"]), value["dry_run"]) == (2, 4, True)
    assert len(cassettes(repo)) == 6
    assert "back again: git checkout" in tell(evalgate, repo.path, "prune")
    assert [p.name for p in cassettes(repo)] == ["1.json", "1.json"]


def test_a_trial_that_passed_is_kept(repo, scripted, evalgate):
    """One trial a task is an example: of a task done right, where there is one."""
    answers = iter(["WRONG"] * 1 + [""] * 2)
    right = scripted.answer

    def answer(request):
        if "double" in request["messages"][-1]["content"] and next(answers):
            request["messages"][0]["content"] += "WRONG"
        return right(request)

    scripted.answer = answer
    record(repo, scripted, evalgate, "-j", "1")
    repo.commit("Recordings")
    kept = ask(evalgate, repo.path, "prune")["kept"]
    assert [name.split("/")[-1] for name in kept] == ["2.json", "1.json"]
    assert evalgate("replay", cwd=repo.path).returncode == 0


def test_pruned_recordings_are_kept_in_a_ref_and_come_back(recorded, scripted, evalgate):
    """The gate does not judge what is left, and says where the rest is; it returns as it was."""
    recorded.write("agent/prompts/rewrite.md", "Mend the file.\n")
    record(recorded, scripted, evalgate)
    before = {p.relative_to(recorded.path): p.read_bytes() for p in cassettes(recorded)}
    value = ask(evalgate, recorded.path / "tasks", "prune", "--to-ref", "auto")
    ref = value["aside"]
    assert ref.startswith("refs/evalgate/cassettes/")
    assert len(value["removed"]) == 10  # also those of the other harness
    assert len(cassettes(recorded)) == 2
    assert recorded.git("diff", "--cached", "--name-only") == ""
    assert len(recorded.git("ls-tree", "-r", "--name-only", ref).splitlines()) == 10
    recorded.commit("An edit, pruned too early")
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 7, done.stdout
    assert f"others are kept in {ref}" in done.stdout
    note = ask(evalgate, recorded.path, "prune", "--to-ref", "auto")
    assert note["removed"] == []
    done = evalgate("cassette", "export", "--from-ref", ref, "--to", "cassettes", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    assert {p.relative_to(recorded.path): p.read_bytes() for p in cassettes(recorded)} == before
    recorded.commit("All of them")
    assert evalgate("gate", "--base", "HEAD~2", cwd=recorded.path).returncode == 0


def test_an_export_never_mixes_recordings(recorded, scripted, evalgate):
    """What lies there stays when it is another recording; the names are told."""
    ref = ask(evalgate, recorded.path, "prune", "--to-ref", "auto")["aside"]
    record(recorded, scripted, evalgate, "--again")
    newer = recordings_on_disk(recorded)
    export = ("export", "--from-ref", ref, "--to", "cassettes")
    said = tell(evalgate, recorded.path, *export, code=2)
    assert "holds other recordings: " in said
    assert "and 1 more" in said
    assert "hint: nothing was written" in said
    assert recordings_on_disk(recorded) == newer
    kept = recorded.git("ls-tree", "-r", "--name-only", ref).splitlines()
    for name in kept:
        (recorded.path / name).unlink()
    left = recordings_on_disk(recorded)
    assert "would be a mixture of the recordings 1 and 2" in tell(
        evalgate, recorded.path, *export, code=2
    )
    assert recordings_on_disk(recorded) == left
    shutil.rmtree(recorded.path / "cassettes")
    for _ in range(2):  # the second time finds what the first one wrote
        assert "4 recordings written" in tell(evalgate, recorded.path, *export)


def test_a_baseline_says_where_its_proof_is_kept(recorded, evalgate):
    """Numbers whose recordings were put aside are told as that; in no ref, as unproven."""
    ref = ask(evalgate, recorded.path, "prune", "--to-ref", "old")["aside"]
    assert ref == "refs/evalgate/cassettes/old"
    value = ask(evalgate, recorded.path, "verify")
    assert value["baseline_rows"] == {"proven": 2, "unproven": 4}
    assert f"4 numbers: its proof is kept in {ref}" in value["notes"][0]
    recorded.git("update-ref", "-d", ref)
    assert "not on the shelf" in ask(evalgate, recorded.path, "verify")["notes"][0]
    said = tell(evalgate, recorded.path, "export", "--from-ref", ref, "--to", "x", code=2)
    assert "there is no ref" in said


def test_recordings_can_be_put_aside_in_a_folder(recorded, evalgate, tmp_path):
    """An artifact of CI, for one; two places at once are one too many."""
    aside = tmp_path / "put aside"
    value = ask(evalgate, recorded.path, "prune", "--keep", "2", "--to", aside)
    assert (len(value["kept"]), len(list(aside.rglob("*.json")))) == (4, 2)
    both = ("prune", "--to", aside, "--to-ref", "auto")
    assert "two places" in tell(evalgate, recorded.path, *both, code=2)
    recorded.write("agent/prompts/rewrite.md", "Another prompt.\n")
    assert "all would go" in tell(evalgate, recorded.path, "prune", code=2)


def test_exchanges_are_exported_for_other_tools(recorded, evalgate, tmp_path):
    """Lines of JSON with whole bodies; HTTP Archive 1.2; or the files themselves."""
    text = tell(evalgate, recorded.path, "export", "double:1", "triple:1", "--to", "jsonl")
    lines = [json.loads(line) for line in text.splitlines() if line]
    assert [line["request"]["body"]["model"] for line in lines] == ["scripted-1"] * 2
    said = lines[0]["response"]["body"]["choices"][0]["message"]["content"]
    assert "def double(n)" in said
    log = json.loads(tell(evalgate, recorded.path, "export", "--to", "har"))["log"]
    assert log["version"] == "1.2"
    assert len(log["entries"]) == 6
    folder = tmp_path / "copies"
    tell(evalgate, recorded.path, "export", "--to", folder)
    copies = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.json"))
    assert copies == [
        p.relative_to(recorded.path / "cassettes").as_posix() for p in cassettes(recorded)
    ]


# The gate


def test_a_change_of_what_is_scrubbed_is_named_on_top_of_the_verdict(recorded, scripted, evalgate):
    """A rule that takes everything would let any request match; it is no part of the harness."""
    before = evalgate("fingerprint", cwd=recorded.path).stdout
    configure(recorded, f'\n[cassettes]\nwithout = ["date"]\n{RULE}')
    assert evalgate("fingerprint", cwd=recorded.path).stdout == before
    recorded.write("agent/prompts/rewrite.md", "Mend the file.\n")
    record(recorded, scripted, evalgate)
    recorded.commit("Rules and a prompt")
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "this change edits what replays scrub: build-number, date" in done.stdout


def test_a_bad_rule_is_told_with_its_line(repo, evalgate):
    """File, line and key; never a traceback."""
    configure(repo, "\n[cassettes]\n" + RULE.replace("Build \\d+", "Build ("))
    said = tell(evalgate, repo.path, "list", code=2)
    assert re.search(r"evalgate.toml:\d+: cassettes.scrub.pattern: 'Build \(' is no pattern", said)


@pytest.mark.parametrize(
    "place", ["cassettes", "./tasks/../cassettes", "cassettes/aside", ".", ".git/x"]
)
def test_a_place_that_is_not_apart_is_refused_and_nothing_is_lost(recorded, evalgate, place):
    """Putting recordings where they are removed from would destroy them."""
    folder = recorded.path / "cassettes"
    before = {path: path.read_bytes() for path in folder.rglob("*.json")}
    done = evalgate("cassette", "prune", "--to", place, cwd=recorded.path)
    assert done.returncode == 2, done.stdout
    assert "no place apart" in done.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*.json")} == before
