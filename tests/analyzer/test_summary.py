# SPDX-License-Identifier: MIT
"""The figures of hand-written traces: allocations, frees and peaks, by account and device."""
import pytest

from support.run import load_json
from support.tracefile import MIB, Trace


def device_of(trace, number=0):
    devices = load_json("report", trace.write())["devices"]
    return next(device for device in devices if device["device"] == number)


def figures(account):
    keys = "peak_bytes live_at_exit_bytes allocations frees failed implicit_frees".split()
    return tuple(account[key] for key in keys)


def test_peak_is_the_highest_sum_of_live_bytes_and_its_moment_the_first_that_reached_it(trace):
    a = trace.alloc(100)  # 1: 100
    b = trace.alloc(50)  # 2: 150, the peak
    trace.free(a)  # 3: 50
    trace.alloc(100)  # 4: 150 again
    trace.free(b)  # 5: 100
    driver = device_of(trace)["driver"]
    assert (driver["peak_bytes"], driver["peak_seq"], driver["peak_time_ns"]) == (150, 2, 2000)
    assert figures(driver) == (150, 100, 3, 2, 0, 0)


def test_an_account_without_memory_has_no_peak_moment(trace):
    trace.alloc(1)
    managed = device_of(trace)["managed"]
    assert figures(managed) == (0, 0, 0, 0, 0, 0)
    assert managed["peak_seq"] is None and managed["peak_time_ns"] is None


@pytest.mark.parametrize(
    "memory, account",
    [
        ("linear", "driver"), ("pitched", "driver"), ("array", "driver"), ("async", "driver"),
        ("vmm", "driver"), ("managed", "managed"), ("pinned", "host"), ("registered", "host"),
        ("imported", "imported"),
    ],
)  # fmt: skip
def test_each_kind_of_memory_is_counted_in_its_own_account_only(trace, memory, account):
    address = trace.alloc(64, memory)
    trace.free(address, memory)
    device = device_of(trace)
    assert figures(device[account]) == (64, 0, 1, 1, 0, 0)
    for other in {"driver", "managed", "host", "imported"} - {account}:
        assert figures(device[other]) == (0, 0, 0, 0, 0, 0), other


def test_a_free_finds_memory_of_any_kind_at_its_device_address(trace):
    for memory in ("managed", "async", "pitched"):
        trace.free(trace.alloc(10, memory), "linear")
    device = device_of(trace)
    assert figures(device["managed"]) == (10, 0, 1, 1, 0, 0)
    assert figures(device["driver"]) == (10, 0, 2, 2, 0, 0)


def test_host_pointers_arrays_and_device_addresses_never_meet(trace):
    trace.alloc(1, "linear", 0x1000)
    trace.alloc(2, "array", 0x1000)
    trace.alloc(4, "pinned", 0x1000)
    trace.alloc(8, "vmm", 0x1000)
    trace.free(0x1000, "array")
    device = device_of(trace)
    assert figures(device["driver"]) == (11, 9, 3, 1, 0, 0)
    assert figures(device["host"]) == (4, 4, 1, 0, 0, 0)


def test_a_failed_allocation_is_counted_and_holds_nothing(trace):
    trace.fail(1 << 40)
    assert figures(device_of(trace)["driver"]) == (0, 0, 0, 0, 1, 0)


@pytest.mark.parametrize("result", [1, 700, 4, 201, 709])
def test_a_free_that_failed_leaves_the_block_live(trace, result):
    trace.free(trace.alloc(7), result=result)
    assert figures(device_of(trace)["driver"]) == (7, 7, 1, 0, 0, 0)


def test_a_free_in_progress_at_a_kill_did_not_happen(tmp_path):
    trace = Trace(tmp_path / "killed.db", complete=0)
    trace.free(trace.alloc(7), result=None)
    report = load_json("report", trace.write())
    assert figures(report["devices"][0]["driver"]) == (7, 7, 1, 0, 0, 0)
    assert report["trace"]["in_flight_events"] == 1
    assert report["trace"]["complete"] is False
    assert any("ended without exit" in warning for warning in report["warnings"])


