"""`evalgate ledger --add`: the newest verdict of this clone, kept as an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from evalgate.commands.baselines.ancestry import digest_of, harness_paths
from evalgate.commands.console import Console
from evalgate.commands.project import Project, State, open_state
from evalgate.core.identity import digest
from evalgate.core.json import Json
from evalgate.disk import write_whole
from evalgate.errors import UsageError
from evalgate.repo.fingerprint import diff_parts
from evalgate.repo.history import first_parent_changes, subject_line
from evalgate.repo.subject import Subject
from evalgate.store.ledger import FOLDER, dump_ledger
from evalgate.store.verdicts import VERDICT, read_verdict

_HINT = "evalgate gate writes one; what was not measured is no experiment"


def add_experiment(project: Project, console: Console, *, hypothesis: str = "") -> str:
    """Write the newest verdict as an entry of the ledger, whatever it says; return its path.

    The entry is named by its content: the same experiment is one file, on whatever commit.

    Raises:
        UsageError: there is no verdict here, or it rests on no trials.
    """
    entry = _entry(_verdict(project), hypothesis)
    # Who reads it later makes no other experiment of it.
    content = {name: value for name, value in entry.items() if name != "read"}
    name = f"{str(entry['fingerprint'])[:16]}-{digest(content, domain='evalgate-experiment')[:8]}"
    folder = project.root / FOLDER
    for known in sorted(folder.glob(f"*-{name}.toml")):
        console.note(f"{known.name} exists already: the same experiment")
        return str(known)
    date = datetime.now(UTC).date().isoformat()
    path = folder / f"{date}-{name}.toml"
    write_whole(path, dump_ledger({**entry, "date": date}))
    console.note(f"wrote {FOLDER}/{path.name}: commit it, also where the edit is reverted")
    return str(path)


def meant(state: State, fingerprint: str) -> tuple[str, list[str]]:
    """Return what a committed harness was meant to do, and the parts it changed.

    Read from the newest commit that changed the harness; nothing where HEAD has another one.
    """
    project, git = state.project, state.project.git
    if digest_of(project, "HEAD") != fingerprint:
        return "", []
    for commit in first_parent_changes(git, "HEAD", harness_paths(state), 1):
        parents = git.parents(commit)
        if len(parents) == 1 and digest_of(project, parents[0]) is not None:
            with (
                open_state(project, Subject.parse(parents[0])) as old,
                open_state(project, Subject.parse(commit)) as new,
            ):
                changed = diff_parts(old.fingerprint, new.fingerprint)
            return subject_line(git, commit), [*changed]
    return "", []


def _verdict(project: Project) -> Mapping[str, Any]:
    found = read_verdict(project.state)
    if found is None:
        raise UsageError(f"there is no verdict yet: {project.state / VERDICT}", hint=_HINT)
    return found


def _entry(verdict: Mapping[str, Any], hypothesis: str) -> dict[str, Json]:
    try:
        tasks = {one["task"]: one["head"] for one in verdict["tasks"] if one["head"] is not None}
        if not tasks or not verdict["evidence"]:
            message = f"the newest verdict ({verdict['decision']}) rests on no trials"
            raise UsageError(message, hint=_HINT)
        return {
            "fingerprint": str(verdict["head"]["fingerprint"]),
            "base": str(verdict["base"]["fingerprint"]),
            "decision": str(verdict["decision"]),
            "reason": str(verdict["sentence"]),
            "hypothesis": hypothesis or str(verdict["hypothesis"]),
            "changed": [str(name) for name in verdict["parts_changed"]],
            "evidence": str(verdict["evidence"]),
            "recordings": int(verdict["recordings"]),
            "read": {str(who): int(n) for who, n in verdict.get("read", {}).get("by", {}).items()},
            "parts": {str(name): str(part) for name, part in verdict["head"]["parts"].items()},
            "passed": {str(name): int(one["passed"]) for name, one in tasks.items()},
            "measured": {str(name): int(one["measured"]) for name, one in tasks.items()},
        }
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        message = f"verdict.json is none of this evalgate: {error!r}"
        raise UsageError(message, hint=_HINT) from error
