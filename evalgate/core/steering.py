"""Files of a claim that would take the place of what runs the hidden tests, and grade no code."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from evalgate.core.claim import Claim
from evalgate.core.files import Tree

#: Modules that run tests, or that Python runs before them; in any folder, for each may be on
#: the path. Compiled ones have a word between name and ending.
_MODULE: Final = re.compile(
    r"(?:^|.*/)(?:pytest|_pytest|pluggy|iniconfig|unittest|sitecustomize|usercustomize)"
    r"(?:/|(?:\.[\w-]+)?\.(?:py|pyc|so)\Z)",
    re.DOTALL,
)
#: Where a package that counts as installed names plugins, and what puts folders on the path.
_INSTALLED: Final = re.compile(
    r"(?i:.*\.(?:dist-info|egg-info)/entry_points\.txt|.*\.(?:pth|egg-link))\Z", re.DOTALL
)


def laid_aside(snapshot: Tree, claim: Claim, expected: Collection[str]) -> tuple[str, ...]:
    """Return the files of a claim that are not laid out beside the hidden tests, sorted.

    They steer what runs the tests, and the snapshot has no such module, or says something else
    of that package. What a task ``expected`` stays.
    """
    modules = {_module(path) for path in snapshot} - {None}
    return tuple(
        path
        for path, file in sorted(claim.changed.items())
        if path not in expected
        and (
            _module(path) not in {None, *modules}
            or (_INSTALLED.match(path) is not None and snapshot.get(path) != file)
        )
    )


def _module(path: str) -> str | None:
    """Return where a module of test machinery lies, None for any other file."""
    found = _MODULE.match(path)
    return None if found is None else found[0]
