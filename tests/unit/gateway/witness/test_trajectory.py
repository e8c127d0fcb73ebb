"""Calls meet their outputs, in every dialect, streamed or not; side requests stay aside."""

from __future__ import annotations

import json

import pytest

from evalgate.core.exchange import Ending, Exchange
from evalgate.core.redaction import Redactor
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.keys.cleaning import Cleaner
from evalgate.gateway.keys.matching import Keying
from evalgate.gateway.witness.witness import witness_of

PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/m:streamGenerateContent",
}
LS, CAT = {"path": "."}, {"path": "a.txt"}

CHAT_USAGE = {
    "prompt_tokens": 12,
    "completion_tokens": 3,
    "prompt_tokens_details": {"cached_tokens": 5},
}

RESPONSES_USAGE = {
    "input_tokens": 12,
    "output_tokens": 3,
    "input_tokens_details": {"cached_tokens": 5},
    "total_tokens": 15,
}


def exchange(dialect, body, reply, **more):
    """Return an exchange of a request and the bytes of a reply."""
    keying = Keying(Cleaner(redactor=Redactor({}), places={}))
    path = PATHS[dialect]
    keyed = keying.keyed(DIALECTS[dialect], "POST", path, json.dumps(body).encode())
    return Exchange(
        dialect=dialect, method="POST", path=path, request=keyed.request, key=keyed.key,
        **{"status": 200, "body": reply, **more},
    )  # fmt: skip


def events(*values, named=False, done=False):
    """Return a stream of events."""
    frames = [
        (f"event: {value['type']}\n" if named else "") + f"data: {json.dumps(value)}\n\n"
        for value in values
    ]
    return "".join([*frames, *["data: [DONE]\n\n"] * done]).encode()


class Anthropic:
    """Messages."""

    name = "anthropic"

    def asked(self, prompt, outputs=()):
        messages = [{"role": "user", "content": [{"type": "text", "text": prompt}]}]
        blocks = [
            {"type": "tool_result", "tool_use_id": i, "content": text, "is_error": not ok}
            for i, text, ok in outputs
        ]
        messages += [{"role": "assistant", "content": "…"}, {"role": "user", "content": blocks}]
        tools = [{"name": "ls", "description": "Lists.", "input_schema": {"type": "object"}}]
        return {
            "system": "You are careful.",
            "tools": tools,
            "messages": messages[: 1 + 2 * bool(outputs)],
        }

    def whole(self, text, calls):
        content = [{"type": "text", "text": text}] if text else []
        content += [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls]
        usage = {"input_tokens": 7, "output_tokens": 3, "cache_read_input_tokens": 5}
        return json.dumps({"model": "m-1", "content": content, "usage": usage}).encode()

    def streamed(self, text, calls):
        usage = {"input_tokens": 7, "output_tokens": 1, "cache_read_input_tokens": 5}
        told = [{"type": "message_start", "message": {"model": "m-1", "usage": usage}}]
        blocks = [{"type": "text", "text": ""}] if text else []
        blocks += [{"type": "tool_use", "id": i, "name": n, "input": {}} for i, n, _ in calls]
        told += [
            {"type": "content_block_start", "index": index, "content_block": block}
            for index, block in enumerate(blocks)
        ]
        deltas = [(0, "text_delta", "text", text)] if text else []
        # The pieces of parallel calls come between one another.
        halves = [(json.dumps(a)[:6], json.dumps(a)[6:]) for _, _, a in calls]
        for half in (0, 1):
            deltas += [
                (bool(text) + index, "input_json_delta", "partial_json", pieces[half])
                for index, pieces in enumerate(halves)
            ]
        told += [
            {"type": "content_block_delta", "index": index, "delta": {"type": kind, key: piece}}
            for index, kind, key, piece in deltas
        ]
        told += [{"type": "message_delta", "delta": {}, "usage": {"output_tokens": 3}}]
        return events(*told, {"type": "message_stop"}, named=True)


