# SPDX-License-Identifier: MIT
"""make bench-page: measures the cost of `live`, and then the cost of a page with many events: of writing the page,
compared with writing the JSON, and of using the page in a browser. SIZES="1 10" are millions of events; WRITE=1 writes
the table of doc/measurements.md."""

import os
import pathlib
import sys
import tempfile
import time

from bench import measurements
from bench.live_costs import print_live
from support.long_traces import MIB, make_trace, measured
from support.run import BUILD
from web.browser import missing, start

RUNS, ROUNDS = 3, 5
# Stores the time at which the page reports that it is drawn.
WATCH = """new MutationObserver(() => { if (document.body?.dataset.drawn) window.drawnAt ??= performance.now(); })
.observe(document, {subtree: true, childList: true, attributes: true});"""
# Measures the time from a change until the browser has handed the next frame to the screen.
TIMED = """const [change, done] = arguments, act = new Function(change), begin = performance.now();
act();
requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));"""
LAST = "page.series.snapshotCount - 1"
# (action of a person, script that does the same, script that undoes it)
INTERACTIONS = [
    ("another moment", "page.set({moment: 10})", f"page.set({{moment: {LAST}}})"),
    ("another layer", "page.set({layer: (page.state.layer + 1) % page.series.layers.length})", "page.set({layer: 0})"),
    ("by line", "page.set({by: 'line'})", "page.set({by: 'category'})"),
    ("over time", "page.set({axis: 'time'})", "page.set({axis: 'event'})"),
    ("zoom", "page.timeline.zoomBy(0.5)", "page.timeline.zoomTo(null)"),
    ("grown since", "page.set({mode: 'grown', since: 0})", "page.set({mode: 'live'})"),
    ("inverted, all frames", "page.set({inverted: 1, all: 1})", "page.set({inverted: 0, all: 0})"),
    ("find", "page.icicle.searchFor('part1')", "page.icicle.searchFor('')"),
    ("pinning blocks", "page.set({pinning: 1})", "page.set({pinning: 0})"),
    ("hover over the map", "document.getElementById('map').dispatchEvent(new MouseEvent('mousemove', {clientX: 300, clientY: 300}))", ""),
    ("open all figures", "document.querySelectorAll('#tables > details').forEach((one) => { one.open = true; })",
     "document.querySelectorAll('#tables > details').forEach((one) => { one.open = false; })"),
]  # fmt: skip


def made(trace, *words):
    """Returns (CPU s, highest resident bytes), the lowest of RUNS runs, because other programs use the machine too."""
    runs = [measured(BUILD / "gpumemtrace", "report", *words, trace) for _ in range(RUNS)]
    return min(cpu for cpu, _, _ in runs), min(resident for _, _, resident in runs)


def first_look(browser, page):
    """Returns the times (first paint, page drawn), in ms after the browser began to read the file."""
    browser.open(page)
    return browser.run("return [performance.getEntriesByName('first-contentful-paint')[0].startTime, window.drawnAt]")


def cpu_ms(browser):
    """Returns the CPU ms of the page's thread so far."""
    metrics = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(1000 * one["value"] for one in metrics if one["name"] == "TaskDuration")


def interaction_ms(browser, change, back):
    """Returns (CPU ms of the page's thread, wall ms), the highest of ROUNDS, because one slow click is enough to disturb."""
    taken = []
    for _ in range(ROUNDS):
        before = cpu_ms(browser)
        wall = browser.driver.execute_async_script(TIMED, change)
        taken.append((cpu_ms(browser) - before, wall))
        browser.driver.execute_async_script(TIMED, back)
        time.sleep(0.05)
    return tuple(map(max, zip(*taken)))


def print_page(kind, events, folder):
    trace = make_trace(pathlib.Path(folder) / "large.db", kind, events)
    page = pathlib.Path(folder) / "report.html"
    json_cpu, json_resident = made(trace, "--json", "-o", os.devnull)
    page_cpu, page_resident = made(trace, "--format=html", "-o", page)
    trace.unlink()
    print(f"{kind}, {events:,} events: the JSON took {json_cpu:.2f} s and {json_resident / MIB:.0f} MiB, the page"
          f" {page_cpu:.2f} s ({page_cpu / json_cpu:.2f} times) and {page_resident / MIB:.0f} MiB;"
          f" it has {page.stat().st_size / 1e6:.2f} MB.\n")  # fmt: skip
    browser = start()
    browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    looks = [first_look(browser, page) for _ in range(ROUNDS)]
    print(f"  {'':<24}{'CPU ms':>9}{'wall ms':>9}")
    print(f"  {'first paint':<24}{'':>9}{max(paint for paint, _ in looks):>9.0f}")
    print(f"  {'all is drawn':<24}{'':>9}{max(drawn for _, drawn in looks):>9.0f}")
    for name, change, back in INTERACTIONS:
        cpu, wall = interaction_ms(browser, change, back)
        print(f"  {name:<24}{cpu:>9.0f}{wall:>9.0f}", flush=True)
    print()
    browser.driver.quit()


def main():
    if missing():
        raise SystemExit(f"bench-page: {missing()}")
    sizes = [float(word) for word in os.environ.get("SIZES", "").split()] or [1, 10]
    with tempfile.TemporaryDirectory(prefix="gpumemtrace-bench.") as folder, measurements.section("bench-live"):
        print_live(folder)
    with tempfile.TemporaryDirectory(prefix="gpumemtrace-bench.") as folder, measurements.section("bench-page"):
        for millions in sizes:
            for kind in ("pool", "pytorch"):
                print_page(kind, int(millions * 1e6), folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
