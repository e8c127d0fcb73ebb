"""The agent stage: a fresh sandbox, the harness laid out from git, a route to the model."""

from __future__ import annotations

import json
import threading
from contextlib import ExitStack
from dataclasses import fields, replace

from evalgate.core.claim import Claim, claim_of
from evalgate.core.exchange import Witness
from evalgate.core.files import File, Tree
from evalgate.core.redaction import Redactor
from evalgate.core.task import Task
from evalgate.errors import NotAvailableError
from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.server import Gateway, Mode, Route, RouteSpec
from evalgate.protocols import AgentCall, Places, Stage, StageResult, StageStatus
from evalgate.repo.snapshot import single_commit_repository
from evalgate.runner.bench import Bench
from evalgate.runner.work import Work


class TrialStoppedError(Exception):
    """The run was interrupted while this trial was under way; it leaves no trace."""


def agent_stage(
    bench: Bench,
    task: Task,
    mode: Mode,
    tape: CassetteFile | None,
    stack: ExitStack,
    stop: threading.Event,
) -> tuple[Route, Work]:
    """Let the agent work on a task in a fresh sandbox; return its open route and its work.

    The route is closed by ``stack``. TrialStoppedError when the run was interrupted,
    NotAvailableError when the agent program is not there.
    """
    # The route outlives the sandbox: a recording is sealed after the claim is graded.
    overlay = {
        target: bench.harness.files[source]
        for source, target in bench.harness.config.harness.overlay.items()
    }
    with bench.provider.open_sandbox() as sandbox:
        spec = RouteSpec(
            mode=mode,
            upstreams=bench.upstreams,
            tape=tape,
            places=_labelled(sandbox.places),
            max_turns=task.limits.max_turns,
        )
        route = stack.enter_context(_gateway(bench).open_route(spec))
        call = _call(bench, task, sandbox.places, route)
        stage = Stage(
            trees={
                "repo": _workspace(bench, task, overlay),
                "harness": bench.harness.files,
                "inbox": {"instruction.md": File(data=task.instruction.encode())},
            },
            argv=bench.agent.argv(call),
            env=bench.agent.environment(call),
            timeout=task.limits.agent_seconds,
            host_network=True,
        )
        result = sandbox.run(stage, stop)
    route.stop()
    if result.status is StageStatus.INTERRUPTED:
        raise TrialStoppedError
    if result.status is StageStatus.NOT_FOUND:
        message = f"the agent program can not be found: {stage.argv[0]}"
        raise NotAvailableError(message, hint="install it, or mend agent.command")
    return route, _work(bench, task, result, route.witness(), overlay)


def _work(bench: Bench, task: Task, result: StageResult, witness: Witness, overlay: Tree) -> Work:
    after = {p: f for p, f in result.trees.get("repo", {}).items() if p not in overlay}
    before = {p: f for p, f in task.workspace.items() if p not in overlay}
    complete = result.status not in {StageStatus.TOO_LARGE, StageStatus.ENGINE}
    claim = claim_of(before, after) if complete else Claim()
    return Work(
        status=result.status,
        exit_code=result.exit_code,
        seconds=round(result.seconds, 3),
        claim=_redacted(bench.redactor, claim),
        witness=witness,
        log=bench.redactor.data(result.log),
        log_bytes=result.log_bytes,
        detail=bench.redactor.text(result.detail),
    )


def _redacted(redactor: Redactor, claim: Claim) -> Claim:
    changed = {p: replace(f, data=redactor.data(f.data)) for p, f in claim.changed.items()}
    return Claim(changed=changed, deleted=claim.deleted)


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
    )


def _labelled(places: Places) -> dict[str, str]:
    """Return the run-specific paths of a sandbox under the labels they are keyed by."""
    return {field.name.upper(): getattr(places, field.name) for field in fields(places)}


def _gateway(bench: Bench) -> Gateway:
    if bench.gateway is None:
        message = "a bench without a gateway can only regrade"
        raise ValueError(message)
    return bench.gateway
