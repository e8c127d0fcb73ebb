"""The gateway in a process of its own, told what to do on stdin: JSON, a line each way.

    {"do": "replay", "files": {NAME: PATH}}     -> {"urls": {NAME: URL}, "cpu": seconds}
    {"do": "live", "upstreams": {NAME: URL}}    -> {"urls": {NAME: URL}}
    {"do": "seal", "files": {NAME: PATH}}       -> {"cpu": seconds}, closes the live routes

The first line on stdout is ``ready``: everything is imported, no route is open.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.conversations import MODEL, PLACES
from evalgate.core.json import JsonObject
from evalgate.core.redaction import Redactor
from evalgate.gateway.cassette import CassetteFile, load_cassette, open_replay
from evalgate.gateway.format.header import Header
from evalgate.gateway.server import Gateway, Mode, Route, RouteSpec, open_gateway
from evalgate.gateway.upstream import Upstream


class Driver:
    """Holds the open routes of one gateway by name."""

    def __init__(self, gateway: Gateway, stack: ExitStack) -> None:
        """Drive a gateway; the stack closes what was opened."""
        self._gateway = gateway
        self._stack = stack
        self._routes: dict[str, Route] = {}

    def replay(self, files: dict[str, str]) -> dict[str, Any]:
        """Open a route for each cassette; the CPU time is that of reading and opening."""
        began = time.process_time()
        for name, path in files.items():
            tape = load_cassette(Path(path).read_bytes(), name=path)
            spec = RouteSpec(mode=Mode.REPLAY, tape=tape, places=PLACES)
            self._routes[name] = self._stack.enter_context(self._gateway.open_route(spec))
        return {"urls": self._urls(), "cpu": time.process_time() - began}

    def live(self, upstreams: dict[str, str]) -> dict[str, Any]:
        """Open a recording route for each upstream."""
        for name, url in upstreams.items():
            models = {MODEL: Upstream(url=url, key="sk-of-the-benchmark", key_header="x-api-key")}
            spec = RouteSpec(mode=Mode.LIVE, upstreams=models, places=PLACES)
            self._routes[name] = self._stack.enter_context(self._gateway.open_route(spec))
        return {"urls": self._urls()}

    def seal(self, files: dict[str, str]) -> dict[str, Any]:
        """Write the cassettes and close all routes."""
        began = time.process_time()
        for name, path in files.items():
            task, _, number = name.partition("-")
            header = Header(task=task, n=int(number) + 1)
            record: JsonObject = {"agent": {"status": "exited", "exit_code": 0}}
            self._routes[name].seal(Path(path), header=header, claim={"files": {}}, record=record)
        self._stack.close()
        self._routes.clear()
        return {"cpu": time.process_time() - began}

    def _urls(self) -> dict[str, str]:
        return {name: route.base_url for name, route in self._routes.items()}


def main() -> None:
    """Do as the lines on stdin say, until there are no more."""
    # What is imported on first use belongs to an idle gateway.
    with open_replay(CassetteFile(header=Header(), exchanges=(), claim={}, record={})):
        pass
    with open_gateway(redactor=Redactor({})) as gateway, ExitStack() as stack:
        driver = Driver(gateway, stack)
        print("ready", flush=True)
        for line in sys.stdin:
            order = json.loads(line)
            verb = order.pop("do")
            print(json.dumps(getattr(driver, verb)(**order)), flush=True)


if __name__ == "__main__":
    main()
