"""What every test shares: the command as a user calls it, and a clean git environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.preloaded import Preloaded, open_preloaded

if TYPE_CHECKING:
    from tests.github.fake import FakeGitHub

SCRIPT = Path(sys.executable).parent / "evalgate"
ROOT = str(Path(__file__).parents[1])
if ROOT not in sys.path:
    # Benchmarks are no part of the package. They are found in the repository, after all else, so
    # that the evalgate that is tested stays the one that is installed.
    sys.path.append(ROOT)

# A busy machine is no failure, of no example. Before a release:
# EVALGATE_EXAMPLES=10000 pytest tests/unit/gateway
EXAMPLES = int(os.environ.get("EVALGATE_EXAMPLES", "100"))
settings.register_profile("patient", deadline=None, max_examples=EXAMPLES)
settings.load_profile("patient")


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment without git's, evalgate's and any key."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "EVALGATE_", "GITHUB_", "CI"))
        and not name.endswith(("_KEY", "_TOKEN"))
    }
    identity = {
        "GIT_AUTHOR_NAME": "T",
        "GIT_AUTHOR_EMAIL": "t@example.invalid",
        "GIT_COMMITTER_NAME": "T",
        "GIT_COMMITTER_EMAIL": "t@example.invalid",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        # Containers are for the tests that are about them: they say where the engine is.
        "DOCKER_HOST": "unix:///nowhere/docker.sock",
        "CONTAINER_HOST": "unix:///nowhere/podman.sock",
    }
    return {**kept, **identity, **(extra or {})}


@pytest.fixture(scope="session")
def git_environment() -> dict[str, str]:
    """An environment in which git reads no user's configuration and commits as T."""
    return clean_environment()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real disk of half a megabyte; only root may mount one."""
    place = tmp_path / "small disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("no right to mount a small disk here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


Evalgate = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="session")
def preloaded() -> Iterator[Preloaded]:
    """The command with its imports made once."""
    with open_preloaded(SCRIPT, clean_environment()) as opened:
        yield opened


@pytest.fixture(scope="session")
def evalgate(preloaded: Preloaded) -> Evalgate:
    """Run the command in a process of its own and return what it printed.

    What it prints is held to its schema if it has one. The process is forked from one that has
    imported all, unless it is to be ``anew``: started as a user's shell starts it, by the
    installed script.
    """

    def call(
        *arguments: str | Path,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdin: str = "",
        anew: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        words, environment = [str(one) for one in arguments], clean_environment(env)
        # Python reads these only once, when it starts.
        if anew or any(name.startswith(("PYTHON", "LC_", "LANG")) for name in env or ()):
            done = subprocess.run(
                [str(SCRIPT), *words],
                cwd=cwd,
                env=environment,
                input=stdin,
                capture_output=True,
                text=True,
                timeout=180,
                check=False,
            )
        else:
            done = preloaded.run(words, cwd=cwd, env=environment, stdin=stdin, timeout=180)
        if {"--json", "gate"} & {*words}:
            from tests.schemas import hold_answer, hold_verdict

            hold_answer(words, done.stdout)
            hold_verdict(cwd / ".evalgate/verdict.json")
        return done

    return call


@pytest.fixture
def start() -> Iterator[Start]:
    """Start the installed command, and return it while it runs; at the end none is left."""
    with ExitStack() as stack:

        def begin(
            *arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None
        ) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [str(SCRIPT), *map(str, arguments)],
                cwd=cwd,
                env=clean_environment(env),
                text=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield begin


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    """A GitHub on loopback without any comment."""
    from tests.github.fake import serve

    with serve() as state:
        yield state
