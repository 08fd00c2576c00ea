# SPDX-License-Identifier: MIT
"""The page of `report --format=html` in a browser. It shows the figures that `--json --series` prints, whatever names
the trace has."""

import re

from bench.bench_page import INTERACTIONS
from support.made_traces import MADE
from support.run import ROOT, run_command
from support.tracefile import MIB, Trace
from web.pages import a_run, bytes_text, check_quiet, hostile_run, html_of, json_of


def open_all(browser, times=5):
    """Opens all headings and returns the text of the tables. The loop is needed because the page creates the contents
    of a heading only when the heading is opened, and these contents may have further headings."""
    for _ in range(times):
        browser.run("document.querySelectorAll('#tables details').forEach((one) => { one.open = true; })")
        browser.run("return new Promise((done) => setTimeout(done, 100))")
    return browser.text("#tables")


def test_numbers_are_written_as_the_commands_text_has_them(browser, run_page):
    tests = (ROOT / "tests/unit/analyzer/render/units.c").read_text(encoding="utf-8")
    cases = re.findall(r'units_(bytes|delta|duration|ratio)\(text, (-?[\d.]+)\), "(.*)"', tests)
    keys = {"bytes": "size_bytes", "delta": "delta_bytes", "duration": "duration_ns", "ratio": "external_ratio"}
    assert {kind for kind, *_ in cases} == set(keys) and len(cases) > 20
    browser.open(run_page[1])
    for kind, number, text in cases:
        assert browser.run("return valueText(arguments[0], arguments[1])", keys[kind], float(number)) == text


def test_things_are_called_what_the_commands_text_calls_them(browser, run_page):
    trace, path = run_page
    browser.open(path)
    report, ledger = (run_command(command, trace).stdout for command in ("report", "ledger"))
    terms = [term for book in json_of(trace)["ledger"] for moment in book["moments"] for term in moment["terms"] if term["bytes"]]
    assert len(terms) > 2
    for term in terms:
        assert term["title"] in ledger and term["title"] in browser.text("#ledger")
    open_all = "document.querySelectorAll('#tables details').forEach((one) => { one.open = true; })"
    # Each heading is inside the heading before it.
    for heading in ("Devices (1)", "Largest call stacks at the peak", "At most"):
        assert heading == "Devices (1)" or heading in report
        assert heading in browser.text("#tables")
        browser.run(open_all)
        browser.run(open_all)
    check_quiet(browser)


def test_the_chart_sums_up_to_what_was_live(browser, run_page):
    trace, path = run_page
    browser.open(path)
    for layer in range(len(json_of(trace)["series"]["layers"])):
        for by in ("category", "phase", "line", "layer"):
            browser.run("page.set({layer: arguments[0], by: arguments[1]})", layer, by)
            assert browser.run(  # the last group lies at the bottom, and the first one on top of the others
                "const {bands} = page.timeline, live = page.layer().points.live_bytes;"
                "return live.every((bytes, i) => {"
                "  let sum = 0;"
                "  return bands.every(({floor, top}) => floor[i] === sum && (sum = top[i]) >= floor[i]) && sum === bytes; })"
            ), (layer, by)
    check_quiet(browser)


def test_a_moment_is_chosen_in_the_chart_and_with_the_keyboard(browser, run_page):
    trace, path = run_page
    browser.open(path)
    snapshots = json_of(trace)["series"]["snapshots"]
    browser.run("page.timeline.choose(page.timeline.snapshotAt(0))")
    assert f"event {snapshots['seq'][0]}:" in browser.text("#moment")
    browser.press("#chart", "\ue014")  # the right arrow
    assert f"event {snapshots['seq'][1]}:" in browser.text("#moment")
    browser.press("#icicle", "\ue015")  # the down arrow, which goes into the call tree
    assert "train.py:90 main" in browser.text("#icicle-path") or browser.run("return page.icicle.root.children.size") == 0
    check_quiet(browser)


def test_the_head_says_the_peak_and_of_which_card(browser, run_page):
    trace, path = run_page
    browser.open(path)
    page = json_of(trace)
    pool, driver = page["series"]["layers"]
    assert page["answer"][0].startswith("Out of memory")
    words = f"Peak: {bytes_text(pool['peak_bytes'])} of 1.00 GiB live in the "
    assert words in browser.text("header") and words in browser.run("return page.asText()")
    assert f"{bytes_text(driver['peak_bytes'])} handed out by the driver." in browser.text("header")
    check_quiet(browser)


def test_a_peak_that_is_the_answer_is_said_once(browser, tmp_path):
    browser.open(html_of(tmp_path, a_run(tmp_path / "run.db", fails=False, log_kib=0)))
    assert browser.text("header").count("Peak") == 1
    estimate = tmp_path / "estimate.html"
    assert run_command("estimate", ROOT / "samples/train.json", "--format=html", "-o", estimate).returncode == 0
    assert "Peak" not in browser.open(estimate).text("header")


def test_a_click_between_two_moments_says_that_the_nearest_is_shown(browser, run_page):
    trace, path = run_page
    browser.open(path)
    seqs = json_of(trace)["series"]["snapshots"]["seq"]
    seq = next(seq for seq in range(seqs[0], seqs[-1]) if seq not in seqs)
    for place, said in ((seqs[1], False), (seq, True)):
        browser.run("const [x] = arguments; page.timeline.chart.getOption('clickCallback')(null, x)", place)
        assert (f"the moment nearest to event {place}" in browser.text("#moment")) == said
    browser.click("end", "#moments")
    assert "nearest" not in browser.text("#moment")
    check_quiet(browser)


