"""`evalgate gate`: base against head, by the evidence there is, to one decision."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from evalgate.commands.baselines.ancestry import at_base_prices, find_baseline
from evalgate.commands.console import Console
from evalgate.commands.gating.evidence import gathering
from evalgate.commands.gating.forks import for_maintainer, needs_maintainer
from evalgate.commands.gating.next_steps import ADOPT, measure_base, next_steps
from evalgate.commands.gating.promotion import promote
from evalgate.commands.gating.tampering import look
from evalgate.commands.gating.weighing import Weighing
from evalgate.commands.gating.what_changed import hypothesis, what_changed
from evalgate.commands.policy_tasks import require_policy_tasks, unknown_must_pass
from evalgate.commands.project import Project, State, looked_at, open_state, subject_of
from evalgate.commands.waive import today
from evalgate.core.decision import Decision
from evalgate.core.json import Json
from evalgate.core.policy import Policy
from evalgate.core.task import suite_digest
from evalgate.core.verdict import Verdict
from evalgate.disk import write_whole
from evalgate.errors import ExitCode, NoConfigurationError, UsageError
from evalgate.repo.base import Pair, resolve_pair
from evalgate.repo.fingerprint import diff_parts
from evalgate.repo.git import DEEPER
from evalgate.repo.subject import Subject
from evalgate.report.verdict import Story, render_verdict
from evalgate.store.runs import RunStore
from evalgate.store.verdicts import VERDICT


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """What the command line says about a gate.

    With ``once``, which is the hook's, what was reproduced here before is not graded again.
    """

    base: str | None = None
    head: str | None = None
    live: bool = False
    strict: bool = False
    spot_check: bool = False
    max_usd: float | None = None
    workers: int | None = None
    advisory: bool = False
    fork_neutral: bool = False
    promote: bool = False
    out: Path | None = None
    hypothesis: str = ""
    once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    """A verdict with its story, and its page as long as a comment may be.

    ``template`` is the project's own one, so that a page of another length can be rendered.
    """

    verdict: Verdict
    story: Story
    page: str
    template: str | None = None


def gate(
    project: Project, options: GateOptions, console: Console, *, pair: Pair | None = None
) -> tuple[ExitCode, Gated]:
    """Judge a change; write ``verdict.json`` and ``verdict.md`` and return the exit code.

    Without a ``pair`` it is found by the options, the GitHub event, or the work tree.
    """
    out = options.out or project.state
    for place in {out, project.state}:
        for name in (VERDICT, "verdict.md"):  # whatever happens, no old verdict stays
            (place / name).unlink(missing_ok=True)
    if pair is None:
        head = None if options.head is None else subject_of(options.head)
        pair = resolve_pair(
            project.git,
            base=options.base,
            head=head,
            environ=os.environ,
            look=partial(looked_at, project),
        )
    console.note(f"gate: {pair.how}")
    with ExitStack() as stack:
        state = stack.enter_context(open_state(project, pair.head))
        base = _base_state(project, pair, stack)
        verdict, story = for_maintainer(*_judged(state, base, pair, options, console), pair)
        changed = () if base is None else what_changed(base, state)
        meant = options.hypothesis
        if base is not None and changed and not meant:
            meant = hypothesis(base, state)
        context: dict[str, Json] = {
            **_context(state, base, pair),
            "parts": [part.to_json() for part in changed],
            "hypothesis": meant,
            **verdict.context,
        }
        story = replace(story, parts=tuple(part.told for part in changed), hypothesis=meant)
        verdict = replace(verdict, strict=options.strict, context=context)
        failed = ""
        if options.promote:
            promotion = promote(project, verdict, story, console)
            verdict, story, failed = promotion.verdict, promotion.story, promotion.failed
        verdict = replace(verdict, context={**verdict.context, "notes": [*story.notes]})
        template = _template(base)
        page = render_verdict(verdict, story, template=template)
    gated = Gated(verdict=verdict, story=story, page=page, template=template)
    _write(out, gated, project)
    code = verdict.exit_code
    if failed:
        console.warn(f"not promoted: {failed}")
        code = ExitCode.USAGE
    if options.advisory and code is not ExitCode.OK:
        console.note(f"advisory: exit code {int(code)} is kept in verdict.json")
        code = ExitCode.OK
    if options.fork_neutral and code is not ExitCode.OK and needs_maintainer(verdict, pair):
        console.note(f"a fork's unmeasured change: exit code {int(code)} is kept in verdict.json")
        code = ExitCode.OK
    return code, gated


def _base_state(project: Project, pair: Pair, stack: ExitStack) -> State | None:
    if pair.base is None:
        return None
    try:
        return stack.enter_context(open_state(project, Subject.parse(pair.base)))
    except NoConfigurationError:  # evalgate is adopted in this change
        return None


def _judged(
    state: State, base: State | None, pair: Pair, options: GateOptions, console: Console
) -> tuple[Verdict, Story]:
    policy = (base or state).config.policy
    story = Story(
        head=_name(state),
        base="none" if base is None else _name(base),
        how=pair.how,
        away=os.environ.get("GITHUB_ACTIONS") == "true",
    )
    plain = partial(_plain, policy=policy)
    require_policy_tasks(state)
    if base is None:
        sentence = "There is no base to compare with: nothing is judged at first adoption."
        return plain(Decision.NO_BASELINE, sentence), replace(story, next_steps=ADOPT)
    looked = look(base, state, pair)
    ids = {task.id for task in base.tasks}
    unknown = (pair.note,) if pair.note else ()
    kept = [one.sentence(today=today(), tasks=ids) for one in policy.quarantine]
    story = replace(story, notes=(*looked.notes, *unknown, *unknown_must_pass(base), *kept))
    if looked.voiding:
        sentence = f"The numbers can not be believed: {looked.voiding[0]}."
        story = replace(story, next_steps=looked.remedy)
        return plain(Decision.VOID, sentence, reasons=looked.voiding), story
    if state.fingerprint.digest == base.fingerprint.digest:
        sentence = "The harness did not change: there is nothing to judge."
        return plain(Decision.NOTHING_TO_JUDGE, sentence), story
    if not base.tasks:
        sentence = "Nothing can run: the base's suite, which judges, holds no task."
        return plain(Decision.NOTHING_RAN, sentence), story
    found = find_baseline(base)
    line = "baseline: none" if found is None else found.line
    match: dict[str, Json] = {"match": "none"} if found is None else found.to_json()
    plain = partial(plain, baseline=match)
    story = replace(story, decided=(line,))
    if found is None:
        sentence = "The base has no baseline: nobody measured its harness."
        story = replace(story, next_steps=measure_base(pair.base or "HEAD"))
        cut = f"older harnesses were not looked at: {DEEPER}"
        reasons = (cut,) if state.project.git.is_shallow() else ()
        return plain(Decision.NO_BASELINE, sentence, reasons=reasons), story
    odd = () if found.changes else base.config.unplanned(found.sample.conditions.models)
    if odd:
        sentence = f"The base's baseline is scripted ({', '.join(odd)}); its harness asks a model."
        story = replace(story, next_steps=measure_base(pair.base or "HEAD"))
        return plain(Decision.NO_BASELINE, sentence), story
    found = at_base_prices(found, base)
    it = gathering(
        state,
        base,
        console,
        workers=options.workers,
        max_usd=options.max_usd,
        once=options.once,
    )
    verdict, story = Weighing(
        it=it,
        found=found,
        story=story,
        plain=plain,
        live=options.live,
        spot_check=options.spot_check,
        fork=pair.fork,
        foreign=looked.foreign,
        steps=next_steps(base, state, pair.head.kind, away=story.away),
    ).weigh()
    return replace(verdict, context={**verdict.context, "baseline": match}), story


def _plain(
    decision: Decision,
    sentence: str,
    *,
    policy: Policy,
    reasons: tuple[str, ...] = (),
    baseline: Json = None,
) -> Verdict:
    return Verdict(
        decision=decision,
        sentence=sentence,
        policy=policy,
        reasons=reasons,
        context={"baseline": baseline},
    )


def _context(state: State, base: State | None, pair: Pair) -> dict[str, Json]:
    return {
        "how": pair.how,
        "fork": pair.fork,
        "head": {
            "label": state.view.label,
            "commit": state.view.commit,
            "fingerprint": state.fingerprint.digest,
            "parts": dict(state.fingerprint.parts),
        },
        "base": None
        if base is None
        else {
            "label": base.view.label,
            "commit": base.view.commit,
            "fingerprint": base.fingerprint.digest,
            "suite": suite_digest(base.tasks),
        },
        "parts_changed": [] if base is None else [*diff_parts(base.fingerprint, state.fingerprint)],
        "quarantine": [
            one.to_json(today=today()) for one in (base or state).config.policy.quarantine
        ],
    }


def _name(state: State) -> str:
    commit = (state.view.commit or "")[:12]
    label = state.view.label
    named = label if commit in {"", label} else f"{label} {commit}"
    return f"{named}, harness {state.fingerprint.digest[:16]}"


def _template(base: State | None) -> str | None:
    # Read from the base, so that a change does not write its own verdict.
    name = "" if base is None else base.config.template
    if base is None or not name:
        return None
    text = base.view.read_text(base.project.within(name))
    if text is None:
        message = f"{base.config.source}: report.template: {name} does not exist"
        raise UsageError(message, hint="commit the template, or leave the key out")
    return text


def _write(out: Path, gated: Gated, project: Project) -> None:
    """Write both files where it was asked for, and where the newest verdict is looked for."""
    RunStore(project.state).prepare()
    value = json.dumps(gated.verdict.to_json(), indent=1, sort_keys=True, ensure_ascii=False)
    for place in {out, project.state}:
        write_whole(place / VERDICT, value.encode("utf-8", "replace") + b"\n")
        write_whole(place / "verdict.md", gated.page.encode("utf-8", "replace"))
