"""Before the first paid call it is known whether the models will answer."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from evalgate.core.files import File
from evalgate.core.models import ModelSpec
from evalgate.errors import NotAvailableError, UsageError
from evalgate.gateway.preflight import preflight
from evalgate.gateway.providers import Upstreams, open_upstreams
from tests.serving import serving

KEY = "sk-live-0123456789abcdefghij"
CHAT_LIST = {"object": "list", "data": [{"id": "gpt-5-mini"}, {"id": "gpt-5"}, {"id": "whisper"}]}


@dataclass
class Provider:
    """Answers a path with a status and a body, everything else with ``other``."""

    answers: dict[str, tuple[int, object]] = field(default_factory=dict)
    other: int = 404
    seconds: float = 0.0
    heard: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    url: str = ""


@contextmanager
def served(provider: Provider) -> Iterator[Provider]:
    """Serve a provider on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            provider.heard.append((self.path, headers))
            time.sleep(provider.seconds)
            status, body = provider.answers.get(self.path, (provider.other, {"error": {}}))
            data = json.dumps(body).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("location", "/elsewhere")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.url = f"http://127.0.0.1:{server.server_port}"
    with serving(server):
        yield provider


def check(provider, model_id="gpt-5", *, key=KEY, seconds=5.0, **more):
    """Ask a provider for one model."""
    key_env = "MY_KEY" if key else ""
    model = ModelSpec(name="main", id=model_id, upstream=provider.url, key_env=key_env, **more)
    with open_upstreams([model], {}, [], {"MY_KEY": key}) as upstreams:
        return preflight([model], upstreams, seconds=seconds)


def test_a_known_model_is_found_by_its_id():
    """One question, with the key where it belongs, and no word about it."""
    with served(Provider({"/v1/models/gpt-5": (200, {"id": "gpt-5"})})) as provider:
        assert check(provider) == ()
    ((path, headers),) = provider.heard
    assert path == "/v1/models/gpt-5"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert "anthropic-version" not in headers


def test_each_dialect_is_asked_as_it_wants():
    """Path and header of the key are those of the API."""
    with served(Provider(other=200)) as provider:
        assert check(provider, dialect="anthropic") == ()
        assert check(provider, "gemini/pro", dialect="gemini") == ()
    (path, headers), (gemini_path, gemini_headers) = provider.heard
    assert (path, headers["x-api-key"]) == ("/v1/models/gpt-5", KEY)
    assert headers["anthropic-version"] == "2023-06-01"
    assert gemini_path == "/v1beta/models/gemini%2Fpro"
    assert gemini_headers["x-goog-api-key"] == KEY
    assert "authorization" not in gemini_headers


def test_a_server_that_only_lists_its_models_is_asked_for_the_list():
    """Many local servers do not describe one by one."""
    with served(Provider({"/v1/models": (200, CHAT_LIST)})) as provider:
        assert check(provider) == ()
    assert [path for path, _ in provider.heard] == ["/v1/models/gpt-5", "/v1/models"]


def test_an_unknown_model_is_named_with_those_near_it():
    """A typing error costs nothing."""
    with (
        served(Provider({"/v1/models": (200, CHAT_LIST)})) as provider,
        pytest.raises(UsageError, match=r"models\.main: the model 'gtp-5' is not known") as caught,
    ):
        check(provider, "gtp-5")
    assert caught.value.hint == "near it: gpt-5, gpt-5-mini"


def test_what_is_near_nothing_gets_examples():
    """So that a person sees what kind of ids there are."""
    listed = {"models": [{"name": "models/gemini-2.5-pro"}]}
    with (
        served(Provider({"/v1beta/models": (200, listed)})) as provider,
        pytest.raises(UsageError) as caught,
    ):
        check(provider, "zzz", dialect="gemini")
    assert caught.value.hint == "it has, for example: gemini-2.5-pro"


