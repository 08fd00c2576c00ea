# SPDX-License-Identifier: MIT
"""Notes every key that a command prints and every key that a test compares. A printed key that no test compares is a
gap, unless EXCEPTIONS gives the reason. A key counts as compared only if a comparison saw a value other than null."""

import collections
import fnmatch

PRINTED, COMPARED = collections.defaultdict(set), collections.defaultdict(set)

# (command, key with *, the reason why no reference computes it)
EXCEPTIONS = (
    ("*", ".schema", "no figure: test_formats.py"),
    ("*", ".answer[]", "sentences: golden outputs and first lines, test_outputs.py and test_first_lines.py"),
    *(("*", f".{name}[].{key}", "the sentences of the answer, and their roles: test_verdict.py")
      for name in ("verdict", "more") for key in ("role", "text")),
    ("*", ".next", "a command: test_outputs.py"),
    ("*", ".warnings[]", "sentences; their counts are compared by check_report"),
    ("*", ".oom[].explanation", "a sentence: test_kinds.py, test_outputs.py"),
    ("*", ".oom[].sum[].what", "the text of the term, which is compared"),
    ("*", ".oom[].categories.*", "compared where it is not 0 B"),
    ("*", ".remedies[].remedy", "by loops that fail, test_remedies.py, by the allocator, test_what_if.py, and by check_empty_cache"),
    ("*", ".remedies[].gain_bytes", "as the remedy"),
    ("*", ".remedies[].need_bytes", "as the remedy"),
    *(("*", f".remedies[].{key}", "the words of remedies.def: test_outputs.py") for key in ("advice", "how", "sign", "supposes", "before_peak")),
    ("fit", ".devices[].fit[].card", "the name of a size that is compared: test_fit.py"),
    ("fit", ".devices[].fit[].mig_slice", "the name of a size that is compared: test_fit.py"),
    *(("check", f".checks[].{key}", "the words of a figure that is compared: test_check.py") for key in ("name", "subject", "message")),
    *(("check", f".checks[].{key}", "who heads the evidence, which is compared: test_check.py") for key in ("site", "file", "line")),
    *(("report", f".balance.{key}", "the first row of a diff of two devices: test_pytorch_parallel.py and tests/diff")
      for key in ("more_at", "more_bytes", "file", "line")),
    ("*", "*.moments[].terms[].title", "the owner and name, which are compared, in words: test_outputs.py"),
    ("*", ".fragmentation.internal_bytes", "always null: nobody tells what was asked for inside what was rounded"),
)  # fmt: skip


def leaves(value, where=""):
    """Yields (key, value) of every figure. A list of frames is one figure."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{where}.{key}")
    elif isinstance(value, list) and not where.endswith(".frames"):
        for inner in value:
            yield from leaves(inner, f"{where}[]")
    else:
        yield where, value


def note(store, command, page):
    """Adds the page's keys to the store. Empty lists and nulls are left out, because they tell nothing about a
    figure."""
    store[command] |= {key for key, value in leaves(page) if value is not None and value != []}


def is_excepted(command, key):
    return any(
        fnmatch.fnmatchcase(command, of) and fnmatch.fnmatchcase(key, pattern.replace("[", "[[]"))
        for of, pattern, _ in EXCEPTIONS
    )


def gaps():
    """Returns the keys that were printed and not compared."""
    return [
        f"{command}: {key}"
        for command, keys in sorted(PRINTED.items())
        for key in sorted(keys - COMPARED[command])
        if not is_excepted(command, key)
    ]


def idle_exceptions():
    """Returns the exceptions that are no longer needed, because their key is compared or is no longer printed."""
    left = [(command, key) for command, keys in PRINTED.items() for key in keys - COMPARED[command]]
    return [
        f"{of}: {pattern}"
        for of, pattern, reason in EXCEPTIONS
        if not reason.startswith("always null")
        and not any(fnmatch.fnmatchcase(c, of) and fnmatch.fnmatchcase(k, pattern.replace("[", "[[]")) for c, k in left)
    ]
