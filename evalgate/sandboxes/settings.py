"""What a container is held to: how much it may use, and what it may do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from evalgate.sandboxes.room import TOP

MB: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one container may use: bytes of memory and work space, processors, processes."""

    memory: int = 2048 * MB
    work: int = 1024 * MB
    files: int = 200_000
    temp: int = 256 * MB
    cpus: float = 1.0
    processes: int = 256
    open_files: int = 4096
    file_size: int = 512 * MB


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerSettings:
    """What one container is made with.

    ``owner`` is the room that stands for it. ``profile`` says which system calls are allowed, as
    the engine takes it; with ``is_podman`` that is a file. The files of a ``lasting`` container
    are its own and not in memory; with ``network`` it reaches what the host does.
    """

    owner: str
    profile: str
    limits: Limits = field(default_factory=Limits)
    lasting: bool = False
    network: bool = False
    is_podman: bool = False

    @property
    def disks(self) -> Mapping[str, str]:
        """The file systems in memory, by where they lie, with their options."""
        limits = self.limits
        temp = {"/tmp": self._memory_disk(limits.temp, limits.files // 4)}  # noqa: S108 - inside
        return temp if self.lasting else {TOP: self._memory_disk(limits.work, limits.files), **temp}

    @property
    def ulimits(self) -> Mapping[str, int]:
        """What each of its processes may have."""
        return {
            "nofile": self.limits.open_files,
            "core": 0,
            "fsize": self.limits.file_size,
            **({"nproc": 4096} if self.is_podman else {}),
        }

    def _memory_disk(self, size: int, files: int) -> str:
        """Return the options of a file system in memory; podman can not limit its files."""
        number = "" if self.is_podman else f",nr_inodes={files}"
        return f"exec,size={size},mode=1777{number}"
