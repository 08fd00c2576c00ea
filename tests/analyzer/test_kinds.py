# SPDX-License-Identifier: MIT
"""Each kind of memory: which account counts it, and when it ends. The kinds are imports, virtual memory, graphs, pools
and others."""
import pytest

from support.run import load_json
from support.tracefile import MIB

HANDLE, OTHER, PLACE = 0x51, 0x52, 0x7000_0000


def report_of(trace):
    return load_json("report", trace.written())


def device_of(trace, number=0):
    return next(device for device in report_of(trace)["devices"] if device["device"] == number)


def counts(account):
    """Returns (peak, live at exit, allocations, frees)."""
    return tuple(account[k] for k in "peak_bytes live_at_exit_bytes allocations frees".split())


def nothing_but(trace, account, *expected):
    """Asserts three things: one account has these figures, all other accounts are empty, and there is no warning."""
    device = device_of(trace)
    assert counts(device[account]) == expected
    for other in {"driver", "managed", "host", "imported", "context"} - {account}:
        assert counts(device[other]) == (0, 0, 0, 0), other
    assert report_of(trace)["warnings"] == []


# --- arrays and host memory ---


def test_an_array_without_memory_of_its_own_is_an_allocation_of_no_bytes(trace):
    trace.free(trace.alloc(0, "array", HANDLE), "array")
    nothing_but(trace, "driver", 0, 0, 1, 1)


@pytest.mark.parametrize("memory", ["registered", "pinned"])
def test_registered_host_memory_ends_with_its_unregistering_or_its_free(trace, memory):
    trace.free(trace.alloc(4096, "registered", 0x1000), memory)
    nothing_but(trace, "host", 4096, 0, 1, 1)


def test_virtual_memory_of_the_host_is_the_hosts(trace):
    trace.alloc(4 * MIB, "vmm-host", HANDLE)
    trace.map(HANDLE, PLACE, 4 * MIB)
    trace.free(HANDLE, "vmm")
    trace.unmap(PLACE, 4 * MIB)
    nothing_but(trace, "host", 4 * MIB, 0, 1, 1)


# --- imports ---


@pytest.mark.parametrize("memory", ["imported", "async", "linear"])
def test_an_import_opened_twice_counts_its_bytes_once_and_ends_with_the_second_close(trace, memory):
    for _ in range(2):
        trace.alloc(8 * MIB, "imported", PLACE)
    trace.free(PLACE, memory)
    # This allocation makes the peak show whether the import is still live.
    trace.alloc(MIB, "imported", PLACE + 16 * MIB)
    trace.free(PLACE, memory)
    nothing_but(trace, "imported", 9 * MIB, MIB, 3, 2)


def test_an_import_closed_once_too_often_is_warned_about(trace):
    trace.alloc(8, "imported", PLACE)
    trace.free(PLACE, "imported")
    trace.free(PLACE, "imported")
    assert counts(device_of(trace)["imported"]) == (8, 0, 1, 1)
    assert any("1 frees of memory whose allocation" in w for w in report_of(trace)["warnings"])


def test_an_imported_handle_has_bytes_from_its_first_mapping_on(trace):
    trace.alloc(0, "imported-vmm", HANDLE)
    trace.alloc(5, "imported", 0x1000)  # 2: the handle has no bytes yet
    trace.map(HANDLE, PLACE, 4 * MIB)  # 3
    trace.free(HANDLE, "vmm")  # the memory is still mapped
    trace.free(0x1000, "imported")
    trace.unmap(PLACE, 4 * MIB)
    nothing_but(trace, "imported", 4 * MIB + 5, 0, 2, 2)
    assert device_of(trace)["imported"]["peak_seq"] == 3


def test_a_further_mapping_of_an_imported_handle_adds_no_bytes(trace):
    trace.alloc(0, "imported-vmm", HANDLE)
    trace.map(HANDLE, PLACE, 4 * MIB)
    trace.map(HANDLE, 2 * PLACE, 4 * MIB)
    trace.unmap(PLACE, 4 * MIB)
    nothing_but(trace, "imported", 4 * MIB, 4 * MIB, 1, 0)


def test_an_imported_handle_that_is_never_mapped_ends_with_its_release(trace):
    trace.free(trace.alloc(0, "imported-vmm", HANDLE), "vmm")
    nothing_but(trace, "imported", 0, 0, 1, 1)


