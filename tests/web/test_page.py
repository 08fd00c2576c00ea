# SPDX-License-Identifier: MIT
"""The page of `report --format=html` in a browser: it says what `--json --series` says, whatever the trace is called."""

import json

import pytest

from support.made_traces import MADE
from support.run import run_command
from support.tracefile import MIB, Trace

HOSTILE = ['</script><script>alert(1)</script>', '"\'><img src=x onerror=alert(1)>', "\u202egnirts", "a" * 10000, "{{x}}", "\\u003c"]
WIDTHS = (400, 800, 1300)
MODES = ("live", "still live at the end", "gone by the end")


def html_of(folder, *traces):
    path = folder / "report.html"
    completed = run_command("report", "--format=html", "-o", path, *traces)
    assert completed.returncode == 0, completed.stderr
    return path


def json_of(trace):
    return json.loads(run_command("report", "--json", "--series", trace).stdout)


def bytes_text(count):
    """As the page has it."""
    unit, units = 0, ["B", "KiB", "MiB", "GiB"]
    value = float(count)
    while value >= 1024 and unit < len(units) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.2f} {units[unit]}" if unit else f"{count} B"


def a_run(path):
    """Three steps, a failure, a leak of a line, two layers."""
    trace = Trace(path)
    trace.rows["device"].append((0, "GPU-0", "Card 0", 1024 * MIB, 0))
    stacks = {name: trace.stack("cudaMalloc", ("train.py", line, name), ("train.py", 90, "main"))
              for name, line in (("weights", 10), ("forward", 20), ("log", 30))}  # fmt: skip
    segment = trace.alloc(600 * MIB)
    trace.tensor(segment, 100 * MIB, stack=stacks["weights"])
    for step in range(3):
        with trace.phase("forward"):
            trace.tensor(segment + (100 + step) * MIB, MIB, stack=stacks["log"])
            kept = trace.tensor(segment + 200 * MIB, (50 + 10 * step) * MIB, stack=stacks["forward"])
        trace.tensor_free(kept)
    trace.fail(700 * MIB, stack=stacks["forward"])
    trace.exit()
    trace.write()
    return path


@pytest.fixture(scope="module")
def run_page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    trace = a_run(folder / "run.db")
    return trace, html_of(folder, trace)


def check_quiet(browser):
    assert browser.complaints() == []
    assert browser.requests() == []


def test_a_page_says_what_the_json_says_and_asks_nobody(browser, run_page):
    trace, path = run_page
    browser.open(path)
    page = json_of(trace)
    assert browser.text("#answer") == page["answer"][0]
    series = page["series"]
    for number, layer in enumerate(series["layers"]):
        for snapshot in range(len(series["snapshots"]["seq"])):
            browser.run("page.set({layer: arguments[0], moment: arguments[1]})", number, snapshot)
            live = sum(site["bytes"][snapshot] for site in layer["sites"])
            assert f"event {series['snapshots']['seq'][snapshot]}: {bytes_text(live)} live" in browser.text("#moment")
            held = browser.run("return page.icicle.root.bytes")
            assert held == live
            drawn = browser.run("return page.map.pieces.filter((one) => one.block).reduce((sum, one) => sum + one.bytes, 0)")
            if snapshot in [one["snapshot"] for one in layer["maps"]]:
                assert drawn == live
    check_quiet(browser)


def test_the_chart_sums_up_to_what_was_live(browser, run_page):
    trace, path = run_page
    browser.open(path)
    for layer in range(len(json_of(trace)["series"]["layers"])):
        for by in ("category", "phase", "line", "layer"):
            browser.run("page.set({layer: arguments[0], by: arguments[1]})", layer, by)
            assert browser.run(
                "const chart = page.timeline.chart, layer = page.layer();"
                "return layer.points.live_bytes.every((bytes, i) => {"
                "  let sum = 0; for (let k = 1; k < chart.numColumns(); k++) sum += chart.getValue(i, k); return sum === bytes; })"
            ), (layer, by)
            assert browser.run(  # the first group is drawn on top of the others
                "const points = page.timeline.chart.layout_.points[0];"
                "return points.length && points.every((one, i) => one.yval_stacked === page.layer().points.live_bytes[i])"
            ), (layer, by)
    check_quiet(browser)


def test_every_button_does_something_and_the_address_keeps_it(browser, run_page):
    trace, path = run_page
    browser.open(path)
    for text, inside in (("phase of birth", "#chart-controls"), ("time", "#chart-controls"), ("peak", "#moments"),
                         ("still live at the end", "#icicle-controls"), ("inverted", "#icicle-controls"),
                         ("all frames", "#icicle-controls")):  # fmt: skip
        browser.click(text, inside)
    state = browser.run("return page.state")
    fragment = browser.run("return location.hash")
    table = browser.text("#icicle-table")
    browser.open(path, fragment)
    assert browser.run("return page.state") == state
    assert browser.text("#icicle-table") == table
    check_quiet(browser)


