"""Each audit of `evalgate doctor`, both ways; and what is gathered of a real repository."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from evalgate.commands.doctor.audit import Health
from evalgate.commands.doctor.doctor import doctor, examined
from evalgate.commands.doctor.facts import Facts, Machine, Records, Repository, Suite
from evalgate.commands.doctor.gathering import gather
from evalgate.commands.doctor.table import AUDITS
from evalgate.commands.hooks.hook_installation import install
from evalgate.commands.project import WORKTREE, open_project, open_state
from evalgate.core.config import load_config
from evalgate.core.files import File
from evalgate.core.schema import Source
from evalgate.core.task import CheckSpec, Task
from tests.e2e.conftest import make_repo
from tests.pages import PAGES, coded, rows
from tests.schemas import hold

CONFIG = """
[harness.parts]
prompt = ["p"]
[models.main]
id = "m"
upstream = "anthropic"
price = { input = 3, output = 15 }
[agent]
command = ["a"]
[tripwires]
policy = "void"
"""
GIB = 1 << 30
SMOKE = 'upstream = "local-model"'


def config(old="", new=""):
    assert old in CONFIG
    loaded = load_config(Source("evalgate.toml", CONFIG.replace(old, new)), below=())
    assert loaded is not None
    return loaded


def task(name, **more):
    given = {"tests": {"test.sh": File(data=b"")}, "workspace": {"a.py": File(data=b"")}, **more}
    return Task(id=name, instruction="x", digest="d" * 64, **given)


TASKS = tuple(task(f"t{number}") for number in range(12))
GOOD = Facts(
    config=config(),
    suite=Suite(tasks=TASKS, from_history=12),
    records=Records(baselines=1, entries=1, recorded=("abc",), current="abc", decision="pass"),
    repository=Repository(hook=True),
    machine=Machine(
        sandboxes={"docker": None, "process": None},
        free={"/tmp": 50 * GIB},
        keys={"ANTHROPIC_API_KEY": True},
        programs={"/venv/bin/evalgate": True},
    ),
)


def suite(**more):
    return {"suite": replace(GOOD.suite, **more)}


def records(**more):
    return {"records": replace(GOOD.records, **more)}


def repository(**more):
    return {"repository": replace(GOOD.repository, **more)}


def machine(**more):
    return {"machine": replace(GOOD.machine, **more)}


def sandbox(text):
    return {"config": config("[tripwires]", f"[sandbox]\n{text}\n[tripwires]")}


def with_task(**more):
    return suite(tasks=(*TASKS, task("odd", **more)))


JUDGE = CheckSpec(type="llm_judge")
DOWN = {"docker": "it does not answer", "process": None}
ADVICE, WRONG = Health.ADVICE, Health.WRONG
CASES = [
    ("harness", WRONG, {"harness": "prompt matches nothing"}, "matches nothing"),
    ("tasks", WRONG, suite(unreadable=("tasks/a: no",)), "tasks/a: no"),
    ("tasks", WRONG, suite(tasks=()), "there is no task"),
    ("tasks", ADVICE, suite(problems=3), "3 rules"),
    ("history", ADVICE, suite(tasks=TASKS[:9], from_history=9), "9 tasks, 9 of them"),
    ("history", ADVICE, suite(from_history=5), "12 tasks, 5 of them"),
    ("history", ADVICE, suite(tasks=TASKS * 2, from_history=24), "more than 20"),
    ("checks", ADVICE, with_task(tests={}, checks=(JUDGE,)), "only an opinion decides on odd"),
    ("reach", WRONG, suite(reachable="parts.code: takes 'x' of a task"), "takes 'x'"),
    ("snapshots", WRONG, with_task(workspace={"a/.git/HEAD": File(data=b"")}), "a/.git/HEAD"),
    ("snapshots", WRONG, with_task(workspace={"all.bundle": File(data=b"")}), "all.bundle"),
    ("sandbox", WRONG, sandbox('use = "process"'), "isolates nothing"),
    ("sandbox", ADVICE, sandbox("setup_network = true"), "have the network"),
    (
        "sandbox",
        ADVICE,
        {"config": config("[tripwires]", 'placement = "host"\n[tripwires]')},
        "on the host",
    ),
    ("tripwires", ADVICE, {"config": config('"void"', '"flag"')}, "decides nothing"),
    (
        "tripwires",
        ADVICE,
        {"config": config("[tripwires]", '[tripwires]\nwithout = ["history"]')},
        "not looked for: history",
    ),
    ("trials", ADVICE, {"config": config("[tripwires]", "[suite]\ntrials = 3\n[tripwires]")}, "3"),
    (
        *("trials", ADVICE),
        {"config": config("[tripwires]", "[policy]\nsuite_alpha = 0\ntask_alpha = 0\n[tripwires]")},
        "could never block",
    ),
    ("policy", WRONG, repository(policy_edited=True), "another one than HEAD's"),
    ("policy", ADVICE, repository(committed=False), "HEAD has no configuration"),
    ("one-change", ADVICE, repository(parts_changed=("code", "prompt")), "code, prompt"),
    ("surprises", ADVICE, records(decision="improved"), "nobody read"),
    ("cost", ADVICE, {"config": config("price = { input = 3, output = 15 }")}, "no price of main"),
    ("revert", ADVICE, repository(hook=False), "neither a hook nor a workflow"),
    ("model", ADVICE, {"config": config('upstream = "anthropic"', SMOKE)}, "smoke alone"),
    ("ledger", ADVICE, records(unwritten=("abc.toml",)), "not in the ledger: abc.toml"),
    ("ledger", ADVICE, records(baselines=0), "no numbers are committed"),
    ("recordings", ADVICE, records(current="def"), "of another harness"),
    ("engine", WRONG, machine(sandboxes=DOWN), "nothing isolates an agent: docker: it does not"),
    (
        "engine",
        WRONG,
        {**machine(sandboxes=DOWN), **sandbox('use = "docker"')},
        "docker: it does not answer",
    ),
    ("disk", ADVICE, machine(free={"/tmp": 2 * GIB, "/": 50 * GIB}), "2.0 GiB are free at /tmp"),
    ("disk", WRONG, machine(free={"/tmp": 1000}), "0.0 GiB"),
    ("git", WRONG, repository(shallow=True), "shallow"),
    ("keys", ADVICE, machine(keys={"A_KEY": True, "B_KEY": False}), "not set: B_KEY"),
    (
        "program",
        WRONG,
        machine(programs={"/x/evalgate": False, "/y/evalgate": True}),
        "/x/evalgate",
    ),
    (
        "program",
        ADVICE,
        machine(programs={"/y/evalgate": True, "/x/evalgate": False}),
        "/x/evalgate",
    ),
    ("program", ADVICE, machine(programs={}), "not on PATH"),
    ("leftovers", ADVICE, machine(leftovers=("room /tmp/a",)), "room /tmp/a"),
]


@pytest.mark.parametrize(("name", "health", "changed", "words"), CASES)
def test_an_audit_finds_what_is_wrong(name, health, changed, words):
    """Says it, with what mends it, and nothing else is found by the way."""
    facts = replace(GOOD, **changed)
    found = {audit.name: audit.look(facts) for audit in AUDITS}
    assert found[name].health is health
    assert words in found[name].words
    assert found[name].fix
    bare = {"checks", "reach", "snapshots"} if not facts.suite.tasks else set()
    others = {one for one, finding in found.items() if finding.health is not Health.GOOD}
    assert others <= {name, "engine", "history", *bare}  # a suite changes in number as well


def test_of_no_task_nothing_good_is_said():
    """What holds of every task holds of none too, and is no praise."""
    facts = replace(GOOD, **suite(tasks=()))
    of_tasks = ("tasks", "history", "checks", "reach", "snapshots")
    found = {audit.name: audit.look(facts) for audit in AUDITS if audit.name in of_tasks}
    assert [found[name].health for name in of_tasks] == [WRONG, *[ADVICE] * 4]
    assert "1 task," in examined(replace(GOOD, **suite(tasks=TASKS[:1]))).text


def test_where_all_is_well_every_audit_says_so():
    """Exit 0; each is tried the other way too, and stands on the page."""
    answer = examined(GOOD)
    assert answer.code == 0
    assert answer.value["good"] == len(AUDITS)
    assert {name for name, *_ in CASES} == {audit.name for audit in AUDITS}
    told = {
        coded(name)[0]: what for name, what in rows("## The checklist", PAGES["docs/doctor.md"])
    }
    assert {name: what.removesuffix(" |") for name, what in told.items()} == {
        audit.name: audit.what for audit in AUDITS
    }


def test_the_code_says_what_must_be_mended():
    """2 for the project, 9 where only something is not available here, 0 for advice."""
    down = machine(sandboxes=DOWN)
    assert examined(replace(GOOD, **down)).code == 9
    assert examined(replace(GOOD, **down, **suite(tasks=()))).code == 2
    assert examined(replace(GOOD, **machine(leftovers=("a",)))).code == 0


def facts_of(path, environ):
    """Return what is gathered of a project on disk."""
    project = open_project(path)
    with open_state(project, WORKTREE) as state:
        return gather(project, state, environ)


def test_what_is_gathered_of_a_repository(tmp_path, git_environment):
    """Of its states, its hook, the programs on PATH; of a key that it is there, and no more."""
    repo = make_repo(tmp_path, git_environment)
    text = (repo.path / "evalgate.toml").read_text()
    text = text.replace('upstream = "env:SCRIPTED_URL"', 'upstream = "anthropic"')
    repo.write("evalgate.toml", text)
    repo.commit("A provider")
    for name, words in (("theirs", "from evalgate.cli import main"), ("ours", "evalgate.__main__")):
        program = tmp_path / name / "evalgate"
        program.parent.mkdir()
        program.write_text(f"#!/usr/bin/python3\n{words}\n")
        program.chmod(0o755)
    environ = {
        "ANTHROPIC_API_KEY": "sk-ant-api03-never-shown",
        "PATH": f"{tmp_path / 'theirs'}:{tmp_path / 'ours'}:{tmp_path / 'none'}",
    }
    facts = facts_of(repo.path, environ)
    assert [task.id for task in facts.suite.tasks] == ["double", "triple"]
    assert facts.machine.keys == {"ANTHROPIC_API_KEY": True}
    assert list(facts.machine.programs.values()) == [False, True]
    assert facts.machine.sandboxes["process"] is None
    assert min(facts.machine.free.values()) > 0
    assert facts.repository == Repository()
    answer = doctor(open_project(repo.path), environ)
    assert answer.code in {2, 9}
    assert "never-shown" not in f"{answer.text}{answer.value}"
    hold(answer.value, "doctor")
    repo.write(".pre-commit-config.yaml", "repos: []\n")
    assert not facts_of(repo.path, environ).repository.hook
    repo.write(".pre-commit-config.yaml", "repos: [{hooks: [{id: evalgate}]}]\n")
    assert facts_of(repo.path, environ).repository.hook
    (repo.path / ".pre-commit-config.yaml").unlink()
    install(repo.path)
    repo.write("agent/prompts/rewrite.md", "Other.\n")
    repo.write("agent/agent.py", "other\n")
    repo.write("tasks/double/task.toml", "= =")
    repo.write("evalgate.toml", f"{text}\n[policy]\nmargin = 0.2\n")
    repo.write(".evalgate/verdict.json", '{"decision": "improved", "read": {"read": 2}}')
    facts = facts_of(repo.path, environ)
    changed = Repository(policy_edited=True, parts_changed=("code", "prompt"), hook=True)
    assert facts.repository == changed
    assert (facts.records.decision, facts.records.read) == ("improved", 2)
    assert "tasks/double/task.toml" in facts.suite.unreadable[0]


def test_a_shallow_clone_and_a_part_that_is_not_there(tmp_path, git_environment):
    """Are lines of the checklist, and no end of it."""
    repo = make_repo(tmp_path, git_environment)
    repo.write("README.md", "More.\n")
    repo.commit("More")
    clone = tmp_path / "clone"
    words = ["git", "clone", "-q", "--depth", "1", repo.path.as_uri(), clone]
    subprocess.run(words, env=git_environment, check=True)
    (clone / "agent/tools.json").unlink()
    answer = doctor(open_project(clone), {})
    health = {one["audit"]: one["health"] for one in answer.value["audits"]}
    assert (health["git"], health["harness"]) == ("wrong", "wrong")
    assert health["policy"] == "good"
    assert answer.code == 2
