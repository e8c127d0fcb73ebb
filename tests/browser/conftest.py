"""A real browser, and pages opened in it from disk."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evalgate" / "browser"
PINS = Path(__file__).parent
REQUIRED = os.environ.get("EVALGATE_BROWSER") == "required"

_OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--no-first-run"),
)
#: Rules of WCAG 2.2 up to AA, and what axe takes for good practice.
_AXE = """
const done = arguments[arguments.length - 1];
axe.run({resultTypes: ["violations"]}).then((found) => done(found.violations.map((one) =>
  one.id + ": " + one.nodes.map((node) => node.html + " " + node.failureSummary).join(" | ")
)), (error) => done([String(error)]));
"""


@dataclass
class Opened:
    """A page in the browser."""

    driver: webdriver.Chrome
    axe: str
    width: int = 0

    def open(self, file: Path, view: str = "", *, scheme: str = "light", width: int = 1240) -> None:
        """Open a file from disk, at a width and in a colour scheme."""
        self.width = width
        look = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.get("about:blank")
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", look)
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(file.as_uri() + view)
        assert self.run("return document.documentElement.dataset.drawn") == "true"

    def go(self, view: str) -> None:
        """Go to another view of the page, as a link does."""
        self.run("location.hash = arguments[0]", view)
        self.run("window.dispatchEvent(new HashChangeEvent('hashchange'))")

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def keys(self, *keys: str) -> None:
        ActionChains(self.driver).send_keys(*keys).perform()

    def text(self, selector: str) -> str:
        return str(self.run("return document.querySelector(arguments[0]).textContent", selector))

    def texts(self, selector: str) -> list[str]:
        return [one.text for one in self.driver.find_elements(By.CSS_SELECTOR, selector)]

    @property
    def hash(self) -> str:
        return str(self.run("return location.hash"))

    @property
    def complaints(self) -> list[str]:
        """What the console says, and every request but that for the file itself."""
        said = [one["message"] for one in self.driver.get_log("browser")]
        events = [
            json.loads(one["message"])["message"] for one in self.driver.get_log("performance")
        ]
        asked = [
            one["params"]["request"]["url"]
            for one in events
            if one["method"] in {"Network.requestWillBeSent", "Network.webSocketCreated"}
        ]
        return said + [url for url in asked if not url.startswith("file:")]

    @property
    def barriers(self) -> list[str]:
        """What keeps people out, as axe sees it, and what is wider than the screen."""
        self.run(self.axe)
        found: list[str] = self.driver.execute_async_script(_AXE)
        return found + self.beyond

    @property
    def beyond(self) -> list[str]:
        """What is wider than the screen; a phone makes its window as wide as what it shows."""
        wide = self.run("return document.documentElement.scrollWidth") - self.width
        return [f"{wide} pixels too wide"] if wide > 0 else []


@pytest.fixture(scope="session")
def opened() -> Iterator[Opened]:
    """One browser for all tests."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    programs = [chromium, shutil.which("chromedriver")]
    pin, laid = PINS / "package-lock.json", CACHE / "package-lock.json"
    there = laid.is_file() and laid.read_bytes() == pin.read_bytes()
    if not there or not all(programs):
        give_up = pytest.fail if REQUIRED else pytest.skip
        give_up("a browser is not there as pinned: `bash .ci/browser` installs it")
    options = webdriver.ChromeOptions()
    options.binary_location = str(programs[0])
    for option in _OPTIONS:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(programs[1])))
    try:
        axe = (CACHE / "npm/node_modules/axe-core/axe.min.js").read_text()
        yield Opened(driver=driver, axe=axe)
    finally:
        driver.quit()