def test_external_memory_is_imported_and_what_is_mapped_out_of_it_counts_nowhere(trace):
    trace.alloc(64 * MIB, "external", HANDLE)
    trace.alloc(32 * MIB, "mapped", PLACE)
    trace.alloc(0, "mapped-array", HANDLE)
    trace.free(PLACE, "linear")
    trace.free(HANDLE, "array")
    trace.free(HANDLE, "external")
    nothing_but(trace, "imported", 64 * MIB, 0, 1, 1)


def test_a_mapped_buffer_that_goes_with_its_external_memory_is_no_lost_block(trace):
    for _ in range(2):
        trace.alloc(64 * MIB, "external", HANDLE)
        trace.alloc(32 * MIB, "mapped", PLACE)
        trace.free(HANDLE, "external")
    nothing_but(trace, "imported", 64 * MIB, 0, 2, 2)


# --- address space and references of virtual memory ---


def test_reserved_addresses_count_nowhere_and_never_meet_what_is_mapped_there(trace):
    trace.alloc(1 << 40, "reservation", PLACE)
    trace.alloc(2 * MIB, "vmm", HANDLE)
    trace.map(HANDLE, PLACE, 2 * MIB)
    # This is the same address, which is impossible on a card, but the analyzer has a separate table for each of the two
    # kinds.
    trace.alloc(3, "linear", PLACE)
    trace.free(PLACE, "reservation")
    trace.free(PLACE, "linear")
    nothing_but(trace, "driver", 2 * MIB + 3, 2 * MIB, 2, 1)


@pytest.mark.parametrize("again", [HANDLE, OTHER], ids=["same", "other"])
def test_a_retained_object_lives_until_the_retained_handle_is_released_too(trace, again):
    trace.alloc(2 * MIB, "vmm", HANDLE)
    trace.map(HANDLE, PLACE, 2 * MIB)
    trace.event("retain", "vmm", PLACE + MIB, object=again)
    trace.free(HANDLE, "vmm")
    trace.unmap(PLACE, 2 * MIB)
    trace.alloc(MIB)  # this allocation makes the peak show whether the object is still live
    trace.free(again, "vmm")
    nothing_but(trace, "driver", 3 * MIB, MIB, 2, 1)


def test_a_mapping_where_something_is_mapped_already_ends_that_one_as_lost(trace):
    for handle in (0x51, 0x52):
        trace.alloc(2 * MIB, "vmm", handle)
        trace.map(handle, PLACE, 2 * MIB)
        trace.free(handle, "vmm")
    trace.unmap(PLACE, 2 * MIB)
    trace.exit()
    document = report_of(trace)
    driver = document["devices"][0]["driver"]
    assert (driver["peak_bytes"], driver["live_at_exit_bytes"]) == (4 * MIB, 0)
    assert any("1 blocks ended without a recorded free" in warning for warning in document["warnings"])


def test_a_handle_released_twice_does_not_release_another_handle_of_the_same_object(trace):
    trace.alloc(2 * MIB, "vmm", HANDLE)
    trace.map(HANDLE, PLACE, 2 * MIB)
    trace.event("retain", "vmm", PLACE, object=OTHER)
    trace.unmap(PLACE, 2 * MIB)
    trace.free(HANDLE, "vmm")
    trace.free(HANDLE, "vmm")
    assert counts(device_of(trace)["driver"]) == (2 * MIB, 2 * MIB, 1, 0)
    assert any("1 frees of memory whose allocation" in w for w in report_of(trace)["warnings"])


def test_a_retain_that_failed_is_no_reference(trace):
    trace.alloc(2 * MIB, "vmm", HANDLE)
    trace.map(HANDLE, PLACE, 2 * MIB)
    trace.event("retain", "vmm", PLACE, object=HANDLE, result=1)
    trace.unmap(PLACE, 2 * MIB)
    trace.free(HANDLE, "vmm")
    nothing_but(trace, "driver", 2 * MIB, 0, 1, 1)


# --- multicast objects and sparse arrays ---

MULTICAST = 0x900


def bind(trace, container, handle=HANDLE, place=0, size=2 * MIB, **columns):
    return trace.event("bind", "vmm", place, size, object=handle, stream=container, **columns)


def unbind(trace, container, place=0, size=2 * MIB, **columns):
    return trace.event("unbind", "none", place, size, stream=container, **columns)


def test_a_multicast_object_has_no_bytes_and_is_released_like_any_handle(trace):
    trace.alloc(2 * MIB, "multicast", MULTICAST)
    trace.map(MULTICAST, PLACE, 2 * MIB)
    trace.unmap(PLACE, 2 * MIB)
    trace.free(MULTICAST, "vmm")
    nothing_but(trace, "driver", 0, 0, 0, 0)


