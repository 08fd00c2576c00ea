# SPDX-License-Identifier: MIT
"""Views of the page. They compare ranks of a job, a run with its baseline, or measured with estimated memory. Also
tests the choice of moments in one trace. Each view shows the figures of the JSON."""

import json
import sqlite3

import pytest

from support.made_traces import failing
from support.run import ROOT, run_command, texts_of
from support.tracefile import KINDS, MIB, Trace
from web.pages import a_run, bytes_text, check_quiet, html_of, json_of

MODEL = ROOT / "samples/train.json"
RETURN = "\ue007"
# Runs the page's function drawSteps with a canvas that is not real. Returns the places of the marks on the x-axis
# instead of drawing the marks.
STEP_MARKS = """
const marks = [], timeline = page.timeline, chart = timeline.chart;
timeline.drawSteps({fillRect: (x) => marks.push(x), fillText() {}, measureText: () => ({width: 6})}, chart.getArea(), chart, []);
return marks.map((x) => Math.round(chart.toDataXCoord(x)));"""

# Returns the corners [x, y] of the stack that the page draws, from paths and a canvas that are not real.
STACK = """
const corners = [], timeline = page.timeline, real = Path2D;
window.Path2D = class { lineTo(x, y) { corners.push([x, y]); } };
timeline.drawStack({save() {}, restore() {}, fill() {}, stroke() {}}, timeline.chart.getArea(), timeline.chart);
window.Path2D = real;
return corners;"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Returns the traces of a run and of a later run. In the later run, one line holds more memory, and another line
    holds less."""
    folder = tmp_path_factory.mktemp("runs")
    return a_run(folder / "old.db", fails=False), a_run(folder / "new.db", forward_mib=90, log_kib=512, fails=False)


