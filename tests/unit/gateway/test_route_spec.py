"""What a route is opened for must fit together."""

from __future__ import annotations

import pytest

from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.format.header import Header
from evalgate.gateway.route_spec import Mode, RouteSpec
from evalgate.gateway.upstream import Upstream

TAPE = CassetteFile(header=Header(), exchanges=(), claim={}, record={})
UPSTREAMS = {"m": Upstream(url="http://h")}


@pytest.mark.parametrize("mode", Mode)
def test_only_what_is_live_has_no_tape(mode):
    """Whoever opens it."""
    live = mode is Mode.LIVE
    with pytest.raises(ValueError, match="tape"):
        RouteSpec(mode=mode, tape=TAPE if live else None)
    RouteSpec(mode=mode, tape=None if live else TAPE)


@pytest.mark.parametrize("mode", [mode for mode in Mode if not mode.asks_model])
def test_what_asks_no_model_has_no_way_to_one(mode):
    """So that nothing can be forwarded."""
    with pytest.raises(ValueError, match="upstream"):
        RouteSpec(mode=mode, tape=TAPE, upstreams=UPSTREAMS)
