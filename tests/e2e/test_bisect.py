"""`evalgate bisect`: the commit that broke a task, by the fewest trials."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

PROMPT = "agent/prompts/rewrite.md"


def edit(repo, prompt: str) -> str:
    repo.write(PROMPT, prompt)
    return repo.commit(f"Edit: {prompt.strip()}")


@pytest.fixture
def history(recorded):
    """Eight edits after the measured one, with others between them; the fifth breaks the task."""
    commits = {"good": recorded.git("rev-parse", "HEAD")}
    for number in range(1, 9):
        recorded.write("README.md", f"{number}\n")
        recorded.commit(f"No edit of the harness, no. {number}")
        wrong = " Be WRONG." if number >= 5 else ""
        commits[str(number)] = edit(recorded, f"Fix it, no. {number}.{wrong}\n")
    return commits


@pytest.fixture
def bisect(recorded, scripted, evalgate):
    """Bisect; return the finished process."""

    def call(*options: str, task: str = "double"):
        env = {"SCRIPTED_URL": scripted.url}
        return evalgate("bisect", task, *options, cwd=recorded.path, env=env)

    return call


def test_the_commit_is_found(recorded, scripted, history, bisect):
    """With its parts and the commands that show it; a committed baseline is not made again."""
    asked = len(scripted.requests)
    done = bisect(f"{history['good'][:12]}..HEAD", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["culprit"]["commits"] == [history["5"]]
    assert found["culprit"]["before"] == recorded.git("rev-parse", f"{history['5']}~1")
    assert [*found["culprit"]["parts"]] == ["prompt"]
    assert found["culprit"]["probability"] >= 0.95
    assert (found["commits"], len(found["harnesses"])) == (16, 9)
    made = sum(one["made_now"] for one in found["harnesses"])
    assert found["harnesses"][0]["measured"] - found["harnesses"][0]["made_now"] == 3
    assert made == len(scripted.requests) - asked <= 20
    again = bisect(f"{history['good']}..HEAD")
    assert len(scripted.requests) - asked == made
    assert again.returncode == 0, again.stderr
    assert f"double broke with {history['5'][:12]} (Edit: Fix it, no. 5. Be WRONG.)" in again.stdout
    assert f"prompt  {PROMPT} +1 -1" in again.stdout
    assert f"evalgate fingerprint --diff {found['culprit']['before'][:12]}.." in again.stdout


def test_a_dry_run_asks_nothing(scripted, history, bisect):
    """It says what is known, and about how many trials are missing."""
    asked = len(scripted.requests)
    done = bisect(f"{history['good']}..HEAD", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "Nothing was run. To find the commit: half of the time at most" in done.stdout
    assert "3/3" in done.stdout
    assert len(scripted.requests) == asked


def test_a_bisection_is_made_once_at_a_time(scripted, history, bisect):
    """Two would each make the trials, and spend the money, of one."""
    reached, go = scripted.hold()
    asked = f"{history['good']}..HEAD"
    with ThreadPoolExecutor() as pool:
        first = pool.submit(bisect, asked)
        assert reached.wait(60)
        second = bisect(asked)
        go.set()
        assert first.result().returncode == 0, first.result().stderr
    assert second.returncode == 2
    assert "this very bisection is under way in process" in second.stderr


def test_ends_that_do_not_differ_have_no_culprit(recorded, bisect):
    """Exit 4: no commit is named."""
    edit(recorded, "Fix it, please.\n")
    done = bisect("HEAD~1..HEAD")
    assert done.returncode == 4, done.stderr
    assert "The ends do not differ: double passed 10 of 10" in done.stdout
    assert "broke with" not in done.stdout


def test_one_harness_at_both_ends_is_no_question(recorded, history, bisect):
    """Nothing is run."""
    recorded.write("README.md", "again\n")
    recorded.commit("Nothing")
    done = bisect("HEAD~1..HEAD")
    assert done.returncode == 0, done.stderr
    assert "The harness is the same at both ends" in done.stdout
    assert json.loads(bisect("HEAD~1..HEAD", "--json").stdout)["culprit"] is None


def test_what_was_taken_back_is_not_blamed(recorded, bisect):
    """An edit that was reverted lies not on the line from the good end to the bad one."""
    first = recorded.git("rev-parse", "HEAD")
    before = (recorded.path / PROMPT).read_text()
    edit(recorded, "Be WRONG.\n")
    edit(recorded, before)
    last = edit(recorded, "Be WRONG again.\n")
    done = bisect(f"{first}..HEAD", "--json")
    found = json.loads(done.stdout)
    assert found["culprit"]["commits"] == [last]
    assert len(found["harnesses"]) == 2


def test_commits_that_can_not_be_read_are_named_with_the_next(recorded, bisect):
    """A configuration that was broken for a while."""
    first = recorded.git("rev-parse", "HEAD")
    config = (recorded.path / "evalgate.toml").read_text()
    recorded.write("evalgate.toml", "nonsense")
    broken = edit(recorded, "Be WRONG.\n")
    recorded.write("evalgate.toml", config)
    mended = recorded.commit("Mend the configuration")
    done = bisect(f"{first}..HEAD")
    assert done.returncode == 0, done.stderr
    assert f"double broke with {broken[:12]} (Edit: Be WRONG.), {mended[:12]}" in done.stdout
    assert f"git diff {first[:12]} {mended[:12]}" in done.stdout


def test_a_harness_that_fails_is_passed_over(scripted, history, bisect):
    """The changes around one that can not be measured are named together."""
    right = scripted.answer

    def answer(request):
        system = request["messages"][0]["content"]
        return (401, "no") if "no. 4" in system else right(request)

    scripted.answer = answer
    done = bisect(f"{history['good']}..HEAD", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["culprit"]["commits"] == [history["4"], history["5"]]


def test_an_end_that_can_not_be_measured_names_nothing(scripted, history, bisect):
    """Exit 4, and not for ever."""
    scripted.answer = lambda _: (401, "no")
    done = bisect(f"{history['good']}..HEAD")
    assert done.returncode == 4, done.stderr
    assert "can not be measured at one of the ends" in done.stdout


def test_trials_of_a_bisection_are_no_sample_of_a_gate(recorded, bisect, evalgate):
    """They were chosen by how others came out."""
    edit(recorded, "Be WRONG.\n")
    assert bisect("HEAD~1..HEAD").returncode == 0
    done = evalgate("gate", cwd=recorded.path)
    assert "live trials were made here" not in done.stdout
    assert evalgate("baseline", "accept", "latest", cwd=recorded.path).returncode == 2


def test_money_bounds_all_of_it(recorded, scripted, evalgate):
    """Exit 8, and a larger sum goes on."""
    config = recorded.path / "evalgate.toml"
    price = 'upstream = "env:SCRIPTED_URL"\nprice = { input = 1000, output = 1000 }'
    config.write_text(config.read_text().replace('upstream = "env:SCRIPTED_URL"', price))
    first = recorded.commit("A price")
    edit(recorded, "Be WRONG.\n")
    env = {"SCRIPTED_URL": scripted.url}
    asked = len(scripted.requests)
    call = ("bisect", "double", f"{first}..HEAD", "-j", "1")
    done = evalgate(*call, "--usd", "0.5", cwd=recorded.path, env=env)
    assert done.returncode == 8, done.stdout + done.stderr
    assert len(scripted.requests) - asked <= 5  # each costs $0.12
    assert evalgate(*call, "--usd", "5", cwd=recorded.path, env=env).returncode == 0
    assert len(scripted.requests) - asked == 10


def test_money_is_counted_by_one_table_of_prices(recorded, scripted, evalgate):
    """That of the bad end: a commit between that called the model free spent without end."""
    text = (recorded.path / "evalgate.toml").read_text()
    upstream = 'upstream = "env:SCRIPTED_URL"'
    commits = []
    for price, prompt in ((0, "Please."), (0, "Be WRONG."), (1000, "Be WRONG.")):
        table = f"{upstream}\nprice = {{ input = {price}, output = {price} }}"
        recorded.write("evalgate.toml", text.replace(upstream, table))
        commits.append(edit(recorded, f"{prompt}\n"))
    env = {"SCRIPTED_URL": scripted.url}
    asked = len(scripted.requests)
    call = ("bisect", "double", f"{commits[0]}..HEAD", "-j", "1")
    dry = evalgate(*call, "--dry-run", cwd=recorded.path, env=env)
    assert "at most" in dry.stdout
    assert "$0 (the model runs here)" not in dry.stdout
    done = evalgate(*call, "--usd", "0.5", cwd=recorded.path, env=env)
    assert done.returncode == 8, done.stdout + done.stderr
    assert len(scripted.requests) - asked <= 5  # each costs $0.12
    for info in (recorded.path / ".evalgate/runs").glob("*-confirm-*/trials.jsonl"):
        costs = {json.loads(line)["signals"]["cost_usd"] for line in info.read_text().splitlines()}
        assert costs <= {0.12}


@pytest.mark.parametrize(
    ("commits", "task", "said"),
    [
        ("HEAD", "double", "a range is written GOOD..BAD"),
        ("HEAD...HEAD", "double", "a range is written GOOD..BAD"),
        ("nowhere..HEAD", "double", "no such commit: 'nowhere'"),
        ("HEAD..HEAD~1", "double", "is not on the first-parent line of"),
        ("HEAD~1..HEAD", "d*", "has no task 'd*'"),
    ],
)
def test_what_is_no_range_or_task_is_said(bisect, commits, task, said):
    """Exit 2."""
    done = bisect(commits, task=task)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
