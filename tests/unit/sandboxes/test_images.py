"""Images of a real engine: made once for the same inputs, anew for others."""

from __future__ import annotations

import logging
import os

import pytest

from evalgate.core.files import File
from evalgate.core.sandbox import SandboxSpec
from evalgate.errors import NotAvailableError
from evalgate.sandboxes.container import containers_of, docker
from evalgate.sandboxes.images import Built, Named, standard_image


def context(said: str, step: str = "true") -> dict[str, File]:
    text = f"ARG BASE_IMAGE=none\nFROM ${{BASE_IMAGE}}\nCOPY said /said\nRUN {step}\nENV SAID=env\n"
    return {"Dockerfile": File(data=text.encode()), "said": File(data=said.encode())}


def test_an_image_is_made_when_its_inputs_have_changed(engine, caplog) -> None:
    """And that is said; the same inputs name the same image in another process as well."""
    word = os.urandom(8).hex()
    with caplog.at_level(logging.WARNING):
        one = Built(context(word), what="it").ready(engine)
        assert f"making the image {one.name}" in caplog.text
        caplog.clear()
        assert Built(context(word), what="it").ready(engine) == one
        assert caplog.text == ""
        other = Built(context(f"{word}!"), what="it").ready(engine)
    assert other.digest != one.digest
    assert one.env["SAID"] == "env"
    for made in (one, other):
        engine._api.remove_image(made.name)


def test_what_a_dockerignore_names_makes_no_other_image(engine) -> None:
    """It is not sent: a Dockerfile that copies it fails."""
    word = os.urandom(8).hex()
    ignored = {".dockerignore": File(data=b"notes\n"), "notes": File(data=b"1")}
    one = Built({**context(word), **ignored}, what="it").ready(engine)
    other = Built({**context(word), **ignored, "notes": File(data=b"2")}, what="it").ready(engine)
    assert one.digest == other.digest
    engine._api.remove_image(one.name)
    hidden = {**context(word), ".dockerignore": File(data=b"said\n")}
    with pytest.raises(NotAvailableError, match="can not be built"):
        Built(hidden, what="it").ready(engine)


def test_a_copy_under_another_name_has_the_same_content(engine) -> None:
    """What a trial ran in is named by what is in it, not by its tag."""
    standard = standard_image().ready(engine)
    engine._api.tag(standard.name, "evalgate-test", "copy")
    found = [Named(name).ready(engine) for name in (standard.name, "evalgate-test:copy")]
    assert found[0].digest == found[1].digest
    engine._api.remove_image("evalgate-test:copy")


def test_a_build_that_fails_says_what_and_why(engine) -> None:
    """The builder's words are the hint."""
    with pytest.raises(NotAvailableError, match="the image of d can not be built") as caught:
        Built(context("x", "echo no luck && exit 3"), what="the image of d").ready(engine)
    assert "no luck" in str(caught.value.hint)
    assert "returned a non-zero code: 3" in caught.value.message


def test_a_dockerfile_that_can_not_be_read_is_named_as_that(engine) -> None:
    """It is no failure of the engine."""
    broken = {"Dockerfile": File(data=b"FROM scratch\nNOSUCH step\n")}
    with pytest.raises(NotAvailableError, match=r"image of d can not be built: .*NOSUCH") as caught:
        Built(broken, what="the image of d").ready(engine)
    assert caught.value.hint == "look at its Dockerfile"


def test_a_name_that_no_image_can_have_is_told(engine) -> None:
    """It is no failure of the engine, and no registry is asked."""
    with pytest.raises(NotAvailableError, match="the image 'BAD Image!!' can not be named so"):
        Named("BAD Image!!").ready(engine)


def test_what_only_buildkit_knows_is_told(engine) -> None:
    """The classic builder refuses it by name."""
    step = "--mount=type=cache,target=/x true"
    with pytest.raises(NotAvailableError, match="BuildKit"):
        Built(context("x", step), what="the image of d").ready(engine)


def test_an_image_that_is_nowhere_is_named(engine) -> None:
    """Neither here nor in a registry."""
    provider = docker(containers_of(SandboxSpec(image="localhost:9/no-such:1"), {}))
    with pytest.raises(NotAvailableError, match="no-such:1 is not there and can not be fetched"):
        provider.prepare()
