"""What every sandbox keeps to: one list of behaviours, run for every provider.

A provider's known gaps are what it does not promise, and ``FURTHER``; all else holds for each.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pytest

import evalgate
from evalgate.core.files import File, FileMode, Tree
from evalgate.errors import NotAvailableError, UsageError
from evalgate.protocols import Places, SandboxProvider, Stage, StageResult, StageStatus
from evalgate.sandboxes.bwrap import BwrapProvider
from evalgate.sandboxes.container import podman
from evalgate.sandboxes.leftovers import remove_leftovers
from evalgate.sandboxes.table import PROVIDERS, engines, resolve
from evalgate.sandboxes.variables import SYSTEM_DIRECTORIES
from tests.providers import not_usable

KEPT = 512 * 1024

#: Makes a file at the end of a path that is longer than the kernel takes at once.
FAR = """
import os
for name in ["d" * 250] * 17: os.mkdir(name); os.chdir(name)
open("far", "x")
"""

#: What a provider does not keep to beside what it does not promise.
FURTHER: Mapping[str, frozenset[str]] = {
    "process": frozenset(
        {
            "fixed paths",
            "tells of memory",
            # Modes do not hold root back.
            *(["places for reading"] if os.geteuid() == 0 else []),
        }
    ),
    "bwrap": frozenset({"tells of memory"}),
    "podman": frozenset({"tells of memory"}),
}


def gaps_of(name: str) -> frozenset[str]:
    """Return the behaviours that are not asked of a provider."""
    promises = asdict(PROVIDERS[name].make().promises)
    unpromised = {promise.replace("_", " ") for promise, kept in promises.items() if not kept}
    return FURTHER.get(name, frozenset()) | unpromised


def needs(promise: str) -> pytest.MarkDecorator:
    """Ask a behaviour only of the providers of which it is no known gap."""
    names = [name for name in sorted(PROVIDERS) if promise not in gaps_of(name)]
    return pytest.mark.parametrize("provider", names, indirect=True)


def run(
    provider: SandboxProvider,
    argv: Sequence[str],
    *,
    trees: Mapping[str, Tree] | None = None,
    stop: threading.Event | None = None,
    timeout: float = 20,
    env: Mapping[str, str] | None = None,
    keep: Sequence[str] = ("repo",),
    reach: int | None = None,
) -> StageResult:
    """Run one stage in a fresh sandbox."""
    stage = Stage(
        trees=trees or {},
        argv=argv,
        timeout=timeout,
        env=env or {},
        keep=keep,
        reach=reach,
    )
    with provider.open_sandbox() as sandbox:
        return sandbox.run(stage, stop or threading.Event())


def shows_host_programs(provider: SandboxProvider) -> bool:
    """Tell whether programs are those of the host; a container has those of its image."""
    return provider.name in {"process", "bwrap"}


def shell(script: str) -> list[str]:
    """Return the words that run a shell script."""
    return ["sh", "-c", script]


def python(code: str) -> list[str]:
    """Return the words that run Python code."""
    return ["python3", "-I", "-S", "-c", code]


def text(content: str, mode: FileMode = FileMode.REGULAR) -> File:
    """Return a file with text in it."""
    return File(data=content.encode(), mode=mode)


def alive_with(mark: str) -> list[int]:
    """Return the processes of this machine that carry a mark on their command line."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                line = (place / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line and int(place.name) != os.getpid():
                found.append(int(place.name))
    return found


@contextmanager
def listener() -> Iterator[int]:
    """Listen on the host's loopback and say a word to everyone."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"from the host")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


# --- the program: how it ends and what it says ---------------------------------------------


def test_success_is_exit_code_zero(provider: SandboxProvider) -> None:
    """A program that ends well has exited with 0, nothing to say and nothing to add."""
    result = run(provider, ["true"])
    assert (result.status, result.exit_code) == (StageStatus.EXITED, 0)
    assert (result.log, result.log_bytes, result.detail) == (b"", 0, "")


def test_exit_code_is_kept(provider: SandboxProvider) -> None:
    """The program's own exit code comes back."""
    result = run(provider, shell("exit 3"))
    assert (result.status, result.exit_code) == (StageStatus.EXITED, 3)


@pytest.mark.parametrize("code", [1, 126, 127])
def test_special_exit_codes_are_the_programs_own(provider: SandboxProvider, code: int) -> None:
    """Codes that shells and launchers use for themselves are still an end of the program."""
    result = run(provider, shell(f"exit {code}"))
    assert (result.status, result.exit_code) == (StageStatus.EXITED, code)


def test_a_signal_is_128_and_its_number(provider: SandboxProvider) -> None:
    """A program that a signal ended has exited, with the code a shell would give."""
    result = run(provider, shell("kill -SEGV $$"))
    assert (result.status, result.exit_code) == (StageStatus.EXITED, 128 + signal.SIGSEGV)


def test_both_outputs_are_in_the_log(provider: SandboxProvider) -> None:
    """Standard output and standard error are one log, in the order of writing."""
    result = run(provider, shell("echo one; echo two >&2; echo three"))
    assert result.log == b"one\ntwo\nthree\n"
    assert result.log_bytes == len(result.log)


def test_output_is_bytes(provider: SandboxProvider) -> None:
    """Neither NUL bytes nor bytes outside UTF-8 are changed."""
    result = run(provider, shell(r"printf 'a\000b\377\376c'"))
    assert result.log == b"a\0b\xff\xfec"


