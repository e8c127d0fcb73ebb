"""Where new tasks may go, and an import that was killed half way."""

from __future__ import annotations

import shutil

import pytest

GOLDEN = """
TASKS = [
    {"id": "add", "prompt": "What is 3 + 4?", "expected_output": "7"},
    {"id": "sub", "prompt": "What is 3 - 4?", "expected_output": -1},
]
"""


@pytest.fixture
def importing(repo, evalgate, tmp_path):
    """Import two tasks; return the finished process."""
    (tmp_path / "golden.py").write_text(GOLDEN)

    def call(*words: str):
        return evalgate("task", "import", str(tmp_path / "golden.py"), *words, cwd=repo.path)

    return call


@pytest.mark.parametrize(
    ("into", "folder"),
    [
        ("a/b c/é", "a/b c/é"),
        ("./tasks/", "tasks"),
        ("x//y/../z", "x/z"),
        ("{root}/here", "here"),
    ],
)
def test_a_folder_of_the_project(importing, repo, into, folder):
    """Also one in several, with blanks and accents; that the suite does not take it is said."""
    done = importing("--into", into.format(root=repo.path))
    assert done.returncode == 0, done.stderr
    assert (repo.path / folder / "add" / "task.toml").is_file()
    told = f'the suite does not take {folder}: add "{folder}/*" to suite.tasks'
    assert (told in done.stdout) is (folder != "tasks")


@pytest.mark.parametrize(
    "into",
    [
        "..",
        ".",
        "../beside",
        "/nowhere",
        "~/tasks",
        ".git/x",
        ".evalgate/x",
        "evalgate.toml",
        "evalgate.toml/x",
        "tasks/double",
        "tasks/double/environment/workspace",
        "a\nb",
        "leads",
    ],
)
def test_any_other_place_is_refused(importing, repo, evalgate, into):
    """With a hint, by every command that makes tasks; nothing is written."""
    (repo.path / "leads").symlink_to("..")
    before = {path.name for path in repo.path.iterdir()}
    beside = {path.name for path in repo.path.parent.iterdir()}
    mining = evalgate("task", "mine", "--into", into, cwd=repo.path)
    making = evalgate("task", "new", "--from-commit", "HEAD", "--into", into, cwd=repo.path)
    for done in (importing("--into", into), mining, making):
        assert done.returncode == 2, done.stdout
        assert done.stderr.startswith("error: --into "), done.stderr
        assert "hint: name a folder of the project" in done.stderr
    assert {path.name for path in repo.path.iterdir()} == before
    assert {path.name for path in repo.path.parent.iterdir()} == beside


def test_an_import_that_was_killed_goes_on(importing, repo):
    """What was written is left; where all of it is there, or something else is, that is said."""
    assert importing().returncode == 0
    shutil.rmtree(repo.path / "tasks" / "sub")
    again = importing()
    assert again.returncode == 0, again.stderr
    assert (repo.path / "tasks" / "sub" / "task.toml").is_file()
    assert "is there already" in importing().stderr
    shutil.rmtree(repo.path / "tasks" / "sub")
    (repo.path / "tasks" / "add" / "instruction.md").write_text("Another.\n")
    assert "add is there already" in importing().stderr
    assert not (repo.path / "tasks" / "sub").exists()
