"""The providers' own libraries, in each of their dialects, streamed and not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).with_name("sdk_agent.py")


@dataclass(frozen=True)
class Sdk:
    """An agent of a few lines on one API of a provider's library."""

    api: str
    stream: bool
    program = "venv/bin/python"
    finish = None

    def argv(self, ground):
        """Name the agent's file, the API and the task."""
        return [str(PROGRAM), self.api, ground.prompt, *(["--stream"] if self.stream else [])]

    def environment(self, ground):
        """Give the libraries the route."""
        return {
            "ANTHROPIC_API_KEY": ground.key,
            "ANTHROPIC_BASE_URL": ground.base,
            "OPENAI_API_KEY": ground.key,
            "OPENAI_BASE_URL": f"{ground.base}/v1",
        }

    def calls(self, repo) -> list[list[tuple[str, dict[str, Any]]]]:
        """Look at both files in one turn, then mend one, then run the other."""

        def bash(command: str) -> tuple[str, dict[str, Any]]:
            return "bash", {"command": command}

        return [
            [bash(f"cat {repo}/calc.py"), bash(f"cd {repo} && cat check.py && pwd")],
            [bash(f"sed -i 's/a - b/a + b/' {repo}/calc.py")],
            [bash(f"cd {repo} && python3 check.py")],
        ]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("api", "dialect"),
    [
        ("chat", "openai-chat"),
        ("responses", "openai-responses"),
        ("messages", "anthropic"),
        ("beta_messages", "anthropic"),
    ],
)
def test_a_library_works_the_same_from_a_recording(rig, api, dialect, stream):
    """Four exchanges in, four out, and the library can not tell the difference."""
    sdk = Sdk(api, stream)
    first = rig.record(sdk)
    rig.check_recorded(first, dialect=dialect, exchanges=4)
    again = rig.replay(sdk, first.tape)
    rig.check_replayed(again, first)
    assert again.stdout == first.stdout


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_a_library_takes_a_miss_for_final(rig, api):
    """It does not ask again, and tells its program what differed."""
    sdk = Sdk(api, stream=True)
    first = rig.record(sdk)
    again = rig.replay(sdk, first.tape, prompt=rig.other)
    rig.check_refused(again, first)
    assert "replay diverged" in again.stderr
