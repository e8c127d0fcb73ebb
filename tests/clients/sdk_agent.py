"""A small agent on the providers' own libraries: one tool, a loop, and the answer on stdout.

Run by tests as a program: ``sdk_agent.py API PROMPT [--stream]``; the base URLs and keys are read
from the environment by the libraries themselves.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

MODEL = "mock-model"
SYSTEM = "You are a careful programmer. Today's folder is the one you stand in."
DESCRIPTION = "Run a shell command and return what it prints."
SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string"}},
    "required": ["command"],
    "additionalProperties": False,
}


def bash(arguments: dict[str, Any]) -> str:
    """Run the one tool there is."""
    command = arguments["command"]
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    return f"{done.stdout}{done.stderr}[exit {done.returncode}]"


def chat(prompt: str, *, stream: bool) -> str:
    """Loop on OpenAI's chat completions."""
    import openai

    client = openai.OpenAI()
    tool = {"name": "bash", "description": DESCRIPTION, "parameters": SCHEMA, "strict": True}
    asked: dict[str, Any] = {"model": MODEL, "tools": [{"type": "function", "function": tool}]}
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": prompt},
    ]
    while True:
        if stream:
            with client.chat.completions.stream(messages=messages, **asked) as events:
                said = events.get_final_completion().choices[0].message
        else:
            said = client.chat.completions.create(messages=messages, **asked).choices[0].message
        calls = said.tool_calls or []
        if not calls:
            return said.content or ""
        made = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in calls
        ]
        messages.append({"role": "assistant", "content": said.content, "tool_calls": made})
        for call in calls:
            result = bash(json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def responses(prompt: str, *, stream: bool) -> str:
    """Loop on OpenAI's responses, keeping the conversation on this side."""
    import openai

    client = openai.OpenAI()
    tool = {"type": "function", "name": "bash", "description": DESCRIPTION, "strict": True}
    asked: dict[str, Any] = {
        "model": MODEL,
        "instructions": SYSTEM,
        "tools": [{**tool, "parameters": SCHEMA}],
        "store": False,
    }
    turns: list[Any] = [{"role": "user", "content": prompt}]
    while True:
        if stream:
            with client.responses.stream(input=turns, **asked) as events:
                said = events.get_final_response()
        else:
            said = client.responses.create(input=turns, **asked)
        calls = [item for item in said.output if item.type == "function_call"]
        if not calls:
            return said.output_text
        left = {"parsed_arguments"}  # the stream's own reading of them, which no server knows
        turns.extend(item.model_dump(exclude_none=True, exclude=left) for item in said.output)
        for call in calls:
            result = bash(json.loads(call.arguments))
            turns.append(
                {"type": "function_call_output", "call_id": call.call_id, "output": result}
            )


def messages(prompt: str, *, stream: bool) -> str:
    """Loop on Anthropic's messages."""
    import anthropic

    return _messages(anthropic.Anthropic().messages, prompt, stream=stream)


def beta_messages(prompt: str, *, stream: bool) -> str:
    """Loop on Anthropic's messages with a beta header, which go to another URL."""
    import anthropic

    api = anthropic.Anthropic().beta.messages
    return _messages(api, prompt, stream=stream, betas=["context-management-2025-06-27"])


def _messages(api: Any, prompt: str, *, stream: bool, **more: Any) -> str:
    asked = {
        "model": MODEL,
        "max_tokens": 1000,
        "system": [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}],
        "tools": [{"name": "bash", "description": DESCRIPTION, "input_schema": SCHEMA}],
        **more,
    }
    turns: list[Any] = [{"role": "user", "content": prompt}]
    while True:
        if stream:
            with api.stream(messages=turns, **asked) as events:
                said = events.get_final_message()
        else:
            said = api.create(messages=turns, **asked)
        calls = [block for block in said.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in said.content if block.type == "text")
        turns.append({"role": "assistant", "content": said.content})
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": bash(call.input)}
            for call in calls
        ]
        turns.append({"role": "user", "content": results})


APIS = {
    "chat": chat,
    "responses": responses,
    "messages": messages,
    "beta_messages": beta_messages,
}

if __name__ == "__main__":
    print(APIS[sys.argv[1]](sys.argv[2], stream="--stream" in sys.argv))
