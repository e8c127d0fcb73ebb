"""Which folders of a suite a command about tasks is meant to look at."""

from __future__ import annotations

from collections.abc import Sequence

from evalgate.commands.project import State
from evalgate.tasks.suite import Folder, select


def select_folders(state: State, patterns: Sequence[str]) -> tuple[Folder, ...]:
    """Return the folders that patterns mean, in order of id, also those that can not be read.

    Raises:
        NothingRanError: a pattern matches none, or there is no folder.
    """
    folders = sorted(state.folders, key=lambda folder: folder.id)
    unread = [one for one in folders if one.task is None and one.wanted(patterns)]
    if not unread:  # what can not be read may be what a pattern means
        select([one.task for one in folders if one.task is not None], patterns)
    return tuple(one for one in folders if one.wanted(patterns))
