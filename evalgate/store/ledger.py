"""Entries of the ledger: TOML text and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalgate.core.files import Tree
from evalgate.core.identity import FORMAT
from evalgate.core.json import Json
from evalgate.errors import UsageError
from evalgate.store.baselines import FOLDER as BASELINES
from evalgate.store.document import dump_document, load_document

#: Their folder, from the project's directory.
FOLDER = f"{BASELINES}/ledger"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One experiment: which harness, what was decided and why, and how many trials passed.

    ``hypothesis`` is what was hoped for, ``changed`` names the parts that differ from the harness
    before; ``read`` says who had read how many of its trials.
    """

    date: str
    fingerprint: str
    decision: str
    reason: str
    evidence: str
    passed: int
    measured: int
    parts: Mapping[str, str]
    hypothesis: str = ""
    changed: tuple[str, ...] = ()
    read: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "date": self.date,
            "fingerprint": self.fingerprint,
            "decision": self.decision,
            "reason": self.reason,
            "evidence": self.evidence,
            "passed": self.passed,
            "measured": self.measured,
            "parts": dict(self.parts),
            "hypothesis": self.hypothesis,
            "changed": list(self.changed),
            "read": dict(self.read),
        }


def dump_ledger(entry: Mapping[str, Any]) -> bytes:
    """Return the bytes of one experiment's file."""
    return dump_document({"format": FORMAT, **entry})


def load_ledger(files: Tree) -> tuple[Entry, ...]:
    """Read the entries among files below their folder, oldest first.

    Raises:
        UsageError: one is newer than this evalgate, or is none.
    """
    entries, problems = read_ledger(files)
    if problems:
        raise problems[0]
    return entries


def read_ledger(files: Tree) -> tuple[tuple[Entry, ...], tuple[UsageError, ...]]:
    """Read the entries that can be read, oldest first, and say what is wrong with the others."""
    found, problems = [], []
    for path, file in sorted(files.items()):
        if path.endswith(".toml"):
            try:
                found.append(_load(file.data, path))
            except UsageError as error:
                problems.append(error)
    return tuple(sorted(found, key=lambda one: one.date)), tuple(problems)


def _load(data: bytes, path: str) -> Entry:
    return load_document(data, name=f"{FOLDER}/{path}", what="ledger entry", read=_entry)


def _entry(value: Mapping[str, Any]) -> Entry:
    return Entry(
        date=str(value["date"]),
        fingerprint=str(value["fingerprint"]),
        decision=str(value["decision"]),
        reason=str(value.get("reason", "")),
        evidence=str(value["evidence"]),
        passed=sum(int(one) for one in value["passed"].values()),
        measured=sum(int(one) for one in value["measured"].values()),
        parts={str(part): str(one) for part, one in value["parts"].items()},
        hypothesis=str(value.get("hypothesis", "")),
        changed=tuple(map(str, value.get("changed", ()))),
        read={str(who): int(number) for who, number in value.get("read", {}).items()},
    )
