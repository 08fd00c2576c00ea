# SPDX-License-Identifier: MIT
"""Pages at three widths, in light and dark. Each page fits its window. The tests keep a picture of each page in
BUILD/web, so that a person can look at it."""

import pytest

from support.run import BUILD, ROOT
from web.pages import a_run, check_quiet, hostile_run, html_of

WIDTHS, SCHEMES = (400, 800, 1400), ("light", "dark")
FOLDER = BUILD / "web"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folders = [tmp_path_factory.mktemp(name) for name in ("failed", "job", "hostile")]
    failed, job, names = folders
    ranks = [a_run(job / f"rank{rank}.db", forward_mib=50 + 30 * rank, fails=False, rank=rank) for rank in range(3)]
    return {
        "failed": html_of(failed, a_run(failed / "run.db")),
        "job": html_of(job, *ranks),
        "diff": html_of(job, ranks[0], ranks[2], command="diff"),
        "compare": html_of(job, ranks[0], ROOT / "samples/train.json", command="compare"),
        "hostile": html_of(names, hostile_run(names / "hostile.db")),
    }


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_fit_their_windows(browser, pages, width, scheme):
    FOLDER.mkdir(exist_ok=True)
    for name, path in pages.items():
        browser.open(path, width=width, scheme=scheme)
        print(browser.picture(FOLDER / f"{name}-{width}-{scheme}.png"))
        assert browser.run("return [innerWidth, document.documentElement.scrollWidth]") == [width, width], name
        paper = browser.run("return getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light"), name
        check_quiet(browser)


# Returns the visible bars that extend over the right edge of their table or of the window.
CUT_BARS = ("return [...document.querySelectorAll('.pair div, .bar > span, .rank canvas')].filter((one) => one.checkVisibility())"
            ".filter((one) => one.getBoundingClientRect().right > Math.min(innerWidth, one.closest('section, div').getBoundingClientRect().right) + 1)"
            ".map((one) => one.outerHTML)")  # fmt: skip


@pytest.mark.parametrize("name", ["compare", "job", "failed"])
def test_no_bar_runs_off_the_edge_of_a_narrow_window(browser, pages, name):
    browser.open(pages[name], width=400)
    drawn = browser.run("return document.querySelectorAll('.pair div, .bar > span, .rank canvas').length")
    assert drawn and browser.run(CUT_BARS) == []


def test_every_control_can_be_reached_and_says_what_it_is(browser, pages):
    for name, path in pages.items():
        browser.open(path)
        unnamed = browser.run(
            "return [...document.querySelectorAll('button, input, select, main > section > canvas, #chart')].filter((one) => one.checkVisibility()"
            " && !one.closest('[aria-hidden=true]')"
            " && (one.tabIndex < 0 || !(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length)))"
            ".map((one) => one.outerHTML.slice(0, 200))"
        )
        assert unnamed == [], name
