"""Task folders: read whole, or refused with file, line and key."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalgate.core.files import File
from evalgate.core.limits import Allowance
from evalgate.core.task import CheckSpec, Limits, Task
from evalgate.errors import NothingRanError, UsageError
from evalgate.tasks.harbor import load_harbor_task
from evalgate.tasks.suite import load_suite, select

TOML = """\
schema_version = "1.4"

[task]
name = "local/greet"

[metadata.evalgate]
tags = ["easy"]
expected_files = ["a.py"]
"""


def folder(toml: str = TOML, **more: str | bytes | None) -> dict[str, File]:
    """Return a good task folder with some files replaced or (None) taken away."""
    files = {
        "task.toml": toml,
        "instruction.md": "Fix it.\n",
        "environment/workspace/a.py": "x\n",
        "tests/test.sh": "exit 0\n",
        "solution/a.py": "y\n",
        **{name.replace("__", "/").replace("_dot_", "."): data for name, data in more.items()},
    }
    return {
        path: File(data=data.encode() if isinstance(data, str) else data)
        for path, data in files.items()
        if data is not None
    }


def load(toml: str = TOML, **more: str | bytes | None) -> Task:
    """Read a folder named tasks/greet."""
    return load_harbor_task("tasks/greet", folder(toml, **more))


def refused(toml: str = TOML, **more: str | bytes | None) -> str:
    """Return the words with which a folder is refused."""
    with pytest.raises(UsageError) as caught:
        load(toml, **more)
    return caught.value.message


def test_what_is_not_run_is_refused_by_name() -> None:
    """Also where a folder of that kind lacks what others have."""
    steps = {"instruction_dot_md": None, "steps__a__instruction_dot_md": "x"}
    words = "tasks/greet/task.toml:1: steps: several steps are not run"
    assert refused("[[steps]]\nname = 'a'\n", **steps) == words
    compose = {"environment/docker-compose.yaml": "services: {}\n"}
    words = "environment/docker-compose.yaml: several containers are not run"
    assert refused(**compose).endswith(words)


def test_checks_that_never_decide_are_no_tests() -> None:
    """Without tests, one check at least has to decide."""
    check = '[[metadata.evalgate.checks]]\ntype = "file_exists"\npath = "a.py"\n'
    none = {"tests__test_dot_sh": None}
    assert refused(TOML + check + "advisory = true\n", **none) == (
        "tasks/greet: all checks are advisory and there are no tests: anything would pass"
    )
    assert load(TOML + check + "advisory = true\n" + check, **none).tests == {}
    assert load(TOML + check + "advisory = true\n").checks[0].advisory


def test_a_folder_is_a_task() -> None:
    """Everything is where its reader expects it."""
    task = load(
        TOML
        + 'expected_tests = ["t.T.test_a"]\nmax_turns = 3\n'
        + '[[metadata.evalgate.checks]]\ntype = "file_exists"\npath = "a.py"\nadvisory = true\n'
        + "[agent]\ntimeout_sec = 9\n[verifier]\ntimeout_sec = 0.5\n"
    )
    assert (task.id, task.instruction) == ("greet", "Fix it.\n")
    assert task.limits == Limits(agent_seconds=9, grade_seconds=0.5, max_turns=3)
    assert task.expected_tests == ("t.T.test_a",)
    assert task.checks == (CheckSpec(type="file_exists", params={"path": "a.py"}, advisory=True),)
    assert task.workspace == {"a.py": File(data=b"x\n")}
    assert set(task.tests) == {"test.sh"}
    assert set(task.solution) == {"a.py"}


def test_a_task_without_a_name_is_called_as_its_folder() -> None:
    """Only the last part of the path counts."""
    assert load("").id == "greet"
    assert load("").limits == Limits()


LIMITS = "max_tool_calls = 4\nmax_tokens = 500\nmax_usd = 0.25\n"


def test_limits_of_a_task_are_its_own() -> None:
    """What a task says itself, the project's limits do not change, and neither its digest."""
    task = load(TOML + "max_turns = 3\n" + LIMITS)
    assert task.limits == Limits(max_turns=3, max_tool_calls=4, max_tokens=500, max_usd=0.25)
    assert task.limits.allowance == Allowance(turns=3, tool_calls=4, tokens=500, usd=0.25)
    project = Allowance(turns=9, tool_calls=9, tokens=9, usd=9.0)
    files = folder(TOML + "max_turns = 3\n" + LIMITS)
    assert load_harbor_task("tasks/greet", files, project) == task


