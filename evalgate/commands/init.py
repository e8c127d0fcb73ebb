"""`evalgate init`: the first configuration, task, image, workflow and hook of a repository.

Nothing that is there is changed but by adding text at its end; run again, it adds nothing.
"""

from __future__ import annotations

import posixpath
import stat
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path

from evalgate.commands.adopted import config_there, require_heard
from evalgate.commands.first_steps import first_steps
from evalgate.commands.first_workflows import workflows
from evalgate.commands.hooks.hook_installation import install, is_installed
from evalgate.commands.starting import Ask, Start, Wishes, start
from evalgate.core.json import Json
from evalgate.disk import write_whole
from evalgate.errors import NoConfigurationError, UsageError
from evalgate.repo.git import Git
from evalgate.repo.place import find_place, table_of

_TASK = "add-subtracts"
_IGNORED = ".evalgate/"
_ATTRIBUTES = (
    "cassettes/** linguist-generated -merge -text",
    "baselines/** linguist-generated",
)
_ENVIRONMENT = (
    "GitHub: make an environment evalgate-live with required reviewers, and put the key into it"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOptions:
    """What the command line says; ``beside`` are workflows that come with the gate's.

    Whether a ``hook`` and a ``workflow`` are wanted is asked where it is None. With ``mined``
    tasks are mined right after it.
    """

    wishes: Wishes = field(default_factory=Wishes)
    pyproject: bool = False
    hook: bool | None = None
    workflow: bool | None = None
    beside: Sequence[str] = ()
    mined: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """A file to write, or text to ``add`` at the end of one; a path from the project's folder.

    A ``program`` may be executed.
    """

    path: str
    data: bytes
    add: bool = False
    program: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Initialised:
    """What was written (or would be), what was there, what to know, and what to do next."""

    dry_run: bool
    written: Sequence[str]
    kept: Sequence[str]
    notes: Sequence[str]
    next: Sequence[str]

    @property
    def text(self) -> str:
        """All of it for a person."""
        word = "would write" if self.dry_run else "wrote"
        lines = [f"{word} {path}" for path in self.written]
        lines += [f"left as it is: {path}" for path in self.kept]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join([*lines, "", "next:", *(f"  {line}" for line in self.next)])

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "dry_run": self.dry_run,
            "written": list(self.written),
            "kept": list(self.kept),
            "notes": list(self.notes),
            "next": list(self.next),
        }


def init(directory: Path, options: InitOptions, ask: Ask) -> Initialised:
    """Adopt evalgate in the repository that a directory lies in.

    The project is the folder that has a configuration already, from the directory upwards, else
    the directory.

    Raises:
        UsageError: there is no repository, or a wish that can not be met.
    """
    git = Git.locate(directory)
    root, configured = _project(directory)
    prefix = root.relative_to(git.top.resolve()).as_posix().removeprefix(".")
    writings: list[Writing] = []
    kept: list[str] = []
    notes: list[str] = []
    upstream = options.wishes.upstream
    if configured:
        # The workflows beside the gate's are written for a key, whatever the gate's model is.
        said = replace(options.wishes, upstream="") if options.beside else options.wishes
        require_heard(root, configured, said, pyproject=options.pyproject)
        kept.append(configured)
        writings += _sample(root, configured)
    else:
        begun = start(_files(git, prefix), options.wishes, ask)
        upstream = begun.config.upstream
        writings += _first(root, begun, options)
        notes += [note.format(**_places(writings[-1], root)) for note in begun.notes]
    writings += _lines(root)
    workflow, hook = options.workflow, options.hook
    if workflow is None:
        workflow = _yes(ask, "Write a workflow for GitHub Actions")
    if hook is None:
        hook = is_installed(git) or _yes(ask, "Install the pre-push hook")
    if workflow:
        writings += _workflows(git, root, prefix, options.beside, upstream)
        notes += _about_workflows(git, options.beside)
    fresh = []
    for one in writings:
        if one.add or not (root / one.path).exists():
            fresh.append(one)
        else:
            kept.append(one.path)
    if not options.dry_run:
        for one in fresh:
            _write(root / one.path, one)
    if hook:
        notes.append("hook: would be installed" if options.dry_run else _hook(root))
    written = [one.path for one in fresh]
    return Initialised(
        dry_run=options.dry_run,
        written=written,
        kept=kept,
        notes=notes,
        next=["# the same command without --dry-run"]
        if options.dry_run
        else first_steps(git, directory, root, written=written, mined=options.mined),
    )


def _project(directory: Path) -> tuple[Path, str]:
    try:
        place = find_place(directory)
    except NoConfigurationError:
        return directory.resolve(), ""
    return (place.git.top / place.prefix).resolve(), place.config_name


def _files(git: Git, prefix: str) -> list[str]:
    """Return the files of the work tree that git does not ignore, below the project's folder."""
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    out = git.run(*words, "--", f":(top,literal){prefix}" if prefix else ":(top)")
    start_ = f"{prefix}/" if prefix else ""
    names = out.decode("utf-8", "surrogateescape").split("\0")[:-1]
    return [name.removeprefix(start_) for name in names if (git.top / name).is_file()]


