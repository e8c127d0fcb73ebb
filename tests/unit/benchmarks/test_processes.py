"""A server's cost is read from outside, and a server that dies is noticed."""

from __future__ import annotations

import sys

import pytest

from benchmarks.processes import free_port, open_server, wait_for

BURN = """
import sys, time
print("ready", flush=True)
for line in sys.stdin:
    end = time.process_time() + float(line)
    while time.process_time() < end:
        pass
    held = bytearray(b"x" * 50_000_000)
    print("done", flush=True)
"""


def test_counts_cpu_and_memory():
    with open_server([sys.executable, "-c", BURN]) as server:
        assert server.hear() == "ready"
        before = server.cost()
        assert server.tell("0.3") == "done"
        after = server.cost()
    assert 0.25 < after.cpu - before.cpu < 1.0
    assert after.memory - before.memory > 45
    assert after.peak >= after.memory


def test_ends_the_process_with_the_context():
    with open_server([sys.executable, "-c", BURN]) as server:
        server.hear()
    assert server.process.poll() is not None


def test_a_server_that_ended_is_an_error():
    with open_server([sys.executable, "-c", "raise SystemExit(3)"]) as server:
        with pytest.raises(OSError, match="has ended: 3"):
            server.hear()
        with pytest.raises(OSError, match="does not listen"):
            wait_for(free_port(), server)
