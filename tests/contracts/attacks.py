"""What a hostile program may try in a sandbox: one list, for every provider.

Each attack is a program for ``python3``. It says that it began, what it reached, one line each, and
that it came to its end: one that breaks off on its way is not held, it was not tried. The host
says in variables what there is to find: ``HOSTS`` and ``PORT`` of a service that listens there,
``SECRET``, a file that nobody laid in, and ``OWNER``, the number of a process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

BEGAN: Final = "began"
ENDED: Final = "ended"

#: The numbers of system calls on the two kinds of machine that evalgate is tested on.
_SYSTEM_CALL: Final = """
import ctypes, os
kind = ("x86_64", "aarch64").index(os.uname().machine)
NUMBERS = {
    "mount": (165, 40), "umount2": (166, 39), "unshare": (272, 97), "ptrace": (101, 117),
    "io_uring_setup": (425, 425), "bpf": (321, 280), "keyctl": (250, 219),
    "userfaultfd": (323, 282), "socket": (41, 198),
}
call = ctypes.CDLL(None, use_errno=True).syscall
def reached(name, *words):
    if call(NUMBERS[name][kind], *words) >= 0: print(name); return True
"""

_CONNECT: Final = """
import os, socket
HOSTS, PORT = os.environ["HOSTS"].split(), int(os.environ["PORT"])
def reached(name, host, port):
    try:
        with socket.create_connection((host, port), timeout=2): print(name)
    except OSError: pass
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One attack: its name in the table, what it ``meets``, what it does, how long it may take.

    One that is not ``harmless`` is never let loose where nothing would hold it. ``needs`` is what
    a machine must have for it to reach anything there; without it reaches something always.
    One that is ``fatal`` may be ended by the kernel, which is one way to hold it.
    """

    name: str
    meets: str
    code: str
    timeout: float = 20
    harmless: bool = True
    needs: str = ""
    fatal: bool = False

    @property
    def program(self) -> str:
        """The attack with its first and last words."""
        return f"print({BEGAN!r}, flush=True)\n{self.code}\nprint({ENDED!r}, flush=True)\n"


ATTACKS: Final = (
    Attack(
        name="reads files of the host: homes, keys, other projects",
        meets="no such file",
        code="""
import glob, os
homes = glob.glob("/home/*/.ssh/*") + glob.glob("/root/.ssh/*")
for place in (os.environ["SECRET"], "/etc/shadow", "/root/.bashrc", *homes):
    try: open(place).read(1); print("read", place)
    except OSError: pass
""",
    ),
    Attack(
        name="asks the engine's socket for a container of its own",
        meets="no such socket",
        code="""
import socket
for place in ("/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock"):
    try: socket.socket(socket.AF_UNIX).connect(place); print("connected", place)
    except OSError: pass
""",
        needs="an engine",
    ),
    Attack(
        name="connects to a service on the host's loopback",
        meets="refused: its loopback is its own",
        code=_CONNECT + 'reached("loopback", "127.0.0.1", PORT)',
    ),
    Attack(
        name="connects to a service on the host's other addresses",
        meets="no network",
        code=_CONNECT + "for host in HOSTS: reached(host, host, PORT)",
        needs="a network",
    ),
    Attack(
        name="connects to the outside, by address or by name",
        meets="no network, no names",
        code=_CONNECT
        + """
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 53)); print("a route")
except OSError: pass
for name in ("deb.debian.org", "pypi.org"):
    try: print(socket.gethostbyname(name))
    except OSError: pass
""",
        needs="a network",
    ),
    Attack(
        name="talks to the host's virtual machine monitor (AF_VSOCK)",
        meets="the call is denied",
        code=_SYSTEM_CALL
        + """
import socket
try: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); print("a socket")
except OSError: pass
reached("socket", ctypes.c_long(1 << 32 | socket.AF_VSOCK), socket.SOCK_STREAM, 0)
""",
        needs="a kernel with it",
    ),
    Attack(
        name="sees or signals processes of the host",
        meets="no such process",
        code="""
import os
owner = os.environ["OWNER"]
if owner in os.listdir("/proc"): print("seen", owner)
try: os.kill(int(owner), 0); print("signalled")
except OSError: pass
""",
    ),
    Attack(
        name="mounts, or makes namespaces in which it may",
        meets="the call is denied",
        code=_SYSTEM_CALL
        + """
