"""The `[sandbox]` table: where trials are made, of what image, and within what bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evalgate.core.schema import Reader

#: Less than this no interpreter starts in; the engines themselves refuse less than 6 MB.
_LEAST_MB: Final = 16
_LEAST_CPUS: Final = 0.01
#: More than any machine has, so that it is a mistake.
MOST_MB: Final = 1 << 24
MOST_CPUS: Final = 4096.0
#: What isolates nothing: it is never taken for live trials unless it is asked for.
PROCESS: Final = "process"


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSpec:
    """Which provider, which image, how much of the machine a trial gets.

    ``image`` is used as it is, ``dockerfile`` is a file of the harness that is built with its
    folder as context; with neither the image that comes along is taken. ``memory_mb`` and
    ``work_mb`` are MiB. With ``setup_network`` the set-up of a task may reach the network.
    """

    use: str = "auto"
    image: str = ""
    dockerfile: str = ""
    memory_mb: int = 2048
    work_mb: int = 1024
    cpus: float = 1.0
    processes: int = 256
    setup_network: bool = False

    def allows(self, provider: str) -> bool:
        """Tell whether live trials that one provider isolated may decide about a change.

        A word on the command line lets a person see how an agent does; it judges nothing.
        """
        return provider != PROCESS or self.use == PROCESS

    @property
    def context(self) -> str:
        """The folder of the Dockerfile, with a slash at its end; empty for the harness's own."""
        folder, slash, _ = self.dockerfile.rpartition("/")
        return folder + slash


def read_sandbox(table: Reader) -> SandboxSpec:
    """Read the table; UsageError names what is wrong in it."""
    default = SandboxSpec()
    spec = SandboxSpec(
        use=table.text("use", default.use),
        image=table.text("image", ""),
        dockerfile=table.text("dockerfile", "").removeprefix("./"),
        memory_mb=table.integer("memory_mb", default.memory_mb, low=_LEAST_MB, high=MOST_MB),
        work_mb=table.integer("work_mb", default.work_mb, low=1),
        cpus=table.number("cpus", default.cpus, low=_LEAST_CPUS, high=MOST_CPUS),
        processes=table.integer("processes", default.processes, low=_LEAST_MB),
        setup_network=table.flag("setup_network", default=default.setup_network),
    )
    if spec.image and spec.dockerfile:
        raise table.error("is one too many beside image", "dockerfile", hint="name one of them")
    table.done()
    return spec
