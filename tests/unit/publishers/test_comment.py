"""The sticky comment, against a GitHub that holds every request against its own description."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evalgate.core.decision import Decision
from evalgate.core.outline import Outline
from evalgate.core.pull import Pull
from evalgate.core.sticky import Stamp, heading
from evalgate.errors import ExitCode, NotAvailableError
from evalgate.protocols import Telling
from evalgate.publishers.comment import StickyComment
from evalgate.publishers.github import GitHub
from evalgate.report.shedding import cut
from tests.github.fake import BOT, REPO, TOKEN, FakeGitHub, Fault, Reply

OUTLINE = Outline(decision=Decision.PASS, exit_code=ExitCode.OK, sentence="Fine.")
COMMENTS = rf"{REPO}/issues/7/comments"
ONE = rf"{REPO}/issues/comments/\d+"


def telling(page: str) -> Telling:
    return Telling(outline=OUTLINE, page=lambda limit: cut(page, limit))


@pytest.fixture
def waited() -> list[float]:
    """The seconds that were waited, none of them really."""
    return []


@pytest.fixture
def sticky(github: FakeGitHub, waited: list[float]) -> StickyComment:
    """The publisher of run 50.1."""
    asked = replace(GitHub.of(github.url, TOKEN), pause=waited.append)
    return StickyComment(
        github=asked,
        repository="o/r",
        pull=lambda: Pull(number=7),
        key="",
        stamp=Stamp(50, 1, "a" * 40),
    )


def mine(text: str, run: int = 40, attempt: int = 1, key: str = "") -> str:
    return f"{heading(key, Stamp(run, attempt))}{text}\n"


def test_one_comment_stays(github: FakeGitHub, sticky: StickyComment) -> None:
    """Created, left as it is, then updated by a later run; it is always one."""
    assert sticky.publish(telling("# One")).done == "created"
    assert sticky.publish(telling("# One")).done == "unchanged"
    assert len(github.writes()) == 1
    later = replace(sticky, stamp=Stamp(51, 1))
    assert later.publish(telling("# Two")).done == "updated"
    (body,) = github.bodies()
    assert body == mine("# Two", 51)
    assert {token for _, token in github.tokens} == {f"Bearer {TOKEN}"}


def test_ours_is_found_on_the_third_page(github: FakeGitHub, sticky: StickyComment) -> None:
    """251 comments, the last of which is ours."""
    for n in range(250):
        github.add(f"comment {n}", author="somebody")
    own = github.add(mine("old"))
    assert sticky.publish(telling("new")).done == "updated"
    assert "new" in github.comments[own]["body"]
    assert len(github.comments) == 251
    pages = [path for method, path in github.asked if method == "GET" and "/comments" in path]
    assert len(pages) == 3


SPOOFS = {
    "another author": (mine("spoof", 99), "mallory"),
    "another bot": (mine("spoof", 99), "dependabot[bot]"),
    "quoted": (f"> {mine('spoof', 99)}", BOT),
    "after a line": (f"hello\n{mine('spoof', 99)}", BOT),
    "in one line with words": (f"{mine('x').splitlines()[0]} hello", BOT),
    "another key": (mine("other", 99, key="live"), BOT),
}


@pytest.mark.parametrize("name", SPOOFS)
def test_what_only_looks_like_ours_is_left_alone(
    github: FakeGitHub, sticky: StickyComment, name: str
) -> None:
    """The marker of somebody else, or at another place, is words."""
    body, author = SPOOFS[name]
    there = github.add(body, author)
    assert sticky.publish(telling("ours")).done == "created"
    assert github.comments[there]["body"] == body
    assert len(github.comments) == 2


@pytest.mark.parametrize("newer", [(51, 1), (50, 2), (400, 1)])
def test_a_newer_run_is_not_written_over(
    github: FakeGitHub, sticky: StickyComment, newer: tuple[int, int]
) -> None:
    """Also where the newer word stands in a double."""
    for there in ([newer], [(40, 1), newer]):
        github.comments.clear()
        for run, attempt in there:
            github.add(mine("theirs", run, attempt))
        told = sticky.publish(telling("ours"))
        assert (told.done, told.detail) == ("nothing", "a newer run has told")
    assert github.writes() == []


@pytest.mark.parametrize("line", ["", "<!-- run x -->", "<!-- run 9.9 head zz -->", "text"])
def test_a_comment_whose_run_can_not_be_read_is_updated(
    github: FakeGitHub, sticky: StickyComment, line: str
) -> None:
    """Somebody edited it, with the line ends of a browser."""
    github.add(f"<!-- evalgate:v1 -->\r\n{line}\r\nold")
    assert sticky.publish(telling("new")).done == "updated"
    assert github.bodies() == [mine("new", 50).replace("50.1", f"50.1 head {'a' * 40}")]


def test_the_oldest_wins_and_doubles_go(github: FakeGitHub, sticky: StickyComment) -> None:
    """Two jobs once posted at the same time."""
    first, other, second = (
        github.add(mine("1")),
        github.add("talk", "somebody"),
        github.add(mine("2")),
    )
    assert sticky.publish(telling("new")).done == "updated"
    assert [*github.comments] == [first, other]
    assert "new" in github.comments[first]["body"]
    assert second not in github.comments


def test_two_first_posters_end_with_one_comment(github: FakeGitHub, sticky: StickyComment) -> None:
    """The other one's came in between: the older comment gets the newer word."""

    def between() -> None:
        github.meanwhile = None
        (number,) = github.comments
        theirs = {**github.comments[number], "id": number - 1, "body": mine("theirs", 49)}
        github.comments = {number - 1: theirs, **github.comments}

    github.meanwhile = between
    assert sticky.publish(telling("ours")).done == "created"
    assert [*github.comments] == [1000]
    assert "ours" in github.comments[1000]["body"]


