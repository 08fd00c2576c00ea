# SPDX-License-Identifier: MIT
"""make pictures: the pictures of the manual, each of a page that a dry run of a sample gives. Run it after the page's
looks have changed, and look at what it made."""

import pathlib
import tempfile

from support.pytorch_builds import Build
from support.run import BUILD, ROOT, clean_environment, run_command
from web.browser import missing, start

FOLDER = ROOT / "doc/pictures"
WIDTH, HEIGHT = 1100, 1290  # down to the map of memory


def take(browser, page, name):
    browser.open(page, width=WIDTH, height=HEIGHT)
    browser.run("document.getElementById('heading').remove()")  # where it was taken says nothing
    FOLDER.mkdir(exist_ok=True)
    browser.driver.save_screenshot(str(FOLDER / name))
    print(f"pictures: {FOLDER / name}")


def main():
    build = Build("debian")
    reason = missing() or build.missing()
    if reason:
        raise SystemExit(f"pictures: {reason}")
    with tempfile.TemporaryDirectory() as folder:
        trace, page = pathlib.Path(folder) / "train.db", pathlib.Path(folder) / "report.html"
        program = ["run", "--dry-run=1GiB", "-o", trace, "--", build.python, ROOT / "samples/train.py"]
        completed = run_command(*program, env=clean_environment(), cwd=folder)
        assert trace.exists(), completed.stderr
        assert run_command("report", "--format=html", "-o", page, trace.name, cwd=folder).returncode == 0
        browser = start()
        take(browser, page, "report.png")
        browser.driver.quit()


if __name__ == "__main__":
    main()