class Chat:
    """Chat completions."""

    name = "openai-chat"

    def asked(self, prompt, outputs=()):
        messages = [
            {"role": "system", "content": "You are careful."},
            {"role": "user", "content": prompt},
        ]
        messages += [{"role": "tool", "tool_call_id": i, "content": text} for i, text, _ in outputs]
        function = {"name": "ls", "description": "Lists.", "parameters": {"type": "object"}}
        return {"messages": messages, "tools": [{"type": "function", "function": function}]}

    def whole(self, text, calls):
        made = [
            {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
            for i, n, a in calls
        ]
        message = {"content": text, "tool_calls": made}
        whole = {"model": "m-1", "choices": [{"message": message}], "usage": CHAT_USAGE}
        return json.dumps(whole).encode()

    def streamed(self, text, calls):
        deltas = [{"content": text}] if text else []
        deltas += [
            {"tool_calls": [{"index": k, "id": i, "function": {"name": n, "arguments": ""}}]}
            for k, (i, n, _) in enumerate(calls)
        ]
        halves = [(json.dumps(a)[:6], json.dumps(a)[6:]) for _, _, a in calls]
        for half in (0, 1):
            deltas += [
                {"tool_calls": [{"index": k, "function": {"arguments": pieces[half]}}]}
                for k, pieces in enumerate(halves)
            ]
        told = [{"model": "m-1", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
        told.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        return events(*told, {"choices": [], "usage": CHAT_USAGE}, done=True)


class Responses:
    """Responses."""

    name = "openai-responses"

    def asked(self, prompt, outputs=()):
        items = [{"role": "user", "content": [{"type": "input_text", "text": prompt}]}]
        items += [
            {"type": "function_call_output", "call_id": i, "output": text} for i, text, _ in outputs
        ]
        tool = {
            "type": "function",
            "name": "ls",
            "description": "Lists.",
            "parameters": {"type": "object"},
        }
        return {"instructions": "You are careful.", "input": items, "tools": [tool]}

    def _items(self, text, calls):
        said = [{"type": "message", "content": [{"type": "output_text", "text": text}]}]
        return said * bool(text) + [
            {"type": "function_call", "call_id": i, "name": n, "arguments": json.dumps(a)}
            for i, n, a in calls
        ]

    def _answer(self, output):
        return {"model": "m-1", "status": "completed", "output": output, "usage": RESPONSES_USAGE}

    def whole(self, text, calls):
        return json.dumps(self._answer(self._items(text, calls))).encode()

    def streamed(self, text, calls):
        items = self._items(text, calls)
        told = [{"type": "response.created", "response": {"model": "m-1"}}]
        told += [
            {"type": "response.output_item.done", "output_index": index, "item": item}
            for index, item in enumerate(items)
        ]
        # Some servers say the output again at the end, some only in its items.
        return events(
            *told, {"type": "response.completed", "response": self._answer(items)}, named=True
        )


class Gemini:
    """Content; calls and their outputs are matched by the function's name, in order."""

    name = "gemini"

    def asked(self, prompt, outputs=()):
        contents = [{"role": "user", "parts": [{"text": prompt}]}]
        parts = [
            {
                "functionResponse": {
                    "name": i,
                    "response": {"output": text} if ok else {"error": text},
                }
            }
            for i, text, ok in outputs
        ]
        contents += [{"role": "user", "parts": parts}] * bool(parts)
        declared = {"name": "ls", "description": "Lists.", "parameters": {"type": "object"}}
        return {
            "systemInstruction": {"parts": [{"text": "You are careful."}]},
            "contents": contents,
            "tools": [{"functionDeclarations": [declared]}],
        }

    def _piece(self, parts, **more):
        usage = {"promptTokenCount": 12, "candidatesTokenCount": 3, "cachedContentTokenCount": 5}
        candidate = {"content": {"parts": parts}, **more}
        return {"modelVersion": "m-1", "candidates": [candidate], "usageMetadata": usage}

    def _parts(self, text, calls):
        made = [{"functionCall": {"name": n, "args": a}} for _, n, a in calls]
        return [{"text": text}] * bool(text) + made

    def whole(self, text, calls):
        return json.dumps(self._piece(self._parts(text, calls), finishReason="STOP")).encode()

    def streamed(self, text, calls):
        pieces = [self._piece([part]) for part in self._parts(text, calls)]
        return events(*pieces, self._piece([], finishReason="STOP"))


DIALECT = {one.name: one() for one in (Anthropic, Chat, Responses, Gemini)}


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("name", PATHS)
def test_parallel_calls_outputs_and_the_answer(name, streamed):
    """Two calls at once, their outputs in the next request, then the last words."""
    api = DIALECT[name]
    say = api.streamed if streamed else api.whole
    ids = ("ls", "cat") if name == "gemini" else ("c1", "c2")
    calls = [(ids[0], "ls", LS), (ids[1], "cat", CAT)]
    outputs = [(ids[0], "a.txt", True), (ids[1], "no such file", False)]
    trajectory = witness_of(
        [
            exchange(name, api.asked("mend it"), say("I look.", calls), began=1.0, seconds=2.0),
            exchange(name, api.asked("mend it", outputs), say("Done.", []), began=3.5, seconds=1.0),
        ]
    ).trajectory
    assert [(call.name, call.input) for call in trajectory.calls] == [("ls", LS), ("cat", CAT)]
    assert [call.output for call in trajectory.calls] == ["a.txt", "no such file"]
    known = name in {"anthropic", "gemini"}
    assert [call.ok for call in trajectory.calls] == ([True, False] if known else [None, None])
    assert [call.seconds for call in trajectory.calls] == [0.5, 0.5]
    assert (trajectory.turns, trajectory.final_answer) == (2, "Done.")
    first, second = trajectory.steps
    assert (first.text, first.calls) == ("I look.", trajectory.calls)
    assert (second.text, second.calls) == ("Done.", ())
    assert (first.model, first.conversation, first.began, first.seconds) == ("m-1", 0, 1.0, 2.0)
    assert (first.usage.input_tokens, first.usage.cache_read_tokens) == (7, 5)
    assert first.usage.output_tokens == 3
    assert trajectory.opening.system == "You are careful."
    assert trajectory.opening.prompt == "mend it"
    (tool,) = trajectory.opening.tools
    assert tool["function"] == {
        "name": "ls", "description": "Lists.", "parameters": {"type": "object"},
    }  # fmt: skip


def chat(reply, *outputs, system="main", tools=True, prompt="p", **more):
    """Return a chat exchange; ``reply`` is its text and the ids it calls."""
    text, *ids = reply
    messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
    messages += [{"role": "tool", "tool_call_id": i, "content": said} for i, said in outputs]
    body = {"messages": messages, **({"tools": [{"name": "t"}]} if tools else {})}
    return exchange("openai-chat", body, Chat().whole(text, [(i, "t", {}) for i in ids]), **more)


def told(*exchanges):
    """Return the trajectory of exchanges."""
    return witness_of(exchanges).trajectory


def test_a_step_has_the_thoughts_that_were_shown():
    """They are no part of the answer."""
    message = {"content": "Done.", "reasoning_content": "Hm."}
    body = json.dumps({"choices": [{"message": message}]}).encode()
    (step,) = told(exchange("openai-chat", {"messages": []}, body)).steps
    assert (step.reasoning, step.text) == ("Hm.", "Done.")


def test_a_title_asked_for_last_is_not_the_answer():
    """It offers no tools; what it says is a step of another conversation."""
    title = chat(["A title"], system="You make titles.", tools=False)
    trajectory = told(title, chat(["", "a"]), chat(["Mended."], ("a", "x")), title)
    assert trajectory.final_answer == "Mended."
    assert trajectory.turns == 4
    assert [step.conversation for step in trajectory.steps] == [1, 0, 0, 1]
    assert trajectory.opening.system == "main"


def test_a_check_under_the_same_prompt_is_no_answer_either():
    """Some agents ask once more, without tools, who speaks next."""
    check = chat(['{"next_speaker": "user"}'], tools=False)
    trajectory = told(chat(["", "a"]), chat(["Mended."], ("a", "x")), check)
    assert trajectory.final_answer == "Mended."


def test_a_sub_agent_in_between_has_a_conversation_of_its_own():
    """Even when it speaks more often, counts its ids anew, and begins before its agent ends."""
    trajectory = told(
        chat(["", "0"], began=0, seconds=1),
        chat(["", "0"], system="sub", began=2, seconds=1),
        chat(["", "1"], ("0", "of the sub-agent"), system="sub", began=4, seconds=1),
        chat(["Found."], ("0", "of the sub-agent"), ("1", "y"), system="sub", began=6, seconds=1),
        chat(["Mended."], ("0", "Found."), began=8, seconds=1),
    )
    assert [call.output for call in trajectory.calls] == ["Found.", "of the sub-agent", "y"]
    assert [call.seconds for call in trajectory.calls] == [7, 1, 1]
    assert [step.conversation for step in trajectory.steps] == [0, 1, 1, 1, 0]
    assert trajectory.final_answer == "Mended."


def test_an_agent_without_tools_speaks_most_often_in_its_own_conversation():
    """Or has more to say there, when it speaks once."""
    title = chat(["A title"], system="You make titles.", tools=False)
    main = chat(["Mended."], tools=False)
    assert told(title, main, main, title, title, main, main).final_answer == "Mended."
    long = chat(["Mended."], tools=False, prompt="a long task " * 9)
    assert told(title, long).final_answer == "Mended."
    assert told(long, title).final_answer == "Mended."


def test_a_prompt_that_counts_is_one_conversation():
    """Most of its lines are the same."""
    prompts = ["Be careful.\nBe quick.\nTokens left: 99", "Be careful.\nBe quick.\nTokens left: 7"]
    trajectory = told(
        chat(["", "a"], system=prompts[0]), chat(["ok"], ("a", "x"), system=prompts[1])
    )
    assert [step.conversation for step in trajectory.steps] == [0, 0]
    assert trajectory.calls[0].output == "x"


def test_an_output_in_another_conversation_counts_when_the_id_is_the_only_one():
    """An agent may go on under another prompt."""
    one = told(chat(["", "call-17"], system="plan"), chat(["ok"], ("call-17", "x"), system="do"))
    assert one.calls[0].output == "x"
    two = told(
        chat(["", "0"], system="plan"),
        chat(["", "0"], system="do"),
        chat(["ok"], ("0", "x"), system="do"),
    )
    assert [call.output for call in two.calls] == [None, "x"]


def test_a_call_that_was_asked_for_once_more_is_answered_once():
    """The agent did not take the first reply, and the model used the same id again."""
    trajectory = told(chat(["", "a"]), chat(["", "a"]), chat(["ok"], ("a", "x")))
    assert [call.output for call in trajectory.calls] == [None, "x"]


def test_errors_between_close_calls_and_are_no_steps():
    """The output came with the request that failed; the wait for it ended there."""
    trajectory = told(
        chat(["", "a"], began=0, seconds=1),
        chat(["busy"], ("a", "x"), began=2, seconds=1, status=529),
        chat(["cut"], ("a", "x"), began=4, seconds=1, ending=Ending.UPSTREAM_CUT),
        chat(["ok"], ("a", "x"), began=9, seconds=1),
    )
    assert [(call.output, call.seconds) for call in trajectory.calls] == [("x", 1)]
    assert (trajectory.turns, trajectory.final_answer) == (2, "ok")


def test_the_answer_is_nothing_when_the_agent_stopped_at_a_call():
    """Earlier words are no answer."""
    assert told(chat(["Look", "a"]), chat(["", "b"], ("a", "x"))).final_answer is None
