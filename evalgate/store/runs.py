"""Run folders: an append-only list of trials that a killed process can not lose.

.evalgate/runs/<id>/
    run.json         what was planned, and the summary once finished
    trials.jsonl     one finished trial a line, synced one by one
    artifacts/       log, diff and wire of each trial
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from evalgate.core.identity import FORMAT, digest
from evalgate.core.json import Json, JsonObject
from evalgate.core.run_plan import RunPlan
from evalgate.core.trial import Trial
from evalgate.disk import write_whole
from evalgate.errors import UsageError

#: What the digest of a plan begins with.
_DOMAIN: Final = "evalgate-plan/1"


class RunFolder:
    """One run on disk; only the holder of its lock appends to it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def id(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def info(self) -> dict[str, Any]:
        """The content of ``run.json``."""
        try:
            value: dict[str, Any] = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
            newer = int(value.get("format", 0)) > FORMAT
        except (OSError, ValueError, TypeError, AttributeError, OverflowError) as error:
            message = f"{self.path / 'run.json'}: {error}"
            raise UsageError(message, hint="this run can not be read") from error
        if newer:
            message = f"{self.path}: format {value['format']} is newer than this evalgate knows"
            raise UsageError(message, hint="upgrade git-evalgate")
        return value

    @property
    def plan(self) -> RunPlan:
        """What the run was to make; UsageError when it is none."""
        try:
            return RunPlan.from_json(self.info["plan"])
        except (LookupError, ValueError, TypeError, AttributeError, OverflowError) as error:
            message = f"{self.path / 'run.json'}: this is no plan of a run: {error!r}"
            raise UsageError(message, hint="the file was edited") from error

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Every finished trial; a line cut by a crash is left out."""
        try:
            lines = (self.path / "trials.jsonl").read_bytes().split(b"\n")
        except FileNotFoundError:
            return ()
        return tuple(_trials(lines[:-1], self.path))

    def append(self, trial: Trial) -> None:
        """Add a finished trial, on disk before this returns; an OSError leaves none of it."""
        line = memoryview(json.dumps(trial.to_json(), sort_keys=True).encode() + b"\n")
        with (self.path / "trials.jsonl").open("ab", buffering=0) as file:
            size = file.tell()
            try:
                while line:
                    line = line[file.write(line) :]
                os.fsync(file.fileno())
            except OSError:
                # The next one must not stand behind half a line.
                with contextlib.suppress(OSError):
                    file.truncate(size)
                raise

    def write_info(self, value: JsonObject) -> None:
        """Write ``run.json``."""
        text = json.dumps({"format": FORMAT, **value}, indent=1, sort_keys=True)
        write_whole(self.path / "run.json", text.encode() + b"\n")

    @property
    def artifacts(self) -> Path:
        """The folder below which the files of single trials lie."""
        return self.path / "artifacts"

    def write_artifact(self, name: str, data: bytes) -> None:
        """Write one file below ``artifacts/``."""
        write_whole(self.artifacts / name, data)

    def drop_cut_line(self) -> None:
        """Cut off a last line that a crash left without its end."""
        path = self.path / "trials.jsonl"
        if path.exists():
            data = path.read_bytes()
            if not data.endswith(b"\n"):
                write_whole(path, data[: data.rfind(b"\n") + 1])


def _trials(lines: list[bytes], path: Path) -> Iterator[Trial]:
    for number, line in enumerate(lines, 1):
        try:
            yield Trial.from_json(json.loads(line))
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            message = f"{path / 'trials.jsonl'}:{number}: this is no trial: {error!r}"
            raise UsageError(message, hint="the file was edited") from error


class RunStore:
    """All runs of a project, below its state directory."""

    def __init__(self, state: Path) -> None:
        self.state = state

    def all(self) -> tuple[RunFolder, ...]:
        """Return every run, oldest first."""
        root = self.state / "runs"
        if not root.is_dir():
            return ()
        return tuple(
            RunFolder(path) for path in sorted(root.iterdir()) if (path / "run.json").exists()
        )

    def finished(self) -> tuple[RunFolder, ...]:
        """Return the finished runs, oldest first; what can not be read is left out."""
        return tuple(run for run in self.all() if _is_finished(run))

    def trials_of(self, fingerprint: str) -> Iterator[tuple[RunFolder, Trial]]:
        """Yield the trials of one harness in finished runs, those of the newest run first.

        Of a run by task and number, whichever ended first.
        """
        for run in reversed(self.finished()):
            for trial in sorted(run.trials, key=lambda one: (one.task, one.key.n)):
                if trial.key.fingerprint == fingerprint:
                    yield run, trial

    def begun(self) -> tuple[RunFolder, ...]:
        """Return the runs that were begun and are neither finished nor given up, oldest first."""
        return tuple(run for run in self.all() if _is_begun(_readable(run)) and _has_plan(run))

    def of_account(self, name: str) -> tuple[RunFolder, ...]:
        """Return every run made under this name, finished or not; none under an empty one."""
        return tuple(run for run in self.all() if name and _readable(run).get("account") == name)

    def find(self, name: str) -> RunFolder:
        """Return the run of that id, an unambiguous start of it, or ``latest``."""
        runs = self.all()
        hint = "`evalgate show` lists the runs"
        if not name.strip():  # every name begins so
            raise UsageError("the name of the run is empty", hint=hint)
        if not runs:
            message = "there is no run yet"
            raise UsageError(message, hint="evalgate run, or evalgate replay")
        if name == "latest":
            return runs[-1]
        exact = [run for run in runs if run.id == name]
        matches = exact or [run for run in runs if run.id.startswith(name)]
        if len(matches) != 1:
            if matches:
                more = f"more of it: {', '.join(run.id for run in matches[-3:])}"
                raise UsageError(f"{name!r} names {len(matches)} runs", hint=more)
            message = f"no run named {name!r}"
            raise UsageError(message, hint=f"{self._as_task(name)}{hint}")
        return matches[0]

    def _as_task(self, name: str) -> str:
        """Say how a name is meant that is one of a task; nothing where no run has such a task."""
        for run in reversed(self.all()):
            if _has_plan(run) and name in run.plan.tasks:
                place = "latest" if run.id == self.all()[-1].id else run.id
                return f"it is a task: its trials of a run are {place}:{name}; "
        return ""

    @contextlib.contextmanager
    def open(
        self, plan: RunPlan, *, fresh: bool, noted: JsonObject | None = None
    ) -> Iterator[RunFolder]:
        """Open the unfinished run of this very plan, or a new one; hold its lock.

        ``noted`` goes into ``run.json`` of a new run, and stays as it is when it goes on: such as
        which recording of its harness it makes. A run that another process holds is left alone.
        """
        plan_digest = digest(plan.to_json(), domain=_DOMAIN)
        self.prepare()
        with contextlib.ExitStack() as stack:
            if not fresh:
                for run in reversed(self.all()):
                    if _unfinished(run, plan_digest) and _lock(run.path, stack):
                        run.drop_cut_line()
                        yield run
                        return
            run = self._create(plan.kind, plan.fingerprint)
            _lock(run.path, stack)
            begun: JsonObject = {"plan_digest": plan_digest, "finished": False}
            run.write_info({"plan": plan.to_json(), **begun, **(noted or {})})
            yield run

    def abandon(self, plan: RunPlan) -> tuple[RunFolder, ...]:
        """Give up the unfinished runs of this very plan; return them. Nobody goes on with them.

        A run that another process holds is left alone.
        """
        plan_digest = digest(plan.to_json(), domain=_DOMAIN)
        given_up = []
        for run in self.all():
            with contextlib.ExitStack() as stack:
                if _unfinished(run, plan_digest) and _lock(run.path, stack):
                    run.write_info({**run.info, "abandoned": True})
                    given_up.append(run)
        return tuple(given_up)

    def prepare(self) -> None:
        """Make the state directory, out of git's sight."""
        self.state.mkdir(parents=True, exist_ok=True)
        ignore = self.state / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")

    def _create(self, kind: str, fingerprint: str) -> RunFolder:
        # To the millisecond, so that the order of names is the order of runs.
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S.%f")[:-3]
        for k in range(1000):
            name = f"{stamp}-{kind}-{fingerprint[:8]}" + (f"-{k}" if k else "")
            path = self.state / "runs" / name
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                continue
            return RunFolder(path)
        message = f"{self.state / 'runs'}: a thousand runs began within this second"
        raise UsageError(message)


def _unfinished(run: RunFolder, plan_digest: str) -> bool:
    info = _readable(run)
    return info.get("plan_digest") == plan_digest and _is_begun(info)


def _is_begun(info: dict[str, Any]) -> bool:
    return not (info.get("finished", True) or info.get("abandoned", False))


def _is_finished(run: RunFolder) -> bool:
    return bool(_readable(run).get("finished")) and _has_plan(run)


def _has_plan(run: RunFolder) -> bool:
    try:
        return bool(run.plan)
    except UsageError:
        return False


def _readable(run: RunFolder) -> dict[str, Any]:
    try:
        return run.info
    except UsageError:  # what can not be read is left alone; it stops nothing new
        return {}


def _lock(path: Path, stack: contextlib.ExitStack) -> bool:
    file = (path / "lock").open("wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return False
    stack.callback(file.close)
    return True


def times(started: datetime) -> dict[str, Json]:
    """Return the marked times of a run: the only part of it that a repeat may change."""
    now = datetime.now(UTC)
    return {
        "started": started.isoformat(timespec="seconds"),
        "finished": now.isoformat(timespec="seconds"),
        "seconds": round((now - started).total_seconds(), 1),
    }


def began(run: RunFolder) -> datetime:
    """Return when a finished run was begun, or gone on with for the last time."""
    return datetime.fromisoformat(run.info["times"]["started"])
