# SPDX-License-Identifier: MIT
"""Debian's Chromium, headless, for tests of the HTML page."""

import base64
import os
import pathlib
import shutil
import socket

import pytest

from support.run import TIMEOUT_S, own_ports

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
# A page is opened from a file and must not load anything else. Every request in this list is therefore an error.
ALL_REQUESTS = "return performance.getEntriesByType('resource').map((entry) => entry.name)"


class Browser:
    def __init__(self, driver):
        self.driver = driver

    def open(self, path, fragment="", width=1200, height=900, scheme="light"):
        """Opens a page and waits until the page is drawn. Earlier complaints of the browser are discarded."""
        from selenium.webdriver.support.ui import WebDriverWait

        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.driver.get("about:blank")  # a new fragment would not reload the page
        self.complaints()
        self.driver.get(f"file://{path}{fragment}")
        WebDriverWait(self.driver, TIMEOUT_S).until(lambda driver: self.run("return document.body.dataset.drawn === 'yes'"))
        return self

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def click(self, text, inside="body"):
        """Clicks the first button or heading that has this text."""
        found = self.run(
            "return [...document.querySelector(arguments[1]).querySelectorAll('button, summary')]"
            ".find((one) => one.textContent.trim() === arguments[0])",
            text,
            inside,
        )
        assert found, f"no button '{text}' in {inside}"
        found.click()

    def fragment(self):
        """Waits until the page has written the fragment of its address, and returns the fragment."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, TIMEOUT_S).until(lambda driver: self.run("return !page.unwritten"))
        return self.run("return location.hash")

    def press(self, selector, *keys):
        from selenium.webdriver.common.by import By

        self.driver.find_element(By.CSS_SELECTOR, selector).send_keys(*keys)

    def picture(self, path):
        """Takes a picture of the whole page, in the width of its window. Returns `path`."""
        width, height = self.run("return [innerWidth, Math.ceil(document.documentElement.getBoundingClientRect().height)]")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        taken = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
        pathlib.Path(path).write_bytes(base64.b64decode(taken["data"]))
        return path

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        return self.run(ALL_REQUESTS)


def missing():
    """Returns the reason why there is no browser, or None if there is one."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "python3-selenium is not installed"
    try:
        socket.gethostbyname("localhost")
    except OSError:
        return "this machine knows no localhost, by which chromedriver is asked: /etc/hosts is missing"
    return None if CHROMIUM and DRIVER else "chromium and chromium-driver are not installed"


def start():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    return Browser(webdriver.Chrome(service=Service(DRIVER, port=own_ports(1)[0], env=environment), options=options))


@pytest.fixture(scope="session")
def browser():
    if missing():
        pytest.skip(missing())
    started = start()
    yield started
    started.driver.quit()