os.mkdir("mounted")
reached("unshare", 0x10000000 | 0x20000)
if reached("mount", b"tmpfs", b"mounted", b"tmpfs", 0, None): reached("umount2", b"mounted", 0)
""",
        needs="root, or a kernel that lets users make namespaces",
    ),
    Attack(
        name="makes a device and reads the host's disk",
        meets="the call is denied",
        code="""
import os
try: os.mknod("disk", 0o60600, os.makedev(254, 0)); open("disk", "rb").read(1); print("read")
except OSError: pass
""",
        needs="root, and a disk of that number",
    ),
    Attack(
        name="takes another process over (ptrace)",
        meets="the call is denied",
        code=_SYSTEM_CALL
        + """
import subprocess
child = subprocess.Popen(["sleep", "5"])
reached("ptrace", 16, child.pid, 0, 0)
child.kill()
""",
    ),
    Attack(
        name="sets up io_uring, past the filters of system calls",
        meets="the call is denied",
        code=_SYSTEM_CALL + 'reached("io_uring_setup", 4, ctypes.create_string_buffer(120))',
        needs="a kernel with it",
    ),
    Attack(
        name="loads kernel code: BPF, modules, keys, perf",
        meets="the call is denied",
        code=_SYSTEM_CALL
        + """
reached("bpf", 0, ctypes.create_string_buffer(128), 128)
reached("keyctl", 0, 0xFFFFFFFD, 1)
reached("userfaultfd", 1)
""",
        needs="root, or a kernel that lets users do it",
    ),
    Attack(
        name="writes settings of the kernel",
        meets="read-only, or not there",
        code="""
for place in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper"):
    try: open(place, "a"); print("open", place)
    except OSError: pass
""",
        needs="root",
    ),
    Attack(
        name="becomes root by a set-user-id program",
        meets="stays who it is",
        code="""
import os, subprocess
done = subprocess.run(["su", "-c", "id -u"], stdin=subprocess.DEVNULL, capture_output=True)
if done.stdout.strip() == b"0" and os.getuid() != 0: print("root")
""",
        needs="a root without a password",
    ),
    Attack(
        name="changes programs that the next trial uses",
        meets="read-only, or not allowed",
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
        meets="no process beyond the limit",
        code="""
import os, signal, time
made = []
try:
    for _ in range(3000):
        child = os.fork()
        if child == 0:
            time.sleep(10); os._exit(0)
        made.append(child)
except OSError: pass
if len(made) > 2500: print(len(made), "processes")
for child in made: os.kill(child, signal.SIGKILL)
""",
        harmless=False,
    ),
    Attack(
        name="uses up the memory of the machine",
        meets="ended at the limit",
        code="""
held = []
try:
    for _ in range(30): held.append(bytearray(b"x" * (100 << 20)))
    print("3 GB")
except MemoryError: pass
""",
        timeout=60,
        harmless=False,
        fatal=True,
    ),
    Attack(
        name="fills the disk",
        meets="no room beyond the limit",
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
        meets="no file beyond the limit",
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
            "takes another process over (ptrace)",
            "sets up io_uring, past the filters of system calls",
            "loads kernel code: BPF, modules, keys, perf",
            "bombs the machine with processes",
            "uses up the memory of the machine",
            "fills the disk",
            "fills the disk with empty files",
        }
    ),
    "process": frozenset(_NAMES),
}


def table() -> str:
    """Return the table of docs/security.md: which attack is held by which provider."""
    rows = ["| a program inside | docker | podman | bwrap | process |", "|---|---|---|---|---|"]
    for name in _NAMES:
        held = ["no" if name in KNOWN[one] else "held" for one in KNOWN]
        rows.append(f"| {name} | {' | '.join(held)} |")
    return "\n".join(rows)


def brief() -> str:
    """Return the table of the README: what an attack meets, and who holds it."""
    rows = ["| a program inside | meets | held by |", "|---|---|---|"]
    for attack in ATTACKS:
        held = [provider for provider in KNOWN if attack.name not in KNOWN[provider]]
        rows.append(f"| {attack.name} | {attack.meets} | {', '.join(held)} |")
    return "\n".join(rows)
