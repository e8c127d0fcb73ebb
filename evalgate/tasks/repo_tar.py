"""A tar archive of a repository's files, made by a stranger: read within limits, no way out."""

from __future__ import annotations

import io
import posixpath
import tarfile
from typing import Final, NoReturn

from evalgate.core.files import File, FileMode, is_safe_path, shadowed
from evalgate.errors import UsageError

_MEMBERS: Final = 50_000
_BYTES: Final = 256 << 20
_BROKEN: Final = (tarfile.TarError, EOFError, OSError, ValueError, OverflowError, RecursionError)


def read_tar(name: str, data: bytes) -> dict[str, File]:
    """Return the files of an uncompressed archive; UsageError names what is not taken.

    Taken are files, and symbolic links that stay inside: no hard link, device or sparse file, no
    path out or into ``.git``, at most 50,000 members and 256 MiB.
    """
    found: dict[str, File] = {}
    total = members = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                members += 1
                total += member.size
                path = posixpath.normpath(member.name)
                if members > _MEMBERS or total > _BYTES:
                    _refuse(name, f"holds more than {_MEMBERS} files, or {_BYTES >> 20} MiB")
                if member.isdir():
                    continue
                if not is_safe_path(path) or "\\" in path:
                    _refuse(name, f"{member.name!r} leaves the workspace, or is git's")
                if path in found:
                    _refuse(name, f"{path!r} is in it twice")
                found[path] = _file(name, archive, member, path)
    except _BROKEN as error:
        _refuse(name, f"can not be read: {error}")
    if problem := shadowed(found):
        _refuse(name, problem)
    if not found:
        _refuse(name, "holds no file")
    return found


def _file(name: str, archive: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> File:
    if member.issym():
        target = member.linkname
        end = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if target.startswith("/") or "\0" in target or not is_safe_path(end):
            _refuse(name, f"the link {path!r} leads out, to {target!r}")
        return File(data=target.encode("utf-8", "surrogateescape"), mode=FileMode.SYMLINK)
    if not member.isreg() or member.issparse():
        _refuse(name, f"{path!r} is neither a file nor a symbolic link")
    inside = archive.extractfile(member)
    data = b"" if inside is None else inside.read()
    if len(data) != member.size:
        _refuse(name, f"{path!r} is cut off")
    executable = FileMode.EXECUTABLE if member.mode & 0o100 else FileMode.REGULAR
    return File(data=data, mode=executable)


def _refuse(name: str, problem: str) -> NoReturn:
    hint = "make it by git archive --format=tar, of a commit without its history"
    raise UsageError(f"{name}: {problem}", hint=hint)
