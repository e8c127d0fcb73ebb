"""Which system calls a program in a container may make: an allow-list, as an engine reads it.

What is not named is refused: among others mounts, namespaces, other processes' memory (ptrace),
io_uring, the keyring, modules, BPF. https://man7.org/linux/man-pages/man2/seccomp.2.html
"""

from __future__ import annotations

import json
from functools import cache
from typing import Final

from evalgate.sandboxes.inside import inner_text

_EPERM: Final = 1
_ENOSYS: Final = 38
#: Sockets of the machine itself, of both internets, and to ask the kernel about them (netlink);
#: not those between a virtual machine and its host (AF_VSOCK), nor any other kind.
_FAMILIES: Final = (1, 2, 10, 16)
#: An argument has 64 bits, and the kernel looks at the lower half of a family.
_LOW: Final = 0xFFFFFFFF
#: All the flags CLONE_NEW... of clone(2).
_NAMESPACES: Final = 0x7E020000
#: The execution domains that 64-bit and 32-bit programs and debuggers of addresses ask for.
_DOMAINS: Final = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)


@cache
def seccomp_profile() -> str:
    """Return the profile as JSON."""
    return json.dumps(
        {
            "defaultAction": "SCMP_ACT_ERRNO",
            "defaultErrnoRet": _EPERM,
            "syscalls": [
                _allowed(*inner_text("calls.txt").split()),
                *(
                    _allowed("socket", index=0, value=_LOW, op="SCMP_CMP_MASKED_EQ", valueTwo=f)
                    for f in _FAMILIES
                ),
                # Its own limits only: the first process would not come far with no file to open.
                _allowed("prlimit64", index=0, value=0, op="SCMP_CMP_EQ"),
                _allowed("clone", index=0, value=_NAMESPACES, op="SCMP_CMP_MASKED_EQ", valueTwo=0),
                *(_allowed("personality", index=0, value=d, op="SCMP_CMP_EQ") for d in _DOMAINS),
                # Its flags lie in memory, where no filter can look; C libraries then call clone.
                {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": _ENOSYS},
            ],
        }
    )


def _allowed(*names: str, **argument: object) -> dict[str, object]:
    call: dict[str, object] = {"names": list(names), "action": "SCMP_ACT_ALLOW"}
    return {**call, "args": [argument]} if argument else call
