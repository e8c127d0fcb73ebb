"""A small agent with one tool: it ends when it has nothing to call, and goes on when answered.

Called with the id of its model and what it is told, by a person or, the next time, in answer.
"""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

PROMPT = Path(__file__).with_name("prompt.md")
SESSION = Path(os.environ["HOME"], "session.json")
BASH = {
    "name": "bash",
    "description": "Run a command of the shell in the working directory.",
    "parameters": {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
}


def ask(model, messages):
    """Return what the model says next."""
    tools = [{"type": "function", "function": BASH}]
    body = json.dumps({"model": model, "messages": messages, "tools": tools}).encode()
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    headers = {
        "content-type": "application/json",
        "authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", ""),
    }
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as reply:
        return json.load(reply)["choices"][0]["message"]


def run(command):
    """Return the output of a command, and its exit code where that is not 0."""
    done = subprocess.run(["sh", "-c", command], check=False, capture_output=True, text=True)
    code = f"\nexit code {done.returncode}" if done.returncode else ""
    return done.stdout + done.stderr + code


def main(model, told):
    """Go on with the session until the model calls no tool, and print what it said."""
    if SESSION.exists():
        messages = json.loads(SESSION.read_text())
    else:
        messages = [{"role": "system", "content": PROMPT.read_text()}]
    messages.append({"role": "user", "content": told})
    while True:
        message = ask(model, messages)
        messages.append(message)
        if not message.get("tool_calls"):
            break
        for call in message["tool_calls"]:
            command = json.loads(call["function"]["arguments"])["command"]
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": run(command)})
    SESSION.write_text(json.dumps(messages))
    print(message["content"])


if __name__ == "__main__":
    main(*sys.argv[1:])
