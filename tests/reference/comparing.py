# SPDX-License-Identifier: MIT
"""Compares what the command prints with what the reference computes."""

import collections
import json
import math
import re

from reference import blame, covered, limits, report_cuts, series
from reference.books import Books
from reference.figures import Figures
from reference.heading import heading, host_memory, info_page
from reference.leaks import leaks_page
from reference.ledger import closing, ledger_command_page, ledger_page
from reference.failures import OUT_OF_MEMORY
from reference.limits import limits_page
from reference.oom import HELD, SITES
from reference.steps import steps_page
from reference.timeline import timelines
from support.run import run_command


def reduced(printed, wanted):
    """Returns the part of the printed value that the reference also computes."""
    if isinstance(wanted, dict) and isinstance(printed, dict):
        return {key: reduced_value(key, printed.get(key, "nothing"), value) for key, value in wanted.items()}
    if isinstance(wanted, list) and isinstance(printed, list) and wanted:
        return [reduced(row, wanted[min(i, len(wanted) - 1)]) for i, row in enumerate(printed)]
    return printed


def reduced_value(key, printed, wanted):
    if key == "frames" and isinstance(printed, list):
        return [plain_frame(frame) for frame in printed]
    if key == "categories" and isinstance(printed, dict):
        return {category: bytes_ for category, bytes_ in printed.items() if bytes_}
    return reduced(printed, wanted)


def plain_frame(frame):
    """Returns the frame in the form of the reference. A role or a module that the reference does not expect is kept, so
    that the comparison fails."""
    plain = tuple(frame[column] for column in ("kind", "function", "file", "line"))
    more = (frame["role"], frame["module"])
    return plain if more == (blame.role(plain), None) else (*plain, *more)


def without_equals(rows, others):
    """Returns the rows that `others` lacks. If a row occurs several times, it is returned as many times as `others`
    lacks it."""
    counts = collections.Counter(json.dumps(row, sort_keys=True) for row in others)
    kept = []
    for row in rows:
        text = json.dumps(row, sort_keys=True)
        counts[text] -= 1
        if counts[text] < 0:
            kept.append(row)
    return kept


def rows_that_differ(printed, wanted, where):
    """Yields a message for each row that only one side has; the order of the rows does not matter. Ratios may differ by
    as much as the printed ratio was rounded."""
    left, missing = without_equals(printed, wanted), without_equals(wanted, printed)
    for row in missing:
        same = next((other for other in left if not differences(other, row)), None)
        if same is None:
            yield f"{where}: not printed: {row!r:.600}"
        else:
            left.remove(same)
    yield from (f"{where}: not expected: {row!r:.600}" for row in left)


def differences(printed, wanted, where=""):
    if isinstance(printed, dict) and isinstance(wanted, dict) and set(printed) == set(wanted):
        return [text for key in wanted for text in differences(printed[key], wanted[key], f"{where}.{key}")]
    if isinstance(printed, list) and isinstance(wanted, list) and not where.endswith(".frames"):
        by_place = len(wanted) == len(printed) and all(isinstance(row, dict) and "device" in row for row in wanted)
        if by_place:  # devices and failures have an order, and they are too large to be compared as rows
            return [text for i, row in enumerate(wanted) for text in differences(printed[i], row, f"{where}[{i}]")]
        return list(rows_that_differ(printed, wanted, where))
    if isinstance(printed, float) and isinstance(wanted, float) and math.isclose(printed, wanted, rel_tol=5e-6, abs_tol=1e-6):
        return []
    return [] if printed == wanted else [f"{where}: printed {printed!r:.300}, expected {wanted!r:.300}"]


def ask(*arguments, code=0):
    completed = run_command(*arguments, "--json")
    assert completed.returncode == code, (arguments, completed.stderr)
    page = json.loads(completed.stdout)
    for one in page.get("traces", [page]):
        covered.note(covered.PRINTED, arguments[0], one)
    return page


def compare(page, wanted, name):
    got = reduced(page, wanted)
    covered.note(covered.COMPARED, name.split()[0], got)
    return differences(got, wanted, name)


