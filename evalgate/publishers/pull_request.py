"""The pull request that an event is about: told by GitHub, never by what a workflow made."""

from __future__ import annotations

from http import HTTPStatus

from evalgate.core.event import Event
from evalgate.core.pull import Pull
from evalgate.errors import NotAvailableError
from evalgate.publishers.github import GitHub


def find_pull(github: GitHub, repository: str, event: Event) -> Pull | str:
    """Return the pull request, or say why there is none to tell.

    Of a workflow that another one started it is the open one whose head is that run's commit,
    now: the event names none where it comes from a fork, and one that has moved on since is not
    what was judged.

    Raises:
        NotAvailableError: GitHub does not answer.
    """
    number = event.number("pull_request", "number")
    if number is not None:
        base = event.at("pull_request", "base", "ref")
        return Pull(number=number, base=base if isinstance(base, str) else "")
    if event.at("workflow_run") is None:
        return "this event is about no pull request"
    if event.at("workflow_run", "event") not in {"pull_request", "pull_request_target"}:
        return "the run was about no pull request"
    sha = event.text("workflow_run", "head_sha")
    owner = event.at("workflow_run", "head_repository", "owner", "login")
    branch = event.at("workflow_run", "head_branch")
    if not isinstance(owner, str) or not isinstance(branch, str):
        return "the repository of the pull request is gone"
    found = _open_pulls(github, repository, f"{owner}:{branch}", sha)
    if not found:
        return f"no open pull request has {sha[:12]} as its head: it has moved on, or was closed"
    if len(found) > 1:
        named = ", ".join(f"#{one.number}" for one in found)
        return f"{named} have the same head {sha[:12]}: name one with --pr"
    return found[0]


def _open_pulls(github: GitHub, repository: str, head: str, sha: str) -> list[Pull]:
    found: list[Pull] = []
    for answer in github.pages(f"/repos/{repository}/pulls", state="open", head=head):
        if answer.status in {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}:
            message = f"the token may not list the pull requests: {answer.words}"
            hint = "the job needs the permission `pull-requests: write`"
            raise NotAvailableError(message, hint=hint)
        if not answer.ok:
            message = f"GitHub does not list the pull requests: {answer.words}"
            raise NotAvailableError(message, hint="run it again")
        rows = answer.value
        for row in map(Event, rows if isinstance(rows, list) else []):
            number, base = row.number("number"), row.at("base", "ref")
            if number is not None and row.at("head", "sha") == sha:
                branch = base if isinstance(base, str) else ""
                found.append(Pull(number=number, base=branch, repository=repository))
    return found
