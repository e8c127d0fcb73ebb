"""Runs that were never made: trials, trajectories and wires of any number, as reports show them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from evalgate.commands.cassettes.exchanges import reply_json
from evalgate.core.change import Change, TaskChange
from evalgate.core.decision import Decision
from evalgate.core.identity import Conditions, TrialKey
from evalgate.core.json import JsonObject
from evalgate.core.policy import Policy
from evalgate.core.sample import sample_of
from evalgate.core.trajectory import Opening, Step, ToolCall, Trajectory, Usage
from evalgate.core.trial import CheckResult, Evidence, Outcome, Signals, Trial
from evalgate.core.verdict import Verdict
from evalgate.gateway.dialects.dialect import Reply
from evalgate.report.run_report import Point, Reference, RunReport
from evalgate.report.trial_page import TrialPage

_TAGS = ("parsing", "numbers", "files", "concurrency", "regressions")
_WORDS = (
    "window", "total", "reader", "index", "clamp", "merge", "offset", "digest", "parser", "queue",
)  # fmt: skip
_REASONS = (
    "the hidden tests failed: test_empty_input",
    "the hidden tests failed: test_last_page",
    "only_expected_files: setup.cfg was touched",
    "the agent did not end within 120 s",
)
_ERRORS = ("the provider answered 529 three times", "the sandbox could not be opened")


def made_report(
    tasks: int, trials: int, *, turns: int = 8, texts: Sequence[str] = (), seed: int = 1
) -> RunReport:
    """Return the report of a run of so many tasks, with so many trials each.

    ``texts`` take the place of what agents, tests and tools say, each of them somewhere.
    """
    dice = random.Random(seed)
    names = [f"{_WORDS[i % len(_WORDS)]}-{i // len(_WORDS) + 1}" for i in range(tasks)]
    if texts:
        names[0] = texts[0]
    made, pages, tags, references = [], {}, {}, {}
    for number, name in enumerate(names):
        likely = dice.choice((0.0, 0.35, 0.6, 0.9, 1.0, 1.0))
        dear = dice.uniform(0.004, 0.09)
        tags[name] = (_TAGS[number % len(_TAGS)], *(("slow",) if number % 7 == 0 else ()))
        for n in range(1, trials + 1):
            trial = _trial(dice, name, n, likely, dear, texts)
            made.append(trial)
            pages[name, n] = _page(dice, trial, turns, texts)
            if trial.outcome is Outcome.PASSED:
                references[name] = Reference(
                    where="made", n=n, patch=trial.patch, page=pages[name, n]
                )
    return RunReport(
        project="a project",
        run="made",
        info={"finished": True, "times": {"started": "2026-11-30T09:30:00+00:00"}},
        trials=tuple(made),
        verdict=_verdict(names, texts),
        tags=tags,
        timeline=_timeline(dice, made),
        pages=pages,
        references=references,
    )


def _trial(
    dice: random.Random, task: str, n: int, likely: float, dear: float, texts: Sequence[str]
) -> Trial:
    outcome = Outcome.PASSED if dice.random() < likely else Outcome.FAILED
    if dice.random() < 0.03:
        outcome = Outcome.ERRORED
    why = {Outcome.PASSED: "", Outcome.FAILED: dice.choice(_REASONS)}
    reason = why.get(outcome, dice.choice(_ERRORS))
    if texts and reason:
        reason = texts[n % len(texts)]
    new = "return max(0, value)" if outcome is Outcome.PASSED else "return value"
    patch = (
        f"--- a/module.py\n+++ b/module.py\n@@ -1,5 +1,5 @@\n def clamp(value):\n"
        f"-    return min(value, 0)\n+    {new}\n \n \n def other():\n"
    )
    return Trial(
        task=task,
        key=TrialKey(task_digest="d" * 64, fingerprint="f1" * 32, series="main", n=n),
        outcome=outcome,
        reason=reason,
        checks=(
            CheckResult(name="hidden tests", outcome=outcome, detail=reason),
            CheckResult(name="only_expected_files", outcome=Outcome.PASSED, advisory=True),
        ),
        signals=Signals(
            seconds=dice.uniform(4, 60),
            input_tokens=dice.randrange(3_000, 40_000),
            output_tokens=dice.randrange(200, 3_000),
            cost_usd=dear * dice.uniform(0.8, 1.25),
            turns=8,
            tool_calls=8,
            failed_tool_calls=1,
            diff_lines=2,
            files_touched=1,
        ),
        conditions=Conditions(sandbox="docker", agent="1.0", models=("model-1",)),
        evidence=Evidence.MEASURED,
        patch=patch + "".join(texts),
        final_answer="It is mended.",
        agent_exit=0,
        artifacts="made",
    )


def _page(dice: random.Random, trial: Trial, turns: int, texts: Sequence[str]) -> TrialPage:
    said = texts or ("The function must not go below zero; I look at its callers first.",)
    steps = []
    for turn in range(turns):
        call = ToolCall(
            name=dice.choice(("read_file", "run", "write_file")),
            call_id=f"call-{turn}",
            input={"path": "src/module.py", "command": f"grep -n clamp -r src | head -{turn + 2}"},
            output="\n".join(f"src/file_{i}.py:{i * 7}: clamp(value, {i})" for i in range(24)),
            ok=turn != 2,
            seconds=0.4,
        )
        steps.append(
            Step(
                text=said[turn % len(said)],
                calls=(call,),
                usage=Usage(input_tokens=1200 + 300 * turn, output_tokens=120),
                model="model-1",
                began=turn * 2.0,
                seconds=1.5,
            )
        )
    opening = Opening(system="You are a careful engineer.\n" * 20, prompt=f"Mend {trial.task}.")
    wire: list[JsonObject] = [
        {
            "exchange": turn,
            "dialect": "anthropic",
            "method": "POST",
            "path": "/v1/messages",
            "query": "",
            "status": 200,
            "ending": "complete",
            "messages": 2 * turn + 1,
            "request_bytes": 1200,
            "new_bytes": 840,
            "reply_bytes": 560,
            "seconds": 1.5,
            "reply": reply_json(Reply(text=said[turn % len(said)], calls=steps[turn].calls)),
            "headers": {"content-type": "application/json"},
            "continues": turn - 1 if turn else None,
            "without": [],
            "kept": {},
            "added": {"messages": [{"role": "user", "content": "word " * 160}]},
            "raw": None,
            "reply_headers": {},
            "body": '{"content": [{"type": "text", "text": "word"}]}' * 12,
        }
        for turn in range(turns)
    ]
    return TrialPage(
        trajectory=Trajectory(steps=tuple(steps), opening=opening, turns=turns),
        log="".join(f"{i:04} the agent says what it does\n" for i in range(80)) + "".join(texts),
        grading="test_it ... ok\n" * 12,
        wire=tuple(wire),
    )


def _verdict(names: Sequence[str], texts: Sequence[str]) -> JsonObject:
    sentence = "The pass rate fell from 88 % to 71 % (-17.0 points, 90 % interval -25 to -9)."
    verdict = Verdict(
        decision=Decision.REGRESSION,
        sentence=texts[0] if texts else sentence,
        policy=Policy(),
        reasons=("against the stored baseline: 88 % to 71 %",),
        changes=(
            TaskChange(task=names[0], change=Change.REGRESSED, base=None, head=None),
            TaskChange(task=names[-1], change=Change.INCOMPARABLE, base=None, head=None),
        ),
        context={"same_numbers": False},
    )
    advised = {"word": "revert", "why": "it passes less often, and costs no less"}
    return {**verdict.to_json(), "advice": advised}


def _timeline(dice: random.Random, trials: Sequence[Trial]) -> tuple[Point, ...]:
    points = []
    for number in range(12):
        kept = [one for one in trials if dice.random() < 0.8]
        fingerprint = ("a0" if number < 5 else "f1") * 32
        sample = sample_of(kept, fingerprint=fingerprint, evidence=Evidence.MEASURED)
        points.append(
            Point(
                kind="baseline" if number % 3 == 0 else "run",
                name=f"point-{number}",
                date=f"2026-11-{10 + number}T08:00:00+00:00",
                sample=sample,
                current=number == 11,
            )
        )
    return tuple(points)
