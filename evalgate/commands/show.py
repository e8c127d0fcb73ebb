"""`evalgate show`: the runs there are, one run, one task of it, one trial."""

from __future__ import annotations

from evalgate.commands.named_trials import find_trials
from evalgate.commands.project import Project
from evalgate.commands.tables import render_rows, render_sample
from evalgate.core.sample import sample_of
from evalgate.core.trial import Evidence, Trial
from evalgate.errors import UsageError
from evalgate.store.runs import RunFolder, RunStore


def show(project: Project, name: str | None) -> str:
    """Return the text for ``RUN[:TASK[:N]]``, or the list of runs."""
    store = RunStore(project.state)
    if name is None:
        return _list(store)
    named = find_trials(store, name)
    if not named.task:
        return _run(named.run, [*named.trials])
    return "\n\n".join(_trial(named.run, trial) for trial in named.trials)


def _list(store: RunStore) -> str:
    rows = [("run", "trials", "state")]
    rows += [(run.id, *_state(run)) for run in store.all()]
    return render_rows(rows) if len(rows) > 1 else "there is no run yet: evalgate run"


def _state(run: RunFolder) -> tuple[str, str]:
    try:
        info, made = run.info, len(run.trials)
        state = "finished" if info["finished"] else "unfinished: the same command goes on"
        return f"{made}/{len(run.plan.trials)}", state
    except (UsageError, KeyError, TypeError) as error:
        return "?", f"can not be read: {error}"


def _run(run: RunFolder, trials: list[Trial]) -> str:
    plan = run.plan
    sample = sample_of(trials, fingerprint=plan.fingerprint, evidence=plan.evidence)
    head = f"{run.id}\nharness {plan.fingerprint[:16]}, sandbox {plan.sandbox}"
    return f"{head}\n\n{render_sample(sample)}"


def _trial(run: RunFolder, trial: Trial) -> str:
    signals = {k: v for k, v in trial.signals.to_json().items() if v is not None}
    words = (f"{trial.task} #{trial.key.n}", str(trial.outcome), trial.reason)
    lines = [
        ": ".join(filter(None, words)),
        f"  evidence {trial.evidence}, agent exit code {trial.agent_exit}",
        "  " + ", ".join(f"{name} {value}" for name, value in signals.items()),
    ]
    lines += [
        "  " + ": ".join(filter(None, (f"[{check.outcome}] {check.name}", check.detail)))
        for check in trial.checks
    ]
    if trial.evidence is Evidence.FAULTED:
        lines += [f"  fault: {fault}" for fault in trial.faults or ("none fired",)]
    lines += [f"  tripwire {hit.name}: {hit.place}: {hit.excerpt}" for hit in trial.tripwires]
    told = run.artifacts / trial.artifacts / "divergence.txt"
    if trial.diverged and told.is_file():
        text = told.read_text(encoding="utf-8", errors="replace")
        lines += ["  why it diverged:", *(f"    {line}" for line in text.splitlines())]
    if trial.patch:
        lines += ["  what it changed:", *(f"    {line}" for line in trial.patch.splitlines())]
    if trial.artifacts:
        lines.append(f"  files: {run.artifacts / trial.artifacts}")
    return "\n".join(lines)
