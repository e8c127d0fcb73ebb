"""Recordings that were put aside: which ref keeps them, and how to get them back."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from evalgate.commands.project import Project
from evalgate.core.files import File
from evalgate.core.short_name import short_of
from evalgate.errors import UsageError
from evalgate.gateway.format.cassette_format import digest_of
from evalgate.repo.keeping import refs_below
from evalgate.repo.subject import Subject
from evalgate.repo.treeview import open_tree

#: Below it each harness whose recordings were put aside has a ref of its own.
REFS: Final = "refs/evalgate/cassettes"

#: The folder of recordings in the tree of such a ref.
FOLDER: Final = "cassettes"


def full_ref(name: str, short: str) -> str:
    """Return the full name of a ref: ``auto`` is that of a harness, a word is one below ours."""
    if name == "auto":
        return f"{REFS}/{short}"
    return name if name.startswith("refs/") else f"{REFS}/{name}"


def files_aside(project: Project, ref: str) -> Mapping[str, File]:
    """Return the recordings below a ref, by their path below the shelf."""
    (commit,) = project.git.lookup(f"{ref}^{{commit}}")
    if commit is None:
        known = ", ".join(refs_below(project.git, REFS)) or "none"
        hint = f"refs that keep recordings here: {known}; a clone has to fetch them"
        raise UsageError(f"there is no ref {ref}", hint=hint)
    with open_tree(project.git, Subject.parse(commit)) as view:
        return view.read_prefix(FOLDER)


def recordings_aside(project: Project, fingerprint: str) -> dict[str, str]:
    """Return digest -> ref of the recordings of a harness that were put aside."""
    found = {}
    for ref in refs_below(project.git, REFS):
        for path, file in files_aside(project, ref).items():
            if path.startswith(f"{short_of(fingerprint)}/"):
                with suppress(ValueError, KeyError, TypeError):  # no cassette: it proves nothing
                    found[digest_of(file.data)] = ref
    return found
