"""`evalgate clean`, end to end: what goes, what stays and why."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalgate.sandboxes.leftovers import remove_leftovers
from evalgate.sandboxes.room_name import room_prefix
from tests.bare_engine import BareEngine, open_bare_engine

DAY = 86_400
#: Prints how the rooms of a process begin that is dead once this has been read.
DEAD = "from evalgate.sandboxes.room_name import room_prefix; print(room_prefix(), end='')"


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[BareEngine]:
    """An engine of the test's own."""
    with open_bare_engine(tmp_path / "engine") as engine:
        yield engine


@pytest.fixture
def env(tmp_path: Path, bare: BareEngine) -> dict[str, str]:
    """The engine, and a folder for rooms and one for sockets of the test's own."""
    for name in ("rooms", "sockets"):
        (tmp_path / name).mkdir()
    return {
        "DOCKER_HOST": bare.address,
        "TMPDIR": str(tmp_path / "rooms"),
        "XDG_RUNTIME_DIR": str(tmp_path / "sockets"),
    }


def image(tags: list[str], inputs: str, days: float) -> dict[str, Any]:
    """Return what an engine tells of an image with our label."""
    return {
        "Id": f"sha256:{inputs}",
        "RepoTags": tags,
        "Labels": {"evalgate.inputs": inputs},
        "Created": int(time.time() - days * DAY),
    }


def dead_prefix() -> str:
    """Return how the rooms of a dead process begin."""
    done = subprocess.run([sys.executable, "-c", DEAD], capture_output=True, check=True, text=True)
    return done.stdout


def test_one_client_asks_for_all_rooms_of_an_engine(bare: BareEngine, tmp_path: Path) -> None:
    """Each client asks first which API is spoken, and keeps connections of its own."""
    rooms = tmp_path / "rooms"
    for number in range(5):
        room = rooms / f"{dead_prefix()}{number}"
        room.mkdir(parents=True)
        (room / "engine").write_text(bare.address)
    assert remove_leftovers(rooms) == 5
    assert len([one for one in bare.asked if one.startswith("DELETE ")]) == 5
    assert bare.asked.count("GET /version") == 1
    assert list(rooms.iterdir()) == []


def removed(bare: BareEngine) -> list[str]:
    """Return what the engine was told to remove, in order."""
    said = [one.removeprefix("DELETE ") for one in bare.asked if one.startswith("DELETE ")]
    return [one.partition("/images/")[2].partition("?")[0] for one in said]


def test_old_images_of_ours_go_and_no_others(evalgate, tmp_path, bare, env) -> None:
    """A week is what is told; what somebody made on top of ours has our label, and is theirs."""
    bare.images = [
        image(["evalgate-sandbox:aaaaaaaaaaaa"], "aaaaaaaaaaaa", 30),
        image(["evalgate-task:bbbbbbbbbbbb"], "bbbbbbbbbbbb", 8),
        image(["evalgate-setup:cccccccccccc"], "cccccccccccc", 6),
        image(["theirs:1", "evalgate-sandbox:mine"], "aaaaaaaaaaaa", 9),
        image(["<none>:<none>"], "dddddddddddd", 9),
    ]
    old = ["evalgate-task:bbbbbbbbbbbb", "sha256:dddddddddddd", "evalgate-sandbox:aaaaaaaaaaaa"]
    shown = evalgate("--json", "clean", "--dry-run", cwd=tmp_path, env=env)
    found = json.loads(shown.stdout)["found"]
    assert sorted(one["name"] for one in found) == sorted(old)
    assert {one["kind"] for one in found} == {"image"}
    assert removed(bare) == []
    done = evalgate("clean", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert "image evalgate-task:bbbbbbbbbbbb: removed" in done.stdout
    assert sorted(removed(bare)) == sorted(old)
    assert removed(bare)[-1] == "evalgate-sandbox:aaaaaaaaaaaa"  # what others may stand on
    asked = evalgate("--json", "clean", "--images", "--dry-run", cwd=tmp_path, env=env)
    every = [one["name"] for one in json.loads(asked.stdout)["found"]]
    assert sorted(every) == sorted([*old, "evalgate-setup:cccccccccccc"])


def test_images_stay_while_somebody_works_at_the_engine(evalgate, tmp_path, bare, env) -> None:
    """Between two stages nothing holds them but the evalgate that goes on."""
    bare.images = [image(["evalgate-sandbox:aaaaaaaaaaaa"], "aaaaaaaaaaaa", 30)]
    bare.containers = [{"Names": [f"/{room_prefix()}x"]}]
    done = evalgate("clean", "--images", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert "nothing is left" in done.stdout
    assert removed(bare) == []


def test_what_can_not_be_removed_is_said_to_stay(evalgate, tmp_path, bare, env) -> None:
    """An image in use, and a room whose engine does not answer."""
    bare.images = [image(["evalgate-task:bbbbbbbbbbbb"], "bbbbbbbbbbbb", 8)]
    bare.needed = {"evalgate-task:bbbbbbbbbbbb"}
    room = Path(env["TMPDIR"], f"{dead_prefix()}x")
    room.mkdir()
    with socket.socket(socket.AF_UNIX) as closed:
        closed.bind(f"{tmp_path}/deaf")
    (room / "engine").write_text(f"unix://{tmp_path}/deaf")
    done = evalgate("--json", "clean", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    stays = json.loads(done.stdout)["stays"]
    assert stays["evalgate-task:bbbbbbbbbbbb"] == "evalgate-task:bbbbbbbbbbbb is being used"
    assert stays[os.fspath(room)]
    assert room.exists()
    told = evalgate("clean", cwd=tmp_path, env=env)
    assert f"room {room}: stays: " in told.stdout


def test_a_room_whose_engine_is_gone_goes(evalgate, tmp_path, bare, env) -> None:
    """Nobody answers at a socket that is not there; a warning of it would come for ever."""
    room = Path(env["TMPDIR"], f"{dead_prefix()}x")
    room.mkdir()
    (room / "engine").write_text(f"unix://{tmp_path}/gone")
    done = evalgate("clean", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert f"room {room}: removed" in done.stdout
    assert done.stderr == ""
    assert not room.exists()


def test_folders_of_commands_that_were_killed_go_at_once(evalgate, tmp_path, bare, env) -> None:
    """Those of a command that lives stay."""
    dead = dead_prefix().replace("evalgate-room-", "evalgate-passing-tree-")
    mine = room_prefix().replace("evalgate-room-", "evalgate-passing-tree-")
    left, used = (Path(env["TMPDIR"], f"{prefix}x") for prefix in (dead, mine))
    for folder in (left, used):
        (folder / "objects").mkdir(parents=True)
    done = evalgate("clean", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert f"folder {left}: removed" in done.stdout
    assert (left.exists(), used.exists()) == (False, True)


def test_the_next_run_removes_folders_of_commands_that_were_killed(
    evalgate, repo, scripted, tmp_path
) -> None:
    """As it removes rooms: nobody has to say `clean`."""
    dead = dead_prefix().replace("evalgate-room-", "evalgate-passing-tree-")
    left = tmp_path / "rooms" / f"{dead}x"
    left.mkdir(parents=True)
    env = {"TMPDIR": str(left.parent), "SCRIPTED_URL": scripted.url}
    done = evalgate("run", "double", cwd=repo.path, env=env)
    assert done.returncode == 0, done.stderr
    assert not left.exists()
