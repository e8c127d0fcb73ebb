"""A run as it is reported: its trials, how they stand by task and tag, and what came before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evalgate.core.identity import FORMAT
from evalgate.core.json import Json, JsonObject
from evalgate.core.outcome_cost import outcome_cost
from evalgate.core.plain import shortened
from evalgate.core.rates import mean_percent, percent
from evalgate.core.sample import Sample, TaskSample, sample_of
from evalgate.core.trial import Outcome, Trial
from evalgate.report.trial_page import TrialPage

#: So much of a task's first failure is told beside the task; the trial tells all of it.
_FIRST = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Numbers of one harness at one time: a committed baseline, or a run made here.

    ``kind`` is ``baseline`` or ``run``; ``date`` is in ISO 8601; ``current`` marks the run that is
    reported.
    """

    kind: str
    name: str
    date: str
    sample: Sample
    current: bool = False

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "kind": self.kind,
            "name": self.name,
            "date": self.date,
            "fingerprint": self.sample.fingerprint,
            "evidence": str(self.sample.evidence),
            "current": self.current,
            **standing(self.sample.tasks.values()),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The last passing trial of a task: of this run, of an earlier one, or of a baseline.

    Of a baseline the patch is known, and ``n`` is 0; ``page`` is None where it is not recorded.
    """

    where: str
    n: int
    patch: str
    page: TrialPage | None = None

    @property
    def of_baseline(self) -> bool:
        """Tell whether it is a committed baseline's, and no trial that was made here."""
        return self.n == 0

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        page = None if self.page is None else self.page.to_json()
        steps = [] if page is None else page["steps"]
        return {"where": self.where, "n": self.n, "patch": self.patch, "steps": steps}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """Everything a report of a run shows.

    ``info`` says of the run what ``run.json`` does; ``verdict`` is ``verdict.json`` where the run
    was judged; ``pages`` and ``differences`` go by task and number of the trial, a difference
    being the diff from the last passing output to this one; ``tags`` and ``references`` by task.
    ``missing`` are tasks and numbers of trials that an unfinished run did not make.
    """

    project: str
    run: str
    info: JsonObject
    trials: tuple[Trial, ...]
    verdict: JsonObject | None = None
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    timeline: tuple[Point, ...] = ()
    pages: Mapping[tuple[str, int], TrialPage] = field(default_factory=dict)
    references: Mapping[str, Reference] = field(default_factory=dict)
    differences: Mapping[tuple[str, int], str] = field(default_factory=dict)
    missing: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def sample(self) -> Sample:
        """The trials in the form that is compared."""
        evidence = min((trial.evidence for trial in self.trials), key=lambda one: one.rank)
        fingerprint = self.trials[0].key.fingerprint
        return sample_of(self.trials, fingerprint=fingerprint, evidence=evidence)

    @property
    def by_tag(self) -> dict[str, list[TaskSample]]:
        """The tasks of each tag, the tags in order of their names."""
        tasks = self.sample.tasks
        names = sorted({tag for task in tasks for tag in self.tags.get(task, ())})
        return {
            name: [task for key, task in tasks.items() if name in self.tags.get(key, ())]
            for name in names
        }

    @property
    def changes(self) -> dict[str, str]:
        """What the verdict says became of each task."""
        tasks = None if self.verdict is None else self.verdict.get("tasks")
        listed = tasks if isinstance(tasks, list) else []
        return {str(one["task"]): str(one["change"]) for one in listed if isinstance(one, dict)}

    def to_json(self) -> dict[str, Json]:
        """Return the document of ``--format json``; its schema is in docs/schemas/."""
        sample = self.sample
        return {
            **self.overview(),
            "trials": [self.trial_json(trial) for trial in self.trials],
            "references": {task: one.to_json() for task, one in self.references.items()},
            "conditions": sample.conditions.to_json(),
        }

    def overview(self) -> dict[str, Json]:
        """Return what is said of the run as a whole."""
        sample, changes = self.sample, self.changes
        cost = outcome_cost(sample, [*sample.tasks])
        return {
            "format": FORMAT,
            "project": self.project,
            "run": self.run,
            "info": dict(self.info),
            "evidence": str(sample.evidence),
            "fingerprint": sample.fingerprint,
            "models": list(sample.conditions.models),
            "verdict": None if self.verdict is None else dict(self.verdict),
            "totals": {
                **standing(sample.tasks.values()),
                "mean_rate": mean_percent(
                    (task.passed, len(task.measured)) for task in sample.tasks.values()
                ),
                "usd_per_correct": None if cost is None else cost.to_json(),
                "tripwires": sum(len(trial.tripwires) for trial in self.trials),
            },
            "tasks": [
                {
                    "task": name,
                    "digest": task.digest,
                    "tags": list(self.tags.get(name, ())),
                    "change": changes.get(name),
                    "first_failure": shortened(
                        next((row.reason for row in task.rows if row.reason), ""), _FIRST
                    ),
                    **standing([task]),
                }
                for name, task in sample.tasks.items()
            ],
            "tags": [{"tag": tag, **standing(tasks)} for tag, tasks in self.by_tag.items()],
            "timeline": [point.to_json() for point in self.timeline],
            "notes": list(self.notes),
        }

    def trial_json(self, trial: Trial) -> dict[str, Json]:
        """Return one trial with all that its page shows."""
        key = (trial.task, trial.key.n)
        page = self.pages.get(key)
        return {
            **trial.to_json(),
            "difference": self.differences.get(key, ""),
            "page": None if page is None else page.to_json(),
        }


def standing(tasks: Iterable[TaskSample]) -> dict[str, Json]:
    """Count trials of some tasks, and say what one costs: means over trials, None is unknown."""
    rows = [row for task in tasks for row in task.rows]
    measured = [row for row in rows if row.outcome is not Outcome.ERRORED]
    passed = sum(row.outcome is Outcome.PASSED for row in rows)
    signals = [row.signals for row in measured]
    tokens = [
        None
        if one.input_tokens is None or one.output_tokens is None
        else one.input_tokens + one.output_tokens
        for one in signals
    ]
    return {
        "trials": len(rows),
        "passed": passed,
        "failed": len(measured) - passed,
        "errored": len(rows) - len(measured),
        "rate": percent(passed, len(measured)),
        "usd": _mean([one.cost_usd for one in signals]),
        "seconds": _mean([one.seconds for one in signals]),
        "tokens": _mean(tokens),
        "turns": _mean([one.turns for one in signals]),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