def test_limits_of_a_project_hold_where_a_task_says_nothing() -> None:
    """They make another task of it: what was measured without them is not comparable."""
    plain = load()
    assert load_harbor_task("tasks/greet", folder(), Allowance()) == plain
    digests = {plain.digest}
    for project in (Allowance(turns=9), Allowance(tool_calls=0), Allowance(usd=1.0)):
        task = load_harbor_task("tasks/greet", folder(), project)
        assert task.limits.allowance == replace(project, turns=project.turns or 15)
        digests.add(task.digest)
        (loaded,) = load_suite(suite(x="greet"), project)
        assert loaded.limits == task.limits
    assert len(digests) == 4
    default = load_harbor_task("tasks/greet", folder(), Allowance(turns=15))
    assert default.digest == plain.digest, "the same limit, whoever says it"


def test_windows_line_ends_do_not_reach_the_agent() -> None:
    """The instruction is the same on every machine."""
    assert load(instruction_dot_md="a\r\nb\r\n").instruction == "a\nb\n"


WRONG = {
    "syntax": ("x = = 1\n", "tasks/greet/task.toml: "),
    "unknown table": (TOML + "[tsk]\n", "tasks/greet/task.toml:9: tsk: unknown key"),
    "unknown key": (TOML + "tag = []\n", "tasks/greet/task.toml:9: metadata.evalgate.tag: unknown"),
    "wrong type": ("[task]\nname = 3\n", "tasks/greet/task.toml:2: task.name: must be a string"),
    "no time": ("[agent]\ntimeout_sec = 0\n", "tasks/greet/task.toml:2: agent.timeout_sec: must"),
    "nan": ("[verifier]\ntimeout_sec = nan\n", "tasks/greet/task.toml:2: verifier.timeout_sec: m"),
    "network": (
        "[environment]\nnetwork_mode = 'public'\n",
        'tasks/greet/task.toml:2: environment.network_mode: must be "no-network"',
    ),
    "network of the agent": (
        "[agent]\nnetwork_mode = 'public'\n",
        'tasks/greet/task.toml:2: agent.network_mode: must be "no-network"',
    ),
    "network of the tests": (
        "[verifier]\nallow_internet = true\n",
        "tasks/greet/task.toml:2: verifier.allow_internet: must be false",
    ),
    "steps": (
        "[[steps]]\nname = 'a'\n",
        "tasks/greet/task.toml:1: steps: several steps are not run",
    ),
    "internet": (
        "[environment]\nallow_internet = true\n",
        "tasks/greet/task.toml:2: environment.allow_internet: must be false",
    ),
    "unknown key of the set-up": (
        "[metadata.evalgate.setup]\ncommand = ['x']\n",
        "tasks/greet/task.toml:2: metadata.evalgate.setup.command: unknown key",
    ),
    "unknown verifier": (
        "[verifier]\nenvironment_mode = 'same'\n",
        "tasks/greet/task.toml:2: verifier.environment_mode: must be one of separate, shared",
    ),
    "no turns": (TOML + "max_turns = 0\n", "tasks/greet/task.toml:9: metadata.evalgate.max_turns"),
    "no tokens": (TOML + "max_tokens = 0\n", "tasks/greet/task.toml:9: metadata.evalgate.max_tok"),
    "half a call": (
        TOML + "max_tool_calls = 0.5\n",
        "tasks/greet/task.toml:9: metadata.evalgate.max_tool",
    ),
    "no money": (
        TOML + "max_usd = 0\n",
        "tasks/greet/task.toml:9: metadata.evalgate.max_usd: must",
    ),
    "outside": (
        TOML.replace("a.py", "../a.py"),
        "tasks/greet/task.toml:8: metadata.evalgate.expected_files: '../a.py' leaves",
    ),
    "check without type": (
        TOML + "[[metadata.evalgate.checks]]\ntype = 'a'\n[[metadata.evalgate.checks]]\n",
        "tasks/greet/task.toml:11: metadata.evalgate.checks: 'type' is missing",
    ),
    "check is no table": (
        TOML + "checks = [3]\n",
        "tasks/greet/task.toml:9: metadata.evalgate.checks: must be a table",
    ),
}


