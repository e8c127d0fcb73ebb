"""What makes two things the same: names of tasks on disk, conditions, trial keys, digests."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from evalgate.core.json import Json

#: Version of the file formats that evalgate writes; part of every trial's conditions.
FORMAT = 1

_UNSAFE = re.compile(r"[^a-z0-9]+")


def canonical(value: Json) -> bytes:
    """Return the JSON text that digests are taken of: sorted keys, no spaces, UTF-8."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogateescape")


def digest(value: Json, *, domain: str) -> str:
    """Return the SHA-256 (64 hex) of a JSON value; ``domain`` names what is hashed."""
    return hashlib.sha256(domain.encode() + b"\0" + canonical(value)).hexdigest()


def storage_key(task_id: str) -> str:
    """Return the name of a task on disk: a readable slug and eight hex of its id.

    The hex part keeps ``a/b``, ``a.b``, ``a_b`` and ``A_b`` apart on every file system.
    """
    slug = _UNSAFE.sub("-", task_id.casefold()).strip("-")[:60] or "task"
    return f"{slug}-{hashlib.sha256(task_id.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def folded(task_id: str) -> str:
    """Return the form under which two task ids count as the same."""
    return unicodedata.normalize("NFC", task_id).casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What is known only at run time; trials under unequal conditions are incomparable.

    ``models`` are the ids the provider says it served; ``checks`` maps a check type to
    its version; ``images`` maps what an image is for (``sandbox``, or a task that has one of its
    own) to twelve hex that name its content, and is empty where there are none; ``promises`` says
    of each thing a sandbox may keep to whether it did, and is empty where that was not recorded;
    ``judges`` are the ids of judging models that were served, and ``judged_at`` maps each id that
    was asked for to where that was; it is empty where that was not recorded.
    """

    sandbox: str
    agent: str
    models: tuple[str, ...] = ()
    checks: Mapping[str, int] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)
    promises: Mapping[str, bool] = field(default_factory=dict)
    judges: tuple[str, ...] = ()
    judged_at: Mapping[str, str] = field(default_factory=dict)
    format: int = FORMAT

    def _models(self, other: Conditions) -> tuple[str, ...]:
        return self.models if self.models and other.models else ()

    def models_differ(self, other: Conditions) -> bool:
        """Tell whether both sides asked a model, and were served by different ones."""
        return self._models(other) != other._models(self)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "sandbox": self.sandbox,
            "agent": self.agent,
            "models": list(self.models),
            "checks": dict(self.checks),
            **({"images": dict(self.images)} if self.images else {}),
            **({"promises": dict(self.promises)} if self.promises else {}),
            **({"judges": list(self.judges)} if self.judges else {}),
            **({"judged_at": dict(self.judged_at)} if self.judged_at else {}),
            "format": self.format,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Conditions:
        """Read the JSON form."""
        return cls(
            sandbox=str(value["sandbox"]),
            agent=str(value["agent"]),
            models=tuple(str(model) for model in value["models"]),
            checks={str(key): int(number) for key, number in value["checks"].items()},
            images={str(key): str(one) for key, one in value.get("images", {}).items()},
            promises={str(key): bool(one) for key, one in value.get("promises", {}).items()},
            judges=tuple(str(judge) for judge in value.get("judges", ())),
            judged_at={str(key): str(one) for key, one in value.get("judged_at", {}).items()},
            format=int(value["format"]),
        )

    def differences(self, other: Conditions) -> tuple[str, ...]:
        """Name what is unequal, for a person; empty when trials are comparable.

        A check's version matters only where both sides ran that check, an image or a promise only
        where both sides know theirs, and a model only where both sides asked one: an agent that
        never asks is judged by what it did.
        """
        found = [
            f"{name}: {mine or 'none'} against {theirs or 'none'}"
            for name, mine, theirs in (
                ("sandbox", self.sandbox, other.sandbox),
                ("agent", self.agent, other.agent),
                ("models served", ", ".join(self._models(other)), ", ".join(other._models(self))),
                ("format", str(self.format), str(other.format)),
            )
            if mine != theirs
        ]
        found += [
            f"check {name}: version {self.checks[name]} against {other.checks[name]}"
            for name in sorted(self.checks.keys() & other.checks.keys())
            if self.checks[name] != other.checks[name]
        ]
        if self.judges and other.judges and self.judges != other.judges:
            found.append(f"judges: {', '.join(self.judges)} against {', '.join(other.judges)}")
        found += [
            f"judge {name}: asked at {self.judged_at[name]} against {other.judged_at[name]}"
            for name in sorted(self.judged_at.keys() & other.judged_at.keys())
            if self.judged_at[name] != other.judged_at[name]
        ]
        found += [
            f"image of the {name}: {self.images[name]} against {other.images[name]}"
            for name in sorted(self.images.keys() & other.images.keys())
            if self.images[name] != other.images[name]
        ]
        # Another sandbox has other promises: that it is another says enough.
        found += [
            f"{name.replace('_', ' ')}: {self.promises[name]} against {other.promises[name]}"
            for name in sorted(self.promises.keys() & other.promises.keys())
            if self.promises[name] != other.promises[name] and self.sandbox == other.sandbox
        ]
        return tuple(found)


#: The series of all trials that are not made to check others.
MAIN: Final = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialKey:
    """What names one trial within its conditions; a run never makes one twice."""

    task_digest: str
    fingerprint: str
    series: str
    n: int
