# SPDX-License-Identifier: MIT
"""A program opens a library in a dry run. The library finds every function of NVIDIA's libraries, whatever their
version and file name. It finds either a stand-in, or a function that returns "not supported" and is counted by name."""
import random
import struct

import pytest

from support.run import BUILD, Recording, clean_environment, compile_library, load_json, run_command

NOT_SUPPORTED = 15  # CUBLAS_STATUS_NOT_SUPPORTED
RUNTIME_TEXTS = """
const char *texts(int i);
const char *texts(int i) { return i ? "cudaErrorMixedDeviceExecution" : "libcuda.so.1"; }
"""


def asking_library(folder, name, functions, soname=None, version=None):
    """Returns a library that calls each function through NAME_function(pointer). When the loader opens the library, the
    loader binds all functions to `soname` with the symbol version `version`. The library `soname` itself is deleted
    before that."""
    lines = [f"int {function}(void *); int {name}_{function}(void *p) {{ return {function}(p); }}" for function in functions]
    options = ["-Wl,-z,now", "-Wl,--allow-shlib-undefined", "-Wl,-z,undefs"]
    gone = None
    if soname:
        gone = folder / soname
        script = folder / f"{name}.map"
        script.write_text(f"{version} {{ global: *; }};" if version else "{ global: *; };")
        compile_library(
            gone, "\n".join(f"int {function}(void) {{ return 7; }}" for function in functions),
            f"-Wl,-soname,{soname}", f"-Wl,--version-script={script}",
        )  # fmt: skip
        options.append(gone)
    library = compile_library(folder / f"lib{name}.so", "\n".join(lines), f"-Wl,-soname,lib{name}.so", *options)
    if gone:
        gone.unlink()
    return library


