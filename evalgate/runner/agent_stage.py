"""The agent stage: a fresh sandbox, the harness laid out from git, a route to the model."""

from __future__ import annotations

import json
import threading
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from evalgate.core.claim import Claim, claim_of
from evalgate.core.files import File, Tree
from evalgate.core.redaction import Redactor
from evalgate.core.task import Task
from evalgate.errors import NotAvailableError
from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.server import Gateway, Mode, Route, RouteSpec
from evalgate.protocols import AgentCall, Places, Stage, StageResult, StageStatus
from evalgate.repo.snapshot import single_commit_repository
from evalgate.runner.bench import Bench
from evalgate.runner.canary import CANARY, CANARY_LABEL, canary_files, new_canary
from evalgate.runner.placement import open_placed
from evalgate.runner.stopped import TrialStoppedError
from evalgate.runner.tripped import tripped
from evalgate.runner.work import Work, words_of_engine


class OverBudgetError(Exception):
    """The run's budget was used up while this trial was under way; it leaves no trace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Who answers the agent's requests, and where what is recorded is kept meanwhile."""

    mode: Mode
    tape: CassetteFile | None = None
    journal: Path | None = None


def agent_stage(
    bench: Bench,
    task: Task,
    traffic: Traffic,
    stack: ExitStack,
    stop: threading.Event,
) -> tuple[Route, Work]:
    """Let the agent work on a task in a fresh sandbox; return its open route and its work.

    The route is closed by ``stack``. TrialStoppedError when the run was interrupted,
    OverBudgetError when its budget was used up, NotAvailableError when the agent program is not
    there, UsageError when a scrub rule or a tripwire comes to no end.
    """
    # The route outlives the sandbox: a recording is sealed after the claim is graded.
    overlay = bench.overlay
    canary = new_canary()
    bench.told("opens a sandbox")
    with open_placed(bench, task) as (sandbox, labelled):
        spec = RouteSpec(
            mode=traffic.mode,
            upstreams=bench.upstreams.for_task(task.id) if traffic.mode.asks_model else {},
            tape=traffic.tape,
            journal=traffic.journal,
            top_up=bench.top_up,
            pace=bench.pace,
            places={**labelled, CANARY_LABEL: canary},
            passing=frozenset({CANARY_LABEL}),
            allowed=task.limits.allowance,
            prices=bench.harness.config.prices,
            spending=bench.spending,
            scrubs=bench.harness.config.cassettes.scrubs,
            faults=bench.faults.of_task(task.id) if bench.faults else (),
        )
        route = stack.enter_context(_gateway(bench).open_route(spec))
        call = _call(bench, task, sandbox.places, route)
        stage = Stage(
            trees={
                "repo": _workspace(bench, task, overlay),
                "harness": bench.harness.files,
                "inbox": {"instruction.md": File(data=task.instruction.encode())},
                "home": canary_files(canary),
            },
            argv=bench.agent.argv(call),
            env=bench.agent.environment(call),
            timeout=task.limits.agent_seconds,
            reach=urlsplit(route.base_url).port,
        )
        bench.told("the agent works")
        result = sandbox.run(stage, stop)
    route.stop()
    if result.status is StageStatus.INTERRUPTED:
        raise TrialStoppedError
    if route.broken is not None:
        raise route.broken
    if route.meter.over_budget:
        raise OverBudgetError
    if result.status is StageStatus.NOT_FOUND:
        said = words_of_engine(result.detail, route.redactor) or stage.argv[0]
        message = f"the agent program can not be found: {said}"
        raise NotAvailableError(message, hint="install it, or mend agent.command")
    work = _work(bench, route, task, result, overlay, canary)
    return route, replace(work, seconds=round(work.seconds + route.saved, 3))


def _work(
    bench: Bench, route: Route, task: Task, result: StageResult, overlay: Tree, canary: str
) -> Work:
    # The route's redactor knows the keys of its upstreams beside all other secrets.
    redactor = route.redactor
    after = {p: f for p, f in result.trees.get("repo", {}).items() if p not in overlay}
    before = {p: f for p, f in task.workspace.items() if p not in overlay}
    claim = claim_of(before, after) if "repo" in result.trees else Claim()
    # What is kept, and graded, is the same again in a replay: the token has its label in it.
    clean, witness = redacted(redactor, claim).labelled(canary, CANARY), route.witness()
    log = redactor.data(result.log).replace(canary.encode(), CANARY.encode())
    calls = tuple(call.labelled(canary, CANARY).redacted(redactor) for call in result.calls)
    return Work(
        status=result.status,
        exit_code=result.exit_code,
        seconds=round(result.seconds, 3),
        claim=clean,
        witness=witness,
        tripwires=tripped(bench, task, witness.trajectory, log=log, claim=clean, calls=calls),
        calls=calls,
        log=log,
        log_bytes=result.log_bytes,
        detail=words_of_engine(result.detail, redactor).replace(canary, CANARY),
        secret=secret_in(redactor, claim),
        faults=tuple(route.faults.fired),
    )


def redacted(redactor: Redactor, claim: Claim) -> Claim:
    """Return the claim as it may be stored; with a secret it is another claim."""
    changed = {
        redactor.text(path): replace(file, data=redactor.data(file.data))
        for path, file in claim.changed.items()
    }
    return Claim(changed=changed, deleted=tuple(map(redactor.text, claim.deleted)))


def secret_in(redactor: Redactor, claim: Claim) -> str:
    """Return the name of a secret that the claim holds, or nothing."""
    texts = [path.encode("utf-8", "surrogateescape") for path in claim.touched]
    texts += [claim.changed[path].data for path in sorted(claim.changed)]
    return next((leaks[0] for text in texts if (leaks := redactor.leaks(text))), "")


def _workspace(bench: Bench, task: Task, overlay: Tree) -> dict[str, File]:
    repository = single_commit_repository(task.workspace, cache=bench.repositories)
    exclude = "".join(f"/{path}\n" for path in sorted(overlay)).encode()
    hidden = {".git/info/exclude": File(data=exclude)} if overlay else {}
    return {**task.workspace, **overlay, **repository, **hidden}


def _call(bench: Bench, task: Task, places: Places, route: Route) -> AgentCall:
    main = next(iter(bench.harness.config.models.values()))
    return AgentCall(
        places=places,
        instruction=task.instruction,
        model=main.id,
        models_json=json.dumps(
            {
                model.name: {
                    "id": model.id,
                    "parameters": model.parameters,
                    "base_url": route.base_url,
                }
                for model in bench.harness.config.models.values()
            }
        ),
        base_url=route.base_url,
        max_turns=task.limits.max_turns,
        replies=task.user,
    )


def _gateway(bench: Bench) -> Gateway:
    if bench.gateway is None:
        message = "a bench without a gateway can only regrade"
        raise ValueError(message)
    return bench.gateway
