# SPDX-License-Identifier: MIT
"""Tests the import of PyTorch's memory snapshot: its events, blocks that are older than its history, and missing
facts."""
import pytest

from export import snapshots
from support.torch_files import FORWARD, NATIVE, SEGMENT, block, entry, segment, small, snapshot, write
from support.run import load_json, run_command
from support.tracefile import MIB


@pytest.fixture
def trace_of(tmp_path, imported):
    return lambda value: imported(write(tmp_path / "a.pickle", value))


def only_pool(trace):
    (device,) = load_json("report", trace)["devices"]
    (pool,) = device["pools"]
    return pool


def exported(trace):
    path = trace.with_suffix(".again")
    assert run_command("export", "--to=torch-snapshot", "-o", path, trace).returncode == 0
    return snapshots.load(path)


def again(trace):
    """Exports the trace as a snapshot again and returns its segments."""
    return snapshots.segments(exported(trace))


def held(trace, *options):
    """Returns {function of the innermost frame: bytes}."""
    sites = load_json("peak", trace, "--layer=pool", *options)["devices"][0]["sites"]
    return {site["frames"][0]["function"] if site["frames"] else None: site["bytes"] for site in sites}


def test_what_was_live_before_the_history_stands_at_its_beginning(trace_of):
    trace = trace_of(small())
    assert only_pool(trace) | {"peak_live_bytes": 8 * MIB, "live_at_exit_bytes": 3 * MIB, "allocations": 3, "frees": 1,
                               "peak_reserved_bytes": 20 * MIB} == only_pool(trace)  # fmt: skip
    assert held(trace) == {"forward": 5 * MIB, "at::empty_cuda": 2 * MIB, None: MIB}
    report = load_json("report", trace)
    assert report["trace"]["complete"] is False and "events before the first one" in report["warnings"][0]
    completed = run_command("check", "--max-peak=1GiB", trace)
    assert completed.returncode == 2 and "imported" in completed.stderr


def test_a_whole_history_is_complete(trace_of):
    trace = trace_of(
        snapshot(
            segment(SEGMENT, block(2 * MIB, "active_allocated", 2 * MIB), block(18 * MIB)),
            traces=[[entry("segment_alloc", SEGMENT, 20 * MIB, 1), entry("alloc", SEGMENT, 2 * MIB, 2)]],
        )
    )
    report = load_json("report", trace)
    assert report["trace"]["complete"] is True and "events before the first one" not in report["warnings"][0]
    assert report["devices"][0]["pools"][0]["peak_time_ns"] == 1000
    assert run_command("check", "--max-peak=2MiB", trace).returncode == 0
    assert run_command("check", "--max-peak=1MiB", trace).returncode == 1


def test_without_a_history_all_is_of_one_moment_and_no_time_is_known(trace_of):
    trace = trace_of(snapshot(segment(SEGMENT, block(MIB, "active_allocated", MIB), block(19 * MIB))))
    assert only_pool(trace)["peak_time_ns"] is None
    shown = run_command("report", trace).stdout
    assert "after the start" not in shown and "no history was recorded" in shown and "nvidia-smi" not in shown


def test_without_a_history_no_zero_stands_for_frees_and_failures(trace_of):
    trace = trace_of(snapshot(segment(SEGMENT, block(MIB, "active_allocated", MIB), block(19 * MIB))))
    pool = only_pool(trace)
    assert (pool["allocations"], pool["frees"], pool["failed"]) == (1, None, None)
    assert load_json("report", trace)["devices"][0]["driver"]["implicit_frees"] is None
    assert "does not say which allocations failed" in load_json("oom", trace)["answer"][0]
    assert only_pool(trace_of(small()))["failed"] == 0


def test_without_a_segment_what_was_reserved_is_not_known(trace_of):
    events = [entry("alloc", SEGMENT, MIB, 1), entry("free_requested", SEGMENT, MIB, 2), entry("free_completed", SEGMENT, MIB, 3)]
    trace = trace_of(snapshot(traces=[events]))
    rows = load_json("frag", trace)["devices"][0]["over_time"]
    assert [(row["live_bytes"], row["reserved_bytes"], row["free_bytes"]) for row in rows] == [(MIB, None, None), (0, None, None)]
    assert "is not known" in load_json("frag", "--at=end", trace)["answer"][0]


