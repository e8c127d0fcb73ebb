"""Where a repository is pushed to, as its remotes say."""

from __future__ import annotations

import pytest

from evalgate.repo.git import Git
from evalgate.repo.remotes import public_host


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://github.com/a/b.git", "github.com"),
        ("https://user:word@gitlab.com/a/b", "gitlab.com"),
        ("git@github.com:a/b.git", "github.com"),
        ("ssh://git@ssh.github.com:443/a/b.git", "github.com"),
        ("git@codeberg.org:a/b.git", "codeberg.org"),
        ("https://git.example.org/github.com/b.git", ""),
        ("git@github.com.example.org:a/b.git", ""),
        ("/srv/github.com/b.git", ""),
        ("../b.git", ""),
    ],
)
def test_a_host_that_strangers_may_read_is_named(make_work, url, host):
    """By the host of the URL alone, in any of its forms."""
    work = make_work()
    work.git("remote", "add", "origin", url)
    assert public_host(Git.locate(work.path)) == host


def test_without_a_remote_there_is_none(make_work):
    """A new repository is on no host."""
    work = make_work()
    assert public_host(Git.locate(work.path)) == ""
