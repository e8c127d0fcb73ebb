"""`evalgate cassette show`: one cassette in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalgate.commands.answer import Answer, bytes_text
from evalgate.commands.cassettes.exchanges import HEADINGS, lines_of, one_exchange
from evalgate.commands.cassettes.finding import Named, find_named
from evalgate.commands.cassettes.settings import Find, Settings
from evalgate.commands.tables import render_rows
from evalgate.core.exchange import Exchange
from evalgate.core.json import Json
from evalgate.core.scrubs import BESIDE, SCRUBS, Scrub
from evalgate.core.short_name import short_of
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.reading import mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """What the command line says: which cassette, of which state, one exchange or all."""

    cassette: str
    directory: Path
    rev: str | None = None
    exchange: int | None = None


def show_cassette(find: Find, options: ShowOptions) -> Answer:
    """Show a cassette's header, what was scrubbed, and its exchanges; or one exchange in full."""
    named, settings = find_named(
        find, options.cassette, directory=options.directory, rev=options.rev
    )
    if options.exchange is not None:
        text, value = one_exchange(named.tape.exchanges, options.exchange)
        return Answer(text=text, value={"cassette": named.name, **value})
    return _whole(named, settings)


def _whole(named: Named, settings: Settings) -> Answer:
    lines = lines_of(named.tape.exchanges)
    scrubs = _scrubs(named, settings.cassettes.scrubs)
    drops = _drops(named.tape.exchanges)
    value: dict[str, Json] = {
        "cassette": named.name,
        "bytes": len(named.data),
        "sha256": named.tape.digest,
        "sealed": named.whole,
        "header": named.tape.header.to_json(),
        "measured": mapping(named.tape.record, "measured"),
        "unconfigured": settings.lacking,
        "same_rules": named.tape.header.rules == settings.cassettes.rules,
        "scrubs": [*scrubs],
        "drops": [*drops],
        "exchanges": [line.to_json() for line in lines],
    }
    text = [*_header(named), "", "scrubbed before requests are matched:"]
    cells = [(_s(s, "rule"), _s(s, "dialect"), _s(s, "hits"), _s(s, "reason")) for s in scrubs]
    text.append(render_rows([("rule", "dialect", "hits", "reason"), *cells]))
    if settings.lacking:
        text.append(f"these are the usual rules: {settings.lacking}")
    elif named.whole and not value["same_rules"]:
        text.append("recorded under other rules than those of today: a replay scrubs it again")
    if drops:
        text += ["", "left out of requests:"]
        text.append(
            render_rows([(_s(d, "dialect"), _s(d, "member"), _s(d, "reason")) for d in drops])
        )
    rows = [line.row() for line in lines]
    text += ["", render_rows([HEADINGS, *rows]) if rows else "no exchange was recorded"]
    return Answer(text="\n".join(text), value=value)


def _header(named: Named) -> list[str]:
    header, conditions = named.tape.header, named.tape.header.conditions
    if not named.whole:
        of = f" of task {header.task} #{header.n}" if header.task else ""
        return [f"{named.name}: the journal{of}; the recording was broken off and not sealed"]
    if header.recorder:
        # No trial was made, so there is nothing to say of one.
        by = f"recorded in process by {header.recorder} on {header.recorded}"
        return [f"{named.name}, {bytes_text(len(named.data))}", by]
    served = ", ".join(conditions.models if conditions else ()) or "no model"
    agent = mapping(named.tape.record, "agent")
    measured = mapping(named.tape.record, "measured")
    outcome = ": ".join(filter(None, (_s(measured, "outcome"), _s(measured, "reason"))))
    return [
        f"{named.name}, {bytes_text(len(named.data))}",
        f"task {header.task} #{header.n} of the harness {short_of(header.fingerprint)}, "
        f"recording {header.recording} of {header.recorded}",
        f"{outcome or 'no outcome'}; the agent {_s(agent, 'status')} "
        f"after {_s(agent, 'seconds')} s",
        f"served by {served}, in the sandbox {conditions.sandbox if conditions else ''}",
    ]


def _scrubs(named: Named, rules: Sequence[Scrub]) -> list[dict[str, Json]]:
    scrubbed = named.tape.header.scrubs
    hits = scrubbed.hits if scrubbed else {}
    known = {rule.name: rule for rule in (*SCRUBS, *rules)}
    names = dict.fromkeys((*(rule.name for rule in rules), *hits, *BESIDE))
    found: list[dict[str, Json]] = []
    for name in names:
        rule = known.get(name)
        reason = rule.reason if rule else BESIDE.get(name, "a rule that is no longer configured")
        dialects = ", ".join(sorted(rule.dialects)) if rule else ""
        found.append(
            {
                "rule": name,
                "dialect": dialects or "any",
                "hits": hits.get(name, 0),
                "reason": reason,
            }
        )
    return found


def _drops(exchanges: Sequence[Exchange]) -> list[dict[str, Json]]:
    return [
        {"dialect": name, "member": ".".join(drop.path), "reason": drop.reason}
        for name in dict.fromkeys(one.dialect for one in exchanges)
        if name in DIALECTS
        for drop in DIALECTS[name].drops
    ]


def _s(value: Json, key: str) -> str:
    found = mapping(value).get(key)
    return "" if found is None else str(found)