def test_what_a_step_of_a_snapshot_asked_of_the_driver_in_vain_is_not_known(trace_of):
    forward, optimizer = ([{"name": name, "filename": file, "line": 3}, FORWARD[1]]
                          for name, file in (("forward", "model.py"), ("step", "/opt/torch/optim/adam.py")))  # fmt: skip
    events = [entry("segment_alloc", SEGMENT, 20 * MIB, 0)]
    for step in range(4):
        for i, frames in enumerate((forward, optimizer)):
            events += [entry(action, SEGMENT, MIB, 10 * step + i, frames)
                       for action in ("alloc", "free_requested", "free_completed")]  # fmt: skip
    trace = trace_of(snapshot(segment(SEGMENT, block(20 * MIB)), traces=[events]))
    steps = load_json("steps", trace)["devices"][0]["steps"]
    assert steps["step_count"] >= 2 and steps["outlier"]["duration_ns"] is not None
    assert {row[key] for row in steps["steps"] for key in ("retries", "driver_calls", "flushed_bytes")} == {None}
    assert (steps["steady"]["retries_per_step"], steps["steady"]["flushed_bytes_per_step"]) == (None, None)


def test_a_release_without_times_and_addresses_of_blocks_is_read(trace_of):
    old = snapshot(segment(SEGMENT, block(MIB, "active_allocated"), {"size": 19 * MIB, "state": "inactive"}),
                   traces=[[entry("segment_alloc", SEGMENT, 20 * MIB), entry("alloc", SEGMENT, MIB)]])  # fmt: skip
    first = old["segments"][0]["blocks"][0]
    del first["frames"], first["requested_size"]
    first["history"] = [{"addr": SEGMENT, "real_size": MIB, "frames": FORWARD}]
    trace = trace_of({"segments": old["segments"], "device_traces": old["device_traces"]})
    assert held(trace) == {"forward": MIB}
    assert any("times" in warning for warning in load_json("report", trace)["warnings"])


@pytest.mark.parametrize("free, given", [(2 * MIB, 2 * MIB), (2 * MIB + 512, MIB), (20 * MIB, MIB)])
def test_a_block_is_as_large_as_pytorchs_rule_for_splitting_makes_it(trace_of, free, given):
    """In a large segment, 1 MiB is split off the free piece of `free` bytes if more than 1 MiB is left over. If not,
    the block gets the whole piece."""
    fill = 40 * MIB - free
    events = [entry("alloc", SEGMENT + fill, MIB - 7, 1), entry("free_requested", SEGMENT + fill, MIB - 7, 2),
              entry("free_completed", SEGMENT + fill, MIB - 7, 3)]  # fmt: skip
    trace = trace_of(snapshot(segment(SEGMENT, block(fill, "active_allocated", fill), block(free)), traces=[events]))
    assert only_pool(trace)["peak_live_bytes"] == fill + given


def test_a_block_that_nobody_uses_any_more_but_another_stream_takes_up_room(trace_of):
    """Between free_requested and free_completed, the block is not live, but its memory does not yet belong to the free
    piece beside it."""
    second = SEGMENT + 10 * MIB
    events = [entry("alloc", second, 9 * MIB, 1), entry("free_requested", second, 9 * MIB, 2),
              entry("alloc", SEGMENT, 9 * MIB, 3), entry("free_completed", second, 9 * MIB, 4),
              entry("free_requested", SEGMENT, 9 * MIB, 5), entry("free_completed", SEGMENT, 9 * MIB, 6)]  # fmt: skip
    trace = trace_of(snapshot(segment(SEGMENT, block(40 * MIB)), traces=[events]))
    assert only_pool(trace)["peak_live_bytes"] == 10 * MIB


def test_every_segment_is_kept_also_one_that_nothing_lies_in(trace_of):
    value = snapshot(segment(SEGMENT, block(20 * MIB)), segment(SEGMENT + (1 << 30), block(512, "active_allocated", 5), block(2 * MIB - 512)),
                     segment(2 * SEGMENT, block(4 * MIB, "active_awaiting_free", 4 * MIB), device=1))  # fmt: skip
    trace = trace_of(value)
    assert again(trace) == {
        (0, SEGMENT): (20 * MIB, 20 * MIB, {}),
        (0, SEGMENT + (1 << 30)): (2 * MIB, 2 * MIB - 512, {SEGMENT + (1 << 30): 512}),
        (1, 2 * SEGMENT): (4 * MIB, 4 * MIB, {}),
    }
    assert load_json("report", trace)["devices"][0]["pools"][0]["peak_reserved_bytes"] == 22 * MIB


