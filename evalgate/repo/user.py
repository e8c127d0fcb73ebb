"""Who works in a repository, as git calls them."""

from __future__ import annotations

import getpass

from evalgate.repo.git import Git


def user_name(git: Git) -> str:
    """Return the name that commits made here would bear, else that of the account."""
    said = git.run("config", "--get", "user.name", ok=(0, 1)).decode("utf-8", "replace").strip()
    if said:
        return said
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # an account without a name, as in some containers
        return "somebody"
