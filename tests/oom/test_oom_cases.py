# SPDX-License-Identifier: MIT
"""Hand-made traces that run out of memory for a known cause. The verdict must be the one that a person who knows the
cause would give; each docstring derives it. The card has 16 GiB, and its context takes 300 MiB. In each case the terms
of the sum add up to the memory of the card."""
import pytest

from support.run import load_json, run_command, sentences_of, texts_of
from support.tracefile import MIB, Trace

GIB = 1 << 30
CARD, CONTEXT = 16 * GIB, 300 * MIB


class Case:
    """A process on the card, as the recorder sees it. Inside each refused call is the driver's own answer."""

    def __init__(self, path, others=0, context=CONTEXT, name="Card", **meta):
        self.trace = Trace(path, **meta)
        self.trace.rows["device"].append((0, "GPU-1", name, CARD, context))
        self.free, self.calls = CARD - CONTEXT - others, 1
        self.sizes = {}

    def malloc(self, size, memory="linear", **columns):
        address = self.trace.alloc(size, memory, **columns)
        self.sizes[address] = size
        self.free -= size
        return address

    def release(self, address, **columns):
        self.trace.free(address, **columns)
        self.free += self.sizes.pop(address)

    def refused(self, size, memory="linear", free=None, **columns):
        self.calls += 1
        self.trace.device_memory(self.free if free is None else free, CARD, call=self.calls, nested=1)
        self.trace.fail(size, memory, call=self.calls, **columns)

    def out_of_memory(self, size, stream=0, **columns):
        """Two requests of PyTorch are refused. After that, PyTorch raises its exception."""
        for _ in range(2):
            self.refused(size, **columns)
        self.trace.fail(size, "tensor", stream=stream, **columns)

    def answer(self):
        found = load_json("oom", self.trace.write())
        for oom in found["oom"]:
            assert sum(term["bytes"] for term in oom["sum"]) in (0, CARD)
            assert {term["source"] for term in oom["sum"]} <= {"counted", "NVML", "difference", "assumed"}
        return found

    def only(self):
        (oom,) = self.answer()["oom"]
        return oom


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path / "trace.db", exit_status=1)


@pytest.fixture
def make(tmp_path):
    return lambda **how: Case(tmp_path / "trace.db", **how)


def terms(oom):
    return {term["term"]: term["bytes"] for term in oom["sum"]}


# --- the card, the pool, and who else holds it ---


def test_a_training_that_fills_the_card_exhausts_it(case):
    """15 GiB of tensors and the context leave 724 MiB. No memory is idle, and no other process uses the card. PyTorch
    raised an exception, and the program ended with status 1."""
    case.trace.tensor(case.malloc(15 * GIB), 15 * GIB)
    case.out_of_memory(GIB)
    oom = case.only()
    assert (oom["verdict"], oom["kind"]) == ("exhausted", "fatal")
    assert terms(oom) == {"live": 15 * GIB, "context": CONTEXT, "free": GIB - CONTEXT}


def test_holes_that_small_tensors_pin_are_fragmentation(case):
    """Each of seven segments of 2 GiB has 2 MiB live in the middle. The holes have 14 GiB in all, but none is larger
    than 1 GiB. The request of 3 GiB fits in no hole, and no segment can be freed."""
    for _ in range(7):
        case.trace.tensor(case.malloc(2 * GIB) + GIB, 2 * MIB)
    case.out_of_memory(3 * GIB)
    oom = case.only()
    assert (oom["verdict"], oom["kind"]) == ("fragmented", "fatal")
    assert terms(oom)["idle"] == 14 * GIB - 14 * MIB


def test_a_library_that_fails_for_8_mib_beside_58_gib_of_cache_is_the_cache(case):
    """cublasCreate asks the driver, which has 6 MiB free. PyTorch keeps 5.8 GiB, which only its own tensors can use."""
    live = CARD - CONTEXT - 6 * MIB - 5939 * MIB
    case.trace.tensor(case.malloc(live), live)
    idle = case.malloc(5939 * MIB)
    case.trace.tensor(idle, GIB)
    case.trace.tensor_free(idle)
    case.refused(8 * MIB)
    oom = case.only()
    assert (oom["layer"], oom["verdict"]) == ("driver", "cached")
    assert oom["idle_bytes"] == 5939 * MIB


