# SPDX-License-Identifier: MIT
"""What the command prints beside what the reference says, and where they differ."""

import collections
import json
import math
import re

from reference import blame
from reference.books import Books
from reference.figures import Figures
from reference.leaks import leaks_page
from reference.ledger import closing, ledger_page
from reference.steps import steps_page
from reference.timeline import timelines
from support.run import run_command


def reduced(printed, wanted):
    """Of what was printed, what the reference speaks of."""
    if isinstance(wanted, dict) and isinstance(printed, dict):
        return {key: reduced_value(key, printed.get(key, "nothing"), value) for key, value in wanted.items()}
    if isinstance(wanted, list) and isinstance(printed, list) and wanted:
        return [reduced(row, wanted[min(i, len(wanted) - 1)]) for i, row in enumerate(printed)]
    return printed


def reduced_value(key, printed, wanted):
    if key == "frames":
        return [tuple(frame[column] for column in ("kind", "function", "file", "line")) for frame in printed]
    if key == "categories" and isinstance(printed, dict):
        return {category: bytes_ for category, bytes_ in printed.items() if bytes_}
    return reduced(printed, wanted)


def without_equals(rows, others):
    """Rows that are not among the others, as often as they are not."""
    counts = collections.Counter(json.dumps(row, sort_keys=True) for row in others)
    kept = []
    for row in rows:
        text = json.dumps(row, sort_keys=True)
        counts[text] -= 1
        if counts[text] < 0:
            kept.append(row)
    return kept


def rows_that_differ(printed, wanted, where):
    """The order of rows means nothing. A row may have a ratio, rounded when it was printed."""
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
        if by_place:  # devices and failures have an order, and much inside
            return [text for i, row in enumerate(wanted) for text in differences(printed[i], row, f"{where}[{i}]")]
        return list(rows_that_differ(printed, wanted, where))
    if isinstance(printed, float) and isinstance(wanted, float) and math.isclose(printed, wanted, abs_tol=1e-6):
        return []
    return [] if printed == wanted else [f"{where}: printed {printed!r:.300}, expected {wanted!r:.300}"]


def ask(*arguments):
    completed = run_command(*arguments, "--json")
    assert completed.returncode == 0, (arguments, completed.stderr)
    return json.loads(completed.stdout)


def compare(printed, wanted, name):
    return differences(reduced(printed, wanted), wanted, name)


def warned(report, words):
    """The number at the start of the warning that has these words."""
    return next((int(re.match(r"\d+", text)[0]) for text in report["warnings"] if words in text), 0)


def moments(figures, choose):
    """A few values of --at that this trace has."""
    books, failed = figures.books, figures.failures.list
    counted = books.events[: books.count]
    found = ["end", str(choose.choice(books.events).seq)]
    names = sorted({span.path.name for span in books.spans})
    found += [f"phase:{choose.choice(names)}"] if names else []
    found += [f"oom:{choose.randint(1, len(failed))}"] if failed else []
    if all(a.time <= b.time for a, b in zip(counted, counted[1:])):
        found.append(f"{choose.choice(counted).time}ns")
    return found


def check_report(report, figures, name="report"):
    books = figures.books
    found = compare(report, figures.report(), name)
    lost = sum(count.lost for stock, count in books.counts.items() if stock[1] != "none")
    for words, count in (
        ("without a recorded free", lost),
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
        found += compare(page, ledger_page(figures, at), f"ledger {at}") + closing(page)
    return found


def check_trace(trace, choose):
    """Every figure of one trace that differs."""
    books = Books(trace)
    figures = Figures(books)
    found = check_report(ask("report", trace), figures)
    found += compare(ask("leaks", trace), leaks_page(figures), "leaks")
    found += compare(ask("steps", trace), steps_page(figures), "steps")
    for options, wanted in timelines(figures, choose):
        found += compare(ask("timeline", *options, trace), wanted, f"timeline {options}")
    at = moments(figures, choose)
    for moment in choose.sample(at, min(2, len(at))):
        found += compare(ask("peak", f"--at={moment}", trace), figures.peak_page(moment), f"peak {moment}")
    found += check_ledgers(trace, figures, [None, *choose.sample(at, min(2, len(at)))])
    by, moment = choose.choice(blame.KINDS), choose.choice(["peak", *at])
    found += blame.check_summits(ask("peak", "--moments", trace), figures)
    found += blame.check(ask("peak", f"--by={by}", "--tree", f"--at={moment}", trace), figures, by, moment)
    samples, moment = choose.choice([3, 10, 33]), choose.choice(["peak", *at])
    wanted = figures.frag_page(moment, samples)
    return found + compare(
        ask("frag", "--segments", f"--samples={samples}", f"--at={moment}", trace), wanted, f"frag {moment} {samples}"
    )
