"""The set-up of a task, in real containers: made once, below the workspace, in no claim."""

from __future__ import annotations

import logging
import os
import threading

import pytest

from evalgate.core.claim import Claim, claim_of
from evalgate.core.environment import Environment, SetUp
from evalgate.core.files import File
from evalgate.core.task import Task
from evalgate.core.trial import Outcome
from evalgate.errors import NotAvailableError, UsageError
from evalgate.protocols import Stage, StageResult, StageStatus
from evalgate.sandboxes.container import docker
from evalgate.sandboxes.docker import Engine
from evalgate.sandboxes.fitting import Fit, fit
from evalgate.sandboxes.taking import MAX_FILES
from tests.grading import grade_by

MANY = f"mkdir node_modules && cd node_modules && seq {MAX_FILES + 10} | xargs touch"


def task(*commands: str, network: bool = False, test: str = "exit 0") -> Task:
    """Return a task with a set-up of its own."""
    word = os.urandom(6).hex()
    return Task(
        id="made",
        instruction="",
        workspace={"a.txt": File(data=b"a"), "word": File(data=word.encode())},
        tests={"test.sh": File(data=test.encode())},
        digest=word,
        environment=Environment(set_up=SetUp(commands=commands, network=network)),
    )


def ran(it: Fit, script: str) -> StageResult:
    """Run a script on the task's workspace."""
    stage = Stage(trees={"repo": it.task.workspace}, argv=["bash", "-c", script], timeout=60)
    with it.provider.open_sandbox() as sandbox:
        return sandbox.run(stage, threading.Event())


def test_what_it_made_is_there_and_belongs_to_no_claim(engine: Engine, caplog) -> None:
    """Made once for all stages and processes; the workspace's own files are the task's."""
    made = task(
        "mkdir node_modules && echo tool >node_modules/tool",
        "cat a.txt >>made.txt; echo changed >a.txt; id -u >>made.txt",
        test='[ "$(cat node_modules/tool made.txt a.txt | tr -d "\\n")" = "toola1000a" ]',
    )
    with caplog.at_level(logging.WARNING):
        it = fit(docker(), made, setup_network=False)
        assert "making the image evalgate-setup:" in caplog.text
        caplog.clear()
        again = fit(docker(), made, setup_network=False).provider
        assert again.made_image() == it.provider.made_image()
        assert caplog.text == ""
    result = ran(it, "cat node_modules/tool made.txt a.txt; echo new >b.txt")
    assert b"tool" in result.log
    claim = claim_of(made.workspace, result.trees["repo"])
    assert claim.touched == ("b.txt",)
    assert it.provider.images == docker().images
    graded = grade_by(it.provider, made, claim)
    assert graded.checks[0].outcome is Outcome.PASSED, graded.log
    engine._api.remove_image(it.provider.made_image().name)


def test_what_an_agent_changes_of_it_is_its_claim(engine: Engine) -> None:
    """Its edits come back, and what it removes of the workspace stays away when it is graded."""
    made = task("mkdir -p lib/x && echo 1 >lib/x/tool", test="[ ! -e a.txt ] && grep 2 new/x/tool")
    it = fit(docker(), made, setup_network=False)
    result = ran(it, "echo 2 >lib/x/tool; mv lib new; rm a.txt")
    claim = claim_of(made.workspace, result.trees["repo"])
    assert claim.touched == ("a.txt", "new/x/tool")
    graded = grade_by(it.provider, made, claim)
    assert graded.checks[0].outcome is Outcome.PASSED, graded.log
    assert grade_by(it.provider, made, Claim()).checks[0].outcome is Outcome.FAILED
    engine._api.remove_image(it.provider.made_image().name)


@pytest.mark.parametrize(
    ("script", "test"),
    [
        ("rm -rf lib; ln -s /etc lib", '[ "$(readlink lib)" = /etc ]'),
        ("rm -rf lib; echo file >lib", '[ "$(cat lib)" = file ]'),
        (
            "rm link; mkdir link; echo 1 >link/x",
            "[ ! -L link ] && [ ! -e lib/x.new ] && cat link/x",
        ),
        ("rm one; mkdir -p one/two; echo 1 >one/two/x", "cat one/two/x && cat lib/x/tool"),
        ("mv lib other; ln -s other lib; echo 2 >lib/y", "cat other/y lib/x/tool && [ -L lib ]"),
        ("rm -f link; echo 3 >link; echo 3 >one", '[ "$(cat link one | tr -d "\\n")" = 33 ]'),
        ("echo 1 >closed/y; rm closed/x; mkdir closed/x; echo 4 >closed/x/z", "cat closed/x/z"),
    ],
)
def test_a_claim_wins_over_what_the_set_up_made(engine: Engine, script: str, test: str) -> None:
    """A link or file in the place of a folder, or a folder of a link, is graded as it is."""
    made = task(
        "mkdir -p lib/x closed && echo 1 >lib/x/tool && ln -s lib link && echo 1 >one",
        "echo 1 >closed/x && chmod -R a-w closed",
        test=f"set -e; ls -lR; {test}",
    )
    it = fit(docker(), made, setup_network=False)
    claim = claim_of(made.workspace, ran(it, f"set -e; {script}").trees["repo"])
    graded = grade_by(it.provider, made, claim)
    assert graded.checks[0].outcome is Outcome.PASSED, graded
    assert grade_by(it.provider, made, Claim()).checks[0].outcome is Outcome.FAILED
    engine._api.remove_image(it.provider.made_image().name)


def test_it_counts_towards_no_limit(engine: Engine) -> None:
    """More files than ever come back may have been there before."""
    it = fit(docker(), task(MANY, "head -c 50000000 /dev/zero >big"), setup_network=False)
    result = ran(it, "ls node_modules | wc -l; echo 1 >one")
    assert result.status is StageStatus.EXITED, result.detail
    assert result.log.strip() == str(MAX_FILES + 10).encode()
    assert set(result.trees["repo"]) == {"a.txt", "word", "one"}
    assert ran(it, MANY.replace("node_modules", "more")).status is StageStatus.TOO_LARGE
    engine._api.remove_image(it.provider.made_image().name)


def test_a_command_that_fails_is_named_with_its_words(engine: Engine) -> None:
    """No image is made of half a set-up, and no container is left."""
    broken = task("true", "echo no luck >&2; exit 3", "touch never")
    for _ in range(2):
        with pytest.raises(
            NotAvailableError, match="set-up of the task made ended with exit"
        ) as it:
            fit(docker(), broken, setup_network=False)
        assert "no luck" in str(it.value.hint)
    own = f"evalgate-room-{os.getpid()}-"
    assert not [name for name in engine.ours() if name.startswith(own)]


def test_it_is_offline_unless_both_allow_it(engine: Engine) -> None:
    """The refusal names the two keys."""
    probe = '[ "$(ls /sys/class/net)" = lo ]'
    it = fit(docker(), task(probe), setup_network=True)
    with pytest.raises(UsageError, match=r"setup\.network") as caught:
        fit(docker(), task("true", network=True), setup_network=False)
    assert "[sandbox] setup_network = true" in str(caught.value.hint)
    online = fit(docker(), task(f"! {probe}", network=True), setup_network=True)
    assert ran(online, probe).exit_code == 0
    for made in (it, online):
        engine._api.remove_image(made.provider.made_image().name)
