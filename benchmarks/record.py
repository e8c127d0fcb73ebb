"""What recording adds to the first byte: an agent with the gateway before its model, and without.

    python -m benchmarks.record [--quick]

One agent at a time has whole conversations of 30 turns, 150 KB a request on average, with a
provider that streams prepared replies: each turn directly and through a recording gateway, in
alternating order. The time is from the first byte sent to the first byte of the reply's body.
The second row has a mark of what to cache that moves from turn to turn.

The last line is one JSON object. Exit status: 0 when every goal holds, 1 when one does not.
"""

import argparse
import statistics
import sys
from dataclasses import asdict, dataclass

from benchmarks.asking import Asker, percentile
from benchmarks.conversations import Suite
from benchmarks.goals import Goal, finish
from benchmarks.recordings import open_gateway_process, open_provider, order

ADDED_GOAL = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Times to the first byte in ms; ``added`` is the median of the differences turn by turn."""

    suite: str
    requests: int
    exact: int
    direct: float
    direct_p95: float
    recorded: float
    recorded_p95: float
    added: float
    added_p95: float
    cpu: float


def measure(name: str, suite: Suite) -> Row:
    """Have each conversation twice, turn by turn."""
    direct: list[float] = []
    recorded: list[float] = []
    exact = 0
    with open_provider(suite) as provider, open_gateway_process() as (gateway, idle):
        for conversation in suite.conversations():
            upstreams = {conversation.name: f"{provider}/gateway/{conversation.name}"}
            urls: dict[str, str] = order(gateway, "live", upstreams=upstreams)["urls"]
            straight = Asker(f"{provider}/direct/{conversation.name}")
            with straight, Asker(urls[conversation.name]) as through:
                for turn, reply in enumerate(conversation.replies):
                    body = conversation.request(turn)
                    both = [(straight, direct), (through, recorded)]
                    for asker, times in both if turn % 2 else reversed(both):
                        _, answer, first_byte = asker.ask(body)
                        times.append(first_byte)
                        exact += answer == reply
        cpu = gateway.cost().cpu - idle.cpu
    added = [slow - fast for slow, fast in zip(recorded, direct, strict=True)]
    return Row(
        suite=name,
        requests=len(direct),
        exact=exact,
        direct=statistics.median(direct),
        direct_p95=percentile(direct, 0.95),
        recorded=statistics.median(recorded),
        recorded_p95=percentile(recorded, 0.95),
        added=statistics.median(added),
        added_p95=percentile(added, 0.95),
        cpu=1000 * cpu / len(recorded),
    )


def main() -> int:
    """Print the table, the goals and the JSON line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.record")
    parser.add_argument("--quick", action="store_true", help="8 conversations instead of 24")
    quick = parser.parse_args().quick
    tasks = 8 if quick else 24
    plain, moving = Suite(tasks=tasks, trials=1), Suite(tasks=tasks, trials=1, moving=True)
    rows = [measure("plain", plain), measure("moving mark", moving)]
    print(f"{plain.requests} requests of 150 KB each way; ms to the first byte, median (p95)")
    print(f"{'suite':<14}{'direct':>16}{'recorded':>16}{'added':>16}{'gateway CPU':>13}")
    for row in rows:
        pairs = (
            (row.direct, row.direct_p95),
            (row.recorded, row.recorded_p95),
            (row.added, row.added_p95),
        )
        cells = "".join(f"{f'{median:.2f} ({p95:.1f})':>16}" for median, p95 in pairs)
        print(f"{row.suite:<14}{cells}{row.cpu:>13.2f}")
    goals = [
        Goal(
            name=f"added to the first byte, {row.suite}",
            found=row.added,
            limit=ADDED_GOAL,
            unit="ms",
        )
        for row in rows
    ]
    wrong = sum(2 * row.requests - row.exact for row in rows)
    goals.append(Goal(name="answers not exact to the byte", found=wrong, limit=0))
    return finish("record", goals, quick=quick, figures={"rows": [asdict(row) for row in rows]})


if __name__ == "__main__":
    sys.exit(main())