def test_a_free_of_memory_nobody_allocated_is_warned_about_and_not_counted(trace):
    trace.alloc(1)
    trace.free(0xDEAD000)
    report = load_json("report", trace.write())
    assert figures(report["devices"][0]["driver"]) == (1, 1, 1, 0, 0, 0)
    assert any("1 frees of memory whose allocation was not recorded" in w for w in report["warnings"])


def test_an_address_handed_out_twice_ends_the_first_block_with_a_warning(trace):
    address = trace.alloc(100)
    trace.alloc(30, address=address)
    report = load_json("report", trace.write())
    assert figures(report["devices"][0]["driver"]) == (100, 30, 2, 0, 0, 0)
    assert any("1 blocks ended without a recorded free" in w for w in report["warnings"])


def test_nothing_behind_the_exit_changes_a_figure(trace):
    a = trace.alloc(5)
    trace.exit()
    trace.free(a)
    trace.alloc(1000)
    trace.exit(1)
    assert figures(device_of(trace)["driver"]) == (5, 5, 1, 0, 0, 0)


def test_an_exec_that_failed_is_no_exit(trace):
    a = trace.alloc(5)
    trace.exit(2)
    trace.free(a)
    assert figures(device_of(trace)["driver"]) == (5, 0, 1, 1, 0, 0)


def test_an_exec_that_succeeded_is_an_exit_for_the_other_threads_too(trace):
    a = trace.alloc(5, thread=2)
    trace.meta["exit_seq"] = trace.exit(2)
    trace.free(a, thread=2)
    assert figures(device_of(trace)["driver"]) == (5, 5, 1, 0, 0, 0)


# --- contexts ---


def test_a_device_reset_frees_plain_managed_and_pinned_memory_and_arrays_of_that_device(trace):
    for device in (0, 1):
        for memory in ("linear", "pitched", "array", "managed", "pinned", "async", "vmm", "imported"):
            trace.alloc(8, memory, device=device)
    trace.event("context-destroy", device=0)
    reset, other = device_of(trace), load_json("report", trace.path)["devices"][1]
    assert figures(reset["driver"]) == (40, 16, 5, 0, 0, 3)  # stream-ordered memory and VMM memory stay live
    assert figures(reset["managed"]) == (8, 0, 1, 0, 0, 1)
    assert figures(reset["host"]) == (8, 0, 1, 0, 0, 1)
    assert figures(reset["imported"]) == (8, 8, 1, 0, 0, 0)
    assert figures(other["driver"]) == (40, 40, 5, 0, 0, 0)


def test_a_destroyed_context_takes_only_the_blocks_that_name_it(trace):
    trace.event("context-create", object=0xC1, device=0)
    trace.alloc(1, object=0xC0)
    trace.alloc(2, object=0xC1)
    trace.event("context-destroy", object=0xC1, device=0)
    assert figures(device_of(trace)["driver"]) == (3, 1, 2, 0, 0, 1)


def test_a_device_reset_spares_contexts_that_the_program_made_itself(trace):
    trace.rows["hook"].append((7, "cuCtxCreate_v4", "driver"))
    trace.event("context-create", object=0xC1, device=0, hook=7)
    trace.alloc(1, object=0xC0)
    trace.alloc(2, object=0xC1)
    trace.event("context-destroy", device=0)
    assert figures(device_of(trace)["driver"]) == (3, 2, 2, 0, 0, 1)


def test_a_context_of_unknown_device_takes_its_blocks_wherever_they_are(trace):
    trace.alloc(2, object=0xC1, device=1)
    trace.alloc(4, object=0, device=1)
    trace.event("context-destroy", object=0xC1)
    assert figures(device_of(trace, 1)["driver"]) == (6, 4, 2, 0, 0, 1)