def test_a_moment_is_chosen_in_the_chart_and_with_the_keyboard(browser, run_page):
    trace, path = run_page
    browser.open(path)
    snapshots = json_of(trace)["series"]["snapshots"]
    browser.run("page.timeline.choose(page.timeline.snapshotAt(0))")
    assert f"event {snapshots['seq'][0]}:" in browser.text("#moment")
    browser.press("#chart", "\ue014")  # the right arrow
    assert f"event {snapshots['seq'][1]}:" in browser.text("#moment")
    browser.press("#icicle", "\ue015")  # down: into the tree of calls
    assert "train.py:90 main" in browser.text("#icicle-path") or browser.run("return page.icicle.root.children.size") == 0
    check_quiet(browser)


def test_a_page_opens_at_the_failure_and_draws_what_was_asked(browser, run_page):
    trace, path = run_page
    browser.open(path)
    page = json_of(trace)
    failure = page["series"]["failures"][-1]
    assert browser.run("return page.state.moment") == failure["snapshot"]
    assert f"Asked for: {bytes_text(failure['size_bytes'])}." in browser.text("#map-words")
    assert "OOM 1" in browser.text("#moments")
    check_quiet(browser)


def test_growth_is_the_difference_of_two_moments(browser, run_page):
    trace, path = run_page
    browser.open(path)
    sites = json_of(trace)["series"]["layers"][0]["sites"]
    last = len(sites[0]["bytes"]) - 1
    held = [sum(site["bytes"][i] for site in sites) for i in range(last + 1)]
    since = next(i for i in range(last) if 0 < held[i] < held[last])
    browser.run("page.set({moment: arguments[0], since: arguments[1], mode: 'grown'})", last, since)
    wanted = sum(max(site["bytes"][last] - site["bytes"][since], 0) for site in sites)
    assert browser.run("return page.icicle.root.bytes") == wanted > 0
    check_quiet(browser)


def test_names_of_a_trace_are_text_and_nothing_else(browser, tmp_path):
    trace = Trace(tmp_path / "hostile.db", command=HOSTILE[0])
    segment = trace.alloc(64 * MIB)
    for number, name in enumerate(HOSTILE):
        with trace.phase(name):
            trace.tensor(segment + number * MIB, MIB, stack=trace.stack((name, number + 1, name)))
    trace.exit()
    trace.write()
    browser.open(html_of(tmp_path, tmp_path / "hostile.db"))
    for mode in MODES:
        browser.click(mode, "#icicle-controls")
    browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert browser.run("return document.images.length") == 0
    assert browser.run("return document.scripts.length") == 3
    check_quiet(browser)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_fits_its_window(browser, run_page, width):
    trace, path = run_page
    browser.open(path, width=max(width, 500))  # the browser makes no narrower window
    browser.run("document.documentElement.style.width = arguments[0] + 'px'; page.draw()", width)
    assert browser.run("return document.body.scrollWidth") <= width
    check_quiet(browser)


def test_every_made_up_trace_opens(browser, tmp_path):
    for name, (fill, meta) in MADE.items():
        trace = Trace(tmp_path / f"{name}.db", **meta)
        fill(trace)
        trace.write()
        browser.open(html_of(tmp_path, tmp_path / f"{name}.db"))
        browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert browser.complaints() == [], name
        assert "could not be drawn" not in browser.text("#answer"), name


def test_a_job_has_a_choice_of_traces(browser, tmp_path, run_page):
    trace, _ = run_page
    other = a_run(tmp_path / "other.db")
    browser.open(html_of(tmp_path, trace, other))
    browser.run("page.set({trace: 1})")
    assert str(other) in browser.text("#heading")
    check_quiet(browser)


def test_other_commands_have_a_page_too(browser, tmp_path, run_page):
    trace, _ = run_page
    for command in ("peak", "oom", "leaks", "info"):
        path = tmp_path / f"{command}.html"
        assert run_command(command, "--format=html", "-o", path, trace).returncode == 0
        browser.open(path)
        assert browser.run("return document.querySelectorAll('#tables details').length") > 0, command
        check_quiet(browser)


def test_a_page_without_its_data_is_small(tmp_path):
    trace = Trace(tmp_path / "empty.db")
    trace.exit()
    trace.write()
    assert html_of(tmp_path, tmp_path / "empty.db").stat().st_size < 400_000


def test_series_go_with_json_or_html_only(run_page):
    completed = run_command("report", "--series", run_page[0])
    assert completed.returncode == 2 and "--series goes with --format=json or html, not with text" in completed.stderr
