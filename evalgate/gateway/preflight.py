"""Before the first paid call: is there an answer, is the key taken, is the model known?

The question is the one for a model's description, which costs nothing:
``GET /v1/models/ID`` (https://docs.anthropic.com/en/api/models ,
https://platform.openai.com/docs/api-reference/models ), for Gemini
``GET /v1beta/models/ID`` (https://ai.google.dev/api/models ). A server that only lists its
models is asked for the list, and one that knows neither is believed.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

import aiohttp

from evalgate.core.json import Json
from evalgate.core.models import ModelSpec
from evalgate.errors import EvalgateError, NotAvailableError, UsageError
from evalgate.gateway import reading
from evalgate.gateway.dialects.dialect import Dialect
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.providers import Upstreams, key_variable
from evalgate.gateway.upstream import Upstream

_SECONDS: Final = 10.0
_NEAR: Final = 3

#: What a server answers that has no such endpoint.
_NOT_THERE: Final = frozenset({404, 405, 501})

#: In this answer one provider refuses a key with 400, https://ai.google.dev/api .
_BAD_KEY: Final = b"API_KEY_INVALID"

#: A key may be allowed to ask models and not to list them; it is told so with 403.
_NARROW_KEY: Final = b"issing scopes"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """Status and body of one answer."""

    status: int
    body: bytes

    @property
    def value(self) -> Json:
        """The body's JSON, None when it is none."""
        return reading.parse(self.body)


class _Question:
    """One model asked about at its upstream."""

    def __init__(
        self, model: ModelSpec, upstream: Upstream, session: aiohttp.ClientSession, seconds: float
    ) -> None:
        """Ask with the key of the upstream; ``seconds`` is the longest wait for each answer."""
        self._model = model
        self._upstream = upstream
        self._session = session
        self._seconds = seconds
        self._dialect = _spoken(upstream)
        self._path = f"{self._dialect.version}/models"

    async def ask(self) -> str:
        """Return a note for a person, or nothing; raise what must be mended first."""
        one = await self._get(f"{self._path}/{quote(self._model.id, safe='')}")
        if one.status == HTTPStatus.OK:
            return ""
        self._require_key_taken(one)
        if one.status not in _NOT_THERE:
            return self._note(f"HTTP {one.status}")
        every = await self._get(self._path)
        self._require_key_taken(every)
        known = _ids(every.value) if every.status == HTTPStatus.OK else []
        if not known:
            return self._note("no list of models")
        # Proxies list patterns beside names: vendor/*
        if not any(one == self._model.id or fnmatchcase(self._model.id, one) for one in known):
            raise self._unknown(known)
        return ""

    async def _get(self, path: str) -> _Answer:
        upstream = self._upstream
        headers = {"accept": "application/json", **self._dialect.asking, **upstream.key_headers()}
        # A redirect would carry the key to a place nobody named.
        asking = self._session.get(upstream.url + path, headers=headers, allow_redirects=False)
        try:
            async with asyncio.timeout(self._seconds), asking as response:
                answer = _Answer(status=response.status, body=await response.read())
        except TimeoutError as error:
            message = f"{self._place}: no answer within {self._seconds:g} s"
            raise NotAvailableError(message, hint="is the provider up?") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # An error's own text names hosts and URLs, and a URL may hold a password.
            message = f"{self._place}: can not be reached ({type(error).__name__})"
            raise NotAvailableError(
                message, hint="is the provider up, and the URL right?"
            ) from error
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR and answer.status not in _NOT_THERE:
            message = f"{self._place}: answers with HTTP {answer.status}"
            raise NotAvailableError(message, hint="try again when the provider is well")
        return answer

    def _require_key_taken(self, answer: _Answer) -> None:
        forbidden = answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
        invalid = answer.status == HTTPStatus.BAD_REQUEST and _BAD_KEY in answer.body
        if not (forbidden or invalid):
            return
        if answer.status == HTTPStatus.FORBIDDEN and _NARROW_KEY in answer.body:
            return
        said = f"HTTP {answer.status}"
        variable = key_variable(self._model)
        if variable:
            message = f"{self._place}: the key in {variable} is refused ({said})"
            raise UsageError(message, hint=f"put a key of this provider into {variable}")
        message = f"{self._place}: a key is asked for ({said}), and none is named"
        raise UsageError(message, hint=f"models.{self._model.name}.key_env names its variable")

    def _unknown(self, known: Sequence[str]) -> EvalgateError:
        wanted = self._model.id
        near = difflib.get_close_matches(wanted, known, n=_NEAR, cutoff=0.4)
        some = near or sorted(known)[:_NEAR]
        hint = f"{'near it' if near else 'it has, for example'}: {', '.join(some)}"
        return UsageError(f"{self._place}: the model {wanted!r} is not known there", hint=hint)

    def _note(self, why: str) -> str:
        return f"{self._place}: it is not known whether {self._model.id} is there: {why}"

    @property
    def _place(self) -> str:
        return f"models.{self._model.name}"


def preflight(
    models: Iterable[ModelSpec], upstreams: Upstreams, *, seconds: float = _SECONDS
) -> tuple[str, ...]:
    """Ask every upstream for its model, all at once; return notes for a person.

    ``seconds`` is the longest wait for one answer. Raises UsageError for a key that is refused
    or a model that is not known, NotAvailableError when there is no answer, or one that says
    the provider itself fails. No message holds a key or a URL.
    """
    return asyncio.run(_ask_all(list(models), upstreams, seconds))


async def _ask_all(
    models: Sequence[ModelSpec], upstreams: Upstreams, seconds: float
) -> tuple[str, ...]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        questions = [
            _Question(model, upstreams.by_model[model.id], session, seconds) for model in models
        ]
        answers = await asyncio.gather(*(one.ask() for one in questions), return_exceptions=True)
    notes = []
    for answer in answers:  # of several mistakes the first in the configuration is told
        if isinstance(answer, BaseException):
            raise answer
        notes.append(answer)
    return tuple(filter(None, notes))


def _spoken(upstream: Upstream) -> Dialect:
    """Return the dialect to ask in: the only one there is, or else the first with such a key."""
    names = upstream.dialects or DIALECTS.keys()
    known = [dialect for name, dialect in DIALECTS.items() if name in names]
    fits = (one for one in known if one.key_header == upstream.key_header)
    return next(fits, known[0])


def _ids(answer: Json) -> list[str]:
    """Return the ids of a list of models; some servers give it in two shapes at once."""
    rows = [*reading.items(answer, "data"), *reading.items(answer, "models")]
    names = [reading.text(row, "id") or reading.text(row, "name") for row in rows]
    return list(dict.fromkeys(name.removeprefix("models/") for name in names if name))
