"""The set-up of a task: commands run once in a container, whose result is kept as an image.

What they make lies below the files of the workspace in every later stage, and is the image's: no
part of a claim. The workspace's own files are left as the task has them.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from evalgate.core.environment import SetUp
from evalgate.core.files import File, Tree, tree_digest
from evalgate.protocols import Stage
from evalgate.sandboxes.container import ContainerProvider
from evalgate.sandboxes.docker import Engine
from evalgate.sandboxes.images import Derived, Image, Once, Ready, made, told
from evalgate.sandboxes.own_stage import require_done
from evalgate.sandboxes.room import TOP

#: Seconds for all commands of one set-up: packages are fetched, and compiled at times.
_LONGEST: Final = 900.0

# Both are the user's own: what the commands leave in the one is moved to the other, with the right
# to write, without which nothing can be moved, laid over it or removed (Go's modules have none).
_PLACES: Final = f"""
mkdir -p {TOP} {TOP}-base
chown -R 1000:1000 {TOP}-base
chmod 1777 {TOP}
rm -f /tmp/evalgate-layer
"""

_DRIVER: Final = f"""
for command in "$@"; do
  printf '$ %s\\n' "$command"
  sh -c "$command" </dev/null || exit
done
chmod -R u+rwX .
xargs -0 rm -f -- <{TOP}/inbox/laid
find {TOP}-base -mindepth 1 -maxdepth 1 -exec rm -rf {{}} +
find . -mindepth 1 -maxdepth 1 -exec mv -t {TOP}-base {{}} + || exit
cd / && chmod -R u+w {TOP}/*
rm -rf {TOP}/*
"""


@dataclass(slots=True, kw_only=True)
class SetUpImage:
    """An image in which a task's set-up has run; ``provider`` says where and within what."""

    task: str
    on: Image
    provider: ContainerProvider
    workspace: Tree
    set_up: SetUp
    _made: Once = field(default_factory=Once)

    def ready(self, engine: Engine) -> Ready:
        """Return it; the commands run, and that is said, when anything they see has changed.

        Raises:
            NotAvailableError: a command failed, or took too long.
        """
        return self._made.get(engine, lambda: self._ready(engine))

    def _ready(self, engine: Engine) -> Ready:
        inputs = [
            self.on.ready(engine).digest,
            tree_digest(self.workspace, domain="evalgate-setup/1"),
            f"network: {self.set_up.network}",
            _DRIVER,
            *self.set_up.commands,
        ]
        with told(engine):
            return made(engine, "evalgate-setup", inputs, lambda *it: self._make(engine, *it))

    def _make(self, engine: Engine, tag: str, labels: Mapping[str, str]) -> None:
        places = Derived(self.on, lambda _: _PLACES, f"the image of the set-up of {self.task}")
        containers = replace(
            self.provider.containers, image=places, lasting=True, network=self.set_up.network
        )
        laid = b"\0".join(path.encode("utf-8", "surrogateescape") for path in self.workspace)
        stage = Stage(
            trees={"repo": self.workspace, "inbox": {"laid": File(data=laid)}},
            argv=["sh", "-c", _DRIVER, "setup", *self.set_up.commands],
            timeout=_LONGEST,
            keep=("logs",),
        )
        with self.provider.of(containers).open_sandbox() as sandbox:
            result = sandbox.run(stage, threading.Event())
            require_done(result, f"the set-up of the task {self.task}")
            engine.commit(sandbox.name, tag=tag, labels=labels)