@pytest.mark.parametrize("container", ["multicast", "array"])
def test_bound_memory_lives_until_it_is_unbound(trace, container):
    trace.alloc(0, container, MULTICAST)
    trace.alloc(2 * MIB, "vmm", HANDLE)
    bind(trace, MULTICAST)
    trace.free(HANDLE, "vmm")
    trace.alloc(MIB)  # this allocation makes the peak show whether the object is still live
    unbind(trace, MULTICAST)
    driver = device_of(trace)["driver"]
    assert (driver["peak_bytes"], driver["live_at_exit_bytes"]) == (3 * MIB, MIB)
    assert report_of(trace)["warnings"] == []


@pytest.mark.parametrize("container", ["multicast", "array"])
def test_bound_memory_ends_with_what_it_is_bound_into(trace, container):
    trace.alloc(0, container, MULTICAST)
    trace.alloc(2 * MIB, "vmm", HANDLE)
    bind(trace, MULTICAST)
    trace.free(HANDLE, "vmm")
    trace.free(MULTICAST, "vmm" if container == "multicast" else "array")
    driver = device_of(trace)["driver"]
    assert (driver["peak_bytes"], driver["live_at_exit_bytes"]) == (2 * MIB, 0)


def test_a_multicast_object_that_is_released_but_mapped_keeps_what_is_bound_into_it(trace):
    trace.alloc(0, "multicast", MULTICAST)
    trace.map(MULTICAST, PLACE, 2 * MIB)
    trace.alloc(2 * MIB, "vmm", HANDLE)
    bind(trace, MULTICAST)
    trace.free(HANDLE, "vmm")
    trace.free(MULTICAST, "vmm")
    trace.alloc(MIB)  # this allocation makes the peak show whether the object is still live
    trace.unmap(PLACE, 2 * MIB)
    nothing_but(trace, "driver", 3 * MIB, MIB, 2, 1)


def test_a_reset_takes_a_sparse_array_and_so_what_was_bound_into_it(trace):
    trace.alloc(0, "array", MULTICAST)
    trace.alloc(2 * MIB, "vmm", HANDLE)
    bind(trace, MULTICAST)
    trace.free(HANDLE, "vmm")
    trace.event("context-destroy", device=0)
    driver = device_of(trace)["driver"]
    assert counts(driver) == (2 * MIB, 0, 2, 1)
    assert driver["implicit_frees"] == 1


@pytest.mark.parametrize("place", [0, 4 * MIB])
def test_an_unbind_leaves_other_places_and_other_devices_bound(trace, place):
    trace.alloc(0, "multicast", MULTICAST)
    for device, handles in ((0, (0x10, 0x11)), (1, (0x20, 0x21))):
        for handle, start in zip(handles, (0, 4 * MIB)):
            trace.alloc(2 * MIB, "vmm", handle, device=device)
            bind(trace, MULTICAST, handle, start)
            trace.free(handle, "vmm")
    unbind(trace, MULTICAST, place, device=1)
    assert counts(device_of(trace, 0)["driver"]) == (4 * MIB, 4 * MIB, 2, 0)
    assert counts(device_of(trace, 1)["driver"]) == (4 * MIB, 2 * MIB, 2, 1)


def test_memory_bound_by_its_address_is_the_object_mapped_there(trace):
    trace.alloc(0, "multicast", MULTICAST)
    trace.alloc(2 * MIB, "vmm", HANDLE)
    trace.map(HANDLE, PLACE, 2 * MIB)
    trace.event("bind", "none", 0, MIB, object=PLACE + MIB, stream=MULTICAST)
    trace.free(HANDLE, "vmm")
    trace.unmap(PLACE, 2 * MIB)
    trace.alloc(MIB)  # this allocation makes the peak show whether the object is still live
    unbind(trace, MULTICAST)
    nothing_but(trace, "driver", 3 * MIB, MIB, 2, 1)


def test_memory_bound_anew_in_one_place_takes_the_place_of_the_old(trace):
    trace.alloc(0, "multicast", MULTICAST)
    for handle in (HANDLE, OTHER, OTHER + 1):
        trace.alloc(2 * MIB, "vmm", handle)
        bind(trace, MULTICAST, handle)
        bind(trace, MULTICAST, handle)
        trace.free(handle, "vmm")
    nothing_but(trace, "driver", 4 * MIB, 2 * MIB, 3, 2)


