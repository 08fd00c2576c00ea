# SPDX-License-Identifier: MIT
"""The ledger: every byte of a card counts once, for one owner. This file tests the owners and whole cards.
tests/reference/ledger.py checks the sums in random traces."""
import pytest

from support.made_traces import MADE
from support.run import load_json, run_command, texts_of
from support.tracefile import MIB, Trace

GIB = 1 << 30
CONTEXT = 300 * MIB
MODULES = (  # 4 KiB each, from 0x1000 on
    "/usr/lib/libcuda.so.1", "/opt/cuda/libcudart.so.12", "/opt/torch/lib/libc10_cuda.so", "/opt/cuda/libcublas.so.12",
    "/opt/cuda/libcublasLt.so.12", "/opt/cuda/libcudnn_ops.so.9", "/usr/lib/libnccl.so.2", "/opt/torch/lib/libtorch_cuda.so",
    "/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/python3.11", "/home/me/train", "/home/me/libkernels.so.3",
    "/opt/lib/python3.11/site-packages/vllm/_C.abi3.so", "/opt/lib/libgpumemtrace.so",
)  # fmt: skip


@pytest.fixture
def trace(tmp_path):
    trace = Trace(tmp_path / "trace.db", executable="/home/me/train")
    trace.rows["device"].append((0, "GPU-1", "Card", 16 * GIB, CONTEXT))
    for number, path in enumerate(MODULES, 1):
        trace.rows["module"].append((number, path, None, 0, number << 12, (number + 1) << 12))
    return trace


def frames(trace, *files):
    """Returns a stack of native frames in these files, with the innermost first. A tuple stands for a Python frame."""
    places = {path.rsplit("/", 1)[1].split(".")[0]: number << 12 for number, path in enumerate(MODULES, 1)}
    return trace.stack(*(file if isinstance(file, tuple) else places[file] + 0x10 for file in files))


def moment_of(trace, *options):
    (device,) = load_json("ledger", trace.written(), *options)["devices"]
    return device["moments"][0]


def terms_of(trace, *options):
    return {(term["owner"], term["name"]): term["bytes"] for term in moment_of(trace, *options)["terms"]}


def owner_of(trace, *files):
    trace.alloc(2 * MIB, stack=frames(trace, *files))
    del trace.rows["device"][0]
    ((owner, name),) = terms_of(trace)
    return name or owner


# --- owners ---


def test_the_innermost_library_that_is_more_than_a_way_to_memory_owns_it(trace):
    assert owner_of(trace, "libgpumemtrace", "libcuda", "libcudart", "libcublas", "libtorch_cuda", "train") == "cuBLAS"


@pytest.mark.parametrize(
    "files, name",
    [
        (("libcublasLt", "libcublas", "train"), "cuBLAS"),
        (("libcudart", "libcudnn_ops", "libtorch_cuda"), "cuDNN"),
        (("libnccl", "libc", "train"), "NCCL"),
        (("libcudart", "libc10_cuda", "libtorch_cuda", "python3"), "PyTorch"),
        (("libcudart", "libkernels", "train"), "libkernels.so"),
        (("libcudart", "_C", "python3"), "vllm"),
        (("libcudart", "libc", "train"), "program"),
        (("libcudart", ("/home/me/train.py", 3, "main"), "python3"), "program"),
        (("libcudart", "python3", ("/opt/lib/python3.11/site-packages/numba/cuda.py", 3, "f")), "numba"),
        (("libcudart", "libc10_cuda"), "PyTorch"),
        (("libc", "python3"), "unknown"),
    ],
)
def test_each_owner_has_the_name_that_people_use(trace, files, name):
    assert owner_of(trace, *files) == name


def test_what_a_library_takes_through_a_pool_is_the_pools(trace):
    segment = trace.alloc(20 * MIB, stack=frames(trace, "libcudart", "libc10_cuda"))
    trace.tensor(segment, 8 * MIB, stack=frames(trace, "libc10_cuda", "libcublas", "libtorch_cuda"))
    assert terms_of(trace) == {
        ("pool_live", "pytorch"): 8 * MIB, ("pool_cached", "pytorch"): 12 * MIB, ("context", None): CONTEXT,
    }  # fmt: skip


