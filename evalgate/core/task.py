"""A task: one problem, its start state, its hidden tests, its checks and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

from evalgate.core.environment import Environment
from evalgate.core.files import File, Tree, tree_digest
from evalgate.core.identity import digest
from evalgate.core.json import JsonObject
from evalgate.core.limits import Allowance
from evalgate.core.user_reply import UserReply


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSpec:
    """One check as a task asks for it; an advisory one is shown and never decides."""

    type: str
    params: JsonObject = field(default_factory=dict)
    advisory: bool = False

    @property
    def name(self) -> str:
        """The name in reports: the type, and the path or name it looks at when it has one."""
        looked_at = (self.params.get(key) for key in ("path", "name", "tool"))
        first = next((one for one in looked_at if isinstance(one, str)), None)
        return self.type if first is None else f"{self.type}: {first}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds for the agent and for grading, and the most the agent may use of its model.

    None is no limit; ``max_usd`` is in US dollars.
    """

    agent_seconds: float = 120.0
    grade_seconds: float = 60.0
    max_turns: int = 15
    max_tool_calls: int | None = None
    max_tokens: int | None = None
    max_usd: float | None = None

    @property
    def allowance(self) -> Allowance:
        """What is held at the wire."""
        return Allowance(
            turns=self.max_turns,
            tool_calls=self.max_tool_calls,
            tokens=self.max_tokens,
            usd=self.max_usd,
        )


#: The file among a task's tests that runs them.
TEST_SCRIPT: Final = "test.sh"
#: What stands there in a task that has no tests: Harbor asks for a script, and checks decide.
NO_TESTS: Final = """\
#!/bin/sh
# The checks in task.toml decide: evalgate makes them, beside this script.
exit 0
"""
#: The file of a solution that lays it over the workspace.
SOLUTION_SCRIPT: Final = "solve.sh"
#: The file of a solution that holds what a good agent says last.
SOLUTION_ANSWER: Final = "answer.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One problem. ``digest`` covers all that a measurement depends on, not the solution.

    ``tags`` are words by which reports group tasks; ``own_checks`` is the code of checks that the
    project wrote itself, ``user`` what an agent that asks is told, in order.
    """

    id: str
    instruction: str
    workspace: Tree
    tests: Tree
    digest: str
    solution: Tree = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    expected_files: tuple[str, ...] = ()
    expected_tests: tuple[str, ...] = ()
    checks: tuple[CheckSpec, ...] = ()
    environment: Environment = field(default_factory=Environment)
    tags: tuple[str, ...] = ()
    own_checks: Tree = field(default_factory=dict)
    user: tuple[UserReply, ...] = ()

    @property
    def only_checks(self) -> bool:
        """Whether checks alone decide: its script says nothing."""
        script = self.tests.get(TEST_SCRIPT)
        return len(self.tests) == 1 and script is not None and script.data == NO_TESTS.encode()


def task_digest(files: Tree) -> str:
    """Return the digest of a task folder (64 hex); the solution changes no measurement."""
    counted: Mapping[str, File] = {
        path: file for path, file in files.items() if not path.startswith("solution/")
    }
    return tree_digest(counted, domain="evalgate-task/1")


def limited_digest(task: str, allowance: Allowance) -> str:
    """Return the digest (64 hex) of a task under limits that its own folder does not name.

    Under other limits it is another measurement, so the project's word is part of the task.
    """
    return digest({"task": task, "limits": asdict(allowance)}, domain="evalgate-limited-task/1")


def suite_digest(tasks: Sequence[Task]) -> str:
    """Return the digest of a suite (64 hex): its tasks' ids and digests, in any order."""
    return digest({task.id: task.digest for task in tasks}, domain="evalgate-suite/1")
