"""The newest verdict of this clone, as `evalgate gate` wrote it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from evalgate.core.identity import FORMAT
from evalgate.errors import UsageError

#: Its file, in the state directory.
VERDICT: Final = "verdict.json"
_HINT: Final = "evalgate gate writes one"


def read_verdict(state: Path) -> dict[str, Any] | None:
    """Return the newest verdict, None where there is none yet; what is no number in it is None.

    Raises:
        UsageError: the file can not be read, is no verdict, or is of a newer evalgate.
    """
    path = state / VERDICT
    try:
        value = json.loads(path.read_bytes(), parse_constant=lambda _: None)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no verdict: {error!s:.200}", hint=_HINT) from error
    if not isinstance(value, dict):
        raise UsageError(f"{path} is no verdict", hint=_HINT)
    version = value.get("format", FORMAT)
    if version != FORMAT:
        message = f"{path} has format {version!r:.40}, not {FORMAT}"
        raise UsageError(message, hint=_HINT)
    return value