def test_a_context_that_could_not_be_destroyed_keeps_its_memory(trace):
    trace.alloc(8)
    trace.event("context-destroy", device=0, result=201)
    assert figures(device_of(trace)["driver"]) == (8, 8, 1, 0, 0, 0)


@pytest.mark.parametrize("result", [4, 201, 709])
def test_a_free_that_says_the_context_is_gone_ends_the_block_if_a_context_was_destroyed(trace, result):
    a = trace.alloc(8, "async")
    trace.event("context-destroy", device=0)
    trace.free(a, "async", result=result)
    assert figures(device_of(trace)["driver"]) == (8, 0, 1, 0, 0, 1)


# --- virtual memory ---


def test_a_vmm_object_lives_until_its_last_handle_and_its_last_mapping_are_gone(trace):
    handle = trace.alloc(4 * MIB, "vmm", 0x51)
    trace.event("map", "vmm", 0x7000_0000, 4 * MIB, object=handle)
    trace.free(handle, "vmm")  # the memory is still mapped
    trace.alloc(MIB)  # this allocation makes the peak show whether the memory is still live
    trace.event("unmap", "vmm", 0x7000_0000, 4 * MIB)
    assert figures(device_of(trace)["driver"]) == (5 * MIB, MIB, 2, 1, 0, 0)


def test_a_vmm_object_that_is_unmapped_first_ends_with_its_handle(trace):
    handle = trace.alloc(4 * MIB, "vmm", 0x51)
    trace.event("map", "vmm", 0x7000_0000, 4 * MIB, object=handle)
    trace.event("unmap", "vmm", 0x7000_0000, 4 * MIB)
    trace.alloc(MIB)
    trace.free(handle, "vmm")
    assert figures(device_of(trace)["driver"]) == (5 * MIB, MIB, 2, 1, 0, 0)


def test_one_unmap_may_cover_several_mappings(trace):
    for i in range(3):
        handle = trace.alloc(2 * MIB, "vmm", 0x51 + i)
        trace.event("map", "vmm", 0x7000_0000 + i * 2 * MIB, 2 * MIB, object=handle)
        trace.free(handle, "vmm")
    trace.event("unmap", "vmm", 0x7000_0000, 4 * MIB)  # this unmaps the first two mappings
    assert figures(device_of(trace)["driver"]) == (6 * MIB, 2 * MIB, 3, 2, 0, 0)


def test_a_handles_number_may_come_again_while_the_first_object_is_still_mapped(trace):
    first = trace.alloc(2 * MIB, "vmm", 0x51)
    trace.event("map", "vmm", 0x7000_0000, 2 * MIB, object=first)
    trace.free(first, "vmm")
    second = trace.alloc(8 * MIB, "vmm", 0x51)
    trace.free(second, "vmm")
    driver = device_of(trace)["driver"]
    assert figures(driver) == (10 * MIB, 2 * MIB, 2, 1, 0, 0)


def test_a_handle_released_once_too_often_frees_nothing(trace):
    handle = trace.alloc(2 * MIB, "vmm", 0x51)
    trace.event("map", "vmm", 0x7000_0000, 2 * MIB, object=handle)
    trace.free(handle, "vmm")
    trace.free(handle, "vmm")
    trace.event("unmap", "vmm", 0x7000_0000, 2 * MIB)
    report = load_json("report", trace.write())
    assert figures(report["devices"][0]["driver"]) == (2 * MIB, 0, 1, 1, 0, 0)
    assert any("1 frees of memory whose allocation" in warning for warning in report["warnings"])


def test_an_object_mapped_twice_lives_until_both_mappings_are_gone(trace):
    handle = trace.alloc(2 * MIB, "vmm", 0x51)
    for address in (0x7000_0000, 0x8000_0000):
        trace.event("map", "vmm", address, 2 * MIB, object=handle)
    trace.free(handle, "vmm")
    trace.event("unmap", "vmm", 0x7000_0000, 2 * MIB)
    assert figures(device_of(trace)["driver"]) == (2 * MIB, 2 * MIB, 1, 0, 0, 0)