def warned(report, words):
    """Returns the number at the start of the warning that contains these words, or 0 if there is no such warning."""
    return next((int(re.match(r"\d+", text)[0]) for text in report["warnings"] if words in text), 0)


def moments(figures, choose):
    """Returns a few values for --at that name a moment of this trace."""
    books, failed = figures.books, figures.failures.list
    counted = books.events[: books.count]
    found = ["end", str(choose.choice(books.events).seq)]
    names = sorted({span.path.name for span in books.spans})
    found += [f"phase:{choose.choice(names)}"] if names else []
    found += [f"oom:{choose.randint(1, len(failed))}"] if failed else []
    if all(a.time <= b.time for a, b in zip(counted, counted[1:])):
        found.append(f"{choose.choice(counted).time}ns")
    return found


def check_page(page, wanted, name, figures, trace):
    return compare(page, wanted, name) + compare(page, heading(figures, trace), name)


def without_sites(report):
    """Returns (the report without sites, the sites of each failure). Sites are compared apart, because the last one
    shown may be any of several sites with equal bytes."""
    without = {**report, "oom": [{**row, **{key: [] for key in HELD}} for row in report["oom"]]}
    return without, [{key: row[key] for key in HELD} for row in report["oom"]]


def check_sites(page, wanted, name):
    found = []
    for number, (printed, held) in enumerate(zip(page, wanted), 1):
        for key in HELD:
            first = sorted(held[key], key=lambda row: -row["bytes"])[:SITES]
            rows = reduced(printed[key], first)
            covered.note(covered.COMPARED, name, {"oom": [{key: rows}]})
            if [row["bytes"] for row in rows] != [row["bytes"] for row in first] or without_equals(rows, held[key]):
                found.append(f"{name}: oom:{number}: {key} are {rows!r:.500}, expected {first!r:.500}")
    return found


