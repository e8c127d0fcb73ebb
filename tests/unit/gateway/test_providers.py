"""Where a model is served, with which key, and in which dialects it may be asked."""

from __future__ import annotations

import json
import urllib.request

import pytest

from evalgate.core.files import File, FileMode
from evalgate.core.models import PROVIDERS, ModelSpec
from evalgate.core.redaction import Redactor
from evalgate.errors import NotAvailableError, UsageError
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.providers import (
    UPSTREAMS,
    Upstreams,
    key_variable,
    open_upstreams,
    resolve_upstream,
    secrets_of,
)
from evalgate.gateway.server import Mode, RouteSpec, open_gateway
from evalgate.gateway.upstream import Upstream

PLAN = b'format = 1\n[[task]]\nid = "one"\nreply = [{ text = "by plan" }]\n'


def model(upstream, name="main", **more):
    """Return a model of the configuration."""
    return ModelSpec(name=name, id=more.pop("id", "m"), upstream=upstream, **more)


def opened(*models, files=None, tasks=("one",), environ=None):
    """Open the upstreams of models."""
    return open_upstreams(models, files or {}, tasks, environ or {})


@pytest.mark.parametrize(
    ("upstream", "variable", "header", "dialects", "url"),
    [
        ("anthropic", "ANTHROPIC_API_KEY", "x-api-key", None, "https://api.anthropic.com"),
        ("openai", "OPENAI_API_KEY", "authorization", None, "https://api.openai.com"),
        (
            "gemini",
            "GEMINI_API_KEY",
            "x-goog-api-key",
            frozenset({"gemini"}),
            "https://generativelanguage.googleapis.com",
        ),
    ],
)
def test_a_known_provider_brings_its_url_and_key(upstream, variable, header, dialects, url):
    """The key is read from the provider's own variable, unless another one is named."""
    found = resolve_upstream(model(upstream), {variable: "k1"})
    assert found == Upstream(url=url, key="k1", key_header=header, dialects=dialects)
    other = resolve_upstream(model(upstream, key_env="MINE"), {variable: "k1", "MINE": "k2"})
    assert other.key == "k2"
    assert key_variable(model(upstream)) == variable
    with pytest.raises(UsageError, match=f"{variable} holds no key"):
        resolve_upstream(model(upstream), {variable: ""})


def test_every_key_of_a_model_is_a_secret_under_its_variable():
    """Whatever the variable is called, and however the key looks; and what looks like a key."""
    environ = {
        "ANTHROPIC_API_KEY": "onlyletters",
        "MINE": "alsoletters",
        "OTHER": "ignored-0123456789",
        "SITE_TOKEN": "abc-0123456789-def",
        "USER_PASSWORD": "postgres",
    }
    models = [model("anthropic"), model("http://h", key_env="MINE"), model("openai")]
    assert secrets_of(models, environ) == {
        name: environ[name] for name in ("ANTHROPIC_API_KEY", "MINE", "SITE_TOKEN")
    }


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/", "/v1beta"])
def test_a_url_is_taken_with_or_without_its_version(end):
    """Clients disagree about what belongs to a base URL; the path of a version is added later."""
    assert resolve_upstream(model(f"http://h/x{end}"), {}).url == "http://h/x"


@pytest.mark.parametrize(
    ("dialect", "header"),
    [
        ("", "authorization"),
        ("openai-chat", "authorization"),
        ("anthropic", "x-api-key"),
        ("gemini", "x-goog-api-key"),
    ],
)
def test_a_dialect_decides_how_a_key_is_sent_to_a_url(dialect, header):
    """It also restricts what a URL is asked in."""
    found = resolve_upstream(model("http://h", dialect=dialect, key_env="K"), {"K": "v"})
    assert found.key_header == header
    assert found.speaks(DIALECTS["openai-responses"]) is (dialect == "")
    assert found.speaks(DIALECTS[dialect or "anthropic"])


def test_an_unknown_upstream_is_refused():
    """The hint lists what there is."""
    with pytest.raises(UsageError, match="unknown upstream 'antropic'") as caught:
        resolve_upstream(model("antropic"), {})
    assert "gemini" in caught.value.hint
    assert "scripted:FILE" in caught.value.hint


