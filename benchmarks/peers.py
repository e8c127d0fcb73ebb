"""The tools that replays are compared with: aimock and mitmproxy's server replay.

They are installed by hand, outside of this project:

    npm install --prefix ~/.cache/evalgate/peers/aimock @copilotkit/aimock@1.43.0
    python3 -m venv ~/.cache/evalgate/peers/mitmproxy
    ~/.cache/evalgate/peers/mitmproxy/bin/pip install mitmproxy==11.0.2
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks.conversations import Conversation
from benchmarks.goals import MissingError
from benchmarks.processes import Server, free_port, open_server, wait_for

_CACHE: Final = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "evalgate"
_AIMOCK: Final = "node_modules/@copilotkit/aimock"
_PIECE: Final = 20
"""Characters in a piece of a stream: about as many pieces as the recorded replies have."""
_LAST: Final = {"content": "Done."}


def find_aimock() -> list[str]:
    """Return the command that starts aimock. MissingError when it is not installed."""
    node = shutil.which("node")
    places = [_CACHE / "clients" / _AIMOCK, _CACHE / "peers/aimock" / _AIMOCK]
    found = next((place for place in places if place.is_dir()), None)
    if node is None or found is None:
        cure = f"npm install --prefix {_CACHE}/peers/aimock @copilotkit/aimock@1.43.0"
        raise MissingError(f"aimock is not installed: {cure}")
    return [node, str(found / "dist/cli.js")]


def find_mitmdump() -> list[str]:
    """Return the command that starts mitmdump. MissingError when it is not installed."""
    program = _CACHE / "peers/mitmproxy/bin/mitmdump"
    if not program.exists():
        cure = f"python3 -m venv {_CACHE}/peers/mitmproxy, then its pip install mitmproxy==11.0.2"
        raise MissingError(f"mitmdump is not installed: {cure}")
    return [str(program)]


@contextmanager
def open_aimock(
    command: Sequence[str], conversations: Iterable[Conversation], folder: Path
) -> Iterator[tuple[Server, str]]:
    """Start aimock with a fixture for each reply; return it and its base URL.

    It matches by the last words of the user and the number of the turn, so the trials of a task
    get the same replies, and it makes streams of its own from text and tool calls.
    """
    fixtures = [entry for one in conversations if one.trial == 0 for entry in _fixtures(one)]
    file = folder / "aimock.json"
    file.write_bytes(orjson.dumps({"fixtures": fixtures}))
    port = free_port()
    options = ["--fixtures", str(file), "--log-level", "silent", "--strict"]
    more = ["--port", str(port), "--chunk-size", str(_PIECE)]
    env = {"NODE_NO_WARNINGS": "1"}
    with open_server([*command, *options, *more], env=env) as server:
        wait_for(port, server)
        yield server, f"http://127.0.0.1:{port}"


@contextmanager
def open_mitmdump(
    command: Sequence[str], upstream: str, flows: Path, *, replay: bool
) -> Iterator[tuple[Server, str]]:
    """Start mitmdump before an upstream, to record into a file or to replay it; with its URL."""
    port = free_port()
    what = (
        ["--server-replay", str(flows), "--set", "server_replay_extra=404"]
        if replay
        else ["--save-stream-file", str(flows)]
    )
    mode = ["--mode", f"reverse:{upstream}", "--set", "connection_strategy=lazy"]
    options = ["--quiet", "--listen-host", "127.0.0.1", "--listen-port", str(port)]
    private = ["--set", f"confdir={flows.parent}"]
    with open_server([*command, *mode, *what, *options, *private]) as server:
        wait_for(port, server)
        yield server, f"http://127.0.0.1:{port}"


def _fixtures(conversation: Conversation) -> Iterator[Mapping[str, Any]]:
    title = f"Task number {conversation.task:03} of the suite."
    for turn in range(len(conversation.replies)):
        match = {"userMessage": title, "turnIndex": turn}
        said = conversation.messages[2 * turn + 1 : 2 * turn + 2]
        yield {"match": match, "response": _response(orjson.loads(said[0])) if said else _LAST}


def _response(message: Mapping[str, Any]) -> Mapping[str, Any]:
    text, use = message["content"]
    arguments = orjson.dumps(use["input"]).decode()
    call = {"id": use["id"], "name": use["name"], "arguments": arguments}
    return {"content": text["text"], "toolCalls": [call]}
