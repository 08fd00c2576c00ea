# SPDX-License-Identifier: MIT
"""In a browser, the HTML page of a PyTorch trace opens with the cause of death and draws the values of the JSON."""

import pytest

from support.run import ROOT
from web.browser import browser  # noqa: F401
from web.pages import check_moments, check_quiet, html_of, json_of


@pytest.fixture
def died(dry_run):
    return dry_run(ROOT / "samples/train.py", spec="1GiB", check=False).trace


def test_an_out_of_memory_is_answered_where_the_page_opens(browser, died, tmp_path):  # noqa: F811
    browser.open(html_of(tmp_path, died))
    said = json_of(died)
    failure = said["series"]["failures"][-1]
    assert browser.text("#answer") == said["answer"][0] and said["answer"][0].startswith("Out of memory, and the program died")
    assert browser.run("return [page.state.mode, page.state.moment]") == ["live", failure["snapshot"]]
    assert "Requested: 128.00 MiB. " in browser.text("#map-words") + " "
    path, held = ["train.py:65 <module>", "train.py:60 main", "train.py:37 train"], "childrenOf(page.icicle.root)[0]"
    for name in path:  # the path has Python's frames, not libtorch's
        assert browser.run(f"return {held}.name") == name
        held = f"childrenOf({held})[0]"
    check_quiet(browser)


def test_every_view_says_what_the_json_says(browser, died, tmp_path):  # noqa: F811
    browser.open(html_of(tmp_path, died))
    check_moments(browser, json_of(died)["series"], every=10)
    for controls in ("#chart-controls", "#icicle-controls", "#map-controls"):
        for text in browser.run("return [...document.querySelectorAll(arguments[0] + ' button')].map((one) => one.textContent)", controls):
            browser.click(text, controls)
    browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    check_quiet(browser)