def test_a_variable_without_a_url_is_not_available():
    """Nobody set it: the model is not there."""
    with pytest.raises(NotAvailableError, match="NOWHERE is not set"):
        resolve_upstream(model("env:NOWHERE"), {})


def test_only_scripted_models_are_told_the_task():
    """A real provider must not see it in its URL."""
    both = Upstreams(
        by_model={"a": Upstream(url="http://a"), "b": Upstream(url="http://b")},
        scripted=frozenset({"b"}),
    )
    found = both.for_task("x/y")
    assert found["a"].url == "http://a"
    assert found["b"].url == "http://b/t-x%2Fy"


def ask(base, model_id):
    """Ask on a route as an agent does."""
    body = json.dumps({"model": model_id, "messages": []}).encode()
    headers = {"content-type": "application/json", "x-api-key": "dummy"}
    request = urllib.request.Request(base + "/v1/messages", data=body, headers=headers)
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.loads(response.read())


def test_one_trial_asks_several_models_each_with_its_own_key(scripted):
    """Two providers and a plan at once: each key goes to its own provider, by model id."""
    scripted.say(b'{"type":"message","content":[],"model":"big-1"}')
    models = (
        model(scripted.url, "big", id="big", key_env="BIG_KEY", dialect="anthropic"),
        model(scripted.url + "/small", "small", id="small", key_env="SMALL_KEY"),
        model("scripted:plans/x.toml", "easy", id="easy"),
    )
    environ = {"BIG_KEY": "sk-ant-big-0123456789", "SMALL_KEY": "sk-small-0123456789"}
    files = {"plans/x.toml": File(data=PLAN)}
    with (
        opened(*models, files=files, environ=environ) as upstreams,
        open_gateway(redactor=Redactor({})) as gateway,
        gateway.open_route(RouteSpec(mode=Mode.LIVE, upstreams=upstreams.for_task("one"))) as route,
    ):
        for model_id in ("big", "small"):
            ask(route.base_url, model_id)
        planned = ask(route.base_url, "easy")
        served = route.witness().served_models
    big, small = scripted.heard
    assert (big.path, big.headers["x-api-key"]) == ("/v1/messages", environ["BIG_KEY"])
    assert "authorization" not in big.headers
    assert small.path == "/small/v1/messages"
    assert small.headers["authorization"] == f"Bearer {environ['SMALL_KEY']}"
    assert "x-api-key" not in small.headers
    assert planned["content"] == [{"type": "text", "text": "by plan"}]
    assert "scripted:easy" in served


@pytest.mark.parametrize(
    ("files", "tasks", "words"),
    [
        ({}, ("one",), "models.main.upstream: plans/x.toml is no file of the harness"),
        (
            {"plans/x.toml": File(data=b"one.toml", mode=FileMode.SYMLINK)},
            ("one",),
            "is no file of the harness",
        ),
        ({"plans/x.toml": File(data=b"\xff")}, ("one",), "plans/x.toml: invalid start byte"),
        ({"plans/x.toml": File(data=b"x = ")}, ("one",), "plans/x.toml: Invalid value"),
        ({"plans/x.toml": File(data=PLAN)}, ("one", "two"), "plans/x.toml: plans nothing for two"),
    ],
    ids=["missing", "a link", "no text", "no TOML", "a task left out"],
)
def test_a_plan_that_can_not_be_played_is_refused(files, tasks, words):
    """Before anything runs, and with the file's name."""
    with (
        pytest.raises(UsageError, match=words),
        opened(model("scripted:plans/x.toml"), files=files, tasks=tasks),
    ):
        pass


def test_a_plan_needs_no_key():
    """A variable that is named for the day a model is asked again is not read."""
    files = {"plans/x.toml": File(data=PLAN)}
    with opened(model("scripted:plans/x.toml", key_env="NOT_SET"), files=files) as upstreams:
        assert upstreams.by_model["m"].key is None


def test_the_providers_that_a_judge_may_name_are_those_there_are():
    """A task names one of them, or a model of the project."""
    assert tuple(UPSTREAMS) == PROVIDERS
