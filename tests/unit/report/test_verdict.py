"""The verdict's page: one for every decision, and inert whatever it is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from evalgate.core.anchor import since, turned
from evalgate.core.decision import Decision
from evalgate.core.identity import Conditions
from evalgate.core.judgement import judge
from evalgate.core.policy import Policy
from evalgate.core.sample import Row, Sample, TaskSample
from evalgate.core.trial import Evidence, Outcome, Signals
from evalgate.core.verdict import Verdict
from evalgate.errors import UsageError
from evalgate.report.verdict import Story, render_verdict

Make = Callable[..., Sample]
POLICY = Policy()
WORDS = {"p": Outcome.PASSED, "f": Outcome.FAILED, "e": Outcome.ERRORED}
SIGNALS = Signals(seconds=2.0, output_tokens=100, cost_usd=0.01)
STORY = Story(
    head="the work tree",
    base="HEAD (1234567)",
    how="the tree is dirty",
    decided=("sandbox: process",),
)


@pytest.fixture(scope="module")
def sample() -> Make:
    """Make a sample from words, one letter a trial, with numbers on every row."""

    def make(
        signals: Signals = SIGNALS,
        models: tuple[str, ...] = ("m-1",),
        digest: str = "d1",
        **tasks: str,
    ) -> Sample:
        return Sample(
            fingerprint="f" * 64,
            conditions=Conditions(sandbox="process", agent="", models=models),
            tasks={
                name: TaskSample(
                    task=name,
                    digest=digest,
                    rows=tuple(
                        Row(
                            n=n,
                            outcome=WORDS[letter],
                            checks={"hidden tests": WORDS[letter]},
                            reason="" if letter == "p" else f"reason of {letter}",
                            signals=signals,
                        )
                        for n, letter in enumerate(letters, 1)
                    ),
                )
                for name, letters in tasks.items()
            },
            evidence=Evidence.REPLAYED,
        )

    return make


def undecided(sample: Make) -> Verdict:
    """Return a verdict of two small samples."""
    return judge(sample(add="ppppf"), sample(add="pppff"), POLICY)


def test_many_tasks_are_cut_to_eight(sample: Make) -> None:
    """The first table stays short; all tasks are below it."""
    names = [f"t{n:02}" for n in range(12)]
    verdict = judge(
        sample(**dict.fromkeys(names, "pp")), sample(**dict.fromkeys(names, "pf")), POLICY
    )
    page = render_verdict(verdict, STORY)
    assert "… and 4 more below." in page
    assert page.count("| `t11` |") == 1


def test_an_unknown_number_is_unknown(sample: Make) -> None:
    """One trial without a price, and the cost is not known; it is never zero."""
    known = sample(a="pp")
    unknown = sample(Signals(seconds=2.0, output_tokens=None, cost_usd=None), a="pp")
    page = render_verdict(judge(known, unknown, POLICY), STORY)
    assert "| output tokens a trial | 100 | unknown | unknown |" in page
    assert "| seconds a trial | 2.0 | 2.0 | same |" in page
    assert "| cost a trial | \\$0.0100 | unknown | unknown |" in page


def test_a_small_number_is_not_nothing(sample: Make) -> None:
    """A cost that is known and not 0 is never written as 0, nor 1 of 60 as none."""
    small = Signals(seconds=0.0, output_tokens=0, cost_usd=0.00002, failed_tool_calls=0)
    base, head = sample(small, a="f" * 60), sample(small, a="p" + "f" * 59)
    page = render_verdict(judge(base, head, POLICY), STORY)
    assert "| cost a trial | under \\$0.0001 | under \\$0.0001 | same |" in page
    assert "| seconds a trial | 0.0 | 0.0 | same |" in page
    assert "| pass rate | 0 % (0/60) | 2 % (1/60) |" in page
    most = render_verdict(judge(sample(a="p" * 900), sample(a="p" * 899 + "f"), POLICY), STORY)
    assert "| pass rate | 100 % (900/900) | 99 % (899/900) |" in most
    least = render_verdict(judge(sample(a="f" * 900), sample(a="p" + "f" * 899), POLICY), STORY)
    assert "| pass rate | 0 % (0/900) | 1 % (1/900) |" in least


def test_a_signal_that_moved_is_warned_of(sample: Make) -> None:
    """The checks are green, and every trial costs a third more."""
    names = [f"t{n}" for n in range(6)]
    base = sample(**dict.fromkeys(names, "ppppp"))
    dearer = Signals(seconds=2.0, output_tokens=100, cost_usd=0.0133)
    head = sample(dearer, **dict.fromkeys(names, "ppppp"))
    verdict = judge(base, head, POLICY)
    page = render_verdict(verdict, STORY)
    assert (
        "| ⚠ cost a trial | \\$0.0100 | \\$0.0133 | +33 % (90 % interval +33 % to +33 %) |" in page
    )
    assert verdict.decision is Decision.PASS
    limited = judge(base, head, Policy(budgets={"cost_usd": 1.25}))
    assert limited.decision is Decision.REGRESSION
    assert "more than +25 % is not allowed" in limited.sentence


def test_the_rate_counts_the_tasks_of_the_sentence(sample: Make) -> None:
    """A task that base or head lacks, or that was not measured, is in neither number."""
    base = sample(a="pppp", gone="ffff", unmeasured="ee")
    head = sample(a="pppf", new="ffff", unmeasured="pp")
    verdict = judge(base, head, replace(POLICY, max_errored=0.5))
    page = render_verdict(verdict, STORY)
    assert "100 % → 75 %" in verdict.sentence
    assert "| pass rate | 100 % (4/4) | 75 % (3/4) |" in page


def test_an_interval_reads_as_it_is_written(sample: Make) -> None:
    """The sentence has nothing in it that must be escaped."""
    page = render_verdict(undecided(sample), STORY)
    (alert,) = (line for line in page.splitlines() if line.startswith("> **"))
    assert "interval" in alert
    assert "\\" not in alert


def test_a_project_may_have_its_own_page(sample: Make) -> None:
    """A template sees verdict and story, and the same filters."""
    verdict = undecided(sample)
    own = "{{ verdict.decision }} {{ story.head | md }} {{ '<' | html }}\n"
    assert render_verdict(verdict, STORY, template=own) == "undecided the work tree &lt;\n"


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("a\n{% if %}\n", "report.template:2: Expected an expression"),
        ("a\n\n{{ verdict.decision", "report.template:3: unexpected end of template"),
        ("a\n{{ 1 | nosuch }}\n", "report.template:2: No filter named 'nosuch'"),
        ("a\nb\n{{ nosuch }}\n", "report.template:3: 'nosuch' is undefined"),
        ("a\n{{ verdict.nosuch }}\n", "report.template:2: 'evalgate.core.verdict.Verdict object'"),
        ("a\n{{ 1 / 0 }}\n", "report.template:2: division by zero"),
        ("a\n{{ story.head + 1 }}\n", "report.template:2: can only concatenate str"),
        ("a\n{{ ''.__class__.__mro__ }}", "report.template:2: access to attribute '__class__'"),
        ("{{ joiner.__init__.__globals__ }}", "report.template:1: access to attribute '__init__'"),
        ("{{ story.notes.__len__() }}", "report.template:1: access to attribute '__len__'"),
        ("{{ verdict.context.update(a=1) }}", "report.template:1: "),
        ("{{ range(1000000000) | length }}", "report.template:1: Range too big"),
        ("{% include 'x' %}", "report.template:1: no loader for this environment"),
    ],
)
def test_a_wrong_template_is_named_with_its_line(sample: Make, template: str, words: str) -> None:
    """A project's own page is a file a person can mend."""
    with pytest.raises(UsageError) as caught:
        render_verdict(undecided(sample), STORY, template=template)
    assert caught.value.message.startswith(words)
    assert caught.value.hint == "mend the template, or leave it out"


