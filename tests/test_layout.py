"""The shape of the package: small modules, imports that point down, nothing loaded in vain."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import evalgate

ROOT = Path(evalgate.__file__).parent
PROJECT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
LONGEST = 300


def run(*argv: str | Path, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program with nothing of an outer git in its environment."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(argv, cwd=cwd, env=env, input=stdin, capture_output=True, text=True)


def names() -> dict[str, Path]:
    """Return every module of the package under its path."""
    demo = (ROOT / "demo" / "tasks", ROOT / "demo" / "cassettes", ROOT / "demo" / "baselines")
    return {
        path.relative_to(ROOT).as_posix(): path
        for path in sorted(ROOT.rglob("*.py"))
        if not any(folder in path.parents for folder in demo)
    }


@pytest.mark.parametrize("name", names())
def test_a_module_is_short_and_says_what_it_is(name: str) -> None:
    """One noun a file, a docstring at its top, no more than fits in a head."""
    text = names()[name].read_text()
    assert ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= LONGEST


def test_every_folder_is_a_package_with_a_docstring() -> None:
    """A folder's ``__init__`` says what is many of a kind in it."""
    folders = {path.parent for path in names().values()} - {ROOT / "demo" / "harness"}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_the_lock_knows_what_the_project_asks_for() -> None:
    """Each dependency and extra of pyproject.toml, at its versions: `uv lock` renews it."""

    def asked(lines: Iterable[str], extra: str) -> set[tuple[str, str, str]]:
        of = map(Requirement, lines)
        return {(canonicalize_name(one.name), str(one.specifier), extra) for one in of}

    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    wanted = asked(project["dependencies"], "")
    for extra, lines in project["optional-dependencies"].items():
        wanted |= asked(lines, extra)
    packages = tomllib.loads((PROJECT / "uv.lock").read_text())["package"]
    (locked,) = (one["metadata"] for one in packages if one["name"] == project["name"])
    found = set()
    for one in locked["requires-dist"]:
        _, _, extra = one.get("marker", "").partition("extra == ")
        line = f"{one['name']}{one.get('specifier', '')}"
        found |= asked([line], extra.strip("'"))
    assert found == wanted


def test_imports_point_down() -> None:
    """The contracts of pyproject.toml hold."""
    done = run(BIN / "lint-imports", "--no-cache", cwd=PROJECT)
    assert done.returncode == 0, done.stdout


def test_script_and_tests_are_the_same_copy(tmp_path: Path) -> None:
    """What is tested here is what the installed script runs."""
    done = run(
        BIN / "python", "-P", "-c", "import evalgate; print(evalgate.__file__)", cwd=tmp_path
    )
    assert Path(done.stdout.strip()) == ROOT / "__init__.py"
    shebang = (BIN / "evalgate").read_text().splitlines()[0]
    assert Path(shebang.removeprefix("#!")).parent == BIN
    assert evalgate.__version__ in run(BIN / "evalgate", "--version", cwd=tmp_path).stdout


#: Runs the entry as a script would and says what that loaded.
PROBE = """
import sys
sys.argv = ["evalgate", *sys.argv[1:]]
from evalgate.__main__ import main
try:
    main()
finally:
    print("LOADED", *sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""
HEAVY = {"git", "docker", "vcr", "jinja2", "aiohttp"}


def loaded(*arguments: str, cwd: Path, stdin: str = "") -> set[str]:
    """Run a command and return the top-level modules it loaded."""
    done = run(sys.executable, "-P", "-c", PROBE, *arguments, cwd=cwd, stdin=stdin)
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("LOADED "))
    return set(line.split()[1:])


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository that has a configuration."""
    run("git", "init", "-q", ".", cwd=tmp_path)
    (tmp_path / "evalgate.toml").write_text(
        '[harness.parts]\nprompt = ["p"]\n[models.main]\nid = "m"\nupstream = "local-model"\n'
    )
    return tmp_path


def test_the_hook_loads_next_to_nothing(repo: Path) -> None:
    """A push that touches no harness part must not pay for what it does not use."""
    (repo / "p").write_text("prompt")
    commit = ("git", "-c", "user.name=T", "-c", "user.email=t@example.invalid", "commit", "-qm")
    oids = []
    for words in ("one", "two"):
        (repo / "README.md").write_text(words)
        run("git", "add", "-A", cwd=repo)
        run(*commit, words, cwd=repo)
        oids.append(run("git", "rev-parse", "HEAD", cwd=repo).stdout.strip())
    line = f"refs/heads/x {oids[1]} refs/heads/x {oids[0]}\n"
    modules = loaded("hook", "run", "origin", cwd=repo, stdin=line)
    assert modules & (HEAVY | {"click", "rich", "tempfile", "typing_extensions"}) == set()


def test_who_makes_trials_loads_no_board(tmp_path: Path) -> None:
    """It is loaded where a terminal shows it."""
    code = "import sys, evalgate.commands.making.run; print('rich' in sys.modules)"
    assert run(sys.executable, "-P", "-c", code, cwd=tmp_path).stdout.strip() == "False"


def test_help_loads_no_engine(tmp_path: Path) -> None:
    """Reading the help needs the command line alone."""
    modules = loaded("--help", cwd=tmp_path)
    assert modules & HEAVY == set()
    assert "click" in modules


def test_no_module_is_hidden_from_ruff():
    """What it leaves out are tasks and recordings, not each folder that is called so."""
    ours = {*(PROJECT / "evalgate").rglob("*.py"), *(PROJECT / "tests").rglob("*.py")}
    data = {one for one in ours if {"demo", "node_modules"} & {*one.parts}}
    shown = run(BIN / "ruff", "check", "--show-files", "--no-cache", cwd=PROJECT).stdout.split("\n")
    assert {str(one) for one in ours - data} <= {*shown}