def balance(figures):
    """Returns the imbalance of the devices, from the peaks of their leading layers; {} if fewer than two devices have
    memory."""
    peaks = [(figures.peak(figures.leading(device))[0], device) for device in figures.devices]
    used = sorted((peak for peak in peaks if peak[0]), key=lambda peak: (peak[0], -figures.devices.index(peak[1])))
    if len(used) < 2:
        return {}
    (highest, device), others = used[-1], used[:-1]
    return {"balance": {"imbalance_ratio": highest / (sum(bytes for bytes, _ in used) / len(used)), "device": device,
                        "peak_bytes": highest, "median_of_others_bytes": others[(len(others) - 1) // 2][0]}}  # fmt: skip


def check_report(report, figures, trace, name="report"):
    books = figures.books
    wanted = {**figures.report_once(), **balance(figures), "ledger": ledger_page(figures)["devices"], **host_memory(books)}
    wanted, sites = without_sites(report_cuts.cut(wanted, len(figures.failures.list)))
    report, found = report_cuts.made_whole(report, {command: ask(command, trace) for command in ("peak", "leaks")})
    found += check_sites(without_sites(report)[1], sites, name)
    found += check_page(without_sites(report)[0], wanted, name, figures, trace)
    lost = sum(count.lost for account, count in books.counts.items() if account[1] != "none")
    for words, count in (
        ("without a recorded free", lost),
        ("stayed although the program freed", sum(block.end is None for block in books.unfreed)),
        ("was not recorded are not", books.unknown_frees),
        ("had no beginning", books.unmatched_pops),
    ):
        if warned(report, words) != count:
            found.append(f"{name}.warnings: {words}: printed {warned(report, words)}, expected {count}")
    return found


def check_ledgers(trace, figures, moments):
    found = []
    for at in moments:
        page = ask("ledger", *([f"--at={at}"] if at else []), trace)
        found += check_page(page, ledger_command_page(figures, at), f"ledger {at}", figures, trace) + closing(page)
    return found


def check_peaks(trace, figures, at, choose):
    found = []
    for moment in choose.sample(at, min(2, len(at))):
        found += check_page(ask("peak", f"--at={moment}", trace), figures.peak_page(moment), f"peak {moment}", figures, trace)
    page = ask("peak", "--moments", trace)
    sites = [{"high_moments": [{key: row[key] for key in ("site", "site_bytes")} for row in device["high_moments"]]}
               for device in page["devices"]]  # fmt: skip
    covered.note(covered.COMPARED, "peak", {"devices": sites})
    found += compare(page, blame.local_peaks_page(figures), "peak --moments") + list(blame.check_sites_of_local_peaks(page, figures))
    by, moment = choose.choice(blame.KINDS), choose.choice(["peak", *at])
    page, wanted = ask("peak", f"--by={by}", "--tree", f"--at={moment}", trace), blame.groups_page(figures, by, moment)
    return found + compare(page, wanted, f"peak --by={by} --at={moment}") + list(blame.check_order_of_trees(page, wanted))


def check_empty_cache(page, figures):
    """Returns a message if the gain of empty_cache differs from the pool's idle bytes. This remedy is advised only if
    the driver refused a request that did not come from the pool."""
    failed = [one for one in figures.failures.list if one.event.result == OUT_OF_MEMORY]
    failed = [one for one in failed if one.account[1] == "device" or one.account == figures.leading(one.account[0])]
    got = [row["gain_bytes"] for row in page["remedies"] if row["remedy"] == "empty_cache"]
    wanted = []
    if failed:
        event, account = failed[-1].event, failed[-1].account
        held = figures.leading(account[0])
        parts = figures.frag(held, event.index)
        idle = 0 if parts["free_bytes"] is None else parts["free_bytes"] - parts["stranded_bytes"]
        if account != held and event.size <= figures.peak(held)[0] and parts["free_bytes"] is not None and idle >= event.size:
            wanted = [idle]
    return [] if got == wanted else [f"oom: empty_cache gains {got}, expected {wanted}"]


def check_limits(trace, figures):
    wanted = limits_page(figures, trace)
    page = ask("check", "--allow-incomplete", *limits.options(), trace, code=0 if wanted["passed"] else 1)
    return check_page(page, wanted, "check", figures, trace)


def check_trace(trace, choose):
    """Returns a line for each figure of the trace that differs."""
    books = Books(trace)
    figures = Figures(books)
    report = ask("report", trace)
    found = check_report(report, figures, trace)
    oom = {key: figures.report_once()[key] for key in ("oom", "retries")}
    page = ask("oom", trace)
    found += check_page(without_sites(page)[0], without_sites(oom)[0], "oom", figures, trace)
    found += check_sites(without_sites(page)[1], without_sites(oom)[1], "oom")
    found += check_empty_cache(page, figures) + check_limits(trace, figures)
    for command, wanted in (
        ("leaks", leaks_page(figures)), ("steps", steps_page(figures)), ("phases", figures.phases_page()),
        ("info", info_page(figures)),
    ):  # fmt: skip
        found += check_page(ask(command, trace), wanted, command, figures, trace)
    for options, wanted in timelines(figures, choose):
        found += check_page(ask("timeline", *options, trace), wanted, f"timeline {options}", figures, trace)
    found += series.check(trace, figures)
    at = moments(figures, choose)
    found += check_peaks(trace, figures, at, choose)
    found += check_ledgers(trace, figures, [None, *choose.sample(at, min(2, len(at)))])
    samples, moment = choose.choice([3, 10, 33]), choose.choice(["peak", *at])
    page = ask("frag", "--segments", f"--samples={samples}", f"--at={moment}", trace)
    return found + check_page(page, figures.frag_page(moment, samples), f"frag {moment} {samples}", figures, trace)


def check_loop(trace):
    """Returns a line for each figure of `leaks` and `steps` that differs."""
    figures = Figures(Books(trace))
    pages = (("leaks", leaks_page), ("steps", steps_page))
    return [text for command, page in pages for text in check_page(ask(command, trace), page(figures), command, figures, trace)]