def test_ten_gib_of_own_cudamalloc_are_held_outside_the_framework(case):
    """5 GiB of tensors do not fill 16 GiB. The program took 10 GiB outside of PyTorch."""
    case.malloc(10 * GIB)
    case.trace.tensor(case.malloc(5 * GIB), 5 * GIB)
    case.out_of_memory(GIB)
    oom = case.only()
    assert (oom["verdict"], oom["outside_bytes"]) == ("outside", 10 * GIB)


def test_the_line_that_holds_most_outside_the_framework_is_named_listed_and_shown_next(case):
    """Outside of PyTorch, one line took 1 GiB eleven times, and another line took 1 GiB once. Tensors have 3 GiB."""
    init = case.trace.stack(("render.py", 8, "renderer_init"))
    other = case.trace.stack(("fonts.py", 3, "load_fonts"))
    for _ in range(11):
        case.malloc(GIB, stack=init)
    case.malloc(GIB, stack=other)
    case.trace.tensor(case.malloc(3 * GIB), 3 * GIB)
    case.out_of_memory(GIB)
    found = case.answer()
    assert "own calls held 12.00 GiB, most by render.py:8 renderer_init (11.00 GiB)" in texts_of(found, "why")
    assert found["next"].split()[1:4] == ["peak", "--layer=driver", "--at=oom:1"]
    (oom,) = found["oom"]
    assert [(row["site"], row["bytes"]) for row in oom["outside_sites"]] == [
        ("render.py:8 renderer_init", 11 * GIB), ("fonts.py:3 load_fonts", GIB)]  # fmt: skip
    assert oom["graph_sites"] == [] and [row["bytes"] for row in oom["sites"]] == [3 * GIB]
    text = run_command("oom", case.trace.path).stdout
    table = text[text.index("Memory outside the framework at the last failure"):]
    assert "render.py:8 renderer_init" in table


def test_a_little_of_a_library_beside_a_full_pool_is_no_reason(case):
    """When 1 GiB is requested, NCCL holds 1 GiB and PyTorch has 14 GiB of live tensors. Therefore it is the tensors
    that fill the card."""
    case.malloc(GIB)
    case.trace.tensor(case.malloc(14 * GIB), 14 * GIB)
    case.out_of_memory(GIB)
    assert case.only()["verdict"] == "exhausted"


def test_a_neighbour_that_came_later_is_other_processes(make):
    """This process has 8 GiB. Another 7.7 GiB are in use, and no context grows by that much."""
    case = make(others=7 * GIB + 700 * MIB, exit_status=1)
    case.trace.tensor(case.malloc(8 * GIB), 8 * GIB)
    case.out_of_memory(GIB)
    oom = case.only()
    assert (oom["verdict"], terms(oom)["growth_or_others"]) == ("others", 7 * GIB + 700 * MIB)


def test_a_neighbour_that_was_there_before_is_other_processes_but_for_a_context(make):
    """The first sample found 6 GiB and 300 MiB in use. No context is larger than 1 GiB, so the verdict takes the rest
    for memory of other processes."""
    case = make(others=6 * GIB, context=6 * GIB + CONTEXT, exit_status=1)
    case.trace.tensor(case.malloc(9 * GIB), 9 * GIB)
    case.out_of_memory(2 * GIB)
    oom = case.only()
    assert oom["verdict"] == "others"
    assert terms(oom)["others"] == 6 * GIB + CONTEXT - GIB
    assert {term["source"] for term in oom["sum"] if term["term"] in ("context", "others")} == {"assumed"}


