"""What a benchmark records through the gateway's process is replayed by it, byte for byte."""

from __future__ import annotations

import pytest

from benchmarks.asking import ask_all
from benchmarks.conversations import Suite
from benchmarks.floor_process import Floor
from benchmarks.recordings import open_gateway_process, order, record


@pytest.mark.parametrize("suite", [Suite(tasks=1, trials=2, turns=3, moving=True, paced=True)])
def test_records_and_replays(tmp_path, suite):
    conversations = list(suite.conversations())
    recorded = record(suite, conversations, tmp_path)
    assert (recorded.heard.answers, recorded.heard.exact) == (6, 6)
    with open_gateway_process() as (server, idle):
        files = {name: str(path) for name, path in recorded.files.items()}
        opened = order(server, "replay", files=files)
        heard = ask_all(conversations, lambda one: opened["urls"][one.name])
        assert server.cost().cpu >= idle.cpu
    assert (heard.answers, heard.good, heard.exact) == (6, 6, 6)


def test_an_answer_that_differs_is_not_counted_as_exact(tmp_path):
    suite = Suite(tasks=1, trials=2, turns=2)
    one, other = suite.conversations()
    recorded = record(suite, [one, other], tmp_path)
    with open_gateway_process() as (server, _):
        opened = order(server, "replay", files={"0": str(recorded.files[one.name])})
        heard = ask_all([other], lambda _: opened["urls"]["0"])
    assert (heard.answers, heard.exact) == (2, 0)


def test_the_floor_waits_for_the_whole_body():
    class Transport:
        written = b""

        def write(self, data: bytes) -> None:
            self.written += data

    floor = Floor(b"answer")
    floor._transport = transport = Transport()
    for piece in (b"POST / HTTP/1.1\r\nContent-Length: 7\r\n\r\n", b'{"a"', b":1}"):
        assert transport.written == b""
        floor.data_received(piece)
    assert transport.written == b"answer"
