"""What recordings weigh in git: a suite, an edit of one word, and fifty re-recordings.

    python -m benchmarks.cassette_size [--quick]

Everything is recorded through the gateway, from a provider that sends each event of a reply by
itself, and committed to a fresh repository.

suite: 60 cassettes of 30 turns, beside a fifth of the same traffic whole (a line of JSON for each
request and reply; with ``--quick`` it is not packed, since git needs long for that). edit: the
same traffic with one word more in the system prompt and the same times, so that the diff is that
of the word alone. re-recordings: a suite of 12 tasks, one trial each, recorded again and again:
each time the prompt has one word more, the model says other things and its folder takes the place
of the older one, as ``evalgate run --record`` does.

Both with requests as they are, and with a mark of what to cache that moves from turn to turn.
MB are millions of bytes. The last line is one JSON object. Exit status: 0 when every goal holds,
1 when one does not.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import orjson

from benchmarks.conversations import Conversation, Suite
from benchmarks.goals import Goal, finish
from benchmarks.recordings import record
from benchmarks.repository import Repository
from evalgate.gateway.cassette import dump_cassette, load_cassette

TREE_GOAL, PACK_GOAL, DIFF_GOAL, GROWTH_GOAL = 30.0, 4.0, 10_000, 40.0
TRIALS, RECORDINGS = 60, 50
WHOLE_TASKS = 4
WORDS = ("carefully", "first", "never", "briefly", "always", "once", "twice", "quietly", "then")


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """A suite in git: MB in the work tree and in the pack, seconds to add and pack it."""

    layout: str
    files: int
    tree: float
    pack: float
    seconds: float

    def __str__(self) -> str:
        """Say it as a row of the table; no pack was made where there are no seconds."""
        packed = f"{self.pack:>8.2f}{self.seconds:>14.1f}" if self.seconds else f"{'-':>8}{'-':>14}"
        return f"{self.layout:<26}{self.files:>6}{self.tree:>11.1f}{packed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Bytes of diff a trial, and changed lines, that one word more in the prompt makes."""

    suite: str
    mean: float
    most: int
    lines: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """MB in the pack after the first recording and after the last."""

    suite: str
    recordings: int
    cassettes: int
    first: float
    last: float


def weigh(layout: str, folder: Path, *, packed: bool = True) -> Weight:
    """Commit and pack what is in a folder; in the work tree only, unless ``packed``."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    pack, seconds = 0.0, 0.0
    if packed:
        repository = Repository.create(folder.with_name(f"{folder.name} in git"))
        shutil.copytree(folder, repository.folder / "cassettes")
        began = time.monotonic()
        repository.commit("recorded")
        pack = repository.pack()
        seconds = time.monotonic() - began
    tree = sum(path.stat().st_size for path in files) / 1e6
    return Weight(layout=layout, files=len(files), tree=tree, pack=pack, seconds=seconds)


def naive(conversations: Sequence[Conversation], folder: Path) -> None:
    """Write the same traffic whole: a line for each request with its reply."""
    for one in conversations:
        path = folder / f"task-{one.task}" / f"{one.trial + 1}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for turn, reply in enumerate(one.replies):
                request = orjson.loads(one.request(turn))
                entry = {"request": request, "reply": reply.decode()}
                file.write(orjson.dumps(entry, option=orjson.OPT_SORT_KEYS) + b"\n")


def still(folder: Path) -> None:
    """Give all exchanges of a folder's cassettes the same times: two recordings never have."""
    for path in sorted(folder.rglob("*.json")):
        tape = load_cassette(path.read_bytes(), name=path.name)
        exchanges = tuple(
            replace(one, began=float(number), seconds=1.0, cuts=())
            for number, one in enumerate(tape.exchanges)
        )
        path.write_bytes(dump_cassette(replace(tape, exchanges=exchanges)))


def edit(name: str, suite: Suite, before: Path, where: Path) -> Edit:
    """Record a suite with one word more, in a folder of its own as another harness has.

    ``before`` holds the cassettes of the suite, and may hold those of more tasks.
    """
    edited = replace(suite, edits=WORDS[:1])
    target = where / "cassettes" / "5f3c2a9b8e71"
    repository = Repository.create(where)
    older = where / "cassettes" / "0d1e6b7f4a92"
    for task in range(suite.tasks):
        shutil.copytree(before / f"task-{task}", older / f"task-{task}")
    still(older)
    repository.commit("recorded")
    shutil.rmtree(older)
    record(edited, list(edited.conversations()), target)
    still(target)
    repository.commit("edited")
    diffs = repository.diffs()
    sizes = [len(diff) for diff in diffs]
    lines = [sum(line[:1] in {b"+", b"-"} for line in diff.splitlines()) for diff in diffs]
    return Edit(suite=name, mean=statistics.mean(sizes), most=max(sizes), lines=max(lines))


