"""`evalgate baseline list|show|verify`: the committed numbers, told and recomputed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evalgate.commands.baselines.proof import Objection, contradicted, proven, replaced, unledgered
from evalgate.commands.project import Project, open_state, subject_of
from evalgate.commands.recordings import find_recordings
from evalgate.commands.tables import rate, render_rows, render_sample
from evalgate.core.baseline import Baseline, current, pool, superseded
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.core.sample import Sample
from evalgate.core.short_name import short_of
from evalgate.errors import ExitCode, UsageError
from evalgate.store.baselines import FOLDER, sift_baselines


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputed:
    """A baseline whose digest is that of its content: ``proven`` of its trials are recorded here.

    ``others`` are its trials in whose place another recording lies; ``place`` says which other
    baseline took its place, empty where none did.
    """

    baseline: Baseline
    proven: int
    others: tuple[str, ...]
    place: str

    @property
    def text(self) -> str:
        """One line."""
        trials = counted(len(self.baseline.sample.rows), "trial")
        others = f"; another recording lies in the place of {', '.join(self.others)}"
        return (
            f"{self.baseline.filename}: digest recomputed; {self.proven} of {trials} have their "
            f"recording here{(self.others and others) or ''}{self.place and f'; {self.place}'}"
        )

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "file": self.baseline.filename,
            "fingerprint": self.baseline.sample.fingerprint,
            "digest": self.baseline.digest,
            "trials": len(self.baseline.sample.rows),
            "proven": self.proven,
            "others": list(self.others),
            "place": self.place,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What was found of each baseline; ``problems`` are those that can not be as they are."""

    recomputed: tuple[Recomputed, ...]
    problems: tuple[Objection, ...]

    @property
    def exit_code(self) -> ExitCode:
        """Void when a baseline is not what it says."""
        return ExitCode.VOID if self.problems else ExitCode.OK

    @property
    def text(self) -> str:
        """One line a baseline, and what is wrong."""
        lines = [one.text for one in self.recomputed] + [one.text for one in self.problems]
        return "\n".join(lines) or _NONE

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "baselines": [one.to_json() for one in self.recomputed],
            "problems": [one.to_json() for one in self.problems],
        }


_NONE = "there is no baseline yet: evalgate baseline accept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """The committed baselines of a state."""

    baselines: tuple[Baseline, ...]

    @property
    def text(self) -> str:
        """One line a baseline."""
        rows = [
            (
                one.filename,
                rate(one.sample),
                counted(len(one.sample.tasks), "task"),
                _models(one),
                said_of_place(one, self.baselines),
            )
            for one in self.baselines
        ]
        return render_rows(rows) if rows else _NONE

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        newer = superseded(self.baselines)
        return {
            "baselines": [
                {
                    "file": one.filename,
                    "fingerprint": one.sample.fingerprint,
                    "evidence": str(one.sample.evidence),
                    "date": one.provenance.date,
                    "tasks": len(one.sample.tasks),
                    "passed": one.sample.passed,
                    "measured": one.sample.measured,
                    "errored": one.sample.errored,
                    "models": list(one.sample.conditions.models),
                    **(
                        {"superseded_by": newer[one.digest].filename} if one.digest in newer else {}
                    ),
                }
                for one in self.baselines
            ]
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The baselines of one harness; ``sample`` is what they are taken together."""

    baselines: tuple[Baseline, ...]
    sample: Sample

    @property
    def text(self) -> str:
        """Whose they are, who made them, and how each task stands."""
        kept = current(self.baselines)
        head = f"harness {short_of(self.sample.fingerprint)}, {counted(len(kept), 'file')}"
        if len(kept) < len(self.baselines):
            head += f" ({len(self.baselines) - len(kept)} superseded left out)"
        made = ", ".join(
            f"{one.provenance.date} by evalgate {one.provenance.evalgate}" for one in kept
        )
        return f"{head}, made {made}\n\n{render_sample(self.sample)}"

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form: each file as it is written, with its name."""
        return {"baselines": [{"file": one.filename, **one.to_json()} for one in self.baselines]}


def list_baselines(project: Project, *, rev: str | None = None) -> Listed:
    """Return the committed baselines."""
    with open_state(project, subject_of(rev)) as state:
        return Listed(baselines=tuple(state.baselines()))


def said_of_place(one: Baseline, every: Iterable[Baseline]) -> str:
    """Say which of all baselines took the place of one; empty where none did."""
    newer = superseded(every).get(one.digest)
    return "" if newer is None else f"superseded by {newer.filename}"


def show_baseline(project: Project, name: str, *, rev: str | None = None) -> Shown:
    """Return the trials of one baseline, or of all of one harness taken together.

    ``name`` is how the file's name begins, or that of the harness.

    Raises:
        UsageError: there is none, or more than one harness.
    """
    if not name.strip():
        raise UsageError("the name is empty", hint="evalgate baseline list shows them")
    with open_state(project, subject_of(rev)) as state:
        found = [one for one in state.baselines() if one.filename.startswith(name)]
    harnesses = sorted({one.sample.fingerprint for one in found})
    if len(harnesses) != 1:
        message = f"{name!r} names {len(harnesses)} harnesses with a baseline"
        raise UsageError(message, hint="evalgate baseline list shows them")
    sample = pool(found)
    if sample is None:
        raise UsageError(f"{name!r} names no baseline", hint="evalgate baseline list shows them")
    return Shown(baselines=tuple(found), sample=sample)


def verify_baselines(project: Project, *, rev: str | None = None) -> Verified:
    """Recompute each baseline's digest, and look for its ledger entry and its recordings.

    A file that is cut, newer than this evalgate, or edited by hand is a problem like others.

    Raises:
        UsageError: a recording or an entry of the ledger can not be read.
    """
    recomputed: list[Recomputed] = []
    with open_state(project, subject_of(rev)) as state:
        files = state.view.read_prefix(state.project.within(FOLDER))
        every, wrong = sift_baselines(files)
        problems = [
            Objection(file=name, what="file", said=error.message.removeprefix(f"{name}: "))
            for name, error in wrong.items()
        ]
        for one in every:
            recorded = find_recordings(state, one.sample.fingerprint)
            place = said_of_place(one, every)
            recomputed.append(
                Recomputed(
                    baseline=one,
                    proven=proven(one, recorded),
                    others=replaced(one, recorded),
                    place=place,
                )
            )
            problems += contradicted(one, recorded)
        problems += unledgered(state, every)
    return Verified(recomputed=tuple(recomputed), problems=tuple(problems))


def _models(one: Baseline) -> str:
    return ", ".join(one.sample.conditions.models)
