"""What a repository's files make of its first configuration."""

from __future__ import annotations

import tomllib

import pytest

from evalgate.commands.starting import Wishes, start
from evalgate.core.config import load_config
from evalgate.core.schema import Source
from evalgate.errors import UsageError

CLAUDE = ("CLAUDE.md", ".mcp.json", ".claude/agents/a.md", "prompts/p.md", "src/x.py")


def likely(_: str, answer: str) -> str:
    return answer


@pytest.mark.parametrize(
    ("files", "parts", "word"),
    [
        ((), {"prompt", "tools", "code"}, "{harness_dir}/agent/agent.py"),
        (("README.md",), {"prompt", "tools", "code"}, "{harness_dir}/agent/agent.py"),
        (CLAUDE, {"prompt", "tools", "sandbox"}, "claude"),
        (("agent/main.py", "CLAUDE.md"), {"prompt", "code"}, "{harness_dir}/agent/main.py"),
        (("bot.py", "tools.json"), {"code", "tools"}, "{harness_dir}/bot.py"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("below", [(), ("tool", "evalgate")])
def test_the_likely_agent_is_taken(files, parts, word, below) -> None:
    """And its configuration is one, in a file of its own and in pyproject.toml."""
    begun = start(files, Wishes(), likely)
    text = begun.config.render(below)
    config = load_config(Source("x", text), below=below)
    assert config is not None
    assert set(config.harness.parts) == parts
    assert word in config.agent.command
    image = "sandbox/Dockerfile" if word == "claude" else ""
    assert (config.suite, config.sandbox.dockerfile) == (("tasks/*",), image)
    assert set(config.harness.overlay) == ({*CLAUDE[:3]} if files == CLAUDE else set())


def test_strange_names_are_quoted() -> None:
    """Spaces, quotes, brackets and backslashes mean themselves, in TOML and in a glob."""
    name = 'my "new" [é]\\/bot.py'
    command = "python3 '{harness_dir}/" + name + "' --x 'a b'"
    begun = start((name,), Wishes(command=command, model='m"\\', upstream="env:X"), likely)
    data = tomllib.loads(begun.config.render())
    assert data["harness"]["parts"]["code"] == ['my "new" \\[é\\]\\\\/**/*.py']
    assert data["agent"]["command"] == ["python3", "{harness_dir}/" + name, "--x", "a b"]
    assert data["models"]["main"] == {"id": 'm"\\', "upstream": "env:X"}


def test_answers_are_taken() -> None:
    """What is asked is what nobody said."""
    asked = []

    def ask(question: str, answer: str) -> str:
        asked.append(question.split(" (", maxsplit=1)[0])
        return {"Which agent": "program", "Which model": "mine"}.get(asked[-1], answer)

    begun = start(("bot.py",), Wishes(upstream="openai"), ask)
    assert asked == ["Which agent", "Which model", "Its command"]
    assert (begun.config.model, begun.config.upstream) == ("mine", "openai")
    assert begun.notes


@pytest.mark.parametrize(
    ("files", "wishes", "said"),
    [
        ((), Wishes(agent="nonsense"), "no kind of agent"),
        ((), Wishes(command="'"), "--command"),
        ((), Wishes(command=" "), "no word"),
        (("agent/x.txt",), Wishes(agent="starter"), "there already"),
        ((), Wishes(command="my-agent"), "looks like a part"),
    ],
)
def test_what_can_not_be_met_is_said(files, wishes, said) -> None:
    """With a hint that helps."""
    with pytest.raises(UsageError, match=said) as caught:
        start(files, wishes, likely)
    assert caught.value.hint


def test_folders_of_other_things_are_not_taken() -> None:
    """tasks/ may hold anything, and a Dockerfile may be of something else."""
    files = ("tasks/deploy.yml", "sandbox/Dockerfile", "bot.py")
    begun = start(files, Wishes(image=True), likely)
    assert (begun.config.suite, begun.config.dockerfile) == ("evals", "")
    assert "sandbox" not in begun.config.parts
    begun = start(("bot.py",), Wishes(image=True), likely)
    assert begun.config.parts["sandbox"] == ["sandbox/**"]
    assert start(("tasks", "bot.py"), Wishes(), likely).config.suite == "evals"
    begun = start(("tasks/one/task.toml", "bot.py"), Wishes(), likely)
    assert begun.config.suite == "tasks"


def test_a_small_model_is_asked_for_the_whole_file() -> None:
    """It calls no tools."""
    begun = start((), Wishes(upstream="local-model"), likely)
    assert begun.config.model == "smollm2-135m-instruct"
    assert "rewrite" in begun.config.command


@pytest.mark.parametrize(
    ("files", "first", "path", "code"),
    [
        (
            ("src/agent_x.py", "src/my_agent.py"),
            "{harness_dir}/src/my_agent.py",
            None,
            "src/**/*.py",
        ),
        (
            ("src/pkg/__init__.py", "src/pkg/agent.py", "src/pkg/prompts/a.md"),
            "-m pkg.agent",
            "{harness_dir}/src",
            "src/pkg/**/*.py",
        ),
        (
            ("pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/bot.py"),
            "-m pkg.sub.bot",
            "{harness_dir}",
            "pkg/**/*.py",
        ),
        (
            ("pkg/__init__.py", "pkg/agent/__init__.py", "pkg/agent/__main__.py"),
            "-m pkg.agent",
            "{harness_dir}",
            "pkg/**/*.py",
        ),
    ],
)
def test_a_python_agent_is_found(files, first, path, code) -> None:
    """In src/ or in a package, as a module whose imports work; not among tests and examples."""
    aside = ("tests/agent.py", "examples/agent.py", ".venv/agent.py", "tests/__init__.py")
    config = start((*aside, *files), Wishes(), likely).config
    assert " ".join(config.command).startswith(f"python3 {first} ")
    assert config.env.get("PYTHONPATH") == path
    assert config.parts["code"] == [code]


@pytest.mark.parametrize(
    ("line", "command", "path"),
    [
        ("python3 lib/run.py -v", ["python3", "{harness_dir}/lib/run.py", "-v"], None),
        ("python3 ./lib/run.py", ["python3", "{harness_dir}/lib/run.py"], None),
        ("python3 -m pkg.tool x", ["python3", "-m", "pkg.tool", "x"], "{harness_dir}/src"),
        ("node {harness_dir}/lib/run.py", ["node", "{harness_dir}/lib/run.py"], None),
        ("tool {model}", ["tool", "{model}"], None),
    ],
)
def test_a_command_s_files_are_where_a_trial_has_them(line, command, path) -> None:
    """A trial works in a task's folder, not in the repository."""
    files = ("lib/run.py", "src/pkg/__init__.py", "src/pkg/tool.py", "tool", "AGENTS.md")
    config = start(files, Wishes(command=line), likely).config
    assert list(config.command) == command
    assert config.env.get("PYTHONPATH") == path
    assert "AGENTS.md" in config.parts["prompt"]


def test_prompts_are_parts_wherever_they_lie() -> None:
    """In any folder of one's own; those of tests and tasks are none."""
    files = (
        *("prompts/a.md", "src/x/prompts/b/prompts/c.md", "tests/prompts/d.md"),
        *("CLAUDE.md", "AGENTS.md", "tasks/prompts/task.toml"),
    )
    wanted = ["prompts/**", "src/x/prompts/**", "CLAUDE.md", "AGENTS.md"]
    begun = start(files, Wishes(), likely)
    assert begun.config.parts["prompt"] == wanted
    begun = start(files, Wishes(agent="starter"), likely)
    assert begun.config.parts["prompt"] == ["agent/prompts/*.md", *wanted]


@pytest.mark.parametrize("below", [(), ("tool", "evalgate")])
def test_what_is_commented_out_can_be_taken_in(below) -> None:
    """A price and a budget, as they stand there."""
    text = start((), Wishes(), likely).config.render(below)
    for line in ("price = ", "usd = ", f"[{''.join(f'{one}.' for one in below)}budget]"):
        assert f"# {line}" in text
        text = text.replace(f"# {line}", line)
    config = load_config(Source("x", text), below=below)
    assert config is not None
    assert config.models["main"].price is not None
    assert config.budget.usd == 5
