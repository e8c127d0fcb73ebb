"""The page of one trial, read from the files of its run and from its recording."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evalgate.commands.cassettes.exchanges import every_exchange
from evalgate.core.identity import storage_key
from evalgate.core.json import JsonObject
from evalgate.core.shallow import shallow
from evalgate.core.short_name import short_of
from evalgate.core.trajectory import Trajectory
from evalgate.core.trial import Trial
from evalgate.errors import UsageError
from evalgate.gateway.cassette import CassetteFile, load_cassette
from evalgate.gateway.witness.witness import witness_of
from evalgate.report.trial_page import TrialPage
from evalgate.runner.artifacts import cassette_path
from evalgate.store.atif_reading import load_atif
from evalgate.store.lines import objects_in
from evalgate.store.runs import RunFolder


def read_page(run: RunFolder, trial: Trial, shelf: Path | None, *, wire: bool = True) -> TrialPage:
    """Return all that is kept of a trial; what can not be read is named, and left out.

    ``shelf`` is the folder of the project's recordings: a replay has its trial's there alone.
    """
    tape, lacking = _tape(run, trial, shelf)
    page = TrialPage(
        wire=_wire(tape) if tape is not None and wire else (),
        lacking=lacking,
    )
    if not trial.artifacts:  # a regrade works from the recording
        trajectory = Trajectory() if tape is None else witness_of(tape.exchanges).trajectory
        return replace(page, trajectory=trajectory)
    folder = run.artifacts / trial.artifacts
    try:
        text = _text(folder / "trajectory.json")
        page = replace(page, trajectory=load_atif(text, name=str(folder / "trajectory.json")))
    except UsageError as error:
        page = replace(page, lacking=(*page.lacking, error.message))
    return replace(
        page,
        log=_text(folder / "log.txt"),
        grading=_text(folder / "grade.txt"),
        divergence=_text(folder / "divergence.txt"),
        sandbox_calls=tuple(objects_in(_data(folder / "tools.jsonl"))),
    )


def _tape(
    run: RunFolder, trial: Trial, shelf: Path | None
) -> tuple[CassetteFile | None, tuple[str, ...]]:
    places = [cassette_path(run, trial.task, trial.key.n)]
    if shelf is not None:
        folder = shelf / short_of(trial.key.fingerprint) / storage_key(trial.task)
        places.append(folder / f"{trial.key.n}.json")
    for place in places:
        if not place.is_file():
            continue
        try:
            tape = load_cassette(place.read_bytes(), name=str(place))
        except UsageError as error:
            return None, (error.message,)
        if tape.digest == trial.cassette:
            return tape, ()
    if not trial.cassette:
        return None, ("nothing was recorded of this trial",)
    return None, ("its recording is not here any more",)


def _wire(tape: CassetteFile) -> tuple[JsonObject, ...]:
    return tuple(
        {name: shallow(value) for name, value in one.items()}
        for one in every_exchange(tape.exchanges)
    )


def _text(path: Path) -> str:
    return _data(path).decode("utf-8", "replace")


def _data(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
