"""What a task gives away before any agent has begun: its tests, its answer, where it came from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evalgate.core.claim import split_lines
from evalgate.core.files import File, Tree
from evalgate.core.hidden_names import hidden_names, is_telling, last_name
from evalgate.core.proof import Flaw, Rule
from evalgate.core.task import TEST_SCRIPT, Task

#: A commit as git writes it, short or whole: a number or a word of a–f alone is none.
COMMIT: Final = re.compile(r"\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")
_TEST: Final = re.compile(r"^\s*(?:async )?def (test\w+)", re.MULTILINE)
#: Shorter lines than this are everybody's: ``return x`` tells no answer.
_TELLING: Final = 16
#: What holds commits wherever it lies.
_HISTORY: Final = (".bundle", ".pack", ".patch", ".diff", ".orig", ".rej")
_COMMON: Final = frozenset({"__init__.py", "__main__.py", "utils.py", "setup.py"})


def giveaways(task: Task) -> Iterator[Flaw]:
    """Yield what the instruction and the workspace tell that only the grading should know."""
    told = {last_name(path) for path in task.workspace}
    for path, file in sorted(task.tests.items()):
        name = last_name(path)
        if name != TEST_SCRIPT and name in task.instruction and name not in told:
            yield _tests(f"the instruction names the hidden test {name}")
        for other in sorted(task.workspace):
            if file.data.strip() and task.workspace[other].data == file.data and is_telling(name):
                yield _tests(f"the workspace holds the hidden test {path} as {other}")
    for test in sorted(hidden_tests(task.tests) - hidden_tests(task.workspace)):
        if re.search(rf"\b{re.escape(test)}\b", task.instruction):
            yield _tests(f"the instruction names the hidden test {test}")
    for path in sorted(task.workspace):
        if path.endswith(_HISTORY):
            said = f"the workspace holds {path}, as patches and histories are called"
            yield Flaw(rule=Rule.HISTORY, said=said, advisory=True)
    if found := COMMIT.search(task.instruction):
        said = f"the instruction names the commit {found[0]}"
        yield Flaw(rule=Rule.HISTORY, said=said)


def told_answers(task: Task, solved: Tree) -> Iterator[Flaw]:
    """Yield the lines that a solution adds and the instruction holds word for word."""
    for path, line in new_lines(task.workspace, solved):
        if len(line) >= _TELLING and line in " ".join(task.instruction.split()):
            said = f"the instruction holds a line of the solution ({path}): {line}"
            yield Flaw(rule=Rule.ANSWER_TOLD, said=said)


def new_lines(before: Tree, after: Tree) -> Iterator[tuple[str, str]]:
    """Yield path and text, its space made even, of every line that was not there before."""
    for path, file in sorted(after.items()):
        if before.get(path) != file:
            old = set(_lines(before.get(path)))
            yield from ((path, line) for line in _lines(file) if line not in old)


def hidden_tests(files: Tree) -> frozenset[str]:
    """Return the names of the test functions in Python files."""
    texts = (file.data.decode("utf-8", "replace") for path, file in files.items() if _python(path))
    return frozenset(name for text in texts for name in _TEST.findall(text))


def searched_names(task: Task, solved: Tree) -> frozenset[str]:
    """Return the ends of paths to look for in the image: of hidden tests, of the answer."""
    changed = [path for path, file in solved.items() if task.workspace.get(path) != file]
    # What every package has is looked for with its folder.
    return frozenset(hidden_names(task)) | {
        path if last_name(path) in _COMMON else last_name(path) for path in changed
    }


def _tests(said: str) -> Flaw:
    return Flaw(rule=Rule.TESTS_TOLD, said=said)


def _python(path: str) -> bool:
    return path.endswith(".py")


def _lines(file: File | None) -> list[str]:
    text = file.data.decode("utf-8", "replace") if file else ""
    return [even for line in split_lines(text) if (even := " ".join(line.split()))]
