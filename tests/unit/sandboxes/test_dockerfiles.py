"""What a Dockerfile stands on."""

from __future__ import annotations

import pytest

from evalgate.core.files import File
from evalgate.sandboxes.dockerfiles import bases_of, context_of


@pytest.mark.parametrize(
    ("text", "bases"),
    [
        ("FROM debian:12\nRUN true\n", ("debian:12",)),
        ("from --platform=linux/amd64 a:1 as build\nFROM b AS c\nFROM build\n", ("a:1", "b")),
        ("FROM scratch\nCOPY x /x\n", ()),
        ("ARG BASE_IMAGE=python:3.12-slim\nFROM ${BASE_IMAGE}\n", ("given:1",)),
        ("ARG V=20\nFROM node:$V-slim\nFROM node:${V}-slim\n", ("node:20-slim",)),
        ("FROM ${OTHER:-x:2}\nFROM ${NOBODY}\n", ("x:2",)),
        ("# FROM nothing\nRUN echo FROM nowhere\nFROM a\nFROM a\n", ("a",)),
    ],
)
def test_the_images_below_are_found(text: str, bases: tuple[str, ...]) -> None:
    """Each once; stages, scratch and what nobody fills are none."""
    assert bases_of(text, {"BASE_IMAGE": "given:1"}) == bases


def test_what_a_dockerignore_names_is_not_sent() -> None:
    """By the rules of docker's own client, at any depth, with exceptions; the Dockerfile always."""
    ignore = "# no packages\n**/node_modules\n*.log\nDocker*\n!keep.log\nsecret/\n!secret/open\n"
    sent = {".dockerignore", "Dockerfile", "a.py", "keep.log", "secret/open", "web/a.log"}
    more = {"a.log", "secret/key", "node_modules/a/b.js", "web/node_modules/c/d/e.js"}
    files = {name: File(data=b"") for name in sent | more}
    files[".dockerignore"] = File(data=ignore.encode())
    assert set(context_of(files, "Dockerfile")) == sent
    del files[".dockerignore"]
    assert context_of(files, "Dockerfile") == files
