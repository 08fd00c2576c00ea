# SPDX-License-Identifier: MIT
"""The keywords of the mark and the fixture, and their translation into options of `gpumemtrace check`."""

import re

# Each of these keywords is an option of `gpumemtrace check` with the same name. The manual of `check` describes them.
SIZES = ("max_peak", "max_live_at_exit", "max_growth_per_step")
NUMBERS = ("max_fragmentation", "max_retries", "device", "layer", "baseline", "tolerance")
FLAGS = ("allow_oom",)
DRY_RUN = "dry_run"


class LimitError(ValueError):
    """Says that a mark has an unknown keyword or a wrong argument."""


def size_text(size):
    """Returns a size in the form that the command reads: a number of bytes, or "2 GiB" without the blank."""
    return str(int(size)) if isinstance(size, float) else re.sub(r"\s+", "", str(size))


def phases_of(size):
    """Returns pairs (phase, size). {"forward": "1 GiB", None: "2 GiB"} limits the phase forward to 1 GiB, and the whole
    test (None) to 2 GiB."""
    return size.items() if isinstance(size, dict) else [(None, size)]


def size_options(name, size):
    for phase, each in phases_of(size):
        yield f"--{name.replace('_', '-')}=" + (f"phase:{phase}=" if phase is not None else "") + size_text(each)


def collected(args, keywords):
    """Returns the keywords of one mark. Its only positional argument is max_peak. Raises LimitError."""
    if len(args) > 1:
        raise LimitError("gpu_memory takes one size, such as gpu_memory('2 GiB'), and keywords")
    known = {*SIZES, *NUMBERS, *FLAGS, DRY_RUN}
    unknown = sorted(set(keywords) - known)
    if unknown:
        raise LimitError(f"gpu_memory has no keyword '{unknown[0]}': it takes {', '.join(sorted(known))}")
    if args and "max_peak" in keywords:
        raise LimitError("gpu_memory('2 GiB') is max_peak; it was given twice")
    return {**({"max_peak": args[0]} if args else {}), **keywords}


def merged(marks):
    """Merges the marks of one test, which are ordered from the farthest to the closest. A keyword of a closer mark
    replaces the same keyword of a farther mark."""
    limits = {}
    for mark in marks:
        limits.update(collected(mark.args, mark.kwargs))
    return limits


def check_options(limits):
    """Returns the options of `gpumemtrace check` for these limits."""
    options = []
    for name, value in limits.items():
        if name in SIZES:
            options += size_options(name, value)
        elif name in NUMBERS:
            options.append(f"--{name.replace('_', '-')}={value}")
        elif name in FLAGS and value:
            options.append(f"--{name.replace('_', '-')}")
    return options
