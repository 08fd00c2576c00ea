# SPDX-License-Identifier: MIT
"""Compares the line that the recorder prints at exit with the `report` of the trace that this line names. The figures
of the line and of meta.peaks come from trace/live.c, which counts while the writer stores events. The figures of
`report` come from the analyzer, which replays the trace."""
import pathlib
import re
import shutil
import sqlite3
import tempfile

from .run import load_json

LINE = re.compile(
    r"^gpumemtrace: peak (?:at least )?(?P<peak>\S+ \S+) on (?:device (?P<device>\d+)|an unknown device)"
    r"(?:, (?P<failed>\d+) calls? refused)?(?:, (?P<lost>\d+) events lost)?"
    r"(?: \(the ring [^)]*\)|, [\d.]+ s waited for room in the ring \([^)]*\))?"
    r"; see: gpumemtrace (?P<command>report|oom) (?P<trace>.+)$",
    re.MULTILINE,
)
LAYERS = ("driver", "managed", "host", "imported")
# Larger traces are not compared, because it takes longer to copy and replay one than to run most tests.
LARGEST_TRACE_BYTES = 1 << 20


def shown_size(size_bytes):
    value, units = float(size_bytes), ["KiB", "MiB", "GiB", "TiB"]
    if value < 1024:
        return f"{size_bytes} B"
    while value >= 1024 and units:
        value, unit = value / 1024, units.pop(0)
    return f"{value:.2f} {unit}"


def report_without_names(trace):
    """Returns the JSON of `report` without the names of native frames. Finding these names takes most of the time of
    `report`, and the names change no figure."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "trace.db")
        shutil.copyfile(trace, copy)
        database = sqlite3.connect(copy)
        with database:
            database.execute("DELETE FROM module")
        database.close()
        return load_json("report", copy)


def line_of(report):
    """Returns the figures that the line must have: (peak, device, refused calls, lost events)."""
    peaks = {device["device"]: device["driver"]["peak_bytes"] for device in report["devices"]}
    peak = max(peaks.values(), default=0)
    devices = [number for number, bytes in peaks.items() if bytes == peak] if peak else [0]
    device = min(devices, key=lambda number: float("inf") if number is None else number)
    failed = sum(device[layer]["failed"] for device in report["devices"] for layer in LAYERS)
    return shown_size(peak), device, failed, report["trace"]["lost_events"]


def peaks_of(report):
    """Returns {device: (leading pool, peak of the leading layer, peak of the driver)}. The unknown device, None, is left out
    if it had no memory."""
    peaks = {}
    for device in report["devices"]:
        pools = {pool["name"]: pool["peak_live_bytes"] for pool in device["pools"]}
        driver, pool = device["driver"]["peak_bytes"], device["leading_pool"]
        peaks[device["device"]] = (pool, pools[pool] if pool else driver, driver)
    return {device: peak for device, peak in peaks.items() if device is not None or peak[1] or peak[2]}


def peaks_in_meta(trace):
    """Returns the recorder's figures in meta.peaks, in the form of peaks_of(), or None if the trace has none."""
    database = sqlite3.connect(trace)
    rows = database.execute("SELECT value FROM meta WHERE key = 'peaks'").fetchall()
    names = dict(database.execute("SELECT string_id, text FROM string"))
    database.close()
    if not rows or rows[0][0] is None:
        return None
    peaks = [[int(word) for word in part.split()] for part in rows[0][0].split(";") if part]
    return {None if device < 0 else device: (names[pool] if pool else None, peak, driver) for device, pool, peak, driver in peaks}


def compare_with_report(stderr):
    """Checks each line in stderr that names a trace. The line must agree with `report`. If the trace has meta.peaks,
    those must agree with `report` as well."""
    for match in LINE.finditer(stderr):
        trace = pathlib.Path(match["trace"])
        if not trace.exists() or trace.stat().st_size > LARGEST_TRACE_BYTES:
            continue
        device = match["device"] and int(match["device"])
        line = match["peak"], device, int(match["failed"] or 0), int(match["lost"] or 0)
        report = report_without_names(trace)
        expected = line_of(report)
        assert line == expected, f"the line at exit says {line}, report says {expected}"
        written = peaks_in_meta(trace)
        assert written is None or written == peaks_of(report), f"meta.peaks says {written}, report says {peaks_of(report)}"
        assert (match["command"] == "oom") == (line[2] > 0), "the line names the wrong command"
