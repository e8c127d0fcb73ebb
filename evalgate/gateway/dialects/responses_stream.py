"""The events of a streamed response, joined to the response they tell."""

from __future__ import annotations

from typing import Final

from evalgate.core.json import Json, JsonObject
from evalgate.gateway import reading

_ENDS: Final = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}
_SNAPSHOTS: Final = frozenset({"response.created", "response.queued", "response.in_progress"})
_ITEMS: Final = frozenset({"response.output_item.added", "response.output_item.done"})

#: Which member of an item a piece belongs to.
_PIECES: Final = {
    "response.reasoning_summary_text.delta": "summary",
    "response.reasoning_text.delta": "content",
    "response.output_text.delta": "content",
    "response.refusal.delta": "content",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}


def join_events(events: list[Json]) -> tuple[JsonObject, bool]:
    """Return the response, and whether its last event came.

    The items are those of the events; some servers leave them out of the last one. Of a stream
    that broke off the pieces that came are kept.
    """
    answer: dict[str, Json] = {}
    items: dict[int, dict[str, Json]] = {}
    ended = False
    for event in events:
        kind = reading.text(event, "type")
        if kind in _SNAPSHOTS or kind in _ENDS:
            answer.update(reading.mapping(event, "response"))
        if kind in _ENDS:
            ended = True
            answer.setdefault("status", _ENDS[kind])
        elif kind in _ITEMS:
            items[_place(event, items)] = dict(reading.mapping(event, "item"))
        elif kind in _PIECES:
            own = "reasoning" if kind.startswith("response.reasoning_") else "message"
            item = items.setdefault(_place(event, items), {"type": own})
            part = reading.count(event, "summary_index") or 0
            _grow(item, _PIECES[kind], part, reading.text(event, "delta"))
        elif kind == "error":
            # Documented with the message in the event, met with an object around it.
            inner = reading.member(event, "error")
            answer["error"] = event if inner is None else inner
    if items:
        answer["output"] = [item for _, item in sorted(items.items())]
    if reading.text(answer, "status") == "failed" and answer.get("error") is None:
        answer["error"] = {}
    return answer, ended


def _place(event: Json, items: dict[int, dict[str, Json]]) -> int:
    """Return the index of an event's item; servers that give none give the item's id."""
    index = reading.count(event, "output_index")
    if index is not None:
        return index
    wanted = reading.text(event, "item_id") or reading.text(event, "item", "id")
    known = (at for at, item in items.items() if wanted and reading.text(item, "id") == wanted)
    return next(known, max(items, default=-1) + 1)


def _grow(item: dict[str, Json], member: str, part: int, piece: str) -> None:
    if member == "summary":
        _grow_summary(item, part, piece)
    elif member == "content":
        written = reading.text(item, "content", 0, "text")
        item["content"] = [{"type": "output_text", "text": written + piece}]
    else:
        item[member] = reading.text(item, member) + piece


def _grow_summary(item: dict[str, Json], part: int, piece: str) -> None:
    """Thoughts are summed up in several parts, one after the other."""
    parts = [reading.text(one, "text") for one in reading.items(item, "summary")]
    parts += [""] if part >= len(parts) else []
    parts[min(part, len(parts) - 1)] += piece
    item["summary"] = [{"type": "summary_text", "text": text} for text in parts]
