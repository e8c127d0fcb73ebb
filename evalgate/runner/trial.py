"""One trial: agent stage, claim, grade stage, signals; live, replayed or regraded."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from typing import Any

from evalgate.core.claim import Claim, claim_of, diff_lines, render_patch
from evalgate.core.exchange import Witness
from evalgate.core.files import File, Tree
from evalgate.core.harness import Harness
from evalgate.core.identity import Conditions, TrialKey
from evalgate.core.json import Json
from evalgate.core.pricing import cost_usd
from evalgate.core.redaction import Redactor
from evalgate.core.task import CheckSpec, Task
from evalgate.core.trial import CheckResult, Evidence, Outcome, Signals, Trial
from evalgate.errors import NotAvailableError
from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.server import Gateway, Mode, Route, RouteSpec
from evalgate.gateway.upstream import Upstream
from evalgate.gateway.witness import witness_of
from evalgate.protocols import (
    Agent,
    AgentCall,
    Check,
    Places,
    SandboxProvider,
    Stage,
    StageResult,
    StageStatus,
)
from evalgate.repo.snapshot import single_commit_repository
from evalgate.runner.artifacts import artifact_folder, cassette_path, write_artifacts
from evalgate.runner.grade import grade, overall
from evalgate.runner.work import Work, ended_as_recorded, trouble
from evalgate.store.runs import RunFolder

_SERIES = "main"


class TrialStoppedError(Exception):
    """The run was interrupted while this trial was under way; it leaves no trace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Everything trials of one harness share; built once and passed down.

    ``upstreams`` is empty in a replay or regrade: there is no provider and no key.
    """

    harness: Harness
    agent: Agent
    provider: SandboxProvider
    redactor: Redactor
    upstreams: Mapping[str, Upstream]
    gateway: Gateway | None
    checks: Mapping[str, tuple[tuple[CheckSpec, Check], ...]]
    provenance: Mapping[str, Json] = field(default_factory=dict)

    def on(self, gateway: Gateway) -> Bench:
        """Return the same bench with a gateway to serve the agent."""
        return replace(self, gateway=gateway)


def live_trial(bench: Bench, task: Task, n: int, run: RunFolder, stop: threading.Event) -> Trial:
    """Let the agent work with a real model, grade its claim, seal the recording."""
    with ExitStack() as stack:
        route, work = _agent_stage(bench, task, None, stack, stop)
        trial, log = _conclude(bench, task, n, work, Evidence.MEASURED, stop)
        sealed = route.seal(
            cassette_path(run, task.id, n),
            header=_header(bench, task, n, trial.conditions),
            claim=work.claim.to_json(),
            record={"agent": work.to_json(), "measured": trial.measured()},
        )
    kept = replace(trial, cassette=sealed.digest, artifacts=artifact_folder(task.id, n))
    write_artifacts(run, kept, work, log, bench.redactor)
    return kept


def replayed_trial(
    bench: Bench,
    task: Task,
    n: int,
    tape: CassetteFile,
    run: RunFolder,
    stop: threading.Event,
) -> Trial:
    """Let the agent work against the recording; its time is the recorded one."""
    with ExitStack() as stack:
        _, work = _agent_stage(bench, task, tape, stack, stop)
    recorded = ended_as_recorded(_record(tape, "agent"))
    timed = replace(work, seconds=recorded[2])
    trial, log = _conclude(bench, task, n, timed, Evidence.REPLAYED, stop)
    missed = work.witness.misses
    kept = replace(
        trial,
        cassette=tape.digest,
        conditions=_recorded_conditions(tape),
        artifacts=artifact_folder(task.id, n),
        unused_exchanges=work.witness.unused,
        diverged=missed[0].sentence if missed else "",
    )
    write_artifacts(run, kept, work, log, bench.redactor)
    return kept


def regraded_trial(
    bench: Bench, task: Task, n: int, tape: CassetteFile, stop: threading.Event
) -> Trial:
    """Grade a recorded claim again: no agent, no model."""
    record = _record(tape, "agent")
    status, exit_code, seconds, detail = ended_as_recorded(record)
    witness = replace(
        witness_of(tape.exchanges), provider_error=record["provider_error"], limit=record["limit"]
    )
    work = Work(
        status=status,
        exit_code=exit_code,
        seconds=seconds,
        claim=Claim.from_json(tape.claim),
        witness=witness,
        log=str(record["last_words"]).encode(),
        detail=detail,
    )
    trial, _ = _conclude(bench, task, n, work, Evidence.REGRADED, stop)
    return replace(trial, cassette=tape.digest, conditions=_recorded_conditions(tape))


def _agent_stage(
    bench: Bench,
    task: Task,
    tape: CassetteFile | None,
    stack: ExitStack,
    stop: threading.Event,
) -> tuple[Route, Work]:
    # The route outlives the sandbox: a recording is sealed after the claim is graded.
    overlay = {
        target: bench.harness.files[source]
        for source, target in bench.harness.config.harness.overlay.items()
    }
    with bench.provider.open_sandbox() as sandbox:
        spec = RouteSpec(
            mode=Mode.LIVE if tape is None else Mode.REPLAY,
            upstreams=bench.upstreams,
            tape=tape,
            places=_labelled(sandbox.places),
            max_turns=task.limits.max_turns,
        )
        route = stack.enter_context(_gateway(bench).open_route(spec))
        call = _call(bench, task, sandbox.places, route)
        stage = Stage(
            trees={
                "repo": _workspace(task, overlay),
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


def _workspace(task: Task, overlay: Tree) -> dict[str, File]:
    repository = single_commit_repository(task.workspace)
    exclude = "".join(f"/{path}\n" for path in sorted(overlay)).encode()
    hidden = {".git/info/exclude": File(data=exclude)} if overlay else {}
    return {**task.workspace, **overlay, **repository, **hidden}


def _conclude(
    bench: Bench, task: Task, n: int, work: Work, evidence: Evidence, stop: threading.Event
) -> tuple[Trial, str]:
    limit = trouble(work, seconds=task.limits.agent_seconds)
    checks: tuple[CheckResult, ...] = ()
    log = ""
    if limit is None:
        graded = grade(bench.provider, task, bench.checks[task.id], work.claim, stop)
        checks = tuple(
            replace(check, detail=bench.redactor.text(check.detail)) for check in graded.checks
        )
        log = bench.redactor.text(graded.log)
        outcome, reason = overall(checks)
    else:
        outcome = Outcome.FAILED if limit[0] else Outcome.ERRORED
        reason = bench.redactor.text(limit[1])
    trial = Trial(
        task=task.id,
        key=TrialKey(
            task_digest=task.digest, fingerprint=bench.harness.fingerprint, series=_SERIES, n=n
        ),
        outcome=outcome,
        reason=reason,
        checks=checks,
        signals=_signals(bench, task, work),
        conditions=Conditions(
            sandbox=bench.provider.name,
            agent=bench.agent.version,
            models=work.witness.served_models,
            checks={spec.type: check.version for spec, check in bench.checks[task.id]},
        ),
        evidence=evidence,
        patch=render_patch(task.workspace, work.claim),
        final_answer=work.witness.trajectory.final_answer or "",
        agent_exit=work.exit_code,
    )
    return trial, log


def _signals(bench: Bench, task: Task, work: Work) -> Signals:
    usage, trajectory = work.witness.usage, work.witness.trajectory
    models = bench.harness.config.models.values()
    prices = {model.price for model in models}
    touched = work.claim.touched
    return Signals(
        seconds=work.seconds,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        # With several prices the wire's total can not be split by model yet: unknown.
        cost_usd=cost_usd(usage, prices.pop()) if len(prices) == 1 else None,
        turns=trajectory.turns,
        tool_calls=len(trajectory.calls),
        failed_tool_calls=sum(call.ok is False for call in trajectory.calls),
        diff_lines=diff_lines(task.workspace, work.claim),
        files_touched=len(touched),
        files_outside=sum(path not in task.expected_files for path in touched),
    )


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


def _header(bench: Bench, task: Task, n: int, conditions: Conditions) -> dict[str, Json]:
    return {
        "fingerprint": bench.harness.fingerprint,
        "parts": dict(bench.harness.parts),
        "task": task.id,
        "task_digest": task.digest,
        "series": _SERIES,
        "n": n,
        "conditions": conditions.to_json(),
        **bench.provenance,
    }


def _recorded_conditions(tape: CassetteFile) -> Conditions:
    conditions: Any = tape.header["conditions"]
    return Conditions.from_json(conditions)


def _record(tape: CassetteFile, name: str) -> dict[str, Any]:
    record: Any = tape.record[name]
    return dict(record)


def _gateway(bench: Bench) -> Gateway:
    if bench.gateway is None:
        message = "a bench without a gateway can only regrade"
        raise ValueError(message)
    return bench.gateway
