"""Agents that are given no base URL: Bedrock by boto3, and OpenAI's library, in this process.

in_process_agent.py MODE CASSETTE URL TEXT...
"""

from __future__ import annotations

import sys

import boto3
import openai

import evalgate.vcr

MODE, CASSETTE, URL, *TEXTS = sys.argv[1:]
KEY = "AKIAIOSFODNN7EXAMPLE"
SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


def main() -> None:
    """Ask both models each text, and print what they said."""
    bedrock = boto3.client(
        "bedrock-runtime",
        endpoint_url=URL,
        region_name="eu-central-1",
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
    )
    key = "sk-of-the-process-0123456789"
    chat = openai.OpenAI(base_url=f"{URL}/v1", api_key=key, max_retries=0)
    secrets = {"AWS_SECRET": SECRET, "OPENAI": key}
    with evalgate.vcr.use_cassette(CASSETTE, mode=MODE, secrets=secrets):
        for text in TEXTS:
            said = [{"role": "user", "content": [{"text": text}]}]
            answer = bedrock.converse(modelId="anthropic.claude", messages=said)
            print(answer["output"]["message"]["content"][0]["text"])
            asked = [{"role": "user", "content": text}]
            stream = chat.chat.completions.create(model="m", messages=asked, stream=True)
            print("".join(piece.choices[0].delta.content or "" for piece in stream))


main()