def dry_run(folder, code, **environment):
    trace = folder / "trace.db"
    completed = run_command(
        "run", "-o", trace, "--dry-run=1GiB", "--", "/usr/bin/python3", "-c",
        "import ctypes, os\ncuda = ctypes.CDLL('libcudart.so.12')\np = ctypes.c_void_p()\n"
        f"assert cuda.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(4096)) == 0\n{code}",
        env=clean_environment(**environment), cwd=folder,
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr
    return Recording(completed, trace)


def call(library, *functions):
    name = library.name[3:-3]
    return f"lib = ctypes.CDLL('{library}')\n" + "".join(
        f"h = ctypes.c_void_p(); print(lib.{name}_{function}(ctypes.byref(h)), bool(h))\n" for function in functions
    )


@pytest.mark.parametrize("soname", ["libcublas.so.11", "libcublas-0123abcd.so.11", "libcublas.so.99"])
def test_any_version_and_any_bundled_name_of_a_library_is_stood_in_for(tmp_path, soname):
    version = "libcublas.so." + soname.rpartition(".")[2]
    library = asking_library(tmp_path, "asks", ["cublasCreate_v2"], soname, version)
    assert dry_run(tmp_path, call(library, "cublasCreate_v2")).completed.stdout == "0 True\n"


def test_a_library_beside_the_asking_one_is_not_loaded_in_place_of_the_stand_in(tmp_path):
    library = asking_library(tmp_path, "asks", ["cublasCreate_v2"], "libcublas-0123abcd.so.11", "libcublas.so.11")
    compile_library(
        tmp_path / "libcublas-0123abcd.so.11",
        "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }\n",
        "-Wl,-soname,libcublas.so.11",
    )
    dry_run(tmp_path, call(library, "cublasCreate_v2"), LD_LIBRARY_PATH=tmp_path)


def test_a_part_of_a_library_and_its_plain_name_lead_to_the_stand_in(tmp_path):
    code = "".join(
        f"print(bool(ctypes.CDLL('{name}').cudnnCreate))\n"
        for name in ("libcudnn_ops_infer.so.8", "libcudnn.so", "/nowhere/libcudnn.so.8")
    )
    assert dry_run(tmp_path, code).completed.stdout == "True\n" * 3


@pytest.mark.parametrize("soname, version", [("libcublas.so.12", "libcublas.so.12"), ("libcublas.so.99", "libcublas.so.99"),
                                              ("libcublas.so.12", None), (None, None)])  # fmt: skip
def test_a_function_that_nobody_modelled_answers_not_supported_and_is_counted_by_its_name(tmp_path, soname, version):
    library = asking_library(tmp_path, "asks", ["cublasNewKernel", "cublasUnused"], soname, version)
    recording = dry_run(tmp_path, call(library, "cublasNewKernel") * 2)
    assert recording.completed.stdout == f"{NOT_SUPPORTED} False\n" * 2
    assert "2 calls to functions that the dry run does not model (cublasNewKernel 2)" in recording.completed.stderr
    assert recording.rows("SELECT name, count FROM coverage") == [("cublasNewKernel (dry run)", 2)]
    warnings = [text for text in load_json("report", recording.trace)["warnings"] if "does not model" in text]
    assert len(warnings) == 1 and "cublasNewKernel 2" in warnings[0] and "cublasUnused" not in warnings[0]
    assert load_json("info", recording.trace)["seen_but_untracked"] == []


def test_a_library_opened_later_may_ask_for_more(tmp_path):
    first = asking_library(tmp_path, "first", ["cublasNewKernel"], "libcublas.so.99", "libcublas.so.99")
    later = asking_library(tmp_path, "later", ["cublasNewerKernel", "cublasNewKernel"], "libcublas.so.99", "libcublas.so.99")
    recording = dry_run(tmp_path, call(first, "cublasNewKernel") + call(later, "cublasNewerKernel", "cublasNewKernel"))
    assert recording.completed.stdout == f"{NOT_SUPPORTED} False\n" * 3
    assert recording.rows("SELECT name, count FROM coverage ORDER BY name") == [
        ("cublasNewKernel (dry run)", 2), ("cublasNewerKernel (dry run)", 1),
    ]  # fmt: skip


def test_what_a_library_needs_is_read_too_where_its_runpath_says(tmp_path):
    (tmp_path / "deep").mkdir()
    inner = asking_library(tmp_path / "deep", "inner", ["cublasNewKernel"], "libcublas.so.99", "libcublas.so.99")
    outer = compile_library(
        tmp_path / "libouter.so", "int inner_cublasNewKernel(void *); int outer_call(void *p) { return inner_cublasNewKernel(p); }",
        inner, "-Wl,-z,now", "-Wl,-rpath,$ORIGIN/deep", "-Wl,-z,undefs", "-Wl,--allow-shlib-undefined",
    )  # fmt: skip
    assert dry_run(tmp_path, call(outer, "call")).completed.stdout == f"{NOT_SUPPORTED} False\n"


def test_a_function_that_the_program_itself_defines_stays_its_own(tmp_path):
    own = compile_library(tmp_path / "libown.so", "int cublasOfMine(void *p) { return 42; }", "-Wl,-soname,libown.so")
    library = compile_library(
        tmp_path / "libasks.so", "int cublasOfMine(void *); int asks_it(void *p) { return cublasOfMine(p); }",
        own, "-Wl,-z,now", "-Wl,-rpath,$ORIGIN",
    )  # fmt: skip
    assert dry_run(tmp_path, call(library, "it")).completed.stdout == "42 False\n"


def test_a_runtime_function_without_a_body_is_counted_by_its_name(tmp_path):
    recording = dry_run(tmp_path, "print(cuda.cudaThreadSynchronize())")
    assert recording.completed.stdout == "801\n"
    assert recording.rows("SELECT name, count FROM coverage") == [("cudaThreadSynchronize (dry run)", 1)]


def test_a_library_with_nvidias_static_runtime_is_named_once(tmp_path):
    libraries = [compile_library(tmp_path / f"libstatic{i}.so", RUNTIME_TEXTS) for i in range(2)]
    said = dry_run(tmp_path, "".join(f"ctypes.CDLL('{library}')\n" for library in libraries)).completed.stderr
    assert said.count("libstatic0.so has NVIDIA's runtime linked in statically") == 1
    assert "libstatic1.so" not in said


def test_a_library_that_names_the_runtimes_texts_and_needs_the_runtime_is_not(tmp_path):
    library = compile_library(tmp_path / "libshared.so", RUNTIME_TEXTS, "-Wl,--no-as-needed", BUILD / "simulator/libcudart.so.12")
    assert "statically" not in dry_run(tmp_path, f"ctypes.CDLL('{library}')").completed.stderr


def test_pytorchs_device_library_is_named_even_if_another_library_needs_the_runtime(tmp_path):
    shared = compile_library(tmp_path / "libshared.so", "int shared;", "-Wl,--no-as-needed", BUILD / "simulator/libcudart.so.12")
    side = compile_library(tmp_path / "libside.so", RUNTIME_TEXTS)
    device = compile_library(tmp_path / "libc10_cuda.so", RUNTIME_TEXTS)
    load = "".join(f"ctypes.CDLL('{library}')\n" for library in (shared, side, device))
    said = dry_run(tmp_path, load).completed.stderr
    assert "libc10_cuda.so has NVIDIA's runtime linked in statically" in said and "libside.so" not in said


def test_tables_that_the_loader_does_not_read_may_hold_anything(tmp_path):
    """The section headers may hold any values, because the loader does not use them."""
    library = asking_library(tmp_path, "asks", ["cublasNewKernel"], "libcublas.so.99", "libcublas.so.99")
    whole = library.read_bytes()
    (sections,) = struct.unpack_from("<Q", whole, 40)
    chance = random.Random(11)
    code = ""
    for i in range(200):
        changed = bytearray(whole)
        for _ in range(1 + i % 3):
            at = chance.choice([chance.randrange(40, 48), chance.randrange(58, 64), chance.randrange(sections, len(whole))])
            changed[at] = chance.choice([0, 1, 0x7F, 0xFF, chance.randrange(256)])
        (tmp_path / f"changed{i}.so").write_bytes(changed[: len(changed) - chance.choice([0, 0, 1, 64, 500])])
        code += f"try: ctypes.CDLL('{tmp_path}/changed{i}.so')\nexcept OSError: pass\n"
    assert dry_run(tmp_path, code + call(library, "cublasNewKernel")).completed.stdout.startswith(f"{NOT_SUPPORTED} ")


def test_each_stand_in_says_a_version_that_a_program_built_for_it_accepts(tmp_path):
    code = (
        "n = ctypes.c_int()\n"
        "def asked(library, function, *first):\n"
        "    assert getattr(ctypes.CDLL(library), function)(*first, ctypes.byref(n)) == 0\n"
        "    return n.value\n"
        "print([ctypes.CDLL(f'libcudnn.so.{i}').cudnnGetVersion() for i in (8, 9)])\n"
        "print([asked(f'libcudnn.so.{i}', 'cudnnGetProperty', 0) for i in (8, 9)])\n"
        "print(asked('libcufft.so.11', 'cufftGetVersion') // 1000, asked('libcufft.so.11', 'cufftGetProperty', 0))\n"
        "print(asked('libcusolver.so.11', 'cusolverGetVersion') // 1000, asked('libcusparse.so.12', 'cusparseGetVersion', None) // 1000)\n"
        "print(asked('libcusparse.so.12', 'cusparseGetProperty', 0), asked('libcublas.so.12', 'cublasGetProperty', 0))\n"
        "count = asked('libnvrtc.so.12', 'nvrtcGetNumSupportedArchs')\n"
        "archs = (ctypes.c_int * count)()\n"
        "print(ctypes.CDLL('libnvrtc.so.12').nvrtcGetSupportedArchs(archs), 80 in archs, list(archs) == sorted(archs))\n"
        "print(ctypes.CDLL('libcublas.so.12').cublasHgemm(0))\n"
    )
    assert dry_run(tmp_path, code).completed.stdout == (
        "[8999, 99900]\n[8, 9]\n11 11\n11 12\n12 12\n0 True True\n0\n"
    )


@pytest.mark.parametrize(
    "call_of_version, version",
    [("CDLL('libcublas.so.12').cublasGetVersion_v2(None, {})", 129900),
     ("CDLL('libcublas.so.13').cublasGetVersion_v2(None, {})", 139900),
     ("CDLL('libcupti.so.12').cuptiGetVersion({})", 99),
     ("CDLL('libcupti.so.13').cuptiGetVersion({})", 130099)],
)  # fmt: skip
def test_a_framework_that_compares_versions_finds_one_that_is_new_enough(tmp_path, call_of_version, version):
    code = f"v = ctypes.c_int()\nassert ctypes.{call_of_version.format('ctypes.byref(v)')} == 0\nprint(v.value)"
    assert dry_run(tmp_path, code).completed.stdout == f"{version}\n"


def test_cublaslt_has_handles_and_names_of_its_statuses(tmp_path):
    code = """lt = ctypes.CDLL('libcublasLt.so.12'); handle = ctypes.c_void_p(); lt.cublasLtGetStatusName.restype = ctypes.c_char_p
assert lt.cublasLtCreate(ctypes.byref(handle)) == 0 and handle.value and lt.cublasLtDestroy(handle) == 0
print(lt.cublasLtGetStatusName(0).decode(), lt.cublasLtGetStatusName(15).decode())"""
    assert dry_run(tmp_path, code).completed.stdout == "CUBLAS_STATUS_SUCCESS CUBLAS_STATUS_NOT_SUPPORTED\n"
