"""Limits at the wire: the agent gets a clear error, the trial its reason, the run its budget."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack

import aiohttp
import pytest

from evalgate.core.exchange import Ending
from evalgate.core.faults import Fault, FaultKind
from evalgate.core.limits import Allowance, Tally
from evalgate.core.pricing import FREE, Price
from evalgate.errors import UsageError
from evalgate.gateway.format.journal import load_journal
from evalgate.gateway.limits.charge import cost_of, spent_on
from evalgate.gateway.limits.spending import Spending
from evalgate.gateway.limits.top_up import TopUp

#: A reply of the scripted model has 10 tokens in and 5 out: 10 + 25 millionths of a dollar.
PRICE = Price(input=1.0, output=5.0)
COST = 35e-6
CALL = {"id": "a", "name": "bash", "input": {}}
PRICES = {"m": PRICE, "n": FREE}


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions"])
@pytest.mark.parametrize(
    ("allowed", "reason"),
    [
        (Allowance(turns=2), "the limit of 2 model turns is reached"),
        (Allowance(tokens=20), "the limit of 20 tokens is reached: 30 were used"),
        (Allowance(usd=1.5 * COST), "the limit of $5.25e-05 is reached: $7e-05 were spent"),
    ],
)
def test_beyond_a_limit_the_agent_gets_an_error(wire, path, allowed, reason):
    """In its dialect's shape, once and for all; it is recorded, and a replay meets it again."""
    chat = wire.chat(usage={"prompt_tokens": 10, "completion_tokens": 5})
    wire.scripted.say(chat if path.endswith("completions") else wire.message())
    with wire.live(allowed=allowed, prices=PRICES) as route:
        statuses = [wire.post(route, wire.asked(str(n)), path).status for n in range(2)]
        first = wire.post(route, wire.asked("2"), path)
        second = wire.post(route, wire.asked("2"), path)
        witness = route.witness()
        tape = wire.sealed(route)
    assert statuses == [200, 200]
    assert (first.status, first.headers["x-should-retry"]) == (400, "false")
    assert first.json["error"]["message"] == f"evalgate: {reason}"
    assert second.body == first.body
    assert witness.limit == f"evalgate: {reason}"
    assert (witness.provider_error, witness.trajectory.turns) == (None, 2)
    assert len(wire.scripted.heard) == 2
    for other in (allowed, Allowance(turns=1), Allowance()):
        with wire.replay(tape, allowed=other, prices=PRICES) as route:
            for n in range(2):
                assert wire.post(route, wire.asked(str(n)), path).status == 200
            assert wire.post(route, wire.asked("2"), path).body == first.body
            assert wire.post(route, wire.asked("2"), path).body == first.body
            assert route.witness() == witness


def test_tool_calls_are_counted_when_the_model_asks(wire):
    """The results of the last allowed one may be sent; one more call is the last of all."""
    wire.scripted.say(wire.message("", CALL, CALL))
    with wire.live(allowed=Allowance(tool_calls=3)) as route:
        assert wire.post(route, wire.asked("1")).status == 200
        assert wire.post(route, wire.asked("2")).status == 200
        refused = wire.post(route, wire.asked("3"))
        limit = route.witness().limit
    assert refused.status == 400
    assert limit == "evalgate: the limit of 3 tool calls is passed: 4 were asked for"
    with wire.live(allowed=Allowance(tool_calls=4)) as route:
        assert [wire.post(route, wire.asked(str(n))).status for n in range(4)] == [
            200,
            200,
            200,
            400,
        ]


def test_errors_and_free_questions_use_nothing(wire):
    """A provider's error, a count of tokens and a list of models are neither turns nor money."""
    wire.scripted.say(b"{}", status=400)
    wire.scripted.say(b'{"input_tokens": 900}')
    wire.scripted.say(b'{"data": []}')
    wire.scripted.say(wire.message())
    with wire.live(allowed=Allowance(turns=1, tokens=1, usd=COST), prices=PRICES) as route:
        assert wire.post(route, wire.asked()).status == 400
        assert wire.post(route, wire.asked(), "/v1/messages/count_tokens").status == 200
        assert wire.post(route, b"", "/v1/models", method="GET").status == 200
        assert wire.post(route, wire.asked()).status == 200
        assert route.meter.used == Tally(turns=1, tokens=15, usd=pytest.approx(COST))
        assert wire.post(route, wire.asked("more")).status == 400
        assert wire.post(route, wire.asked(), "/v1/messages/count_tokens").status == 200


