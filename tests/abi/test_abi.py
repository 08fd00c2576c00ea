# SPDX-License-Identifier: MIT
"""Our declarations of the CUDA ABI agree with NVIDIA's headers and library, if the machine has these files."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sysconfig

import pytest

from support.run import ROOT

HERE = pathlib.Path(__file__).resolve().parent
OURS = ROOT / "include" / "gpumemtrace" / "cuda"
COMPILER = shlex.split(os.environ.get("CC", "cc"))
STRICT = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
DECLARED_VERSION = 13000


# --- finding NVIDIA's files ------------------------------------------------------------------------


def header_places():
    if os.environ.get("CUDA_HOME"):
        yield pathlib.Path(os.environ["CUDA_HOME"]) / "include"
    yield pathlib.Path("/usr/local/cuda/include")
    yield pathlib.Path("/usr/include")
    for key in ("purelib", "platlib"):
        yield from sorted(pathlib.Path(sysconfig.get_paths()[key]).glob("nvidia/*/include"))


def header_version(place):
    text = (place / "cuda.h").read_text(encoding="utf-8", errors="replace")
    return int(re.search(r"#define CUDA_VERSION (\d+)", text).group(1))


@pytest.fixture(scope="module")
def real():
    """Returns the folder of NVIDIA's headers. They must have the version of our declarations or a newer one."""
    places = [
        place
        for place in header_places()
        if (place / "cuda.h").exists() and (place / "cuda_runtime_api.h").exists()
    ]
    if not places:
        pytest.skip("NVIDIA's cuda.h is not on this machine")
    for place in places:
        if header_version(place) >= DECLARED_VERSION:
            return place
    pytest.skip(f"{places[0]}/cuda.h is older than CUDA 13.0, of which our declarations are")


def compile_c(source, output, *options):
    return subprocess.run(
        [*COMPILER, *STRICT, *map(str, options), str(source), "-o", str(output)],
        capture_output=True,
        text=True,
        check=False,
    )


# With this macro NVIDIA's headers also declare the functions for per-thread default streams and the functions that newer
# ones have replaced.
INTERNAL = "-D__CUDA_API_VERSION_INTERNAL"


def with_real_headers(real):
    return ["-DGPUMEMTRACE_REAL_CUDA_H", INTERNAL, "-isystem", real]


# --- reading ours ----------------------------------------------------------------------------------