def test_standard_input_is_empty(provider: SandboxProvider) -> None:
    """A program that asks for input gets none and does not wait."""
    assert run(provider, ["cat"], timeout=5).status is StageStatus.EXITED


def test_a_flood_is_counted_and_cut(provider: SandboxProvider) -> None:
    """Of 50 MB the head and the tail are kept, and all bytes are counted."""
    result = run(provider, shell("echo first; head -c 50000000 /dev/zero; echo last"))
    assert result.status is StageStatus.EXITED
    assert result.log_bytes == 50_000_000 + len("first\nlast\n")
    assert result.log.startswith(b"first\n\0")
    assert result.log.endswith(b"\0last\n")
    assert b"bytes left out" in result.log
    assert 2 * KEPT <= len(result.log) <= 2 * KEPT + 100


@pytest.mark.parametrize("reach", [None, 45678])
def test_a_missing_program_is_not_an_end(provider: SandboxProvider, reach: int | None) -> None:
    """A program that is not there is named, and is neither an exit code nor an exception."""
    result = run(provider, ["no-such-program"], trees={"repo": {"a": text("a")}}, reach=reach)
    assert (result.status, result.exit_code) == (StageStatus.NOT_FOUND, None)
    assert "no-such-program" in result.detail


@pytest.mark.parametrize("reach", [None, 45678])
def test_a_missing_interpreter_is_a_missing_program(
    provider: SandboxProvider, reach: int | None
) -> None:
    """A script whose interpreter is not there can not be started either."""
    script = text("#!/no/such/interpreter\n", FileMode.EXECUTABLE)
    result = run(provider, ["./script"], trees={"repo": {"script": script}}, reach=reach)
    assert result.status is StageStatus.NOT_FOUND


def test_a_program_from_the_repository_runs(provider: SandboxProvider) -> None:
    """A relative name is looked up in the repository."""
    script = text("#!/bin/sh\necho here\n", FileMode.EXECUTABLE)
    assert run(provider, ["./script"], trees={"repo": {"script": script}}).log == b"here\n"


@pytest.mark.parametrize("stage", [{"argv": ["a\0b"]}, {"argv": ["a"], "env": {"B": "c\0--bind"}}])
def test_a_nul_byte_is_refused(provider: SandboxProvider, stage: Mapping[str, object]) -> None:
    """No word can become two of them."""
    with provider.open_sandbox() as sandbox, pytest.raises(UsageError, match="malformed"):
        sandbox.run(Stage(trees={}, timeout=1, **stage), threading.Event())  # type: ignore[arg-type]


# --- where it runs, and with what environment ----------------------------------------------


def test_the_program_starts_in_the_repository(provider: SandboxProvider) -> None:
    """The working directory is the place of the repository."""
    with provider.open_sandbox() as sandbox:
        result = sandbox.run(Stage(trees={}, argv=["pwd"], timeout=5), threading.Event())
        assert result.log.decode().strip() == sandbox.places.repo