# --- layers and devices ---


def test_bytes_of_a_framework_pool_are_never_added_to_the_drivers(trace):
    segment = trace.alloc(20 * MIB)
    tensor = trace.tensor(segment, 3 * MIB)
    trace.tensor_free(tensor)
    device = device_of(trace)
    assert figures(device["driver"]) == (20 * MIB, 20 * MIB, 1, 0, 0, 0)
    (pool,) = device["pools"]
    assert pool["name"] == "pytorch"
    assert pool["peak_live_bytes"] == 3 * MIB and pool["live_at_exit_bytes"] == 0
    assert (pool["allocations"], pool["frees"], pool["failed"]) == (1, 1, 0)
    assert pool["peak_reserved_bytes"] == 20 * MIB


def test_the_leading_layer_is_the_pool_with_the_highest_peak(trace):
    segment = trace.alloc(20 * MIB)
    trace.tensor(segment, MIB, pool="rmm")
    trace.tensor(segment + 8 * MIB, 2 * MIB, pool="cupy")
    device = device_of(trace)
    assert (device["leading_layer"], device["leading_pool"]) == ("pool", "cupy")
    assert {pool["name"]: pool["peak_live_bytes"] for pool in device["pools"]} == {
        "rmm": MIB, "cupy": 2 * MIB,
    }  # fmt: skip


def test_without_a_pool_the_driver_leads(trace):
    trace.alloc(1)
    device = device_of(trace)
    assert (device["leading_layer"], device["leading_pool"], device["pools"]) == ("driver", None, [])


def test_a_segment_counts_as_reserved_from_the_drivers_allocation_on(trace):
    first, second = trace.alloc(20 * MIB), trace.alloc(20 * MIB)
    trace.tensor(first, MIB)
    trace.free(first)  # at this moment no block of the second pool is in use
    trace.tensor(second, MIB)
    (pool,) = device_of(trace)["pools"]
    assert pool["peak_reserved_bytes"] == 40 * MIB


def test_what_a_pool_reserves_is_unknown_when_its_segments_were_not_seen(trace):
    trace.tensor(0x1000, MIB)
    (pool,) = device_of(trace)["pools"]
    assert pool["peak_reserved_bytes"] is None


def test_stream_ordered_pools_report_what_they_used_and_reserved(trace):
    trace.alloc(MIB, "async", object=0xF00)
    trace.pool_usage(0xF00, 2 * MIB, 32 * MIB)
    trace.pool_usage(0xF00, MIB, 4 * MIB)
    trace.alloc(3, "async", object=0xBA2)  # a pool that reports no usage
    assert device_of(trace)["mempools"] == [
        {"name": "0xf00", "memory": "stream-ordered", "peak_used_bytes": 2 * MIB,
         "peak_reserved_bytes": 32 * MIB},
        {"name": "0xba2", "memory": "stream-ordered", "peak_used_bytes": 3,
         "peak_reserved_bytes": None},
    ]  # fmt: skip


def test_devices_are_those_with_events_by_number_with_their_own_figures(trace):
    trace.device(1, "GPU-b", "Card B", 1 << 30)
    trace.alloc(3, device=2)
    trace.alloc(5, device=1)
    devices = load_json("report", trace.write())["devices"]
    assert [(d["device"], d["uuid"], d["name"], d["total_bytes"]) for d in devices] == [
        (1, "GPU-b", "Card B", 1 << 30), (2, None, None, None),
    ]  # fmt: skip
    assert [d["driver"]["peak_bytes"] for d in devices] == [5, 3]


def test_a_trace_without_events_is_a_report_without_devices(trace):
    report = load_json("report", trace.write())
    assert report["devices"] == [] and report["oom"] == []
    assert report["trace"]["events"] == 0


