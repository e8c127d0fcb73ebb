"""`evalgate report`: the table of formats, and one of them rendered."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from evalgate.commands.project import Project
from evalgate.commands.telling.run_report import run_report
from evalgate.report.html import render_html
from evalgate.report.junit import render_junit
from evalgate.report.run_markdown import render_run
from evalgate.report.run_report import RunReport


def _json(report: RunReport) -> str:
    return json.dumps(report.to_json(), indent=1, ensure_ascii=True) + "\n"


#: By the name that ``--format`` has.
FORMATS: Final[Mapping[str, Callable[[RunReport], str]]] = {
    "md": render_run,
    "json": _json,
    "junit": render_junit,
    "html": render_html,
}


def render_report(project: Project, name: str, form: str) -> str:
    """Return ``RUN[:TASK[:N]]`` as text of a format; UsageError when there is no such trial."""
    return FORMATS[form](run_report(project, name))