# --- pools of the driver ---


@pytest.mark.parametrize(
    "memory, account",
    [("none", "driver"), ("async", "driver"), ("async-host", "host"), ("async-managed", "managed"),
     ("imported", "imported"), ("array", "driver")],
)  # fmt: skip
def test_a_block_of_a_pool_is_counted_where_its_pool_belongs(trace, memory, account):
    trace.event("pool-create", memory, object=0xF00, device=0)
    address = trace.alloc(MIB, "async", object=0xF00)
    trace.fail(1 << 40, "async", object=0xF00)
    trace.free(address, "async")
    nothing_but(trace, account, MIB, 0, 1, 1)
    assert device_of(trace)[account]["failed"] == 1


def test_a_silent_pools_use_is_what_is_handed_out_of_it_at_once(trace):
    trace.free(trace.alloc(3, "async", object=0xF00), "async")
    trace.alloc(2, "async", object=0xF00)
    assert [pool["peak_used_bytes"] for pool in device_of(trace)["mempools"]] == [3]


def test_a_destroyed_pools_blocks_end_by_their_own_frees(trace):
    address = trace.alloc(MIB, "async", object=0xF00)
    trace.event("pool-destroy", object=0xF00)
    trace.alloc(MIB)  # this allocation makes the peak show whether the pool's memory is still live
    trace.free(address, "async")
    nothing_but(trace, "driver", 2 * MIB, MIB, 2, 1)


def test_a_pool_with_the_handle_of_a_destroyed_one_is_another_pool(trace):
    trace.event("pool-create", "async", object=0xF00, device=0)
    first = trace.alloc(3 * MIB, "async", object=0xF00)
    trace.event("pool-destroy", object=0xF00)
    trace.event("pool-create", "async-host", object=0xF00, device=0)
    trace.alloc(MIB, "async", object=0xF00)
    trace.free(first, "async")
    device = device_of(trace)
    assert [(pool["memory"], pool["peak_used_bytes"]) for pool in device["mempools"]] == [
        ("stream-ordered", 3 * MIB), ("stream-ordered host", MIB),
    ]  # fmt: skip
    assert counts(device["driver"]) == (3 * MIB, 0, 1, 1)
    assert counts(device["host"]) == (MIB, MIB, 1, 0)


# --- graphs ---


def test_a_graphs_addresses_count_nowhere_and_may_be_freed_after_each_launch(trace):
    trace.alloc(64 * MIB, "graph-node", PLACE)
    trace.alloc(MIB, "async", 2 * PLACE)
    for memory in ("async", "linear", "async"):
        trace.free(PLACE, memory)
    trace.free(PLACE, "graph-node")
    nothing_but(trace, "driver", MIB, MIB, 1, 0)


def test_plain_memory_at_a_former_address_of_a_graph_counts_as_ever(trace):
    trace.alloc(64 * MIB, "graph-node", PLACE)
    trace.alloc(MIB, "async", PLACE)
    trace.free(PLACE, "async")
    nothing_but(trace, "driver", MIB, 0, 1, 1)


def test_what_graphs_use_of_their_pool_is_one_block(trace):
    trace.graph_usage(0, 0)  # 1: nothing
    trace.graph_usage(8 * MIB, 32 * MIB)  # 2: the graph allocates
    trace.graph_usage(60 * MIB, 96 * MIB)  # 3: the graph memory grows
    trace.graph_usage(16 * MIB, 96 * MIB)  # 4: a graph is destroyed
    trace.graph_usage(16 * MIB, 16 * MIB)  # 5: the pool is trimmed
    nothing_but(trace, "driver", 60 * MIB, 16 * MIB, 1, 0)
    assert device_of(trace)["driver"]["peak_seq"] == 3
    assert device_of(trace)["mempools"] == [
        {"name": "graph memory", "memory": "graph pool", "peak_used_bytes": 60 * MIB,
         "peak_reserved_bytes": 96 * MIB}
    ]  # fmt: skip


def test_the_end_of_the_last_graph_is_a_free_and_the_next_launch_an_allocation(trace):
    trace.graph_usage(32, 32)
    trace.graph_usage(0, 32)
    trace.graph_usage(16, 32)
    nothing_but(trace, "driver", 32, 16, 2, 1)


