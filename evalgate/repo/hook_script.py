"""The pre-push hook as text: a sh script that asks git first, and evalgate where that is unsure."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from evalgate.repo.watched import Watch

#: What evalgate's hooks, old ones as well, are known by.
_MARK: Final = "# evalgate pre-push hook"
_PROJECT: Final = "# project "

#: A hook that was there before is kept beside ours under this name.
PREVIOUS: Final = "pre-push.evalgate-previous"

_SCRIPT: Final = """#!/bin/sh
{mark}: judges pushes that touch the agent's harness.
# Written by `evalgate hook install`, and by evalgate again when the configuration has changed.
python={python}
package={package}
remote=$1 url=$2 status=0
newline='
'
lines=
while IFS= read -r line || [ -n "$line" ]; do
  lines=$lines$line$newline
done

previous=${{0%/*}}/{previous}
if [ -x "$previous" ]; then
  printf '%s' "$lines" | "$previous" "$@" || exit
fi
[ -n "$lines" ] || exit 0

# Tells whether no pushed ref touches what is watched, by git alone: $1 is the configuration,
# $2 its object when this was written, the others are pathspecs. Whatever is unsure is a no.
untouched() (
  config=$1 known=$2
  shift 2
  unset GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS
  unset GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_GRAFT_FILE GIT_SHALLOW_FILE GIT_REPLACE_REF_BASE
  export GIT_INDEX_FILE=/dev/no-index GIT_NO_REPLACE_OBJECTS=1 GIT_NO_LAZY_FETCH=1
  while IFS= read -r line; do
    [ -n "$line" ] || continue
    there=${{line##* }} line=${{line% *}}
    line=${{line% *}}
    here=${{line##* }}
    [ -n "$here" ] || exit 1
    case $here$there in *[!0-9a-f]*) exit 1 ;; esac
    case $here in *[!0]*) ;; *) continue ;; esac # a deletion
    [ "$(git rev-parse -q --verify "$here:$config")" = "$known" ] || exit 1
    case $there in
      *[!0]*)
        base=$(git merge-base --all "$there" "$here") || exit 1
        case $base in *"$newline"*) exit 1 ;; esac
        ;;
      *) # a new branch: from the parent of its first new commit
        git config --get "remote.$remote.url" >/dev/null || exit 1
        base=$(git rev-list --first-parent --topo-order "$here" \\
          --not --remotes="$remote" --) || exit 1
        [ -n "$base" ] || continue
        base=${{base##*"$newline"}}^
        ;;
    esac
    git diff-tree -r --quiet --no-renames --ignore-submodules=none "$base" "$here" -- "$@" || exit 1
  done <<END
$lines
END
) 2>/dev/null

judge() {{
  if [ ! -x "$python" ] || [ ! -e "$package" ]; then
    printf '%s\\n' "evalgate: $python is gone: this push is not judged; evalgate hook install" >&2
    return 0
  fi
  set -- --project "$1" --script "$0" "$remote" "$url"
  printf '%s' "$lines" | "$python" -P -m evalgate hook run "$@"
}}

{projects}
exit $status
"""


def render_script(python: str, package: str, projects: Mapping[str, str]) -> str:
    """Return the script: ``python`` runs ``package``; ``projects`` are `lines_of` each folder."""
    blocks = [_block(prefix, lines) for prefix, lines in projects.items()]
    return _SCRIPT.format(
        mark=_MARK,
        python=quoted(python),
        package=quoted(package),
        previous=PREVIOUS,
        projects="\n".join(blocks),
    )


def lines_of(prefix: str, watch: Watch | None) -> str:
    """Return the shell lines that judge the project at ``prefix``; with None they always do."""
    judged = f"judge {quoted(prefix)} || status=$?"
    if watch is None:
        return judged
    words = " ".join(map(quoted, (watch.config, watch.oid, *watch.pathspecs)))
    return f"untouched {words} ||\n  {judged}"


def is_ours(script: str) -> bool:
    """Tell whether evalgate wrote a hook."""
    return _MARK in script


def projects_in(script: str) -> dict[str, str]:
    """Return the projects that a hook of ours judges: their lines by their folder."""
    body = script.partition("\nexit $status")[0]
    found = re.split(rf"^{_PROJECT}(\".*\")\n", body, flags=re.MULTILINE)[1:]
    return {
        json.loads(prefix): lines.rstrip("\n")
        for prefix, lines in zip(found[0::2], found[1::2], strict=True)
    }


def with_project(script: str, prefix: str, watch: Watch) -> str:
    """Return the script knowing what a project of its is made of now."""
    old = projects_in(script).get(prefix)
    if old is None:
        return script
    return script.replace(_block(prefix, old), _block(prefix, lines_of(prefix, watch)))


def read_script(path: Path) -> str:
    """Return a hook's text, whatever bytes are in it."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


def write_script(path: Path, text: str) -> None:
    """Write a hook that git may be running: the old file stays whole to the shell that reads it."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_bytes(text.encode("utf-8", "surrogateescape"))
    fresh.chmod(0o755)
    fresh.replace(path)


def quoted(text: str) -> str:
    """Return a word for the shell that means this text."""
    return "'" + text.replace("'", "'\\''") + "'"


def _block(prefix: str, lines: str) -> str:
    return f"{_PROJECT}{json.dumps(prefix)}\n{lines}"
