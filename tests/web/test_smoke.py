# SPDX-License-Identifier: MIT
"""The part of this suite that `make check` runs: a page that is clicked through in a browser, a page with hostile
names, and the tests that need no browser."""
from support.run import run_command
from support.tracefile import Trace
from web.pages import bytes_text, check_moments, check_quiet, hostile_run, html_of, json_of


def test_a_page_says_what_the_json_says_and_asks_nobody(browser, run_page):
    trace, path = run_page
    browser.open(path)
    page = json_of(trace)
    assert browser.text("#answer") == page["answer"][0]
    check_moments(browser, page["series"])
    check_quiet(browser)


def test_every_button_does_something_and_the_address_keeps_it(browser, run_page):
    trace, path = run_page
    browser.open(path)
    for text, inside in (("phase of birth", "#chart-controls"), ("time", "#chart-controls"), ("peak", "#moments"),
                         ("still live at the end", "#icicle-controls"), ("inverted", "#icicle-controls"),
                         ("all frames", "#icicle-controls")):  # fmt: skip
        browser.click(text, inside)
    state = browser.run("return page.state")
    fragment = browser.fragment()
    table = browser.text("#icicle-table")
    browser.open(path, fragment)
    assert browser.run("return page.state") == state
    assert browser.text("#icicle-table") == table
    check_quiet(browser)


def test_a_page_opens_at_the_failure_and_draws_what_was_asked(browser, run_page):
    trace, path = run_page
    browser.open(path)
    page = json_of(trace)
    failure = page["series"]["failures"][-1]
    assert browser.run("return page.state.moment") == failure["snapshot"]
    assert f"Requested: {bytes_text(failure['size_bytes'])}." in browser.text("#map-words")
    assert "OOM 1" in browser.text("#moments")
    check_quiet(browser)


def test_names_of_a_trace_are_text_and_nothing_else(browser, tmp_path):
    browser.open(html_of(tmp_path, hostile_run(tmp_path / "hostile.db")))
    for mode in ("live", "still live at the end", "gone by the end"):
        browser.click(mode, "#icicle-controls")
    browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert browser.run("return document.images.length") == 0
    assert browser.run("return document.scripts.length") == 3
    check_quiet(browser)


def test_a_page_without_its_data_is_small(tmp_path):
    trace = Trace(tmp_path / "empty.db")
    trace.exit()
    trace.write()
    assert html_of(tmp_path, tmp_path / "empty.db").stat().st_size < 400_000


def test_series_go_with_json_or_html_only(run_page):
    completed = run_command("report", "--series", run_page[0])
    assert completed.returncode == 2 and "--series goes with --format=json or html, not with text" in completed.stderr
