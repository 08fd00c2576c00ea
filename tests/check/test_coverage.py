# SPDX-License-Identifier: MIT
"""Every function that creates or destroys GPU memory is hooked or listed as harmless."""
import os
import pathlib
import re
import sysconfig

import pytest

from support.cells import each
from support.run import ROOT

INCLUDE = ROOT / "include/gpumemtrace"
DATA = ROOT / "tests/data"


def rows(path, pattern):
    return re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)


def facts(name):
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


HOOKS = set(rows(INCLUDE / "hooks.def", r"^(?:HOOK|SEEN)\((?:driver|runtime), (\w+)"))
PATTERNS = rows(INCLUDE / "coverage.def", r'^(MEMORY|HARMLESS)\("(.+)"\)')
DRIVER_FORMS = rows(
    INCLUDE / "cuda/driver_functions.def", r"^DRIVER_FUNCTION\((\w+), (\d+), (\w+), (\w+)\)"
)
RUNTIME_FUNCTIONS = rows(
    INCLUDE / "cuda/runtime_functions.def", r"^RUNTIME_FUNCTION\(\w+, (\w+)\)"
)


def fits(pattern, name):
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def kinds(name):
    return {kind for kind, pattern in PATTERNS if fits(pattern, name)}


def is_forgotten(symbol):
    return symbol not in HOOKS and kinds(symbol) == {"MEMORY"}


def test_what_a_runtime_asks_for_at_its_start_is_hooked_or_harmless():
    for line in facts("cudart_lookups.txt"):
        name, version, flags = line.split()
        stream = "PER_THREAD" if flags == "2" else "DEFAULT"
        symbols = [
            form for form in DRIVER_FORMS
            if form[0] == name and int(form[1]) <= int(version) and form[2] in (stream, "DEFAULT")
        ]  # fmt: skip
        assert symbols, line
        assert [form[3] for form in symbols if is_forgotten(form[3])] == [], line


@each("entry_point", facts("memory_entry_points.txt"))
def test_each_form_of_each_function_for_memory_is_hooked(entry_point):
    forms = [form[3] for form in DRIVER_FORMS if fits(entry_point, form[0])]
    assert forms
    assert [symbol for symbol in forms if symbol not in HOOKS] == []
    assert "MEMORY" in kinds(forms[0])


def test_what_the_project_declares_of_driver_and_runtime_is_hooked_or_harmless():
    declared = [form[3] for form in DRIVER_FORMS] + RUNTIME_FUNCTIONS
    assert len(declared) > 800
    assert [symbol for symbol in declared if is_forgotten(symbol)] == []


def test_each_pattern_is_of_use():
    declared = [form[3] for form in DRIVER_FORMS] + RUNTIME_FUNCTIONS
    for kind, pattern in PATTERNS:
        matched = [name for name in declared if fits(pattern, name)]
        assert matched, pattern
        if kind == "HARMLESS":
            assert all(kinds(name) == {"MEMORY", "HARMLESS"} for name in matched), pattern
            assert not HOOKS.intersection(matched), pattern


# --- NVIDIA's headers ------------------------------------------------------------------------------


def header_folders():
    places = [pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"]
    places += [pathlib.Path("/usr/local/cuda/include"), pathlib.Path("/usr/include")]
    for key in ("purelib", "platlib"):
        places += sorted(pathlib.Path(sysconfig.get_paths()[key]).glob("nvidia/*/include"))
    found = [place for place in places if (place / "cuda_runtime_api.h").exists()]
    return list(dict.fromkeys(place.resolve() for place in found))


def declared_in(folder, header, mark):
    """Returns the symbols that a header declares: its functions, and the symbols to which it renames these
    functions."""
    text = (folder / header).read_text(encoding="utf-8", errors="replace")
    functions = set(re.findall(rf"\b{mark}\s+(cu\w+)\s*\(", text))
    renamed = re.findall(r"#define\s+(cu\w+)\s+(?:__CUDA_API_\w+\()?(cu\w+)", text)
    newest = dict(renamed)
    return {newest.get(name, name) for name in functions} | functions


@pytest.mark.parametrize("header, mark", [
    ("cuda.h", "CUDAAPI"), ("cuda_runtime_api.h", "CUDARTAPI"),
])  # fmt: skip
def test_what_nvidias_headers_declare_is_hooked_or_harmless(header, mark):
    folders = header_folders()
    if not folders:
        pytest.skip("NVIDIA's cuda_runtime_api.h is not on this machine")
    for folder in folders:
        symbols = declared_in(folder, header, mark)
        assert len(symbols) > 100, folder
        assert [symbol for symbol in symbols if is_forgotten(symbol)] == [], folder