@pytest.mark.parametrize("way", ["alloc", "map"])
def test_a_snapshot_that_is_exported_and_imported_again_has_the_same_figures(trace_of, tmp_path, way):
    """The block of 15 MiB is freed, so only the history says that its segment counted at the peak."""
    end = {"alloc": "free", "map": "unmap"}[way]
    second = SEGMENT + (1 << 30)
    events = [entry(f"segment_{way}", SEGMENT, 20 * MIB, 1), entry("alloc", SEGMENT, 2 * MIB, 2),
              entry(f"segment_{way}", second, 40 * MIB, 3), entry("alloc", second, 15 * MIB, 4),
              entry("free_requested", second, 15 * MIB, 5), entry("free_completed", second, 15 * MIB, 6),
              entry(f"segment_{end}", second, 40 * MIB, 7)]  # fmt: skip
    left = segment(SEGMENT, block(2 * MIB, "active_allocated", 2 * MIB), block(18 * MIB), expandable=way == "map")
    trace = trace_of(snapshot(left, traces=[events]))
    found = only_pool(trace)
    assert (found["peak_live_bytes"], found["peak_reserved_bytes"]) == (17 * MIB, 60 * MIB)
    exported(trace)
    completed = run_command("import", "-o", tmp_path / "again.db", trace.with_suffix(".again"))
    assert (completed.returncode, completed.stderr) == (0, "")
    moments = {"peak_time_ns", "peak_seq"}
    assert {**only_pool(tmp_path / "again.db"), **{key: found[key] for key in moments}} == found


def test_what_was_asked_for_is_kept(trace_of):
    blocks = [block(MIB, "active_allocated", MIB - 100), block(3 * MIB, "active_allocated", 2 * MIB), block(512),
              block(512, "active_allocated", 512)]  # fmt: skip
    events = [entry("alloc", SEGMENT + 4 * MIB, 17, 1), entry("free_requested", SEGMENT + 4 * MIB, 17, 2),
              entry("free_completed", SEGMENT + 4 * MIB, 17, 3)]  # fmt: skip
    (found,) = exported(trace_of(snapshot(segment(SEGMENT, *blocks), traces=[events])))["segments"]
    assert [item["requested_size"] for item in found["blocks"]] == [MIB - 100, 2 * MIB, 0, 512]
    assert found["requested_size"] == 3 * MIB - 100 + 512


@pytest.mark.parametrize("device", [0, 1])
def test_what_was_asked_for_is_that_of_the_moment(trace_of, tmp_path, device):
    events = [entry("segment_alloc", SEGMENT, 2 * MIB, 0), entry("alloc", SEGMENT, 100, 1), entry("free_requested", SEGMENT, 100, 2),
              entry("free_completed", SEGMENT, 100, 3), entry("alloc", SEGMENT, 200, 4)]  # fmt: skip
    value = snapshot(segment(SEGMENT, block(512, "active_allocated", 200), block(2 * MIB - 512), device=device),
                     traces=[[]] * device + [events])  # fmt: skip
    trace = trace_of(value)
    for at, asked in (("peak", 100), ("end", 200)):
        run_command("export", "--to=torch-snapshot", f"--at={at}", "-o", tmp_path / "a.again", trace)
        assert snapshots.load(tmp_path / "a.again")["segments"][0]["blocks"][0]["requested_size"] == asked


def test_an_expandable_segment_of_small_blocks_stays_one(trace_of):
    value = snapshot(segment(SEGMENT, block(MIB, "active_allocated", MIB), block(5 * MIB), expandable=True),
                     segment(2 * SEGMENT, block(2 * MIB, "active_allocated", 2 * MIB), expandable=True))  # fmt: skip
    assert [item["segment_type"] for item in exported(trace_of(value))["segments"]] == ["small", "large"]


def test_settings_of_the_allocator_are_kept(trace_of):
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "expandable_segments": True, "max_split_size": -1}
    kept = exported(trace_of(snapshot(segment(SEGMENT, block(MIB)), settings=settings)))["allocator_settings"]
    assert kept == {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}


