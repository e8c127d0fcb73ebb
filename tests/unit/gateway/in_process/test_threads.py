"""Many threads and tasks of one process, recorded and replayed at the same time."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import aiohttp
import pytest
import requests
import urllib3

import evalgate.vcr
from evalgate.errors import DivergedError, UsageError
from evalgate.gateway.cassette import load_cassette
from tests.unit.gateway.in_process.conftest import HEADERS, PATH, post

THREADS = 24
ROUNDS = 3
#: Some ask the same as others, some what nobody else does.
TEXTS = [f"text {n % 9}" for n in range(THREADS)]


def together(ask, texts):
    """Ask all texts at once, a thread each, some times over; return what was said."""
    barrier = threading.Barrier(len(texts))

    def work(text):
        barrier.wait(10)
        return [ask(text) for _ in range(ROUNDS)]

    with ThreadPoolExecutor(len(texts)) as pool:
        return [one for many in pool.map(work, texts) for one in many]


def by_http_client(url, certificate):
    """Ask by the standard library, a connection a question."""
    return lambda text: post(url, text, certificate)


def by_requests(url, certificate):
    """Ask by requests, a session a question."""

    def ask(text):
        verify = True if certificate is None else str(certificate)
        with requests.Session() as session:
            return session.post(
                url + PATH, json={"text": text}, headers=HEADERS, timeout=10, verify=verify
            ).json()

    return ask


def by_urllib3(url, certificate):
    """Ask by urllib3, all through one pool."""
    pool = urllib3.PoolManager(maxsize=THREADS, ca_certs=certificate and str(certificate))

    def ask(text):
        answer = pool.request("POST", url + PATH, json={"text": text}, headers=HEADERS)
        return answer.json()

    return ask


def in_tasks(url, texts):
    """Ask all texts at once, a task each, some times over; return what was said."""

    async def work(session, text):
        answers = []
        for _ in range(ROUNDS):
            async with session.post(url + PATH, json={"text": text}, headers=HEADERS) as answer:
                answers.append(await answer.json())
        return answers

    async def all_of_them():
        async with aiohttp.ClientSession() as session:
            return await asyncio.gather(*(work(session, text) for text in texts))

    return [one for many in asyncio.run(all_of_them()) for one in many]


def check(provider, file, ask_all):
    """Record all that is asked at once, then replay it: each answer once, none from outside."""
    with evalgate.vcr.use_cassette(file, mode="record"):
        first = ask_all()
    asked = provider.asked
    assert asked == len(first) == THREADS * ROUNDS
    assert len(load_cassette(file.read_bytes(), name="it").exchanges) == asked
    with evalgate.vcr.use_cassette(file):
        again = ask_all()
    assert provider.asked == asked
    assert Counter(map(what, again)) == Counter(map(what, first))
    assert len(set(map(what, again))) == asked


def what(answer):
    """Return which answer it is, and to what."""
    return answer["n"], answer["echo"]


@pytest.mark.parametrize("client", [by_http_client, by_requests, by_urllib3])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_threads_are_recorded_whole_and_replayed_without_the_provider(
    request, tmp_path, client, scheme
):
    """Whatever library they ask by, with TLS and without."""
    provider = request.getfixturevalue("bedrock" if scheme == "http" else "secure")
    certificate = None if scheme == "http" else request.getfixturevalue("certificate")

    def ask_all():
        return together(client(provider.url, certificate), TEXTS)

    check(provider, tmp_path / "1.json", ask_all)


def test_tasks_are_recorded_whole_and_replayed_without_the_provider(bedrock, tmp_path):
    """One event loop, many questions under way."""
    check(bedrock, tmp_path / "1.json", lambda: in_tasks(bedrock.url, TEXTS))


def test_one_question_too_many_is_refused_once(bedrock, tmp_path):
    """Of those who ask the same at once, each gets an answer of its own, or none."""
    file, texts = tmp_path / "1.json", ["the same"] * THREADS
    with evalgate.vcr.use_cassette(file, mode="record"):
        together(lambda text: post(bedrock.url, text), texts)

    def ask(text):
        try:
            return post(bedrock.url, text)["n"]
        except DivergedError as error:
            return error.message

    def replay():
        with evalgate.vcr.use_cassette(file):
            answers.update(together(ask, [*texts, "the same"]))

    answers = Counter()
    with pytest.raises(DivergedError, match="already played"):
        replay()
    refused = {one: many for one, many in answers.items() if isinstance(one, str)}
    assert sum(refused.values()) == ROUNDS
    assert len(answers) - len(refused) == THREADS * ROUNDS
    assert bedrock.asked == THREADS * ROUNDS


def test_exchanges_stand_in_the_order_of_asking(bedrock, tmp_path):
    """Not of answering; and each knows when it began and how long it took."""
    file = tmp_path / "1.json"
    bedrock.gates["slow"] = threading.Event()
    with evalgate.vcr.use_cassette(file, mode="record"):
        slow = threading.Thread(target=post, args=(bedrock.url, "slow"))
        slow.start()
        try:
            while not bedrock.heard["slow"]:
                slow.join(0.001)
            post(bedrock.url, "quick")
        finally:
            bedrock.gates["slow"].set()
            slow.join()
    first, second = load_cassette(file.read_bytes(), name="it").exchanges
    assert b"slow" in first.body
    assert first.began <= second.began
    assert first.began + first.seconds + 0.001 >= second.began + second.seconds


async def race(bedrock):
    """Ask twice the same, wait for the other one's answer, leave both, and ask once more."""
    async with aiohttp.ClientSession() as session:

        async def ask(text):
            body = {"text": text}
            async with session.post(bedrock.url + PATH, json=body, headers=HEADERS) as response:
                return await response.json()

        slow = [asyncio.create_task(ask("slow")) for _ in range(2)]
        await asyncio.wait(slow, timeout=0.001)
        while bedrock.heard["slow"] < 2:
            await asyncio.wait(slow, timeout=0.001)
        quick = await ask("quick")
        for task in slow:
            task.cancel()
        ended = await asyncio.gather(*slow, return_exceptions=True)
        bedrock.gates["slow"].set()
        return quick["n"], [type(one) for one in ended], (await ask("slow"))["echo"]


