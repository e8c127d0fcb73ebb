"""Record and replay the model traffic of this very process: for agents without a base URL.

import evalgate.vcr

with evalgate.vcr.use_cassette("tests/one.json", mode="record"):
boto3.client("bedrock-runtime").converse(...)
"""

from evalgate.gateway.in_process import Use, use_cassette

__all__ = ["Use", "use_cassette"]
