"""The header of a cassette: what it is a recording of, and under which rules it was made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, TypeVar

from evalgate.core.identity import Conditions
from evalgate.core.json import Json, JsonObject
from evalgate.core.trial import Evidence

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrubbed:
    """How requests were scrubbed: versions of keys and rules, and how often each rule hit."""

    keys: int
    rules: str
    hits: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"keys": self.keys, "rules": self.rules, "hits": dict(self.hits)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a cassette says of itself; empty, 0 or None is what it does not say.

    Of the wire: ``places`` (label -> path of the run's own places), so that a replay elsewhere
    can move the paths in replies, and how requests were ``scrubbed``.

    Of a trial: that of ``task`` with the number ``n`` in ``series``, what it is worth
    (``evidence``), its ``conditions``; the ``fingerprint`` and ``parts`` (name -> digest) of its
    harness, and the ``models`` (name -> id) that this asks for.

    Of the recording: who made it (``recorder``, None for a trial), the day (ISO 8601), the
    version of ``evalgate``; the number of the ``recording`` of its harness, and a random id of it,
    which tells apart two that were made on two branches. Older ones have no id.
    """

    places: Mapping[str, str] = field(default_factory=dict)
    scrubs: Scrubbed | None = None
    recorder: str = ""
    recorded: str = ""
    evalgate: str = ""
    recording: int = 0
    recording_id: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    task: str = ""
    task_digest: str = ""
    series: str = ""
    n: int = 0
    evidence: Evidence | None = None
    conditions: Conditions | None = None

    @property
    def keys(self) -> int:
        """The version of the keys it was recorded with; 0 when it says none."""
        return 0 if self.scrubs is None else self.scrubs.keys

    @property
    def rules(self) -> str:
        """The version of the rules it was recorded under; empty when it says none."""
        return "" if self.scrubs is None else self.scrubs.rules

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form: what is said, and nothing else."""
        return {name: value for name, value in self._members() if value}

    def _members(self) -> list[tuple[str, Json]]:
        found: list[tuple[str, Json]] = []
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, Scrubbed | Conditions):
                value = value.to_json()
            elif isinstance(value, Evidence):
                value = str(value)
            elif isinstance(value, Mapping):
                value = dict(value)
            found.append((one.name, value))
        return found

    @classmethod
    def from_json(cls, value: Json) -> Header:
        """Read the JSON form.

        TypeError or ValueError naming the key of what is unknown, or of another kind.
        """
        whole = _object("header", value)
        for name in whole:
            if name not in _READ:
                raise ValueError(f"header.{name} is not known to this evalgate")
        return cls(**{name: _READ[name](f"header.{name}", said) for name, said in whole.items()})


def _object(at: str, value: Json) -> JsonObject:
    if not isinstance(value, Mapping):
        raise TypeError(f"{at} must be an object")
    return value


def _text(at: str, value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{at} must be a text")
    return value


def _number(at: str, value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{at} must be a whole number")
    return value


def _each(read: Callable[[str, Json], T]) -> Callable[[str, Json], dict[str, T]]:
    def all_(at: str, value: Json) -> dict[str, T]:
        return {name: read(f"{at}.{name}", one) for name, one in _object(at, value).items()}

    return all_


def _scrubbed(at: str, value: Json) -> Scrubbed:
    whole = _object(at, value)
    return Scrubbed(
        keys=_number(f"{at}.keys", whole.get("keys")),
        rules=_text(f"{at}.rules", whole.get("rules")),
        hits=_each(_number)(f"{at}.hits", whole.get("hits")),
    )


def _evidence(at: str, value: Json) -> Evidence:
    text = _text(at, value)
    if text not in set(Evidence):
        raise ValueError(f"{at} can not be {text!r}")
    return Evidence(text)


def _conditions(at: str, value: Json) -> Conditions:
    whole = _object(at, value)
    try:
        return Conditions.from_json(whole)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{at} are no conditions: {error!r}") from error


_texts = _each(_text)

#: How each member is read.
_READ: Final[Mapping[str, Callable[[str, Json], Any]]] = {
    "places": _texts,
    "scrubs": _scrubbed,
    "recorder": _text,
    "recorded": _text,
    "evalgate": _text,
    "recording": _number,
    "recording_id": _text,
    "models": _texts,
    "fingerprint": _text,
    "parts": _texts,
    "task": _text,
    "task_digest": _text,
    "series": _text,
    "n": _number,
    "evidence": _evidence,
    "conditions": _conditions,
}
