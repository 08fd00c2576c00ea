# SPDX-License-Identifier: MIT
"""The owners of memory at a moment: sites, categories, and the phases in which memory was allocated. Also tests the
choice of the moment."""
import pytest

from support.run import load_json, run_command, texts_of
from support.tracefile import MIB, Trace


def device_of(trace, *options):
    return load_json("peak", trace.written(), *options)["devices"][0]


def sites(trace, *options):
    return [
        (site["frames"][0]["function"] if site["frames"] else None, site["bytes"], site["count"])
        for site in device_of(trace, *options)["sites"]
    ]


def test_blocks_of_one_stack_are_one_site_and_the_largest_comes_first(trace):
    a, b = trace.stack("a", ("x.py", 1, "f")), trace.stack("b", ("x.py", 1, "f"))
    trace.alloc(10, stack=a)
    trace.alloc(25, stack=b)
    trace.alloc(10, stack=a)
    trace.alloc(6, stack=a)
    assert sites(trace) == [("a", 26, 3), ("b", 25, 1)]


def test_only_what_was_live_at_the_peak_is_listed(trace):
    a, b, c = (trace.stack(name) for name in "abc")
    trace.free(trace.alloc(10, stack=a))
    trace.alloc(20, stack=b)  # the peak
    trace.free(trace.next_address - 2 * MIB)
    trace.alloc(5, stack=c)
    assert sites(trace) == [("b", 20, 1)]


def test_frames_run_from_the_allocation_outward_with_kind_file_and_line(trace):
    stack = trace.stack("cudaMalloc", ("model.py", 12, "Linear.forward"), ("train.py", 3, "<module>"))
    trace.alloc(1, stack=stack)
    (site,) = device_of(trace)["sites"]
    assert [(f["kind"], f["function"], f["file"], f["line"]) for f in site["frames"]] == [
        ("label", "cudaMalloc", None, None),
        ("python", "Linear.forward", "model.py", 12),
        ("python", "<module>", "train.py", 3),
    ]


def test_a_native_frame_nobody_can_resolve_is_module_and_offset(trace):
    trace.rows["module"].append((1, "/no/such/libfoo.so", None, 0x10000, 0x10000, 0x20000))
    trace.alloc(1, stack=trace.stack(0x11234, 0x99999))
    (site,) = device_of(trace)["sites"]
    assert [(f["kind"], f["function"], f["module"]) for f in site["frames"]] == [
        ("native", "libfoo.so+0x1234", "/no/such/libfoo.so"), ("native", "[anonymous]+0x99999", None),
    ]  # fmt: skip


def test_the_recorders_own_frames_are_shown_to_machines_but_not_to_people(trace):
    path = "/x/libgpumemtrace.so"
    trace.rows["module"].append((1, path, None, 0x10000, 0x10000, 0x20000))
    trace.alloc(1, stack=trace.stack(0x10010, "caller"))
    assert [f["module"] for f in device_of(trace)["sites"][0]["frames"]] == [path, None]
    text = run_command("peak", trace.path).stdout
    assert "caller" in text and "libgpumemtrace" not in text


def test_an_allocation_without_a_stack_is_a_site_without_frames(trace):
    trace.alloc(1)
    assert device_of(trace)["sites"][0]["frames"] == []
    assert "no stack was taken" in run_command("peak", trace.path).stdout


def test_a_stack_that_is_not_in_the_file_counts_as_none(trace):
    trace.alloc(1, stack=4000)
    assert device_of(trace)["sites"][0]["frames"] == []


def test_a_frame_that_is_its_own_parent_does_not_hang_the_walk(trace):
    stack = trace.stack("a")
    trace.alloc(1, stack=stack)
    trace.frames = {(stack, 2, 1): stack}
    assert len(device_of(trace)["sites"][0]["frames"]) == 2048


def test_top_cuts_the_list_of_each_layer(trace):
    for name in "abc":
        trace.alloc(ord(name), stack=trace.stack(name))
    assert [name for name, *_ in sites(trace, "--top=2")] == ["c", "b"]


def test_each_layer_is_shown_at_its_own_peak_the_leading_one_first(trace):
    segment = trace.alloc(20 * MIB)
    trace.tensor(segment, 3 * MIB)
    trace.alloc(MIB)
    device = device_of(trace)
    moments = [(m["layer"], m["pool"], m["seq"], m["live_bytes"]) for m in device["moments"]]
    assert moments == [("pool", "pytorch", 2, 3 * MIB), ("driver", None, 3, 21 * MIB)]
    assert [m["layer"] for m in device_of(trace, "--layer=driver")["moments"]] == ["driver"]
    assert [m["layer"] for m in device_of(trace, "--layer=pool")["moments"]] == ["pool"]