def test_an_unknown_price_is_an_error_before_the_first_call(wire):
    """Of any model that could be asked; without a limit of money it does not matter."""
    spending = Spending(Allowance(usd=5.0))
    for more in ({"allowed": Allowance(usd=1.0)}, {"spending": spending}):
        with pytest.raises(UsageError, match=r"model n: its price is unknown"):
            wire.live(prices={"m": PRICE}, **more).__enter__()
    with wire.live(prices={"m": PRICE}, allowed=Allowance(tokens=5)):
        pass


@pytest.mark.parametrize("allowed", [Allowance(tokens=10**6), Allowance(usd=100.0)])
def test_what_nobody_counted_fires_the_limit_and_measures_nothing(wire, allowed):
    """A reply without numbers makes the sum unknown: that is no doing of the agent's."""
    wire.scripted.say(wire.message(usage={}))
    with wire.live(allowed=allowed, prices=PRICES) as route:
        assert wire.post(route, wire.asked()).status == 200
        refused = wire.post(route, wire.asked("more"))
        witness = route.witness()
    assert refused.status == 400
    assert "can not be held" in refused.json["error"]["message"]
    assert witness.limit is None
    assert "can not be held" in str(witness.provider_error)


def test_a_free_model_needs_no_count(wire):
    """What is free is known to cost nothing, whatever was used."""
    wire.scripted.say(wire.message(usage={}))
    with wire.live(allowed=Allowance(usd=0.5), prices={"m": FREE, "n": FREE}) as route:
        assert [wire.post(route, wire.asked(str(n))).status for n in range(5)] == [200] * 5


def test_an_endpoint_we_know_nothing_of_has_an_unknown_cost(wire):
    """Under a limit of money it may be asked once; without one it is none of our business."""
    wire.scripted.say(b'{"data": []}')
    body = {"model": "m", "input": "x"}
    with wire.live(allowed=Allowance(usd=5.0), prices=PRICES) as route:
        statuses = [wire.post(route, body, "/v1/embeddings").status for _ in range(2)]
        assert statuses == [200, 400]
        assert wire.post(route, wire.asked()).status == 400
    with wire.live() as route:
        assert [wire.post(route, body, "/v1/embeddings").status for _ in range(2)] == [200, 200]


USED = {"prompt_tokens": 10, "completion_tokens": 5}


@pytest.mark.parametrize(
    ("path", "body", "reply", "cost"),
    [
        ("/v1/messages", {"model": "m"}, {"usage": {}}, None),
        ("/v1/chat/completions", {"model": "m"}, {"usage": USED}, COST),
        ("/v1/chat/completions", {"model": "n"}, {"usage": {}}, 0.0),
        ("/v1/messages/count_tokens", {"model": "m"}, {"input_tokens": 9}, 0.0),
        ("/v1/embeddings", {"model": "m"}, {"usage": {**USED, "total_tokens": 15}}, COST),
        ("/v1/embeddings", {"model": "n"}, {"data": []}, 0.0),
        ("/v1/embeddings", {"model": "m"}, {"data": []}, None),
        ("/v1/files", {"purpose": "batch"}, {"id": "f"}, None),
    ],
)
def test_what_the_limit_counts_is_what_the_trial_cost(wire, path, body, reply, cost):
    """Turn or not: one answer to what an exchange cost, at the wire and from a recording."""
    wire.scripted.say(json.dumps(reply).encode())
    with wire.live(allowed=Allowance(usd=1.0), prices=PRICES) as route:
        assert wire.post(route, body, path).status == 200
        used = route.meter.used.usd
        more = wire.post(route, {"model": "m"})
        tape = wire.sealed(route)
    assert used == (None if cost is None else pytest.approx(cost))
    assert cost_of(tape.exchanges[:1], PRICES) == used
    assert (more.status == 400) is (cost is None), "what nobody knows fires the limit"


