"""What of the host is shown, read-only, in a sandbox with its own file system."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import evalgate

#: With merged /usr these are links, else directories.
_TOP = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

#: Single things of /etc. Not all of /etc/ssl: it holds private keys.
_ETC = (
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ld.so.cache",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
)

_KERNEL_SETTINGS = ("/proc/sys", "/proc/sysrq-trigger", "/proc/acpi", "/proc/fs")
_KERNEL_SECRETS = ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug")

#: What makes a Python installation. Never the whole prefix: a virtual environment may have
#: been made in a project's own directory, or in a home directory.
_PREFIX_PARTS = ("bin", "lib", "lib64", "include", "libexec", "share", "ssl", "pyvenv.cfg")


def mount_words() -> list[str]:
    """Return bwrap's words for everything of the host that is shown inside."""
    prefixes = sorted(_prefixes())
    words = ["--ro-bind", "/usr", "/usr"]
    for place in (*map(Path, _TOP), *_parts(prefixes)):
        words += _shown(place)
    for name in _ETC:
        words += _bound(Path(name))
    for masked in sorted(_masked(prefixes)):
        words += ["--tmpfs", masked, "--remount-ro", masked]
    return words


def kernel_words() -> list[str]:
    """Return bwrap's words for /proc and /dev.

    Run by root, the program inside is still the owner of the kernel's settings, and owners may
    write them without any capability: a core pattern is a command that the host runs as root.
    """
    words = ["--proc", "/proc", "--dev", "/dev"]
    if os.geteuid() != 0:
        return words
    for name in _KERNEL_SETTINGS:
        words += _bound(Path(name))
    for place in filter(Path.exists, map(Path, _KERNEL_SECRETS)):
        words += ["--ro-bind", "/dev/null", str(place)]
    return words


def _shown(place: Path) -> list[str]:
    if place.is_symlink():
        # A second mount instead of the link would be a second way to what is masked.
        return ["--symlink", str(place.readlink()), str(place)]
    return _bound(place)


def _bound(place: Path) -> list[str]:
    return ["--ro-bind", str(place), str(place)] if place.exists() else []


def _prefixes() -> set[str]:
    """Return where the running interpreter is installed, as named and as resolved."""
    executable = Path(sys.executable).resolve()
    named = {sys.prefix, sys.base_prefix, str(executable.parent.parent)}
    every = named | {os.path.realpath(prefix) for prefix in named}
    return {prefix for prefix in every if prefix != "/" and not f"{prefix}/".startswith("/usr/")}


def _parts(prefixes: Iterable[str]) -> Iterator[Path]:
    for prefix in prefixes:
        for part in _PREFIX_PARTS:
            yield Path(prefix, part)


def _masked(prefixes: Iterable[str]) -> set[str]:
    """Return every directory of evalgate itself that could be seen: it holds demo solutions."""
    own = Path(evalgate.__file__).parent
    shown = [Path("/usr"), *_parts(prefixes)]
    found = {place for place in (own, own.resolve()) if any(map(place.is_relative_to, shown))}
    for prefix in map(Path, ("/usr", "/usr/local", *prefixes)):
        for below in ("site-packages", "dist-packages"):
            found.update(prefix.glob(f"lib*/python3*/{below}/evalgate"))
    # By way of a link (lib64) it is the same directory, and no place for a mount.
    return {str(place) for place in found if place == place.parent.resolve() / place.name}