# --- moments ---


@pytest.fixture
def moments(trace):
    """Makes these events, by seq: 1: 10 bytes live; 2: push work; 3: 30; 4: 10; 5: pop; 6: failure; 7: 50, the peak; 8:
    40."""
    first = trace.alloc(10)
    trace.push("work")
    passing = trace.alloc(20)
    trace.free(passing)
    trace.pop()
    trace.fail(999)
    trace.alloc(40)
    trace.free(first)
    trace.exit()
    trace.alloc(1000)
    trace.write()
    return trace


@pytest.mark.parametrize(
    "at, seq, live",
    [
        ("peak", 7, 50), ("end", 9, 40), ("3", 3, 30), ("4", 4, 10), ("10", 9, 40),
        ("4us", 4, 10), ("3999ns", 3, 30), ("0.003ms", 3, 30), ("10us", 9, 40),
        ("phase:work", 3, 30), ("oom:1", 6, 10),
    ],
)  # fmt: skip
def test_a_moment_is_the_state_right_after_an_event(moments, at, seq, live):
    (moment,) = device_of(moments, f"--at={at}")["moments"]
    assert (moment["seq"], moment["live_bytes"]) == (seq, live)


@pytest.mark.parametrize("at", ["0", "0.5us", "11", "10.001us", "1s"])
def test_a_moment_outside_the_trace_is_an_error_that_says_where_it_ends(moments, at):
    completed = run_command("peak", moments.path, f"--at={at}")
    assert (completed.returncode, completed.stdout) == (2, "")
    assert f"--at={at}: the trace has no such moment: its last event is number 10, at 10us;" in completed.stderr


def test_a_time_after_the_last_event_is_a_moment_while_the_program_runs(tmp_path):
    trace = Trace(tmp_path / "idle.db", end_ns=20_000)
    trace.alloc(10)
    trace.write()
    (moment,) = device_of(trace, "--at=20us")["moments"]
    assert (moment["seq"], moment["live_bytes"]) == (1, 10)
    assert run_command("peak", trace.path, "--at=20.001us").returncode == 2


@pytest.mark.parametrize(
    "at, hint", [("phase:wrok", "did you mean 'work'?"), ("phase:somewhere else", "it has 'work'")]
)
def test_a_phase_that_is_not_there_is_an_error_that_says_what_there_is(moments, at, hint):
    completed = run_command("peak", moments.path, f"--at={at}")
    assert (completed.returncode, completed.stdout) == (2, "")
    assert f"--at={at}: the trace has no phase of that name; {hint}" in completed.stderr


def test_a_phase_can_be_meant_by_path_and_entry_counts(trace):
    block = trace.alloc(100)
    with trace.phase("epoch"):
        with trace.phase("inner"):
            trace.free(block)
    (moment,) = device_of(trace, "--at=phase:epoch/inner")["moments"]
    assert (moment["seq"], moment["live_bytes"]) == (3, 100)


@pytest.mark.parametrize(
    "at", ["", "bogus", "-1", "1.5", "3 s", "nan", "infs", "1e99s", "oom:0", "oom:2", "oom:x", "phase:x"]
)
def test_a_moment_that_cannot_be_is_wrong_usage(moments, at):
    completed = run_command("peak", moments.path, f"--at={at}")
    assert completed.returncode == 2
    assert completed.stdout == ""
    assert completed.stderr.startswith(f"gpumemtrace: peak: --at={at}: ")
    assert len(completed.stderr.splitlines()) == 1


# --- categories ---


def category(trace):
    return {c["category"]: c["bytes"] for c in device_of(trace, "--at=end")["categories"]}


@pytest.mark.parametrize(
    "phase, expected",
    [
        ("init", "parameters"), ("Parameters", "parameters"), ("activations", "activations"),
        ("feedforward", "other"), ("backward", "gradients"), ("Optimizer.step#Adam", "optimizer"),
        ("data loading", "input"), ("input", "input"), ("warm up", "other"),
    ],
)  # fmt: skip
def test_what_outlives_its_phase_has_the_category_of_the_phase(trace, phase, expected):
    with trace.phase(phase):
        trace.alloc(5)
    assert category(trace) == {expected: 5}


@pytest.mark.parametrize(
    "phase, expected",
    [("forward", "temporaries"), ("backward", "temporaries"), ("optimizer", "temporaries")],
)
def test_what_dies_inside_its_phase_is_temporary(trace, phase, expected):
    with trace.phase(phase):
        block = trace.alloc(5)
        trace.free(block)
    (site,) = device_of(trace)["sites"]
    assert site["category"] == expected


def test_the_innermost_phase_that_a_rule_knows_decides(trace):
    with trace.phase("data"):
        with trace.phase("layer 7"):
            trace.alloc(1)
        with trace.phase("optimizer"):
            trace.alloc(2)
    assert category(trace) == {"input": 1, "optimizer": 2}