def test_an_expandable_segment_is_unmapped_in_other_pieces_than_it_was_mapped_in(trace_of):
    events = [entry("segment_map", SEGMENT, 20 * MIB, 1), entry("alloc", SEGMENT, 20 * MIB, 2),
              entry("segment_map", SEGMENT + 20 * MIB, 20 * MIB, 3), entry("alloc", SEGMENT + 20 * MIB, MIB, 4),
              entry("free_requested", SEGMENT, 20 * MIB, 5), entry("free_completed", SEGMENT, 20 * MIB, 6),
              entry("segment_unmap", SEGMENT + 4 * MIB, 8 * MIB, 7), entry("segment_unmap", SEGMENT + 30 * MIB, 10 * MIB, 8),
              entry("segment_map", SEGMENT + 4 * MIB, 2 * MIB, 9), entry("alloc", SEGMENT + 4 * MIB, MIB, 10),
              entry("free_requested", SEGMENT + 4 * MIB, MIB, 11), entry("free_completed", SEGMENT + 4 * MIB, MIB, 12)]  # fmt: skip
    left = [segment(SEGMENT, block(6 * MIB), expandable=True),
            segment(SEGMENT + 12 * MIB, block(8 * MIB), block(MIB, "active_allocated", MIB), block(9 * MIB), expandable=True)]  # fmt: skip
    trace = trace_of(snapshot(*left, traces=[events]))
    assert again(trace) == {(0, SEGMENT): (6 * MIB, 6 * MIB, {}), (0, SEGMENT + 12 * MIB): (18 * MIB, 17 * MIB, {SEGMENT + 20 * MIB: MIB})}
    driver = load_json("report", trace)["devices"][0]["driver"]
    assert (driver["peak_bytes"], driver["live_at_exit_bytes"]) == (40 * MIB, 24 * MIB)
    assert only_pool(trace)["peak_live_bytes"] == 21 * MIB


def test_what_was_mapped_before_the_history_and_unmapped_in_it_is_there_at_its_beginning(trace_of):
    events = [entry("free_requested", SEGMENT + 6 * MIB, MIB, 1), entry("free_completed", SEGMENT + 6 * MIB, MIB, 2),
              entry("segment_unmap", SEGMENT + 6 * MIB, 4 * MIB, 3)]  # fmt: skip
    trace = trace_of(snapshot(segment(SEGMENT, block(6 * MIB, "active_allocated", 6 * MIB), expandable=True), traces=[events]))
    assert again(trace) == {(0, SEGMENT): (6 * MIB, 0, {SEGMENT: 6 * MIB})}
    pool = only_pool(trace)
    assert (pool["peak_live_bytes"], pool["peak_reserved_bytes"]) == (7 * MIB, 10 * MIB)


@pytest.mark.parametrize("free, verdict", [(5 * MIB, "exhausted"), (500 * MIB, "limit")])
def test_a_failure_says_what_the_card_had_left_and_not_how_large_it_is(trace_of, free, verdict):
    value = small()
    value["device_traces"][0].append(entry("oom", free, 100 * MIB, 40))
    trace = trace_of(value)
    (failure,) = load_json("oom", trace)["oom"]
    assert (failure["verdict"], failure["device_free_bytes"], failure["device_total_bytes"]) == (verdict, free, None)
    assert (failure["asked_bytes"], failure["kind"]) == (100 * MIB, "unknown")
    shown = run_command("oom", trace).stdout
    assert "the program died" not in shown and f"the card had {free // MIB}.00 MiB free" in " ".join(shown.split())
    terms = load_json("ledger", trace)["devices"][0]["moments"]
    assert all(moment["used_bytes"] is None for moment in terms)


def test_times_of_devices_run_side_by_side(trace_of):
    other = [entry("segment_alloc", 2 * SEGMENT, 20 * MIB, 5), entry("alloc", 2 * SEGMENT, MIB, 15)]
    value = small()
    value["device_traces"].append(other)
    value["segments"].append(segment(2 * SEGMENT, block(MIB, "active_allocated", MIB), block(19 * MIB), device=1))
    rows = run_command("export", "--to=csv", trace_of(value)).stdout.splitlines()
    times = [float(row.split(",")[rows[0].split(",").index("time_ns")]) for row in rows[1:]]
    assert times == sorted(times) and len(load_json("report", trace_of(value))["devices"]) == 2