def test_the_environment_is_exact(
    provider: SandboxProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There is what the stage gives and the fixed variables, and nothing of the host's."""
    monkeypatch.setenv("SOME_API_KEY", "sk-planted")
    stage = Stage(trees={}, argv=["env", "-0"], timeout=5, env={"GIVEN": "a value\nof two lines"})
    with provider.open_sandbox() as sandbox:
        places = sandbox.places
        result = sandbox.run(stage, threading.Event())
    pairs = dict(pair.split("=", 1) for pair in result.log.decode().rstrip("\0").split("\0"))
    path = pairs.pop("PATH").split(":")
    own = [f"{sys.base_prefix}/bin", f"{sys.prefix}/bin"]
    assert path[:2] == (own if shows_host_programs(provider) else list(SYSTEM_DIRECTORIES[:2]))
    assert len(pairs.pop("EVALGATE_STAGE")) >= 32
    assert pairs == {
        "GIVEN": "a value\nof two lines",
        "HOME": places.home,
        "TMPDIR": places.tmp,
        "PWD": places.repo,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        "PYTHONDONTWRITEBYTECODE": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }


@needs("own processes")
def test_no_process_inside_shows_a_host_variable(
    provider: SandboxProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not even the first process, which belongs to the sandbox, was given the host's keys."""
    monkeypatch.setenv("SOME_API_KEY", "sk-planted")
    result = run(provider, shell("cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n'"))
    assert b"EVALGATE_STAGE" in result.log
    assert b"sk-planted" not in result.log


def test_a_stage_may_choose_its_path(provider: SandboxProvider) -> None:
    """What a stage gives wins over the fixed variables."""
    script = text("#!/bin/sh\necho mine\n", FileMode.EXECUTABLE)
    with provider.open_sandbox() as sandbox:
        stage = Stage(
            trees={"harness": {"bin/mine": script}},
            argv=["mine"],
            timeout=5,
            env={"PATH": f"{sandbox.places.harness}/bin:/usr/bin:/bin"},
        )
        assert sandbox.run(stage, threading.Event()).log == b"mine\n"


def test_home_and_temp_can_be_written(provider: SandboxProvider) -> None:
    """Home, the temporary directory and the logs are the program's own."""
    with provider.open_sandbox() as sandbox:
        logs = sandbox.places.logs
        stage = Stage(
            trees={},
            argv=shell(f'echo h >"$HOME/h"; echo t >"$TMPDIR/t"; echo l >{logs}/l; mktemp'),
            timeout=5,
            keep=("home", "tmp", "logs"),
        )
        result = sandbox.run(stage, threading.Event())
    assert result.exit_code == 0
    assert result.trees["home"] == {"h": text("h\n")}
    assert result.trees["logs"] == {"l": text("l\n")}
    assert result.trees["tmp"]["t"] == text("t\n")


def test_python_is_the_base_interpreter(provider: SandboxProvider) -> None:
    """The interpreter inside is not the one of evalgate's own environment."""
    code = "import sys; print(sys.prefix)"
    prefix = run(provider, python(code)).log.decode().strip()
    assert prefix == (sys.base_prefix if shows_host_programs(provider) else "/usr")


def test_every_place_holds_what_was_laid_there(provider: SandboxProvider) -> None:
    """Each tree is found at its own place."""
    names = [name for name in Places.__slots__ if name != "logs"]
    with provider.open_sandbox() as sandbox:
        files = [f"{getattr(sandbox.places, name)}/deep/er/file" for name in names]
        trees = {name: {"deep/er/file": text(f"{name}\n")} for name in names}
        stage = Stage(trees=trees, argv=["cat", *files], timeout=5)
        log = sandbox.run(stage, threading.Event()).log
    assert log.decode().split() == names


# --- ending everything ---------------------------------------------------------------------

STUBBORN = """
trap '' TERM HUP INT
setsid sh -c 'trap "" TERM; while :; do echo x >>grows; sleep 0.02; done' MARK &
env -i PATH="$PATH" setsid sh -c '(while :; do echo x >>grows; sleep 0.02; done) & wait' MARK &
sh -c 'while :; do sleep 1; done' MARK &
(cd / && exec env -i setsid sh -c '(while :; do sleep 1; done) & wait' MARK) &
"""


#: Seconds that a busy machine may take for what a quiet one does within one; what would be
#: waited for in vain takes longer.
UNHURRIED = 15


def assert_ended(result: StageResult, mark: str, began: float, limit: float) -> None:
    """Check that nothing is left and that nothing was waited for."""
    assert time.monotonic() - began < limit + UNHURRIED
    assert alive_with(mark) == []
    assert "can not be ended" not in result.detail


def test_a_time_out_ends_everything(provider: SandboxProvider, tmp_path: Path) -> None:
    """Also children in other sessions, without their variables, and deaf to signals."""
    mark = f"mark-{tmp_path.name}-{os.getpid()}"
    with provider.open_sandbox() as sandbox:
        stage = Stage(trees={}, argv=shell(STUBBORN.replace("MARK", mark) + "wait"), timeout=0.5)
        began = time.monotonic()
        result = sandbox.run(stage, threading.Event())
        assert_ended(result, mark, began, 0.5)
        if shows_host_programs(provider):
            (grows,) = tmp_path.rglob("grows")
            size = grows.stat().st_size
            time.sleep(0.15)
            assert grows.stat().st_size == size > 0
    assert (result.status, result.exit_code) == (StageStatus.TIMEOUT, None)
    assert "grows" in result.trees["repo"]


def test_children_left_behind_are_ended(provider: SandboxProvider, tmp_path: Path) -> None:
    """When the program itself has ended, so does all it has started."""
    mark = f"mark-{tmp_path.name}-{os.getpid()}"
    began = time.monotonic()
    result = run(provider, shell(STUBBORN.replace("MARK", mark) + "sleep 0.2; exit 4"))
    assert_ended(result, mark, began, 0.2)
    assert (result.status, result.exit_code) == (StageStatus.EXITED, 4)


def test_a_child_that_holds_the_output_does_not_block(provider: SandboxProvider) -> None:
    """The end of the program counts, not the end of its output."""
    began = time.monotonic()
    result = run(provider, shell("setsid sleep 30 & echo said"))
    assert time.monotonic() - began < UNHURRIED
    assert (result.status, result.log) == (StageStatus.EXITED, b"said\n")


def test_a_program_that_closes_its_output_is_waited_for(provider: SandboxProvider) -> None:
    """The end of the output is not the end of the program."""
    result = run(provider, shell("exec >&- 2>&-; sleep 0.3; touch late; exit 5"))
    assert (result.status, result.exit_code) == (StageStatus.EXITED, 5)
    assert "late" in result.trees["repo"]


def test_a_flood_does_not_delay_the_time_limit(provider: SandboxProvider) -> None:
    """A program that never stops talking is ended in time."""
    began = time.monotonic()
    assert run(provider, ["yes"], timeout=0.5).status is StageStatus.TIMEOUT
    assert time.monotonic() - began < UNHURRIED


def test_a_stop_ends_it_soon(provider: SandboxProvider, tmp_path: Path) -> None:
    """A stop from another thread is an interruption; nothing is read back."""
    mark = f"mark-{tmp_path.name}-{os.getpid()}"
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    began = time.monotonic()
    result = run(provider, shell(STUBBORN.replace("MARK", mark) + "wait"), stop=stop)
    timer.join()
    assert_ended(result, mark, began, 0.3)
    assert (result.status, result.exit_code) == (StageStatus.INTERRUPTED, None)
    assert result.trees == {}


@needs("own processes")
def test_only_its_own_processes_are_seen(provider: SandboxProvider) -> None:
    """The process table inside begins with the sandbox, and no signal leaves it."""
    code = (
        "import os, signal\n"
        "print(sorted(int(n) for n in os.listdir('/proc') if n.isdigit()))\n"
        f"try: os.kill({os.getpid()}, 0); print('reached')\n"
        "except ProcessLookupError: print('none')"
    )
    seen, reached = run(provider, python(code)).log.decode().splitlines()
    assert len(seen.split(",")) <= 3
    assert reached == "none"


@needs("tells of memory")
def test_memory_that_is_used_up_is_told(provider: SandboxProvider) -> None:
    """Neither an exit code nor our failure: what was measured used too much."""
    code = "open('left', 'w').close(); held = [bytearray(b'x' * (100 << 20)) for _ in range(30)]"
    result = run(provider, python(code), timeout=60)
    assert (result.status, result.exit_code) == (StageStatus.MEMORY, None)
    assert "left" in result.trees["repo"]


@needs("own processes")
def test_killing_everything_ends_nothing_of_ours(provider: SandboxProvider) -> None:
    """A program may kill all that it can reach; what it left comes back all the same."""
    result = run(provider, shell("touch left; kill -9 -1; sleep 5"), timeout=20)
    assert result.status in {StageStatus.EXITED, StageStatus.ENGINE}
    if provider.name != "bwrap":  # there its first process is ended as well
        assert (result.exit_code, set(result.trees["repo"])) == (128 + 9, {"left"})


@needs("own processes")
def test_who_stops_its_clock_is_ended_all_the_same(provider: SandboxProvider) -> None:
    """What counts the time inside may be a process that the program can stop: it is its doing."""
    result = run(provider, shell("kill -STOP $PPID; while :; do sleep 1; done"), timeout=1)
    assert (result.status, result.exit_code) == (StageStatus.TIMEOUT, None)


@needs("limits memory")
def test_the_first_process_keeps_its_limits(provider: SandboxProvider) -> None:
    """Without a file to open it could say no word, and failed would become errored."""
    code = (
        "import resource as r\n"
        "for limit in (r.RLIMIT_NOFILE, r.RLIMIT_NPROC, r.RLIMIT_AS):\n"
        "    try: r.prlimit(1, limit, (3, 3)); print('lowered')\n"
        "    except OSError: pass\n"
        "r.setrlimit(r.RLIMIT_NOFILE, (64, 64)); open('kept', 'x')"
    )
    result = run(provider, python(code))
    assert (result.status, result.exit_code, result.log) == (StageStatus.EXITED, 0, b"")
    assert set(result.trees["repo"]) == {"kept"}


@needs("limits memory")
def test_who_ends_the_first_process_is_not_the_engine(provider: SandboxProvider) -> None:
    """Its memory can be written, where a kernel lets equals do so: that is its own doing."""
    code = (
        "import os\n"
        "try: memory = os.open('/proc/1/mem', os.O_RDWR)\n"
        "except OSError: raise SystemExit(3)\n"
        "for line in open('/proc/1/maps'):\n"
        "    span, rights = line.split()[:2]\n"
        "    start, end = (int(one, 16) for one in span.split('-'))\n"
        "    if 'x' in rights:\n"
        "        try: os.pwrite(memory, bytes(end - start), start)\n"
        "        except OSError: pass\n"
    )
    result = run(provider, python(code))
    assert result.status is StageStatus.EXITED
    assert result.exit_code


@needs("limits memory")
@pytest.mark.parametrize("each", ["pass", "os.setsid()"])
def test_a_program_that_never_stops_forking_is_ended(provider: SandboxProvider, each: str) -> None:
    """Its time is up, and that is all: where no process can be made any more, none is needed."""
    code = f"import os\nwhile True:\n    try: os.fork(); {each}\n    except OSError: pass"
    result = run(provider, python(code), timeout=2)
    assert (result.status, result.exit_code) == (StageStatus.TIMEOUT, None)


# --- files back ----------------------------------------------------------------------------


def test_changes_come_back(provider: SandboxProvider) -> None:
    """Changed, added and deleted files, and the right to execute."""
    trees = {
        "repo": {
            "same": text("same"),
            "changed": text("old"),
            "deleted": text("gone"),
            "dir/inner": text("inner", FileMode.EXECUTABLE),
        },
    }
    script = "printf new >changed; rm deleted; mkdir -p a/b; printf x >a/b/c; chmod +x a/b/c"
    result = run(provider, shell(script), trees=trees)
    assert result.trees["repo"] == {
        "same": text("same"),
        "changed": text("new"),
        "dir/inner": text("inner", FileMode.EXECUTABLE),
        "a/b/c": text("x", FileMode.EXECUTABLE),
    }


MOVES = {
    "renamed": "mv a lib",
    "moved down": "mkdir -p deep/er && mv a deep/er/",
    "swapped": "mv a t && mv b a && mv t b",
    "over another": "rm -rf b && mv a b",
    "a file over another": "mv a/one b/one",
    "a link to a file": "ln a/one a/three && rm a/one",
    "and back": "mv a t && mv t a",
}


@pytest.mark.parametrize("script", MOVES.values(), ids=MOVES)
def test_what_is_moved_comes_back_as_it_is(provider: SandboxProvider, script: str) -> None:
    """A file in a directory that was moved is as old as before, and is elsewhere all the same."""
    laid = {
        "a/one": text("1 of a"),
        "a/in/two": text("2 of a"),
        "b/one": text("1 of b"),
        "b/in/two": text("2 of b"),
    }
    show = "find . -type f -exec grep -H . {} +"
    result = run(provider, shell(f"{script}; {show}"), trees={"repo": laid})
    assert result.status is StageStatus.EXITED
    shown = dict(line[2:].split(":") for line in result.log.decode().splitlines())
    assert {path: file.data.decode() for path, file in result.trees["repo"].items()} == shown


def test_links_are_kept_as_links(provider: SandboxProvider) -> None:
    """No link is followed, wherever it goes: what it names is not read."""
    trees = {"repo": {"laid": File(data=b"/etc/passwd", mode=FileMode.SYMLINK)}}
    result = run(provider, shell("ln -s /etc/passwd f; ln -s / d; ln -s no-where n"), trees=trees)
    links = {"laid": b"/etc/passwd", "f": b"/etc/passwd", "d": b"/", "n": b"no-where"}
    assert result.trees["repo"] == {
        name: File(data=target, mode=FileMode.SYMLINK) for name, target in links.items()
    }


def test_a_repository_swapped_for_a_link_is_empty(provider: SandboxProvider) -> None:
    """The place itself is not followed either (it is a mount where it can not be swapped)."""
    script = "rm -f a; cd ..; rm -rf repo 2>/dev/null; ln -s /usr repo 2>/dev/null; true"
    result = run(provider, shell(script), trees={"repo": {"a": text("a")}})
    assert set(result.trees["repo"]) <= {"usr"}


def test_what_is_no_file_is_named(provider: SandboxProvider) -> None:
    """A pipe and a socket are left out, and the detail says so."""
    code = "import os, socket; os.mkfifo('pipe'); socket.socket(socket.AF_UNIX).bind('sock')"
    result = run(provider, python(code), timeout=5)
    assert result.trees["repo"] == {}
    assert "'pipe'" in result.detail
    assert "'sock'" in result.detail


def test_odd_names_survive(provider: SandboxProvider) -> None:
    """Names are bytes, both ways."""
    names = ["a b", "a\nb", "-rf", "é", b"not\xffutf8".decode("utf-8", "surrogateescape"), "*"]
    names += [" x", "0 x", "12 x", "a\\nb", "\\", "1", "\n", "x" * 255]
    laid = {f"{place}{name}": text("x") for name in names for place in ("laid/", "moved/", "")}
    code = (
        "import os\nos.mkdir('made')\n"
        "for n in os.listdir(b'laid'): open(b'made/' + n, 'w').write('y')\n"
        "for n in os.listdir(b'moved'): os.rename(b'moved/' + n, b'made/2' + n[:254])\n"
    )
    result = run(provider, python(code), trees={"repo": laid})
    kept = {path: file for path, file in laid.items() if not path.startswith("moved/")}
    made = {f"made/{name}": text("y") for name in names}
    moved = {"made/2" + os.fsdecode(os.fsencode(name)[:254]): text("x") for name in names}
    assert result.trees["repo"] == kept | made | moved


def test_git_directories_never_come_back(provider: SandboxProvider) -> None:
    """Neither at the top nor below, in whatever case they are written."""
    script = "mkdir -p .git a/.git a/.GIT; touch .git/config a/.git/HEAD a/.GIT/x a/y .gitignore"
    assert sorted(run(provider, shell(script)).trees["repo"]) == [".gitignore", "a/y"]


@pytest.mark.parametrize(
    "script",
    [
        "head -c 40000000 /dev/zero >big",
        "truncate -s 500M sparse",
        "mkdir d; cd d; seq 20001 | xargs touch",
        "i=0; while [ $i -lt 140 ]; do mkdir d; cd d; i=$((i+1)); done; touch deep",
        f"python3 -c {shlex.quote(FAR)}",
    ],
    ids=["bytes", "sparse", "files", "depth", "path"],
)
def test_too_much_is_refused(provider: SandboxProvider, script: str) -> None:
    """What is over a limit is said to be too large, the exit code is kept, nothing is cut."""
    result = run(provider, shell(script))
    assert (result.status, result.exit_code) == (StageStatus.TOO_LARGE, 0)
    assert result.trees == {}
    assert "repo: more than" in result.detail


def test_unreadable_files_are_read(provider: SandboxProvider) -> None:
    """A mode that forbids reading hides nothing."""
    script = "mkdir d; echo x >d/f; chmod 000 d/f; chmod 000 d"
    assert run(provider, shell(script)).trees["repo"] == {"d/f": text("x\n")}


@needs("places for reading")
@pytest.mark.parametrize("place", ["harness", "inbox", "tests"])
def test_places_for_reading_are_not_written(provider: SandboxProvider, place: str) -> None:
    """The harness, the inbox and the tests stay as they were laid, or a write fails."""
    laid = {"f": text("laid"), "bin/x": text("#!", FileMode.EXECUTABLE)}
    with provider.open_sandbox() as sandbox:
        where = getattr(sandbox.places, place)
        script = f"cd {where}; echo no >f; echo no >new; rm -f f; rm -rf bin; true"
        stage = Stage(trees={place: laid}, argv=shell(script), timeout=5, keep=(place,))
        result = sandbox.run(stage, threading.Event())
    assert result.trees[place] == laid


# --- nothing is shared, nothing is left ----------------------------------------------------


def test_nothing_survives_from_one_to_the_next(provider: SandboxProvider) -> None:
    """A second sandbox begins as empty as the first."""
    script = 'echo x >"$HOME/a"; echo x >"$TMPDIR/b"; echo x >c'
    assert run(provider, shell(script)).exit_code == 0
    result = run(provider, shell('ls -A "$HOME" "$TMPDIR" .'), keep=("repo", "home", "tmp"))
    assert all(tree == {} for tree in result.trees.values())


def test_nothing_is_left_on_disk(provider: SandboxProvider, tmp_path: Path) -> None:
    """Neither after modes that forbid everything nor after a very deep directory."""
    code = (
        "import os\n"
        "for i in range(1500): os.mkdir('d'); os.chdir('d')\n"
        "open('f', 'w').close(); os.chmod('f', 0)\n"
        "for i in range(1500): os.chdir('..'); os.chmod('d', 0)\n"
        "os.chmod('.', 0)"
    )
    result = run(provider, python(code), keep=())
    assert (result.status, result.exit_code) == (StageStatus.EXITED, 0)
    assert list(tmp_path.iterdir()) == []


def test_a_killed_evalgate_is_cleaned_up_after(provider: SandboxProvider, tmp_path: Path) -> None:
    """The next start removes the rooms of a dead owner, ends what works in them, and no other."""
    mark = f"mark-{tmp_path.name}-{os.getpid()}"
    code = (
        "import sys, threading; from pathlib import Path\n"
        "from evalgate.protocols import Stage\n"
        "from evalgate.sandboxes.table import PROVIDERS\n"
        f"provider = PROVIDERS[{provider.name!r}].make(temp=Path(sys.argv[1]))\n"
        "with provider.open_sandbox() as sandbox:\n"
        "    sandbox.run(Stage(trees={}, argv=['sh', '-c', sys.argv[2]], timeout=60), "
        "threading.Event())\n"
    )
    script = STUBBORN.replace("MARK", mark) + "exec sleep 60"
    owner = subprocess.Popen([sys.executable, "-c", code, str(tmp_path), script])
    while not any(pid != owner.pid for pid in alive_with(mark)):
        time.sleep(0.02)
        assert owner.poll() is None
    with provider.open_sandbox():
        assert remove_leftovers(tmp_path) == 0
        owner.kill()
        owner.wait()
        assert remove_leftovers(tmp_path) == 1
        assert len(list(tmp_path.iterdir())) == 1
    assert alive_with(mark) == []


def test_an_exception_removes_it_as_well(provider: SandboxProvider, tmp_path: Path) -> None:
    """Whatever happens within the context, the room is gone afterwards."""
    with pytest.raises(ZeroDivisionError), provider.open_sandbox():
        raise ZeroDivisionError(*tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []


def test_the_room_is_closed_to_others(provider: SandboxProvider, tmp_path: Path) -> None:
    """Another user of the machine can not look inside."""
    with provider.open_sandbox():
        (room,) = tmp_path.iterdir()
        assert room.stat().st_mode & 0o777 == 0o700


def test_a_sandbox_is_for_one_stage(provider: SandboxProvider) -> None:
    """What a program left behind is not built upon."""
    stage = Stage(trees={}, argv=["true"], timeout=5)
    with provider.open_sandbox() as sandbox:
        sandbox.run(stage, threading.Event())
        with pytest.raises(RuntimeError, match="one stage"):
            sandbox.run(stage, threading.Event())


def test_two_at_once_do_not_meet(provider: SandboxProvider) -> None:
    """Sandboxes of two threads have their own files, and end only their own processes."""
    script = 'echo NAME >mine; echo NAME >"$TMPDIR/NAME"; sleep LONG; ls -A "$TMPDIR"; cat mine'
    results: dict[str, StageResult] = {}

    def work(name: str, seconds: str) -> None:
        argv = shell(script.replace("NAME", name).replace("LONG", seconds))
        results[name] = run(provider, argv)

    threads = [threading.Thread(target=work, args=pair) for pair in [("a", "0.2"), ("b", "0.6")]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: result.log for name, result in results.items()} == {
        "a": b"a\na\n",
        "b": b"b\nb\n",
    }


@needs("fixed paths")
def test_paths_are_the_same_every_time(provider: SandboxProvider) -> None:
    """No path inside tells one sandbox from another."""
    with provider.open_sandbox() as one, provider.open_sandbox() as two:
        assert one.places == two.places
        assert one.places.repo == "/evalgate/repo"


# --- what is laid in -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "tree",
    [
        {"../x": text("x")},
        {"/x": text("x")},
        {"a/../../x": text("x")},
        {"a//x": text("x")},
        {"./x": text("x")},
        {"": text("x")},
        {"a\0b": text("x")},
        {"d": File(data=b"/tmp", mode=FileMode.SYMLINK), "d/x": text("x")},
        {"d": text("a file"), "d/e/x": text("x")},
    ],
    ids=["up", "root", "inner-up", "empty-part", "dot", "empty", "nul", "link", "file"],
)
def test_unsafe_paths_are_refused(provider: SandboxProvider, tree: Tree) -> None:
    """Nothing is laid outside its place, nor through a link or a file."""
    with pytest.raises(UsageError, match="unsafe path"):
        run(provider, ["true"], trees={"repo": tree})


def test_what_the_disk_does_not_take_is_our_failure(provider: SandboxProvider) -> None:
    """A name that is too long is neither a crash nor an end of the program."""
    with pytest.raises(NotAvailableError, match="too long"):
        run(provider, ["true"], trees={"repo": {"n" * 300: text("x")}})


@pytest.mark.parametrize("target", [b"", b"a\0b"])
def test_a_malformed_link_is_refused(provider: SandboxProvider, target: bytes) -> None:
    """A link needs a target that a file system can hold."""
    tree = {"l": File(data=target, mode=FileMode.SYMLINK)}
    with pytest.raises(UsageError, match="malformed link"):
        run(provider, ["true"], trees={"repo": tree})


def test_git_files_are_only_for_the_repository(provider: SandboxProvider) -> None:
    """A snapshot brings its own ``.git``; nothing else does."""
    tree = {".git/config": text("")}
    assert run(provider, ["cat", ".git/config"], trees={"repo": tree}).exit_code == 0
    with pytest.raises(UsageError, match="unsafe path"):
        run(provider, ["true"], trees={"tests": tree})


def test_a_place_that_does_not_exist_is_refused(provider: SandboxProvider) -> None:
    """A wrong name is no silent nothing."""
    with pytest.raises(UsageError, match="no place named cellar"):
        run(provider, ["true"], trees={"cellar": {}})


def test_a_prebuilt_git_works(provider: SandboxProvider, tmp_path: Path) -> None:
    """With git files laid in, git works inside and trusts the directory."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "a").write_text("a\n")
    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    for words in (["init", "-q"], ["add", "a"], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=source, check=True, capture_output=True)
    tree = {
        str(path.relative_to(source)): File(data=path.read_bytes())
        for path in source.rglob("*")
        if path.is_file()
    }
    result = run(
        provider,
        shell("echo b >>a; git status --porcelain; git log --format=%s; git diff --stat"),
        trees={"repo": tree},
    )
    assert result.log.decode().splitlines()[:2] == [" M a", "one"]
    assert set(result.trees["repo"]) == {"a"}


# --- isolation -----------------------------------------------------------------------------

CONNECT = """
import socket, sys
try:
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5) as s:
        print(s.recv(100).decode())
except OSError as error: print("no:", error)
"""


@needs("own network")
def test_there_is_no_network(provider: SandboxProvider) -> None:
    """Only the loopback is there, and anything else fails at once."""
    began = time.monotonic()
    result = run(provider, [*python(CONNECT), "1.1.1.1", "80"])
    assert result.log.startswith(b"no: [Errno 101]")
    assert time.monotonic() - began < UNHURRIED
    names = run(provider, python("import socket; print(socket.if_nameindex())")).log
    assert names == b"[(1, 'lo')]\n"


def test_the_own_loopback_is_up(provider: SandboxProvider) -> None:
    """Tests that start a server of their own work, also by the name localhost."""
    code = (
        "import socket, threading\n"
        "s = socket.create_server(('localhost', 0))\n"
        "c = socket.create_connection(s.getsockname())\n"
        "print('up')"
    )
    assert run(provider, python(code)).log == b"up\n"


@needs("own network")
def test_the_hosts_loopback_is_out_of_reach(provider: SandboxProvider) -> None:
    """A service of the host is reached only by a stage that has the host's network."""
    with listener() as port:
        argv = [*python(CONNECT), "127.0.0.1", str(port)]
        assert run(provider, argv).log.startswith(b"no: ")


def test_the_hosts_loopback_is_reached_when_given(provider: SandboxProvider) -> None:
    """With the host's network the gateway of the host is found."""
    with listener() as port:
        argv = [*python(CONNECT), "127.0.0.1", str(port)]
        assert run(provider, argv, reach=port).log == b"from the host\n"


@needs("hides host files")
def test_host_files_are_hidden(provider: SandboxProvider, tmp_path: Path) -> None:
    """No home directory, no engine's socket, no temporary file, no other user's name."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    home = Path("~").expanduser()
    hidden = [
        str(secret),
        "/var/run/docker.sock",
        "/run/docker.sock",
        "/etc/shadow",
        *(("/etc/ssl/private", "/etc/hostname") if shows_host_programs(provider) else ()),
        str(Path(__file__)),
        *(str(place) for place in home.iterdir() if place.name != ".pyenv"),
    ]
    result = run(
        provider, ["sh", "-c", 'for f; do ls -d "$f" 2>/dev/null; done; true', "sh", *hidden]
    )
    assert result.log == b""
    assert run(provider, python("import socket; print(socket.gethostname())")).log == b"evalgate\n"


@needs("hides host files")
def test_evalgate_itself_is_hidden(provider: SandboxProvider) -> None:
    """Its demo tasks come with tests and solutions, so not one file of it can be seen."""
    code = (
        "import importlib.util\n"
        "s = importlib.util.find_spec('evalgate.errors') if importlib.util.find_spec('evalgate')"
        " else None\nprint(s)"
    )
    every = ["python3", f"{sys.prefix}/bin/python"]
    for interpreter in every if shows_host_programs(provider) else every[:1]:
        assert run(provider, [interpreter, "-c", code]).log == b"None\n"
    found = run(provider, shell("find / -path /proc -prune -o -name 'bwrap.py' -print 2>/dev/null"))
    assert found.log == b""


@needs("hides host files")
def test_the_host_can_not_be_written(provider: SandboxProvider) -> None:
    """Neither the system nor, run by root, the kernel's settings."""
    targets = ["/usr/x", "/x", "/etc/x", f"{sys.prefix}/bin/x", "/proc/sys/kernel/core_pattern"]
    code = (
        "import os, sys\n"
        "for p in sys.argv[1:]:\n"
        "    try: os.close(os.open(p, os.O_WRONLY | os.O_CREAT)); print(p)\n"
        "    except OSError: pass"
    )
    assert run(provider, [*python(code), *targets]).log == b""


def test_no_descriptor_of_the_host_is_inherited(provider: SandboxProvider) -> None:
    """The program has its three standard streams and nothing else."""
    code = "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])"
    assert run(provider, python(code)).log == b"[0, 1, 2]\n"


def test_an_installed_evalgate_is_hidden(tmp_path: Path) -> None:
    """Where evalgate is installed beside what a stage may import, its directory is empty."""
    reason = BwrapProvider().unavailable()
    if reason is not None:
        assert "EVALGATE_ENGINE" not in os.environ, reason
        pytest.skip(reason)
    target = tmp_path / "venv"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(target)],
        check=True,
        capture_output=True,
    )
    (packages,) = target.glob("lib/python*/site-packages")
    (packages / "neighbour.py").touch()
    shutil.copytree(Path(evalgate.__file__).parent, packages / "evalgate", symlinks=True)
    code = (
        "import threading; from evalgate.protocols import Stage\n"
        "from evalgate.sandboxes.bwrap import BwrapProvider\n"
        f"argv = ['find', '-L', {str(target)!r}, '-name', 'neighbour.py', '-o', '-path', "
        "'*/evalgate/*']\n"
        "with BwrapProvider().open_sandbox() as sandbox:\n"
        "    result = sandbox.run(Stage(trees={}, argv=argv, timeout=10), threading.Event())\n"
        "print(result.log.decode(), result.status)"
    )
    ended = subprocess.run(
        [str(target / "bin/python"), "-I", "-c", code],
        check=True,
        capture_output=True,
        cwd=tmp_path,
    )
    *seen, status = ended.stdout.decode().split()
    assert status == "exited"
    assert {Path(place).name for place in seen} == {"neighbour.py"}


