# SPDX-License-Identifier: MIT
"""Every family of allocations that the recorder hooks is compared with the records that the program keeps of its own
calls."""
import json

import pytest


@pytest.fixture
def recorded(record, program):
    recording = record(program("families"))
    return recording, json.loads(recording.completed.stdout)


@pytest.mark.parametrize("account", ["driver", "managed", "host"])
def test_each_account_equals_the_books_of_a_program_that_uses_every_family(recorded, account):
    recording, books = recorded
    entry = recording.report()["devices"][0][account]
    assert {key: entry[key] for key in books[account]} == books[account]


def test_a_call_inside_another_is_part_of_it(recorded):
    recording, _ = recorded
    names = recording.rows("SELECT api, count(*) FROM events WHERE kind='alloc' GROUP BY api")
    assert dict(names) == {
        "cudaMalloc": 1, "cudaMallocPitch": 1, "cudaMallocManaged": 1, "cudaMallocHost": 1,
        "cudaHostAlloc": 1, "cudaMallocAsync": 1, "cuMemAllocFromPoolAsync": 1, "cuMemCreate": 1,
        "cuMemAlloc_v2": 1, "cuMemHostAlloc": 1, "cuMemAddressReserve": 1,
    }


def test_the_drivers_pools_are_in_the_report_with_what_they_held(recorded):
    recording, _ = recorded
    pools = recording.report()["devices"][0]["mempools"]
    assert len(pools) == 2
    assert sorted(pool["peak_used_bytes"] for pool in pools) == [5 << 20, 9 << 20]
    assert all(pool["peak_reserved_bytes"] >= pool["peak_used_bytes"] for pool in pools)


def test_the_first_context_is_measured_and_the_device_named(recorded):
    recording, _ = recorded
    ((uuid, name, total, context),) = recording.rows(
        "SELECT uuid, name, total_bytes, context_bytes FROM device"
    )
    assert uuid.startswith("GPU-") and name
    assert total == 16 << 30
    assert 0 < context < 1 << 30


@pytest.mark.parametrize("reset", ["cudaMalloc:1=2", "cudaFree:1=700"])
def test_an_error_of_the_driver_reaches_the_program_as_it_is(record, program, reset):
    recording = record(program("families"), fault=reset, check=False)
    assert recording.completed.returncode == 9
    assert f"error {reset.rpartition('=')[2]}" in recording.completed.stderr


def test_memory_of_another_device_than_the_current_one_is_that_devices(record, program):
    recording = record(program("other_device"), spec="2x16GiB")
    assert recording.rows("SELECT api, device, result FROM events WHERE kind='alloc' ORDER BY seq") == [
        ("cuMemAllocFromPoolAsync", 1, 0), ("cuMemCreate", 1, 0), ("cuMemCreate", 1, 2),
    ]


def test_what_the_current_device_has_free_is_never_said_of_another(record, program):
    recording = record(program("other_device"), spec="2x16GiB")
    assert recording.rows("SELECT count(*) FROM events WHERE kind='device-memory' AND device=1") == [(0,)]
    assert recording.rows("SELECT context_bytes FROM device WHERE device=1") == [(None,)]


def test_the_device_is_not_asked_while_a_stream_is_captured(record, program):
    kinds = record(program("captured_failure")).rows(
        "SELECT kind FROM events WHERE kind IN ('alloc', 'device-memory') ORDER BY seq"
    )
    assert [kind for (kind,) in kinds] == ["device-memory", "alloc", "alloc", "device-memory", "alloc"]


def test_a_launch_for_which_the_card_has_no_memory_is_a_failed_allocation(record, program):
    recording = record(program("matrix"), "linked", "graph", fault="cuGraphLaunch:1=2", check=False)
    failures = recording.rows("SELECT api, result FROM events WHERE kind = 'alloc' AND result != 0")
    assert ("cuGraphLaunch", 2) in failures
