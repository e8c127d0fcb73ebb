"""Events that differ in a few leaves, told as one: a template, and what each leaf runs through.

A text that was cut into forty deltas is one string with the lengths of its pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from evalgate.core.json import Json, JsonObject
from evalgate.gateway.reading import needed_list, needed_object

TIMES: Final = "$times"

#: Events that differ in more than this have little in common.
_MOST_LEAVES = 4

_Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Flat:
    """A parsed event with its leaves in order, and the path of each."""

    value: dict[str, Any]
    paths: list[_Path] = field(default_factory=list)
    leaves: list[Any] = field(default_factory=list)


def flatten(value: dict[str, Any]) -> Flat:
    """Return an event with its leaves; empty lists and objects are leaves too."""
    flat = Flat(value)
    _walk(value, (), flat)
    return flat


def _walk(value: Any, path: _Path, flat: Flat) -> None:
    if value and isinstance(value, dict):
        for key, inner in value.items():
            _walk(inner, (*path, key), flat)
    elif value and isinstance(value, list):
        for position, inner in enumerate(value):
            _walk(inner, (*path, position), flat)
    else:
        flat.paths.append(path)
        flat.leaves.append(value)


@dataclass(slots=True)
class Run:
    """Events in a row with the same members; ``varying`` are the positions of unequal leaves."""

    events: list[Flat]
    varying: set[int] = field(default_factory=set)

    def takes(self, event: Flat) -> bool:
        """Add an event, or return False when it is not like the others."""
        first = self.events[0]
        if event.paths != first.paths:
            return False
        varying = set(self.varying)
        for position, (old, new) in enumerate(zip(first.leaves, event.leaves, strict=True)):
            if type(old) is not type(new):
                return False
            if old != new:
                # What a number is written as is only certain for whole ones.
                if type(old) not in {str, int}:
                    return False
                varying.add(position)
        if len(varying) > _MOST_LEAVES or not self._is_one_text(varying):
            return False
        self.varying = varying
        self.events.append(event)
        return True

    def _is_one_text(self, varying: set[int]) -> bool:
        """Texts of several places, as parallel calls, are not one, and types are no text.

        Events of several types are told as one only when they carry no text.
        """
        first = self.events[0]
        strings = [place for place in varying if type(first.leaves[place]) is str]
        names = [str(first.paths[place][-1]) for place in varying]
        if strings and any(name.endswith("index") for name in names):
            return False
        return len(strings) == 1 or "type" not in names

    def fold(self) -> tuple[JsonObject, list[str]] | None:
        """Return the events as one, with the texts that ran through them.

        None when it can not be said: when a leaf looks like the mark of another. The first
        event becomes the template and is not to be used again.
        """
        first = self.events[0]
        fixed = (leaf for place, leaf in enumerate(first.leaves) if place not in self.varying)
        if any(type(leaf) is str and leaf.startswith("$") for leaf in fixed):
            return None
        leaves: dict[str, JsonObject] = {}
        texts: list[str] = []
        for place in sorted(self.varying):
            path = first.paths[place]
            name = _name(path, leaves)
            leaves[name] = leaf = _column([event.leaves[place] for event in self.events], path)
            put(first.value, path, f"${name}")
            texts += [text] if isinstance(text := leaf.get("text"), str) else []
        return {TIMES: len(self.events), "event": first.value, "leaves": leaves}, texts


def _name(path: _Path, taken: Mapping[str, object]) -> str:
    last = path[-1] if isinstance(path[-1], str) else "item"
    return last if last not in taken else f"{last} {len(taken)}"


def _column(values: list[Any], path: _Path) -> JsonObject:
    """Return one leaf of all events: a text and its cuts, numbers, or each by itself."""
    if type(values[0]) is int:
        start = values[0]
        counted = values == list(range(start, start + len(values)))
        return {"from": start} if counted else {"numbers": " ".join(map(str, values))}
    if path[-1] == "type":
        return {"each": values}
    return {"text": "".join(values), "cuts": " ".join(str(len(value)) for value in values)}


def unfold_run(item: JsonObject) -> Iterator[dict[str, Any]]:
    """Yield the events of a run: one object, changed for each, to be written at once.

    KeyError, TypeError or ValueError when the value is none that `Run.fold` made.
    """
    times, leaves = whole(item[TIMES]), needed_object(item["leaves"])
    event: dict[str, Any] = orjson.loads(orjson.dumps(needed_object(item["event"])))
    columns = {f"${name}": _values(needed_object(leaf), times) for name, leaf in leaves.items()}
    flat = flatten(event)
    places = [
        (_holder(event, path), path[-1], columns.pop(leaf))
        for path, leaf in zip(flat.paths, flat.leaves, strict=True)
        if type(leaf) is str and leaf in columns
    ]
    if columns:
        raise ValueError(f"leaves without a place: {', '.join(columns)}")
    for number in range(times):
        for holder, key, column in places:
            holder[key] = column[number]
        yield event


def _values(leaf: JsonObject, times: int) -> Sequence[Json]:
    values: Sequence[Json]
    if "from" in leaf:
        start = whole(leaf["from"])
        return range(start, start + times)
    if "numbers" in leaf:
        values = [int(number) for number in str(leaf["numbers"]).split()]
    elif "each" in leaf:
        values = needed_list(leaf["each"])
    else:
        values = _cut(str(leaf["text"]), [int(cut) for cut in str(leaf["cuts"]).split()])
    if len(values) != times:
        raise ValueError(f"{len(values)} values for {times} events")
    return values


def _cut(text: str, cuts: Sequence[int]) -> list[str]:
    pieces: list[str] = []
    start = 0
    for cut in cuts:
        pieces.append(text[start : start + cut])
        start += cut
    if start != len(text):
        raise ValueError("the cuts do not fit the text")
    return pieces


def _holder(value: Any, path: _Path) -> Any:
    for step in path[:-1]:
        value = value[step]
    return value


def put(value: Any, path: _Path, leaf: Json) -> None:
    """Put a leaf in the place of the one at a path that `flatten` gave."""
    _holder(value, path)[path[-1]] = leaf


def whole(value: Json) -> int:
    """Return the value, which must be a whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("a whole number is missing")
    return value