def test_a_pattern_in_a_list_stands_for_its_models():
    """Proxies list ``vendor/*``."""
    listed = {"data": [{"id": "vendor/*"}]}
    with served(Provider({"/v1/models": (200, listed)})) as provider:
        assert check(provider, "vendor/m-1") == ()
        with pytest.raises(UsageError):
            check(provider, "other/m-1")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}),
        (403, {"error": {"type": "permission_error"}}),
        (400, {"error": {"code": 400, "details": [{"reason": "API_KEY_INVALID"}]}}),
    ],
)
def test_a_refused_key_is_named_and_never_shown(status, body):
    """The variable is named; what the provider echoes is not repeated."""
    with (
        served(Provider({"/v1/models/gpt-5": (status, body)})) as provider,
        pytest.raises(UsageError, match="the key in MY_KEY is refused") as caught,
    ):
        check(provider)
    assert KEY not in caught.value.message + caught.value.hint
    assert provider.url not in caught.value.message + caught.value.hint


def test_a_key_that_is_missing_is_asked_for():
    """Where none is named the configuration's key for it is."""
    with (
        served(Provider(other=401)) as provider,
        pytest.raises(UsageError, match="a key is asked for") as caught,
    ):
        check(provider, key="")
    assert "models.main.key_env" in caught.value.hint


def test_a_key_that_may_only_ask_models_passes():
    """A restricted key is told so with 403, and is good for what it is used for."""
    said = {
        "error": {"message": "You have insufficient permissions. Missing scopes: api.model.read"}
    }
    with served(Provider({"/v1/models/gpt-5": (403, said)})) as provider:
        (note,) = check(provider)
    assert note == "models.main: it is not known whether gpt-5 is there: HTTP 403"


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_server_without_such_an_endpoint_is_believed(status):
    """A note says that nothing is known."""
    with served(Provider(other=status)) as provider:
        (note,) = check(provider)
    assert note == "models.main: it is not known whether gpt-5 is there: no list of models"


@pytest.mark.parametrize("status", [302, 429])
def test_an_answer_that_says_nothing_about_the_model_is_a_note(status):
    """A redirect is not followed: it would carry the key to a place nobody named."""
    with served(Provider({"/v1/models/gpt-5": (status, {})})) as provider:
        (note,) = check(provider)
    assert note.endswith(f"HTTP {status}")
    assert len(provider.heard) == 1


def test_a_provider_that_fails_is_not_available():
    """It will not do better for a trial."""
    with (
        served(Provider(other=503)) as provider,
        pytest.raises(NotAvailableError, match=r"models\.main: answers with HTTP 503"),
    ):
        check(provider)


def test_nobody_there_is_not_available():
    """No connection, no trial; the URL, which may hold a password, is not shown."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody answers
        provider = Provider(url=f"http://me:secret@127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(NotAvailableError, match="can not be reached") as caught:
            check(provider)
    assert "secret" not in caught.value.message


def test_a_silent_provider_is_not_waited_for_for_ever():
    """The wait has an end."""
    with (
        served(Provider(other=200, seconds=1.0)) as provider,
        pytest.raises(NotAvailableError, match=r"no answer within 0\.1 s"),
    ):
        check(provider, seconds=0.1)


def test_all_are_asked_at_once_and_the_first_mistake_is_told():
    """Several slow providers cost the time of one."""
    with served(Provider(seconds=0.4, other=200)) as good, served(Provider(other=401)) as bad:
        models = [
            ModelSpec(name=f"m{n}", id=f"m{n}", upstream=bad.url if n > 3 else good.url)
            for n in range(6)
        ]
        began = time.monotonic()
        with (
            open_upstreams(models, {}, [], {}) as upstreams,
            pytest.raises(UsageError, match=r"models\.m4"),
        ):
            preflight(models, upstreams)
    assert time.monotonic() - began < 1.5
    assert len(good.heard) == 4


def test_a_plan_passes_by_the_same_road():
    """A scripted upstream is asked like any other."""
    plan = b'format = 1\n[[task]]\nid = "*"\nreply = [{ text = "x" }]\n'
    for dialect in ("", "gemini"):
        model = ModelSpec(name="main", id="a/b", upstream="scripted:p.toml", dialect=dialect)
        with open_upstreams([model], {"p.toml": File(data=plan)}, ["t"], {}) as upstreams:
            assert preflight([model], upstreams) == ()
            other = ModelSpec(name="x", id="a/c", upstream="scripted:p.toml", dialect=dialect)
            by_model = {"a/c": upstreams.by_model["a/b"]}
            with pytest.raises(UsageError, match="'a/c' is not known there"):
                preflight([other], Upstreams(by_model=by_model))