# --- the choice ----------------------------------------------------------------------------


def test_a_provider_knows_its_name_in_the_table() -> None:
    """Conditions of a trial say what the configuration would."""
    assert [PROVIDERS[name].make().name for name in PROVIDERS] == [*PROVIDERS]


def test_an_engine_of_the_table_is_one_that_is_cleaned(monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes containers says which engine, so that what is left there is found."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///a/docker.sock")
    monkeypatch.setenv("CONTAINER_HOST", "unix:///a/podman.sock")
    assert [one.address[-13:] for one in engines()] == ["a/docker.sock", "a/podman.sock"]


def test_auto_takes_the_strongest_that_works() -> None:
    """An engine before bubblewrap, and a plain process only where nothing new is measured."""
    working = [name for name in PROVIDERS if not_usable(PROVIDERS[name].make()) is None]
    assert resolve("auto").name == working[0]


def test_auto_says_that_a_named_engine_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A slip in the variable would else choose another sandbox, and nobody would know."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    resolve("auto")
    assert "the sandbox docker is passed over: no engine listens at unix:///nowhere" in caplog.text
    assert "(DOCKER_HOST)" in caplog.text


def test_auto_prefers_what_recordings_were_made_in() -> None:
    """Another sandbox has other programs: what was recorded may not be reproduced there."""
    assert resolve("auto", recorded=("gone", "process")).name == "process"


