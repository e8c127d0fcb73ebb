"""`evalgate comment`: tells a verdict that was written where people look at a pull request."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from evalgate.commands.console import Console
from evalgate.commands.project import open_project
from evalgate.core.decision import Decision
from evalgate.core.event import Event
from evalgate.core.json import Json
from evalgate.core.outline import Outline
from evalgate.core.plain import plain
from evalgate.core.sticky import bare, marker
from evalgate.errors import UsageError
from evalgate.protocols import Telling, Told
from evalgate.publishers.artifact import FILE_LIMIT, FILES, fetch_verdict
from evalgate.publishers.surroundings import Surroundings
from evalgate.publishers.table import build_publishers
from evalgate.publishers.workflow import command
from evalgate.repo.github import load_event
from evalgate.report.brief import render_brief
from evalgate.report.shedding import LIMIT_BYTES, cut

_STRANGER = (
    "This page is made from what the workflow of a pull request from a fork says; "
    "the run shows whether that is so."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentOptions:
    """What the command line says about a comment."""

    folder: Path | None = None
    artifact: str = ""
    to: Sequence[str] = ()
    pull: int | None = None
    key: str = ""
    author: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """Where a verdict was told, and the page in the length that a comment has.

    ``outline`` is None where another run made no verdict.
    """

    outline: Outline | None
    told: tuple[Told, ...]
    page: str = ""

    @property
    def text(self) -> str:
        """One line a place; with a dry run also the page."""
        lines = [
            f"{one.where}: {one.done}{f' ({one.detail})' if one.detail else ''}"
            for one in self.told
        ]
        return "\n".join([*lines, *(["", self.page] if self.page else [])])

    def to_json(self) -> dict[str, Json]:
        """Return the document of ``--json``."""
        return {
            "decision": None if self.outline is None else str(self.outline.decision),
            "exit_code": None if self.outline is None else int(self.outline.exit_code),
            "told": {
                one.where: {"done": one.done, "detail": one.detail, "refused": one.refused}
                for one in self.told
            },
            "page": self.page,
        }


def comment(
    directory: Path,
    config: str | None,
    options: CommentOptions,
    console: Console,
    environ: Mapping[str, str],
) -> Announced:
    """Tell the verdict of a folder or artifact in every place that is asked for, or that is here.

    Places that this token may not write to are named, and are no error: the verdict is in the
    summary then.

    Raises:
        UsageError: there is no verdict, or the surroundings are wrong.
        NotAvailableError: GitHub does not answer.
    """
    marker(options.key)
    path = environ.get("GITHUB_EVENT_PATH", "")
    here = Surroundings(
        environ=environ,
        event=load_event(Path(path)) if path else Event(None),
        say=_say,
        pull=options.pull,
        key=options.key,
        author=options.author,
        dry_run=options.dry_run,
    )
    files = _files(directory, config, options, here)
    if not files:
        why = f"the run has no artifact {options.artifact}: its gate did not come to an end"
        here.say(command("notice", "evalgate", f"no comment: {why}"))
        return Announced(outline=None, told=(Told(where="comment", done="nothing", detail=why),))
    outline = Outline.parse(files["verdict.json"], "verdict.json")
    telling = Telling(outline=outline, page=partial(_within, _page(outline, files, here), outline))
    here = replace(here, judged=outline.commit)
    wanted = ("comment",) if options.dry_run else options.to
    if options.dry_run and not here.has_token:
        why = "GitHub was not asked: there is no GITHUB_TOKEN"
        would = Told(where="comment", done="would be written", detail=why)
        return Announced(outline=outline, told=(would,), page=telling.page(LIMIT_BYTES))
    told: list[Told] = []
    for publisher in build_publishers(wanted, here):
        told.append(publisher.publish(telling))
        console.note(f"comment: {told[-1].where}: {told[-1].done}")
    told += _fall_back(told, telling, here)
    shown = telling.page(LIMIT_BYTES) if options.dry_run else ""
    return Announced(outline=outline, told=tuple(told), page=shown)


def _fall_back(told: Sequence[Told], telling: Telling, here: Surroundings) -> list[Told]:
    """Say aloud what was refused, and see that the summary has the page."""
    refused = [one for one in told if one.refused]
    for one in refused:
        here.say(command("notice", "evalgate", f"no {one.where}: {one.detail}"))
    if not refused or any(one.where == "summary" for one in told):
        return []
    if not here.environ.get("GITHUB_STEP_SUMMARY"):
        return []
    return [one.publish(telling) for one in build_publishers(("summary",), here)]


def _page(outline: Outline, files: Mapping[str, bytes], here: Surroundings) -> str:
    """Return the page as it was written, or, of a fork's workflow, one made anew of its data."""
    event = here.event
    source = event.at("workflow_run", "head_repository", "full_name")
    foreign = event.at("workflow_run") is not None and (
        source is None or source != event.at("repository", "full_name")
    )
    if foreign:
        # Commands that are to be copied never come from a stranger.
        asked = outline.decision is Decision.STALE and (here.has_token or not here.dry_run)
        pull = here.told_of if asked else ""
        steps = () if isinstance(pull, str) else pull.measuring
        return render_brief(replace(outline, fork=True), steps=steps, said_by=_STRANGER)
    written = files.get("verdict.md")
    if written is None:
        return render_brief(outline)
    return bare(written.decode("utf-8", "replace").replace("\0", "\ufffd"))


def _within(page: str, outline: Outline, limit_bytes: int) -> str:
    """Return the page cut to so many bytes; one that is a single line gives way to the brief."""
    short = cut(page, limit_bytes)
    return short if len(short.encode()) <= limit_bytes else cut(render_brief(outline), limit_bytes)


def _files(
    directory: Path, config: str | None, options: CommentOptions, here: Surroundings
) -> Mapping[str, bytes]:
    if options.artifact and options.folder is not None:
        message = "a folder and --artifact do not go together"
        raise UsageError(message, hint="name one of them")
    if options.artifact:
        run = here.event.number("workflow_run", "id")
        if run is None:
            message = "--artifact: this event tells of no run that was completed"
            raise UsageError(message, hint="it is for workflows that start `on: workflow_run`")
        return fetch_verdict(here.github, here.repository, run, options.artifact)
    folder = options.folder or open_project(directory, config).state
    files = {name: _read(folder / name) for name in FILES if (folder / name).is_file()}
    if "verdict.json" not in files:
        message = f"{folder} has no verdict.json"
        raise UsageError(message, hint="`evalgate gate --out FOLDER` writes one")
    return files


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(FILE_LIMIT + 1)
    if len(data) > FILE_LIMIT:
        message = f"{path} is larger than {FILE_LIMIT} bytes"
        raise UsageError(message, hint="it is no verdict")
    return data


def _say(line: str) -> None:
    # GitHub reads workflow commands from either stream; stdout is the command's data.
    print(plain(line), file=sys.stderr, flush=True)