@pytest.mark.parametrize(("toml", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_in_the_file_is_named(toml: str, words: str) -> None:
    """File, line and dotted key stand in the error."""
    assert refused(toml).startswith(words)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"task_dot_toml": None}, "tasks/greet/task.toml: the file is missing"),
        ({"task_dot_toml": b"\xff"}, "tasks/greet/task.toml: 'utf-8' codec"),
        ({"instruction_dot_md": None}, "tasks/greet/instruction.md: the file is missing"),
        ({"instruction_dot_md": b"\xff"}, "tasks/greet/instruction.md: 'utf-8' codec"),
        ({"environment__workspace__a_dot_py": None}, "tasks/greet/environment/workspace: there"),
        ({"tests__test_dot_sh": None, "tests__t": ""}, "tasks/greet/tests/test.sh: the file is m"),
        ({"tests__test_dot_sh": None}, "tasks/greet: the task has neither tests/ nor checks"),
    ],
)
def test_what_is_missing_is_named(more: dict[str, bytes | None], words: str) -> None:
    """A task that anything would pass, or that nothing can run, is none."""
    assert refused(**more).startswith(words)


@pytest.mark.parametrize(
    "name",
    [
        *("", "..", ".", "a/../b", "/a", "a/", "a//b", "local/", "local//etc", "-x", "a\\\\b"),
        *("a\\u0000b", "a\\nb", "\\u001b[31m", "x" * 101),
    ],
)
def test_an_id_that_is_more_than_a_name_is_refused(name: str) -> None:
    """No path, no option, no control character, nothing endless."""
    words = refused(f'[task]\nname = "{name}"\n')
    assert words.startswith("tasks/greet/task.toml:2: task.name: ")
    assert words.endswith("holds NUL" if "u0000" in name else "can not be a task id")


@pytest.mark.parametrize("name", ["a/b", "a.b", "a_b", "A_b", "con", "é", "x" * 100, "a b"])
def test_ordinary_ids_are_kept(name: str) -> None:
    """Names that a file system would fold are still names."""
    assert load(f'[task]\nname = "{name}"\n').id == name


def suite(**tasks: str) -> dict[str, File]:
    """Return folders below tasks/, each with the id given."""
    return {
        f"tasks/{where}/{path}": file
        for where, name in tasks.items()
        for path, file in folder(f'[task]\nname = "{name}"\n').items()
    }


@pytest.mark.parametrize(
    "names", [("a", "a"), ("Greet", "greet"), *[("é", unicodedata.normalize("NFD", "é"))]]
)
def test_an_id_is_used_once(names: tuple[str, str]) -> None:
    """Twice the same, also by case or Unicode form, names both folders."""
    with pytest.raises(UsageError) as caught:
        load_suite(suite(one=names[0], two=names[1]))
    assert "is used by tasks/one and by tasks/two" in caught.value.message


def test_a_suite_is_in_order_of_id() -> None:
    """Whatever the folders are called."""
    assert [task.id for task in load_suite(suite(x="b", y="a", z="c"))] == ["a", "b", "c"]
    assert load_suite({"tasks/README.md": File(data=b"")}) == ()


def test_a_task_file_inside_a_workspace_is_no_task() -> None:
    """A task about task folders holds one in its workspace."""
    files = suite(one="a")
    files["tasks/one/environment/workspace/inner/task.toml"] = File(data=b"no TOML = = ")
    (task,) = load_suite(files)
    assert "inner/task.toml" in task.workspace


