"""Record and replay the model traffic of this very process: for agents without a base URL.

`use_cassette` is a context manager; its modes are ``record``, ``replay`` and ``live``. One thread
may ask at a time: VCR.py takes its patches away, for all threads, while a connection is made.
"""

from evalgate.gateway.in_process import Use, use_cassette

__all__ = ["Use", "use_cassette"]