def test_live_trials_take_no_plain_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where nothing isolates, the ways out are named."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    monkeypatch.setenv("CONTAINER_HOST", f"unix://{tmp_path}/none")
    assert resolve("auto").name == "process"
    with pytest.raises(NotAvailableError, match="nothing here isolates") as caught:
        resolve("auto", isolated=True, recorded=("process",))
    assert "evalgate replay" in caught.value.hint


def test_podmans_own_variable_says_where_it_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with its own program, another service than the usual one can be named."""
    monkeypatch.setenv("CONTAINER_HOST", "unix:///nowhere/podman.sock")
    assert podman().unavailable() == "no engine listens at unix:///nowhere/podman.sock"


def test_a_named_provider_must_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one asked for is never quietly replaced by a weaker one."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NotAvailableError, match="apt-get install bubblewrap") as caught:
        resolve("bwrap")
    assert '"auto"' in caught.value.hint


def test_a_bwrap_that_fails_is_not_available(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where namespaces are forbidden, the program's own message is passed on."""
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2; exit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert "uid map: Permission denied" in (BwrapProvider().unavailable() or "")


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    """A misspelt name is answered with the list."""
    with pytest.raises(UsageError, match="'bwarp'") as caught:
        resolve("bwarp")
    assert caught.value.hint.endswith("auto, bwrap, docker, podman, process")