def test_each_device_has_its_own_pool_for_graphs(trace):
    trace.graph_usage(100, 100, device=0)
    trace.graph_usage(10, 10, device=1)
    trace.graph_usage(0, 0, device=0)
    assert counts(device_of(trace, 0)["driver"]) == (100, 0, 1, 1)
    assert counts(device_of(trace, 1)["driver"]) == (10, 10, 1, 0)
    assert [len(device_of(trace, n)["mempools"]) for n in (0, 1)] == [1, 1]


def test_the_pool_for_graphs_belongs_to_the_launch_that_last_changed_it(trace):
    first, second = trace.stack("launch", "first"), trace.stack("launch", "second")
    trace.graph_usage(32 * MIB, 32 * MIB, stack=first)
    trace.graph_usage(96 * MIB, 96 * MIB, stack=second)
    trace.graph_usage(96 * MIB, 99 * MIB, stack=first)
    (site,) = device_of(trace)["sites_at_peak"]
    assert (site["bytes"], site["count"], site["frames"][-1]["function"]) == (96 * MIB, 1, "second")


def test_a_reset_takes_the_memory_of_a_handle_that_is_the_primary_contexts_by_then(trace):
    trace.rows["hook"].append((1, "cuCtxCreate_v2", "driver"))
    trace.event("context-create", object=HANDLE, device=0, hook=1)
    trace.alloc(100, object=HANDLE)
    trace.event("context-destroy", device=0)  # another context
    trace.alloc(20, object=HANDLE)
    trace.event("context-create", object=HANDLE, device=0)
    trace.event("context-destroy", device=0)
    driver = device_of(trace)["driver"]
    assert counts(driver) == (120, 0, 2, 0)
    assert driver["implicit_frees"] == 2


def test_a_reset_leaves_pools_and_imports_alone(trace):
    trace.graph_usage(100, 100)
    trace.alloc(10, "external", HANDLE)
    trace.alloc(1, "imported", PLACE)
    trace.event("context-destroy", device=0)
    device = device_of(trace)
    assert counts(device["driver"]) == (100, 100, 1, 0)
    assert counts(device["imported"]) == (11, 11, 2, 0)


# --- kinds in the other commands ---


def frag(trace, *options):
    path = trace.written()
    result = load_json("frag", path, *options)["devices"][0]["fragmentation"]
    return tuple(result[f"{k}_bytes"] for k in "reserved live free largest_free".split())


def test_what_graphs_do_not_use_of_their_pool_is_free(trace):
    trace.graph_usage(8 * MIB, 32 * MIB)
    trace.alloc(2 * MIB)
    assert frag(trace, "--at=end") == (34 * MIB, 10 * MIB, 24 * MIB, 24 * MIB)


def test_pools_of_the_host_or_of_managed_memory_are_not_reserved_on_the_device(trace):
    for pool, memory in ((0xF00, "async-host"), (0xF01, "async-managed"), (0xF02, "async")):
        trace.event("pool-create", memory, object=pool, device=0)
        trace.alloc(MIB, "async", object=pool)
        trace.pool_usage(pool, MIB, 32 * MIB)
    assert frag(trace, "--at=end") == (32 * MIB, MIB, 31 * MIB, 31 * MIB)


def test_a_destroyed_pool_reserves_no_more_than_is_still_handed_out(trace):
    trace.alloc(MIB, "async", object=0xF00)
    trace.pool_usage(0xF00, MIB, 32 * MIB)
    trace.event("pool-destroy", object=0xF00)
    assert frag(trace, "--at=end") == (MIB, MIB, 0, 0)


def test_a_change_of_size_shows_no_moment_in_between(trace):
    trace.graph_usage(10 * MIB, 30 * MIB)  # 1000 ns
    trace.graph_usage(30 * MIB, 30 * MIB)  # 2000 ns
    rows = load_json("timeline", trace.write(), "--samples=2")["devices"][0]["timeline"]
    assert [(row["live_bytes"], row["lowest_bytes"]) for row in rows] == [
        (10 * MIB, 0), (30 * MIB, 10 * MIB),
    ]  # fmt: skip


def test_a_reset_shows_in_leaks_as_nothing_left(trace):
    for memory in ("linear", "array", "managed"):
        trace.alloc(MIB, memory)
    trace.event("context-destroy", device=0)
    (leaks,) = load_json("report", trace.write())["leaks"]
    assert leaks["totals"] == [
        {"layer": layer, "pool": None, "live_at_exit_bytes": 0, "blocks": 0} for layer in ("driver", "managed")
    ]
