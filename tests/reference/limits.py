# SPDX-License-Identifier: MIT
"""Computes the figures that `check` compares with limits: the leading layer of each device at its peak and at the exit,
the sites that held that memory, and the number of failed allocations."""

LIMITS = {"peak": 8 << 20, "leak": 4096}
WORDS = {"peak": "peak", "leak": "live at exit", "failures": "count of failed allocations"}


def options():
    return [f"--max-{kind}={limit}" for kind, limit in LIMITS.items()]


def subject(figures, account, kind):
    device = "an unknown device" if account[0] is None else f"device {account[0]}"
    layer = f"{figures.pool_name(account)} pool" if account[1] == "pool" else "driver"
    return f"{device} {layer} {WORDS[kind]}"


def limits_page(figures, trace):
    checks, devices = [], []
    for device in figures.devices:
        account, row = figures.leading(device), {"device": device}
        measured = {"peak": figures.peak(account)[0], "leak": figures.at_exit(account)}
        moments = {"peak": figures.peak(account)[1], "leak": figures.books.count - 1}
        unknown = dict.fromkeys(("measured_bytes", "limit_bytes", "measured_count", "limit_count"))
        for kind, limit in LIMITS.items():
            checks.append({
                **unknown, "kind": kind, "device": device, "measured_bytes": measured[kind], "limit_bytes": limit,
                "passed": measured[kind] <= limit, "trace": str(trace),
            })  # fmt: skip
        broken = [kind for kind in LIMITS if measured[kind] > LIMITS[kind]]
        evidence = [{"subject": subject(figures, account, kind), "sites": figures.sites(account, moments[kind])} for kind in broken]
        failed = sum(failure.account[0] == device for failure in figures.failures.list)
        evidence += [{"subject": subject(figures, account, "failures")}] * bool(failed)
        row |= {"evidence": evidence} if evidence else {}
        if failed:
            checks.append({
                **unknown, "kind": "failures", "device": device, "measured_count": failed, "limit_count": 0, "passed": False,
                "trace": str(trace),
            })  # fmt: skip
        devices.append(row)
    return {"passed": all(check["passed"] for check in checks), "checks": checks, "devices": devices}
