"""One question to a small model, on the providers' own libraries; the answer goes to stdout.

Run by tests as a program: ``sdk_question.py API MODEL [--stream]``.
"""

from __future__ import annotations

import sys

QUESTION = "Name three colours, and say in one sentence why you like them."
TOKENS = 48
HEAT = 0.8


def chat(model: str, *, stream: bool) -> str:
    """Ask OpenAI's chat completions."""
    import openai

    api = openai.OpenAI().chat.completions
    asked = {
        "model": model,
        "messages": [{"role": "user", "content": QUESTION}],
        "max_tokens": TOKENS,
        "temperature": HEAT,
    }
    if not stream:
        return str(api.create(**asked).choices[0].message.content)
    # The library's own helper takes an answer that was cut at the limit for an error.
    events = api.create(**asked, stream=True, stream_options={"include_usage": True})
    return "".join(event.choices[0].delta.content or "" for event in events if event.choices)


def responses(model: str, *, stream: bool) -> str:
    """Ask OpenAI's responses."""
    import openai

    api = openai.OpenAI().responses
    asked = {
        "model": model,
        "input": QUESTION,
        "max_output_tokens": TOKENS,
        "temperature": HEAT,
    }
    if not stream:
        return str(api.create(**asked).output_text)
    # The server's events lack the indexes that the library's own helper reads.
    events = api.create(**asked, stream=True)
    return "".join(event.delta for event in events if event.type == "response.output_text.delta")


def messages(model: str, *, stream: bool) -> str:
    """Ask Anthropic's messages, after a count of the question's tokens."""
    import anthropic

    api = anthropic.Anthropic().messages
    turns = [{"role": "user", "content": QUESTION}]
    counted = api.count_tokens(model=model, messages=turns).input_tokens
    asked = {
        "model": model,
        "messages": turns,
        "max_tokens": TOKENS,
        "extra_body": {"temperature": HEAT},
    }
    if not stream:
        said = api.create(**asked)
    else:
        with api.stream(**asked) as events:
            said = events.get_final_message()
    return f"{counted} tokens: {said.content[0].text}"


APIS = {"chat": chat, "responses": responses, "messages": messages}

if __name__ == "__main__":
    print(APIS[sys.argv[1]](sys.argv[2], stream="--stream" in sys.argv))
