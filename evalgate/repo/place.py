"""Where a project lies: its repository, and the folder in it that holds the configuration."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from evalgate.errors import NoConfigurationError, UsageError
from evalgate.repo.git import Git

#: File name -> the table that is ours; the first that exists is used.
_CONFIG_FILES = {"evalgate.toml": (), "pyproject.toml": ("tool", "evalgate")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A repository, the folder in it (``prefix``, empty at its top) and the file there."""

    git: Git
    prefix: str
    config_name: str

    @property
    def config_path(self) -> str:
        """The configuration as a path of the repository."""
        return f"{self.prefix}/{self.config_name}".lstrip("/")


def table_of(config_name: str) -> tuple[str, ...]:
    """Return the path of the table that is ours in a file of that name."""
    return _CONFIG_FILES.get(config_name, ())


def find_place(directory: Path, config: str | None = None) -> Place:
    """Find repository and configuration from a directory upwards.

    Raises:
        NoConfigurationError: there is none up to the top of the repository.
    """
    git = Git.locate(directory)
    here = directory.resolve()
    for folder in (here, *here.parents):
        for name in _CONFIG_FILES if config is None else (config,):
            if _holds_config(folder / name, table_of(name)):
                prefix = folder.relative_to(git.top).as_posix()
                return Place(git=git, prefix="" if prefix == "." else prefix, config_name=name)
        if folder == git.top:
            break
    wanted = config or "evalgate configuration"
    where = f"between {here} and {git.top}" if here != git.top.resolve() else f"in {here}"
    message = f"no {wanted} {where}"
    hint = "evalgate init writes one: evalgate.toml, or [tool.evalgate] in pyproject.toml"
    raise NoConfigurationError(message, hint=hint)


def read_config(path: Path) -> str:
    """Return a configuration's text as it stands on disk."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        message = f"{path}: {error.reason} at byte {error.start}"
        raise UsageError(message, hint="write the file in UTF-8") from error


def _holds_config(path: Path, below: tuple[str, ...]) -> bool:
    if not path.is_file():
        return False
    if not below:
        return True
    try:
        data = tomllib.loads(read_config(path))
    except tomllib.TOMLDecodeError as error:
        message = f"{path}: {error}"
        raise UsageError(message, hint="the file is not valid TOML") from error
    return below[1] in data.get(below[0], {})
