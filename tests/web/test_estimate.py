# SPDX-License-Identifier: MIT
"""The page of `estimate --format=html` in a browser. It draws the estimated run as other pages draw the run of a
trace."""
import pytest

from support.run import ROOT, load_json, run_command
from web.pages import check_quiet

SAMPLE, OPTIONS = ROOT / "samples/vgg16.json", ("--batch=8", "--gpu=24GiB")


@pytest.fixture
def page(browser, tmp_path):
    path = tmp_path / "page.html"
    completed = run_command("estimate", SAMPLE, *OPTIONS, "--format=html", "-o", path)
    assert completed.returncode == 0, completed.stderr
    return browser.open(path)


def test_the_page_opens_with_the_answer_and_without_a_map(page):
    assert page.text("#answer").startswith("VGG16: fits a 24 GiB card with ")
    assert page.run("return document.getElementById('addresses').hidden")
    assert not page.run("return document.getElementById('memory').hidden || document.getElementById('sites').hidden")
    check_quiet(page)


def test_the_chart_sums_up_to_the_peak_in_every_way(page):
    peak = load_json("estimate", SAMPLE, *OPTIONS)["peak"]["requested_bytes"]
    assert page.run("return page.series.liveAt(page.layer(), page.state.moment)") == peak
    for by in ("category", "phase of birth", "line", "layer"):
        page.click(by, "#chart-controls")
        sums = page.run("return page.layer().points.live_bytes.map((_, i) =>"
                        " stackedGroups(page.series, page.layer(), page.state.by).reduce((sum, group) => sum + group.bytes[i], 0))")
        assert sums == page.run("return page.layer().points.live_bytes") and max(sums) == peak
    check_quiet(page)


def test_there_are_events_and_steps_but_no_time(page):
    buttons = page.text("#chart-controls")
    assert "events" in buttons and "steps" in buttons and "time" not in buttons
    assert page.text("#moment").startswith("At event ")
    page.click("steps", "#chart-controls")
    page.click("grow from this moment")
    assert "grown since event " in page.text("#icicle-controls")
    check_quiet(page)


def test_layers_hold_what_the_text_says(page):
    rows = load_json("estimate", SAMPLE, *OPTIONS)["layers_at_peak"]
    held = {row["site"]: row["bytes"] for row in page.run("return page.siteRows()")}
    assert held["optimizer"] == rows[0]["bytes"]
    assert held["layer 33 (Linear)"] == next(row["bytes"] for row in rows if row["layer"] == 33)
