"""Record and replay the model traffic of this very process: for agents without a base URL.

`use_cassette` is a context manager; its modes are ``record``, ``replay`` and ``live``. Threads and
tasks may ask at the same time inside of it.
"""

from evalgate.gateway.in_process.use import Use, use_cassette

__all__ = ["Use", "use_cassette"]
