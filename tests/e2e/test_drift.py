"""`evalgate drift`: the numbers of a harness that nobody changed, day by day."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

ACCEPT = ("baseline", "accept", "-k", "1")


def now(days_ago: int = 0) -> datetime:
    return datetime.now(UTC) - timedelta(days=days_ago)


def today(days_ago: int = 0) -> str:
    return now(days_ago).date().isoformat()


@pytest.fixture
def nightly(recorded):
    """Add a finished run of some days ago, made of the one that there is."""
    (source,) = (recorded.path / ".evalgate/runs").iterdir()
    info = json.loads((source / "run.json").read_text())
    lines = [json.loads(line) for line in (source / "trials.jsonl").read_text().splitlines()]
    for folder in ("baselines", ".evalgate/runs"):
        shutil.rmtree(recorded.path / folder)

    def add(days_ago: int, *, failed: int = 0, model: str = "scripted-1", factor: float = 1.0):
        moment = now(days_ago).isoformat(timespec="seconds")
        folder = source.parent / f"{today(days_ago).replace('-', '')}-000000.000-run-{days_ago}"
        folder.mkdir(parents=True)
        when = {"started": moment, "finished": moment, "seconds": 60.0}
        (folder / "run.json").write_text(json.dumps({**info, "times": when}))
        made = []
        for number, one in enumerate(lines):
            signals = {**one["signals"], "seconds": 1 + days_ago / 1000 + number / 10}
            signals["output_tokens"] = round(20 * factor)
            conditions = {**one["conditions"], "models": [model]}
            outcome = "failed" if number < failed else "passed"
            changed = {"signals": signals, "conditions": conditions, "outcome": outcome}
            made.append(json.dumps({**one, **changed, "cassette": ""}))
        (folder / "trials.jsonl").write_text("\n".join(made) + "\n")

    return add


def test_too_few_sessions_are_never_no_drift(recorded, nightly, evalgate):
    """It says how many are missing, and `--strict` makes that an error."""
    for days_ago in range(3):
        nightly(days_ago)
    done = evalgate("drift", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    assert "Too few sessions to see a drift: 3 of 9. 6 more sessions are needed" in done.stdout
    assert "o drift is seen" not in done.stdout
    found = json.loads(evalgate("drift", "--json", "--strict", cwd=recorded.path).stdout)
    assert (found["decision"], found["exit_code"]) == ("undecided", 4)
    assert (found["missing_sessions"], len(found["sessions"])) == (6, 3)


def test_a_session_is_made_once_at_a_time(repo, scripted, evalgate):
    """Two at once would each pay for it: the second is told to wait."""
    reached, go = scripted.hold()
    env = {"SCRIPTED_URL": scripted.url}
    with ThreadPoolExecutor() as pool:
        first = pool.submit(evalgate, "drift", "--live", cwd=repo.path, env=env)
        assert reached.wait(60)
        second = evalgate("drift", "--live", cwd=repo.path, env=env)
        go.set()
        assert first.result().returncode == 0, first.result().stderr
    assert second.returncode == 2, second.stdout
    assert "today's session is under way in process" in second.stderr
    assert len(scripted.requests) == 6


def test_a_harness_nobody_measured_has_no_session(repo, evalgate):
    """Which is too few."""
    done = evalgate("drift", cwd=repo.path)
    assert done.returncode == 0, done.stderr
    assert "0 of 9" in done.stdout


def test_a_suite_without_tasks_has_no_session(repo, evalgate):
    """Exit 5, as wherever there is nothing to run."""
    shutil.rmtree(repo.path / "tasks")
    assert evalgate("drift", cwd=repo.path).returncode == 5


def test_nothing_moved(recorded, nightly, evalgate):
    """Every signal is shown beside its anchor."""
    for days_ago in range(12):
        nightly(days_ago)
    done = evalgate("drift", "--window", "3", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    assert "No drift is seen: 4 sessions after the first 8" in done.stdout
    assert "the last 3 sessions" in done.stdout
    found = json.loads(evalgate("--json", "drift", cwd=recorded.path).stdout)
    assert found["window"] == "the last 7 days"
    assert found["signals"]["pass_rate"]["anchor"] == found["signals"]["pass_rate"]["window"] == 1
    assert not any(one["alarm"] for one in found["signals"].values())


def test_creep_is_named_signal_by_signal(recorded, nightly, evalgate):
    """With exit 3: the world moved, and nobody's change did it."""
    for days_ago in range(20, 7, -1):
        nightly(days_ago)
    for days_ago in range(7, -1, -1):
        nightly(days_ago, failed=3, factor=1.5)
    done = evalgate("drift", cwd=recorded.path)
    assert done.returncode == 3, done.stderr
    assert "Nothing was changed, and pass rate went down: 100.0 % in the first 8 sessions" in (
        done.stdout
    )
    assert "output tokens went up: 20 in the first 8 sessions, 30 now (+50.0 %)" in done.stdout
    found = json.loads(evalgate("--json", "drift", cwd=recorded.path).stdout)
    alarms = {name for name, one in found["signals"].items() if one["alarm"]}
    assert alarms == {"pass_rate", "output_tokens"}
    assert found["decision"] == "baseline moved"


