"""The demo's agent in rewrite mode, with as few imports as can be: most tests start it often."""

import json
import os
import re
import socket
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def ask(url, body):
    """Send one request and return the text of the answer; exit for anything else."""
    place, _, path = url.removeprefix("http://").partition("/")
    name, _, port = place.partition(":")
    content = json.dumps(body, ensure_ascii=False).encode()
    head = f"POST /{path}/chat/completions HTTP/1.0\r\nhost: {place}\r\n"
    head += "content-type: application/json\r\n"
    head += f"authorization: Bearer {os.environ.get('OPENAI_API_KEY', '')}\r\n"
    head += f"content-length: {len(content)}\r\n\r\n"
    try:
        with socket.create_connection((name, int(port))) as connection:
            connection.sendall(head.encode() + content)
            answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    except OSError as error:
        sys.exit(f"no answer from {place}: {error!r}")
    head, _, text = answer.partition(b"\r\n\r\n")
    if head.split(maxsplit=2)[1:2] != [b"200"]:
        sys.exit(text.decode(errors="replace"))
    return json.loads(text)["choices"][0]["message"].get("content") or ""


def main():
    """Ask once for the corrected file; write the answer when it is Python."""
    options = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    with open(options["--instruction-file"]) as file:
        instruction = file.read().rstrip()
    named = re.findall(r"`([^`\s]+)`", instruction)
    path = next(name for name in named if os.path.isfile(name))
    with open(path) as file:
        question = f"{instruction}\n\n```python\n{file.read().rstrip()}\n```"
    with open(f"{HERE}/prompts/rewrite.md") as file:
        system = file.read()
    parameters = json.loads(os.environ.get("EVALGATE_MODELS") or "{}")
    parameters = parameters.get("main", {}).get("parameters", {})
    messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    body = {"model": options["--model"], "stream": False, "messages": messages, **parameters}
    text = ask(os.environ["OPENAI_BASE_URL"].rstrip("/"), body)
    fence = re.search(r"^```[^\n]*\n(.*?)(?:^```|\Z)", text, re.DOTALL | re.MULTILINE)
    code = (fence[1] if fence else text).strip("\n") + "\n"
    try:
        compile(code, path, "exec")
    except (SyntaxError, ValueError):
        code = ""
    if code.strip():
        with open(path, "w") as file:
            file.write(code)
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    main()
