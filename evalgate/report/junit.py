"""A run as JUnit XML, as CI servers read it: a suite a task, a test case a trial.

*failed* is ``<failure>``, *errored* is ``<error>``, a trial that an unfinished run did not make is
``<skipped>``. The shape is that of the schema of Jenkins'
xUnit plugin (junit-10.xsd). Names hold nothing of a run, so that a server sees the same cases
from run to run.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable

from evalgate.core.plain import plain
from evalgate.core.trial import Outcome, Trial
from evalgate.report.run_report import RunReport

#: What XML 1.0 can not hold, however it is escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

#: So much of a log is in a file that servers show as a whole.
_LOG = 4000


def render_junit(report: RunReport) -> str:
    """Return the document."""
    counts = _counts(report.trials, skipped=len(report.missing))
    counts.pop("skipped")  # which the schema knows of suites alone
    root = ET.Element("testsuites", {**counts, "name": _clean(report.project)})
    tasks = [trial.task for trial in report.trials] + [task for task, _ in report.missing]
    for task in dict.fromkeys(tasks):
        trials = [trial for trial in report.trials if trial.task == task]
        missing = [n for name, n in report.missing if name == task]
        counts = _counts(trials, skipped=len(missing))
        suite = ET.SubElement(root, "testsuite", {**counts, "name": _clean(task)})
        properties = ET.SubElement(suite, "properties")
        for name, value in (
            ("run", report.run),
            ("fingerprint", report.sample.fingerprint),
            ("evidence", str((trials or report.trials)[0].evidence)),
            *(("note", note) for note in report.notes),
        ):
            ET.SubElement(properties, "property", {"name": name, "value": _clean(value)})
        for trial in trials:
            _case(suite, report, trial)
        for n in missing:
            case = ET.SubElement(suite, "testcase", _name(task, n))
            ET.SubElement(case, "skipped", {"message": "not made: the run is not finished"})
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _case(suite: ET.Element, report: RunReport, trial: Trial) -> None:
    seconds = trial.signals.seconds
    case = ET.SubElement(suite, "testcase", _name(trial.task, trial.key.n))
    if seconds is not None:
        case.set("time", f"{seconds:.3f}")
    if trial.outcome is not Outcome.PASSED:
        word = "failure" if trial.outcome is Outcome.FAILED else "error"
        told = {"message": _clean(trial.reason), "type": str(trial.outcome)}
        ET.SubElement(case, word, told).text = _clean("\n".join(_checks(trial)))
    page = report.pages.get((trial.task, trial.key.n))
    if page is not None and page.log and trial.outcome is not Outcome.PASSED:
        ET.SubElement(case, "system-out").text = _clean(page.log[-_LOG:])


def _name(task: str, n: int) -> dict[str, str]:
    return {"classname": _clean(task), "name": _clean(f"{task} #{n}")}


def _checks(trial: Trial) -> list[str]:
    lines = [trial.reason] if trial.reason else []
    lines += [
        ": ".join(filter(None, (f"[{check.outcome}] {check.name}", check.detail)))
        for check in trial.checks
    ]
    return lines + [f"tripwire {hit.name}: {hit.place}: {hit.excerpt}" for hit in trial.tripwires]


def _counts(trials: Iterable[Trial], *, skipped: int) -> dict[str, str]:
    listed = [*trials]
    seconds = sum(trial.signals.seconds or 0.0 for trial in listed)
    return {
        "tests": str(len(listed) + skipped),
        "skipped": str(skipped),
        "failures": str(sum(trial.outcome is Outcome.FAILED for trial in listed)),
        "errors": str(sum(trial.outcome is Outcome.ERRORED for trial in listed)),
        "time": f"{seconds:.3f}",
    }


def _clean(text: str) -> str:
    return _NO_XML.sub("\ufffd", plain(text))
