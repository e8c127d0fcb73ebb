"""What is said of an engine that went away."""

from __future__ import annotations

import pytest
from requests.exceptions import ConnectionError as BrokenError
from requests.exceptions import ReadTimeout
from urllib3.exceptions import ProtocolError

from evalgate.sandboxes.engine_error import broken_by

REFUSED = ConnectionRefusedError(111, "Connection refused")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            BrokenError(ProtocolError("Connection aborted.", REFUSED)),
            "the connection is broken: Connection refused",
        ),
        (
            BrokenError(ProtocolError("Connection aborted.", FileNotFoundError(2, "No such file"))),
            "the connection is broken: No such file",
        ),
        (BrokenError(ProtocolError("Connection aborted.", OSError())), ""),
        (ReadTimeout("read timed out"), ""),
        (ValueError(), ""),
    ],
)
def test_what_broke_a_connection_is_said_in_words(error: Exception, words: str) -> None:
    """Neither tuples nor names of classes; other troubles have words of their own."""
    assert broken_by(error) == words