def test_a_request_whose_task_was_cancelled_is_left_again_in_a_replay(bedrock, tmp_path):
    """One like it waits until it is cancelled, and is never answered by another one's answer."""
    file = tmp_path / "1.json"
    bedrock.gates["slow"] = threading.Event()
    with evalgate.vcr.use_cassette(file, mode="record"):
        first = asyncio.run(race(bedrock))
    assert first[1:] == ([asyncio.CancelledError] * 2, "slow")
    tape = load_cassette(file.read_bytes(), name="it").exchanges
    assert [one.ending for one in tape] == ["client_gone", "client_gone", "complete", "complete"]
    asked = bedrock.asked
    with evalgate.vcr.use_cassette(file):
        assert asyncio.run(race(bedrock)) == first
    assert bedrock.asked == asked


def test_another_thread_can_not_open_a_second_cassette(tmp_path):
    """Patches that are laid over one another come off in the other order, or never."""
    caught = []

    def open_another():
        try:
            with evalgate.vcr.use_cassette(tmp_path / "2.json", mode="record"):
                pass
        except UsageError as error:
            caught.append(error)

    def in_a_thread():
        thread = threading.Thread(target=open_another)
        thread.start()
        thread.join()

    with evalgate.vcr.use_cassette(tmp_path / "1.json", mode="record"):
        in_a_thread()
    assert [error.hint for error in caught] == ["open one cassette around all that ask"]
    in_a_thread()
    assert len(caught) == 1
    assert (tmp_path / "2.json").exists()


def test_a_context_may_end_in_another_thread(tmp_path):
    """A framework may open it in one place and close it in another; the next one is not refused."""
    for n in range(2):
        context = evalgate.vcr.use_cassette(tmp_path / f"{n}.json", mode="record")
        context.__enter__()
        thread = threading.Thread(target=context.__exit__, args=(None, None, None))
        thread.start()
        thread.join()
    assert (tmp_path / "1.json").exists()