def test_what_a_neighbour_gave_back_since_the_first_look_is_no_negative_owner(make):
    """The first sample found 3 GiB of other processes. When 15 GiB more were refused, these processes had freed 1 GiB
    of it."""
    case = make(others=GIB + 700 * MIB, context=3 * GIB, exit_status=1)
    case.trace.tensor(case.malloc(9 * GIB), 9 * GIB)
    case.out_of_memory(15 * GIB)
    oom = case.only()
    assert all(term["bytes"] >= 0 for term in oom["sum"])
    assert terms(oom)["context"] + terms(oom)["others"] == 2 * GIB - 24 * MIB
    (moment,) = load_json("ledger", "--at=oom:1", case.trace.path)["devices"][0]["moments"]
    assert moment["unaccounted_bytes"] == 0


def test_without_nvml_nobody_is_flatly_called_another_process(make):
    """At the first sample, the memory in use was 6 GiB more than any context has. The trace does not say which process
    holds this memory."""
    case = make(others=6 * GIB, context=6 * GIB + CONTEXT, exit_status=1)
    case.trace.tensor(case.malloc(9 * GIB), 9 * GIB)
    case.out_of_memory(2 * GIB)
    why = texts_of(case.answer(), "why")
    assert why.startswith("Held by this context or other processes: the card had ")
    assert ", and this process" in why and "no NVML sample" in why


# --- limits ---


def test_a_memory_fraction_refuses_without_asking_the_driver(case):
    """Half of the card is free. PyTorch raised an exception although the driver refused nothing."""
    case.trace.tensor(case.malloc(8 * GIB), 8 * GIB)
    case.trace.device_memory(case.free, CARD)
    case.trace.fail(GIB, "tensor")
    assert case.only()["verdict"] == "limit"