def test_another_model_begins_a_new_anchor(recorded, nightly, evalgate):
    """What the provider served before is not compared, and the day is named."""
    for days_ago in range(20, 5, -1):
        nightly(days_ago)
    for days_ago in range(5, -1, -1):
        nightly(days_ago, model="scripted-2")
    done = evalgate("drift", cwd=recorded.path)
    assert f"Since {today(5)} the provider serves scripted-2, before that scripted-1" in done.stdout
    assert "6 of 9" in done.stdout
    assert done.returncode == 0


def test_a_renewal_begins_a_new_anchor(recorded, nightly, scripted, evalgate):
    """What crept before it is the baseline now; the runs before it are no sessions any more."""
    for days_ago in range(20, 8, -1):
        nightly(days_ago)
    assert evalgate(*ACCEPT, cwd=recorded.path).returncode == 0
    for days_ago in range(8, -1, -1):
        nightly(days_ago, failed=3)
    assert evalgate("drift", cwd=recorded.path).returncode == 3
    env = {"SCRIPTED_URL": scripted.url}
    renewal = evalgate("baseline", "renew", "--live", "-k", "2", cwd=recorded.path, env=env)
    assert renewal.returncode == 0, renewal.stderr
    done = evalgate("drift", cwd=recorded.path)
    assert done.returncode == 0, done.stdout
    assert f"took the place of others on {today()}" in done.stdout
    found = json.loads(evalgate("--json", "drift", cwd=recorded.path).stdout)
    assert [one["measured"] for one in found["sessions"]] == [4]


def test_a_baseline_of_another_model_is_named(recorded, nightly, evalgate):
    """The gate would compare nothing with it: exit 3, and the way out."""
    nightly(5)
    assert evalgate(*ACCEPT, cwd=recorded.path).returncode == 0
    nightly(0, model="scripted-2")
    done = evalgate("drift", cwd=recorded.path)
    assert done.returncode == 3, done.stdout
    assert "models served: scripted-1 against scripted-2" in done.stdout
    assert "evalgate baseline renew" in done.stdout


def test_a_baseline_of_a_run_made_here_is_no_session_of_its_own(recorded, nightly, evalgate):
    """Nor is a day on which half of the suite ran."""
    for days_ago in range(3, 0, -1):
        nightly(days_ago)
    assert evalgate(*ACCEPT, cwd=recorded.path).returncode == 0
    found = json.loads(evalgate("--json", "drift", cwd=recorded.path).stdout)
    assert [one["measured"] for one in found["sessions"]] == [6, 6, 6]


def test_today_s_session_is_made_once(recorded, nightly, scripted, evalgate):
    """`--live` makes it if there is none; one task of the suite is no session."""
    nightly(1)
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "double", cwd=recorded.path, env=env).returncode == 0
    done = evalgate("drift", cwd=recorded.path)
    assert f"{today()}: no session, it lacks the task triple as it is" in done.stdout
    assert evalgate("drift", "--live", cwd=recorded.path, env=env).returncode == 0
    asked = len(scripted.requests)
    done = evalgate("drift", "--live", cwd=recorded.path, env=env)
    assert "2 of 9" in done.stdout
    assert "today's session was made already" in done.stderr
    assert len(scripted.requests) == asked


def test_a_session_that_can_not_be_made_is_not_measured(recorded, nightly, scripted, evalgate):
    """Exit 4, and no session."""
    nightly(1)
    scripted.answer = lambda _: (401, "no")
    done = evalgate("drift", "--live", cwd=recorded.path, env={"SCRIPTED_URL": scripted.url})
    assert done.returncode == 4, done.stderr
    assert "1 of 9" in done.stdout


@pytest.mark.parametrize("window", ["", "0", "7w", "-1", "0d", "d", "1e3", "99999999999"])
def test_a_window_is_days_or_sessions(recorded, evalgate, window):
    """Anything else is refused in words."""
    done = evalgate("drift", f"--window={window}", cwd=recorded.path)
    assert done.returncode == 2
    assert "neither days (7d) nor sessions (7)" in done.stderr
