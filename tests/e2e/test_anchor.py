"""`policy.anchor`: the gate and compare hold the head against the last release as well."""

from __future__ import annotations

import json

import pytest

PROMPT = "agent/prompts/rewrite.md"

ACCEPT = ("baseline", "accept", "-k", "1")


def edit(repo, prompt: str) -> None:
    repo.write(PROMPT, prompt)
    repo.commit(f"Edit: {prompt}")


@pytest.fixture
def measure(recorded, scripted, evalgate):
    """Measure the harness as it is, and commit its baseline."""

    def call() -> None:
        env = {"SCRIPTED_URL": scripted.url}
        assert evalgate("run", cwd=recorded.path, env=env).returncode == 0
        assert evalgate(*ACCEPT, cwd=recorded.path).returncode == 0
        recorded.commit("Measured")

    return call


@pytest.fixture
def fallen(recorded, scripted, measure):
    """A release, a measured edit after it that broke one task of two, and one more edit."""
    config = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", config + '\n[policy]\nanchor = "v*"\n')
    recorded.commit("An anchor")
    recorded.git("tag", "v1.0")
    recorded.git("tag", "nightly")
    right = scripted.answer

    def answer(request):
        one = "triple" in request["messages"][-1]["content"]
        return (200, "no idea") if one else right(request)

    scripted.answer = answer
    edit(recorded, "Fix it.\n")
    measure()
    edit(recorded, "Fix it, please.\n")
    return recorded


def gate(evalgate, scripted, repo):
    env = {"SCRIPTED_URL": scripted.url}
    done = evalgate("gate", "--live", cwd=repo.path, env=env)
    return done, json.loads((repo.path / ".evalgate/verdict.json").read_text())


def test_the_release_is_shown_beside_the_parent(fallen, scripted, evalgate):
    """It decides nothing."""
    done, found = gate(evalgate, scripted, fallen)
    assert done.returncode == 0, done.stderr
    assert "Since v1.0: 100 % → 50 % (-50.0 points" in done.stdout
    assert found["decision"] in {"pass", "undecided"}
    assert found["anchor"]["name"] == "v1.0"
    assert found["anchor"]["worse"] is True
    assert found["anchor"]["difference"]["point"] == -0.5
    compared = evalgate("compare", "HEAD~1", "latest", cwd=fallen.path)
    assert "Since v1.0: 100 % → 50 %" in compared.stdout
    assert "50 % → 50 %" in compared.stdout


def test_a_policy_may_let_it_decide(fallen, scripted, evalgate):
    """Read from the base, as all of the policy."""
    config = (fallen.path / "evalgate.toml").read_text()
    prompt = (fallen.path / PROMPT).read_text()
    fallen.git("reset", "-q", "--hard", "HEAD~1")
    fallen.write("evalgate.toml", config + "anchor_blocks = true\n")
    fallen.commit("It blocks")
    edit(fallen, prompt)
    done, found = gate(evalgate, scripted, fallen)
    assert done.returncode == 1, done.stdout
    assert found["sentence"].startswith("This is worse than the last release. Since v1.0: 100 %")
    assert found["reasons"][0].startswith("against its parent: ")


def test_a_newer_release_without_numbers_is_passed_over(fallen, scripted, evalgate):
    """And a tag of another name, or on another line of history, is none."""
    fallen.git("checkout", "-q", "-b", "side", "v1.0")
    edit(fallen, "Elsewhere.\n")
    fallen.git("tag", "v3.0")
    fallen.git("checkout", "-q", "main")
    edit(fallen, "Not measured.\n")
    fallen.git("tag", "v2.0")
    recorded_again = "Fix it.\n"
    edit(fallen, recorded_again)
    edit(fallen, "Fix it, please.\n")
    done, found = gate(evalgate, scripted, fallen)
    assert found["anchor"]["name"] == "v1.0", done.stdout


def test_without_a_release_it_is_said(fallen, scripted, evalgate):
    """Also that nobody measured the ones there are."""
    fallen.git("tag", "-d", "v1.0")
    done, found = gate(evalgate, scripted, fallen)
    assert "No anchor: there is no tag v* to compare with." in done.stdout.replace("\\", "")
    assert "anchor" not in found


def test_releases_nobody_measured_are_named(fallen, scripted, evalgate):
    """No comparison is made up."""
    fallen.git("tag", "-d", "v1.0")
    edit(fallen, "Not measured.\n")
    fallen.git("tag", "v2.0")
    edit(fallen, "Fix it.\n")
    edit(fallen, "Fix it, please.\n")
    done, _ = gate(evalgate, scripted, fallen)
    assert "no harness of these releases was measured: v2.0" in done.stdout.replace("\\", "")


def test_an_anchor_that_blocks_needs_a_name(recorded, evalgate):
    """Exit 2, naming the table."""
    config = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", config + "\n[policy]\nanchor_blocks = true\n")
    done = evalgate("gate", cwd=recorded.path)
    assert done.returncode == 2
    assert "anchor_blocks asks for an anchor" in done.stderr