def test_what_a_graphs_private_pool_holds_is_not_cached(trace):
    segment = trace.alloc(20 * MIB)
    trace.event("capture-begin", stream=7, device=0)
    trace.tensor(segment, 8 * MIB, stream=7)
    trace.event("capture-end", stream=7, object=0x9A, device=0)
    trace.event("graph-made", object=0x9B, address=0x9A, device=0)
    trace.tensor_free(segment)
    terms = terms_of(trace, "--at=end")
    assert (terms["pool_graphs", "pytorch"], terms.get(("pool_cached", "pytorch"))) == (20 * MIB, None)


# --- a whole card ---


def fill_card(trace):
    """Fills the card as a training run does: with tensors in segments and in an expandable segment, cuBLAS, NCCL,
    graphs, a pool of the driver, and a module."""
    trace.module(0x11, 16 * GIB - CONTEXT, 16 * GIB - CONTEXT - 6 * MIB)
    segment = trace.alloc(2 * GIB, stack=frames(trace, "libcudart", "libc10_cuda"))
    trace.alloc(512 * MIB, "vmm", address=0xABC, stack=frames(trace, "libcuda", "libc10_cuda"))
    trace.map(0xABC, 0x600000000000, 512 * MIB)
    trace.alloc(64 * MIB, stack=frames(trace, "libcudart", "libcublas"))
    trace.alloc(3 * MIB, stack=frames(trace, "libcudart", "libnccl"))
    trace.graph_usage(10 * MIB, 32 * MIB)
    trace.event("pool-create", "async", object=0xF00, device=0)
    trace.alloc(8 * MIB, "async", object=0xF00, stack=frames(trace, "libcudart", "train"))
    trace.pool_usage(0xF00, 8 * MIB, 40 * MIB, memory="async")
    trace.tensor(segment, GIB)
    trace.tensor(0x600000000000, 256 * MIB)


def test_every_byte_of_a_full_card_has_one_owner(trace):
    fill_card(trace)
    moment = moment_of(trace)
    assert {(term["owner"], term["name"]): term["bytes"] for term in moment["terms"]} == {
        ("pool_live", "pytorch"): GIB + 256 * MIB,
        ("pool_cached", "pytorch"): GIB + 256 * MIB,
        ("library", "cuBLAS"): 64 * MIB,
        ("library", "NCCL"): 3 * MIB,
        ("graphs", None): 10 * MIB,
        ("graphs_idle", None): 22 * MIB,
        ("program", None): 8 * MIB,
        ("mempools", None): 32 * MIB,
        ("rounding", None): MIB,
        ("modules", None): 6 * MIB,
        ("context", None): CONTEXT,
    }
    assert moment["used_bytes"] == sum(term["bytes"] for term in moment["terms"]) + moment["unaccounted_bytes"]
    assert {term["owner"]: term["source"] for term in moment["terms"]} == {
        "pool_live": "counted", "pool_cached": "counted", "library": "counted", "graphs": "counted", "program": "counted",
        "graphs_idle": "counted", "mempools": "counted", "rounding": "assumed", "modules": "difference", "context": "difference",
    }  # fmt: skip


def test_the_answer_names_what_is_in_use_and_its_largest_owners(trace):
    trace.alloc(4 * GIB, stack=frames(trace, "libcudart", "libcublas"))
    assert load_json("ledger", trace.write())["answer"] == [
        "On device 0 4.29 GiB of 16.00 GiB is in use at the peak of the driver's memory.",
        "4.00 GiB cuBLAS, 300.00 MiB context and other processes.",
    ]


def test_growth_outside_of_recorded_calls_is_named_as_what_it_may_be(trace):
    trace.alloc(4 * GIB)
    trace.device_memory(16 * GIB - 4 * GIB - CONTEXT - 700 * MIB, 16 * GIB)
    moment = moment_of(trace, "--at=end")
    assert (moment["used_bytes"], moment["unaccounted_bytes"]) == (4 * GIB + CONTEXT + 700 * MIB, 0)
    assert terms_of(trace, "--at=end")["growth", None] == 700 * MIB
    assert "700.00 MiB this context's growth or other processes" in texts_of(load_json("ledger", trace.path, "--at=end"), "who")


def test_what_others_gave_back_since_the_first_look_makes_the_context_smaller(trace):
    trace.alloc(GIB)
    trace.device_memory(16 * GIB - GIB - 100 * MIB, 16 * GIB)
    moment = moment_of(trace, "--at=end")
    assert moment["unaccounted_bytes"] == 0
    assert [term["bytes"] for term in moment["terms"] if term["owner"] == "context"] == [100 * MIB]