def preprocessed(*options):
    command = [*COMPILER, "-E", "-P", "-I", ROOT / "include", *options, "-x", "c", "-"]
    return subprocess.run(
        list(map(str, command)),
        input='#include "gpumemtrace/cuda/abi.h"\n',
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def close_of(text, start):
    """Returns the index of the brace that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place
    raise AssertionError(f"no end of {text[start : start + 80]}")


def names_of(declaration):
    first, *others = declaration.split(",")
    for declarator in [re.sub(r"^.*[\s*]", "", re.sub(r"\s*\[.*", "", first)), *others]:
        yield re.sub(r"\[.*|[\s*]", "", declarator)


def member_names(body):
    """Yields the names of a struct's members. The name of a member of a nested struct or union is its whole path."""
    while nested := re.search(r"\b(?:struct|union)\s*\{", body):
        end = close_of(body, nested.end() - 1)
        name, rest = re.match(r"\s*(\w*);(.*)", body[end + 1 :], re.DOTALL).groups()
        if name:
            yield name
        for member in member_names(body[nested.end() : end]):
            yield f"{name}.{member}" if name else member
        body = body[: nested.start()] + rest
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        yield from names_of(declaration)


def facts_of_structs(text):
    for found in re.finditer(r"(typedef )?struct (\w+)\s*\{", text):
        end = close_of(text, found.end() - 1)
        alias = re.match(r"\s*(\w*);", text[end + 1 :]).group(1)
        name = alias if found.group(1) else f"struct {found.group(2)}"
        yield f"SIZE({name})"
        for member in member_names(text[found.end() : end]):
            yield f"MEMBER({name}, {member})"


def facts_of_enums(text):
    for body in re.findall(r"enum \w+\s*\{([^{}]*)\}", text):
        for name in re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", body.strip()):
            yield f"VALUE({name})"


def facts_of_macros():
    for header in sorted(OURS.glob("*.h")):
        text = header.read_text(encoding="utf-8")
        for name, value in re.findall(r"^#define (\w+) (\S+)(?: +/\*.*)?$", text, re.MULTILINE):
            if re.fullmatch(r"0x[0-9a-f]+|\d+|\(\(\w+\)0x\d\)", value):
                yield f"VALUE({name})" if "(" not in value else f"VALUE((size_t){name})"


def is_comparable(fact, version):
    """Returns False for a fact that a newer CUDA may change: the end of an enumeration, or the reserved room in a
    struct."""
    if "VERSION)" in fact:
        return False
    return version == DECLARED_VERSION or not re.search(r"M(AX|ax)\)|reserved\)", fact)


def facts(version):
    text = preprocessed()
    text = text[text.index("typedef unsigned long long CUdeviceptr") :]
    handles = [f"SIZE({name})" for name in ("CUdeviceptr", "CUdevice", "CUmemGenericAllocationHandle")]
    everything = [*handles, *facts_of_structs(text), *facts_of_enums(text), *facts_of_macros()]
    return [fact for fact in dict.fromkeys(everything) if is_comparable(fact, version)]


def printed_facts(folder, version, *options):
    folder.mkdir()
    (folder / "abi_facts.inc").write_text("\n".join(facts(version)) + "\n", encoding="utf-8")
    program = folder / "abi_facts"
    compiled = compile_c(
        HERE / "abi_facts.c", program, "-I", ROOT / "include", "-I", folder, *options
    )
    assert compiled.returncode == 0, compiled.stderr
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def rows(name, pattern):
    text = (OURS / name).read_text(encoding="utf-8")
    return re.findall(pattern, text[text.index("*/") :], re.MULTILINE)


def prototypes(name):
    for kind, symbol in rows(name, r"^PROTOTYPE(\w*)\((?:[\w* ]+ ?\*?, )?(\w+),"):
        yield symbol
        if kind in ("_PTSZ", "_PTDS"):
            yield symbol + kind.lower()


# --- tests -----------------------------------------------------------------------------------------


def test_every_kind_of_fact_is_among_those_compared():
    listed = facts(DECLARED_VERSION)
    assert len(listed) > 1000
    for fact in (
        "SIZE(struct cudaDeviceProp)",
        "MEMBER(struct cudaDeviceProp, hostNumaMultinodeIpcSupported)",
        "MEMBER(CUmemAllocationProp, allocFlags.usage)",
        "MEMBER(CUarrayMapInfo, subresource.miptail.size)",
        "MEMBER(CUgraphNodeParams, alloc)",
        "MEMBER(struct cudaExternalMemoryHandleDesc, handle.win32.name)",
        "VALUE(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)",
        "VALUE(CUDA_ARRAY3D_DEFERRED_MAPPING)",
        "MEMBER(CUDA_MEMCPY3D, dstLOD)",
        "MEMBER(struct cudaPitchedPtr, ysize)",
        "VALUE(CUDA_ERROR_OUT_OF_MEMORY)",
        "VALUE(cudaErrorMemoryAllocation)",
        "VALUE(CU_MEMPOOL_ATTR_USED_MEM_HIGH)",
        "VALUE(cudaDevAttrComputeCapabilityMajor)",
        "VALUE(CU_MEMHOSTALLOC_DEVICEMAP)",
        "VALUE((size_t)cudaStreamPerThread)",
    ):
        assert fact in listed


def test_sizes_offsets_and_values_are_those_of_the_real_header(real, tmp_path):
    version = header_version(real)
    ours = printed_facts(tmp_path / "ours", version)
    theirs = printed_facts(tmp_path / "theirs", version, *with_real_headers(real))
    assert [line for line in ours if line not in theirs] == []
    assert ours == theirs


@pytest.mark.parametrize("language", ["c", "c++"])
def test_prototypes_are_those_of_the_real_header(real, tmp_path, language):
    source = tmp_path / "prototypes.c"
    source.write_text('#include "gpumemtrace/cuda/abi.h"\nint main(void) { return 0; }\n')
    compiler = COMPILER if language == "c" else [shutil.which("c++") or pytest.skip("no C++ compiler")]
    completed = subprocess.run(
        [*compiler, "-Werror", "-I", ROOT / "include", *with_real_headers(real), "-x", language]
        + ["-fsyntax-only", source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr


@pytest.mark.parametrize(
    "row, wrong",
    [
        ("(cuMemAlloc_v2, (CUdeviceptr *address, size_t ", "(cuMemAlloc_v2, (CUdeviceptr *address, int "),
        ("(cudaMalloc, (void **address, size_t ", "(cudaMalloc, (void *address, size_t "),
    ],
)
def test_a_wrong_prototype_does_not_compile_beside_the_real_header(real, tmp_path, row, wrong):
    include = tmp_path / "include"
    shutil.copytree(ROOT / "include", include)
    changed = 0
    for name in ("driver_prototypes.def", "runtime_prototypes.def"):
        path = include / "gpumemtrace" / "cuda" / name
        text = path.read_text(encoding="utf-8")
        changed += text.count(row)
        path.write_text(text.replace(row, wrong), encoding="utf-8")
    assert changed == 1
    source = tmp_path / "prototypes.c"
    source.write_text('#include "gpumemtrace/cuda/abi.h"\nint main(void) { return 0; }\n')
    completed = compile_c(source, tmp_path / "out", "-I", include, *with_real_headers(real))
    assert completed.returncode != 0
    assert "conflicting types" in completed.stderr


def real_declarations(real):
    command = [*COMPILER, "-E", "-P", "-isystem", real, INTERNAL, "-x", "c", "-"]
    text = subprocess.run(
        list(map(str, command)),
        input="#include <cuda.h>\n#include <cuda_runtime_api.h>\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return set(re.findall(r"\b(cu\w+)\s*\(", text))


def test_every_prototype_has_a_real_one_to_be_compared_with(real):
    declared = real_declarations(real)
    profiler = (real / "cudaProfiler.h").read_text(encoding="utf-8", errors="replace")
    declared |= set(re.findall(r"CUDAAPI (cu\w+)\(", profiler))
    declared |= set(
        re.findall(r"(cuda\w+)\(", (real / "cuda_profiler_api.h").read_text(errors="replace"))
    )
    ours = [*prototypes("driver_prototypes.def"), *prototypes("runtime_prototypes.def")]
    assert len(ours) > 400
    assert [symbol for symbol in ours if symbol not in declared] == []


def function_rows():
    pattern = r"^DRIVER_FUNCTION\((\w+), (\d+), (DEFAULT|PER_THREAD), (\w+)\)$"
    return rows("driver_functions.def", pattern)


def test_the_list_of_driver_functions_is_the_header_s(real):
    theirs = set()
    for header in real.glob("cuda*Typedefs.h"):
        text = header.read_text(encoding="utf-8", errors="replace")
        for name, version, twin in re.findall(r"\*\s*PFN_(cu\w+?)_v(\d+)(_ptds|_ptsz)?\)", text):
            if int(version) <= DECLARED_VERSION:
                theirs.add((name, version, "PER_THREAD" if twin else "DEFAULT"))
    if not theirs:
        pytest.skip(f"no cudaTypedefs.h in {real}")
    ours = {(name, version, stream) for name, version, stream, _ in function_rows()}
    assert ours ^ theirs == set()


def test_no_exported_driver_function_is_listed_twice_and_names_are_in_order():
    listed = function_rows()
    symbols = [symbol for _, _, _, symbol in listed]
    assert len(symbols) == len(set(symbols)) > 600
    names = [name for name, _, _, _ in listed]
    assert names == sorted(names)


def test_each_driver_function_s_symbol_is_declared_by_the_real_header(real):
    declared = real_declarations(real)
    for header in ("cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h"):
        if (real / header).exists():
            text = (real / header).read_text(encoding="utf-8", errors="replace")
            declared |= set(re.findall(r"\b(cu\w+)\s*\(", text))
            for macro, symbol in re.findall(r"__CUDA_API_PT(DS|SZ)\((cu\w+)\)", text):
                declared |= {symbol, f"{symbol}_pt{macro.lower()}"}
            declared |= set(re.findall(r"#define\s+cu\w+\s+(cu\w+)", text))
    assert [row[3] for row in function_rows() if row[3] not in declared] == []


def runtime_libraries(real):
    places = [real.parent / "lib", real.parent / "lib64", real.parent / "targets/x86_64-linux/lib"]
    for version in ("12", "13"):
        for place in places:
            if (place / f"libcudart.so.{version}").exists():
                yield version, place / f"libcudart.so.{version}"
                break


def test_the_list_of_runtime_functions_is_the_library_s(real):
    found = list(runtime_libraries(real))
    if not found or not shutil.which("nm"):
        pytest.skip("NVIDIA's libcudart.so or nm is not on this machine")
    listed = rows("runtime_functions.def", r"^RUNTIME_FUNCTION\((BOTH|ONLY_12|ONLY_13), (\w+)\)$")
    for version, library in found:
        output = subprocess.run(
            ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
        ).stdout
        theirs = set(re.findall(r" T (\w+)", output))
        ours = {symbol for which, symbol in listed if which in ("BOTH", f"ONLY_{version}")}
        assert ours ^ theirs == set()