@pytest.mark.parametrize(("login", "author"), [("robot", ""), (None, "my-app[bot]")])
def test_who_the_token_is(
    github: FakeGitHub, sticky: StickyComment, login: str | None, author: str
) -> None:
    """A person's token says so; that of an app may not ask, and is named."""
    github.login = login
    github.add(mine("spoof"), BOT)
    own = github.add(mine("old"), login or author)
    assert replace(sticky, author=author).publish(telling("new")).done == "updated"
    assert "new" in github.comments[own]["body"]


STALE = replace(OUTLINE, decision=Decision.STALE, exit_code=ExitCode.DIVERGED, fork=True)


@pytest.mark.parametrize("own", [False, True])
def test_a_maintainer_s_measurement_takes_the_place_of_the_workflow_s_page(
    github: FakeGitHub, sticky: StickyComment, own: bool
) -> None:
    """One comment: measured by a person, kept when the old run is made again, gone with a push."""
    stale = Telling(outline=STALE, page=lambda limit: cut("waits", limit))
    assert sticky.publish(stale).done == "created"
    (there,) = github.comments
    if own:  # an older word of the same person, beside the workflow's
        github.add(mine("old", 0, 0), "ann")
    github.login = "ann"
    person = replace(sticky, stamp=Stamp(0, 0, sticky.stamp.head))
    assert person.publish(telling("measured")).done == "updated"
    assert [*github.comments] == [there]
    assert "measured" in github.comments[there]["body"]

    github.login = None
    again = replace(sticky, stamp=Stamp(50, 2, sticky.stamp.head))
    assert again.publish(stale).done == "nothing"
    assert "measured" in github.comments[there]["body"]
    assert again.publish(telling("judged by recordings")).done == "updated"
    assert person.publish(telling("measured")).done == "updated"
    pushed = replace(sticky, stamp=Stamp(51, 1, "b" * 40))
    assert pushed.publish(stale).done == "updated"
    assert "waits" in github.comments[there]["body"]


@pytest.mark.parametrize("ceiling", [262_144, 65_536, 40_000, 4_000])
def test_a_body_that_is_too_long_gets_shorter(
    github: FakeGitHub, sticky: StickyComment, ceiling: int
) -> None:
    """313,521 characters: what is on top stays, whatever GitHub takes; then nothing is written."""
    github.ceiling = ceiling
    page = "> [!CAUTION]\n> **Regression.** All is lost.\n\n" + "word é\n\n" * 44_782
    page = page[:313_521]
    assert len(page) == 313_521
    assert sticky.publish(telling(page)).done == "created"
    (body,) = github.bodies()
    assert ceiling // 5 < len(body.encode()) <= ceiling or ceiling > 62_000
    assert len(body.encode()) <= 62_000
    assert body.startswith(f"{heading('', sticky.stamp)}> [!CAUTION]\n> **Regr")
    assert "the page is too long" in body
    assert sticky.publish(telling(page)).done == "unchanged"
    github.comments[next(iter(github.comments))]["body"] = mine("old")
    assert sticky.publish(telling(page)).done == "updated"
    assert github.bodies() == [body]


def test_a_body_that_is_never_taken(github: FakeGitHub, sticky: StickyComment) -> None:
    """GitHub's words are told."""
    github.ceiling = 10
    with pytest.raises(NotAvailableError, match="422: Validation Failed"):
        sticky.publish(telling("x" * 20_000))


def test_a_fork_s_token_may_not(github: FakeGitHub, sticky: StickyComment) -> None:
    """That is no error: it is told, and the verdict is elsewhere."""
    github.allowed = False
    told = sticky.publish(telling("x"))
    assert told.refused
    assert told.detail == (
        "the token may not post the comment: 403: Resource not accessible by integration"
    )
    assert len(github.writes()) == 1


