"""What a replay costs: the gateway beside the least possible, aimock and mitmdump.

    python -m benchmarks.replay [--quick]

60 trials of 30 turns, 150 KB a request on average, are recorded through the gateway from a
provider that streams. Then each engine, in a process of its own, answers the same 1,800 requests
of four agents at a time, part by part in turn with the others. CPU time is what the kernel counts
for the engine's process while it serves; loading is told apart. "floor" reads, parses, writes
canonically and hashes each request and does nothing else. The second row of the gateway's has a
mark of what to cache that moves from turn to turn, as Claude Code sends it.

aimock matches by words and turn and makes streams of its own, so its answers are counted and not
compared; mitmdump replays a flow file that it recorded from the same provider. Both are installed
as `benchmarks.peers` says. The last line is one JSON object. Exit status: 0 when every goal
holds, 1 when one does not, 2 when a peer is missing.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.asking import Heard, ask_all, percentile
from benchmarks.conversations import Conversation, Suite
from benchmarks.goals import Goal, MissingError, finish, refuse
from benchmarks.peers import find_aimock, find_mitmdump, open_aimock, open_mitmdump
from benchmarks.processes import Cost, Server, open_module
from benchmarks.recordings import open_gateway_process, open_provider, order, record

CPU_GOAL, CPU_AIM, MEMORY_GOAL = 2.0, 1.2, 250.0
AIMOCK_GOAL, MITMDUMP_GOAL = 3.0, 5.0
REPLY_BYTES = 5000
#: The engines are asked in so many turns.
_TURNS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one engine did: CPU and times in ms a request, memory in MB.

    ``good`` counts answers of status 200, ``exact`` those equal to the recorded byte for byte.
    ``memory`` is resident after serving, ``above_idle`` the most there ever was beyond idle.
    """

    engine: str
    requests: int
    good: int
    exact: int
    cpu: float
    per_second: float
    median: float
    p95: float
    load: float
    memory: float
    above_idle: float


@dataclass(slots=True, kw_only=True)
class Contestant:
    """An engine that runs, what it is asked, and what it took so far.

    ``load`` is the CPU it took before it was asked anything, in seconds; ``idle`` what it cost
    before it had loaded anything, where that is known.
    """

    engine: str
    server: Server
    conversations: Sequence[Conversation]
    url: Callable[[Conversation], str]
    load: float = 0.0
    idle: Cost | None = None
    heard: Heard = field(default_factory=Heard)
    cpu: float = 0.0

    def answer(self, turn: int) -> None:
        """Be asked a part of the conversations; parts of all contestants take turns."""
        before = self.server.cost()
        heard = ask_all(self.conversations[turn::_TURNS], self.url)
        self.cpu += self.server.cost().cpu - before.cpu
        self.heard.add(heard)
        self.heard.wall += heard.wall

    def row(self) -> Row:
        """Return what it did in all."""
        heard, cost = self.heard, self.server.cost()
        return Row(
            engine=self.engine,
            requests=heard.answers,
            good=heard.good,
            exact=heard.exact,
            cpu=1000 * self.cpu / heard.answers,
            per_second=heard.answers / heard.wall,
            median=heard.median,
            p95=percentile(heard.first_byte, 0.95),
            load=self.load,
            memory=cost.memory,
            above_idle=cost.peak - self.idle.memory if self.idle else 0.0,
        )


def floor(conversations: Sequence[Conversation], stack: ExitStack) -> Contestant:
    """Open the least possible."""
    server = stack.enter_context(open_module("floor_process", str(REPLY_BYTES)))
    url = f"http://127.0.0.1:{server.hear()}"
    return Contestant(
        engine="floor",
        server=server,
        conversations=conversations,
        url=lambda _: url,
        load=server.cost().cpu,
    )


def gateway(engine: str, suite: Suite, folder: Path, stack: ExitStack) -> Contestant:
    """Record a suite through the gateway, and open a replay of it."""
    conversations = list(suite.conversations())
    recorded = record(suite, conversations, folder)
    heard = recorded.heard
    print(
        f"{engine}: recorded {heard.exact} of {heard.answers} exactly, gateway CPU "
        f"{1000 * recorded.cpu / heard.answers:.2f} ms a request, writing "
        f"{1000 * recorded.sealing / len(conversations):.0f} ms a cassette"
    )
    server, idle = stack.enter_context(open_gateway_process())
    files = {name: str(path) for name, path in recorded.files.items()}
    opened = order(server, "replay", files=files)
    urls: dict[str, str] = opened["urls"]
    return Contestant(
        engine=engine,
        server=server,
        conversations=conversations,
        url=lambda one: urls[one.name],
        load=opened["cpu"],
        idle=idle,
    )


def aimock(
    command: Sequence[str], conversations: Sequence[Conversation], folder: Path, stack: ExitStack
) -> Contestant:
    """Open aimock."""
    server, url = stack.enter_context(open_aimock(command, conversations, folder))
    return Contestant(
        engine="aimock",
        server=server,
        conversations=conversations,
        url=lambda _: url,
        load=server.cost().cpu,
    )


