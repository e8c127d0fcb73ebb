"""GitHub's HTTP interface: one token, one host, and patience that has an end."""

from __future__ import annotations

import json
import re
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, Final

from evalgate import __version__
from evalgate.errors import NotAvailableError, UsageError

_TIMEOUT: Final = 30.0
_TRIES: Final = 3
_REDIRECTS: Final = 3
_PAGES: Final = 100
_LARGEST: Final = 32 * 1024 * 1024
#: What GitHub asks for where a secondary limit is met and nothing else is said.
_SECONDARY_WAIT: Final = 60.0
_LOOPBACK: Final = {"127.0.0.1", "::1", "localhost"}
_NEXT: Final = re.compile(r'<([^>]+)>\s*;[^,]*\brel="?next"?')
_MOVED: Final = {
    HTTPStatus.MOVED_PERMANENTLY,
    HTTPStatus.FOUND,
    HTTPStatus.TEMPORARY_REDIRECT,
    HTTPStatus.PERMANENT_REDIRECT,
}


def _opener() -> urllib.request.OpenerDirector:
    """Return one that follows nothing, since urllib would take the token along to any host."""
    opener = urllib.request.OpenerDirector()
    for handler in (urllib.request.ProxyHandler, urllib.request.HTTPHandler):
        opener.add_handler(handler())
    opener.add_handler(urllib.request.HTTPSHandler())
    return opener


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What GitHub said; status 0 is that nothing came back, and nobody knows what was done."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Tell whether it was done."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def unsure(self) -> bool:
        """Tell whether it may have been done all the same."""
        return self.status == 0 or self.status >= HTTPStatus.INTERNAL_SERVER_ERROR

    @property
    def value(self) -> Any:
        """The JSON of the body, None where it is none."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    @property
    def words(self) -> str:
        """What it says of itself, for a person: the status and GitHub's message."""
        value = self.value
        message = value.get("message") if isinstance(value, dict) else None
        said = f": {' '.join(str(message).split()):.200}" if message else ""
        return f"{self.status}{said}" if self.status else "no answer"


