"""Tars into and out of a container: what goes in is exact, what comes back is read, not obeyed."""

from __future__ import annotations

import contextlib
import io
import tarfile
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.files import File, FileMode
from evalgate.errors import UsageError
from evalgate.sandboxes.archive import read_listing, restore, unpack
from evalgate.sandboxes.packing import pack
from evalgate.sandboxes.taking import TooLargeError

Entry = tuple[str, bytes, str, bytes]


def tar_of(*entries: Entry) -> bytes:
    """Return a tar of entries: name, type, link name, content."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", errors="surrogateescape") as tar:
        for name, kind, link, data in entries:
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.size, info.mode = kind, link, len(data), 0o6777
            tar.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def test_a_tree_goes_in_as_it_is() -> None:
    """Modes, links, empty places and odd names; what is sealed can not be written."""
    tree = {
        "a b/é\n-x": File(data=b"1"),
        "run": File(data=b"2", mode=FileMode.EXECUTABLE),
        "link": File(data=b"../../etc", mode=FileMode.SYMLINK),
        b"not\xffutf8".decode("utf-8", "surrogateescape"): File(data=b"3"),
    }
    data = pack(["repo", "tests", "logs"], {"repo": tree, "tests": tree}, sealed=["tests"])
    with tarfile.open(fileobj=io.BytesIO(data), errors="surrogateescape") as tar:
        modes = {entry.name: entry.mode for entry in tar}
    assert modes["repo"] == 0o755
    assert modes["tests"] == modes["tests/a b"] == 0o555
    assert (modes["repo/run"], modes["tests/run"]) == (0o755, 0o555)
    assert modes["logs"] == 0o755
    assert unpack(data) == {
        f"{place}/{path}": file.data for place in ("repo", "tests") for path, file in tree.items()
    }


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "", "a\0b", "a//b"])
def test_nothing_goes_in_elsewhere(path: str) -> None:
    """A path that leaves its place is refused."""
    with pytest.raises(UsageError, match="unsafe path"):
        pack(["tests"], {"tests": {path: File(data=b"")}}, sealed=())


def test_hostile_entries_are_data_and_nothing_else() -> None:
    """Devices, pipes and hard links are nothing; names that lead out name nothing that is kept."""
    data = tar_of(
        ("repo/pipe", tarfile.FIFOTYPE, "", b""),
        ("repo/disk", tarfile.BLKTYPE, "", b""),
        ("repo/hard", tarfile.LNKTYPE, "/etc/shadow", b""),
        ("/etc/cron.d/x", tarfile.REGTYPE, "", b"evil"),
        ("repo/../../x", tarfile.REGTYPE, "", b"evil"),
        ("repo/link", tarfile.SYMTYPE, "/etc/shadow", b""),
        ("repo/link/x", tarfile.REGTYPE, "", b"through"),
        ("repo/ok", tarfile.REGTYPE, "", b"fine"),
    )
    changed = unpack(data)
    assert changed["repo/link"] == b"/etc/shadow"
    assert not {"repo/pipe", "repo/disk", "repo/hard"} & changed.keys()
    listing = read_listing(b"+f 644 4 repo/ok\0+l 777 11 repo/link\0", "repo")
    assert restore("repo", {}, listing, changed) == {
        "ok": File(data=b"fine"),
        "link": File(data=b"/etc/shadow", mode=FileMode.SYMLINK),
    }


def test_what_was_moved_counts_as_well() -> None:
    """Files of an image under another name are old, and are sent all the same."""
    listing = read_listing(b"-f 644 20000000 repo/a\0-f 644 20000000 repo/b\0", "repo")
    moved = {f"repo/{name}": bytes(20_000_000) for name in "ab"}
    with pytest.raises(TooLargeError, match="bytes"):
        restore("repo", {}, listing, moved)


def test_a_size_that_was_not_sent_is_an_error() -> None:
    """A sparse file of a terabyte is a header of 512 bytes; so is any size."""
    sparse = tarfile.TarInfo("repo/sparse")
    sparse.type, sparse.size = tarfile.GNUTYPE_SPARSE, 0
    header = bytearray(sparse.tobuf(format=tarfile.GNU_FORMAT))
    header[483:495] = b"77777777777\0"
    total = sum(header[:148]) + sum(header[156:512]) + 8 * ord(" ")
    header[148:156] = b"%06o\0 " % total
    big = tarfile.TarInfo("repo/big")
    big.size = 1 << 33
    for head in (bytes(header), big.tobuf(format=tarfile.GNU_FORMAT)):
        with pytest.raises(ValueError, match="its size is not that of what was sent"):
            unpack(head + bytes(1024))


def test_a_chain_of_long_names_is_an_error() -> None:
    """Each header may say that the next one's name is long, without an end."""
    long = tarfile.TarInfo("././@LongLink")
    long.type, long.size = tarfile.GNUTYPE_LONGNAME, 512
    link = long.tobuf(format=tarfile.GNU_FORMAT) + b"x" * 512
    with pytest.raises(ValueError, match=r"."):
        unpack(link * 5000 + bytes(1024))


@pytest.mark.parametrize(
    "entry",
    [b"+f 644 1 repo/../x", b"+f 644 1 repo/.git/x", b"+f 9 1 repo/x", b"nonsense", b"+f 1"],
)
def test_what_is_no_list_is_an_error(entry: bytes) -> None:
    """Nothing of it is passed over."""
    with pytest.raises(ValueError, match=r"."):
        read_listing(b"+f 644 1 repo/ok\0" + entry + b"\0", "repo")


def test_what_is_listed_and_not_sent_is_an_error() -> None:
    """A file can not be made up, nor one forgotten."""
    listing = read_listing(b"+f 644 1 repo/new\0", "repo")
    with pytest.raises(ValueError, match="did not come back"):
        restore("repo", {}, listing, {})


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        (lambda: b"+f 644 40000000 repo/big\0", "bytes"),
        (lambda: b"".join(b"+f 644 0 repo/%d\0" % n for n in range(20_001)), "files"),
        (lambda: b"".join(b"+d 755 0 repo/%d\0" % n for n in range(20_001)), "directories"),
        (lambda: b"+d 755 0 repo/" + b"/".join([b"d"] * 200) + b"\0", "directories"),
        (lambda: b"+f 755 0 repo/" + b"/".join([b"d" * 250] * 17) + b"\0", "in a path"),
    ],
    ids=["bytes", "files", "directories", "depth", "path"],
)
def test_too_much_is_refused(entries: Callable[[], bytes], words: str) -> None:
    """The limits are those of every sandbox."""
    with pytest.raises(TooLargeError, match=words):
        read_listing(entries(), "repo")


@given(st.binary(max_size=2048))
def test_any_bytes_are_a_tar_or_an_error(data: bytes) -> None:
    """A container may send whatever it likes."""
    with contextlib.suppress(ValueError):
        unpack(data)


@given(st.binary(max_size=512))
def test_any_bytes_are_a_list_or_an_error(data: bytes) -> None:
    """The same for the list of files."""
    with contextlib.suppress(ValueError, TooLargeError):
        read_listing(data, "repo")


@given(st.data())
def test_a_damaged_tar_is_never_more_than_it_was(data: st.DataObject) -> None:
    """A byte that is flipped, or an end that is missing, gives an error or the files there are."""
    whole = bytearray(tar_of(*((f"repo/{n}", tarfile.REGTYPE, "", b"x" * 700) for n in range(4))))
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    cut = data.draw(st.integers(0, len(whole)))
    try:
        found = unpack(bytes(whole[:cut]))
    except ValueError:
        return
    assert len(found) <= 4