FORBIDDEN = {"message": "You have exceeded a secondary rate limit."}
WAITS = {
    "retry-after": (Reply(403, FORBIDDEN, {"retry-after": "7"}), [7.0]),
    "429": (Reply(429, {"message": "x"}, {"retry-after": "3"}, described=False), [3.0]),
    "nothing said": (Reply(403, FORBIDDEN), [60.0]),
    "at once": (Reply(403, FORBIDDEN, {"retry-after": "0"}), [1.0]),
}


@pytest.mark.parametrize("name", WAITS)
def test_github_asks_to_wait(
    github: FakeGitHub, sticky: StickyComment, waited: list[float], name: str
) -> None:
    """It is waited, and the post is made once."""
    reply, seconds = WAITS[name]
    github.faults.append(Fault("POST", COMMENTS, reply))
    assert sticky.publish(telling("x")).done == "created"
    assert waited == seconds
    assert len(github.comments) == 1


@pytest.mark.parametrize("times", [1, 999])
def test_a_wait_has_an_end(
    github: FakeGitHub, sticky: StickyComment, waited: list[float], times: int
) -> None:
    """One that is too long, or many: nobody's job hangs for an hour."""
    asked = "3600" if times == 1 else "50"
    limited = Reply(403, FORBIDDEN, {"retry-after": asked})
    github.faults.append(Fault("POST", COMMENTS, limited, times=times))
    with pytest.raises(NotAvailableError, match=f"asks to wait {asked} s"):
        sticky.publish(telling("x"))
    assert sum(waited) <= 120


@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize("status", [502, 0])
def test_a_post_whose_answer_is_lost_is_not_made_twice(
    github: FakeGitHub, sticky: StickyComment, status: int, after: bool
) -> None:
    """It is looked for, and made again only where it is not there."""
    lost = Reply(status, {"message": "Server Error"}, described=False)
    github.faults.append(Fault("POST", COMMENTS, lost, after=after))
    told = sticky.publish(telling("x"))
    assert told.done == ("unchanged" if after else "created")
    assert len(github.comments) == 1


def test_a_list_that_fails_is_asked_for_again(
    github: FakeGitHub, sticky: StickyComment, waited: list[float]
) -> None:
    """Twice; then it is told."""
    broken = Reply(503, {"message": "down"}, described=False)
    github.faults.append(Fault("GET", COMMENTS, broken, times=2))
    assert sticky.publish(telling("x")).done == "created"
    assert waited == [1.0, 2.0]
    github.faults.append(Fault("GET", COMMENTS, broken, times=3))
    with pytest.raises(NotAvailableError, match="does not list the comments: 503: down"):
        sticky.publish(telling("x"))


def test_a_comment_that_was_deleted_in_between(github: FakeGitHub, sticky: StickyComment) -> None:
    """A new one is made."""
    github.add(mine("old"))
    gone = Reply(404, {"message": "Not Found"}, described=False)
    github.faults.append(Fault("PATCH", ONE, gone, then=github.comments.clear))
    assert sticky.publish(telling("new")).done == "created"
    assert len(github.comments) == 1


def test_a_renamed_repository_is_followed_and_another_host_is_not(
    github: FakeGitHub, sticky: StickyComment
) -> None:
    """The token goes to no other host."""
    there = {"location": f"{github.url}/user"}
    moved = Reply(301, {"message": "Moved"}, there, described=False)
    github.faults.append(Fault("GET", "/user", moved))
    assert sticky.publish(telling("x")).done == "created"
    away = {"location": "http://localhost:1/user"}
    github.faults.append(Fault("GET", "/user", Reply(301, {}, away, described=False)))
    with pytest.raises(NotAvailableError, match="another host"):
        sticky.publish(telling("x"))


def test_a_dry_run_writes_nothing(github: FakeGitHub, sticky: StickyComment) -> None:
    """It says what it would do."""
    dry = replace(sticky, dry_run=True)
    assert dry.publish(telling("x")).done == "would create"
    github.add(mine("old"))
    assert dry.publish(telling("x")).done == "would update"
    assert github.writes() == []


def test_an_enterprise_s_own_address(github: FakeGitHub, sticky: StickyComment) -> None:
    """All that is asked lies below it, from the first page to the last."""
    for n in range(101):
        github.add(f"comment {n}", author="somebody")
    github.url += "/api/v3"
    asked = GitHub.of(f"{github.url}/", TOKEN)
    assert replace(sticky, github=asked).publish(telling("x")).done == "created"
    assert all(path.startswith("/api/v3/") for _, path in github.asked)
    assert len(github.asked) == 6
