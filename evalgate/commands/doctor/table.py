"""The checklist: every audit, in the order in which things go wrong."""

from __future__ import annotations

from typing import Final

from evalgate.commands.doctor import experiment, machine, suite
from evalgate.commands.doctor.audit import Audit

AUDITS: Final = (
    Audit(name="harness", what="its parts can be read", look=experiment.harness),
    Audit(name="tasks", what="can be read, and break no rule", look=suite.readable),
    Audit(
        name="history",
        what="10 to 20 tasks, most of them from the team's own history",
        look=suite.from_history,
    ),
    Audit(name="checks", what="what decides on a task says yes or no", look=suite.binary),
    Audit(
        name="reach",
        what="nothing that grades is in reach of an agent",
        look=suite.out_of_reach,
    ),
    Audit(name="snapshots", what="no task begins with a history", look=suite.no_history),
    Audit(name="sandbox", what="fresh sandboxes, and no network", look=suite.sandboxed),
    Audit(name="tripwires", what="canary and tripwires, and a hit counts", look=suite.tripwired),
    Audit(name="trials", what="five trials of a task or more", look=suite.trials),
    Audit(name="policy", what="is committed before the run", look=experiment.policy_first),
    Audit(name="one-change", what="one part is edited at a time", look=experiment.one_change),
    Audit(name="surprises", what="are read and run again", look=experiment.surprises),
    Audit(
        name="cost",
        what="it is known what a right answer costs",
        look=experiment.cost_per_correct,
    ),
    Audit(name="revert", what="an edit that does worse is stopped", look=experiment.revert_rule),
    Audit(name="model", what="a local model is for smoke alone", look=experiment.real_model),
    Audit(name="ledger", what="results are written down", look=experiment.written_down),
    Audit(
        name="recordings",
        what="are of today's harness",
        look=experiment.fresh_recordings,
    ),
    Audit(name="engine", what="something isolates an agent here", look=machine.engine),
    Audit(name="disk", what="5 GiB are free", look=machine.disk),
    Audit(name="git", what="the clone has its history", look=machine.depth),
    Audit(name="keys", what="are set, and never shown", look=machine.keys),
    Audit(name="program", what="the evalgate on PATH is this one", look=machine.program),
    Audit(name="leftovers", what="nothing is left of killed runs", look=machine.leftovers),
)
