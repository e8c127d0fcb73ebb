"""A verdict out of another run's artifact: read in memory, within bounds, and by two names only.

Whoever opened the pull request wrote the artifact. Nothing of it is laid on the disk, so that no
name in it leads anywhere, and nothing is unpacked beyond what is read.
"""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Mapping
from typing import Final

from evalgate.core.event import Event
from evalgate.errors import NotAvailableError, UsageError
from evalgate.publishers.github import GitHub

#: The most bytes of the archive, and of one file out of it.
ARCHIVE_LIMIT: Final = 8 * 1024 * 1024
FILE_LIMIT: Final = 2 * 1024 * 1024
_MEMBERS: Final = 1000

FILES: Final = ("verdict.json", "verdict.md")


#: What an archive of a stranger can raise, by its form, its methods of compression, its password.
_UNREADABLE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)


def fetch_verdict(github: GitHub, repository: str, run: int, name: str) -> Mapping[str, bytes]:
    """Return the files of a verdict out of the newest artifact of this name; none without one.

    Raises:
        UsageError: it is no verdict.
        NotAvailableError: GitHub does not give it, or it is too large.
    """
    path = f"/repos/{repository}/actions/runs/{run}/artifacts"
    found: list[Event] = []
    for answer in github.pages(path, name=name):
        if not answer.ok:
            message = f"GitHub does not list the artifacts of run {run}: {answer.words}"
            hint = "the job needs the permission `actions: read`"
            raise NotAvailableError(message, hint=hint)
        rows = Event(answer.value).at("artifacts")
        found += [Event(row) for row in (rows if isinstance(rows, list) else [])]
    ids = [
        one.number("id") or 0
        for one in found
        if one.at("name") == name and one.at("expired") is not True
    ]
    if not any(ids):
        return {}
    answer = github.download(f"/repos/{repository}/actions/artifacts/{max(ids)}/zip", ARCHIVE_LIMIT)
    if not answer.ok:
        message = f"GitHub does not give the artifact {name}: {answer.words}"
        raise NotAvailableError(message, hint="run it again")
    return read_archive(answer.body, name)


def read_archive(data: bytes, name: str) -> Mapping[str, bytes]:
    """Read the files of a verdict out of an archive; UsageError for anything odd about it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if len(archive.infolist()) > _MEMBERS:
                message = f"the artifact {name} has more than {_MEMBERS} files"
                raise UsageError(message, hint="it is no verdict")
            there = [one for one in FILES if one in archive.namelist()]
            if FILES[0] not in there:
                message = f"the artifact {name} has no {FILES[0]}"
                raise UsageError(message, hint="`evalgate gate --out FOLDER` writes one")
            return {one: _read(archive, one, name) for one in there}
    except _UNREADABLE as error:
        message = f"the artifact {name} can not be read: {type(error).__name__}"
        raise UsageError(message, hint="it is no verdict") from error


def _read(archive: zipfile.ZipFile, member: str, name: str) -> bytes:
    with archive.open(member) as file:  # what the directory says of its size is not believed
        data = file.read(FILE_LIMIT + 1)
    if len(data) > FILE_LIMIT:
        message = f"{member} in the artifact {name} is larger than {FILE_LIMIT} bytes"
        raise UsageError(message, hint="it is no verdict")
    return data
