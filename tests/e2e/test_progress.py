"""Progress of a run: a board at a terminal, plain lines elsewhere, nothing of it left behind."""

from __future__ import annotations

import re

import pytest

from tests.terminal import at_terminal

_ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_COLOURS = re.compile(rb"\x1b\[[0-9;]*[34][0-9][0-9;]*m")


def _plain(raw: bytes) -> bytes:
    return _ESCAPES.sub(b"", raw)


@pytest.fixture
def paused(repo, scripted):
    """A repository whose model waits; what lets it answer; the words of a run."""
    reached, go = scripted.hold()
    yield repo, reached, go, {"SCRIPTED_URL": scripted.url}
    go.set()


def test_a_terminal_shows_what_each_worker_is_at(paused):
    """Then the board is gone, and the table of results stands there."""
    repo, reached, go, env = paused
    with at_terminal("run", "-j", "2", cwd=repo.path, env=env) as terminal:
        terminal.wait_for("the agent works")
        assert reached.wait(60)
        board = terminal.text
        assert "0/6" in board
        assert "double #1" in board
        assert "double #2" in board
        assert "double #3" not in board
        go.set()
        assert terminal.end() == 0
    last = terminal.text
    assert re.search(
        rb"0:\d\d +about 0:\d\d left +cost unknown\s+[1-6] passed", _plain(terminal.raw)
    )
    assert "6/6 passed (100 %)" in last
    for left in ("━", "the agent works", "is graded", "left"):
        assert left not in last
    assert not terminal.screen.cursor.hidden
    assert _COLOURS.search(terminal.raw)


def test_ctrl_c_leaves_a_clean_terminal(paused):
    """The words of the interruption, the cursor, and no board."""
    repo, _, _, env = paused
    with at_terminal("run", "-j", "2", cwd=repo.path, env=env) as terminal:
        terminal.wait_for("the agent works")
        terminal.press(b"\x03")
        assert terminal.end() == 130
    *_, error, hint = terminal.text.splitlines()
    assert error.startswith("error: interrupted: 0 of 6 trials are kept in ")
    assert hint == "hint: the same command goes on where this stopped"
    assert "━" not in terminal.text
    assert not terminal.screen.cursor.hidden


def test_a_closed_terminal_ends_the_run_in_order(paused):
    """As an interruption, though nobody sees the words."""
    repo, _, _, env = paused
    with at_terminal("run", cwd=repo.path, env=env) as terminal:
        terminal.wait_for("the agent works")
        terminal.hang_up()
        assert terminal.end() == 130


def test_a_terminal_without_colours_gets_none(recorded):
    """By NO_COLOR and by --no-color; the board is there all the same."""
    for words, env in ((("--no-color",), {}), ((), {"NO_COLOR": "1"})):
        with at_terminal(*words, "replay", cwd=recorded.path, env=env) as terminal:
            assert terminal.end() == 0
        assert not _COLOURS.search(terminal.raw)
        assert "━".encode() in terminal.raw


def test_a_terminal_that_can_not_draw_gets_plain_lines(recorded):
    """TERM says so; a replay costs nothing, and says nothing of money."""
    with at_terminal("replay", cwd=recorded.path, env={"TERM": "dumb"}) as terminal:
        assert terminal.end() == 0
    assert b"\x1b" not in terminal.raw
    assert "[6/6] pass " in terminal.text
    assert "$" not in terminal.text


def test_quiet_is_quiet_on_either_side_of_the_command(recorded, evalgate):
    """So is the option for one without colours; both are in each command's help."""
    for words in (("-q", "replay"), ("replay", "--quiet"), ("replay", "-q", "--no-color")):
        done = evalgate(*words, cwd=recorded.path)
        assert (done.returncode, done.stderr) == (0, ""), words
    told = evalgate("baseline", "list", "--help", cwd=recorded.path).stdout
    assert all(word in told for word in ("--json", "-q, --quiet", "--no-color"))


def test_a_pipe_gets_plain_lines(recorded, evalgate):
    """One a trial, on stderr, and the table on stdout; whatever the environment says of colours."""
    done = evalgate("replay", cwd=recorded.path, env={"FORCE_COLOR": "1", "TERM": "xterm"})
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert len(re.findall(r"^\[\d/6\] pass  (double|triple) #\d ", done.stderr, re.MULTILINE)) == 6
    assert done.stdout.startswith("task ")
