"""`evalgate fingerprint`: the harness's name in one state, or what differs between two."""

from __future__ import annotations

from contextlib import ExitStack

from evalgate.commands.project import Project, State, open_state
from evalgate.core.json import Json
from evalgate.errors import UsageError
from evalgate.repo.fingerprint import diff_counts, diff_parts
from evalgate.repo.subject import Subject


def show_fingerprint(project: Project, rev: str) -> tuple[dict[str, Json], str]:
    """Return the fingerprint of one state as JSON and as text."""
    with open_state(project, Subject.parse(rev)) as state:
        found = state.fingerprint
        value: dict[str, Json] = {
            "state": state.view.label,
            "fingerprint": found.digest,
            "parts": dict(found.parts),
            "files": {
                name: [entry.path for entry in entries] for name, entries in found.entries.items()
            },
            "warnings": list(found.warnings),
        }
        lines = [f"{found.digest}  {state.view.label}"]
        for name, part in found.parts.items():
            count = len(found.entries.get(name, ()))
            of = f"{count} file{'s' if count != 1 else ''}" if name in found.entries else "tables"
            lines.append(f"  {part[:16]}  {name}  ({of})")
        lines += [f"  warning: {warning}" for warning in found.warnings]
        return value, "\n".join(lines)


def show_difference(project: Project, pair: str) -> tuple[dict[str, Json], str]:
    """Return what differs between two states given as ``A..B``."""
    old_name, dots, new_name = pair.partition("..")
    if not dots or not old_name or not new_name:
        message = f"--diff takes two revisions as A..B, not {pair!r}"
        raise UsageError(message, hint="for example --diff HEAD~1..HEAD, or HEAD..WORKTREE")
    with ExitStack() as stack:
        old = stack.enter_context(open_state(project, Subject.parse(old_name)))
        new = stack.enter_context(open_state(project, Subject.parse(new_name)))
        changed = changed_parts(old, new)
    lines = [f"{name}  {'; '.join(files) or 'tables'}" for name, files in changed.items()]
    text = "\n".join(lines) or "the harness is the same"
    value: dict[str, Json] = {name: list(files) for name, files in changed.items()}
    return {"changed": value}, text


def changed_parts(old: State, new: State) -> dict[str, list[str]]:
    """Return the parts that differ, each with its files and their added and removed lines."""
    before, after = old.fingerprint, new.fingerprint
    changed: dict[str, list[str]] = {}
    for name in diff_parts(before, after):
        globs = [
            *old.config.harness.parts.get(name, ()),
            *new.config.harness.parts.get(name, ()),
        ]
        counts = diff_counts(
            new.project.git, old.view, new.view, tuple(dict.fromkeys(globs)), new.harness_root
        )
        changed[name] = [
            f"{path} {_signed('+', count.added)} {_signed('-', count.removed)}"
            for path, count in counts.items()
        ]
    return changed


def _signed(sign: str, lines: int | None) -> str:
    return f"{sign}binary" if lines is None else f"{sign}{lines}"