@pytest.mark.parametrize("name", ["forward", "train_forward", "modelForward"])
@pytest.mark.parametrize(
    "backwards, expected",
    [(0, "other"), (1, "activations"), (2, "other")],
    ids=["no backward", "into one backward", "into two"],
)  # fmt: skip
def test_memory_of_forward_is_an_activation_if_it_lives_into_one_backward(trace, name, backwards, expected):
    with trace.phase(name):
        block = trace.alloc(5)
    for _ in range(backwards):
        with trace.phase("backward"):
            with trace.phase("backward of layer 1"):
                pass
    trace.free(block)
    (site,) = device_of(trace)["sites"]
    assert site["category"] == expected


def test_an_activation_of_an_earlier_round_does_not_make_later_temporaries_activations(trace):
    with trace.phase("forward"):
        trace.alloc(5)
    with trace.phase("backward"):
        pass
    with trace.phase("forward"):
        trace.free(trace.alloc(7))
    assert {c["category"]: c["bytes"] for c in device_of(trace)["categories"]} == {"activations": 5, "temporaries": 7}


@pytest.mark.parametrize("goes_on, expected", [(False, "other"), (True, "temporaries")])
def test_a_fatal_exception_frees_blocks_of_init_that_may_have_been_parameters(trace, goes_on, expected):
    with trace.phase("init"):
        block = trace.alloc(5)
        trace.fail(1 << 40)
        trace.free(block)
        if goes_on:
            trace.free(trace.alloc(1))
    (site,) = device_of(trace)["sites"]
    assert site["category"] == expected


def test_survival_is_measured_against_the_phase_that_decided(trace):
    with trace.phase("backward"):
        with trace.phase("layer 7"):
            block = trace.alloc(1)
        trace.free(block)
    (site,) = device_of(trace)["sites"]
    assert (site["phase"], site["category"]) == ("backward/layer 7", "temporaries")


def test_the_library_that_asked_decides_over_the_phase(trace):
    trace.rows["module"] += [
        (1, "/usr/lib/libcublas.so.12", None, 0x10000, 0x10000, 0x20000),
        (2, "/usr/lib/libnccl.so.2", None, 0x30000, 0x30000, 0x40000),
        (3, "/usr/bin/train", None, 0x50000, 0x50000, 0x60000),
    ]
    with trace.phase("data"):
        trace.alloc(1, stack=trace.stack(0x51000, 0x11000, 0x31000))
        trace.alloc(2, stack=trace.stack(0x31000, 0x51000))
        trace.alloc(4, stack=trace.stack(0x51000))
    assert category(trace) == {"workspace": 1, "communication": 2, "input": 4}


def test_a_segment_that_a_pool_hands_out_has_no_category_of_its_own(trace):
    with trace.phase("data"):
        segment = trace.alloc(20 * MIB)
        trace.tensor(segment, MIB)
    sites_by_layer = {site["layer"]: site["category"] for site in device_of(trace)["sites"]}
    assert sites_by_layer == {"pool": "input", "driver": "other"}


@pytest.mark.parametrize("captures, plain, said", [(1, 8, "16.00 MiB of it"), (2, 8, "32.00 MiB of it"), (1, 80, None)])
def test_tensors_of_graphs_are_said_to_be_made_in_a_capture(trace, captures, plain, said):
    """Each capture makes a tensor of 16 MiB in a segment of its own, which the graph keeps."""
    trace.tensor(trace.alloc(plain * MIB), plain * MIB)
    for number in range(captures):
        trace.event("capture-begin", stream=7, device=0)
        trace.tensor(trace.alloc(20 * MIB), 16 * MIB, stream=7)
        trace.event("capture-end", stream=7, object=0x9A + number, device=0)
        trace.event("graph-made", object=0xA9 + number, address=0x9A + number, device=0)
    why = texts_of(load_json("peak", trace.write()), "why")
    pools = "pool" if captures == 1 else "pools"
    assert why == ("" if said is None else f"{said} was made while CUDA graphs were captured, and stays in their private "
                   f"{pools} until the graphs are reset or destroyed.")  # fmt: skip


def test_the_answer_begins_with_the_device_whose_peak_is_highest(trace):
    for device, mib in ((0, 1), (1, 8), (2, 4)):
        trace.alloc(mib * MIB, device=device, stack=trace.stack("a"))
    page = load_json("peak", trace.written())
    said = [row["text"] for row in [*page["verdict"], *page["more"]] if row["text"].startswith("Peak")]
    assert [text.split(" on ")[1].split(" (")[0] for text in said] == ["device 1", "device 0", "device 2"]