def test_the_bar_of_the_card_closes(browser, tmp_path):
    trace = Trace(tmp_path / "shared.db", pid=10, exit_status=1)
    trace.rows["device"].append((0, "GPU-0", "Card 0", 16 << 30, 300 * MIB))
    trace.alloc(8 << 30)
    trace.device_memory(1 << 30, 16 << 30, call=1, nested=1)
    trace.fail(4 << 30, call=1)
    for pid, size in ((10, (8 << 30) + 300 * MIB), (11, 1 << 30)):
        trace.event("process-memory", address=2, size=size, object=pid, device=0, thread=1)
    trace.write()
    browser.open(html_of(tmp_path, tmp_path / "shared.db"))
    for moment in json_of(tmp_path / "shared.db")["ledger"][0]["moments"]:
        parts = browser.run("return ledgerParts(arguments[0], new Map()).map((part) => [part.title, part.bytes])", moment)
        assert sum(size for _, size in parts) == moment["total_bytes"]
        assert dict(parts)["free"] == moment["total_bytes"] - moment["used_bytes"]
        assert dict(parts).get("not attributed by NVML", 0) == moment["unaccounted_bytes"]
    assert "not attributed by NVML" in browser.text("#ledger") and "free 1.00 GiB (the card)" in browser.text("#ledger")
    check_quiet(browser)


def test_the_copied_text_says_of_what_its_list_is_and_has_the_card(browser, run_page):
    browser.open(run_page[1])
    browser.click("gone by the end")
    text = browser.run("return page.asText()")
    assert "Memory by call stack, gone by the end:" in text
    for owner in browser.run("return page.document.ledger[0].moments[0].terms.map((term) => term.title)"):
        assert owner in text
    check_quiet(browser)


def test_a_search_says_what_the_calls_it_found_held(browser, run_page):
    trace, path = run_page
    browser.open(path)
    browser.press("#icicle-controls input", "LOG")
    held = next(row["bytes"] for row in browser.run("return page.siteRows()") if row["site"].endswith(" log"))
    assert browser.text("#icicle-path").startswith(f'1 call of "LOG": {bytes_text(held)} (')
    browser.press("#icicle-controls input", "x")
    assert browser.text("#icicle-path") == 'No call of "LOGx".'
    assert browser.fragment().endswith("find=LOGx")
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


def test_names_turn_no_letters_around_and_a_long_one_does_not_fill_the_legend(browser, tmp_path):
    browser.open(html_of(tmp_path, hostile_run(tmp_path / "hostile.db")))
    assert "\u202e" not in browser.text("body") and "\\u{202e}gnirts" in browser.text("#icicle-table")
    assert max(map(len, browser.run("return [...document.querySelectorAll('.legend li')].map((one) => one.innerText)"))) <= 101
    check_quiet(browser)


def test_a_long_name_does_not_push_its_figure_out_of_a_narrow_window(browser, tmp_path):
    browser.open(html_of(tmp_path, hostile_run(tmp_path / "hostile.db")), width=400)
    ends = browser.run("return [...document.querySelectorAll('#icicle-table td.number')].map((one) => one.getBoundingClientRect().right)")
    assert ends and max(ends) <= 400
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
        browser.open(html_of(tmp_path, trace, command=command))
        assert browser.run("return document.querySelectorAll('#tables details').length") > 0, command
        check_quiet(browser)


def test_sizes_by_category_and_the_start_are_written_for_people(browser, run_page):
    browser.open(run_page[1])
    open_all(browser)
    oom = json_of(run_page[0])["oom"][0]["categories"]
    shown = browser.run("return Object.fromEntries([...document.querySelectorAll('#tables dt')]"
                        ".map((one) => [one.textContent, one.nextSibling.textContent]))")
    assert shown["Activations"] == bytes_text(oom["activations"])
    assert browser.run("return valueText('start_unix_ns', 1795548494938635026)") == "2026-11-24T19:28:14.938Z"


def test_figures_are_headed_by_words_and_codes_are_not_shown(browser, run_page, tmp_path):
    browser.open(run_page[1])
    shown = open_all(browser)
    (device,) = json_of(run_page[0])["ledger"]
    for term in device["moments"][0]["terms"]:
        assert term["title"] in shown and f"{term['owner']}\t" not in shown
    assert "UUID" in shown and "Owners (" in shown
    for term in json_of(run_page[0])["oom"][0]["sum"]:
        assert term["what"] in shown
    browser.open(html_of(tmp_path, a_run(tmp_path / "two.db", failures=2)))
    shown = open_all(browser, 1)
    assert "Failures left out (1)" in shown and "Oom" not in shown
    check_quiet(browser)


def test_a_table_that_is_sorted_keeps_the_focus(browser, run_page):
    browser.open(run_page[1])
    browser.press("#icicle-table th:last-child button", "\ue007")
    assert browser.run("return document.activeElement.textContent") == "Bytes ▼"
    browser.press("#icicle-table th:last-child button", "\ue007")
    assert browser.run("return document.activeElement.textContent") == "Bytes ▲"
    check_quiet(browser)


def test_the_interactions_that_the_benchmark_measures_run(browser, run_page):
    browser.open(run_page[1])
    for _, change, back in INTERACTIONS:
        browser.run(change)
        browser.run(back)
    check_quiet(browser)
