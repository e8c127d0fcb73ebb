"""Gathers what `evalgate doctor` looks at; what can not be known counts as not there."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalgate.commands.doctor.facts import Facts, Machine, Records, Repository, Suite
from evalgate.commands.hooks.hook_installation import is_installed
from evalgate.commands.project import WORKFLOWS, Project, State, open_state
from evalgate.commands.shelved import recorded_harnesses
from evalgate.commands.tasks.lint import broken
from evalgate.errors import UsageError
from evalgate.gateway.providers import key_variable
from evalgate.repo.subject import Subject
from evalgate.sandboxes.leftovers import find_leftovers
from evalgate.sandboxes.table import PROVIDERS
from evalgate.store.baselines import FOLDER as BASELINES
from evalgate.store.ledger import FOLDER as LEDGER
from evalgate.store.ledger import read_ledger
from evalgate.store.verdicts import read_verdict
from evalgate.tasks.suite import Folder


def gather(project: Project, state: State, environ: Mapping[str, str]) -> Facts:
    """Look at the work tree, at HEAD, and at this machine."""
    return Facts(
        config=state.config,
        harness=_unread(state),
        suite=_suite(state),
        records=_records(project, state),
        repository=_repository(project, state),
        machine=_machine(project, state, environ),
    )


def _unread(state: State) -> str:
    """Say why the parts of a harness can not be read."""
    try:
        state.fingerprint  # noqa: B018 - it is made when it is asked for
    except UsageError as error:
        return error.message
    return ""


def _suite(state: State) -> Suite:
    folders = state.folders
    reachable = ""
    try:
        state.require_apart(state.task_paths)
    except UsageError as error:
        reachable = "" if _unread(state) else error.message
    return Suite(
        tasks=tuple(one.task for one in folders if one.task is not None),
        from_history=sum(map(_has_origin, folders)),
        problems=len(broken(folders)),
        unreadable=tuple(one.error.message for one in folders if one.error is not None),
        reachable=reachable,
    )


def _has_origin(folder: Folder) -> bool:
    if folder.task is None:
        return False
    tables = tomllib.loads(folder.made["task.toml"].data.decode().replace("\r\n", "\n"))
    return bool(tables.get("metadata", {}).get("evalgate", {}).get("origin"))


def _records(project: Project, state: State) -> Records:
    entries, _ = read_ledger(state.view.read_prefix(project.within(LEDGER)))
    names = [path for path in state.view.read_prefix(project.within(BASELINES)) if "/" not in path]
    known = {entry.fingerprint[:16] for entry in entries}
    verdict: dict[str, Any] = {}
    with contextlib.suppress(UsageError):
        verdict = read_verdict(project.state) or {}
    told = verdict.get("read")
    read = told.get("read") if isinstance(told, dict) else 0
    return Records(
        baselines=len(names),
        unwritten=tuple(name for name in sorted(names) if name[:16] not in known),
        entries=len(entries),
        recorded=tuple(sorted(recorded_harnesses(state))),
        current="" if _unread(state) else state.fingerprint.short,
        decision=str(verdict.get("decision", "")),
        read=read if isinstance(read, int) else 0,
    )


def _repository(project: Project, state: State) -> Repository:
    workflows = state.view.read(state.view.entries(WORKFLOWS))
    found = Repository(
        committed=False,
        shallow=project.git.is_shallow(),
        hook=is_installed(project.git),
        workflow=any(b"evalgate" in file.data for file in workflows.values()),
    )
    with contextlib.suppress(UsageError), open_state(project, Subject.parse("HEAD")) as head:
        edited = head.config.policy != state.config.policy
        found = replace(found, committed=True, policy_edited=edited)
        old, new = head.fingerprint.parts, state.fingerprint.parts
        changed = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
        found = replace(found, parts_changed=tuple(changed))
    return found


def _machine(project: Project, state: State, environ: Mapping[str, str]) -> Machine:
    places = {str(project.root), tempfile.gettempdir()}
    names = {key_variable(model) for model in state.config.models.values()} - {""}
    return Machine(
        sandboxes={name: row.make().unavailable() for name, row in PROVIDERS.items()},
        free={place: shutil.disk_usage(place).free for place in sorted(places)},
        keys={name: bool(environ.get(name)) for name in sorted(names)},
        programs=_programs(environ),
        leftovers=tuple(f"{one.kind} {one.name}" for one in find_leftovers()),
    )


def _programs(environ: Mapping[str, str]) -> dict[str, bool]:
    """Return the programs named evalgate on PATH, each looked into and none started."""
    found: dict[str, bool] = {}
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        path = Path(folder or ".", "evalgate")
        with contextlib.suppress(OSError):
            if path.is_file() and os.access(path, os.X_OK):
                with path.open("rb") as file:
                    found[str(path)] = b"evalgate.__main__" in file.read(4096)
    return found
