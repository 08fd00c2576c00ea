# SPDX-License-Identifier: MIT
"""The matrix of ways and families. A way is how a program finds CUDA's functions; a family is a group of those
functions. This file runs the program of a way under the recorder. The program prints its books, which are the calls
that it made. For each family the books are compared with the rows of the trace, and at the end with the sums of the
report.

Needs only Python: the tests use it on the simulator, tests/gpu/check.py on a real card.
"""
import json
import pathlib
import re
import sqlite3
import subprocess

from support.run import BUILD, ROOT, TIMEOUT_S

SOURCES = ROOT / "tests/programs/matrix"

# A call may record events of these kinds inside itself, besides the event for which the program made the call.
INSIDE = {"device-memory", "pool-usage", "context-create", "module-load", "limit"}
# Calls for graphs are compared at the driver only, because the runtime may choose any of the driver's functions for a graph.
GRAPHS = {"capture-begin", "capture-end", "graph-made", "graph-destroy"}


def listed(name, macro):
    text = (SOURCES / name).read_text(encoding="utf-8")
    rows = re.findall(rf"^{macro}\(([^\"]*),\s*\"(.*)\"\)", text, re.M)
    return [[*(word.strip() for word in words.split(",")), text] for words, text in rows]


class Way:
    def __init__(self, name, program, apis, runtimes, text):
        self.name, self.program, self.runtimes, self.text = name, program, runtimes, text
        self.apis = ["driver", "runtime"] if apis == "both" else [apis]

    def executable(self, runtime="13"):
        """Returns the path of this way's program on a machine with this runtime. The program matrix12 replaces matrix
        on a machine that has only CUDA 12."""
        stands_in = self.program == "matrix" and self.runtimes == "any" and runtime == "12"
        return BUILD / "tests" / ("matrix12" if stands_in else self.program)


class Family:
    def __init__(self, api, name, forms, text):
        self.api, self.name, self.old, self.text = api, name, forms == "old", text


WAYS = [Way(*row) for row in listed("ways.def", "WAY")]
FAMILIES = [Family(*row) for row in listed("families.def", "FAMILY")]


def reachable(way, family):
    """False if the family consists of old forms of functions and the way looks functions up without a version. Such a
    lookup finds only the newest form."""
    return not (family.old and way.name.startswith("entry_point"))


def families_of(way):
    return [family for family in FAMILIES if family.api in way.apis]


# --- one run --------------------------------------------------------------------------------------


class Result:
    """The books that one way's program printed, the rows of its trace, and its report."""

    def __init__(self, books, rows, report):
        self.books, self.rows, self.report = books, rows, report

    def runs_of(self, family):
        """Returns the family's entries in the books, one for each table of functions."""
        runs = []
        for entry in self.books["families"]:
            api, _, name = entry["mark"].split()
            if (api, name) == (family.api, family.name):
                runs.append(entry)
        return runs


class Failed(Exception):
    """A program failed; the message names the program and says how it failed."""


def run(way, environment, folder, program=None, argument=None, family=None):
    """Runs the program of a way and returns its Result. The program knows the way by the name `argument`; by default,
    this is the way's own name."""
    trace = pathlib.Path(folder) / f"{way.name}.db"
    environment = {
        **environment,
        "GPUMEMTRACE_OUTPUT": str(trace),
        "GPUMEMTRACE_QUIET": "1",
    }
    command = [str(program or way.executable()), argument or way.name]
    completed = subprocess.run(
        command + ([family] if family else []),
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=TIMEOUT_S,
    )
    if completed.returncode != 0:
        raise Failed(f"{way.name}: exit {completed.returncode}: {completed.stderr.strip()}")
    if not trace.exists():
        raise Failed(f"{way.name}: nothing was recorded")
    return Result(json.loads(completed.stdout), read_rows(trace), read_report(trace))


def read_rows(trace):
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        database.row_factory = sqlite3.Row
        rows = database.execute(
            "SELECT kind.name AS kind, hook.name AS api, memory.name AS memory, address,"
            " size_bytes, object, result, nested, string.text AS text FROM event"
            " JOIN event_kind AS kind USING (kind) JOIN memory_kind AS memory USING (memory)"
            " LEFT JOIN hook USING (hook_id)"
            " LEFT JOIN string ON kind.name = 'mark' AND string_id = object ORDER BY seq"
        ).fetchall()
    return [dict(row) for row in rows]


def read_report(trace):
    completed = subprocess.run(
        [str(BUILD / "gpumemtrace"), "report", str(trace), "--json"],
        capture_output=True, text=True, check=True, timeout=TIMEOUT_S,
    )
    return json.loads(completed.stdout)


# --- comparing ------------------------------------------------------------------------------------