def without_frames(value):
    """Returns a document without the frames of its rows. A page stores frames only once, in its series."""
    if isinstance(value, list):
        return [without_frames(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: one if key == "series" else without_frames(one) for key, one in value.items() if key != "frames"}


def test_the_data_of_each_page_is_that_of_its_json(browser, tmp_path, runs):
    for command, words in (("report", runs[:1]), ("report", runs), ("diff", runs), ("compare", (runs[1], MODEL))):
        browser.open(html_of(tmp_path, *words, command=command))
        data = json.loads(browser.run("return JSON.stringify(page.document)"))
        assert "series" in (data["traces"][0] if len(words) == 2 and command == "report" else data)
        assert without_frames(data) == without_frames(json_of(*words, command=command)), command
        check_quiet(browser)


# --- a change ---


def change_of(browser, mode):
    browser.run("page.set({mode: arguments[0]})", mode)
    return browser.run("return [page.icicle.root.bytes, page.icicle.root.change.before, page.icicle.root.change.after]")


def grown_node(browser, name):
    return browser.run(
        "const find = (node) => node.name.includes(arguments[0]) ? node : [...node.children.values()].map(find).find(Boolean);"
        "const node = find(page.icicle.root); return node && [node.change.before, node.change.after, page.icicle.colourOf(node)[0]]",
        name,
    )


def check_change(browser, before, after, rows):
    held = [before, after]
    assert change_of(browser, "changed") == [after, *held]
    assert change_of(browser, "before") == [before, *held]
    grown, *_ = change_of(browser, "more")
    assert grown == sum(max(row["delta_bytes"], 0) for row in rows) > 0
    for row in rows:
        assert row["site"] in browser.text("#icicle-table")


def test_a_diff_is_a_tree_of_calls_coloured_by_change(browser, tmp_path, runs):
    browser.open(html_of(tmp_path, *runs, command="diff"))
    (device,) = json_of(*runs, command="diff")["devices"]
    assert browser.run("return page.state.mode") == "changed"  # a page of `diff` shows the change when it is opened
    check_change(browser, device["before_bytes"], device["after_bytes"], device["sites"])
    browser.click("against the baseline", "#icicle-controls")
    more, less = browser.run("return [style('--more'), style('--less')]")
    assert grown_node(browser, "forward")[2] == more
    assert grown_node(browser, "log")[2] == less
    browser.click("live", "#icicle-controls")
    assert browser.run("return page.icicle.root.change") is None
    check_quiet(browser)


def test_a_change_is_a_table_with_call_stacks_whose_words_stay_whole_in_a_narrow_window(browser, tmp_path, runs):
    browser.open(html_of(tmp_path, *runs, command="diff"), width=400)
    heights = browser.run("return [...document.querySelectorAll('#icicle-table tbody tr')].map((row) => row.offsetHeight)")
    assert heights and max(heights) < 80  # a cell with one letter per line would be hundreds of pixels high
    for _ in range(4):
        browser.run("document.querySelectorAll('#tables details').forEach((one) => { one.open = true; })")
        browser.run("return new Promise((done) => setTimeout(done, 100))")
    (device,) = json_of(*runs, command="diff")["devices"]
    assert browser.run("return document.querySelectorAll('#tables table ol').length") == len(device["sites"])
    for frame in device["sites"][0]["frames"]:
        assert frame["function"] in browser.text("#tables table ol")
    assert browser.run("return [innerWidth, document.documentElement.scrollWidth]") == [400, 400]
    check_quiet(browser)


def test_lines_that_only_moved_are_not_coloured(browser, tmp_path, runs):
    moved = a_run(tmp_path / "moved.db", fails=False, moved_lines=7)
    browser.open(html_of(tmp_path, runs[0], moved, command="diff"))
    assert "train.py:27 forward" in browser.run("return JSON.stringify(page.icicle.cells.map((cell) => cell.node.name))")
    assert browser.run("return page.icicle.cells.every((cell) => !changeRatio(cell.node.change))")
    assert "Nothing." in browser.text("#icicle-table")
    assert change_of(browser, "more")[0] == 0
    check_quiet(browser)


def test_a_gate_that_broke_shows_what_grew(browser, tmp_path, runs):
    baseline = tmp_path / "baseline.json"
    assert run_command("check", runs[0], f"--write-baseline={baseline}").returncode == 0
    browser.open(html_of(tmp_path, runs[1], f"--baseline={baseline}", command="check", status=1))
    (device,) = json_of(*runs, command="diff")["devices"]
    assert browser.run("return document.getElementById('answer').classList.contains('alarm')")
    rows = [row for row in device["sites"] if row["delta_bytes"] > 0]
    check_change(browser, device["before_bytes"], device["after_bytes"], rows)
    check_quiet(browser)


def test_a_gate_that_holds_shows_what_grew_within_its_tolerance(browser, tmp_path, runs):
    words = (runs[1], f"--baseline={runs[0]}", "--tolerance=100%")
    browser.open(html_of(tmp_path, *words, command="check"))
    (device,) = json_of(*runs, command="diff")["devices"]
    assert not browser.run("return document.getElementById('answer').classList.contains('alarm')")
    rows = [row for row in device["sites"] if row["delta_bytes"] > 0]
    check_change(browser, device["before_bytes"], device["after_bytes"], rows)
    assert "change_tree" in json_of(*words, command="check")["devices"][0]
    plain = json.loads(run_command("check", "--json", *words).stdout)["devices"][0]
    assert "change_tree" not in plain and "grown" not in plain
    check_quiet(browser)


# --- ranks ---


def test_what_does_not_continue_the_verdict_has_no_label(browser, tmp_path, runs):
    browser.open(html_of(tmp_path, *runs))
    assert browser.text("#ranks-title") == "Traces beside each other"
    more = [one for one in json_of(*runs)["more"] if one["role"] in ("why", "who")]
    assert more and all(one["text"] in browser.text("#more-sentences") for one in more)
    assert "Who:" in browser.text("#more-answers")
    assert not any(label in browser.text("#more-sentences") for label in ("Why:", "Who:"))
    check_quiet(browser)


def test_ranks_stand_beside_each_other_to_one_scale(browser, tmp_path):
    traces = [a_run(tmp_path / f"rank{rank}.db", forward_mib=50 + 100 * rank, fails=False, rank=rank) for rank in range(3)]
    browser.open(html_of(tmp_path, *traces))
    page = json_of(*traces)
    assert browser.text("#answer") == page["answer"][0] and browser.text("#ranks-title") == "Ranks beside each other"
    peaks = [one["series"]["layers"][0]["peak_bytes"] for one in page["traces"]]
    assert len(set(peaks)) == 3
    for number, one in enumerate(page["traces"]):
        shown = browser.run("return page.ranks.buttons[arguments[0]].innerText", number)
        assert f"rank {one['trace']['rank']}" in shown and bytes_text(peaks[number]) in shown
        share = browser.run(
            "const canvas = page.ranks.buttons[arguments[0]].firstChild, pixels = canvas.getContext('2d')"
            ".getImageData(0, 0, canvas.width, canvas.height).data;"
            "for (let i = 3; i < pixels.length; i += 4) if (pixels[i]) return 1 - Math.floor(i / 4 / canvas.width) / canvas.height;",
            number,
        )
        assert share == pytest.approx(peaks[number] / max(peaks), abs=0.04)
        browser.run("page.ranks.buttons[arguments[0]].click()", number)
        assert bytes_text(peaks[number]) in browser.text("#moment")
        assert browser.run("return page.ranks.buttons.findIndex((one) => one.getAttribute('aria-pressed') === 'true')") == number
    assert f"{bytes_text(peaks[0])}  rank" in browser.run("return page.asText()")
    check_quiet(browser)


@pytest.fixture(scope="module")
def sixty_four(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    return [a_run(folder / f"rank{rank:02}.db", forward_mib=50 + 5 * rank, fails=False, rank=rank) for rank in range(64)]


def test_it_is_said_how_many_ranks_are_not_drawn(browser, tmp_path, sixty_four):
    browser.open(html_of(tmp_path, *sixty_four))
    drawn = len(json_of(*sixty_four)["traces"])
    assert browser.run("return page.ranks.buttons.length") == drawn < 64
    words = f"{drawn} of 64 traces are drawn; --every-trace draws all of them."
    assert browser.text("#ranks-left-out") == words and words in browser.run("return page.asText()")


def test_sixty_four_ranks_fit_a_narrow_window(browser, tmp_path, sixty_four):
    browser.open(html_of(tmp_path, *sixty_four, "--every-trace"), width=400)
    assert browser.text("#ranks-left-out") == ""
    assert browser.run("return [innerWidth, document.documentElement.scrollWidth]") == [400, 400]
    assert browser.run("return page.ranks.buttons.map((one) => one.innerText.split('\\n')[0])") == [f"rank {rank}" for rank in range(64)]
    assert browser.run("return page.state.trace") == 63  # this is the rank with the highest peak
    browser.press("#rank-charts button", RETURN)
    assert "rank00.db" in browser.text("#heading")
    check_quiet(browser)


def test_a_rank_says_how_many_others_are_like_it(browser, tmp_path):
    traces = [a_run(tmp_path / f"rank{rank}.db", fails=False, forward_mib=90 if rank == 3 else 50, rank=rank) for rank in range(4)]
    browser.open(html_of(tmp_path, *traces))
    assert sorted(browser.run("return page.ranks.charts.map((one) => one.text)")) == ["rank 0 and 2 others like it", "rank 3"]
    check_quiet(browser)


def test_a_job_opens_with_the_rank_that_failed(browser, tmp_path):
    traces = [a_run(tmp_path / f"rank{rank}.db", forward_mib=50 + 40 * (rank == 0), fails=rank == 1, rank=rank) for rank in range(3)]
    browser.open(html_of(tmp_path, *traces))
    job = json_of(*traces)
    assert browser.run("return page.ranks.highest()") == 0
    failed = next(one for one in job["traces"] if one["trace"]["rank"] == 1)
    assert browser.text("#answer") == job["answer"][0] == "Rank 1: " + failed["answer"][0] and failed["answer"][0].startswith("Out of memory")
    assert browser.text("body").count(failed["answer"][0]) == 1 and browser.text("#heading").startswith(job["job"]["failed_trace"])
    assert browser.run("return document.getElementById('answer').classList.contains('alarm')")
    assert browser.text("#next") == failed["next"] == job["next"] and job["answer"][1] in browser.text("#more-answers")
    for role in ("why", "who"):
        label = f"{role.capitalize()}: {texts_of(failed, role)}"
        assert browser.text("#more-answers").count(label) == 1 and browser.run("return page.asText()").count(label) == 1
    browser.run("page.set({trace: 0, layer: 0, moment: null})")
    assert browser.text("#answer") == job["answer"][0] and browser.text("#heading").startswith(str(traces[0]))
    check_quiet(browser)


def write_peaks(path):
    """Writes the peaks into a trace, as the recorder does when a program ends. If a trace has peaks and is like the
    trace of another rank, the analyzer does not replay it."""
    layer = json_of(path)["series"]["layers"][0]
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO meta VALUES ('peaks', ?)", (f"{layer['device']} 0 {layer['peak_bytes']} {600 * MIB}",))
    return path


def test_a_rank_of_a_real_job_says_how_many_others_are_like_it(browser, tmp_path):
    traces = [write_peaks(a_run(tmp_path / f"rank{rank}.db", fails=False, forward_mib=90 if rank == 2 else 50, rank=rank)) for rank in range(4)]
    browser.open(html_of(tmp_path, *traces))
    assert json_of(*traces)["job"]["recorded_traces"] == 4
    assert sorted(browser.run("return page.ranks.charts.map((one) => one.text)")) == ["rank 0 and 2 others like it", "rank 2"]
    browser.open(html_of(tmp_path, *traces, "--every-trace"))
    assert browser.run("return page.ranks.charts.map((one) => one.text)") == [f"rank {rank}" for rank in range(4)]
    check_quiet(browser)


def test_rows_of_a_job_have_no_call_stack(browser, tmp_path):
    traces = [a_run(tmp_path / f"rank{rank}.db", forward_mib=50 + 30 * rank, fails=False, rank=rank) for rank in range(2)]
    browser.open(html_of(tmp_path, *traces))
    for _ in range(3):
        browser.run("document.querySelectorAll('#tables > details:first-of-type, #tables > details:first-of-type details')"
                    ".forEach((one) => { one.open = true; })")
    browser.run("return new Promise((done) => setTimeout(done, 100))")
    assert browser.run("return document.querySelectorAll('#tables > details:first-of-type table').length") > 0
    assert "call stack" not in browser.text("#tables > details:first-of-type")
    check_quiet(browser)


# --- an estimate ---


def test_measured_stands_beside_estimated(browser, tmp_path, runs):
    browser.open(html_of(tmp_path, runs[1], MODEL, command="compare"))
    (device,) = json_of(runs[1], MODEL, command="compare")["devices"]
    rows = [row for row in device["categories"] if row["measured_bytes"] or row["estimated_bytes"]]
    most = max(max(row["measured_bytes"] or 0, row["estimated_bytes"] or 0) for row in rows)
    lines = browser.run(
        "return [...document.querySelectorAll('#estimate table')[1].querySelectorAll('.paired')].map((row) => [[...row.cells].slice(1, 3)"
        ".map((cell) => cell.innerText), [...row.nextSibling.querySelectorAll('.pair div')].map((bar) => parseFloat(bar.style.width))])"
    )
    assert len(lines) == len(rows) > 2
    for row, (texts, widths) in zip(rows, lines, strict=True):
        sizes = [row["measured_bytes"], row["estimated_bytes"]]
        assert texts == ["-" if size is None else bytes_text(size) for size in sizes]
        assert widths == pytest.approx([100 * (size or 0) / most for size in sizes], rel=1e-3)
    assert bytes_text(device["peak"]["estimated_bytes"]) in browser.run("return page.asText()")
    check_quiet(browser)


# --- the chart ---


def test_steps_are_marked_where_they_begin(browser, tmp_path, runs):
    browser.open(html_of(tmp_path, runs[0]))
    points = json_of(runs[0])["series"]["layers"][0]["points"]
    begins = [seq for i, seq in enumerate(points["seq"])
              if i and points["step"][i] is not None and points["step"][i] != points["step"][i - 1]]  # fmt: skip
    assert len(begins) > 1 and browser.run(STEP_MARKS) == begins
    check_quiet(browser)


def loop_of(path, steps):
    """Writes the trace of a loop that allocates and frees in each step. Returns its path."""
    trace = Trace(path)
    for step in range(steps):
        trace.free(trace.alloc(MIB, stack=trace.stack(("loop.py", 5, "work"))))
        trace.step(step + 1)
    trace.write()
    return path


def test_steps_too_narrow_for_a_number_each_are_numbered_now_and_then(browser, tmp_path):
    browser.open(html_of(tmp_path, loop_of(tmp_path / "steps.db", 40)))
    numbers = browser.run(STEP_MARKS.replace("fillText() {}", "fillText: (text) => marks.push(text)").replace(
        "fillRect: (x) => marks.push(x)", "fillRect() {}").replace("return marks.map((x) => Math.round(chart.toDataXCoord(x)))", "return marks"))
    assert 5 < len(numbers) < 39 and len(browser.run(STEP_MARKS)) == 39
    check_quiet(browser)


def test_no_event_or_step_is_named_twice_on_the_axis(browser, tmp_path):
    browser.open(html_of(tmp_path, loop_of(tmp_path / "short.db", 3)))
    for axis, last in (("events", 9), ("steps", 3)):
        browser.click(axis, "#chart-controls")
        named = browser.run("return [...document.querySelectorAll('#chart .dygraph-axis-label-x')].map((one) => one.textContent)")
        assert [int(text) for text in named] == sorted({*map(int, named)}) and int(named[-1]) in (last, last - 1)
    check_quiet(browser)


def test_the_chart_falls_where_the_last_block_is_freed(browser, tmp_path):
    trace = Trace(tmp_path / "two.db")
    trace.free(trace.alloc(90 * MIB, stack=trace.stack(("two.py", 3, "first"))))
    for _ in range(5):
        trace.free(trace.alloc(MIB, device=1))
    trace.write()
    browser.open(html_of(tmp_path, tmp_path / "two.db"))
    for axis in ("events", "time"):
        browser.click(axis, "#chart-controls")
        drawn = browser.run(STACK)
        (top, bottom), half = (drawn[0][1], drawn[-1][1]), drawn[: len(drawn) // 2]  # the other half goes back along the axis
        assert {y for _, y in half} == {top, bottom} and top < bottom - 50
        assert max(x for x, y in half if y == top) == min(x for x, y in half if y == bottom)
    check_quiet(browser)


PRESSED = "return document.querySelector('#chart-controls [aria-label=of] [aria-pressed=true]').textContent"


@pytest.mark.parametrize("failed, first", [(False, 1), (True, 0)], ids=["highest peak", "failure"])
def test_the_page_opens_on_the_device_of_the_failure_or_of_the_highest_peak(browser, tmp_path, failed, first):
    trace = Trace(tmp_path / "two.db")
    for device in (0, 1):
        trace.alloc((5 + 60 * device) * MIB, device=device, stack=trace.stack(("two.py", 3, "first")))
    if failed:
        failing(trace, 900 * MIB, 20 * MIB, device=0)
    trace.write()
    browser.open(html_of(tmp_path, tmp_path / "two.db"))
    assert browser.run(PRESSED).endswith(f"device {first}")
    check_quiet(browser)


def test_a_map_without_blocks_takes_no_room(browser, tmp_path):
    trace = Trace(tmp_path / "empty.db")
    trace.free(trace.alloc(5 * MIB, stack=trace.stack(("empty.py", 3, "first"))))
    failing(trace, 900 * MIB, 20 * MIB)
    trace.write()
    browser.open(html_of(tmp_path, tmp_path / "empty.db"))
    assert browser.text("#map-words") == "No block is live. Requested: 900.00 MiB."
    assert browser.run("return page.map.canvas.clientHeight") < 60
    browser.press("#map", "\ue014")
    check_quiet(browser)


def test_a_phase_has_one_colour_that_no_category_has(browser, tmp_path):
    browser.open(html_of(tmp_path, a_run(tmp_path / "run.db")))
    colours = "return [...document.querySelectorAll('#chart-legend li')].map((one) => [one.textContent, one.firstChild.style.background])"
    legend = dict(browser.run(colours))
    bands = {text.removeprefix("below: "): colour for text, colour in legend.items() if text.startswith("below: ")}
    assert bands and not set(bands.values()) & {colour for text, colour in legend.items() if not text.startswith("below: ")}
    browser.click("phase of birth", "#chart-controls")
    legend = dict(browser.run(colours))
    shared = [phase for phase in bands if phase in legend]
    assert shared and all(legend[phase] == bands[phase] for phase in shared)
    check_quiet(browser)


def test_names_of_failures_stand_above_the_card_and_phases_below_the_bytes(browser, tmp_path):
    browser.open(html_of(tmp_path, a_run(tmp_path / "run.db")))
    drawn = browser.run("""
        const timeline = page.timeline, chart = timeline.chart, area = chart.getArea(), texts = [], bands = [];
        const context = {fillRect: (x, y) => bands.push(y), fillText: (text, x, y) => texts.push([text, x, y]), measureText: () => ({width: 24})};
        timeline.drawFailures(context, area, chart);
        bands.length = 0;
        timeline.drawPhases(context, area, chart);
        return {texts, bands, card: chart.toDomYCoord(arguments[0]), zero: chart.toDomYCoord(0), right: area.x + area.w};""", 1024 * MIB)
    (name, x, bottom), = drawn["texts"]
    assert name == "OOM" and bottom < drawn["card"] and x + 24 <= drawn["right"]
    assert drawn["bands"] and min(drawn["bands"]) >= drawn["zero"]
    check_quiet(browser)


def test_failures_that_are_close_together_share_one_name(browser, tmp_path):
    trace = Trace(tmp_path / "halved.db")
    for number in range(100):
        trace.free(trace.alloc(MIB, stack=trace.stack(("halve.py", 3, "attempt"))))
        if number in (2, 60, 61, 62, 63):
            trace.fail(64 * MIB, stack=trace.stack(("halve.py", 9, "attempt")))
    trace.write()
    browser.open(html_of(tmp_path, tmp_path / "halved.db"))
    drawn = browser.run("""
        const timeline = page.timeline, texts = [], lines = [];
        const context = {fillRect: (x) => lines.push(x), fillText: (text) => texts.push(text), measureText: () => ({width: 60})};
        timeline.drawFailures(context, timeline.chart.getArea(), timeline.chart);
        return {texts, lines};""")
    assert drawn["texts"] == ["OOM", "OOM × 4"] and len(drawn["lines"]) == 5
    check_quiet(browser)


def test_steps_that_nothing_marks_are_marked_where_they_repeat(browser, tmp_path):
    trace = Trace(tmp_path / "loop.db")
    batch, work = trace.stack(("loop.py", 3, "batch")), trace.stack(("loop.py", 5, "work"))
    trace.alloc(MIB, stack=trace.stack(("loop.py", 1, "load")))
    begins = []
    for _ in range(20):
        held = trace.alloc(4096, stack=batch)
        begins.append(len(trace.events))
        for _ in range(3):
            trace.free(trace.alloc(999, stack=work))
        trace.free(held)
    trace.write()
    browser.open(html_of(tmp_path, tmp_path / "loop.db"))
    points = json_of(tmp_path / "loop.db")["series"]["layers"][0]["points"]
    assert points["step"] == [max(1, sum(begin <= seq for begin in begins)) for seq in points["seq"]]
    assert browser.run(STEP_MARKS) == begins[1:]
    browser.click("steps", "#chart-controls")
    assert browser.run("return page.timeline.chart.numRows()") == 20
    check_quiet(browser)


def test_the_end_of_each_step_is_a_moment_to_choose(runs):
    with sqlite3.connect(runs[0]) as database:
        ends = [seq for seq, in database.execute("SELECT seq FROM event WHERE kind = ?", (KINDS.index("step"),))]
    assert len(ends) == 3 and {end - 1 for end in ends} <= set(json_of(runs[0])["series"]["snapshots"]["seq"])


def test_what_grew_in_a_part_of_the_chart(browser, tmp_path, runs):
    browser.open(html_of(tmp_path, runs[0]))
    seqs = json_of(runs[0])["series"]["snapshots"]["seq"]
    first, last = 2, len(seqs) - 2
    browser.run("page.timeline.chart.updateOptions({dateWindow: [arguments[0], arguments[1]]})", seqs[first], seqs[last])
    browser.click("phase of birth", "#chart-controls")
    assert browser.run("return page.timeline.shown()") == [seqs[first], seqs[last]]  # the same part is still selected
    browser.click("growth in the part shown", "#moments")
    state = browser.run("return page.state")
    assert (state["mode"], state["since"], state["moment"]) == ("grown", first, last)
    browser.click("show all", "#moments")
    assert browser.run("return page.timeline.shown()") is None
    check_quiet(browser)


HEIGHT = "const chart = page.timeline.chart; return [...chart.yAxisRange(), chart.toDomYCoord(0)]"


def test_the_chart_is_as_high_as_what_it_shows_and_keeps_its_bands_however_it_is_zoomed(browser, tmp_path):
    trace = Trace(tmp_path / "rising.db")
    trace.rows["device"].append((0, "GPU-0", "Card 0", 1024 * MIB, 0))
    with trace.phase("forward"):
        for _ in range(10):
            trace.alloc(80 * MIB)
    trace.write()
    browser.open(html_of(tmp_path, tmp_path / "rising.db"))
    points = json_of(tmp_path / "rising.db")["series"]["layers"][0]["points"]
    low, high, zero = browser.run(HEIGHT)
    assert low < 0 and high > 1024 * MIB and "the card" in browser.text("#chart-legend")
    browser.run("page.timeline.chart.updateOptions({dateWindow: [0, arguments[0]]})", points["seq"][2])
    part = browser.run(HEIGHT)
    assert points["live_bytes"][2] < part[1] < high and part[0] < 0 and part[2] == pytest.approx(zero, abs=1)
    assert "the card" not in browser.text("#chart-legend")
    browser.click("show all", "#moments")
    assert browser.run(HEIGHT) == [low, high, zero]
    browser.run("page.timeline.chart.updateOptions({valueRange: [5, 9]})")  # a vertical drag has the same effect
    assert browser.run(HEIGHT) == [low, high, zero]
    check_quiet(browser)


def test_the_keyboard_zooms_and_keeps_its_place(browser, tmp_path, runs):
    browser.open(html_of(tmp_path, runs[0]))
    browser.press("#chart", "+")
    low, high = browser.run("return page.timeline.shown()")
    assert low <= browser.run("return page.timeline.nowPlace()") <= high
    browser.press("#chart", "-")
    assert browser.run("return page.timeline.shown()") is None
    browser.press("#moments button[aria-pressed=false]", RETURN)  # the page then creates the row of the button again
    assert browser.run("return document.activeElement.getAttribute('aria-pressed')") == "true"
    check_quiet(browser)


def test_the_address_keeps_the_zoom_until_the_axis_is_another(browser, tmp_path, runs):
    page = html_of(tmp_path, runs[0])
    browser.open(page)
    browser.press("#chart", "+")
    shown, fragment = browser.run("return page.timeline.shown()"), browser.fragment()
    browser.open(page, fragment)
    assert browser.run("return page.timeline.shown()") == pytest.approx(shown)
    browser.click("layer", "#chart-controls")
    assert browser.run("return page.timeline.shown()") == pytest.approx(shown)
    browser.click("time", "#chart-controls")
    assert browser.run("return page.timeline.shown()") is None and "zoom" not in browser.fragment()
    for nonsense in ("5", "9..3", "a..b", "..", "1e99..1e100"):
        browser.open(page, f"#zoom={nonsense}")
        assert browser.run("return page.timeline.shown()") is None, nonsense
    check_quiet(browser)


def test_a_key_that_is_held_down_does_not_flood_the_address(browser, tmp_path, runs):
    browser.open(html_of(tmp_path, runs[0]))
    browser.run("window.written = 0; history.replaceState = () => { window.written++; }; for (let i = 0; i < 400; i++) page.set({moment: i % 3})")
    browser.fragment()
    assert browser.run("return window.written") == 1


def test_a_leak_opens_with_what_it_added(browser, tmp_path):
    trace = Trace(tmp_path / "leak.db")
    weights, kept, work = (trace.stack("cudaMalloc", ("train.py", line, name)) for line, name in ((3, "weights"), (7, "keep"), (9, "work")))
    trace.alloc(100 * MIB, stack=weights)
    for step in range(12):
        trace.alloc(2 * MIB, stack=kept)
        trace.free(trace.alloc(30 * MIB, stack=work))
        trace.step(step + 1)
    trace.exit()
    trace.write()
    browser.open(html_of(tmp_path, tmp_path / "leak.db"))
    assert json_of(tmp_path / "leak.db")["leaks"][0]["growth"][0]["verdict"] == "leak"
    assert browser.run("return document.getElementById('answer').classList.contains('alarm')")
    assert browser.run("return page.state.mode") == "grown"
    assert "keep" in browser.text("#icicle-table") and "weights" not in browser.text("#icicle-table")
    check_quiet(browser)


def test_a_leak_that_is_let_go_of_before_the_end_opens_where_its_last_step_begins(browser, tmp_path):
    trace = Trace(tmp_path / "gone.db")
    kept = []
    for step in range(12):
        kept.append(trace.alloc(2 * MIB, stack=trace.stack("cudaMalloc", ("train.py", 7, "keep"))))
        trace.free(trace.alloc(30 * MIB, stack=trace.stack("cudaMalloc", ("train.py", 9, "work"))))
        trace.step(step + 1)
    for block in kept:
        trace.free(block)
    trace.exit()
    trace.write()
    browser.open(html_of(tmp_path, tmp_path / "gone.db"))
    assert json_of(tmp_path / "gone.db")["leaks"][0]["growth"][0]["verdict"] == "leak"
    assert browser.run("return page.state.mode") == "grown"
    assert "keep" in browser.text("#icicle-table") and "work" not in browser.text("#icicle-table")
    browser.click("end", "#moments")
    assert browser.text("#icicle-table") == "Nothing."
    browser.click("last step", "#moments")
    assert "keep" in browser.text("#icicle-table")
    check_quiet(browser)
