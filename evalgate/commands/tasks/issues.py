"""Issues of a tracker, in files that somebody took out of it: what was wrong, in their words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from evalgate.core.plain import readable
from evalgate.disk import read_at_most
from evalgate.errors import UsageError

#: The most that is read of one file, in bytes.
_MOST: Final = 64 << 20
_LIST: Final = "a list as of: gh issue list --state all --limit 9999 --json number,title,body"


def load_issues(place: Path) -> dict[str, str]:
    """Return the text of each issue by its number, the first where there are several.

    ``place`` is a folder with a file an issue, whose name holds its number, or one file of JSON:
    a list of objects with ``number``, ``title`` and ``body``.

    Raises:
        UsageError: a file is too large, or no such list.
    """
    issues: dict[str, str] = {}
    for number, text in _in_folder(place) if place.is_dir() else _in_list(place):
        issues.setdefault(number, readable(text))
    return issues


def _in_folder(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.iterdir()):
        numbers = re.findall(r"\d+", path.stem) if path.is_file() else []
        text = _text(path) if numbers else ""
        yield from ((number, text) for number in numbers)


def _in_list(path: Path) -> Iterator[tuple[str, str]]:
    if not path.is_file():
        raise UsageError(f"--issues {path}: is neither a folder nor a file", hint=_LIST)
    try:
        rows = json.loads(_text(path).rstrip())
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}: this is no JSON", hint=_LIST) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: this is no JSON", hint=_LIST) from error
    if not isinstance(rows, list):
        raise UsageError(f"{path}: holds no list of issues", hint=_LIST)
    for place, row in enumerate(rows, 1):
        if not _is_issue(row):
            raise UsageError(f"{path}: number {place} of the list is no issue", hint=_LIST)
        yield str(row["number"]), f"{row['title']}\n\n{row.get('body') or ''}"


def _is_issue(row: Any) -> bool:
    return (
        isinstance(row, dict)
        and isinstance(row.get("number"), int)
        and isinstance(row.get("title"), str)
        and isinstance(row.get("body"), str | None)
    )


def _text(path: Path) -> str:
    data = read_at_most(path, _MOST)
    if data is None:
        raise UsageError(f"{path}: is larger than {_MOST >> 20} MiB", hint="name a part of it")
    return data.decode("utf-8-sig", "replace")
