# SPDX-License-Identifier: MIT
"""Trains common models on the card, and in a dry run with the same PyTorch. Compares both with PyTorch's counters.

A recording is wrong if its replay differs from PyTorch's counters by a byte, or if its ledger does not account for all
bytes. The dry run is compared but not judged, because no simulator knows how much memory a kernel allocates for itself.
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
    """Returns the name of the simulator's preset for a real card; None if there is none."""
    rows = re.findall(r'^PRESET\("([^"]*)", "Simulated ([^"]*)"',
                      (ROOT / "common/sim_presets.def").read_text(encoding="utf-8"), re.MULTILINE)
    return next((name for name, device in rows if device == card), None)


def document(command, trace):
    return json.loads(subprocess.run([BUILD / "gpumemtrace", command, "--json", trace],
                                     stdout=subprocess.PIPE, check=True, timeout=TIMEOUT_S).stdout)


def run(environment, trace, name, *words):
    """Returns the JSON that workloads.py printed, or {"reason": text}."""
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
    """Returns a line for each fault of the recording."""
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
    """Returns {"card": PyTorch's counters, "faults": lines} of one program, or {"reason": text}."""
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
    """Returns {name: {"card", "faults", "dry"} or {"reason", "dry"}}. The card runs one program at a time."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        dry = {name: pool.submit(run_dry, environment, card, name, folder) for name in workloads.PROGRAMS}
        return {name: {**check(environment, name, folder), "dry": dry[name].result()} for name in workloads.PROGRAMS}
