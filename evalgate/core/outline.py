"""What ``verdict.json`` says, in short and within bounds: it may come from a stranger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from evalgate.core.decision import Decision, is_waiting
from evalgate.core.identity import FORMAT
from evalgate.core.plain import shortened
from evalgate.core.schema import Reader, Source
from evalgate.errors import ExitCode, UsageError

#: The longest sentence, the longest name, and the most lines of a kind that are read.
_SENTENCE: Final = 600
_NAME: Final = 120
_LINES: Final = 20
_TASKS: Final = 1000

_HINT: Final = "it is what `evalgate gate` writes"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOutline:
    """One task: what became of it, how often it passed on either side, and its checks."""

    task: str
    change: str
    base: str
    head: str
    why: str = ""

    @property
    def sentence(self) -> str:
        """The task in one line."""
        why = f" ({self.why})" if self.why else ""
        return f"{self.task}: {self.change}: {self.base} → {self.head}{why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A verdict in short: its decision, one sentence, its reasons, and every task.

    ``fork`` says that it is of a change from one, ``commit`` which commit was judged.
    """

    decision: Decision
    exit_code: ExitCode
    sentence: str
    evidence: str = ""
    reasons: tuple[str, ...] = ()
    tasks: tuple[TaskOutline, ...] = ()
    fork: bool = False
    commit: str = ""

    @classmethod
    def parse(cls, data: bytes, name: str) -> Outline:
        """Read ``verdict.json``; UsageError for what is none, or of a newer evalgate."""
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            message = f"{name} is not valid JSON: {error!s:.200}"
            raise UsageError(message, hint=_HINT) from error
        if not isinstance(value, dict):
            raise UsageError(f"{name} is no verdict", hint=_HINT)
        return cls._read(Reader(value, Source(name, "")), name)

    @classmethod
    def _read(cls, reader: Reader, name: str) -> Outline:
        if reader.raw.get("format") != FORMAT:
            message = f"{name} has format {reader.raw.get('format')!r:.40}, not {FORMAT}"
            raise UsageError(message, hint="another version of evalgate wrote it")
        code = reader.integer("exit_code")
        if code not in {int(one) for one in ExitCode}:
            raise reader.error("is no exit code", "exit_code", hint=_HINT)
        return cls(
            decision=Decision(reader.choice("decision", "", [str(one) for one in Decision])),
            exit_code=ExitCode(code),
            sentence=_cut(reader.text("sentence"), _SENTENCE),
            evidence=_cut(reader.raw.get("evidence") or "", _NAME),
            reasons=tuple(_cut(line, _SENTENCE) for line in reader.texts("reasons", ())[:_LINES]),
            tasks=tuple(_task(row) for row in reader.tables("tasks")[:_TASKS]),
            fork=reader.raw.get("fork") is True,
            commit=_commit(reader.raw.get("head")),
        )

    @property
    def waits(self) -> bool:
        """Whether only a maintainer can measure it: it comes from a fork."""
        return is_waiting(self.decision, fork=self.fork)

    @property
    def strict(self) -> bool:
        """Whether an undecided verdict was taken for not measured."""
        return self.decision is Decision.UNDECIDED and self.exit_code is not ExitCode.OK

    @property
    def moved(self) -> tuple[TaskOutline, ...]:
        """The tasks that a reader has to see, in the verdict's order."""
        return tuple(task for task in self.tasks if task.change != "same")


def _commit(head: Any) -> str:
    return str(head.get("commit") or "")[:_NAME] if isinstance(head, Mapping) else ""


def _task(row: Reader) -> TaskOutline:
    checks = (_check(check) for check in row.tables("checks")[:_LINES])
    return TaskOutline(
        task=_cut(row.text("task"), _NAME),
        change=_cut(row.text("change"), _NAME),
        base=_rate(row.raw.get("base")),
        head=_rate(row.raw.get("head")),
        why=_cut(", ".join(filter(None, (*checks, row.text("why", "")))), _SENTENCE),
    )


def _check(row: Reader) -> str:
    pairs = [_pair(row.raw.get(side)) for side in ("base", "head")]
    return f"{_cut(row.text('name'), _NAME)} {pairs[0]} → {pairs[1]}"


def _rate(side: Any) -> str:
    if not isinstance(side, Mapping):
        return "–"
    return _pair([side.get("passed"), side.get("measured")])


def _pair(value: Any) -> str:
    good = isinstance(value, list) and len(value) == 2  # noqa: PLR2004 - passed, of measured
    if not good or not all(type(one) is int and 0 <= one < 10**9 for one in value):
        return "unknown"
    return f"{value[0]}/{value[1]}"


def _cut(text: Any, limit: int) -> str:
    return shortened(" ".join(str(text)[: 4 * limit].split()), limit)
