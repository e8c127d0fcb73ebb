"""A git repository of a benchmark's own: commit, pack, weigh, diff."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: A file's part of a diff begins with this.
_PART: Final = re.compile(rb"^(?=diff --git )", re.MULTILINE)
_SETTINGS: Final = ("user.name=benchmark", "user.email=benchmark@example.invalid", "gc.auto=0")


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository and its work tree; the user's own settings of git are left out."""

    folder: Path

    @staticmethod
    def create(folder: Path) -> Repository:
        """Make an empty repository in a new folder."""
        folder.mkdir(parents=True)
        repository = Repository(folder)
        repository.git("init", "--quiet", ".")
        return repository

    def git(self, *arguments: str) -> bytes:
        """Run git and return its output. CalledProcessError when it fails."""
        env = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
        env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        argv = ["git", *settings, *arguments]
        return subprocess.run(
            argv, cwd=self.folder, env=env, stdout=subprocess.PIPE, check=True
        ).stdout

    def commit(self, message: str) -> None:
        """Commit the whole work tree."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def pack(self) -> float:
        """Pack everything as git does by itself; return the MB of the packs."""
        self.git("gc", "--quiet")
        packs = self.folder.glob(".git/objects/pack/*.pack")
        return sum(path.stat().st_size for path in packs) / 1e6

    def diffs(self) -> list[bytes]:
        """Return the last commit's diff, a part for each file; renamed files are followed."""
        whole = self.git("diff", "--find-renames", "--no-color", "HEAD~1", "HEAD")
        return [part for part in _PART.split(whole) if part]
