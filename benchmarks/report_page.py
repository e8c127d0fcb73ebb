"""How long a report of many trials takes to open in a real browser, and how big it is.

    python -m benchmarks.report_page [--quick]

Runs of 10, 100 and 1,000 trials (eight turns each, with log, diff and wire) are rendered as
HTML and opened from disk in chromium, each several times in turn. open: until the overview stands
there; trial: until one trial's steps do, the slowest of several; search: until a word is found
among everything that trials did. Milliseconds, medians. With ``--quick`` each is opened once.

The last line is one JSON object. Exit status: 0 when every goal holds, 1 when one does not, 2
when there is no chromium with its driver (bash .ci/browser).
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from benchmarks.goals import Goal, MissingError, finish, refuse
from benchmarks.made_runs import made_report
from evalgate.report.html import render_html

OPEN_GOAL, TRIAL_GOAL, SEARCH_GOAL, SIZE_GOAL = 2000.0, 200.0, 500.0, 50.0
SIZES = ((10, 1), (20, 5), (100, 10))

#: Draws one trial after the other, and returns how long the slowest took, in milliseconds.
_TRIALS = """
const places = [...document.querySelectorAll('.cell')].map((one) => one.hash).slice(0, 20);
let most = 0;
for (const place of places) {
  const start = performance.now();
  location.hash = place;
  window.dispatchEvent(new HashChangeEvent('hashchange'));
  document.querySelector('.steps').getBoundingClientRect();
  most = Math.max(most, performance.now() - start);
}
location.hash = '';
window.dispatchEvent(new HashChangeEvent('hashchange'));
return most;
"""
_SEARCH = """
const start = performance.now();
document.querySelector('.filters .search + .toggle input').click();
const search = document.getElementById('search');
search.value = 'nothing of the kind';
search.dispatchEvent(new Event('input'));
document.querySelector('.found').getBoundingClientRect();
return performance.now() - start;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a run of so many trials takes: MB of the file, seconds to render, milliseconds."""

    trials: int
    megabytes: float
    render: float
    open: float
    trial: float
    search: float

    def __str__(self) -> str:
        """Say it as a row of the table."""
        return (
            f"{self.trials:>7}{self.megabytes:>9.1f}{self.render:>10.2f}"
            f"{self.open:>9.0f}{self.trial:>9.0f}{self.search:>9.0f}"
        )


@contextmanager
def open_browser() -> Iterator[webdriver.Chrome]:
    """Start chromium; MissingError when it, or its driver, is not there."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    programs = [chromium, shutil.which("chromedriver")]
    if not all(programs):
        message = "chromium and chromedriver: bash .ci/browser"
        raise MissingError(message)
    options = webdriver.ChromeOptions()
    options.binary_location = str(programs[0])
    for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(option)
    driver = webdriver.Chrome(options=options, service=Service(str(programs[1])))
    try:
        yield driver
    finally:
        driver.quit()


def measure(folder: Path, times: int) -> list[Opening]:
    """Render all pages, and open each so many times, in turn."""
    pages: dict[int, tuple[Path, float]] = {}
    for tasks, trials in SIZES:
        report = made_report(tasks, trials)
        start = time.perf_counter()
        text = render_html(report)
        seconds = time.perf_counter() - start
        pages[tasks * trials] = (folder / f"{tasks * trials}.html", seconds)
        pages[tasks * trials][0].write_text(text)
    found: dict[int, list[tuple[float, float, float]]] = {count: [] for count in pages}
    with open_browser() as driver:
        for _ in range(times):
            for count, (page, _) in pages.items():
                found[count].append(_opened(driver, page))
    openings = []
    for count, (page, seconds) in pages.items():
        opened, trial, search = (
            statistics.median(part) for part in zip(*found[count], strict=True)
        )
        openings.append(
            Opening(
                trials=count,
                megabytes=page.stat().st_size / 1e6,
                render=seconds,
                open=opened,
                trial=trial,
                search=search,
            )
        )
    return openings


def _opened(driver: webdriver.Chrome, page: Path) -> tuple[float, float, float]:
    driver.get("about:blank")
    start = time.perf_counter()
    driver.get(page.as_uri())  # it has drawn itself before it says that it is loaded
    opened = 1000 * (time.perf_counter() - start)
    if driver.execute_script("return document.documentElement.dataset.drawn") != "true":
        message = f"{page} has not drawn itself"
        raise AssertionError(message)
    return (
        opened,
        float(driver.execute_script(_TRIALS)),
        float(driver.execute_script(_SEARCH)),
    )


def main() -> int:
    """Measure, print the table, and return the exit status."""
    parser = argparse.ArgumentParser(prog="benchmarks.report_page")
    parser.add_argument("--quick", action="store_true", help="open each page once")
    quick: bool = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="evalgate-report-page-") as folder:
        try:
            openings = measure(Path(folder), 1 if quick else 5)
        except MissingError as missing:
            return refuse("report_page", missing, quick=quick)
    print(" trials       MB  render s  open ms trial ms  search")
    for one in openings:
        print(one)
    last = openings[-1]
    goals = [
        Goal(name="1,000 trials open", found=last.open, limit=OPEN_GOAL, unit="ms"),
        Goal(name="a trial of them is shown", found=last.trial, limit=TRIAL_GOAL, unit="ms"),
        Goal(name="a word is looked for", found=last.search, limit=SEARCH_GOAL, unit="ms"),
        Goal(name="1,000 trials weigh", found=last.megabytes, limit=SIZE_GOAL, unit="MB"),
    ]
    figures = {"openings": [asdict(one) for one in openings]}
    return finish("report_page", goals, quick=quick, figures=figures)


if __name__ == "__main__":
    sys.exit(main())
