"""A command at a real terminal: a pseudo-terminal, and the screen that a person would see."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyte

from tests.conftest import SCRIPT, clean_environment

#: Seconds after which nothing more is waited for; nothing depends on less.
_PATIENCE: Final = 120
_COLUMNS: Final = 110
_LINES: Final = 40


@dataclass
class Terminal:
    """A process at a terminal, all that it wrote, and what stands on the screen."""

    process: subprocess.Popen[bytes]
    master: int
    raw: bytes = b""
    screen: pyte.Screen = field(default_factory=lambda: pyte.Screen(_COLUMNS, _LINES))

    def __post_init__(self) -> None:
        """Lead what is written to the screen."""
        self._stream = pyte.ByteStream(self.screen)

    @property
    def text(self) -> str:
        """The lines of the screen."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def wait_for(self, text: str) -> None:
        """Read on until a text stands on the screen."""
        while text not in self.text:
            assert self._read(), f"ended without {text!r}:\n{self.text}"

    def press(self, keys: bytes) -> None:
        """Type."""
        os.write(self.master, keys)

    def interrupt(self) -> int:
        """Type Ctrl-C until the command ends.

        One that lands between the last look of Python's ``input`` and its read is not seen: a
        bare loop over ``input`` lost 3 of 4,000 that came within 0.3 ms of the prompt.
        """
        while self.process.poll() is None:
            self.press(b"\x03")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(3)
        return self.end()

    def hang_up(self) -> None:
        """Close the terminal, as a window is closed."""
        os.close(self.master)
        self.master = -1

    def end(self) -> int:
        """Read to the end; return the exit code."""
        while self.master >= 0 and self._read():
            pass
        return self.process.wait(_PATIENCE)

    def _read(self) -> bool:
        ready, _, _ = select.select([self.master], [], [], _PATIENCE)
        assert ready, f"nothing more came:\n{self.text}"
        try:
            data = os.read(self.master, 65536)
        except OSError:  # Linux says so when nobody has the other end any more
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)


@contextlib.contextmanager
def at_terminal(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None
) -> Iterator[Terminal]:
    """Start the installed command at a terminal of its own; at the end it is not left running."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", _LINES, _COLUMNS, 0, 0))
    process = subprocess.Popen(
        ["setsid", "--ctty", str(SCRIPT), *arguments],  # a session, which Ctrl-C reaches
        cwd=cwd,
        env={**clean_environment(), "TERM": "xterm-256color", **(env or {})},
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    terminal = Terminal(process=process, master=master)
    try:
        yield terminal
    finally:
        if terminal.master >= 0:
            os.close(terminal.master)
        process.kill()
        process.wait()
