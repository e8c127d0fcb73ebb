"""Many threads and tasks of one process, each asking by a library of its own.

in_process_threads.py MODE CASSETTE URL; prints what was answered, sorted.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import anthropic
import boto3
import httpx2
import openai

import evalgate.vcr

MODE, CASSETTE, URL = sys.argv[1:]
KEY = "sk-of-the-process-0123456789"
SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
THREADS = 6
MESSAGES = [{"role": "user", "content": "the same"}]

bedrock = boto3.client(
    "bedrock-runtime",
    endpoint_url=URL,
    region_name="eu-central-1",
    aws_access_key_id="AKIAIOSFODNN7EXAMPLE",
    aws_secret_access_key=SECRET,
)
chat = openai.OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
claude = anthropic.Anthropic(base_url=URL, api_key=KEY, max_retries=0)


def by_boto3() -> str:
    """Ask Bedrock."""
    said = [{"role": "user", "content": [{"text": "the same"}]}]
    answer = bedrock.converse(modelId="anthropic.claude", messages=said)
    return answer["output"]["message"]["content"][0]["text"]


def by_openai() -> str:
    """Ask for a stream."""
    stream = chat.chat.completions.create(model="m", messages=MESSAGES, stream=True)
    return "".join(piece.choices[0].delta.content or "" for piece in stream)


def by_anthropic() -> str:
    """Ask for a whole message."""
    answer = claude.messages.create(model="m", max_tokens=9, messages=MESSAGES)
    return answer.content[0].text


def by_httpx2() -> str:
    """Ask over a connection made for it."""
    answer = httpx2.post(f"{URL}/v1/messages", json={"model": "m", "by": "httpx2"})
    return answer.json()["content"][0]["text"]


async def in_tasks() -> list[str]:
    """Ask by both libraries that have an event loop."""
    key = {"api_key": KEY, "max_retries": 0}
    async with (
        httpx2.AsyncClient() as plain,
        openai.AsyncOpenAI(base_url=f"{URL}/v1", **key) as own,
    ):

        async def by_client() -> str:
            answer = await plain.post(f"{URL}/v1/messages", json={"model": "m", "by": "async"})
            return answer.json()["content"][0]["text"]

        async def by_library() -> str:
            asked = own.chat.completions.create(model="async", messages=MESSAGES, stream=True)
            return "".join([one.choices[0].delta.content or "" async for one in await asked])

        return await asyncio.gather(*(ask() for ask in (by_client, by_library) * THREADS))


def main() -> None:
    """Ask by all at once."""
    asks: list[Callable[[], str]] = [by_boto3, by_openai, by_anthropic, by_httpx2] * THREADS
    barrier = threading.Barrier(len(asks) + 1)

    def work(ask: Callable[[], str]) -> str:
        barrier.wait(30)
        return ask()

    secrets = {"AWS_SECRET": SECRET, "PROVIDER": KEY}
    with (
        evalgate.vcr.use_cassette(CASSETTE, mode=MODE, secrets=secrets),
        ThreadPoolExecutor(len(asks)) as pool,
    ):
        threads = [pool.submit(work, ask) for ask in asks]
        barrier.wait(30)
        said = [*asyncio.run(in_tasks()), *(one.result() for one in threads)]
    print(*sorted(said), sep="\n")


main()
