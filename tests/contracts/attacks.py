"""What a hostile program may try in a sandbox: one list, for every provider.

Each attack is a program for ``python3``; it prints what it reached, one line each, and nothing
where it was held. ``HOST`` and ``PORT`` are replaced by the addresses of services that listen on
the host, ``SECRET`` by a file of the host that nobody laid in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_SYSTEM_CALL: Final = """
import ctypes, os, sys
call = ctypes.CDLL(None, use_errno=True).syscall
def reached(name, *words):
    if call(*words) >= 0: print(name)
"""

_CONNECT: Final = """
import socket
def reached(name, host, port):
    try:
        with socket.create_connection((host, port), timeout=2): print(name)
    except OSError: pass
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One attack: its name in the table, what it does, how long it may take.

    One that is not ``harmless`` is never let loose where nothing would hold it.
    """

    name: str
    code: str
    timeout: float = 20
    harmless: bool = True


ATTACKS: Final = (
    Attack(
        name="reads files of the host: homes, keys, other projects",
        code="""
import os
for place in ("SECRET", "/etc/shadow", "/root/.bashrc", "/home/*/.ssh"):
    try: open(place).read(1); print("read", place)
    except OSError: pass
""",
    ),
    Attack(
        name="asks the engine's socket for a container of its own",
        code="""
import socket
for place in ("/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock"):
    try: socket.socket(socket.AF_UNIX).connect(place); print("connected", place)
    except OSError: pass
""",
    ),
    Attack(
        name="connects to a service on the host's loopback",
        code=_CONNECT + 'reached("loopback", "127.0.0.1", PORT)',
    ),
    Attack(
        name="connects to a service on the host's other addresses",
        code=_CONNECT + "for host in HOSTS: reached(host, host, PORT)",
    ),
    Attack(
        name="connects to the outside, by address or by name",
        code=_CONNECT
        + """
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 53)); print("a route")
except OSError: pass
for name in ("deb.debian.org", "pypi.org"):
    try: print(socket.gethostbyname(name))
    except OSError: pass
""",
    ),
    Attack(
        name="talks to the host's virtual machine monitor (AF_VSOCK)",
        code="""
import socket
try: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); print("a socket")
except OSError: pass
""",
    ),
    Attack(
        name="sees or signals processes of the host",
        code="""
import os
others = [n for n in os.listdir("/proc") if n.isdigit() and int(n) == OWNER]
if others: print("seen", others)
try: os.kill(OWNER, 0); print("signalled")
except OSError: pass
""",
    ),
    Attack(
        name="mounts, or makes namespaces in which it may",
        code=_SYSTEM_CALL
        + """
import subprocess
reached("unshare", 272, 0x10000000)
reached("mount", 165, b"tmpfs", b"/tmp", b"tmpfs", 0, None)
if subprocess.run(["unshare", "-Ur", "true"], capture_output=True).returncode == 0: print("user")
""",
    ),
    Attack(
        name="makes a device and reads the host's disk",
        code="""
import os
try: os.mknod("disk", 0o60600, os.makedev(254, 0)); open("disk", "rb").read(1); print("read")
except OSError: pass
""",
    ),
    Attack(
        name="looks into another process's memory (ptrace)",
        code=_SYSTEM_CALL
        + """
import subprocess
child = subprocess.Popen(["sleep", "5"])
reached("attached", 101, 16, child.pid, 0, 0)
child.kill()
""",
    ),
    Attack(
        name="sets up io_uring, past the filters of system calls",
        code=_SYSTEM_CALL + "reached('io_uring', 425, 4, ctypes.create_string_buffer(120))",
    ),
    Attack(
        name="loads kernel code: BPF, modules, keys, perf",
        code=_SYSTEM_CALL
        + """
reached("bpf", 321, 0, ctypes.create_string_buffer(128), 128)
reached("keyring", 250, 0, 0xFFFFFFFD, 1)
reached("userfaultfd", 323, 1)
""",
    ),
    Attack(
        name="writes settings of the kernel",
        code="""
for place in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper"):
    try: open(place, "a"); print("open", place)
    except OSError: pass
""",
    ),
    Attack(
        name="becomes root by a set-user-id program",
        code="""
import subprocess
done = subprocess.run(["su", "-c", "id -u"], stdin=subprocess.DEVNULL, capture_output=True)
if b"0" in done.stdout and __import__("os").getuid() != 0: print("root")
""",
    ),
    Attack(
        name="changes programs that the next trial uses",
        code="""
import os
for place in ("/usr/bin/evil", "/usr/local/bin/evil", "/etc/evil", "/evil"):
    try: open(place, "w"); os.unlink(place); print("written", place)
    except OSError: pass
""",
        harmless=False,
    ),
    Attack(
        name="bombs the machine with processes",
        code="""
import os
made = 0
try:
    for _ in range(3000):
        if os.fork() == 0:
            import time; time.sleep(3); os._exit(0)
        made += 1
except OSError: pass
if made > 2500: print(made, "processes")
os.kill(0, 9)
""",
        harmless=False,
    ),
    Attack(
        name="uses up the memory of the machine",
        code="""
held = []
try:
    for _ in range(30): held.append(bytearray(b"x" * (100 << 20)))
    print("3 GB")
except MemoryError: pass
""",
        timeout=60,
        harmless=False,
    ),
    Attack(
        name="fills the disk",
        code="""
import resource
size = 0
try:
    for number in range(6):
        with open(f"big{number}", "wb") as stream:
            for _ in range(250): size += stream.write(bytes(1 << 20))
    print("1.5 GB")
except OSError: pass
import glob, os
for place in glob.glob("big*"): os.unlink(place)
""",
        timeout=60,
        harmless=False,
    ),
    Attack(
        name="fills the disk with empty files",
        code="""
import os
made = 0
try:
    os.mkdir("many")
    for made in range(250_000): os.close(os.open(f"many/{made}", os.O_CREAT))
    print("250,000 files")
except OSError: pass
import shutil; shutil.rmtree("many", ignore_errors=True)
""",
        timeout=120,
        harmless=False,
    ),
)

_NAMES: Final = tuple(attack.name for attack in ATTACKS)

#: What a provider does not hold, by the name of the attack; some of it only as root, or only
#: with some kernels. All else is held.
KNOWN: Final[Mapping[str, frozenset[str]]] = {
    "docker": frozenset(),
    "podman": frozenset({"fills the disk with empty files"}),
    "bwrap": frozenset(
        {
            "talks to the host's virtual machine monitor (AF_VSOCK)",
            "looks into another process's memory (ptrace)",
            "sets up io_uring, past the filters of system calls",
            "loads kernel code: BPF, modules, keys, perf",
            "uses up the memory of the machine",
            "fills the disk",
            "fills the disk with empty files",
        }
    ),
    "process": frozenset(_NAMES),
}


def table() -> str:
    """Return the table of the README: which attack is held by which provider."""
    rows = ["| a program inside | docker | podman | bwrap | process |", "|---|---|---|---|---|"]
    for name in _NAMES:
        held = ["no" if name in KNOWN[one] else "held" for one in KNOWN]
        rows.append(f"| {name} | {' | '.join(held)} |")
    return "\n".join(rows)