def test_tasks_are_selected_by_globs() -> None:
    """Each glob must match something; without one all are taken."""
    tasks = load_suite(suite(x="web/login", y="web/logout", z="cli"))
    assert select(tasks, []) == tasks
    assert [task.id for task in select(tasks, ["web/*"])] == ["web/login", "web/logout"]
    assert [task.id for task in select(tasks, ["cli", "*in"])] == ["cli", "web/login"]


def test_tasks_are_selected_by_tags() -> None:
    """By globs of them as well; what can not be read may have any tag, and is in the way."""
    files = suite(x="web", z="cli")
    for place, tags in (("x", ["easy"]), ("z", ["hard", "slow"])):
        text = files[f"tasks/{place}/task.toml"].data.decode()
        text += f"[metadata.evalgate]\ntags = {tags}\n"
        files[f"tasks/{place}/task.toml"] = File(data=text.encode())
    tasks = load_suite(files)
    assert [task.id for task in select(tasks, ["tag:hard"])] == ["cli"]
    assert [task.id for task in select(tasks, ["tag:[es]*"])] == ["cli", "web"]
    with pytest.raises(NothingRanError, match="no task matches 'tag:nosuch'") as caught:
        select(tasks, ["tag:nosuch"])
    assert caught.value.hint == "tags: easy, hard, slow"
    files["tasks/broken/task.toml"] = File(data=b"= =")
    assert len(load_suite(files, only=["web"])) == 2
    with pytest.raises(UsageError, match="tasks/broken"):
        load_suite(files, only=["tag:hard"])


def test_nothing_selected_is_nothing_ran() -> None:
    """A name that matches nothing can not end in a green run."""
    tasks = load_suite(suite(x="web", z="cli"))
    with pytest.raises(NothingRanError, match="no task matches 'nosuch'") as caught:
        select(tasks, ["web", "nosuch"])
    assert caught.value.hint == "tasks: cli, web"
    assert caught.value.exit_code == 5
    with pytest.raises(NothingRanError, match="the suite holds no task"):
        select([], [])


KEYS = st.sampled_from(
    [
        *("schema_version", "task", "name", "metadata", "evalgate", "agent", "verifier"),
        *("timeout_sec", "max_turns", "tags", "expected_files", "expected_tests", "checks"),
        *("type", "advisory", "environment", "network_mode", "x"),
    ]
)
VALUES = st.recursive(
    st.sampled_from(['"a"', "'../a'", "1", "-1", "nan", "1e999", "true", "1979-05-27", '"\\u0000"'])
    | st.just("0x" + "f" * 5000),
    lambda inner: (
        st.lists(inner, max_size=2).map(lambda items: f"[{', '.join(items)}]")
        | st.tuples(KEYS, inner).map(lambda pair: f"{{{pair[0]} = {pair[1]}}}")
    ),
    max_leaves=3,
)
LINES = st.one_of(
    st.builds("[{}]".format, st.lists(KEYS, min_size=1, max_size=3).map(".".join)),
    st.sampled_from(["[metadata.evalgate]", "[[metadata.evalgate.checks]]", "[task]", "[agent]"]),
    st.builds("{} = {}".format, KEYS, VALUES),
    st.text(max_size=12),
)


@settings(max_examples=500)
@given(st.lists(LINES, max_size=6).map("\n".join))
def test_any_task_file_is_a_task_or_an_error_in_words(toml: str) -> None:
    """Whatever stands in task.toml, only a planned error comes out."""
    said = "tasks/greet"
    try:
        task = load(toml)
    except UsageError as error:
        said = error.message
    else:
        assert task.id
    assert said.startswith("tasks/greet")