def _first(root: Path, begun: Start, options: InitOptions) -> Iterator[Writing]:
    name = "pyproject.toml" if options.pyproject else "evalgate.toml"
    data = _after(root / name, begun.config.render(table_of(name)), apart=True)
    _require_toml(root / name, data)
    suite = begun.config.suite
    if not any((root / suite).glob("*/task.toml")):
        yield from _bundled(f"tasks/{_TASK}", f"{suite}/{_TASK}")
    if begun.config.dockerfile:
        dockerfile = _text("Dockerfile").replace("{install}", begun.install)
        yield Writing(path=begun.config.dockerfile, data=dockerfile.encode())
    if begun.starter:
        yield from _bundled("harness", "agent")
    # At the end: where it is there, all the rest is taken to be.
    yield Writing(path=name, data=data, add=True)


def _places(config: Writing, root: Path) -> dict[str, str]:
    """Return where a written configuration says how the agent is started, and what its code is."""
    path = root / config.path
    lines = ((path.read_bytes() if path.exists() else b"") + config.data).decode().splitlines()
    return {
        key: f"{config.path}:{max(n for n, line in enumerate(lines, 1) if line.startswith(start_))}"
        for key, start_ in (("command", "command = "), ("code", "code = "))
        if any(line.startswith(start_) for line in lines)
    }


def _yes(ask: Ask, question: str) -> bool:
    while (answer := ask(f"{question} (yes, no)", "yes").lower()) not in {"y", "yes", "n", "no"}:
        pass
    return answer.startswith("y")


def _sample(root: Path, configured: str) -> Iterator[Writing]:
    """Yield a first task for a configuration that is there, where its suite holds none."""
    config = config_there(root, configured)
    suite = config.suite if config is not None else ()
    homes = [glob[:-2] for glob in suite if glob.endswith("/*") and "*" not in glob[:-2]]
    if homes and not any(next(root.glob(glob), None) for glob in suite):
        yield from _bundled(f"tasks/{_TASK}", f"{homes[0]}/{_TASK}")


def _bundled(source: str, target: str) -> Iterator[Writing]:
    with resources.as_file(resources.files("evalgate.demo") / source) as folder:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.name != "__init__.py":
                within = path.relative_to(folder).as_posix()
                program = bool(path.stat().st_mode & stat.S_IXUSR)
                yield Writing(path=f"{target}/{within}", data=path.read_bytes(), program=program)


def _text(name: str) -> str:
    return (resources.files("evalgate.starter") / name).read_text(encoding="utf-8")


def _lines(root: Path) -> Iterator[Writing]:
    """Yield what is missing at the end of .gitignore and .gitattributes."""
    for name, wanted in ((".gitignore", (_IGNORED,)), (".gitattributes", _ATTRIBUTES)):
        path = root / name
        there = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        missing = [line for line in wanted if line not in there.splitlines()]
        if missing:
            text = "".join(f"{line}\n" for line in missing)
            yield Writing(path=name, data=_after(path, text, apart=False), add=True)


def _workflows(
    git: Git, root: Path, prefix: str, beside: Sequence[str], upstream: str
) -> Iterator[Writing]:
    top, branch = posixpath.relpath(git.top.resolve(), root), _branch(git)
    for name, text, program in workflows(beside, prefix=prefix, branch=branch, upstream=upstream):
        path = posixpath.normpath(posixpath.join(top, name))
        yield Writing(path=path, data=text.encode(), program=program)


def _about_workflows(git: Git, beside: Sequence[str]) -> Iterator[str]:
    gate = git.top / ".github/workflows/evalgate.yml"
    if "comment" in beside and gate.is_file() and b"evalgate-verdict" not in gate.read_bytes():
        yield f"{gate.name} keeps no verdict to comment on: remove it, and run this command again"
    if {*beside} - {"comment"}:
        yield _ENVIRONMENT


def _branch(git: Git) -> str:
    """Return the name of the default branch, as far as a clone can tell."""
    for words in (("refs/remotes/origin/HEAD",), ("HEAD",)):
        name = git.run("symbolic-ref", "-q", *words, ok=(0, 1)).decode().strip()
        if name:
            return name.removeprefix("refs/remotes/origin/").removeprefix("refs/heads/")
    return "main"


def _after(path: Path, text: str, *, apart: bool = False) -> bytes:
    """Return the text as it has to be added to a file, ``apart``: after an empty line."""
    there = path.read_bytes() if path.exists() else b""
    start_ = b"" if not there or there.endswith(b"\n") else b"\n"
    return start_ + (b"\n" if there and apart else b"") + text.encode()


def _require_toml(path: Path, added: bytes) -> None:
    there = path.read_bytes() if path.exists() else b""
    try:
        tomllib.loads((there + added).decode())
    except ValueError as error:
        message = f"{path.name}: nothing can be added to it: {error}"
        raise UsageError(message, hint="mend it, or leave --pyproject out") from error


def _write(path: Path, writing: Writing) -> None:
    if writing.add:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(writing.data)
        return
    write_whole(path, writing.data)
    if writing.program:
        path.chmod(0o755)


def _hook(root: Path) -> str:
    try:
        return f"hook: {install(root)}"
    except UsageError as error:
        return f"no hook: {error.message}: {error.hint}"
