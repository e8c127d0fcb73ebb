"""The places where a secret is planted, one for each, and the forms in which it is.

No secret is written in this file: each is made of the name of its place.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import textwrap
from urllib.parse import quote

#: Places where not every character can stand.
PLAIN = ("header-", "query-", "path-", "reply-header-", "claim-", "url-", "base64-")


def secret_of(name: str) -> str:
    """Return the secret of a place: made up, and with odd characters where they can stand."""
    digits = hashlib.sha256(f"a place to hide: {name}".encode()).hexdigest()
    if name.startswith("pattern-"):
        return f"ghp_{digits[:36]}"
    odd = "" if name.startswith(PLAIN) else '/+"&<é\\'
    return f"zq{digits[:14]}{odd}{digits[14:26]}"


def encoded(secret: str) -> str:
    return base64.b64encode(f"PASSWORD={secret}\n".encode()).decode()


def in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


FORMS = {
    "raw": lambda secret: secret,
    "json": in_json,
    "json-utf8": lambda secret: json.dumps(secret, ensure_ascii=False)[1:-1],
    "json-json": lambda secret: in_json(in_json(secret)),
    "json-json-json": lambda secret: in_json(in_json(in_json(secret))),
    "unicode": lambda secret: "".join(
        f"\\u{ord(one):04x}" if one in '/+"&<é\\' else one for one in secret
    ),
    "base64": encoded,
    "base64-lines": lambda secret: "\\n".join(
        textwrap.wrap(encoded("#" * 40 + "\n" + secret + "\n" + "#" * 90), 76)
    ),
    "first": lambda secret: in_json(secret[: len(secret) // 2]),
    "second": lambda secret: in_json(secret[len(secret) // 2 :]),
    "percent": lambda secret: quote(secret, safe=""),
    "html": lambda secret: in_json(html.escape(secret)),
    "hex": lambda secret: secret.encode().hex(),
}

CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"
GEMINI = "/v1beta/models/scripted-1:generateContent"
GEMINI_ARRAY = "/v1beta/models/scripted-1:streamGenerateContent"
GEMINI_STREAM = "/v1beta/models/scripted-1:streamGenerateContent?alt=sse"


def said(text: str) -> str:
    """Return the body of a request in which the user says this."""
    return (
        f'{{"model":"scripted-1","max_tokens":9,"messages":[{{"role":"user","content":"{text}"}}]}}'
    )


def result(text: str) -> str:
    """Return the body of a request in which a tool has given this."""
    return said("x").replace(
        '[{"role"',
        '[{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function",'
        '"function":{"name":"sh","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1",'
        f'"content":"{text}"}},{{"role"',
        1,
    )


def blocks(kind: str = "text") -> str:
    """Return two blocks of text, each with a half of the secret."""
    return ",".join(f'{{"type":"{kind}","text":"{{{{{half}}}}}"}}' for half in ("first", "second"))


def with_more(member: str) -> str:
    return said("NAME")[:-1] + f",{member}}}"


#: Name -> path, headers and body of a request; {{form}} stands for the secret in that form.
REQUESTS: dict[str, tuple[str, dict[str, str], str]] = {
    "header-x-api-key": (MESSAGES, {"x-api-key": "{{raw}}"}, said("NAME")),
    "header-authorization": (CHAT, {"authorization": "Bearer {{raw}}"}, said("NAME")),
    "header-basic-auth": (CHAT, {"authorization": "Basic {{base64}}"}, said("NAME")),
    "header-goog": (
        GEMINI,
        {"x-goog-api-key": "{{raw}}"},
        '{"contents":[{"parts":[{"text":"NAME"}]}]}',
    ),
    "header-cookie": (CHAT, {"cookie": "session={{raw}}"}, said("NAME")),
    "header-of-its-own": (CHAT, {"x-my-token": "{{raw}}"}, said("NAME")),
    "header-beta": (MESSAGES, {"anthropic-beta": "feature-{{raw}}"}, said("NAME")),
    "header-version": (MESSAGES, {"anthropic-version": "2023-06-01-{{raw}}"}, said("NAME")),
    "header-session": (CHAT, {"x-client-request-id": "{{raw}}"}, said("NAME")),
    "query-key": (CHAT + "?key={{raw}}", {}, said("NAME")),
    "query-other": (CHAT + "?account={{raw}}", {}, said("NAME")),
    "query-name": (CHAT + "?{{raw}}=1", {}, said("NAME")),
    "path-segment": ("/v1/files/{{raw}}/content", {}, ""),
    "path-model": ("/v1/models/{{raw}}", {"anthropic-version": "2023-06-01"}, ""),
    "system-prompt": (MESSAGES, {}, with_more('"system":"Use {{json}} now."')),
    "system-blocks": (MESSAGES, {}, with_more('"system":[{"type":"text","text":"{{json-utf8}}"}]')),
    "user-message": (CHAT, {}, said("NAME: {{json}}, ok?")),
    "user-message-unicode": (CHAT, {}, said("NAME {{unicode}}")),
    "tool-description": (
        CHAT,
        {},
        with_more('"tools":[{"type":"function","function":{"name":"f","description":"{{json}}"}}]'),
    ),
    "parameter": (CHAT, {}, with_more('"stop":["{{json}}"]')),
    "member-name": (CHAT, {}, with_more('"logit_bias":{"{{json}}":1}')),
    "top-member-name": (CHAT, {}, with_more('"{{json}}":1')),
    "dropped-member": (CHAT, {}, with_more('"user":"{{json}}"')),
    "metadata": (
        MESSAGES,
        {},
        with_more('"metadata":{"user_id":"{\\"session\\":\\"{{json-json}}\\"}"}'),
    ),
    "tool-arguments": (
        CHAT,
        {},
        result("ok").replace(
            '"arguments":"{}"', '"arguments":"{\\"command\\":\\"echo {{json-json}}\\"}"'
        ),
    ),
    "json-in-json-in-json": (
        CHAT,
        {},
        result('[\\"{\\\\\\"k\\\\\\":\\\\\\"{{json-json-json}}\\\\\\"}\\"]'),
    ),
    "tool-result": (CHAT, {}, result("PASSWORD={{json}}\\n")),
    "tool-result-anthropic": (
        MESSAGES,
        {},
        '{"model":"scripted-1","max_tokens":9,"messages":[{"role":"user","content":[{"type":'
        '"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"{{json}}"}]}]}]}',
    ),
    "tool-result-responses": (
        RESPONSES,
        {},
        '{"model":"scripted-1","input":[{"type":"function_call_output","call_id":"call_1",'
        '"output":"{{json}}"}]}',
    ),
    "tool-result-gemini": (
        GEMINI,
        {},
        '{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"sh","response":'
        '{"output":"{{json}}"}}}]}]}',
    ),
    "instructions": (
        RESPONSES,
        {},
        '{"model":"scripted-1","instructions":"{{json}}","input":"NAME"}',
    ),
    "gemini-system": (
        GEMINI,
        {},
        '{"systemInstruction":{"parts":[{"text":"{{json}}"}]},"contents":[{"parts":[{"text":"a"}]}]}',
    ),
    "base64-in-result": (CHAT, {}, result("{{base64}}")),
    "base64-lines-in-result": (CHAT, {}, result("{{base64-lines}}")),
    "base64-image": (
        MESSAGES,
        {},
        '{"model":"scripted-1","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image",'
        '"source":{"type":"base64","media_type":"image/png","data":"{{base64}}"}}]}]}',
    ),
    "url-in-message": (CHAT, {}, said("https://u:{{percent}}@example.invalid/?q=NAME")),
    "percent-in-message": (CHAT, {}, said("https://example.invalid/?token={{percent}}")),
    "html-in-result": (CHAT, {}, result("<td>{{html}}</td>")),
    "hex-in-result": (CHAT, {}, result("{{hex}}")),
    "pattern-in-result": (CHAT, {}, result("GH={{raw}}")),
    "pattern-in-arguments": (
        CHAT,
        {},
        result("ok").replace('"arguments":"{}"', '"arguments":"{\\"k\\":\\"\\\\n{{raw}}\\"}"'),
    ),
    "cut-system": (MESSAGES, {}, with_more(f'"system":[{blocks()}]')),
    "cut-message": (CHAT, {}, said("NAME").replace('"NAME"', f"[{blocks()}]")),
    "cut-result": (
        MESSAGES,
        {},
        '{"model":"scripted-1","max_tokens":9,"messages":[{"role":"user","content":[{"type":'
        f'"tool_result","tool_use_id":"toolu_1","content":[{blocks()}]}}]}}]}}',
    ),
    "cut-input": (
        RESPONSES,
        {},
        f'{{"model":"scripted-1","input":[{{"role":"user","content":[{blocks("input_text")}]}}]}}',
    ),
    "cut-gemini-system": (
        GEMINI,
        {},
        f'{{"systemInstruction":{{"parts":[{blocks()}]}},"contents":[{{"parts":[{{"text":"a"}}]}}]}}',
    ),
    "cut-parts": (GEMINI, {}, f'{{"contents":[{{"parts":[{blocks()}]}}]}}'),
    "pattern-cut-message": (CHAT, {}, said("NAME").replace('"NAME"', f"[{blocks()}]")),
    "body-of-text": ("/v1/files", {"content-type": "text/plain"}, "NAME {{raw}} is no JSON"),
    "body-of-odd-json": (CHAT, {}, said("NAME {{json}}")[:-1] + ',"seed":1e400}'),
    "body-gzip": (CHAT, {"content-encoding": "gzip"}, said("NAME {{json}}")),
    "url-of-the-provider": (CHAT, {}, said("NAME").replace("scripted-1", "lost-1")),
    "unknown-endpoint": ("/v1/embeddings", {}, '{"model":"scripted-1","input":"{{json}}"}'),
}

#: Name -> path of a request whose reply holds the secret; ``stream`` is asked for where it can.
REPLIES: dict[str, str] = {
    "reply-text": CHAT,
    "reply-tool-arguments": CHAT,
    "reply-anthropic-input": MESSAGES,
    "reply-responses-output": RESPONSES,
    "reply-gemini-call": GEMINI,
    "reply-served-model": CHAT,
    "reply-header-request-id": CHAT,
    "reply-header-cookie": CHAT,
    "reply-header-location": CHAT,
    "reply-base64": CHAT,
    "reply-error-400": CHAT,
    "reply-error-401": MESSAGES,
    "reply-error-500": CHAT,
    "reply-of-text": CHAT,
    "reply-of-bytes": CHAT,
    "reply-indented": CHAT,
    "stream-chat-text": CHAT,
    "stream-chat-arguments": CHAT,
    "stream-anthropic-text": MESSAGES,
    "stream-anthropic-input": MESSAGES,
    "stream-anthropic-thinking": MESSAGES,
    "stream-responses-text": RESPONSES,
    "stream-responses-arguments": RESPONSES,
    "stream-gemini": GEMINI_STREAM,
    "pattern-in-stream": CHAT,
    "stream-by-character": CHAT,
    "stream-parallel-calls": CHAT,
    "stream-error-event": MESSAGES,
    "stream-comment": CHAT,
    "stream-cut": CHAT,
    "final-answer": CHAT,
    "reply-cut-blocks": MESSAGES,
    "reply-cut-parts": GEMINI,
    "reply-cut-output": RESPONSES,
    "stream-cut-blocks": MESSAGES,
    "stream-begun-block": MESSAGES,
    "stream-begun-part": RESPONSES,
    "stream-data-lines": MESSAGES,
    "reply-cut-messages": RESPONSES,
    "array-cut-parts": GEMINI_ARRAY,
    "array-broken-off": GEMINI_ARRAY,
    "pattern-reply-cut-blocks": MESSAGES,
}

#: What is not on the wire.
ELSEWHERE = ("agent-stdout", "agent-stderr", "grading-log", "check-detail", "miss-report")
CLAIMED = ("claim-content", "claim-name", "claim-base64")
PLACES = (*REQUESTS, *REPLIES, *ELSEWHERE, *CLAIMED)
