# SPDX-License-Identifier: MIT
"""Pages about traces with known figures, and functions that check a page."""

import json

from support.run import run_command
from support.tracefile import MIB, Trace


HOSTILE = ['</script><script>alert(1)</script>', '"\'><img src=x onerror=alert(1)>', "\u202egnirts", "a" * 10000, "{{x}}", "\\u003c"]


def html_of(folder, *words, command="report", status=0):
    """Returns the path of the HTML page that a command writes. `words` are the traces and options of the command."""
    path = folder / f"{command}.html"
    completed = run_command(command, "--format=html", "-o", path, *words)
    assert completed.returncode == status, completed.stderr
    return path


def json_of(*words, command="report"):
    return json.loads(run_command(command, "--json", "--series", *words).stdout)


def bytes_text(count):
    """Returns a number of bytes in the form in which the page prints it."""
    unit, units = 0, ["B", "KiB", "MiB", "GiB"]
    value = float(count)
    while value >= 1024 and unit < len(units) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.2f} {units[unit]}" if unit else f"{count} B"


def a_run(path, forward_mib=50, log_kib=1024, fails=True, failures=1, moved_lines=0, **meta):
    """Writes a trace with three steps, a line that leaks, two layers and a failure. Returns the path of the trace."""
    trace = Trace(path, **meta)
    trace.rows["device"].append((0, "GPU-0", "Card 0", 1024 * MIB, 0))
    stacks = {name: trace.stack("cudaMalloc", ("train.py", line + moved_lines, name), ("train.py", 90 + moved_lines, "main"))
              for name, line in (("weights", 10), ("forward", 20), ("log", 30))}  # fmt: skip
    segment = trace.alloc(600 * MIB)
    trace.tensor(segment, 100 * MIB, stack=stacks["weights"])
    for step in range(3):
        with trace.phase("forward"):
            trace.tensor(segment + (100 + step) * MIB, log_kib << 10, stack=stacks["log"])
            kept = trace.tensor(segment + 200 * MIB, (forward_mib + 10 * step) * MIB, stack=stacks["forward"])
        trace.tensor_free(kept)
        trace.step(step + 1)
    for _ in range(failures if fails else 0):
        trace.fail(700 * MIB, stack=stacks["forward"])
    trace.exit()
    trace.write()
    return path


def hostile_run(path):
    """Writes a trace with names that a page must not interpret as markup. Returns the path of the trace."""
    trace = Trace(path, command=HOSTILE[0])
    segment = trace.alloc(64 * MIB)
    for number, name in enumerate(HOSTILE):
        with trace.phase(name):
            trace.tensor(segment + number * MIB, MIB, stack=trace.stack((name, number + 1, name)))
    trace.exit()
    trace.write()
    return path


def check_moments(browser, series, every=1):
    """Checks the sum, the call tree and the map of the page at some moments: at every `every`-th moment, and at each
    moment that has a map. They must equal the figures of the JSON."""
    for number, layer in enumerate(series["layers"]):
        maps = {one["snapshot"]: one["left_out_bytes"] for one in layer["maps"]}
        for snapshot, seq in enumerate(series["snapshots"]["seq"]):
            if snapshot % every and snapshot not in maps:
                continue
            browser.run("page.set({mode: 'live', layer: arguments[0], moment: arguments[1]})", number, snapshot)
            live = sum(site["bytes"][snapshot] for site in layer["sites"])
            shown = browser.text("#moment")
            assert f"event {seq}: {bytes_text(live)} live" in shown
            assert browser.run("return page.icicle.root.bytes") == live
            drawn = browser.run("return page.map.pieces.filter((one) => one.block).reduce((sum, one) => sum + one.bytes, 0)")
            if snapshot in maps:
                assert drawn + maps[snapshot] == live


def check_quiet(browser):
    assert browser.complaints() == []
    assert browser.requests() == []
