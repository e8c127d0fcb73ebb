"""Providers' keys are known by their beginnings; the ids of tool calls never look like one."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.redaction import Redactor
from evalgate.core.redaction_patterns import PATTERNS

BASE62 = string.ascii_letters + string.digits
A1 = "aB3dE6gH" * 12
HEX = "0123456789abcdef" * 8

#: Kind -> a key of it, made up, in the shape the provider gives.
SAMPLES = [
    ("anthropic-key", "sk-ant-api03-" + A1[:20] + "_-" + A1[:60] + "AA"),
    ("openrouter-key", "sk-or-v1-" + HEX[:64]),
    ("openai-key", "sk-proj-" + A1[:30] + "_" + A1[:30]),
    ("openai-key", "sk-" + A1[:48]),
    ("google-key", "AIza" + A1[:35]),
    ("google-oauth", "ya29." + A1[:60] + "-_" + A1[:20]),
    ("google-oauth", "GOCSPX-" + A1[:28]),
    ("groq-key", "gsk_" + A1[:52]),
    ("huggingface-token", "hf_" + A1[:34]),
    ("perplexity-key", "pplx-" + A1[:48]),
    ("replicate-token", "r8_" + A1[:37]),
    ("xai-key", "xai-" + A1[:80]),
    ("aws-key-id", "AKIA" + "2E0A8F3B4C5D6E7F"),
    ("aws-key-id", "ASIA" + "2E0A8F3B4C5D6E7F"),
    ("databricks-token", "dapi" + HEX[:32]),
    ("digitalocean-token", "dop_v1_" + HEX[:64]),
    ("github-token", "ghp_" + A1[:36]),
    ("github-token", "ghs_" + A1[:36]),
    ("github-token", "github_pat_" + A1[:22] + "_" + A1[:59]),
    ("gitlab-token", "glpat-" + A1[:20]),
    ("gitlab-token", "glpat-" + A1[:27] + ".01.0a1b2c3d4"),
    ("npm-token", "npm_" + A1[:36]),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc" + A1[:70]),
    ("docker-token", "dckr_pat_" + A1[:27]),
    ("slack-token", "xoxb-123456789012-1234567890123-" + A1[:24]),
    ("slack-token", "xapp-1-A0123456789-1234567890123-" + HEX[:64]),
    ("stripe-key", "sk_live_" + A1[:24]),
    ("stripe-key", "rk_test_" + A1[:24]),
    ("stripe-key", "whsec_" + A1[:32]),
    ("sendgrid-key", f"SG.{A1[:22]}.{A1[:43]}"),
    ("linear-key", "lin_api_" + A1[:40]),
    ("vault-token", "hvs." + A1[:90]),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjMifQ." + A1[:43]),
]

#: Kind, what stands before the key, and the key: these have no beginning of their own.
NAMED = [
    ("aws-secret", "aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
    ("aws-secret", "AWS_SECRET_ACCESS_KEY=", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
    ("aws-secret", '"SecretAccessKey": "', "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
    ("aws-secret", '\\"SecretAccessKey\\": \\"', "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
    ("azure-key", "AccountName=a;AccountKey=", A1[:86] + "=="),
    ("slack-webhook", "https://hooks.slack.com/services/", "T0123ABCD/B0123ABCD/" + A1[:24]),
    (
        "slack-webhook",
        "https:\\/\\/hooks.slack.com\\/services\\/",
        "T0123ABCD\\/B0123ABC\\/" + A1[:24],
    ),
]


def test_every_pattern_has_a_sample():
    """A pattern that nothing tests may as well not match."""
    used = {
        pattern.regex.pattern
        for pattern in PATTERNS
        for _, before, key in [*(("", "", key) for _, key in SAMPLES), *NAMED]
        if pattern.is_in((before + key).encode())
    }
    missing = {pattern.regex.pattern for pattern in PATTERNS} - used
    assert [one for one in missing if b"BEGIN" not in one] == []


@pytest.mark.parametrize(("name", "key"), SAMPLES)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("export KEY=", "\n"),
        ("é: ", "."),
        ('{"k": "', '"}'),
        ('"a\\n', '\\nb"'),
        ("?t=", "&x=1"),
    ],
)
def test_a_key_is_replaced_wherever_it_stands(name, key, before, after):
    """And nothing around it."""
    redactor = Redactor({})
    text = f"{before}{key}{after}"
    assert redactor.text(text) == f"{before}<secret:{name}>{after}"
    assert redactor.leaks(text.encode()) == [name]
    assert [span.text for span in redactor.spans(text)] == [f"<secret:{name}>"]


@pytest.mark.parametrize(("name", "before", "key"), NAMED)
def test_a_key_known_by_what_stands_before_it_leaves_that_in_place(name, before, key):
    """The name of a setting is no secret."""
    redactor = Redactor({})
    assert redactor.text(f'x {before}{key}" y') == f'x {before}<secret:{name}>" y'
    assert redactor.leaks((before + key).encode()) == [name]
    (span,) = redactor.spans(before + key)
    assert (span.start, span.end) == (len(before), len(before + key))


@pytest.mark.parametrize(
    "text",
    [
        "aws_secret_access_key = os.environ['AWS_SECRET_ACCESS_KEY']",
        "sk_live_demo",
        "https://hooks.slack.com/services/",
        "AKIA is how a key id begins",
        "hf_hub_download_with_a_really_long_name(repo_id)",
        "npm_config_registry_and_other_settings_of_npm",
        "from_gh_pages_to_github_pat_documentation",
        "risk-assessment-for-the-sake-of-completeness-0123456789",
        "glpat-short",
        "ya29.short",
        "task_live_0123456789abcdef0123456789",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAUA" * 20,
    ],
)
def test_what_only_looks_alike_stays(text):
    """Names of settings, functions and digests."""
    assert Redactor({}).text(text) == text


@given(
    st.sampled_from(
        ["toolu_01", "toolu_", "call_", "msg_", "resp_", "fc_", "rs_", "chatcmpl-", "req_"]
    ),
    st.text(alphabet=BASE62, min_size=22, max_size=48),
)
def test_ids_of_calls_are_never_touched(prefix, text):
    """A replay finds a tool's result by them."""
    assert Redactor({}).text(prefix + text) == prefix + text


PIECES = st.one_of(
    st.sampled_from([key for _, key in SAMPLES] + [before + key for _, before, key in NAMED]),
    st.sampled_from(
        ["sk-", "AKIA", "gh", "a", "_", ".", "/", "\\n", '"', " ", "\n", "é", A1, "eyJ"]
    ),
    st.text(max_size=8),
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_the_look_at_long_words_alone_overlooks_nothing(text):
    """It finds what the expressions find in the whole text."""
    data = text.encode()
    expected = sorted({pattern.name for pattern in PATTERNS if pattern.is_in(data)})
    assert Redactor({}).leaks(data) == expected
    assert Redactor({}).leaks(Redactor({}).data(data)) == []


def test_a_key_in_a_long_text_is_found():
    """In the last of many words."""
    text = json.dumps(["some words, and_a_rather_long_one_too " * 3000, f"token: {SAMPLES[0][1]}"])
    assert Redactor({}).leaks(text.encode()) == ["anthropic-key"]


def test_keys_without_anything_between_them_are_all_replaced():
    """The second begins in the middle of a word until the first is gone."""
    first = next(key for _, key in SAMPLES if key.startswith("dop_"))
    clean = Redactor({}).text(first * 5 + SAMPLES[0][1])
    assert clean == "<secret:digitalocean-token>" * 5 + "<secret:anthropic-key>"