def grow(name: str, suite: Suite, recordings: int, where: Path) -> Growth:
    """Record a suite again and again; the older folder retires each time."""
    repository = Repository.create(where)
    first = 0.0
    for sample in range(recordings + 1):
        edits = tuple(f"{WORDS[n % len(WORDS)]} ({n})" for n in range(sample))
        again = replace(suite, edits=edits, sample=sample)
        folder = where / "cassettes"
        shutil.rmtree(folder, ignore_errors=True)
        record(again, list(again.conversations()), folder / f"{sample:012x}")
        repository.commit(f"recording {sample}")
        if sample == 0:
            first = repository.pack()
    last = repository.pack()
    return Growth(
        suite=name,
        recordings=recordings,
        cassettes=suite.tasks * suite.trials,
        first=first,
        last=last,
    )


def weights(suite: Suite, folder: Path, *, whole: bool) -> Iterator[Weight]:
    """Weigh a suite in our format, with both kinds of requests, and a part of it whole."""
    for name, moving in (("cassettes", False), ("cassettes, moving mark", True)):
        kind = replace(suite, moving=moving)
        conversations = list(kind.conversations())
        record(kind, conversations, folder / name)
        yield weigh(name, folder / name)
    part = replace(suite, tasks=min(WHOLE_TASKS, suite.tasks))
    naive(list(part.conversations()), folder / "whole")
    yield weigh("whole requests", folder / "whole", packed=whole)


def goals(
    weighed: Sequence[Weight], edits: Sequence[Edit], grown: Sequence[Growth]
) -> Iterator[Goal]:
    """Hold the figures against what is promised; a part of the suite has that part of a limit."""
    for one in weighed[:2]:
        share = one.files / TRIALS
        yield Goal(
            name=f"work tree, {one.layout}", found=one.tree, limit=TREE_GOAL * share, unit="MB"
        )
        yield Goal(name=f"pack, {one.layout}", found=one.pack, limit=PACK_GOAL * share, unit="MB")
    for edited in edits:
        name = f"diff of a word, largest trial, {edited.suite}"
        yield Goal(name=name, found=edited.most, limit=DIFF_GOAL, unit="bytes")
    for one_growth in grown:
        yield Goal(
            name=f"growth of the pack by {one_growth.recordings} recordings, {one_growth.suite}",
            found=one_growth.last - one_growth.first,
            limit=GROWTH_GOAL * one_growth.recordings / RECORDINGS,
            unit="MB",
        )


def main() -> int:
    """Print the tables, the goals and the JSON line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cassette_size")
    parser.add_argument("--quick", action="store_true", help="a fifth of it, under 45 s")
    quick = parser.parse_args().quick
    suite = Suite(tasks=4 if quick else 20, paced=True)
    small = Suite(tasks=2 if quick else 12, trials=1, paced=True)
    recordings = 2 if quick else RECORDINGS

    with tempfile.TemporaryDirectory(prefix="evalgate-size-") as name:
        folder = Path(name)
        print(f"{suite.tasks * suite.trials} trials of {suite.turns} turns, in MB")
        print(f"{'layout':<26}{'files':>6}{'work tree':>11}{'pack':>8}{'add and gc s':>14}")
        weighed = []
        for one in weights(suite, folder, whole=not quick):
            print(one, flush=True)
            weighed.append(one)
        edits = []
        for kind, moving in (("plain", False), ("moving mark", True)):
            before = folder / ("cassettes, moving mark" if moving else "cassettes")
            part = replace(suite, tasks=1 if quick else suite.tasks, moving=moving)
            edited = edit(kind, part, before, folder / f"edit {kind}")
            print(
                f"one word more, {kind}: {edited.mean / 1000:.1f} KB of diff a trial, "
                f"{edited.most / 1000:.1f} KB at most, {edited.lines:.0f} changed lines",
                flush=True,
            )
            edits.append(edited)
        kinds = (("moving mark", True),)
        grown = []
        for kind, moving in kinds:
            growth = grow(kind, replace(small, moving=moving), recordings, folder / f"grow {kind}")
            print(
                f"{growth.recordings} re-recordings of {growth.cassettes} trials, {kind}: "
                f"pack {growth.first:.2f} -> {growth.last:.2f} MB",
                flush=True,
            )
            grown.append(growth)
    figures = {
        "weights": [asdict(one) for one in weighed],
        "edits": [asdict(one) for one in edits],
        "growth": [asdict(one) for one in grown],
    }
    checked = list(goals(weighed, edits, grown))
    return finish("cassette_size", checked, quick=quick, figures=figures)


if __name__ == "__main__":
    sys.exit(main())
