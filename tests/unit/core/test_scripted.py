"""A scripted upstream in a configuration: one file of the harness, hashed, and free."""

from __future__ import annotations

import pytest

from evalgate.core.config import load_config
from evalgate.core.pricing import FREE
from evalgate.core.schema import Source
from evalgate.core.scripted import plan_path, scripted_among, served_as
from evalgate.errors import UsageError

CONFIG = """\
[harness.parts]
prompt = ["prompts/**"]
[models.main]
id = "m-1"
upstream = "scripted:plans/fix.toml"
"""


def load(text):
    """Read a configuration."""
    return load_config(Source("evalgate.toml", text), below=())


def test_a_plan_is_a_part_of_its_own_and_costs_nothing():
    """Whether a glob covers it or not, an edit of the plan is an edit of the harness."""
    config = load(CONFIG)
    assert config.harness.parts["scripted"] == ("plans/fix.toml",)
    assert config.models["main"].plan == "plans/fix.toml"
    assert config.models["main"].price == FREE


def test_a_part_of_that_name_keeps_its_globs():
    """What a project calls scripted itself is joined with the plans."""
    config = load(CONFIG.replace("prompt = ", "scripted = "))
    assert config.harness.parts == {"scripted": ("prompts/**", "plans/fix.toml")}


def test_a_model_brings_no_such_part():
    """Fingerprints of harnesses without a plan stay as they were."""
    config = load(CONFIG.replace("scripted:plans/fix.toml", "anthropic"))
    assert "scripted" not in config.harness.parts
    assert config.models["main"].plan is None
    assert config.models["main"].price is None


@pytest.mark.parametrize("path", ["", "/plan.toml", "../plan.toml", "a//b", "a/*.toml", "[a].toml"])
def test_what_is_no_single_file_of_the_harness_is_refused(path):
    """With file, line and key."""
    with pytest.raises(UsageError, match=r"^evalgate\.toml:5: models\.main\.upstream: the plan"):
        load(CONFIG.replace("plans/fix.toml", path))


def test_one_id_goes_to_one_place():
    """Several models are told apart by their ids; two tables may share one in all."""
    other = '[models.cheap]\nid = "{}"\nupstream = "{}"\n'
    two = load(CONFIG + other.format("m-2", "local-model"))
    assert {name: model.upstream for name, model in two.models.items()} == {
        "main": "scripted:plans/fix.toml",
        "cheap": "local-model",
    }
    assert len(load(CONFIG + other.format("m-1", "scripted:plans/fix.toml")).models) == 2
    with pytest.raises(UsageError, match=r"^evalgate\.toml:7: models\.cheap\.id: 'm-1' is served"):
        load(CONFIG + other.format("m-1", "local-model"))


def test_scripted_ids_are_told_from_served_ones():
    """The prefix is in every reply, so no model's numbers can be mistaken for a plan's."""
    assert scripted_among(["gpt", served_as("m-1"), "x"]) == ("scripted:m-1",)
    assert plan_path("scripted:a") == "a"
    assert plan_path("local-model") is None


def test_numbers_of_a_plan_belong_to_the_harness_that_names_it():
    """Anywhere else they are not believed."""
    served = ["scripted:m-1", "gpt"]
    assert load(CONFIG).unplanned(served) == ()
    assert load(CONFIG.replace("m-1", "m-2")).unplanned(served) == ("scripted:m-1",)
    model = load(CONFIG.replace("scripted:plans/fix.toml", "anthropic"))
    assert model.unplanned(served) == ("scripted:m-1",)
