"""`evalgate sandbox mcp`: the sandbox of a trial as a server of the Model Context Protocol.

JSON-RPC 2.0 over standard input and output, one message a line; it has tools and nothing else.
https://modelcontextprotocol.io/specification
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Any, Final

from evalgate import __version__
from evalgate.errors import EvalgateError
from evalgate.sandboxes.client import Cancellation, Client
from evalgate.sandboxes.toolrequest import SECONDS, Exec, Read, Write

#: The versions of the protocol that are spoken, the newest last.
VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

#: Bytes of head and of tail of an output that a model is shown.
_KEEP: Final = 16_384
#: As many calls at once as any agent makes.
_AT_ONCE: Final = 32

_METHOD_NOT_FOUND: Final = -32601
_INVALID_PARAMS: Final = -32602
_INTERNAL_ERROR: Final = -32603
_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool: what a model is told of it, and what does it.

    ``parameters`` are name -> (type, description); those beside ``timeout`` are required. ``run``
    returns a text for the model, and whether it went well.
    """

    name: str
    description: str
    parameters: Mapping[str, tuple[str, str]]
    run: Callable[[Client, Mapping[str, Any], Cancellation], tuple[str, bool]]

    @property
    def listed(self) -> dict[str, Any]:
        """The tool as it is listed."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": {
                    name: {"type": kind, "description": told}
                    for name, (kind, told) in self.parameters.items()
                },
                "required": [name for name in self.parameters if name != "timeout"],
            },
        }


def _bash(client: Client, given: Mapping[str, Any], cancellation: Cancellation) -> tuple[str, bool]:
    timeout = given.get("timeout")
    request = Exec(
        command=given.get("command", ""),
        timeout=SECONDS if timeout is None else timeout,
        keep=_KEEP,
    )
    answer = client.ask(request, cancellation)
    output = _text(answer.output)
    if answer.late:
        return f"{output}\n[ended: the time-out was reached]".lstrip(), False
    code = answer.exit_code
    return (output, True) if code == 0 else (f"{output}\n[exit code {code}]".lstrip(), False)


def _read(client: Client, given: Mapping[str, Any], cancellation: Cancellation) -> tuple[str, bool]:
    data = client.ask(Read(path=given.get("path", "")), cancellation).data
    return _text(data), data is not None


def _write(
    client: Client, given: Mapping[str, Any], cancellation: Cancellation
) -> tuple[str, bool]:
    content = given.get("content")
    if not isinstance(content, str):
        return "content: a text", False
    data = content.encode("utf-8", "surrogatepass")
    client.ask(Write(path=given.get("path", ""), data=data), cancellation)
    return "written", True


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


TOOLS: Final = (
    Tool(
        name="bash",
        description="Run a shell command in the repository; both outputs and the exit code come"
        " back.",
        parameters={
            "command": ("string", "The command line."),
            "timeout": ("number", "Seconds after which it is ended."),
        },
        run=_bash,
    ),
    Tool(
        name="read_file",
        description="Read a text file.",
        parameters={"path": ("string", "Absolute, or relative to the repository.")},
        run=_read,
    ),
    Tool(
        name="write_file",
        description="Write a text file, with the directories above it.",
        parameters={
            "path": ("string", "Absolute, or relative to the repository."),
            "content": ("string", "The whole content."),
        },
        run=_write,
    ),
)


class _RefusedError(Exception):
    """A message that the protocol has an error for."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Server:
    """Answers messages; calls of tools are made at the same time."""

    def __init__(self, client: Client, out: IO[bytes]) -> None:
        self._client = client
        self._out = out
        self._lock = threading.Lock()
        self._calls: dict[str | int, Cancellation] = {}

    def serve(self, messages: IO[bytes]) -> int:
        """Answer until nobody asks any more; what is under way then is given up.

        What is given up is known here, in the order it is said in and however many calls are made.
        """
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="mcp") as pool:
            for line in messages:
                if not line.strip():
                    continue
                try:
                    message = json.loads(line)
                except (ValueError, RecursionError):
                    self._say(_error(None, _PARSE_ERROR, "not a JSON document"))
                    continue
                batch = message if isinstance(message, list) else [message]
                calls = [self._begin(one) for one in batch]
                pool.submit(self._take, message, calls)
            # Nobody hears what would be answered now.
            for call in list(self._calls.values()):
                call.cancel()
        return 0

    def _begin(self, message: Any) -> Cancellation:
        """Note a request, so that it can be given up, or give up the one that is named."""
        cancellation = Cancellation()
        if isinstance(message, dict):
            if message.get("method") == "notifications/cancelled":
                params = message.get("params")
                name = params.get("requestId") if isinstance(params, dict) else None
                # It may be answered at this very moment: then there is nothing to give up.
                call = self._calls.get(name) if isinstance(name, (str, int)) else None
                if call is not None:
                    call.cancel()
            elif message.get("method") == "tools/call" and isinstance(
                message.get("id"), (str, int)
            ):
                self._calls[message["id"]] = cancellation
        return cancellation

    def _take(self, message: Any, calls: Sequence[Cancellation]) -> None:
        if isinstance(message, list):  # a batch, as one version has it
            both = zip(message, calls, strict=True)
            answers = [answer for one in both if (answer := self._answer(*one)) is not None]
            if answers:
                self._say(answers)
        elif (answer := self._answer(message, calls[0])) is not None:
            self._say(answer)

    def _answer(self, message: Any, cancellation: Cancellation) -> dict[str, Any] | None:
        """Return the answer to one message, None to one that wants none or is given up."""
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            if isinstance(message, dict) and "id" in message and "method" not in message:
                return None  # an answer, and nothing was asked
            return _error(None, _INVALID_REQUEST, "not a request")
        if "id" not in message:
            return None
        params = message.get("params")
        try:
            result = self._result(
                message["method"], params if isinstance(params, dict) else {}, cancellation
            )
        except _RefusedError as refusal:
            return _error(message["id"], refusal.code, str(refusal))
        except Exception as error:  # noqa: BLE001 - whoever asked waits for an answer
            return _error(message["id"], _INTERNAL_ERROR, f"{type(error).__name__}: {error}")
        finally:
            if isinstance(message["id"], (str, int)):
                self._calls.pop(message["id"], None)
        if cancellation.wanted:
            return None
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def _result(
        self, method: str, params: Mapping[str, Any], cancellation: Cancellation
    ) -> dict[str, Any]:
        if method == "initialize":
            asked = params.get("protocolVersion")
            return {
                "protocolVersion": asked if asked in VERSIONS else VERSIONS[-1],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "evalgate-sandbox", "version": __version__},
            }
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": [tool.listed for tool in TOOLS]}
        if method == "tools/call":
            return self._call(params, cancellation)
        raise _RefusedError(_METHOD_NOT_FOUND, f"there is no method {method}")

    def _call(self, params: Mapping[str, Any], cancellation: Cancellation) -> dict[str, Any]:
        name, given = params.get("name"), params.get("arguments")
        tool = next((one for one in TOOLS if one.name == name), None)
        if tool is None:
            raise _RefusedError(_INVALID_PARAMS, f"there is no tool {name}")
        try:
            arguments = given if isinstance(given, dict) else {}
            text, well = tool.run(self._client, arguments, cancellation)
        except EvalgateError as error:
            text, well = error.message, False
        return {"content": [{"type": "text", "text": text}], "isError": not well}

    def _say(self, message: object) -> None:
        data = json.dumps(message).encode() + b"\n"
        with self._lock:
            self._out.write(data)
            self._out.flush()


def _error(name: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": name, "error": {"code": code, "message": message}}
