"""What judging models say of a claim: asked through the gateway, or read from the recording.

They are asked on the host once the agent has ended, by a route of their own, so that nothing of
theirs counts as the agent's: neither turns nor cost, and no limit of a task holds for them. The
budget of the run does.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace

from evalgate.checks.judge import LlmJudge
from evalgate.core.judging import Judgement, Question
from evalgate.core.models import ModelSpec
from evalgate.core.observation import Observation
from evalgate.core.task import Task
from evalgate.gateway.limits.charge import cost_of
from evalgate.gateway.limits.spending import Spending
from evalgate.gateway.questions import Asker
from evalgate.gateway.server import Gateway, Mode, RouteSpec
from evalgate.gateway.upstream import Upstream
from evalgate.protocols import Finding
from evalgate.runner.agent_stage import OverBudgetError
from evalgate.runner.bench import Bench
from evalgate.runner.stopped import TrialStoppedError
from evalgate.runner.work import Work, ungraded


def judged_work(
    bench: Bench,
    task: Task,
    work: Work,
    stop: threading.Event,
    *,
    known: Mapping[str, Judgement] | None = None,
) -> Work:
    """Return work with what is known of every question that the task's judges have on it.

    Where their models may be asked, what is not known is asked, of work that is to be graded.
    Raises TrialStoppedError when the run was interrupted, and OverBudgetError when its budget was
    used up.
    """
    judges = [check for _, check in bench.checks[task.id] if isinstance(check, LlmJudge)]
    if not judges or ungraded(work, seconds=task.limits.agent_seconds) is not None:
        return work
    seen = Observation(
        task=task,
        workspace=work.claim.applied_to(task.workspace),
        claim=work.claim,
        trajectory=work.witness.trajectory,
    )
    found = dict(known or {})
    for judge in judges:
        question = judge.question(seen)
        if isinstance(question, Finding) or question.digest in found or bench.gateway is None:
            continue
        if upstream := bench.judges.get(judge.model.id):
            found[question.digest] = ask_judge(
                bench.gateway, upstream, judge.model, question, spending=bench.spending, stop=stop
            )
    return replace(work, judged=found)


def judges_of(judged: Mapping[str, Judgement]) -> tuple[str, ...]:
    """Return the ids of the judging models that were served."""
    return tuple(sorted({model for one in judged.values() for model in one.models}))


def places_of(bench: Bench, task: Task) -> dict[str, str]:
    """Return where each judging model of a task is asked, by its id; empty where none may be."""
    return {
        check.model.id: check.model.place
        for _, check in bench.checks[task.id]
        if isinstance(check, LlmJudge) and check.model.id in bench.judges
    }


def ask_judge(
    gateway: Gateway,
    upstream: Upstream,
    model: ModelSpec,
    question: Question,
    *,
    spending: Spending | None,
    stop: threading.Event,
) -> Judgement:
    """Ask one question as often as it has samples; raises what `judged_work` does."""
    asker, prices = Asker(model=model), {model.id: model.price}
    there = {model.id: upstream}
    spec = RouteSpec(mode=Mode.LIVE, upstreams=there, prices=prices, spending=spending)
    answers: list[str] = []
    error = ""
    with gateway.open_route(spec) as route:
        for _ in range(question.samples):
            if stop.is_set():
                raise TrialStoppedError
            reply = asker.ask(route.base_url, system=question.system, prompt=question.prompt)
            if route.meter.over_budget:
                raise OverBudgetError
            if reply.error is not None:
                error = f"it could not be asked: {route.redactor.text(reply.error)}"
                break
            answers.append(route.redactor.text(reply.text))
        route.stop()
        witness = route.witness()
    # Its account is never settled: what a judge used stands in no trial, and is the run's own.
    return Judgement(
        answers=tuple(answers),
        models=witness.served_models,
        usd=cost_of(witness.exchanges, prices),
        error=error,
    )
