"""A question that evalgate itself asks a model, through a route as an agent would."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from evalgate.core.models import ModelSpec
from evalgate.errors import UsageError
from evalgate.gateway.dialects.dialect import Dialect, Question, Reply
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.providers import asked_by

_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """A way to ask one model."""

    model: ModelSpec

    @property
    def dialect(self) -> str:
        """The API it is asked by; UsageError when nobody asks questions by that."""
        name, known = asked_by(self.model), [one for one in DIALECTS if _is_asked(DIALECTS[one])]
        if name not in known:
            message = f"model {self.model.id}: no question can be asked by {name}"
            raise UsageError(message, hint=f"use a dialect of {', '.join(known)}")
        return name

    def ask(self, base_url: str, *, system: str, prompt: str) -> Reply:
        """Ask once through the route at a URL; what goes wrong is the reply's ``error``."""
        dialect = DIALECTS[self.dialect]
        headers = {"content-type": "application/json", **dialect.asking}
        asked = Question(
            model=self.model.id, parameters=self.model.parameters, system=system, prompt=prompt
        )
        path, body = dialect.question(asked) or ("", {})
        place = urlsplit(base_url)
        connection = http.client.HTTPConnection(place.netloc, timeout=_SECONDS)
        try:
            connection.request("POST", place.path + path, json.dumps(body), headers)
            reply = dialect.read_reply(connection.getresponse().read())
        except (OSError, http.client.HTTPException) as error:
            return Reply(error=type(error).__name__)
        finally:
            connection.close()
        whole = reply.error is not None or reply.finished
        return reply if whole else Reply(error="the reply is none of this API's")


def _is_asked(dialect: Dialect) -> bool:
    return dialect.question(Question(model="", system="", prompt="")) is not None
