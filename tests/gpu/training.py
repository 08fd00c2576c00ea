# SPDX-License-Identifier: MIT
"""What people train, on the card and in a dry run of the same machine's PyTorch, beside PyTorch's own counters.

A recording is wrong if its replay is not what PyTorch counted to the byte, or its ledger leaves bytes unaccounted.
The dry run is compared, not judged: what a kernel takes for itself, no simulator knows.
"""
import concurrent.futures
import json
import re
import subprocess
import sys

from gpu import workloads
from support.run import BUILD, ROOT, TIMEOUT_S

SCRIPT = ROOT / "tests/gpu/workloads.py"
MIB = 1 << 20


def preset(card):
    """The name of the simulated card for a real one; None if there is none."""
    rows = re.findall(r'^PRESET\("([^"]*)", "Simulated ([^"]*)"',
                      (ROOT / "common/sim_presets.def").read_text(encoding="utf-8"), re.MULTILINE)
    return next((name for name, device in rows if device == card), None)


def document(command, trace):
    return json.loads(subprocess.run([BUILD / "gpumemtrace", command, "--json", trace],
                                     stdout=subprocess.PIPE, check=True, timeout=TIMEOUT_S).stdout)


def run(environment, trace, name, *words):
    """What the program printed, or {"reason"}."""
    completed = subprocess.run(
        [BUILD / "gpumemtrace", "run", "-o", trace, *words, "--", sys.executable, SCRIPT, name],
        env={**environment, "GPUMEMTRACE_QUIET": "1"}, capture_output=True, text=True, timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if completed.returncode != 0 or not completed.stdout:
        last = (completed.stderr.strip().splitlines() or ["no output"])[-1]
        return {"reason": f"it ended with {completed.returncode}: {last}"}
    return json.loads(completed.stdout.splitlines()[-1])


def faults(told, trace):
    """What of the recording is wrong."""
    device = document("report", trace)["devices"][0]
    pool = next(pool for pool in device["pools"] if pool["name"] == "pytorch")
    pairs = {"allocated_peak": "peak_live_bytes", "reserved_peak": "peak_reserved_bytes"}
    wrong = [f"{key}: PyTorch counted {told[key]:,}, the replay {pool[ours]:,}"
             for key, ours in pairs.items() if told[key] != pool[ours]]
    for moment in document("ledger", trace)["devices"][0]["moments"]:
        if moment["unaccounted_bytes"]:
            wrong.append(f"the ledger {moment['at']}: {moment['unaccounted_bytes']:,} unaccounted")
    return wrong


def run_dry(environment, card, name, folder):
    if not preset(card):
        return {"reason": f"no preset is called like {card}"}
    return run(environment, folder / f"{name}-dry.db", name, f"--dry-run={preset(card)}")


def check(environment, name, folder):
    """{"card", "faults"} of one program, or {"reason"}."""
    trace = folder / f"{name}.db"
    told = run(environment, trace, name)
    return told if "reason" in told else {"card": told, "faults": faults(told, trace)}


def verdict(result):
    return "" if "reason" in result else "WRONG" if result["faults"] else "right"


def verdicts(results):
    return [verdict(result) for result in results.values()]


def row(name, result):
    if "reason" in result:
        return f"{name:<18}{result['reason'].splitlines()[0]}"
    card, dry = result["card"], result["dry"]
    cells = f"{name:<18}"
    for key in ("allocated_peak", "reserved_peak", "used"):
        cells += f"{card[key] / MIB:>10,.1f}"
        cells += f"{dry[key] / MIB:>10,.1f}{100 * (dry[key] / card[key] - 1):>+7.1f}%" if key in dry else f"{'-':>18}"
    return f"{cells}  {verdict(result)}"


def table(results):
    head = "".join(f"{word:>28}" for word in ("allocated, MiB", "reserved, MiB", "card's used, MiB"))
    lines = [f"{'training':<18}{head}", " " * 18 + f"{'card':>10}{'dry run':>10}{'':>8}" * 3 + "  replay"]
    return lines + [row(name, result) for name, result in results.items()]


def check_all(environment, card, folder):
    """{name: {"card", "faults", "dry"}, or {"reason"}}: one after the other on the card, the dry runs beside them."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        dry = {name: pool.submit(run_dry, environment, card, name, folder) for name in workloads.PROGRAMS}
        return {name: {**check(environment, name, folder), "dry": dry[name].result()} for name in workloads.PROGRAMS}
