"""Where a repository is pushed to."""

from __future__ import annotations

import re
from typing import Final

from evalgate.repo.git import Git

#: Hosts where strangers may read along. Whether they may, a URL does not tell.
_OPEN: Final = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org")
_HOST: Final = re.compile(r"(?:^[a-z+]+://(?:[^/@]*@)?|^(?:[^/@:]*@)?)([^/:]+)[:/]", re.IGNORECASE)


def public_host(git: Git) -> str:
    """Return the first host among the remotes that may show a repository to all, or nothing."""
    said = git.run("config", "-z", "--get-regexp", r"^remote\..*\.(url|pushurl)$", ok=(0, 1))
    for entry in said.decode("utf-8", "surrogateescape").split("\0"):
        _, _, url = entry.partition("\n")
        found = _HOST.match(url)
        host = found[1].lower() if found else ""
        if host in _OPEN or host.removeprefix("ssh.") in _OPEN:
            return host.removeprefix("ssh.")
    return ""


def default_branch(git: Git) -> str:
    """Return the branch that changes are merged into, nothing when no one says which.

    What ``origin`` says; without it the branch that git begins repositories with, main or master.
    """
    told = git.run("symbolic-ref", "-q", "refs/remotes/origin/HEAD", ok=(0, 1)).decode().strip()
    if told:
        return told.removeprefix("refs/remotes/origin/")
    configured = git.run("config", "--get", "init.defaultBranch", ok=(0, 1)).decode().strip()
    names = [name for name in (configured, "main", "master") if name]
    found = git.lookup(*(f"refs/heads/{name}" for name in names))
    return next((name for name, oid in zip(names, found, strict=True) if oid is not None), "")