def between_marks(rows, mark):
    """Returns the rows from this mark to the next mark, or None if the trace lacks the mark."""
    begin = next((i for i, row in enumerate(rows) if row["text"] == mark), None)
    if begin is None:
        return None
    end = next(i for i in range(begin + 1, len(rows)) if rows[i]["kind"] == "mark")
    return rows[begin + 1 : end]


def counts(row, mark):
    """True if the books must contain this event. The event follows the mark `mark`."""
    if mark.split()[0] == "runtime" and row["kind"] in GRAPHS:
        return False
    if row["kind"] == "pool-usage":
        return row["memory"] == "graph pool" and not row["nested"]
    return not row["nested"] and row["kind"] != "device-memory"


def same_api(recorded, booked, names):
    if names == "driver":
        return not recorded.startswith("cuda")
    if names == "base":
        return base_name(recorded) == base_name(booked)
    return recorded == booked


def base_name(symbol):
    """Returns the name without its version and per-thread suffix: cuMemAllocAsync for cuMemAllocAsync_ptsz, cuMemAlloc
    for cuMemAlloc_v2."""
    return re.sub(r"_pt[sd][sz]$", "", re.sub(r"_v\d+(?=$|_pt)", "", symbol))


def same(row, booked, names):
    mask = (1 << 64) - 1  # SQLite's integers are signed
    for key, value in booked.items():
        if key == "api":
            # For calls of graphs, the books cannot name the per-thread form of the first version of a function.
            equal = same_api(row[key], value, "base" if row["kind"] in GRAPHS else names)
        elif key in ("address", "size_bytes", "object"):
            equal = row[key] & mask == value
        else:
            equal = row[key] == value
        if not equal:
            return False
    return True


def told(row, keys=("kind", "api", "memory", "address", "size_bytes", "object", "result")):
    return " ".join(f"{key}={row[key]}" for key in keys if key in row)


def differences(result, entry, names="exact"):
    """Returns the differences between the books and the trace for one run of a family, one difference per line.

    names: exact: names must be equal; base: names must be equal without suffixes, because a driver may have one function for
    several forms; driver: the trace has the driver's calls inside the runtime's calls, not the runtime's calls.
    """
    rows = between_marks(result.rows, entry["mark"])
    if rows is None:
        return [f"{entry['mark']}: no mark in the trace"]
    problems = [
        f"inside a call: {told(row)}" for row in rows if row["nested"] and row["kind"] not in INSIDE
    ]
    booked = entry["events"]
    found = [row for row in rows if counts(row, entry["mark"])]
    if names == "driver":
        kinds = {event["kind"] for event in booked}
        found = [row for row in found if row["kind"] in kinds or row["kind"] not in INSIDE]
    failed = [row for row in found if row["result"] != 0]
    if entry["reason"] and failed and len(found) > len(booked):  # the books lack the failed call that ended the family
        found.remove(failed[-1])
    for i in range(max(len(found), len(booked))):
        if i >= len(found):
            problems.append(f"missing: {told(booked[i])}")
        elif i >= len(booked):
            problems.append(f"too much: {told(found[i])}")
        elif not same(found[i], booked[i], names):
            problems.append(f"booked {told(booked[i])}; recorded {told(found[i])}")
    return problems


def sums(result):
    """Returns the differences between the books and the sums of the report, one difference per line."""
    problems, report = [], result.report
    device = next((entry for entry in report["devices"] if entry["device"] == 0), {})
    ended_early = any(entry["reason"] for entry in result.books["families"])
    for account, booked in result.books["accounts"].items():
        entry = device.get(account) or {}
        if ended_early:  # a failed call ended the family early, and the books lack that call
            booked = {key: value for key, value in booked.items() if key != "failed"}
        wrong = {key: (entry.get(key), value) for key, value in booked.items()
                 if entry.get(key) != value}
        if wrong:
            problems.append(f"{account}: reported and booked differ: {wrong}")
    if report["trace"]["lost_events"] or not report["trace"]["complete"]:
        problems.append(f"the trace is not whole: {report['trace']}")
    return problems


def live_change(rows):
    """Returns how many more device bytes are live at the mark "end" than at the mark "begin"."""
    device = {"linear", "pitched", "array", "stream-ordered", "virtual"}
    blocks, live, at_begin = {}, 0, 0
    for row in rows:
        if row["kind"] == "mark" and row["text"] == "begin":
            at_begin = live
        if row["kind"] == "mark" and row["text"] == "end":
            break
        if row["result"] != 0:
            continue
        if row["kind"] == "alloc" and row["memory"] in device and row["address"]:
            blocks[row["address"]] = row["size_bytes"]
            live += row["size_bytes"]
        elif row["kind"] == "free":
            live -= blocks.pop(row["address"], 0)
    return live - at_begin
