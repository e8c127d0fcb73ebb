"""What is sent into a container: byte for byte the tar that the standard library makes."""

from __future__ import annotations

import io
import tarfile

from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.files import File, FileMode, Tree
from evalgate.sandboxes.packing import pack_tree

NAMES = st.one_of(
    st.text("ab é\n-\udcff", min_size=1, max_size=12),
    st.integers(95, 300).map(lambda length: "n" * length),
)
FILES = st.one_of(
    st.builds(
        File,
        data=st.binary(max_size=1500),
        mode=st.sampled_from([FileMode.REGULAR, FileMode.EXECUTABLE]),
    ),
    st.builds(File, data=st.just(b"../to"), mode=st.just(FileMode.SYMLINK)),
)


def usual(tree: Tree) -> bytes:
    """Return the tar as `tarfile` makes it."""
    kinds = {FileMode.REGULAR: 0o644, FileMode.EXECUTABLE: 0o755}
    stream = io.BytesIO()
    with tarfile.open(
        fileobj=stream, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape"
    ) as tar:
        for path, file in sorted(tree.items()):
            entry = tarfile.TarInfo(path)
            entry.mtime, entry.uid, entry.gid = 1_577_836_800, 1000, 1000
            entry.mode = kinds.get(file.mode, 0o777)
            if file.mode is FileMode.SYMLINK:
                entry.type, entry.linkname = tarfile.SYMTYPE, file.data.decode()
                tar.addfile(entry)
            else:
                entry.size = len(file.data)
                tar.addfile(entry, io.BytesIO(file.data))
    return stream.getvalue()


@given(st.dictionaries(NAMES, FILES, max_size=6))
def test_a_tar_is_that_of_the_standard_library(tree: Tree) -> None:
    """Short and long names, modes and links; headers that are put together are the same."""
    assert pack_tree(tree) == usual(tree)
