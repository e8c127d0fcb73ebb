"""The check that a commit message says what was changed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from evalgate.checks.findings import PASSED, failed
from evalgate.checks.origin import Origin, conduct_of
from evalgate.checks.tool_calls import arguments
from evalgate.core.claim import line_changes
from evalgate.core.observation import Observation
from evalgate.core.schema import Reader
from evalgate.core.trajectory import Trajectory
from evalgate.protocols import Finding

_WORD: Final = re.compile(r"[A-Za-z_]\w{2,}")
#: Words that say nothing about this change, whatever it changes.
_VAGUE: Final = frozenset(
    [
        "add",
        "added",
        "and",
        "address",
        "bug",
        "bugs",
        "change",
        "changed",
        "changes",
        "clean",
        "cleanup",
        "code",
        "commit",
        "edit",
        "feedback",
        "file",
        "files",
        "final",
        "fix",
        "fixed",
        "fixes",
        "for",
        "general",
        "improve",
        "improvements",
        "in",
        "initial",
        "issue",
        "issues",
        "it",
        "make",
        "minor",
        "misc",
        "more",
        "of",
        "refactor",
        "remove",
        "requested",
        "review",
        "several",
        "small",
        "some",
        "stuff",
        "test",
        "tests",
        "the",
        "things",
        "this",
        "tweak",
        "tweaks",
        "typo",
        "update",
        "updated",
        "updates",
        "various",
        "wip",
        "with",
        "work",
    ]
)
_SHORTEST_WORD: Final = 4
_LONGEST_COMMAND: Final = 100_000
_HEREDOC: Final = re.compile(r"\$\(cat <<-?\s*['\"]?(\w+)['\"]?\n(.*?)\n\s*\1\b", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitMessage:
    """The commit message has a short subject, and names a file or a word of what was changed.

    Example: ``{type = "commit_message", longest = 72}``.
    """

    version: ClassVar[int] = 1
    origin: Origin | None
    longest: int

    @property
    def command(self) -> str | None:
        """The command whose output is read, if it is one."""
        return None if self.origin is None else self.origin.command

    @classmethod
    def from_params(cls, params: Reader) -> CommitMessage:
        """Read ``longest``, the most characters of a subject, and ``path`` or ``command``.

        Without either it is the message of the last ``git commit -m`` among the tool calls.
        """
        given = params.has("path") or params.has("command")
        origin = Origin.from_params(params) if given else None
        return cls(origin=origin, longest=params.integer("longest", 72, low=1))

    def examine(self, seen: Observation) -> Finding:
        """Pass when the message could not stand above just any change."""
        message = self._message(seen)
        if isinstance(message, Finding):
            return message
        subject = message.strip().partition("\n")[0].strip()
        if not subject:
            return failed("the commit message is empty")
        if len(subject) > self.longest:
            return failed(f"the subject has {len(subject)} characters, more than {self.longest}")
        if not ({*words_in(message)} - _VAGUE) & {*_changed_words(seen)}:
            return failed("the message names nothing of what was changed")
        return PASSED

    def _message(self, seen: Observation) -> str | Finding:
        if self.origin is not None:
            return self.origin.read(seen)
        done = conduct_of(seen)
        if isinstance(done, Finding):
            return done
        messages = [*messages_in(done)]
        return messages[-1] if messages else failed("no tool call made a commit with a message")


def messages_in(done: Trajectory) -> Iterator[str]:
    """Return the messages of all ``git commit -m`` in the arguments of tool calls, in order."""
    for call in done.calls:
        for _, value in arguments(call.input):
            if "commit" in value and "git" in value and len(value) <= _LONGEST_COMMAND:
                yield from _messages_of(value)


def words_in(text: str) -> Iterator[str]:
    """Return the words of a text, in small letters; names of code are cut at ``_`` as well."""
    for word in _WORD.findall(text):
        yield word.lower()
        yield from (piece for piece in word.lower().split("_") if len(piece) >= _SHORTEST_WORD)


def _messages_of(command: str) -> Iterator[str]:
    try:
        words = shlex.split(command.replace("&&", " && ").replace(";", " ; "))
    except ValueError:
        return
    after_commit, pieces = False, list[str]()
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word in {"&&", ";", "|", "||"}:
            after_commit = False
        elif word == "commit":
            after_commit = True
        elif after_commit and re.fullmatch(r"--message|-[a-z]*m", word):
            pieces.append(_unwrapped(following))
        elif after_commit and word.startswith("--message="):
            pieces.append(_unwrapped(word.removeprefix("--message=")))
    if pieces:
        yield "\n\n".join(pieces)


def _unwrapped(text: str) -> str:
    heredoc = _HEREDOC.match(text)
    return heredoc[2] if heredoc else text


def _changed_words(seen: Observation) -> Iterator[str]:
    for path in seen.claim.touched:
        yield from words_in(path)
    for change in line_changes(seen.task.workspace, seen.claim).values():
        for line in (*change.added, *change.removed):
            yield from (word for word in words_in(line) if len(word) >= _SHORTEST_WORD)
