# SPDX-License-Identifier: MIT
"""make pictures: takes the pictures for the manual. They show pages that the commands of doc/walkthroughs.md write. Run
it after a change to the look of the page, and check the pictures."""

import pathlib
import tempfile

from support.pytorch_builds import Build
from support.run import ROOT
from support.walkthroughs import play
from web.browser import missing, start

FOLDER = ROOT / "doc/pictures"
WIDTH = 1100
# {heading of the walkthrough: {picture: (page, fragment of the page's address, parts that are shown)}}
PICTURES = {
    "Out of memory": {
        "report.png": ("report.html", "", ("header", "#memory", "#sites", "#addresses")),
        "oom.png": ("report.html", "", ("#addresses", "#ledgers")),
    },
    "A leak": {"leak.png": ("report.html", "#by=line", ("header", "#memory", "#sites"))},
    "A gate": {"gate.png": ("check.html", "", ("header", "#sites"))},
    "A job without its cards": {"dry-run.png": ("report.html", "", ("header", "#memory"))},
}
# Removes the heading, which has the path of the trace, and the long table. Neither helps a reader of the picture.
PREPARE = """
for (const part of document.querySelectorAll('header, main > section, footer'))
  if (!arguments[0].some((wanted) => part.matches(wanted))) part.remove();
for (const one of document.querySelectorAll('#heading, #icicle-table')) one.remove();"""


def take(browser, name, page, fragment, parts):
    browser.open(page, fragment, width=WIDTH)
    browser.run(PREPARE, parts)
    print(f"pictures: {browser.picture(FOLDER / name)}")


def main():
    build = Build("debian")
    reason = missing() or build.missing()
    if reason:
        raise SystemExit(f"pictures: {reason}")
    browser = start()
    for heading, pictures in PICTURES.items():
        with tempfile.TemporaryDirectory() as folder:
            play(heading, pathlib.Path(folder), build.python)
            for name, (page, fragment, parts) in pictures.items():
                take(browser, name, pathlib.Path(folder) / page, fragment, parts)
    browser.driver.quit()


if __name__ == "__main__":
    main()