@dataclass(frozen=True, kw_only=True)
class GitHub:
    """One GitHub, its own or an enterprise's, asked with one token.

    ``patience`` is how many seconds in all are waited where GitHub asks for it; ``pause`` waits.
    """

    base: str
    token: str = field(repr=False)
    patience: float = 120.0
    pause: Callable[[float], None] = time.sleep
    _waited: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, base: str, token: str) -> GitHub:
        """Return the one at this base URL; UsageError for a URL or token that can not be one.

        The token itself is in no message: only GitHub gets it, over TLS or on the loopback.
        """
        parts = urllib.parse.urlsplit(base)
        safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
        if not safe or not parts.hostname or parts.username or parts.query or parts.fragment:
            message = "GITHUB_API_URL is no address that a token may be sent to"
            raise UsageError(message, hint="https://api.github.com, or https://HOST/api/v3")
        if not token.isascii() or not token.isprintable() or " " in token:
            message = "the token of GitHub has characters that no token has"
            raise UsageError(message, hint="look for a line end or a space in GITHUB_TOKEN")
        return cls(base=base.rstrip("/"), token=token)

    def ask(self, method: str, path: str, body: object = None, **query: object) -> Answer:
        """Ask for one thing and return the answer, whatever it is.

        What can be asked twice to the same effect is asked up to three times; a POST is asked
        once. Where GitHub asks to wait, and the patience allows it, it is waited.

        Raises:
            NotAvailableError: GitHub asks to wait for longer.
        """
        more = f"?{urllib.parse.urlencode(query)}" if query else ""
        return self._ask(method, f"{self.base}{path}{more}", body)

    def pages(self, path: str, **query: object) -> Iterator[Answer]:
        """Ask for a list, page by page; the last answer may be one that is not ok."""
        more = urllib.parse.urlencode({"per_page": 100, **query})
        url = f"{self.base}{path}?{more}"
        for _ in range(_PAGES):
            answer = self._ask("GET", url)
            yield answer
            following = _NEXT.search(answer.headers.get("link", ""))
            if not answer.ok or following is None:
                return
            url = self._own(following[1])
        message = f"GitHub has more than {_PAGES} pages of {path}"
        raise NotAvailableError(message, hint="close the pull request and open another one")

    def download(self, path: str, limit: int) -> Answer:
        """Fetch a file of at most ``limit`` bytes; another host that has it gets no token."""
        answer = self._once("GET", f"{self.base}{path}", None, limit=limit)
        if answer.status not in _MOVED:
            return answer
        url = urllib.parse.urljoin(self.base, answer.headers.get("location", ""))
        parts = urllib.parse.urlsplit(url)
        if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
            message = "GitHub points to a file that would be fetched without TLS"
            raise NotAvailableError(message, hint="it was not fetched")
        return self._once("GET", url, None, limit=limit, secret=False)

    def _ask(self, method: str, url: str, body: object = None) -> Answer:
        data = None if body is None else json.dumps(body).encode()
        left, hops = (1 if method == "POST" else _TRIES), 0
        while True:
            answer = self._once(method, url, data)
            wait = _asked_to_wait(answer)
            if wait is not None:
                self._wait(wait)
                continue
            if answer.status in _MOVED and hops < _REDIRECTS:
                url = self._own(urllib.parse.urljoin(url, answer.headers.get("location", "")))
                hops += 1
                continue
            left -= 1
            if not answer.unsure or not left:
                return answer
            self.pause(float(_TRIES - left))

    def _wait(self, seconds: float) -> None:
        if sum(self._waited) + seconds > self.patience:
            message = f"GitHub asks to wait {seconds:.0f} s before the next request"
            hint = "run it again later: the verdict is in the job's summary, if it has one"
            raise NotAvailableError(message, hint=hint)
        self._waited.append(seconds)
        self.pause(seconds)

    def _own(self, url: str) -> str:
        """Return a URL that GitHub gave; NotAvailableError when it leads to another host."""
        if urllib.parse.urlsplit(url)[:2] != urllib.parse.urlsplit(self.base)[:2]:
            message = "GitHub points to another host than GITHUB_API_URL"
            raise NotAvailableError(message, hint="the token was not sent there")
        return url

    def _once(
        self,
        method: str,
        url: str,
        data: bytes | None,
        *,
        limit: int = _LARGEST,
        secret: bool = True,
    ) -> Answer:
        headers = {"User-Agent": f"evalgate/{__version__}", "Accept": "application/vnd.github+json"}
        if secret:
            headers["X-GitHub-Api-Version"] = "2022-11-28"
            headers["Authorization"] = f"Bearer {self.token}"
        if data is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - the scheme was looked at
        try:
            with _opener().open(request, timeout=_TIMEOUT) as response:
                body = response.read(limit + 1)
                head = {name.lower(): value for name, value in response.headers.items()}
                status = int(response.status or 0)
        except (OSError, HTTPException, ValueError):  # its words may hold a URL, or a header
            return Answer(status=0)
        if len(body) > limit:
            message = f"GitHub's answer is larger than {limit} bytes"
            raise NotAvailableError(message, hint="it was not read")
        # Whoever echoes the token must not bring it into an error.
        body = body.replace(self.token.encode(), b"***") if secret else body
        return Answer(status=status, body=body, headers=head)


def _asked_to_wait(answer: Answer) -> float | None:
    """Return the seconds that an answer asks to wait, None where it asks for none."""
    if answer.status not in {HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS}:
        return None
    after = answer.headers.get("retry-after", "")
    if after.isascii() and after.isdigit():
        return max(1.0, float(after[:9]))  # 0 would be asked for ever
    if answer.headers.get("x-ratelimit-remaining") == "0":
        reset = answer.headers.get("x-ratelimit-reset", "")
        good = reset.isascii() and reset.isdigit()
        return max(1.0, float(reset[:12]) - time.time()) if good else _SECONDARY_WAIT
    if answer.status == HTTPStatus.TOO_MANY_REQUESTS or "rate limit" in answer.words.lower():
        return _SECONDARY_WAIT
    return None