def test_a_request_that_names_no_model_has_the_price_that_all_have(wire):
    """It goes to the only place there is; where everything is free, it is free."""
    wire.scripted.say(b'{"tokens": [1]}')
    prices = {"m": FREE, "n": FREE}
    with wire.live(allowed=Allowance(usd=1.0), prices=prices) as route:
        assert wire.post(route, {"content": "x"}, "/tokenize").status == 200
        assert route.meter.used.usd == 0.0
        tape = wire.sealed(route)
    assert cost_of(tape.exchanges, prices) == 0.0
    assert cost_of(tape.exchanges, {"m": PRICE}) is None
    assert cost_of(tape.exchanges, PRICES) is None


def test_a_run_asks_no_more_beyond_its_recordings_than_it_may():
    """Also when trials ask from threads of their own; what was asked before counts."""
    bound = TopUp(50)
    bound.used_before(10)
    taken: list[bool] = []
    threads = [
        threading.Thread(target=lambda: taken.extend(bound.take() for _ in range(20)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sum(taken), bound.used) == (40, 50)


def test_a_reply_that_broke_off_is_counted_as_unknown(wire):
    """Its end would have said how much it was."""
    wire.scripted.say(b"data: 1\n\n", content_type="text/event-stream", cut=True)
    with wire.live(allowed=Allowance(tokens=10**6)) as route:
        assert not wire.post(route, wire.asked()).whole
        assert route.witness().exchanges[0].ending is Ending.UPSTREAM_CUT
        assert route.meter.used.tokens is None
        assert wire.post(route, wire.asked()).status == 400


def test_each_model_has_its_price(wire):
    """The cost of a trial is that of its turns, also when it is read from a recording."""
    wire.scripted.say(wire.message())
    with wire.live(prices=PRICES, allowed=Allowance(usd=1.0)) as route:
        for model in ("m", "n", "m"):
            wire.post(route, {**wire.asked(model), "model": model})
        assert route.meter.used.usd == pytest.approx(2 * COST)
        tape = wire.sealed(route)
    assert cost_of(tape.exchanges, PRICES) == pytest.approx(2 * COST)
    assert cost_of(tape.exchanges, {"m": PRICE}) is None
    assert cost_of((), {}) == 0.0


def test_the_budget_of_a_run_stops_all_its_trials(wire):
    """What one trial used is gone for the others; a stopped one says that it is the budget."""
    wire.scripted.say(wire.message())
    spending = Spending(Allowance(usd=3 * COST), before=Tally(usd=COST))
    with (
        wire.live(prices=PRICES, spending=spending) as one,
        wire.live(prices=PRICES, spending=spending) as other,
    ):
        assert wire.post(one, wire.asked()).status == 200
        assert wire.post(other, wire.asked()).status == 200
        refused = wire.post(one, wire.asked("more"))
        assert (one.meter.over_budget, other.meter.over_budget) == (True, False)
        witness = one.witness()
        other.meter.settle()
    assert refused.status == 400
    assert refused.json["error"]["message"].startswith("evalgate: budget of the run: the limit of")
    assert witness.limit is None
    assert spending.used.usd == pytest.approx(3 * COST)
    assert spending.lost.usd == pytest.approx(COST), "what the trial used that is not kept"


def test_what_a_journal_holds_is_not_lost(wire, tmp_path):
    """It is counted by the journal; an answer that will not be played is told beside it."""
    spending = Spending(Allowance(usd=1.0))
    wire.scripted.say(wire.message())
    more = {"journal": tmp_path / "journal", "faults": (Fault(kind=FaultKind.DROP, at=2),)}
    with wire.live(prices=PRICES, spending=spending, **more) as route:
        assert wire.post(route, wire.asked()).status == 200
        assert spending.used.usd == pytest.approx(COST)
        assert spending.lost == Tally()
        assert not wire.post(route, wire.asked("more")).whole
        assert spending.used.usd == pytest.approx(2 * COST)
        assert spending.lost.usd == pytest.approx(COST)
    tape = load_journal((tmp_path / "journal").read_bytes(), name="it")
    assert spent_on(tape.exchanges, PRICES).usd == pytest.approx(COST)


def test_parallel_trials_never_pass_a_budget_of_turns(wire):
    """Whoever asks at the same time."""
    wire.scripted.say(wire.message())
    spending = Spending(Allowance(turns=20))

    async def all_of(bases):
        async with aiohttp.ClientSession() as session:

            async def one(base):
                for number in range(20):
                    body = wire.asked(str(number))
                    async with session.post(f"{base}/v1/messages", json=body) as answer:
                        await answer.read()

            await asyncio.gather(*map(one, bases))

    with ExitStack() as stack:
        routes = [stack.enter_context(wire.live(spending=spending)) for _ in range(8)]
        asyncio.run(all_of([route.base_url for route in routes]))
        assert all(route.meter.over_budget for route in routes)
    assert spending.used.turns == len(wire.scripted.heard) == 20


def at_once(wire, routes, count, *, refused):
    """Ask together, let the provider answer once so many were refused, and return the statuses."""
    gate = threading.Event()
    wire.scripted.say(wire.message(), gate=gate, before=True)
    statuses = []
    with ThreadPoolExecutor(count) as pool:
        asked = [pool.submit(wire.post, routes[n % 2], wire.asked(str(n))) for n in range(count)]
        for done in as_completed(asked):
            statuses.append(done.result().status)
            if len(statuses) == refused:
                gate.set()
    return statuses


@pytest.mark.parametrize(
    ("allowed", "sent"),
    [
        (Allowance(turns=4), 3),
        (Allowance(tokens=45), 2),
        (Allowance(tokens=46), 3),
        (Allowance(usd=3.5 * COST), 3),
        (Allowance(tool_calls=3), 3),
    ],
)
def test_requests_side_by_side_do_not_pass_the_budget_of_a_run(wire, allowed, sent):
    """What is under way counts as a turn, and as the largest charge that the run has seen."""
    spending = Spending(allowed)
    with (
        wire.live(prices=PRICES, spending=spending) as one,
        wire.live(prices=PRICES, spending=spending) as other,
    ):
        wire.scripted.say(wire.message("", CALL))
        assert wire.post(one, wire.asked()).status == 200
        statuses = at_once(wire, [one, other], 10, refused=10 - sent)
    assert sorted(statuses) == [200] * sent + [400] * (10 - sent)
    assert len(wire.scripted.heard) == 1 + sent
    assert spending.used.turns == 1 + sent


def test_what_failed_is_there_for_another_request(wire):
    """Of a turn that was under way only a whole reply is counted."""
    spending = Spending(Allowance(turns=1))
    wire.scripted.say(b"{}", status=400)
    wire.scripted.say(wire.message())
    with wire.live(spending=spending) as route:
        assert [wire.post(route, wire.asked()).status for _ in range(3)] == [400, 200, 400]
        assert route.meter.over_budget
    assert len(wire.scripted.heard) == 2


def test_spending_is_one_sum_for_all_threads():
    """Trials report from the gateway's thread, and the run asks from its own."""
    spending = Spending(Allowance(turns=10**9))
    accounts = [spending.open() for _ in range(50)]

    def report(account):
        for number in range(1, 101):
            account.report(Tally(turns=number), alone=Tally(turns=number))

    threads = [threading.Thread(target=report, args=(account,)) for account in accounts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert spending.used.turns == 5000
    accounts[0].settle()
    assert spending.lost.turns == 4900


def test_what_an_interruption_made_unknown_does_not_end_a_budget_for_ever():
    """A cut-off trial is remembered by what is known of it; a kept one by all it says."""
    unknown = Tally(turns=2, tokens=None, usd=None)
    spending = Spending(Allowance(usd=1.0))
    account = spending.open()
    spending.drop(unknown)
    account.report(unknown, alone=Tally(turns=2, tokens=15, usd=0.25))
    assert spending.lost.usd == 0.25
    assert spending.used.usd is None
