"""A recorded trial is read whole, or named."""

from __future__ import annotations

from typing import Any

import pytest

from evalgate.core.claim import Claim
from evalgate.core.identity import Conditions
from evalgate.core.sandboxcall import SandboxCall
from evalgate.errors import UsageError
from evalgate.gateway.format.cassette_format import CassetteFile, dump_cassette
from evalgate.gateway.format.header import Header
from evalgate.protocols import StageStatus
from evalgate.runner.recorded import load_recorded

HEADER: dict[str, Any] = {
    "task": "double",
    "task_digest": "t",
    "fingerprint": "f" * 64,
    "n": 2,
    "recording": 3,
    "conditions": Conditions(sandbox="process", agent="a").to_json(),
}
AGENT: dict[str, Any] = {
    "status": "exited",
    "exit_code": None,
    "seconds": 1.5,
    "detail": "",
    "last_words": "done",
}


def cassette(header: dict[str, Any], record: dict[str, Any]) -> bytes:
    """Return the bytes of a cassette without an exchange."""
    claim, said = Claim().to_json(), Header.from_json(header)
    return dump_cassette(CassetteFile(header=said, exchanges=(), claim=claim, record=record))


def test_what_a_replay_needs_is_read():
    """Recordings from before secrets were looked for in claims have none."""
    one = load_recorded(cassette(HEADER, {"agent": AGENT, "measured": {"a": 1}}), name="it")
    assert (one.task, one.n, one.recording, one.seconds) == ("double", 2, 3, 1.5)
    assert (one.status, one.exit_code, one.secret) == (StageStatus.EXITED, None, "")
    assert (one.measured, one.calls) == ({"a": 1}, ())


def test_what_was_asked_of_the_sandbox_comes_back():
    """What came of it does not: a tripwire looks at what an agent wanted."""
    call = SandboxCall(kind="exec", command="ls", exit_code=0, bytes=7)
    record = {"agent": {**AGENT, "calls": [call.asked]}, "measured": {}}
    assert load_recorded(cassette(HEADER, record), name="it").calls == (
        SandboxCall(kind="exec", command="ls"),
    )


@pytest.mark.parametrize(
    ("header", "record"),
    [
        *[({k: v for k, v in HEADER.items() if k != name}, {}) for name in HEADER],
        (HEADER, {"agent": {**AGENT, "status": "asleep"}}),
        (HEADER, {"agent": {**AGENT, "seconds": "long"}}),
        (HEADER, {"agent": None}),
        (HEADER, {"measured": None}),
    ],
)
def test_what_lacks_something_is_named(header, record):
    """Whole as a file, and still no recorded trial: no traceback, a hint."""
    data = cassette(header, {"agent": AGENT, "measured": {}, **record})
    with pytest.raises(UsageError, match=r"double/1\.json") as caught:
        load_recorded(data, name="double/1.json")
    assert caught.value.hint
