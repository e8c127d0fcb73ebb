"""What each key of the configuration means, in a line: the page of all keys is made of this.

The reader of a table knows a key's type and default; what it is for stands here. ``NAME`` is a
name that the user chose. A key that ends a table's own path is the table itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evalgate.core.signal_change import SIGNALS

_RATIOS: Final = ", ".join(f"`{name}`" for name, signal in SIGNALS.items() if signal.is_ratio)

#: By the dotted name of a table: what it is for.
TABLES: Final[Mapping[str, str]] = {
    "harness": "Where the harness lies.",
    "harness.parts": "The named parts of the harness, at least one.",
    "harness.overlay": "Files of the harness that are laid into the workspace.",
    "models.NAME": (
        "A model that the harness uses, at least one; a request goes where its id is served."
    ),
    "models.NAME.price": "Dollars a million tokens; what is not given is unknown, never free.",
    "agent": "The program under test.",
    "agent.env": "More variables for the agent.",
    "suite": "The tasks, and how often each is tried.",
    "sandbox": "Where trials are made, and how much of the machine one gets.",
    "policy": "When a difference counts. It is read from the base, never from the change.",
    "policy.budgets": (
        "How much a soft signal may rise before that blocks; others are only warned of."
    ),
    "policy.quarantine.NAME": (
        "A task that is run and shown and decides nothing, once the base has it."
    ),
    "limits": "What one trial may use of its model where its task says nothing else.",
    "budget": "What all live trials of one run, or one live gate, may use together.",
    "tripwires": "What an agent must not look for.",
    "tripwires.own": "A tripwire of the project's own.",
    "hook": "The pre-push hook.",
    "report": "The verdict's page.",
    "cassettes": "Where recordings lie, and what is replaced before requests are matched.",
    "cassettes.scrub": "A scrub rule of the project's own.",
}

#: By the dotted name of a key: what it means.
MEANINGS: Final[Mapping[str, str]] = {
    "harness.root": "globs are relative to it, and it is `{harness_dir}`",
    "harness.parts.NAME": "globs of a part; one that matches nothing is an error",
    "harness.overlay.NAME": (
        "a file of a part → its path in the workspace, outside the agent's diff"
    ),
    "models.NAME.id": "the model id that the agent asks for",
    "models.NAME.upstream": (
        "`anthropic`, `openai`, `gemini`, `local-model`, a URL, `env:NAME`, or `scripted:FILE`"
    ),
    "models.NAME.dialect": (
        "how a key is sent to a URL, and the only dialect it is asked in; empty is any"
    ),
    "models.NAME.key_env": "the variable that holds the key; empty is the provider's usual one",
    "models.NAME.parameters": "handed to the agent in `EVALGATE_MODELS`",
    "models.NAME.price.input": "tokens that are sent",
    "models.NAME.price.output": "tokens that come back",
    "models.NAME.price.cache_read": "tokens read from the provider's cache",
    "models.NAME.price.cache_write": "tokens written to it",
    "agent.use": "the adapter; `command` is any program",
    "agent.command": (
        "its words; fields: `{harness_dir} {repo_dir} {instruction} {instruction_file} {model}"
        " {base_url} {max_turns}`"
    ),
    "agent.answering": (
        "its words to go on once a task's `user` has [answered](tasks.md#a-user-who-answers); the "
        "field `{reply}` is the answer"
    ),
    "agent.placement": "`host`: the program runs here, its tools in the sandbox",
    "agent.env.NAME": "the value, with the same fields",
    "suite.tasks": "globs of task folders",
    "suite.trials": "trials of each task",
    "sandbox.use": (
        "`auto` (docker, podman or bwrap, whichever works first), `docker`, `podman`, `bwrap` or"
        " `process`"
    ),
    "sandbox.image": "an image that is used as it is, in place of the one that comes along",
    "sandbox.dockerfile": (
        "a Dockerfile below `harness.root`; its folder is the context, and all of it must be a part"
    ),
    "sandbox.memory_mb": "memory of a container, in MiB",
    "sandbox.work_mb": "files of the work, in MiB; they lie in memory",
    "sandbox.cpus": "processors of a container",
    "sandbox.processes": "processes of a container",
    "sandbox.setup_network": "whether the set-up of tasks may reach the network",
    "policy.margin": "the drop in pass rate that people care about, 0 to 1",
    "policy.suite_alpha": (
        "the rule's threshold for the suite, for trials that exist; a live gate has its own"
    ),
    "policy.task_alpha": "the same for one task",
    "policy.max_errored": "more errored trials than this share: *not measured*",
    "policy.prove": (
        "a live gate makes all its rounds unless a drop of the margin is excluded before"
    ),
    "policy.must_pass": "tasks of which one failed trial blocks, whatever the base does",
    "policy.min_pass_rate": "a mean pass rate below this blocks, whatever the base does",
    "policy.failed_run_usd": (
        "what a failed run costs beside its model, in the cost of a correct outcome"
    ),
    "policy.anchor": (
        "tags of releases, such as `v*`: the head is held against the newest measured one as well"
    ),
    "policy.anchor_blocks": "a drop since that release blocks too",
    "policy.evidence": "the weakest evidence that is taken",
    "policy.fork_evidence": (
        "the same for pull requests from another repository, where it asks for more"
    ),
    "policy.budgets.NAME": f"the most that head may be of base, 1 or more, by signal: {_RATIOS}",
    "policy.quarantine.NAME.owner": "who looks at it",
    "policy.quarantine.NAME.reason": "why it is there",
    "policy.quarantine.NAME.review": "the day by which its owner looks at it again",
    "limits.max_turns": "model turns; 15 where nobody says",
    "limits.max_tool_calls": "tool calls",
    "limits.max_tokens": "tokens, those of caches counted",
    "limits.max_usd": "dollars; a model without a `price` is an error before the first call",
    "budget.turns": "model turns",
    "budget.tool_calls": "tool calls",
    "budget.tokens": "tokens",
    "budget.usd": "dollars: no model is asked once they are spent; `--usd` overrides it",
    "tripwires.policy": "`flag` shows a hit in the verdict, `void` voids it (exit 6)",
    "tripwires.without": (
        "usual ones left out: `history`, `hidden-tests`, `solution`, `grading`, `package-cache`"
    ),
    "tripwires.own.name": "what it is called",
    "tripwires.own.pattern": (
        "of Python's `re`; one that takes longer than 1 s on a text ends the run (exit 2)"
    ),
    "tripwires.own.reason": "why it is looked for",
    "tripwires.own.in": "where: `calls`, `log`, `files`",
    "hook.on_stale": "what a push of an unmeasured edit gets: a sentence, or a stop",
    "report.template": (
        "a Jinja2 template for the verdict, below the configuration's folder: it sees `verdict`,"
        " `story` and `shown`, and the filters `md`, `code`, `html` and `fence`"
    ),
    "cassettes.path": "a folder of the project, or one outside the repository",
    "cassettes.without": "usual scrub rules left out",
    "cassettes.also": "unusual ones asked for (`uuid`)",
    "cassettes.scrub.name": "a short word of a–z, 0–9 and -",
    "cassettes.scrub.pattern": "of Python's `re`",
    "cassettes.scrub.replace": "what stands there instead; `\\1` is the first group",
    "cassettes.scrub.reason": "why it says nothing",
    "cassettes.scrub.dialect": "the only dialect it holds for; empty is any",
}