def test_of_a_long_command_text_shows_the_first_word_and_the_end(tmp_path, gpumemtrace):
    words = ["/opt/python", *("--option" for _ in range(40)), "train.py"]
    trace = Trace(tmp_path / "trace.db", command=" ".join(words))
    text = gpumemtrace("report", trace.write()).stdout
    (line,) = [line for line in text.splitlines() if line.startswith("program ")]
    assert line.split()[1:3] == ["/opt/python", "…"]
    assert line.endswith("--option train.py") and len(line) < 160
    assert load_json("report", trace.path)["trace"]["command"] == " ".join(words)


def test_the_report_has_every_key_of_the_manual(trace):
    trace.alloc(1)
    report = load_json("report", trace.write())
    assert report["schema"] == "gpumemtrace.report/1"
    assert {"trace", "devices", "oom", "ledger", "leaks", "warnings"} <= report.keys()
    assert report["trace"] == {
        "path": str(trace.path), "pid": 4242, "command": "python train.py", "host": "node1",
        "rank": None, "start_unix_ns": 1_700_000_000_000_000_000, "duration_ns": 1000, "events": 1,
        "lost_events": 0, "in_flight_events": 0, "complete": True, "recording": False,
        "simulated": None, "dry_run": None, "dry_run_events": None,
    }  # fmt: skip
    (device,) = report["devices"]
    assert {
        "device", "uuid", "name", "total_bytes", "leading_layer", "driver", "managed", "host",
        "imported", "context", "mempools", "pools", "fragmentation", "phases", "sites_at_peak",
    } <= device.keys()  # fmt: skip


def test_lost_events_are_in_every_report(tmp_path):
    trace = Trace(tmp_path / "lossy.db", lost_events=12)
    trace.alloc(1)
    report = load_json("report", trace.write())
    assert report["trace"]["lost_events"] == 12
    assert any("12 events were lost" in warning for warning in report["warnings"])


def test_several_traces_make_one_document_with_the_job(tmp_path):
    paths = []
    for rank in range(2):
        trace = Trace(tmp_path / f"rank{rank}.db", rank=rank, complete=1 - rank)
        trace.alloc(10 + rank)
        paths.append(trace.write())
    document = load_json("report", *paths)
    assert document["schema"] == "gpumemtrace.reports/1"
    job = {key: document["job"][key] for key in ("traces", "complete_traces", "lost_events", "peaks", "bounds")}
    assert job == {
        "traces": 2, "complete_traces": 1, "lost_events": 0,
        "peaks": [
            {"rank": rank, "device": 0, "uuid": None, "layer": "driver", "peak_bytes": 10 + rank,
             "trace": str(paths[rank]), "replayed": str(paths[rank])}
            for rank in range(2)
        ],
        "bounds": [],
    }  # fmt: skip
    assert [t["schema"] for t in document["traces"]] == ["gpumemtrace.report/1"] * 2
    assert [t["trace"]["rank"] for t in document["traces"]] == [0, 1]
    assert [t["devices"][0]["driver"]["peak_bytes"] for t in document["traces"]] == [10, 11]


def test_the_page_for_people_begins_with_what_peaked_when_and_in_which_phase(trace, gpumemtrace):
    with trace.phase("forward"):
        trace.alloc(3 * MIB)
    completed = gpumemtrace("report", trace.write())
    assert completed.returncode == 0
    assert completed.stdout.splitlines()[:2] == [
        "Peak 3.00 MiB on device 0 (driver), 2.00 us after the start in forward.",
        "",
    ]


def test_memory_of_an_unknown_device_is_counted_under_no_number(trace, gpumemtrace):
    trace.alloc(7, "pinned", device=None)
    path = trace.write()
    (device,) = load_json("report", path)["devices"]
    assert device["device"] is None
    assert figures(device["host"]) == (7, 7, 1, 0, 0, 0)
    assert gpumemtrace("report", path).stdout.startswith("No GPU memory was allocated on an unknown device.")


def test_a_device_without_events_is_refused(trace, gpumemtrace):
    trace.alloc(1)
    completed = gpumemtrace("report", trace.write(), "--device=3")
    assert completed.returncode == 2
    assert "device 3 has no events" in completed.stderr
