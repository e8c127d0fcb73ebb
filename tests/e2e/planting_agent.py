"""An agent that says a secret in every place it can reach.

What comes back from the model is read to make sure that the secret of a reply was really on the
wire.
"""

from __future__ import annotations

import gzip
import http.client
import re
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from planting_places import (
    CHAT,
    FORMS,
    REPLIES,
    REQUESTS,
    RESPONSES,
    encoded,
    in_json,
    said,
    secret_of,
)


def filled(template: str, name: str) -> str:
    for form, made in FORMS.items():
        template = template.replace(f"{{{{{form}}}}}", made(secret_of(name)))
    return template.replace("NAME", name)


def ask(base: str, name: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
    """Ask the model; the provider knows by the user agent which place this is."""
    url = urlsplit(base)
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=30)
    sent = {"content-type": "application/json", "user-agent": f"place/{name}", **headers}
    connection.request("POST" if body else "GET", url.path + path, body, sent)
    try:
        response = connection.getresponse()
        got = response.read() + str(response.getheaders()).encode()
    except http.client.IncompleteRead as error:
        got = error.partial
    connection.close()
    return got


def has_come(name: str, got: str) -> bool:
    """Tell whether a reply holds the secret, whole or in pieces."""
    # These headers are not passed on to agents.
    if name in {"reply-header-cookie", "reply-header-location"}:
        return bool(got)
    if name == "reply-base64":
        return encoded(secret_of(name)) in got
    pieces = "".join(re.findall(r'"(?:content|text)": "((?:[^"\\\\]|\\\\.)*)"', got))
    return all(end in got or end in pieces for end in (secret_of(name)[:9], secret_of(name)[-9:]))


def traffic(base: str) -> None:
    for name, (path, headers, body) in REQUESTS.items():
        data = filled(body, name).encode()
        if "gzip" in name:
            data = gzip.compress(data)
        ask(base, name, filled(path, name), {k: filled(v, name) for k, v in headers.items()}, data)
        print("planted", name)
    for name, path in REPLIES.items():
        if path.startswith("/v1beta"):
            body = f'{{"contents":[{{"parts":[{{"text":"{name}"}}]}}]}}'
        elif path == RESPONSES:
            body = f'{{"model":"scripted-1","input":"{name}"}}'
        else:
            body = said(name)
        if "stream" in name and not path.startswith("/v1beta"):
            body = body[:-1] + ',"stream":true}'
        if has_come(name, ask(base, name, path, {}, body.encode()).decode("latin-1")):
            print("planted", name)
    text = f"{time.time_ns()} {in_json(secret_of('miss-report'))} {time.time_ns()}"
    # The clock makes this request one that no recording has.
    print("miss-report:", ask(base, "miss-report", CHAT, {}, said(text).encode()).decode())
    print("planted miss-report")
    print("agent-stdout", secret_of("agent-stdout"))
    print("agent-stderr", secret_of("agent-stderr"), file=sys.stderr)
    # Code that makes the secrets when it is run, so that the claim itself holds none.
    code = Path(__file__).with_name("planting_places.py").read_text().partition("\ndef encoded")[0]
    Path("speak.py").write_text(
        f"{code}\nimport sys\nfor n in sys.argv[1:]:\n    print('planted', n, secret_of(n))\n"
    )


def claim() -> None:
    Path("notes.txt").write_text(f"the token is {secret_of('claim-content')}\n")
    Path(f"file-{secret_of('claim-name')}.txt").write_text("its name says it\n")
    Path("encoded.txt").write_text(
        FORMS["base64-lines"](secret_of("claim-base64")).replace("\\n", "\n")
    )


if __name__ == "__main__":
    claim() if "claim" in sys.argv[2] else traffic(sys.argv[1])
