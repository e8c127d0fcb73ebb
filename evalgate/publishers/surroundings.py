"""Where a command runs: the variables and the event of a workflow, and what is made of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from evalgate.core.event import Event
from evalgate.core.pull import Pull
from evalgate.core.sticky import Stamp
from evalgate.errors import NotAvailableError, UsageError
from evalgate.protocols import Publisher
from evalgate.publishers.comment import StickyComment
from evalgate.publishers.github import GitHub
from evalgate.publishers.pull_request import find_pull
from evalgate.publishers.workflow import Annotations

_API: Final = "https://api.github.com"
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/(?!\.{1,2}$)[A-Za-z0-9._-]+")


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The variables of a command, its event, and what the command line says.

    ``say`` prints one line where GitHub reads workflow commands, ``judged`` is the commit that the
    verdict is of, for where no event tells.
    """

    environ: Mapping[str, str]
    event: Event
    say: Callable[[str], None]
    pull: int | None = None
    key: str = ""
    author: str = ""
    dry_run: bool = False
    judged: str = ""

    @property
    def repository(self) -> str:
        """``owner/name``; NotAvailableError where nothing says which it is, UsageError for none."""
        name = self._variable("GITHUB_REPOSITORY")
        if not _REPOSITORY.fullmatch(name):
            message = f"GITHUB_REPOSITORY is no owner/name: {name!r:.80}"
            raise UsageError(message, hint="GitHub Actions sets it; elsewhere: set it yourself")
        return name

    @property
    def has_token(self) -> bool:
        """Tell whether GitHub can be asked at all."""
        return bool(self._token)

    @property
    def _token(self) -> str:
        return (self.environ.get("GITHUB_TOKEN") or self.environ.get("GH_TOKEN") or "").strip()

    @cached_property
    def github(self) -> GitHub:
        """GitHub with the token of the environment; NotAvailableError where there is none."""
        if not self.has_token:
            message = "there is no GITHUB_TOKEN in the environment"
            raise NotAvailableError(message, hint="env: GITHUB_TOKEN: ${{ github.token }}")
        return GitHub.of(self.environ.get("GITHUB_API_URL") or _API, self._token)

    @cached_property
    def told_of(self) -> Pull | str:
        """The pull request: the one that was named, or the event's; else why there is none."""
        if self.pull is not None:
            return Pull(number=self.pull)
        return find_pull(self.github, self.repository, self.event)

    @property
    def stamp(self) -> Stamp:
        """The run that made the verdict: the one that started this one, where one did."""
        run = self.event.number("workflow_run", "id")
        if run is not None:
            attempt = self.event.number("workflow_run", "run_attempt") or 1
            return Stamp(run, attempt, self.event.text("workflow_run", "head_sha"))
        numbers = [self.environ.get(f"GITHUB_RUN_{name}", "") for name in ("ID", "ATTEMPT")]
        run, attempt = (int(one) if one.isascii() and one.isdigit() else 0 for one in numbers)
        head = self.event.at("pull_request", "head", "sha") or self.environ.get("GITHUB_SHA")
        return Stamp(run, attempt, str(head or self.judged))

    @property
    def footer(self) -> str:
        """One line that leads to the run; empty outside of one."""
        stamp, server = self.stamp, self.environ.get("GITHUB_SERVER_URL", "")
        if not stamp.run or not server:
            return ""
        url = f"{server}/{self.repository}/actions/runs/{stamp.run}/attempts/{stamp.attempt}"
        at = f" of {stamp.head[:12]}" if stamp.head else ""
        return f"<sub>[The run]({url}){at}</sub>"

    def comment(self) -> Publisher:
        """Return the publisher of the sticky comment."""
        return StickyComment(
            github=self.github,
            repository=self.repository,
            pull=lambda: self.told_of,
            key=self.key,
            stamp=self.stamp,
            footer=self.footer,
            author=self.author,
            dry_run=self.dry_run,
        )

    def file(self, name: str) -> Path:
        """Return the file that a variable of GitHub's names; NotAvailableError without one."""
        return Path(self._variable(name))

    def _variable(self, name: str) -> str:
        value = self.environ.get(name, "")
        if not value:
            message = f"{name} is not set"
            raise NotAvailableError(message, hint="GitHub Actions sets it; else set it yourself")
        return value

    def annotations(self) -> Publisher:
        """Return the publisher of annotations; NotAvailableError where nobody reads them."""
        if self.environ.get("GITHUB_ACTIONS") != "true":
            message = "GITHUB_ACTIONS is not set"
            raise NotAvailableError(message, hint="annotations are read in GitHub Actions alone")
        return Annotations(say=self.say)
