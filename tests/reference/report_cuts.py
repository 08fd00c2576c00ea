# SPDX-License-Identifier: MIT
"""Cuts lists as `report` does. `report` shows only the beginning of lists that other commands show whole."""

MOST = 200
# (place in `report`, key of the list, the command that has the whole list)
LISTS = (("devices", "sites_at_peak", "peak"), ("leaks", "live_at_exit", "leaks"))


def by_layer(rows):
    layers = {}
    for row in rows:
        layers.setdefault((row["layer"], row["pool"]), []).append(row)
    return layers


def rows_of(page):
    """Returns the whole lists of `peak` or `leaks`, by device."""
    return [row["sites"] if "sites" in row else row["leaks"]["live_at_exit"] for row in page["devices"]]


def made_whole(report, pages):
    """Returns (the report with whole lists, messages about lists that are not the beginning of the whole list). pages:
    {command: page}."""
    found, report = [], dict(report)
    for place, key, command in LISTS:
        whole = rows_of(pages[command])
        for row, rows in zip(report[place], whole, strict=True):
            largest = [one for own in by_layer(rows).values() for one in own[:MOST]]
            found += [] if row[key] == largest else [f"report.{key}: not the beginning of that of {command}"]
        report[place] = [{**row, key: rows} for row, rows in zip(report[place], whole)]
    return report, found


def left_out(rows, command):
    found = []
    for (layer, pool), own in by_layer(rows).items():
        sizes = sorted((row["bytes"] for row in own), reverse=True)[MOST:]
        if sizes:
            sums = {"sites_count": len(sizes), "bytes": sum(sizes)}
            found.append({"layer": layer, "pool": pool, **sums, "command": f"gpumemtrace {command}"})
    return found


def cut(report, failed):
    """Returns the reference's report, with the sums of the rows that `report` leaves out."""
    report = {**report, "oom": report["oom"][-1:], "oom_left_out": []}
    for place, key, command in LISTS:
        report[place] = [{**row, f"{key}_left_out": left_out(row[key], command)} for row in report[place]]
    if failed > 1:
        report["oom_left_out"] = [{"failures_count": failed - 1, "command": "gpumemtrace oom"}]
    return report