def test_a_task_that_must_pass_stands_first_whatever_it_did_before(sample: Make) -> None:
    """It is no drop against the base, and the page does not call it one."""
    before = sample(steady="pppppppppp", dear="pppppppfpp", other="pppppppppp")
    after = sample(steady="pppppppppp", dear="ppppppppfp", other="ppppppppfp")
    verdict = judge(before, after, Policy(must_pass=("dear",)))
    assert (verdict.decision, verdict.absolute) == (Decision.REGRESSION, True)
    page = render_verdict(verdict, STORY).replace("\\", "")
    alert = page.partition("\n\n")[0]
    assert "dear must pass and passed 9 of 10 times" in alert
    assert (
        "**What must pass and does not:** `dear` passed 9/10 before and passes 9/10 now." in alert
    )
    assert "What fell most" not in alert
    assert "may be chance; all together" not in page
    table = page.partition("### Tasks that")[2]
    assert table.index("dear") < table.index("other")
    assert "✘ must pass (same)" in table


def test_a_block_that_rests_on_no_single_task_blames_none(sample: Make) -> None:
    """A least pass rate, a budget or a release: what fell a little beside it is not the cause."""
    before, after = sample(a="ppppp", b="ppfff"), sample(a="ppppf", b="ppfff")
    page = render_verdict(judge(before, after, Policy(min_pass_rate=0.9)), STORY)
    alert = page.partition("\n\n")[0]
    assert "does not reach what is asked of it" in alert
    assert "fell" not in alert
    released = Policy(anchor="v*", anchor_blocks=True)
    old = sample(a="p" * 40, b="p" * 40)
    verdict = turned(judge(before, after, released), since("v1", old, after, released))
    alert = render_verdict(verdict, STORY).partition("\n\n")[0]
    assert "worse than the last release" in alert
    assert "fell most" not in alert