def test_the_remedy_of_a_memory_fraction_is_a_larger_one(case):
    """PyTorch's limit is half of the card of 16 GiB, and its pool holds 7.5 GiB."""
    case.trace.tensor(case.malloc(15 * GIB // 2), 15 * GIB // 2)
    case.trace.device_memory(case.free, CARD)
    case.trace.fail(GIB, "tensor")
    case.trace.event("pool-limit", size=8 * GIB, address=GIB // 100 + 1, device=0)
    case.only()
    page = load_json("oom", case.trace.path)
    assert [row["text"] for row in page["verdict"] if row["role"] == "do"] == [
        "Raise the limit to at least 8.50 GiB, 0.54 of the card, which had that much free."]  # fmt: skip


def test_a_memory_fraction_that_has_room_in_pieces_is_named_beside_them(case):
    """PyTorch's limit is 8 GiB. 2 GiB within this limit are idle, in pieces of 1 GiB. Half of the card is free."""
    for segment in [case.malloc(4 * GIB) for _ in range(2)]:
        case.trace.tensor(segment, 3 * GIB)
    case.trace.device_memory(case.free, CARD)
    case.trace.fail(2 * GIB, "tensor")
    case.trace.event("pool-limit", size=8 * GIB, address=GIB // 100 + 1, device=0)
    oom = case.only()
    assert (oom["verdict"], oom["limit_bytes"]) == ("fragmented", 8 * GIB)
    assert "the largest piece 1.00 GiB; the framework's limit is 8.00 GiB, 0.5 of the card" in oom["explanation"]


def test_a_mempool_at_its_maximum_refuses_though_the_card_has_room(case):
    """cudaMallocAsync takes memory from a pool with a maxSize. Inside the refused call, 12 GiB of the card are free."""
    case.malloc(3 * GIB, "async", object=0x77)
    case.refused(GIB, "async", object=0x77)
    assert case.only()["verdict"] == "limit"


@pytest.mark.parametrize("idle, verdict, says", [
    (2 * GIB, "fragmented", "2.00 GiB of the process's memory lay idle, in pieces that were too small"),
    (GIB // 2, "exhausted", ""),  # this is too small a part of the 15 GiB to be fragmentation
])  # fmt: skip
def test_of_a_pool_of_the_drivers_only_the_sum_is_known(case, idle, verdict, says):
    """If one piece had been large enough for the request, cudaMallocAsync would have used that piece."""
    held = case.free - idle - 100 * MIB
    case.malloc(held, "async", object=0x77)
    case.trace.pool_usage(0x77, held, held + idle)
    case.free -= idle
    case.refused(GIB // 4, "async", object=0x77)
    oom = case.only()
    assert (oom["verdict"], oom["largest_hole_bytes"]) == (verdict, None)
    assert says in " ".join(oom["explanation"].split())


IN_POOLS, IN_GRAPHS = "lay idle in the driver's stream-ordered pools", "lay idle in the device's graph pool"
TRIMS, GRAPHS_TRIM = "cudaMemPoolTrimTo", "cudaDeviceGraphMemTrim"


@pytest.mark.parametrize(
    "memory, pools, graphs, verdict, why, remedies",
    [
        ("linear", 11, 0, "cached", [IN_POOLS], [TRIMS]),
        ("linear", 0, 11, "cached", [IN_GRAPHS], [GRAPHS_TRIM]),
        ("linear", 3, 3, "cached", [IN_POOLS, IN_GRAPHS], [TRIMS, GRAPHS_TRIM]),
        ("async", 0, 11, "cached", [IN_GRAPHS], [GRAPHS_TRIM]),
        ("async", 11, 0, "fragmented", [], []),  # the pool that was asked has it in pieces
        ("tensor", 0, 11, "cached", [IN_GRAPHS], [GRAPHS_TRIM]),
        ("linear", 0, 1, "exhausted", [IN_GRAPHS], []),  # too little
        ("linear", 5.0625, 0.125, "cached", [IN_POOLS, IN_GRAPHS], [TRIMS, GRAPHS_TRIM]),  # neither without the other
        ("linear", 0, 0, "exhausted", [], []),
    ],
)
def test_idle_memory_that_the_call_cannot_take_is_named_with_the_call_that_gives_it_back(
    case, memory, pools, graphs, verdict, why, remedies
):
    """6 GiB are asked for, and 1 GiB is free. The driver's pools have no live block but keep memory."""
    case.free -= int((pools + graphs) * GIB)
    live = case.malloc(case.free - GIB)
    if memory == "tensor":
        case.trace.tensor(live, case.sizes[live])
    case.trace.event("pool-create", object=0x77, device=0)
    case.trace.pool_usage(0x77, 0, int(pools * GIB))
    case.trace.graph_usage(0, int(graphs * GIB))
    case.out_of_memory(6 * GIB) if memory == "tensor" else case.refused(6 * GIB, memory)
    found = case.answer()
    assert found["oom"][0]["verdict"] == verdict
    assert [words for words in (IN_POOLS, IN_GRAPHS) if words in texts_of(found, "why")] == why
    assert [call for call in (TRIMS, GRAPHS_TRIM) if call in texts_of(found, "do")] == remedies


def test_idle_memory_of_another_stream_ordered_pool_is_out_of_reach(case):
    """One pool keeps 11 GiB, and 6 GiB are asked of another one."""
    case.free -= 11 * GIB
    case.malloc(case.free - GIB)
    case.trace.event("pool-create", object=0x77, device=0)
    case.trace.pool_usage(0x77, 0, 11 * GIB)
    case.refused(6 * GIB, "async", object=0x78)
    assert case.only()["verdict"] == "cached"


def test_memory_that_a_pool_gave_back_since_its_report_is_not_idle(case):
    """The pool reported 3 GiB, but the card has so much free that the pool cannot hold them any longer."""
    case.trace.event("pool-create", object=0x77, device=0)
    case.trace.pool_usage(0x77, 0, 3 * GIB)
    case.malloc(13 * GIB)
    case.refused(4 * GIB)
    oom = case.only()
    assert (oom["verdict"], oom["idle_bytes"], terms(oom).get("idle")) == ("exhausted", 0, None)


@pytest.mark.parametrize("number, gib, name", [(0, 9, "cudaLimitStackSize"), (2, 9, "cudaLimitMallocHeapSize"), (0, 1, None)])
def test_a_limit_that_took_what_the_request_needs_is_named_with_the_line_that_set_it(case, number, gib, name):
    """2 GiB are asked for, and 1 GiB is free. A limit that took only as much as a context may grow by is no cause."""
    line = case.trace.stack(("tree.py", 31, "build"))
    case.trace.limit(number, 40960, case.free, case.free - gib * GIB, total=CARD, stack=line)
    case.free -= gib * GIB
    case.malloc(case.free - GIB + (GIB // 2 if name is None else 0))
    case.refused(2 * GIB)
    found = case.answer()
    assert found["oom"][0]["verdict"] == "exhausted"
    assert (f"The context took 9.00 GiB for {name}, which tree.py:31 build set." in texts_of(found, "who")) == (name is not None)
    assert ("cudaDeviceSetLimit" in texts_of(found, "do")) == (name is not None)


def test_a_limit_whose_memory_nobody_measured_is_named_as_what_may_hold_it(make):
    """The call that set the limit made the context, so there is no sample before it. 9 GiB are in use beside the
    process's memory. No other process is known."""
    case = make(others=9 * GIB - CONTEXT, context=9 * GIB, exit_status=1)
    case.trace.device_memory(case.free, CARD, call=1, nested=1)
    case.trace.event("limit", address=0, size=40960, object=0xC0, call=1, device=0, stack=case.trace.stack(("tree.py", 31, "build")))
    case.malloc(6 * GIB)
    case.refused(2 * GIB)
    found = case.answer()
    assert found["oom"][0]["verdict"] == "others" and terms(found["oom"][0])["context"] == 9 * GIB
    assert "The context may hold this memory for cudaLimitStackSize, which tree.py:31 build set." in texts_of(found, "who")


def test_a_launch_of_a_graph_is_said_to_name_no_size(case):
    case.malloc(15 * GIB)
    case.refused(0, "graph")
    found = case.answer()
    assert "launched a CUDA graph" in texts_of(found, "what") and "0 B" not in " ".join(found["answer"])
    assert found["oom"][0]["verdict"] == "exhausted"


def test_a_full_mig_slice_is_a_limit(make):
    """The process filled its MIG slice, which is smaller than the card."""
    case = make(name="NVIDIA A100-SXM4-80GB MIG 2g.16gb", exit_status=1)
    case.trace.tensor(case.malloc(15 * GIB), 15 * GIB)
    case.out_of_memory(GIB)
    assert case.only()["verdict"] == "limit"


# --- no failures, and failures that the program survived ---


def test_ten_gib_asked_beside_nine_cached_and_served_are_a_retry(case):
    """The driver refuses 10 GiB, PyTorch frees 9 GiB of its cache, and the driver serves 10 GiB. This is one retry and
    no failure."""
    cached = [case.malloc(GIB) for _ in range(9)]
    for segment in cached:
        case.trace.tensor(segment, GIB)
        case.trace.tensor_free(segment)
    case.refused(10 * GIB)
    for segment in cached:
        case.release(segment)
    case.trace.tensor(case.malloc(10 * GIB), 10 * GIB)
    found = case.answer()
    (retry,) = found["retries"]
    assert found["oom"] == [] and "No allocation failed" in found["answer"][0]
    assert (retry["retries_count"], retry["asked_bytes"], retry["flushed_bytes"]) == (1, 10 * GIB, 9 * GIB)


def test_memory_asked_for_in_another_way_and_served_is_no_failure(case):
    """PyTorch on an H100 asks cuMemCreate for memory with a handle that other machines can map, and gets error 800. It
    asks again at once, without that property of the handle."""
    case.trace.fail(20 * MIB, "vmm", result=800)
    case.trace.alloc(20 * MIB, "vmm", 0x90)
    case.trace.map(0x90, 0x3_0000_0000_0000, 20 * MIB)
    case.trace.tensor(0x3_0000_0000_0000, MIB)
    found = case.answer()
    assert found["oom"] == [] and found["retries"] == []


@pytest.mark.parametrize("then", ["nothing", "another size", "a tensor"])
def test_another_error_is_a_failure_unless_the_same_is_served_next(case, then):
    case.trace.fail(20 * MIB, "vmm", result=800)
    if then == "another size":
        case.trace.alloc(2 * MIB, "vmm", 0x90)
    elif then == "a tensor":
        case.trace.tensor(case.malloc(2 * MIB), MIB)
        case.trace.alloc(20 * MIB, "vmm", 0x91)
    oom = case.only()
    assert oom["verdict"] == "unknown" and "the call returned 800" in oom["explanation"]


# Frames of a convolution, innermost first. The first list has the frames of its workspace in a build that has the names
# of static functions; the second has them in a build without these names. The third has the frames of the convolution's
# result.
@pytest.mark.parametrize("functions, done_without", [
    (["at::native::run_conv_plan", "at::native::cudnn_convolution"], 2),
    (["at::native::cudnn_convolution", "at::_ops::cudnn_convolution::call"], 2),
    (["at::detail::empty_cuda", "at::native::cudnn_convolution"], 0),
])  # fmt: skip
def test_a_workspace_that_pytorch_does_without_is_no_failure(functions, done_without, case):
    """Two plans of the convolution are refused their workspace. The third plan needs no workspace, and the next
    operator allocates."""
    frames = [0x5000 + number for number in range(len(functions))]
    for address, function in zip(frames, functions):
        case.trace.name(address, (None, None, function))
    asks = case.trace.stack(0x4000, *frames, ("train.py", 8, "main"))
    case.malloc(15 * GIB)
    for size in (GIB, GIB // 2):
        case.out_of_memory(size, stack=asks)
    case.trace.tensor(case.malloc(32 * MIB), 32 * MIB)
    found = case.answer()
    assert len(found["oom"]) == 2 - done_without
    assert sum(site["done_without_count"] for site in found["retries"]) == done_without
    assert not any(site["retries_count"] for site in found["retries"])
    assert ("ran without 2 cuDNN workspaces" in " ".join(sentences_of(found))) == bool(done_without)


def test_a_workspace_after_which_the_program_died_is_what_it_died_of(case):
    """No plan is left. PyTorch reports in this case that it found no engine, not that memory ran out."""
    case.trace.name(0x5000, (None, None, "at::native::run_conv_plan"))
    case.malloc(15 * GIB)
    case.out_of_memory(GIB, stack=case.trace.stack(0x5000, ("train.py", 8, "main")))
    assert case.only()["kind"] == "fatal"


def test_an_expandable_segment_that_grows_after_a_flush_is_a_retry(case):
    """cuMemCreate refuses a piece of 20 MiB. After PyTorch frees its cache, the pieces are mapped and hold the
    tensor."""
    piece, handle, base = 20 * MIB, 0x90, 0x3_0000_0000_0000
    old = case.malloc(15 * GIB)
    case.trace.tensor(old, GIB)
    case.trace.tensor_free(old)
    case.refused(piece, "vmm")
    case.release(old)
    for number in range(3):
        case.trace.alloc(piece, "vmm", handle + number)
        case.trace.map(handle + number, base + number * piece, piece)
    case.trace.tensor(base, 3 * piece)
    found = case.answer()
    assert found["oom"] == [] and [retry["retries_count"] for retry in found["retries"]] == [1]


def test_a_batch_that_is_halved_and_tried_again_was_caught(make):
    """The program caught the exception and went on, although it ended with status 1 later."""
    case = make(exit_status=1)
    batch = case.malloc(12 * GIB)
    case.trace.tensor(batch, 12 * GIB)
    case.out_of_memory(6 * GIB)
    case.trace.tensor_free(batch)
    case.trace.tensor(batch, 6 * GIB)
    oom = case.only()
    assert (oom["verdict"], oom["kind"], oom["refusals_count"]) == ("exhausted", "caught", 3)


# --- free memory that the request could not use ---


def test_what_a_cuda_graph_keeps_is_neither_idle_nor_fragmented(case):
    """8 GiB are free in the private pool of a graph that still exists, so that the main pool cannot use them. Together
    with 7 GiB of tensors, they fill the card."""
    case.trace.tensor(case.malloc(7 * GIB), 7 * GIB)
    case.trace.event("capture-begin", stream=7, device=0)
    private = case.malloc(8 * GIB)
    case.trace.tensor(private, 8 * GIB, stream=7)
    case.trace.event("capture-end", stream=7, object=0x61, device=0)
    case.trace.tensor_free(private)
    case.out_of_memory(2 * GIB)
    oom = case.only()
    assert (oom["verdict"], oom["idle_bytes"], oom["graph_bytes"]) == ("exhausted", 0, 8 * GIB)
    assert terms(oom)["graphs"] == 8 * GIB and "idle" not in terms(oom)
    assert "the private pool of CUDA graphs holds 8.00 GiB, until the graphs are reset" in oom["explanation"]
    assert "one pool for all" not in oom["explanation"]


def test_graphs_with_a_pool_each_are_named_by_the_line_that_captured_them(case):
    """Three captures took 5 GiB each for their pools. The only live tensor has 1 MiB. The answer names the bytes of the
    graphs once, with the line that captured the graphs and a way to need less memory. It blames no tensor."""
    capture = case.trace.stack(("graphs.py", 7, "capture"))
    case.trace.tensor(case.malloc(MIB), MIB, stack=case.trace.stack(("graphs.py", 2, "weights")))
    for number in range(3):
        case.trace.event("capture-begin", stream=7, device=0)
        private = case.malloc(5 * GIB, stack=capture)
        case.trace.tensor(private, 5 * GIB, stream=7)
        case.trace.event("capture-end", stream=7, object=0x61 + number, device=0)
        case.trace.tensor_free(private)
    case.out_of_memory(2 * GIB)
    found = case.answer()
    why = texts_of(found, "why")
    assert "3 private pools of CUDA graphs hold 15.00 GiB, most by graphs.py:7 capture (15.00 GiB)" in why
    assert "one pool for all of them (torch.cuda.graph(g, pool=...)), or a reset() of graphs" in why
    assert not any("more is free" in text or "most by graphs.py:2" in text for text in found["answer"])
    assert found["next"].split()[1:4] == ["peak", "--layer=driver", "--at=oom:1"]
    assert [(row["site"], row["bytes"]) for row in found["oom"][0]["graph_sites"]] == [("graphs.py:7 capture", 15 * GIB)]


def test_a_hole_of_another_stream_is_cached_where_it_cannot_be_reached(case):
    """A hole of 5 GiB is large enough for the request of 4 GiB. But PyTorch keeps this hole for stream 7, and the
    request is for stream 0. A tensor of stream 7 pins the segment."""
    case.trace.tensor(case.malloc(9 * GIB), 9 * GIB, stream=0)
    segment = case.malloc(6 * GIB)
    case.trace.tensor(segment + 5 * GIB, GIB, stream=7)
    case.out_of_memory(4 * GIB, stream=0)
    oom = case.only()
    assert (oom["verdict"], oom["other_stream_bytes"]) == ("cached", 5 * GIB)
    assert "other streams" in oom["explanation"]


# --- causes that the trace cannot tell ---


def test_without_an_answer_of_the_card_nobody_can_tell(tmp_path):
    """1 GiB is held and 1 GiB was refused. The trace has no sample that tells the size of the card or its free
    memory."""
    trace = Trace(tmp_path / "bare.db")
    trace.alloc(GIB)
    trace.fail(GIB)
    (oom,) = load_json("oom", trace.write())["oom"]
    assert (oom["verdict"], oom["kind"], oom["sum"]) == ("unknown", "unknown", [])


def test_an_error_of_an_earlier_kernel_is_no_lack_of_memory(case):
    """cudaMalloc returned 700, which is the error of an earlier kernel. The card is nearly empty."""
    case.refused(GIB, result=700)
    oom = case.only()
    assert oom["verdict"] == "unknown" and "illegal address" in oom["explanation"]


def test_refused_pinned_memory_is_the_hosts(case):
    """The trace is about a card. It does not tell why the host refused pinned memory."""
    case.refused(4 * GIB, "pinned")
    assert case.only()["verdict"] == "unknown"


def test_an_old_answer_with_room_does_not_make_a_limit(case):
    """The card had 12 GiB free before a capture, during which cuMemGetInfo is not allowed. The trace does not tell
    which process took that memory since then."""
    case.trace.device_memory(12 * GIB, CARD)
    case.trace.tensor(case.malloc(GIB), GIB)
    case.trace.fail(2 * GIB)
    case.trace.fail(2 * GIB, "tensor")
    oom = case.only()
    assert oom["verdict"] == "unknown" and "is older than the refused call" in oom["explanation"]


def test_700_mib_that_a_context_may_grow_by_are_anybodys(make):
    """600 MiB were requested. 700 MiB that are in use are not in the trace. They may be kernels that this context
    loaded, or belong to another process."""
    case = make(others=700 * MIB, exit_status=1)
    held = CARD - CONTEXT - 700 * MIB - 10 * MIB
    case.trace.tensor(case.malloc(held), held)
    case.out_of_memory(600 * MIB)
    oom = case.only()
    assert (oom["verdict"], terms(oom)["growth_or_others"]) == ("unknown", 700 * MIB)


def test_managed_memory_may_be_what_fills_the_card(make):
    """6 GiB of managed memory may be on the card or on the host. 6 GiB that are in use on the card are not in the
    trace."""
    case = make(others=6 * GIB, exit_status=1)
    case.trace.alloc(6 * GIB, "managed")
    case.trace.tensor(case.malloc(9 * GIB), 9 * GIB)
    case.out_of_memory(2 * GIB)
    assert case.only()["verdict"] == "unknown"


def test_events_that_were_lost_may_be_what_fills_the_card(make):
    """6 GiB that are in use are not in the trace, which lost events. They may belong to this process."""
    case = make(others=6 * GIB, complete=0, lost_events=12)
    case.trace.tensor(case.malloc(9 * GIB), 9 * GIB)
    case.out_of_memory(2 * GIB)
    assert case.only()["verdict"] == "unknown"


@pytest.mark.parametrize("left, status, said", [(8 * MIB, 1, True), (8 * MIB, 0, False), (64 * MIB, 1, False)])
def test_a_run_that_fails_on_a_full_card_without_a_failed_allocation_is_no_riddle(tmp_path, left, status, said):
    # The free memory of the card is less than the 64 MiB that the code of a kernel takes, and the program exited with
    # an error.
    case = Case(tmp_path / "trace.db", exit_status=status)
    case.malloc(CARD - CONTEXT - left - GIB)
    case.trace.device_memory(left + GIB, CARD)
    case.malloc(GIB)
    words = f"No allocation failed, but the program ended with status 1 when device 0 had {left // MIB}.00 MiB free."
    path = case.trace.write()
    for command in ("oom", "report"):
        assert load_json(command, path)["answer"][0].startswith(words) == said


def test_the_rounding_of_a_nearly_empty_process_does_not_fragment_a_request_for_the_whole_card(case):
    """A quarter of the 4 MiB reserved is idle, and would have closed the gap of 512 KiB. The request is for nearly 16 GiB."""
    case.malloc(3 * MIB)
    case.refused(case.free + (MIB >> 1))
    assert case.only()["verdict"] == "exhausted"


@pytest.mark.parametrize("hole, verdict", [(8, "fragmented"), (4, "exhausted")])
def test_idle_memory_that_closes_the_gap_is_fragmentation_unless_it_is_a_trifle(case, hole, verdict):
    """Thirty segments of 20 MiB have a hole each. All holes are 1.5 % or 0.8 % of the request, and close the gap."""
    for _ in range(30):
        case.trace.tensor(case.malloc(20 * MIB), (20 - hole) * MIB)
    case.out_of_memory(case.free + 30 * hole * MIB)
    assert case.only()["verdict"] == verdict
