"""`evalgate cassette diff`: where two cassettes part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from evalgate.commands.answer import Answer
from evalgate.commands.cassettes.exchanges import reply_text
from evalgate.commands.cassettes.finding import Named, find_named
from evalgate.commands.cassettes.settings import Find
from evalgate.core.exchange import Exchange, Miss
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.core.scrubs import Scrub
from evalgate.gateway.keys.matching import Keyed
from evalgate.gateway.keys.rescrubbing import rescrubbed
from evalgate.gateway.misses.divergence import explain
from evalgate.gateway.witness.witness import read_reply


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions:
    """What the command line says; ``rev`` is a state for both, or ``A..B``."""

    one: str
    other: str
    directory: Path
    rev: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Alignment:
    """Exchanges of equal key, in one order: pairs of numbers; and the first that has no twin."""

    pairs: Sequence[tuple[int, int]]
    first: tuple[int | None, int | None] | None


def diff_cassettes(find: Find, options: DiffOptions) -> Answer:
    """Compare headers, parts and exchanges; the first request that differs is explained."""
    left, _, right = (options.rev or "").partition("..")
    here = options.directory
    a, settings = find_named(find, options.one, directory=here, rev=left or None)
    b, _ = find_named(find, options.other, directory=here, rev=right or left or None)
    scrubs = settings.cassettes.scrubs
    old, new = _exchanges(a, scrubs), _exchanges(b, scrubs)
    header = list(_leaves("", a.tape.header.to_json(), b.tape.header.to_json()))
    before, after = a.tape.header.parts, b.tape.header.parts
    parts = sorted(n for n in before.keys() | after.keys() if before.get(n) != after.get(n))
    found = _align(old, new)
    same = [pair for pair in found.pairs if old[pair[0]].body == new[pair[1]].body]
    text, first = _first(found, old, new)
    value: dict[str, Json] = {
        "a": a.name,
        "b": b.name,
        "unconfigured": settings.lacking,
        "header": [{"path": path, "a": x, "b": y} for path, x, y in header],
        "parts": [*parts],
        "exchanges": {"a": len(old), "b": len(new), "equal": len(found.pairs)},
        "equal_replies": len(same),
        "first": first,
    }
    lines = [
        f"a: {a.name}, {counted(len(old), 'exchange')}",
        f"b: {b.name}, {counted(len(new), 'exchange')}",
        *(f"header.{path}: {x} → {y}" for path, x, y in header if not path.startswith("parts.")),
        f"parts that differ: {', '.join(parts) or 'none'}",
        f"{counted(len(found.pairs), 'equal request')}, {len(same)} of them with equal replies",
        *text,
        *_replies(found.pairs, old, new),
        *([f"compared under the usual rules: {settings.lacking}"] if settings.lacking else ()),
    ]
    return Answer(text="\n".join(lines), value=value)


def _exchanges(named: Named, scrubs: Sequence[Scrub]) -> list[Exchange]:
    # Two cassettes are compared under the rules of one of them, or nothing would be equal.
    return rescrubbed(named.tape.exchanges, named.tape.header.rules, scrubs)


def _leaves(path: str, one: Json, other: Json) -> Iterator[tuple[str, Json, Json]]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in sorted(one.keys() | other.keys()):
            inner = f"{path}.{name}" if path else str(name)
            yield from _leaves(inner, one.get(name), other.get(name))
    elif one != other:
        yield path, one, other


def _align(old: Sequence[Exchange], new: Sequence[Exchange]) -> _Alignment:
    a, b = [one.key for one in old], [one.key for one in new]
    matcher = SequenceMatcher(a=a, b=b, autojunk=False)
    pairs: list[tuple[int, int]] = []
    first: tuple[int | None, int | None] | None = None
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "equal":
            pairs += zip(range(i, i_end), range(j, j_end), strict=True)
        elif first is None:
            first = (i if i < i_end else None, j if j < j_end else None)
    return _Alignment(pairs=pairs, first=first)


def _first(
    found: _Alignment, old: Sequence[Exchange], new: Sequence[Exchange]
) -> tuple[list[str], Json]:
    if found.first is None:
        return ["every request is equal"], None
    i, j = found.first
    if j is None:
        return [f"first difference: b has no exchange like {i} of a"], {"a": i, "b": None}
    paired = frozenset(pair[0] for pair in found.pairs)
    miss: Miss = explain(Keyed.of(new[j]), old, paired)
    value: dict[str, Json] = {
        "a": miss.nearest,
        "b": j,
        "sentence": miss.sentence,
        "differs": [*miss.differs],
    }
    if miss.nearest is None:
        return [f"first difference: exchange {j} of b; a holds none"], value
    head = f"first difference: exchange {j} of b; nearest in a is {miss.nearest}"
    again = ["  an equal request stands elsewhere in a"] if miss.played else []
    return [head, *again, *(f"  {line}" for line in miss.differs)], value


def _replies(
    pairs: Sequence[tuple[int, int]], old: Sequence[Exchange], new: Sequence[Exchange]
) -> Iterator[str]:
    """Show the first equal request that was answered otherwise: a model is no function."""
    for i, j in pairs:
        if old[i].body != new[j].body:
            yield f"first reply that differs, to exchange {i} of a and {j} of b:"
            yield f"  a: {reply_text(read_reply(old[i]))}"
            yield f"  b: {reply_text(read_reply(new[j]))}"
            return
