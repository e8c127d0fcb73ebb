"""A run as one HTML file that needs nothing else: no network, no other file.

The data lies in it as JSON: one block for the overview, and one a trial, which is read when its
page is opened. A script of ours draws it, and writes every text of strangers as text. The
content security policy names script and style by their digests, and allows nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from dataclasses import replace
from importlib import resources

from evalgate.core.json import Json
from evalgate.core.plain import plain, shortened
from evalgate.core.trial import Trial
from evalgate.report.run_report import RunReport
from evalgate.report.share import share_of


def render_html(report: RunReport) -> str:
    """Return the page; all of it is ASCII."""
    style, script = _template("report.css"), _template("report.js")
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    trials: list[Json] = []
    blocks = []
    for number, trial in enumerate(report.trials):
        trials.append(_brief(trial))
        blocks.append(_block(f"trial-{number}", _deferred(report, trial)))
    references: dict[str, Json] = {}
    numbers = {(trial.task, trial.key.n): number for number, trial in enumerate(report.trials)}
    for task, one in report.references.items():
        if one.where == report.run:
            references[task] = {"trial": numbers[task, one.n]}
            continue
        name = f"reference-{len(references)}"
        references[task] = {"where": one.where, "n": one.n, "block": name}
        share = share_of(2 * len(report.references))
        patch = share.take(one.patch, _LONG)
        page = None if one.page is None else one.page.cut(share)
        blocks.append(_block(name, replace(one, page=page, patch=patch).to_json()))
    overview = {**report.overview(), "trials": trials, "references": references}
    info = {name: report.info.get(name) for name in ("finished", "times")}
    parts = {
        "policy": html.escape(policy),
        "title": _ascii(html.escape(plain(f"{report.project}: {report.run}"))),
        "style": style,
        "data": "\n".join([_block("report", {**overview, "info": info}), *blocks]),
        "script": script,
    }
    # In one pass: what is put in may look like a place for more.
    return _PLACE.sub(lambda found: parts[found[1]], _template("report.html"))


#: A patch, or what a check found, is cut here.
_LONG = 200_000

_PLACE = re.compile(r"\{\{(policy|title|style|data|script)\}\}")

#: A text is cut here where the overview needs it for a search alone.
_BRIEF = 400


def _brief(trial: Trial) -> dict[str, Json]:
    """Return what the overview shows of a trial, and looks for."""
    return {
        "task": trial.task,
        "n": trial.key.n,
        "outcome": str(trial.outcome),
        "reason": shortened(trial.reason, _BRIEF),
        "evidence": str(trial.evidence),
        "signals": trial.signals.to_json(),
        "agent_exit": trial.agent_exit,
        "checks": [f"{check.name} {shortened(check.detail, _BRIEF)}" for check in trial.checks],
        "tripwires": [hit.name for hit in trial.tripwires],
        "answer": shortened(trial.final_answer, _BRIEF),
    }


def _deferred(report: RunReport, trial: Trial) -> dict[str, Json]:
    """Return what is read when a trial is opened, within its share of the page."""
    share, key = share_of(len(report.trials)), (trial.task, trial.key.n)
    page = report.pages.get(key)
    return {
        "reason": share.take(trial.reason, _LONG),
        "checks": [
            {**check.to_json(), "detail": share.take(check.detail, _LONG)} for check in trial.checks
        ],
        "tripwires": [hit.to_json() for hit in trial.tripwires],
        "difference": share.take(report.differences.get(key, ""), _LONG),
        "patch": share.take(trial.patch, _LONG),
        "page": None if page is None else page.cut(share).to_json(),
    }


def _block(name: str, value: Json) -> str:
    # Nothing in it ends the block or begins a comment, whatever was said on the wire.
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _ascii(text: str) -> str:
    return text.encode("ascii", "xmlcharrefreplace").decode()


def _template(name: str) -> str:
    return resources.files(__package__).joinpath(f"templates/{name}").read_text(encoding="utf-8")


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