def test_an_environment_is_read_as_harbor_writes_it() -> None:
    """An image by name or Dockerfile, limits, and a set-up of our own."""
    toml = (
        'version = "1.0"\n[task]\nname = "org/x"\nkeywords = ["a"]\nauthors = [{ name = "B" }]\n'
        '[metadata]\ndifficulty = "hard"\n[metadata.evalgate]\n'
        'setup = { commands = ["npm install"], network = true }\n'
        '[environment]\ndocker_image = "a:1"\ncpus = 2\nmemory_mb = 64\nstorage_mb = 9\n'
        'allow_internet = false\nworkdir = "/w"\nbuild_timeout_sec = 60.0\n'
    )
    wanted = load(toml).environment
    assert (wanted.image, wanted.workdir, wanted.cpus, wanted.memory_mb) == ("a:1", "/w", 2, 64)
    assert (wanted.set_up.commands, wanted.set_up.network) == (("npm install",), True)
    assert not wanted.context
    more = {"environment/Dockerfile": "FROM x\n", "environment/workspace/a.py": None}
    wanted = load(**more).environment
    assert set(wanted.context) == {"Dockerfile"}
    assert load().environment.needs == ""
    assert load(**{"tests/test.sh": "ls /tests/x"}).environment.absolute == "/tests"


def test_a_user_who_answers_is_read() -> None:
    """In the order of the replies; what can wait for nothing, or says nothing, is refused."""
    head = '[[metadata.evalgate.user]]\nreply = "Yes."\n'
    more = f'{head}[[metadata.evalgate.user]]\nreply = "No."\nwhen = "sure"\n'
    assert [(one.reply, one.when) for one in load(more).user] == [("Yes.", r"\?"), ("No.", "sure")]
    for toml, words in [
        (f'{head}when = "("\n', "when: is no regular expression"),
        (head.replace("Yes.", " "), "reply: must not be empty"),
        (f"{head}who = 1\n", "who: unknown key"),
    ]:
        with pytest.raises(UsageError, match=words):
            load(toml)


OURS = "[metadata.evalgate]\n"


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("[agent]\ntimeout_sec = 86401", ":2: agent.timeout_sec: must be a number of at least 0.1"),
        ("[verifier]\ntimeout_sec = 1e300", ":2: verifier.timeout_sec: must be a number of at"),
        (f"{OURS}max_turns = 10001", ":2: metadata.evalgate.max_turns: must be at most 10000, not"),
        (f"{OURS}max_tool_calls = 1000000", ":2: metadata.evalgate.max_tool_calls: must be at mo"),
        (f"{OURS}max_tokens = 10000000000", ":2: metadata.evalgate.max_tokens: must be at most 1"),
        (f"{OURS}max_usd = 10001", ":2: metadata.evalgate.max_usd: must be a number of at least"),
        ("[environment]\ncpus = 1e6", ":2: environment.cpus: must be a number of at least 0 and"),
        ("[environment]\nmemory_mb = 99999999", ":2: environment.memory_mb: must be at most 1677"),
        (
            '[environment]\ndocker_image = "-v/:/x"',
            ":2: environment.docker_image: '-v/:/x' is",
        ),
        (f'{OURS}tags = ["a\\u0000"]', ":2: metadata.evalgate.tags: holds NUL"),
        (f'{OURS}checks = [{{ type = "x", rubric = "a\\u0000" }}]', "checks.rubric: holds NUL"),
        ('[[metadata.evalgate.user]]\nsays = "\\u0000"', ":2: metadata.evalgate.user.says: hold"),
    ],
)
def test_what_no_task_could_mean_is_refused(toml: str, words: str) -> None:
    """Bounds that no trial comes to, names that are none, what no file holds: with key and line."""
    assert words in refused(toml)


@given(st.integers(0, 1 << 64), st.sampled_from(["max_turns", "max_tool_calls", "max_tokens"]))
def test_a_limit_is_within_its_bounds_or_refused(value: int, key: str) -> None:
    """Whatever number stands there."""
    try:
        limits = load(f"{OURS}{key} = {value}").limits
    except UsageError as error:
        assert f"task.toml:2: metadata.evalgate.{key}: " in error.message  # noqa: PT017 - either
    else:
        assert getattr(limits, key) == value <= 1_000_000_000
