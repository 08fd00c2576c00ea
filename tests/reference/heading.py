# SPDX-License-Identifier: MIT
"""Computes the heading of every page, the page of `info` and the memory of the host. For this it reads the file again
and counts its facts."""

import collections

HIDDEN_IN = ("device-memory", "pool-usage")  # samples do not count as events inside calls
HOST = ("rss_bytes", "rss_peak_bytes", "cgroup_bytes", "cgroup_peak_bytes", "cgroup_limit_bytes")


def heading(figures, path):
    books, meta = figures.books, figures.books.meta
    trace = {
        "path": str(path),
        **{key: meta.get(key) for key in ("pid", "command", "host", "rank", "start_unix_ns", "lost_events")},
        "duration_ns": meta.get("end_ns") or books.events[-1].time if books.events else 0,
        "events": len(books.events),
        "in_flight_events": books.in_flight,
        "complete": bool(meta["complete"]),
        "recording": False,
        "simulated": bool(meta["simulated"]) if "simulated" in meta else None,
        "dry_run": meta.get("dry_run"),
        "dry_run_events": meta.get("dry_run_events"),
    }
    devices = []
    for device in figures.devices:
        leading = figures.leading(device)
        devices.append({
            "device": device,
            "uuid": books.card_names.get(device, (None, None))[0],
            "name": books.card_names.get(device, (None, None))[1],
            "total_bytes": books.cards.get(device, (None, None))[0],
            "leading_layer": figures.layer(leading)["layer"],
            "leading_pool": figures.pool_name(leading),
        })  # fmt: skip
    return {"trace": trace, "devices": devices}


def host_memory(books):
    return {"host_memory": {key: books.meta.get(key) for key in HOST}}


# --- info ---


def nested(books):
    """Returns the events inside other calls, up to the exit, each with the call of its thread around it. If that call
    is an allocation, its number is higher, because an allocation is numbered after the events inside it. If it is a
    free, its number is lower, because a free is numbered before them."""
    rows, counted = [], books.events[: books.count]
    for event in counted:
        if not event.nested or event.kind in HIDDEN_IN:
            continue
        calls = [
            other for other in counted
            if other.thread == event.thread and not other.nested and other.call
        ]  # fmt: skip
        after = next((call for call in calls if call.index > event.index), None)
        before = next((call for call in reversed(calls) if call.index < event.index), None)
        outer = next((call for call in (after, before) if call and call.call == event.call), None)
        rows.append({
            "seq": event.seq, "kind": event.kind, "api": books.hooks.get(event.hook, ""),
            "parent_api": outer and books.hooks.get(outer.hook, ""), "parent_seq": outer and outer.seq,
        })  # fmt: skip
    return rows


def info_page(figures):
    books = figures.books
    kinds = collections.Counter(event.kind for event in books.events)
    return {
        "counts": {
            "events": len(books.events),
            "threads": len(books.threads),
            "modules": books.row_counts["module"],
            "frames": len(books.frames),
            "unknown_frees": books.unknown_frees,
        },
        "meta": dict(books.meta),
        "events_by_kind": [{"kind": kind, "count": count} for kind, count in kinds.items()],
        "nested": nested(books),
        "seen_but_untracked": [{"name": name, "count": count} for name, count in books.coverage],
        **{name: [{"name": row[0], key: row[1]} for row in books.variables[table]]
           for name, table, key in (("frameworks", "framework", "version"), ("job_variables", "job_variable", "value"),
                                    ("allocator_settings", "allocator_setting", "value"))},
    }  # fmt: skip
