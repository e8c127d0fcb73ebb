"""One real verdict for each decision, dealt from trials, and the story that goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from evalgate.commands.gating.forks import for_maintainer
from evalgate.core.confirmation import Confirmation
from evalgate.core.course import Course, course
from evalgate.core.decision import Decision
from evalgate.core.identity import Conditions
from evalgate.core.judgement import judge, judge_course, judge_cut
from evalgate.core.policy import Policy
from evalgate.core.pull import Pull
from evalgate.core.quarantine import Quarantine
from evalgate.core.sample import Row, Sample, TaskSample
from evalgate.core.trial import Evidence, Outcome, Signals
from evalgate.core.verdict import Verdict, counts_of, prepare
from evalgate.core.waiver import Waiver, waived
from evalgate.repo.pair import Pair
from evalgate.report.last_words import LastWords
from evalgate.report.tool_calls import CallsChange
from evalgate.report.verdict import PartChange, Story

WORDS = {"p": Outcome.PASSED, "f": Outcome.FAILED, "e": Outcome.ERRORED}
SIGNALS = Signals(
    seconds=41.0, input_tokens=18200, output_tokens=930, cost_usd=0.0712, turns=7, tool_calls=6
)
REASONS = {
    "parse-dates": "hidden tests: not passed: test_dates.ParseTest.test_leap_day",
    "retry-upload": "hidden tests: not passed: test_upload.RetryTest.test_gives_up_after_three",
    "rename-flag": "changed files: README.md was not to be touched",
}
ERRORED = "the provider answered 529 three times: overloaded_error"
#: Each letter is a trial of the base: passed, failed, errored.
BASE = {
    "add-endpoint": "pppppppppp",
    "fix-off-by-one": "pppppppppp",
    "parse-dates": "ppppppppfp",
    "rename-flag": "pppppfpppp",
    "retry-upload": "ppppffpppp",
    "sort-stable": "ffffffffff",
}
HEAD = BASE | {
    "parse-dates": "fffpffffff",
    "retry-upload": "ppffffpppf",
    "sort-stable": "fffpffffff",
}
PARTS = (
    PartChange(
        name="prompt",
        files=("agent/prompts/system.md +1 -2",),
        diff="--- a/agent/prompts/system.md\n+++ b/agent/prompts/system.md\n@@ -7,4 +7,3 @@\n"
        " You edit the files of a small Python project.\n"
        "-Read the tests that exist before you change anything.\n"
        "-Run them again when you are done.\n"
        "+Be quick: change the file and stop.\n",
        size="about 412 → 396 tokens (four bytes each)",
    ),
)
STORY = Story(
    head="shorter-prompt 5f1c09d2a7be, harness 91c2d40e7a35b6f8",
    base="main 3f9c1e2ab004, harness 0d7e55c1a2f94b13",
    how="the merge commit against its first parent",
    parts=PARTS,
    hypothesis="A shorter system prompt, to save tokens",
    decided=("baseline: exact, of harness 0d7e55c1a2f9", "60 trials of the head graded here"),
    run="20261130-101500.123-regrade-91c2d40e",
)
CALLS = CallsChange(
    before=(
        "read_file(path=dates.py)",
        "read_file(path=tests/test_dates.py)",
        "edit(path=dates.py, old=days = 28, new=days = 29 if is_leap(year) else 28)",
        "bash(command=python -m unittest)",
    ),
    after=("read_file(path=dates.py)", "edit(path=dates.py, old=days = 28, new=days = 29)"),
)
DIFF = (
    "--- a/dates.py\n+++ b/dates.py\n@@ -12,5 +12,5 @@\n def days_in_february(year):\n"
    "-    return 29 if is_leap(year) else 28\n+    return 29\n"
)
SAID = LastWords(
    before="February has 29 days in a leap year. The tests pass now.\n\nI changed `dates.py`.",
    after="I changed `dates.py`: 29 days. I did not run the tests, to be quick.",
)
BROKEN = replace(
    STORY,
    differences={"parse-dates": DIFF, "retry-upload": ""},
    calls={"parse-dates": CALLS, "retry-upload": CallsChange(before=None, after=())},
    words={"parse-dates": SAID, "retry-upload": LastWords(before=None, after="")},
    next_steps=(
        f"evalgate show {STORY.run}:parse-dates:1   # a trial that fails",
        f"evalgate report {STORY.run} --format html -o .evalgate/report.html   # in a browser",
    ),
)


def sample(
    tasks: dict[str, str],
    *,
    signals: Signals = SIGNALS,
    models: tuple[str, ...] = ("claude-sonnet-4-5-20250929",),
    evidence: Evidence = Evidence.REGRADED,
    fingerprint: str = "9",
) -> Sample:
    """Make a sample from words, one letter a trial."""
    return Sample(
        fingerprint=fingerprint * 64,
        conditions=Conditions(sandbox="docker", agent="", models=models),
        tasks={name: task(name, letters, signals) for name, letters in tasks.items()},
        evidence=evidence,
    )


def task(name: str, letters: str, signals: Signals = SIGNALS) -> TaskSample:
    """Make one task of a sample; its trials fail as that task does."""
    reasons = {"p": "", "f": REASONS.get(name, f"reason of {name}"), "e": ERRORED}
    rows = [
        Row(
            n=n,
            outcome=WORDS[letter],
            checks={"hidden tests": WORDS[letter]},
            reason=reasons[letter],
            signals=signals,
        )
        for n, letter in enumerate(letters, 1)
    ]
    return TaskSample(task=name, digest="d1", rows=tuple(rows))


def gone_through(prepared: Verdict, fresh: Sequence[tuple[Sample, Sample]], *, runs: int) -> Course:
    """Go through the course of a live gate, with samples for what it asks of both sides."""
    steps, later = course(prepared.policy, planned=runs), iter(fresh)
    next(steps)
    counts = counts_of(prepared.changes)
    while True:
        try:
            steps.send(counts)
        except StopIteration as end:
            found: Course = end.value
            assert found.confirmed is None or isinstance(found.confirmed, Confirmation)
            return found
        if (pair := next(later, None)) is not None:
            counts = counts_of(prepare(*pair, prepared.policy).changes)


def live(head: dict[str, str], fresh: tuple[dict[str, str], dict[str, str]]) -> Verdict:
    """Judge by a live gate whose fresh runs of both sides are these."""
    measured = Evidence.MEASURED
    prepared = prepare(sample(BASE), sample(head, evidence=measured), Policy())
    pair = sample(fresh[0], evidence=measured), sample(fresh[1], evidence=measured)
    return judge_course(prepared, gone_through(prepared, [pair], runs=10), planned=10)


def dealt(decision: Decision) -> tuple[Verdict, Story]:
    """Return a verdict of this decision, and its story."""
    verdict, story = _DEALERS[decision](), STORY
    if decision in {Decision.REGRESSION, Decision.WAIVED}:
        story = BROKEN
    if verdict.head is None:
        story = replace(story, run="")
    if decision is Decision.NOTHING_TO_JUDGE:
        story = replace(story, parts=(), hypothesis="")
    if decision is Decision.STALE:
        steps = ("evalgate run --record   # live trials, with their recordings", "evalgate gate")
        story = replace(story, next_steps=steps)
    if decision is Decision.VOID:
        story = replace(story, touched={"canary": 1})
    assert verdict.decision is decision, verdict
    return verdict, story


def from_fork() -> tuple[Verdict, Story]:
    """Return an edit of a fork that nobody measured, whose author has no key."""
    pair = Pair.of("5f1c09d2a7be", "3f9c1e2ab004", STORY.how, fork=True)
    pair = replace(pair, measuring=Pull(number=7, base="main").measuring)
    return for_maintainer(*dealt(Decision.STALE), pair)


def regression() -> Verdict:
    """A prompt edit that broke a task; three more moved by chance or are shown only."""
    cheaper = replace(SIGNALS, input_tokens=9100, cost_usd=0.0431, seconds=24.0)
    kept = Quarantine(
        task="rename-flag", owner="ann", reason="flaky since May", review=date(2027, 1, 31)
    )
    head = sample(HEAD | {"rename-flag": "fffff", "new-task": "pp"}, signals=cheaper)
    return judge(sample(BASE), head, Policy(quarantine=(kept,)))


def _waived() -> Verdict:
    found = judge(sample(BASE, fingerprint="0"), sample(HEAD), Policy())
    day = date(2026, 12, 31)
    waivers = [
        Waiver(
            base="0" * 64, head="9" * 64, task=name, max_drop=0.9, until=day, reason="see the RFC"
        )
        for name in ("parse-dates", "")
    ]
    return waived(found, waivers, today=date(2026, 11, 30))


def _plain(decision: Decision, sentence: str, *reasons: str) -> Verdict:
    return Verdict(decision=decision, sentence=sentence, policy=Policy(), reasons=reasons)


def _suspect() -> dict[str, str]:
    return BASE | {"parse-dates": "ppfffpffff", "retry-upload": "ppffffpfff"}


_ALL = dict.fromkeys(BASE, "pppppppppp")
_DEALERS = {
    Decision.NOTHING_TO_JUDGE: lambda: _plain(
        Decision.NOTHING_TO_JUDGE, "The harness did not change: there is nothing to judge."
    ),
    Decision.STALE: lambda: _plain(
        Decision.STALE,
        "This edit is not measured: there is no recording of the new harness.",
        "stale recordings: 0d7e55c1a2f9",
        "30 trials of 6 tasks would cost about $2.14",
    ),
    Decision.PASS: lambda: judge(
        sample(dict.fromkeys(BASE, "p" * 30)),
        sample(dict.fromkeys(BASE, "p" * 30) | {"rename-flag": "p" * 29 + "f"}),
        Policy(),
    ),
    Decision.IMPROVED: lambda: judge(
        sample(BASE), sample(BASE | {"sort-stable": "pppppppppp"}), Policy()
    ),
    Decision.UNDECIDED: lambda: judge(
        sample(BASE), sample(BASE | {"retry-upload": "pfffp"}), Policy()
    ),
    Decision.REGRESSION: regression,
    Decision.WAIVED: _waived,
    Decision.NOT_CONFIRMED: lambda: live(_suspect(), (BASE, BASE)),
    Decision.MOVED: lambda: live(_suspect(), (_suspect(), _suspect())),
    Decision.NO_BASELINE: lambda: judge(
        sample(BASE), sample(BASE, models=("claude-sonnet-4-6",)), Policy()
    ),
    Decision.NOT_MEASURED: lambda: judge(
        sample(BASE), sample(BASE | {"add-endpoint": "ppeeeeeeee"}), Policy()
    ),
    Decision.NOTHING_RAN: lambda: judge(sample(BASE), sample({}), Policy()),
    Decision.VOID: lambda: judge(
        sample(BASE),
        sample(_ALL),
        Policy(),
        doubts=[
            "baselines/0d7e55c1a2f94b13-77a0c1d2.toml was edited by this change",
            "tripwire canary: sort-stable #3, log: … cat /evalgate/canary …",
        ],
    ),
    Decision.BUDGET: lambda: judge_cut(
        prepare(sample(BASE), sample(_suspect(), evidence=Evidence.MEASURED), Policy()),
        "the budget of $1.00 is used up: $0.98 spent",
    ),
}
