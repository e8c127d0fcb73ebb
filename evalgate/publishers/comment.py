"""One sticky comment on a pull request: ours, the oldest, and never over a newer run's word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from evalgate.core.decision import Decision
from evalgate.core.pull import Pull
from evalgate.core.sticky import Comment, Stamp, heading, standing
from evalgate.errors import NotAvailableError
from evalgate.protocols import Telling, Told
from evalgate.publishers.github import Answer, GitHub

#: The most bytes that are tried, one after the other, where GitHub finds a body too long. The first
#: has room for a page of the usual 60,000 and what is hidden above it.
LIMITS: Final = (62_000, 30_000, 10_000, 3_000)
_ROUNDS: Final = 4
#: Who posts with the token of a workflow, which may not ask who it is.
_WORKFLOW: Final = "github-actions[bot]"
#: What says that this token may not: a fork's, one without the permission, a locked conversation.
_NOT_ALLOWED: Final = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.GONE)


class _NotAllowed(Exception):  # noqa: N818 - it is no error: a planned end, told as a value
    """The token may not read or write comments here."""


@dataclass(frozen=True, kw_only=True)
class StickyComment:
    """Writes the comment of one key to one pull request.

    ``pull`` finds it, or says why there is none; ``footer`` is the last line.
    """

    github: GitHub
    repository: str
    pull: Callable[[], Pull | str]
    key: str
    stamp: Stamp
    footer: str = ""
    author: str = ""
    dry_run: bool = False

    def publish(self, telling: Telling) -> Told:
        """Create, update or leave the comment, and remove what is double.

        Raises:
            NotAvailableError: GitHub does not answer, or refuses for another reason than that
                this token may not.
        """
        pull = self.pull()
        if isinstance(pull, str):
            return Told(where="comment", done="nothing", detail=pull)
        try:
            return self._settle(pull.number, telling)
        except _NotAllowed as reason:
            return Told(where="comment", done="refused", detail=str(reason), refused=True)

    def _settle(self, number: int, telling: Telling) -> Told:
        authors = self._authors()
        unmeasured = telling.outline.decision is Decision.STALE
        done = ""
        for _ in range(_ROUNDS):
            found = standing(
                self._comments(number),
                authors=authors,
                key=self.key,
                stamp=self.stamp,
                unmeasured=unmeasured,
            )
            if found.newer:
                return Told(where="comment", done=done or "nothing", detail="a newer run has told")
            if self.dry_run:
                return Told(where="comment", done=f"would {'update' if found.keep else 'create'}")
            if found.keep is None:
                # Looked at again: another job may have made one at the same time.
                done = self._create(number, telling) or done
                continue
            written = self._update(found.keep, telling)
            if not written:
                continue
            for one in found.remove:
                self._delete(one)
            return Told(where="comment", done=done or written, detail=found.keep.url)
        message = "GitHub does not keep the comment that is written"
        raise NotAvailableError(message, hint="run it again: https://www.githubstatus.com")

    def _authors(self) -> tuple[str, ...]:
        """Return whose comments are ours: a person goes on with the workflow's, where it is."""
        if self.author:
            return (self.author,)
        answer = self.github.ask("GET", "/user")
        login = answer.value.get("login") if answer.ok and isinstance(answer.value, dict) else None
        if isinstance(login, str):
            return (login,) if self.stamp.run else (_WORKFLOW, login)
        if answer.status == HTTPStatus.UNAUTHORIZED:
            raise NotAvailableError(
                f"GitHub does not know the token: {answer.words}",
                hint="give GITHUB_TOKEN one that is valid and may write to pull requests",
            )
        if answer.status == HTTPStatus.FORBIDDEN:
            return (_WORKFLOW,)
        raise self._failed("say who the token is", answer)

    def _comments(self, number: int) -> list[Comment]:
        found = []
        for answer in self.github.pages(f"/repos/{self.repository}/issues/{number}/comments"):
            self._require(answer, "list the comments")
            rows = answer.value
            for row in rows if isinstance(rows, list) else []:
                user = row.get("user") or {}
                found.append(
                    Comment(
                        id=int(row["id"]),
                        author=str(user.get("login", "")),
                        body=str(row.get("body") or ""),
                        url=str(row.get("html_url") or ""),
                    )
                )
        return found

    def _create(self, number: int, telling: Telling) -> str:
        path = f"/repos/{self.repository}/issues/{number}/comments"
        answer = self._write("POST", path, telling)
        if answer.unsure:  # it may be there all the same, and is not posted twice
            return ""
        self._require(answer, "post the comment")
        return "created"

    def _update(self, comment: Comment, telling: Telling) -> str:
        there = comment.body.replace("\r\n", "\n").rstrip()
        if any(there == self._body(telling, limit).rstrip() for limit in LIMITS):
            return "unchanged"
        path = f"/repos/{self.repository}/issues/comments/{comment.id}"
        answer = self._write("PATCH", path, telling)
        if answer.status == HTTPStatus.NOT_FOUND:  # somebody deleted it in between
            return ""
        self._require(answer, "update the comment")
        return "updated"

    def _delete(self, comment: Comment) -> None:
        path = f"/repos/{self.repository}/issues/comments/{comment.id}"
        answer = self.github.ask("DELETE", path)
        if answer.status != HTTPStatus.NOT_FOUND:
            self._require(answer, "remove a double comment")

    def _write(self, method: str, path: str, telling: Telling) -> Answer:
        answer = Answer(status=0)
        for limit in LIMITS:
            answer = self.github.ask(method, path, {"body": self._body(telling, limit)})
            if answer.status != HTTPStatus.UNPROCESSABLE_ENTITY:
                break
        return answer

    def _body(self, telling: Telling, limit: int) -> str:
        head = heading(self.key, self.stamp)
        foot = f"\n\n{self.footer}\n" if self.footer else "\n"
        rest = limit - len(head.encode()) - len(foot.encode())
        return f"{head}{telling.page(rest).rstrip()}{foot}"

    def _require(self, answer: Answer, doing: str) -> None:
        if answer.status in _NOT_ALLOWED:
            message = f"the token may not {doing}: {answer.words}"
            raise _NotAllowed(message)
        if not answer.ok:
            raise self._failed(doing, answer)

    def _failed(self, doing: str, answer: Answer) -> NotAvailableError:
        message = f"GitHub does not {doing}: {answer.words}"
        return NotAvailableError(message, hint="run it again, or look at the job's summary")