def mitmdump(
    command: Sequence[str],
    suite: Suite,
    conversations: Sequence[Conversation],
    folder: Path,
    stack: ExitStack,
) -> Contestant:
    """Open mitmdump, on flows that it records first."""
    flows = folder / "flows"

    def path(one: Conversation) -> str:
        return f"mitmdump/{one.name}"

    with (
        open_provider(suite) as provider,
        open_mitmdump(command, provider, flows, replay=False) as (_, recording),
    ):
        ask_all(conversations, lambda one: f"{recording}/{path(one)}")
    server, url = stack.enter_context(open_mitmdump(command, provider, flows, replay=True))
    return Contestant(
        engine="mitmdump server-replay",
        server=server,
        conversations=conversations,
        url=lambda one: f"{url}/{path(one)}",
        load=server.cost().cpu,
    )


def measure(suite: Suite, folder: Path, commands: Sequence[Sequence[str]]) -> list[Row]:
    """Measure all engines in turns: a machine that slows down slows all of them."""
    plain = list(suite.conversations())
    moving = Suite(tasks=suite.tasks, moving=True)
    with ExitStack() as stack:
        contestants = [
            floor(plain, stack),
            gateway("evalgate", suite, folder / "plain", stack),
            gateway("evalgate, moving mark", moving, folder / "m", stack),
            aimock(commands[0], plain, folder, stack),
            mitmdump(commands[1], suite, plain, folder, stack),
        ]
        for turn in range(_TURNS):
            for one in contestants:
                one.answer(turn)
        return [one.row() for one in contestants]


def goals(rows: Sequence[Row], cassettes: int) -> list[Goal]:
    """Hold the figures against what is promised."""
    by_name = {one.engine: one for one in rows}
    ours = [one for one in rows if one.engine.startswith("evalgate")]
    plain, peers = by_name["evalgate"], by_name
    missed = sum(one.requests - one.exact for one in ours)
    checked = [Goal(name="answers not exact to the byte", found=missed, limit=0)]
    for one in ours:
        checked += [
            Goal(name=f"CPU a request, {one.engine}", found=one.cpu, limit=CPU_GOAL, unit="ms"),
            Goal(
                name=f"peak memory above idle, {one.engine}, {cassettes} cassettes",
                found=one.above_idle,
                limit=MEMORY_GOAL,
                unit="MB",
            ),
        ]
    for name, limit in (("aimock", AIMOCK_GOAL), ("mitmdump server-replay", MITMDUMP_GOAL)):
        peer = peers[name]
        checked.append(
            Goal(
                name=f"CPU of {name} over ours",
                found=peer.cpu / plain.cpu,
                limit=limit,
                unit="times",
                at_least=True,
            )
        )
    unanswered = sum(peers[name].requests - peers[name].good for name in ("aimock", "floor"))
    unanswered += peers["mitmdump server-replay"].requests - peers["mitmdump server-replay"].exact
    checked.append(Goal(name="answers the peers failed to give", found=unanswered, limit=0))
    return checked


def main() -> int:
    """Print the table, the goals and the JSON line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay")
    parser.add_argument("--quick", action="store_true", help="12 trials instead of 60, under 45 s")
    quick = parser.parse_args().quick
    suite = Suite(tasks=4 if quick else 20)
    try:
        commands = [find_aimock(), find_mitmdump()]
    except MissingError as missing:
        return refuse("replay", missing, quick=quick)
    cassettes = suite.tasks * suite.trials
    with tempfile.TemporaryDirectory(prefix="evalgate-replay-") as name:
        rows = measure(suite, Path(name), commands)
    print(f"\n{cassettes} trials of {suite.turns} turns, {suite.requests} requests of 150 KB")
    print(
        f"{'engine':<24}{'exact':>7}{'CPU ms':>8}{'req/s':>7}{'median':>8}{'p95 ms':>8}"
        f"{'load s':>8}{'MB':>6}{'above idle':>12}"
    )
    for one in rows:
        exact = str(one.exact) if one.exact else f"({one.good})"
        print(
            f"{one.engine:<24}{exact:>7}{one.cpu:>8.2f}{one.per_second:>7.0f}{one.median:>8.1f}"
            f"{one.p95:>8.1f}{one.load:>8.2f}{one.memory:>6.0f}{one.above_idle:>12.0f}"
        )
    print("(n): answers of status 200 that are not those recorded")
    ours = next(one for one in rows if one.engine == "evalgate")
    print(f"load a cassette: {1000 * ours.load / cassettes:.1f} ms CPU; CPU aimed at: {CPU_AIM} ms")
    figures = {"rows": [asdict(one) for one in rows], "cassettes": cassettes, "aim": CPU_AIM}
    return finish("replay", goals(rows, cassettes), quick=quick, figures=figures)


if __name__ == "__main__":
    sys.exit(main())
