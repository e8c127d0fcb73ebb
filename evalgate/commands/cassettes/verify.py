"""`evalgate cassette verify`: is every recording whole, in its place, and of today's tasks?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evalgate.commands.answer import Answer
from evalgate.commands.cassettes.retention import recordings_aside
from evalgate.commands.project import Project, State, open_state, subject_of
from evalgate.commands.recordings import copied_among, mixture, place_of
from evalgate.commands.shelved import Shelved, shelved
from evalgate.core.claim import Claim
from evalgate.core.decision import worst
from evalgate.core.exchange import Ending, Exchange, is_error
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.core.short_name import short_of
from evalgate.errors import ExitCode, NothingRanError, UsageError
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.format.cassette_format import in_conflict, one_recording, one_side
from evalgate.gateway.keys.matching import FORMAT
from evalgate.gateway.witness.witness import read_reply
from evalgate.runner.recorded import RecordedTrial


@dataclass(slots=True)
class _Findings:
    """What is wrong (exit 6), what is out of date (exit 7), and what is merely worth a line."""

    wrong: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    wrong_files: set[str] = field(default_factory=set)
    stale_files: set[str] = field(default_factory=set)
    merging: Counter[str] = field(default_factory=Counter)
    proven: int = 0
    unproven: int = 0

    def blame(self, file: Shelved, said: str) -> None:
        """Note what is wrong with a file."""
        self.wrong.append(said)
        self.wrong_files.add(file.name)

    def outdate(self, file: Shelved, said: str) -> None:
        """Note why a file is out of date."""
        self.stale.append(said)
        self.stale_files.add(file.name)


def verify_cassettes(project: Project, rev: str | None) -> Answer:
    """Check all recordings of a state.

    Exit 6 when one is damaged, lies where it does not belong, is a copy of another, can not be
    read by its dialect, or is not what a baseline says it is; exit 7 when one is of a task that is
    no longer like that; NothingRanError when there is none.
    """
    found = _Findings()
    with open_state(project, subject_of(rev)) as state:
        files = shelved(state)
        if not files:
            message = f"there is no recording in {state.shelf.name}"
            raise NothingRanError(message, hint="record one: evalgate run --record")
        trials = _trials(files, state, found)
        _baselines(state, trials, found)
    codes = [*[ExitCode.VOID] * bool(found.wrong), *[ExitCode.DIVERGED] * bool(found.stale)]
    code = worst(codes)
    bad, old = len(found.wrong_files), len(found.stale_files - found.wrong_files)
    value: dict[str, Json] = {
        "files": len(files),
        "whole": len(trials),
        "good": len(files) - bad - old,
        "wrong": [*found.wrong],
        "stale": [*found.stale],
        "notes": [*found.notes],
        "baseline_rows": {"proven": found.proven, "unproven": found.unproven},
        "exit_code": int(code),
    }
    lines = [
        *(f"wrong: {said}" for said in found.wrong),
        *(f"stale: {said}" for said in found.stale),
        *(f"note: {said}" for said in found.notes),
        f"{counted(len(files), 'recording')}: {len(files) - bad - old} good, {bad} wrong, "
        f"{old} stale; "
        f"{found.proven + found.unproven} numbers of baselines: {found.proven} proven by them, "
        f"{found.unproven} not",
    ]
    return Answer(text="\n".join(lines), value=value, code=code)


def _trials(files: Sequence[Shelved], state: State, found: _Findings) -> list[RecordedTrial]:
    tasks = {task.id: task.digest for task in state.tasks}
    rules = state.config.cassettes.rules
    trials, other_rules, other_keys = [], 0, 0
    sets: defaultdict[str, list[tuple[Shelved, RecordedTrial]]] = defaultdict(list)
    for one in files:
        trial = _loaded(one, found)
        if trial is None:
            continue
        trials.append(trial)
        sets[one.name.rsplit("/", 2)[0]].append((one, trial))
        for said in _problems(one, trial):
            found.blame(one, f"{one.name}: {said}")
        if trial.task not in tasks:
            found.outdate(one, f"{one.name}: there is no task {trial.task}")
        elif tasks[trial.task] != trial.task_digest:
            found.outdate(one, f"{one.name}: of another version of the task {trial.task}")
        other_rules += trial.tape.header.rules != rules
        other_keys += trial.tape.header.keys != FORMAT
    if other_rules:
        found.notes.append(f"{other_rules} recorded under other scrub rules: scrubbed again")
    if other_keys:
        found.notes.append(f"{other_keys} recorded with older keys: keyed anew")
    found.wrong += [
        f"{folder}: the conflict markers of a merge are in {counted(count, 'recording')}; "
        f"{one_side(folder)}"
        for folder, count in found.merging.items()
    ]
    for folder, members in sets.items():
        _together(folder, members, found)
    return trials


def _together(
    folder: str, members: Sequence[tuple[Shelved, RecordedTrial]], found: _Findings
) -> None:
    """Look at the recordings of one harness beside each other."""
    if mixed := mixture(trial.tape.header for _, trial in members):
        # All of them: nobody can tell which ones are at home.
        found.wrong_files.update(one.name for one, _ in members)
        found.wrong.append(f"{folder} is {mixed}; {one_recording(folder)}")
    files_of = {id(trial): one for one, trial in members}
    for copy, first in copied_among(trial for _, trial in members):
        one = files_of[id(copy)]
        found.blame(one, f"{one.name}: is a copy of {first.task} #{first.n}")


def _loaded(one: Shelved, found: _Findings) -> RecordedTrial | None:
    if not one.short:
        found.blame(one, f"{one.name}: no recording belongs there")
    elif in_conflict(one.data):
        # Told once for the folder: half of a set is no set.
        found.wrong_files.add(one.name)
        found.merging[one.name.rsplit("/", 2)[0]] += 1
    else:
        try:
            return one.load()
        except UsageError as error:
            found.blame(one, error.message)
    return None


def _problems(one: Shelved, trial: RecordedTrial) -> Iterator[str]:
    if one.path != place_of(trial):
        yield f"is the recording of {trial.task} #{trial.n} of {short_of(trial.fingerprint)}"
    if not trial.evidence.counts:
        yield f"is {trial.evidence}, which proves nothing"
    if Claim.from_json(trial.claim.to_json()) != trial.claim:
        yield "its claim does not read as it is written"
    if trial.claim.to_json() != _plain(trial.tape.claim):
        yield "its claim is not written as claims are"
    for number, exchange in enumerate(trial.tape.exchanges):
        said = _unread(exchange)
        if said:
            yield f"exchange {number}: {said}"


def _plain(claim: Mapping[str, Json]) -> dict[str, Json]:
    return dict(claim)


def _unread(exchange: Exchange) -> str:
    dialect = DIALECTS.get(exchange.dialect)
    if dialect is None:
        return f"there is no dialect {exchange.dialect}"
    whole = exchange.ending is Ending.COMPLETE and exchange.status and not is_error(exchange.status)
    if not whole or not dialect.is_turn(exchange.path):
        return ""
    reply = read_reply(exchange)
    return "" if reply.finished or reply.error else f"{exchange.dialect} can not read its reply"


def _baselines(state: State, trials: Sequence[RecordedTrial], found: _Findings) -> None:
    """Look for the recording that each number of a baseline names.

    Only of harnesses whose recordings are here: a baseline outlives its recordings.
    """
    digests = {one.tape.digest for one in trials}
    places = {(one.fingerprint, one.task, one.n): one for one in trials}
    here = {one.fingerprint for one in trials}
    for baseline in state.baselines():
        print_ = baseline.sample.fingerprint
        if print_ not in here:
            continue
        name = f"baselines/{baseline.filename}"
        aside_in = recordings_aside(state.project, print_)
        elsewhere: Counter[str] = Counter()
        for task in baseline.sample.tasks.values():
            for row in (row for row in task.rows if row.cassette):
                there = places.get((print_, task.task, row.n))
                if row.cassette in digests:
                    found.proven += 1
                elif there and there.recording <= baseline.provenance.recordings:
                    found.wrong.append(f"{name}: {task.task} #{row.n} is not what it names")
                else:
                    ref = aside_in.get(row.cassette)
                    aside = "not on the shelf" if there is None else "recorded anew since"
                    elsewhere[f"its proof is kept in {ref}" if ref else aside] += 1
        found.unproven += elsewhere.total()
        found.notes += [
            f"{name}: {counted(count, 'number')}: {why}" for why, count in elsewhere.items()
        ]
