"""The configuration: what is accepted, what is refused, and what the fingerprint sees of it."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalgate.core.config import Config, load_config, require_config
from evalgate.core.limits import Allowance
from evalgate.core.pricing import FREE, Price
from evalgate.core.schema import Source
from evalgate.errors import UsageError

SMALL = """\
[harness]
root = "agent"
[harness.parts]
prompt = ["prompts/**"]
[models.main]
id = "m-1"
upstream = "anthropic"
[agent]
command = ["python3", "{harness_dir}/a.py"]
"""
WHOLE = (
    SMALL
    + """\
env = { LEVEL = "2" }
placement = "host"
[harness.overlay]
"CLAUDE.md" = "CLAUDE.md"
[models.main.parameters]
temperature = 0.5
[models.main.price]
input = 3
output = 15
cache_read = 0.3
[suite]
tasks = ["evals/*"]
trials = 7
[sandbox]
use = "process"
[policy]
margin = 0.2
[budget]
usd = 10
[hook]
on_stale = "block"
[report]
template = "page.md.j2"
"""
)


def load(text: str, name: str = "evalgate.toml") -> Config:
    """Read a text that is a configuration, below our table where the name asks for it."""
    below = ("tool", "evalgate") if name == "pyproject.toml" else ()
    if below:
        text = text.replace("\n[", "\n[tool.evalgate.").replace(
            "[harness]", "[tool.evalgate.harness]", 1
        )
    config = load_config(Source(name, text), below=below)
    assert config is not None
    return config


def test_a_small_configuration_gets_the_defaults() -> None:
    """Five trials, tasks/*, the strongest sandbox, no budget, a hook that warns."""
    config = load(SMALL)
    assert (config.suite, config.trials, config.sandbox.use) == (("tasks/*",), 5, "auto")
    assert (config.budget.usd, config.hook_on_stale, config.template) == (None, "warn", "")
    assert config.harness.parts == {"prompt": ("prompts/**",)}
    assert config.models["main"].price is None
    assert config.agent.placement == "sandbox"


def test_every_key_is_read() -> None:
    """What is written is what the rest of the program sees."""
    config = load(WHOLE)
    assert (config.suite, config.trials, config.sandbox.use) == (("evals/*",), 7, "process")
    assert (config.budget.usd, config.hook_on_stale) == (10.0, "block")
    assert config.template == "page.md.j2"
    assert config.harness.overlay == {"CLAUDE.md": "CLAUDE.md"}
    assert config.models["main"].parameters == {"temperature": 0.5}
    assert config.models["main"].price == Price(input=3, output=15, cache_read=0.3)
    assert config.agent.env == {"LEVEL": "2"}
    assert config.policy.margin == 0.2


def test_limits_and_budget_are_no_part_of_the_harness() -> None:
    """They are read whole, and the harness's settings stay the same."""
    more = "[limits]\nmax_turns = 9\nmax_tool_calls = 0\nmax_tokens = 500\nmax_usd = 0.5\n"
    more += "[budget]\nusd = 0\ntokens = 900\nturns = 20\ntool_calls = 30\n"
    config = load(SMALL + more)
    assert config.limits == Allowance(turns=9, tool_calls=0, tokens=500, usd=0.5)
    assert config.budget == Allowance(turns=20, tool_calls=30, tokens=900, usd=0.0)
    assert config.settings == load(SMALL).settings
    assert load(SMALL).limits.unlimited
    assert load(SMALL).budget.unlimited


@pytest.mark.parametrize("text", [SMALL, WHOLE])
def test_both_files_say_the_same(text: str) -> None:
    """The tables mean the same in evalgate.toml and below [tool.evalgate]."""
    here, there = load(text), load(text, "pyproject.toml")
    for field in fields(Config):
        if field.name != "source":
            assert getattr(here, field.name) == getattr(there, field.name)


@pytest.mark.parametrize("text", ["", "[project]\nname = 'x'\n", "[tool.ruff]\n", "tool = 3\n"])
def test_a_pyproject_without_our_table_is_none_of_ours(text: str) -> None:
    """Someone else's pyproject.toml is no error and no configuration."""
    config = load_config(Source("pyproject.toml", text), below=("tool", "evalgate"))
    assert config is None
    with pytest.raises(UsageError, match="no evalgate configuration in HEAD") as caught:
        require_config(config, where="HEAD")
    assert "evalgate.toml" in caught.value.hint


WRONG = {
    "unknown table": ("[polcy]\n", "polcy: unknown key"),
    "unknown key": ("[policy]\nmargn = 0.1\n", "policy.margn: unknown key"),
    "wrong type": ("[suite]\ntasks = 'tasks/*'\n", "suite.tasks: must be a list of strings"),
    "wrong choice": ("[hook]\non_stale = 'stop'\n", "hook.on_stale: must be one of warn, block"),
    "nan": ("[policy]\nmargin = nan\n", "policy.margin: must be a number of at least 0"),
    "inf": ("[budget]\nusd = inf\n", "budget.usd: must be a number of at least 0"),
    "negative": ("[budget]\nusd = -1\n", "budget.usd: must be a number of at least 0"),
    "no limit": ("[limits]\nmax_turns = 0\n", "limits.max_turns: must be a whole number of at"),
    "no money": ("[limits]\nmax_usd = 0\n", "limits.max_usd: must be a number of at least 0.0001"),
    "half a token": ("[budget]\ntokens = 0.5\n", "budget.tokens: must be a whole number of at"),
    "no trials": ("[suite]\ntrials = 0\n", "suite.trials: must be a whole number of at least 1"),
    "half a trial": ("[suite]\ntrials = 2.5\n", "suite.trials: must be a whole number"),
    "no probability": ("[policy]\nsuite_alpha = 2\n", "policy: suite_alpha must lie between"),
    "dialect": ("[models.b]\nid='b'\nupstream='u'\ndialect='x'\n", "models.b.dialect: must be one"),
    "missing": ("[models.b]\nid = 'b'\n", "models.b: 'upstream' is missing"),
    "half a price": ("[models.b]\nid='b'\nupstream='u'\nprice={input=1}\n", "models.b.price: 'out"),
    "empty part": ("[harness.parts.x]\n", "harness.parts.x: must be a list of strings"),
    "a date": ("[models.main.parameters]\nd = 1979-05-27\n", "models.main.parameters.d: JSON has"),
    "date in a table": ("[sandbox]\nd = 1979-05-27\n", "sandbox.d: unknown key"),
    "number as target": ("[harness.overlay]\na = 3\n", "harness.overlay.a: must be a string"),
    "number in env": ("[agent.env]\na = true\n", "agent.env.a: must be a string"),
}


@pytest.mark.parametrize("name", ["evalgate.toml", "pyproject.toml"])
@pytest.mark.parametrize(("more", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named(more: str, words: str, name: str) -> None:
    """Every error begins with file and line, and names the dotted key in full."""
    with pytest.raises(UsageError) as caught:
        load(SMALL + more, name)
    place, _, rest = caught.value.message.partition(": ")
    file, _, line = place.rpartition(":")
    assert file == name
    assert int(line) > SMALL.count("\n")
    prefix = "tool.evalgate." if name == "pyproject.toml" else ""
    assert rest.startswith(prefix + words)


def test_a_near_miss_is_guessed() -> None:
    """A slip of the finger gets a suggestion."""
    with pytest.raises(UsageError) as caught:
        load(SMALL + "[polcy]\n")
    assert caught.value.hint == "did you mean 'policy'?"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SMALL.replace('prompt = ["prompts/**"]\n', ""), "harness.parts: names no part"),
        (SMALL.replace('["prompts/**"]', "[]"), "harness.parts.prompt: has no glob"),
        ("[harness.parts]\nprompt = ['p']\n", "models: name at least one model"),
        ("harness = 3\n", "evalgate.toml:1: harness: must be a table"),
    ],
)
def test_a_harness_needs_parts_and_a_model(text: str, words: str) -> None:
    """Nothing is measured of a harness that is empty."""
    with pytest.raises(UsageError) as caught:
        load(text)
    assert words in caught.value.message


def test_the_model_on_this_machine_is_free() -> None:
    """Only the local model has a price nobody has to write down."""
    assert load(SMALL.replace("anthropic", "local-model")).models["main"].price == FREE


@pytest.mark.parametrize(
    "more",
    [
        "[policy]\nmargin = 0.3\n",
        "[budget]\nusd = 1\n",
        "[suite]\ntrials = 9\n",
        "[hook]\non_stale = 'block'\n",
        "[report]\ntemplate = 'x'\n",
    ],
)
def test_rules_and_money_are_not_part_of_the_harness(more: str) -> None:
    """Policy, budget, suite, hook and report change no fingerprint."""
    assert load(SMALL + more).settings == load(SMALL).settings


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace('"m-1"', '"m-2"'),
        SMALL.replace("a.py", "b.py"),
        SMALL + "[sandbox]\nuse = 'process'\n",
        SMALL + "[harness.overlay]\na = 'b'\n",
        SMALL.replace("prompts/**", "prompts/*"),
        SMALL + "[models.main.parameters]\ntemperature = 0\n",
    ],
)
def test_what_stands_around_the_model_is(text: str) -> None:
    """Models, agent, sandbox and harness change the fingerprint."""
    assert load(text).settings != load(SMALL).settings


def test_moving_the_harness_changes_nothing() -> None:
    """The root says where the harness lies, not what it is; nor does the order of tables."""
    moved = SMALL.replace('root = "agent"', 'root = "elsewhere/agent/"')
    assert load(moved).settings == load(SMALL).settings
    assert load(moved).harness.root == "elsewhere/agent"
    head, _, tail = SMALL.partition("[models.main]")
    assert load(f"[models.main]{tail}{head}").settings == load(SMALL).settings


KEYS = st.sampled_from(
    [
        *("harness", "models", "agent", "suite", "sandbox", "policy", "budget", "hook", "report"),
        *("root", "parts", "overlay", "main", "id", "upstream", "price", "input", "parameters"),
        *("command", "env", "tasks", "trials", "use", "margin", "usd"),
    ]
)
VALUES = st.recursive(
    st.sampled_from(
        ["1", "-1", "nan", "inf", "1e999", "true", '"a"', "'*'", "1979-05-27", "0x" + "f" * 5000]
    ),
    lambda inner: (
        st.lists(inner, max_size=2).map(lambda items: f"[{', '.join(items)}]")
        | st.dictionaries(KEYS, inner, max_size=2).map(
            lambda table: "{" + ", ".join(f"{key} = {value}" for key, value in table.items()) + "}"
        )
    ),
    max_leaves=4,
)
LINES = st.one_of(
    st.builds(lambda path: f"[{'.'.join(path)}]", st.lists(KEYS, min_size=1, max_size=3)),
    st.builds(lambda key, value: f"{key} = {value}", KEYS, VALUES),
    st.text(max_size=20),
    st.sampled_from(SMALL.splitlines()),
)


def assert_total(text: str, below: tuple[str, ...]) -> None:
    """Read a text: a configuration, none of ours, or an error that names the file."""
    said = None
    config = None
    try:
        config = load_config(Source("a.toml", text), below=below)
    except UsageError as error:
        said = error.message
    assert said is None or said.startswith("a.toml")
    assert config is None or isinstance(config, Config)


@settings(max_examples=300)
@given(st.lists(LINES, max_size=8).map("\n".join), st.booleans())
@example(SMALL, True)
@example(SMALL + "[sandbox]\nx = 1979-05-27\n", True)
def test_any_text_is_a_configuration_or_an_error_in_words(text: str, ours: bool) -> None:
    """Whatever stands in the file, a person is told; nothing else comes out."""
    assert_total(text, () if ours else ("tool", "evalgate"))


@settings(max_examples=100)
@given(st.lists(LINES, max_size=4))
def test_a_good_configuration_with_more_lines_is_too(more: list[str]) -> None:
    """The readers behind the first error are as total as the first."""
    assert_total(SMALL + "\n".join(more), ())
