"""What a model shows of its thoughts is read apart from what it says."""

from __future__ import annotations

import json

import pytest

from evalgate.gateway.dialects.table import DIALECTS


def deltas(*pieces):
    """Return the chunks of a chat."""
    chunks = [{"choices": [{"index": 0, "delta": piece}]} for piece in pieces]
    return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]


def summed_up(*parts):
    """Return a whole response of the responses API with one reasoning item."""
    summary = [{"type": "summary_text", "text": part} for part in parts]
    output = [
        {"type": "reasoning", "summary": summary, "encrypted_content": "gAAAA"},
        {"type": "message", "content": [{"type": "output_text", "text": "Done."}]},
    ]
    return {"status": "completed", "output": output}


def block(index, kind, **delta):
    """Return one delta of a block."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}


def parts(*said):
    """Return a piece of Gemini's answer."""
    return {"candidates": [{"content": {"parts": list(said)}, "finishReason": "STOP"}]}


@pytest.mark.parametrize(
    ("name", "answer", "thought"),
    [
        (
            "anthropic",
            {"content": [{"type": "thinking", "thinking": "One.", "signature": "x"},
                         {"type": "redacted_thinking", "data": "gAAAA"},
                         {"type": "thinking", "thinking": "Two.", "signature": "y"},
                         {"type": "text", "text": "Done."}]},
            "One.\nTwo.",
        ),
        ("openai-chat", {"choices": [{"message": {"content": "Done.",
                                                  "reasoning_content": "Hm."}}]}, "Hm."),
        ("openai-chat", {"choices": [{"message": {"content": "Done.", "reasoning": "Hm."}}]},
         "Hm."),
        ("openai-chat", {"choices": [{"message": {"content": "Done.", "reasoning": "Hm.",
                                                  "reasoning_content": "Hm."}}]}, "Hm."),
        ("openai-responses", summed_up("One.", "Two."), "One.\nTwo."),
        (
            "openai-responses",
            {"status": "completed", "output": [
                {"type": "reasoning", "summary": [],
                 "content": [{"type": "reasoning_text", "text": "Hm."}]},
                {"type": "message", "content": [{"type": "output_text", "text": "Done."}]}]},
            "Hm.",
        ),
        ("gemini", parts({"text": "Hm.", "thought": True}, {"text": "Done."}), "Hm."),
    ],
)  # fmt: skip
def test_thoughts_in_a_whole_answer(name, answer, thought):
    """Encrypted ones say nothing, and what two members repeat is said once."""
    reply = DIALECTS[name].read_reply(json.dumps(answer).encode())
    assert (reply.reasoning, reply.text, reply.finished) == (thought, "Done.", True)


@pytest.mark.parametrize(
    ("name", "events"),
    [
        ("openai-chat", deltas({"reasoning": "H"}, {"reasoning": "m."}, {"content": "Done."})),
        ("openai-chat", deltas({"reasoning_content": "Hm."}, {"content": "Done."})),
        (
            "anthropic",
            [
                {"type": "message_start", "message": {"model": "m"}},
                {"type": "content_block_start", "index": 0,
                 "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
                block(0, "thinking_delta", thinking="H"),
                block(0, "thinking_delta", thinking="m."),
                block(0, "signature_delta", signature="x"),
                {"type": "content_block_start", "index": 1,
                 "content_block": {"type": "text", "text": ""}},
                block(1, "text_delta", text="Done."),
                {"type": "message_stop"},
            ],
        ),
        (
            "openai-responses",
            [
                {"type": "response.reasoning_summary_text.delta", "output_index": 0,
                 "summary_index": 0, "delta": "never the last word"},
                {"type": "response.completed", "response": summed_up("Hm.")},
                *({"type": "response.output_item.done", "output_index": index, "item": item}
                  for index, item in enumerate(summed_up("Hm.")["output"])),
            ],
        ),
        ("gemini", [parts({"text": "H", "thought": True}), parts({"text": "m.", "thought": True}),
                    parts({"text": "Done."})]),
    ],
)  # fmt: skip
def test_thoughts_in_a_stream(stream, name, events):
    """They come in pieces like the answer; a whole item counts more than its pieces."""
    reply = DIALECTS[name].read_reply(stream(*events))
    assert (reply.reasoning, reply.text, reply.finished) == ("Hm.", "Done.", True)


def test_thoughts_of_a_stream_that_broke_off(stream):
    """The pieces that came are kept, each part of a summary by itself."""

    def piece(kind, part, delta, index=0):
        return {
            "type": f"response.{kind}.delta",
            "output_index": index,
            "summary_index": part,
            "delta": delta,
        }

    summary = "reasoning_summary_text"
    events = (piece(summary, 0, "On"), piece(summary, 0, "e."), piece(summary, 7, "Two."))
    reply = DIALECTS["openai-responses"].read_reply(
        stream(*events, piece("reasoning_text", 0, "Three.", index=1))
    )
    assert (reply.reasoning, reply.text, reply.finished) == ("One.\nTwo.\nThree.", "", False)


@pytest.mark.parametrize("name", DIALECTS)
def test_an_answer_without_thoughts_has_none(name):
    """What is no text is none either."""
    for body in (b"{}", b'{"choices":[{"message":{"reasoning":{"effort":1}}}]}', b"data: {}\n\n"):
        assert not DIALECTS[name].read_reply(body).reasoning
