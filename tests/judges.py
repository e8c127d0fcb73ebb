"""A model of one's own that judges, on this machine: what it is asked, and what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.serving import serving

YES, NO = '{"reason": "so", "passed": true}', '{"passed": false}'


class Judges(list[dict[str, Any]]):
    """All requests that came; ``url`` is where they go, ``say`` makes an answer of a prompt."""

    url = ""
    say: Callable[[str], str]


def judged_in(prompt: str) -> str:
    """Return what stands between the marks of a prompt."""
    found = re.search(r"^(judged-\w+)\n(.*)\n\1\n\Z", prompt, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[2]


@contextmanager
def open_judges(say: Callable[[str], str]) -> Iterator[Judges]:
    """Serve a judge that speaks OpenAI's chat API; an empty answer is an error of the server."""
    found = Judges()
    found.say = say

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            found.append({**request, "key": self.headers["authorization"]})
            said = found.say(request["messages"][-1]["content"])
            message = {"role": "assistant", "content": said}
            usage = {"prompt_tokens": 100, "completion_tokens": 10}
            good = {"choices": [{"index": 0, "message": message}], "usage": usage}
            bad = {"error": {"message": "broken"}}
            data = json.dumps({"model": "judge-2026", **(good if said else bad)}).encode()
            self.send_response(200 if said else 500)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    with serving(server):
        yield found