def test_a_card_that_nobody_asked_has_an_unknown_use(trace):
    trace.rows["device"] = []
    trace.alloc(GIB)
    moment = moment_of(trace)
    assert moment["used_bytes"] is moment["unaccounted_bytes"] is moment["used_source"] is None
    assert moment["process_bytes"] == GIB


def test_managed_and_imported_memory_is_in_no_term(trace):
    trace.alloc(4 * MIB)
    trace.alloc(6 * MIB, "managed")
    trace.alloc(10 * MIB, "imported")
    moment = moment_of(trace, "--at=end")
    assert (moment["managed_bytes"], moment["imported_bytes"]) == (6 * MIB, 10 * MIB)
    assert moment["process_bytes"] == 4 * MIB


def test_the_peak_is_when_the_card_was_fullest_and_the_pool_had_handed_out_most(trace):
    segment = trace.alloc(20 * MIB)
    for piece in range(3):
        trace.tensor(segment + piece * 4 * MIB, 4 * MIB)
    trace.tensor_free(segment)
    assert terms_of(trace)["pool_live", "pytorch"] == 12 * MIB


def test_the_ledger_stands_at_the_peak_at_the_last_failure_and_at_the_end(trace):
    trace.alloc(4 * MIB)
    trace.fail(1 << 40)
    trace.fail(1 << 41)
    (device,) = load_json("ledger", trace.write())["devices"]
    assert [moment["at"] for moment in device["moments"]] == ["peak", "oom:2", "end"]
    (ledger,) = load_json("report", trace.path)["ledger"]
    assert ledger["moments"] == device["moments"]


def test_a_report_says_what_nvidia_smi_shows_and_what_of_it_is_assumed(trace):
    trace.rows["device"] = [(0, None, None, 16 * GIB, 3 * GIB)]
    trace.alloc(2 * GIB, stack=frames(trace, "libcudart", "libcublas"))
    words = " ".join(run_command("report", trace.write()).stdout.split())
    assert (
        "nvidia-smi shows about 3.00 GiB of this process at the peak of the driver's memory: 0 B in pools of frameworks, "
        "2.00 GiB taken from the driver by libraries and the program, 1.00 GiB of context and modules (assumed:"
    ) in words


def moments_of(path):
    return [moment for device in load_json("ledger", path)["devices"] for moment in device["moments"]]


def fill_more_than_the_card(trace, looked):
    """The pools have given memory back since they reported their size. If nobody looked at the card later, the first
    look counted memory of the process for the context."""
    trace.rows["device"] = [(0, None, None, 4 * GIB, 3 * GIB)]
    trace.graph_usage(GIB, 2 * GIB)
    trace.pool_usage(0xF00, 0, 3 * GIB, memory="async")
    trace.alloc(100)
    if looked:
        trace.device_memory(2 * GIB, 4 * GIB)


@pytest.mark.parametrize("name", [*MADE, "stale", "unseen"])
def test_the_owners_of_a_card_never_hold_more_than_its_memory_in_use(tmp_path, name):
    fill, meta = MADE.get(name, (lambda trace: fill_more_than_the_card(trace, name == "stale"), {}))
    trace = Trace(tmp_path / "trace.db", **meta)
    fill(trace)
    for moment in moments_of(trace.write()):
        held, used = sum(term["bytes"] for term in moment["terms"]), moment["used_bytes"]
        assert used is None or held + moment["unaccounted_bytes"] == used and moment["unaccounted_bytes"] >= 0
        assert None in (used, moment["total_bytes"]) or used <= moment["total_bytes"]


# --- the simulator's own accounts ---


@pytest.mark.parametrize("spec", ["16GiB", "16GiB,others=3GiB", "16GiB,others=3GiB,context=300MiB", "16GiB,context=0"])
def test_in_a_dry_run_the_ledger_is_the_cards_own_figure_and_nothing_is_unaccounted(record, program, spec):
    recording = record(program("card_in_use"), spec=spec)
    told = dict(line.split() for line in recording.completed.stdout.splitlines())
    (device,) = load_json("ledger", recording.trace)["devices"]
    for moment in device["moments"]:
        assert moment["used_bytes"] == int(told[moment["at"].replace("oom:1", "failure")]), moment["at"]
        assert moment["unaccounted_bytes"] == 0
        assert sum(term["bytes"] for term in moment["terms"]) == moment["used_bytes"]