def test_a_block_that_came_while_nobody_looked_is_there_at_the_end(trace_of):
    value = small()
    value["device_traces"][0].append(entry("free_requested", SEGMENT + MIB, 2 * MIB, 50))
    trace = trace_of(value)
    assert again(trace)[0, SEGMENT][2] == {SEGMENT: MIB, SEGMENT + MIB: 2 * MIB}


LIES = {
    "a block beyond its segment": lambda v: v["segments"][0].update(total_size=MIB),
    "a size that is a text": lambda v: v["segments"][0].update(total_size="big"),
    "a size below 0": lambda v: v["segments"][0]["blocks"][0].update(size=-1),
    "a size of 2^70": lambda v: v["device_traces"][0][0].update(size=2**70),
    "a size of 2^63": lambda v: v["device_traces"][0][0].update(size=2**63),
    "an address at the end": lambda v: v["device_traces"][0][0].update(addr=2**64 - 1),
    "a time beyond all times": lambda v: v["device_traces"][0][0].update(time_us=2**60),
    "a device beyond all devices": lambda v: v["segments"][0].update(device=128),
    "a trace of device 200": lambda v: v.update(device_traces=[[]] * 200 + v["device_traces"]),
    "no segments": lambda v: v.pop("segments"),
    "a segment that is a number": lambda v: v["segments"].append(7),
    "an event that is a list": lambda v: v["device_traces"][0].append([]),
    "an event without an address": lambda v: v["device_traces"][0][0].pop("addr"),
    "an event that does not say what it is": lambda v: v["device_traces"][0][0].pop("action"),
    "an event whose name is a number": lambda v: v["device_traces"][0][0].update(action=7),
    "sizes beyond all memory": lambda v: v["device_traces"][0].extend(entry("alloc", 2**40 + i, 2**60, 40 + i) for i in range(3)),
    "an address that is given out twice": lambda v: v["device_traces"][0].append(entry("alloc", SEGMENT + MIB, MIB, 40)),
    "blocks that are none": lambda v: v["segments"][0].update(blocks=None),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_snapshot_that_lies_is_refused(tmp_path, refused, lie):
    value = small()
    LIES[lie](value)
    assert "memory snapshot" in refused(write(tmp_path / "a.pickle", value))


def test_names_of_native_frames_are_told_from_pythons(trace_of):
    frames = [{"name": "cudaMalloc", "filename": "", "line": 0}, *NATIVE]
    trace = trace_of(snapshot(segment(SEGMENT, block(512, "active_allocated", 512, frames))))
    (site,) = load_json("peak", "--layer=pool", trace)["devices"][0]["sites"]
    assert [(frame["kind"], frame["function"]) for frame in site["frames"]] == [
        ("native", "cudaMalloc"), ("native", "at::empty_cuda"), ("python", "forward"), ("python", "<module>")]  # fmt: skip


def test_info_says_where_a_trace_came_from(trace_of):
    meta = load_json("info", trace_of(small()))["meta"]
    assert (meta["imported_format"], meta["imported_from"].rsplit("/", 1)[1]) == ("torch-snapshot", "a.pickle")
    assert "memory outside of PyTorch's allocator" in meta["not_known"]


MODULES = [{"name": "torch::CapturedTraceback::gather(bool, bool, bool)", "filename": "/opt/torch/lib/libtorch_cpu.so", "line": 107817241},
           {"name": "??", "filename": "/opt/torch/lib/libc10_cuda.so", "line": 319562},
           {"name": "??", "filename": "/opt/torch/lib/libfoo.so.12.1", "line": 500},
           {"name": "at::native::empty_cuda(c10::ArrayRef<long>)", "filename": "/opt/torch/lib/libtorch_cuda.so", "line": 21220626},
           {"name": "pass_over", "filename": "<gpumemtrace values>", "line": 715},
           {"name": "_PyFunction_Vectorcall", "filename": "/usr/bin/python3.11", "line": 5622224},
           {"name": "main", "filename": "/opt/trainer", "line": 6454224},
           {"name": "??", "filename": "??", "line": 0}, *FORWARD]  # fmt: skip


def test_frames_in_libraries_and_executables_are_native_and_fold(trace_of):
    trace = trace_of(snapshot(segment(SEGMENT, block(MIB, "active_allocated", MIB, MODULES), block(19 * MIB))))
    (site,) = load_json("peak", trace, "--layer=pool")["devices"][0]["sites"]
    found = [(frame["kind"], frame["function"], frame["role"]) for frame in site["frames"]]
    assert found == [("native", "torch::CapturedTraceback::gather", "framework"), ("native", "??", "framework"), ("native", "??", "program"),
                     ("native", "at::native::empty_cuda", "framework"), ("native", "_PyFunction_Vectorcall", "interpreter"),
                     ("native", "main", "program"), ("native", "??", "program"),
                     ("python", "forward", "program"), ("python", "<module>", "program")]  # fmt: skip


def test_the_line_of_python_is_named_and_no_offset_in_a_library(trace_of):
    frames = [frame for frame in MODULES if frame["name"] != "main"]
    trace = trace_of(snapshot(segment(SEGMENT, block(MIB, "active_allocated", MIB, frames), block(19 * MIB))))
    for _ in range(2):
        said = run_command("peak", trace).stdout
        assert "Who: Most of it by model.py:12 forward" in " ".join(said.split()) and "319562" not in said
        assert run_command("resolve", trace).returncode == 0


def test_a_script_without_a_suffix_is_of_python(trace_of):
    frames = [{"name": "<module>", "filename": "/usr/bin/torchrun", "line": 8}]
    assert held(trace_of(snapshot(segment(SEGMENT, block(MIB, "active_allocated", MIB, frames), block(19 * MIB))))) == {"<module>": MIB}


def test_roundup_power2_divisions_round_as_pytorch_does(trace_of):
    divisions = {str(2**i): 4 for i in range(16)}
    events = [entry("segment_alloc", SEGMENT, 20 * MIB, 0)]
    events += [entry("alloc", SEGMENT + 6 * MIB * i, 5_300_000, i + 1) for i in range(3)]
    events += [entry(action, SEGMENT + 6 * MIB * i, 5_300_000, 9 + i) for i in range(3) for action in ("free_requested", "free_completed")]
    trace = trace_of(snapshot(segment(SEGMENT, block(20 * MIB)), traces=[events], settings={"roundup_power2_divisions": divisions}))
    assert only_pool(trace)["peak_live_bytes"] == 18 * MIB
    assert run_command("check", "--max-peak=16MiB", trace).returncode == 1


CONTRADICTIONS = {
    "segments overlap": [segment(SEGMENT, block(20 * MIB)), segment(SEGMENT + MIB, block(20 * MIB))],
    "is not where those before it end": [segment(SEGMENT, block(MIB), {**block(MIB), "address": SEGMENT + 2 * MIB})],
    "do not fill their segment": [{**segment(SEGMENT, block(MIB)), "total_size": 2 * MIB}],
    "allocated_size is not that": [{**segment(SEGMENT, block(MIB, "active_allocated", MIB)), "allocated_size": 12345}],
    "smaller than its request": [segment(SEGMENT, block(MIB, "active_allocated", 2 * MIB))],
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_segments_that_contradict_themselves_are_refused(tmp_path, refused, what):
    assert what in refused(write(tmp_path / "a.pickle", snapshot(*CONTRADICTIONS[what])))


def test_events_of_a_later_pytorch_are_said_and_marks_are_not(trace_of):
    value = small()
    value["device_traces"][0] += [entry(action, SEGMENT, MIB, 40) for action in ("snapshot", "segment_split", "segment_split")]
    (warning, *_) = load_json("report", trace_of(value))["warnings"]
    assert "the effect of 2 events" in warning and "'segment_split'" in warning


def test_a_history_that_leaves_out_frees_says_so(trace_of):
    """The history was recorded with _record_memory_history(skip_actions=["free_requested", "free_completed"])."""
    events = [entry("segment_alloc", SEGMENT, 20 * MIB, 0), *(entry("alloc", SEGMENT, MIB, i + 1) for i in range(3))]
    trace = trace_of(snapshot(segment(SEGMENT, block(MIB, "active_allocated", MIB), block(19 * MIB)), traces=[events]))
    assert "which blocks were freed" in load_json("report", trace)["warnings"][0]
    assert only_pool(trace)["peak_live_bytes"] == MIB


def test_frees_that_are_only_asked_for_or_only_complete_are_frees(trace_of):
    for action in ("free_requested", "free_completed"):
        events = [entry(("alloc", action)[i % 2], SEGMENT + i // 2 * MIB, MIB, i) for i in range(6)]
        trace = trace_of(snapshot(segment(SEGMENT, block(20 * MIB)), traces=[events]))
        assert only_pool(trace)["peak_live_bytes"] == MIB
