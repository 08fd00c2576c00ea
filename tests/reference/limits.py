# SPDX-License-Identifier: MIT
"""What `check` measures: the leading layer of each device at its peak and at the exit, beside limits."""

from reference.blame import alone

LIMITS = {"peak": 8 << 20, "leak": 4096}


def options():
    return [f"--max-{kind}={limit}" for kind, limit in LIMITS.items()]


def held_at_peak(figures, stock):
    """By frames: stacks of equal frames are one."""
    _, index = figures.peak(stock)
    sums = {}
    for block in figures.live_blocks(stock, index) if index is not None else []:
        frames = tuple(figures.books.stack_frames(block.stack))
        bytes_, stack = sums.get(frames, (0, block.stack))
        sums[frames] = (bytes_ + block.size, stack)
    rows = [(bytes_, alone(figures.books, stack)) for bytes_, stack in sums.values() if bytes_]
    return [{"delta_bytes": bytes_, "before_bytes": 0, "after_bytes": bytes_, **named} for bytes_, named in rows]


def limits_page(figures, trace):
    checks, devices = [], []
    for device in figures.devices:
        stock, row = figures.leading(device), {"device": device}
        measured = {"peak": figures.peak(stock)[0], "leak": figures.at_exit(stock)}
        for kind, limit in LIMITS.items():
            checks.append({
                "kind": kind, "device": device, "measured_bytes": measured[kind], "limit_bytes": limit,
                "passed": measured[kind] <= limit, "trace": str(trace),
            })  # fmt: skip
        if measured["peak"] > LIMITS["peak"]:
            row["grown"] = held_at_peak(figures, stock)
        devices.append(row)
    return {"passed": all(check["passed"] for check in checks), "checks": checks, "devices": devices}
