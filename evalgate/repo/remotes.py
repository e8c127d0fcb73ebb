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
