# SPDX-License-Identifier: MIT
"""Device memory that modules and limits take. A trace shows it only by samples of the free memory before and after the
call."""
import pytest

from support.run import load_json
from support.tracefile import MIB

GIB = 1024 * MIB


def report_of(trace):
    return load_json("report", trace.written())


def context_of(trace):
    context = report_of(trace)["devices"][0]["context"]
    keys = "peak_bytes live_at_exit_bytes allocations frees failed implicit_frees".split()
    return tuple(context[key] for key in keys)


def test_a_module_takes_what_became_less_free_and_gives_it_back(trace):
    trace.module(0x11, 8 * GIB, 8 * GIB - 6 * MIB)
    trace.event("module-unload", object=0x11)
    assert context_of(trace) == (6 * MIB, 0, 1, 1, 0, 0)
    report = report_of(trace)
    assert report["devices"][0]["driver"]["peak_bytes"] == 0  # module memory is no part of the account driver
    assert report["warnings"] == []


def test_more_free_memory_after_a_load_is_no_memory_taken(trace):
    trace.module(0x11, 8 * GIB, 9 * GIB)
    assert context_of(trace) == (0, 0, 1, 0, 0, 0)


def test_a_module_without_samples_around_it_takes_nothing(trace):
    trace.event("module-load", object=0x11, device=0)
    trace.device_memory(8 * GIB, 16 * GIB)  # a call by the program itself
    trace.device_memory(7 * GIB, 16 * GIB)
    trace.event("module-load", object=0x12, device=0)
    assert context_of(trace) == (0, 0, 2, 0, 0, 0)


def test_a_library_loaded_before_there_is_a_context_is_on_no_device(trace):
    trace.event("module-load", object=0x11)  # PyTorch on a card calls cuLibraryLoadData during import
    trace.alloc(4 * MIB)
    trace.event("module-unload", object=0x11)
    assert [device["device"] for device in report_of(trace)["devices"]] == [0]


def test_what_the_process_took_meanwhile_is_not_the_modules(trace):
    held = trace.alloc(4 * MIB, thread=2)

    def meanwhile():
        trace.alloc(10 * MIB, thread=2)
        trace.alloc(64 * MIB, "pinned", thread=2)  # host memory
        trace.alloc(32 * MIB, device=1, thread=2)  # another device
        trace.free(held, thread=2)

    trace.module(0x11, 8 * GIB, 8 * GIB - 9 * MIB, inside=meanwhile)
    assert context_of(trace) == (3 * MIB, 3 * MIB, 1, 0, 0, 0)


def test_a_module_loaded_meanwhile_by_another_thread_is_counted_once(trace):
    def meanwhile():
        trace.module(0x12, 8 * GIB, 8 * GIB - 4 * MIB, thread=2, call=7)

    trace.module(0x11, 8 * GIB, 8 * GIB - 5 * MIB, inside=meanwhile)
    assert context_of(trace) == (5 * MIB, 5 * MIB, 2, 0, 0, 0)


def test_modules_loaded_one_after_the_other_in_one_call_have_their_own_samples(trace):
    trace.module(0x11, 8 * GIB, 8 * GIB - 4 * MIB, nested=1)
    trace.module(0x12, 8 * GIB - 4 * MIB, 8 * GIB - 5 * MIB, nested=1)
    trace.event("module-load", object=0x13, call=1, nested=1, device=0)  # without samples
    trace.event("module-unload", object=0x12)
    assert context_of(trace) == (5 * MIB, 4 * MIB, 3, 1, 0, 0)


def test_an_allocation_that_fails_inside_a_load_does_not_lend_its_sample(trace):
    def meanwhile():
        trace.device_memory(GIB, 16 * GIB, call=1, nested=1, hook=9)
        trace.fail(1 << 40, call=1, nested=1, hook=9)

    trace.module(0x11, 8 * GIB, 8 * GIB - 4 * MIB, inside=meanwhile, hook=3)
    assert context_of(trace) == (4 * MIB, 4 * MIB, 1, 0, 0, 0)


def test_samples_of_another_call_are_not_the_loads(trace):
    trace.device_memory(9 * GIB, 16 * GIB, call=1, nested=1)
    trace.device_memory(8 * GIB, 16 * GIB, call=2, nested=1)
    trace.event("module-load", object=0x11, call=2, device=0)
    assert context_of(trace) == (0, 0, 1, 0, 0, 0)


def test_a_load_that_failed_is_counted_as_failed(trace):
    trace.module(0x11, 8 * GIB, 7 * GIB, result=209)
    assert context_of(trace) == (0, 0, 0, 0, 1, 0)
    assert report_of(trace)["oom"] == []  # the load failed for a reason other than memory


def test_a_limit_set_again_takes_the_place_of_what_it_took_before(trace):
    trace.limit(0, 64 << 10, 8 * GIB, 8 * GIB - 40 * MIB)
    trace.limit(0, 128 << 10, 8 * GIB - 40 * MIB, 8 * GIB - 100 * MIB)  # takes 60 MiB more
    trace.limit(0, 32 << 10, 8 * GIB - 100 * MIB, 8 * GIB - 30 * MIB)  # takes 70 MiB less
    assert context_of(trace) == (100 * MIB, 30 * MIB, 3, 2, 0, 0)


def test_each_limit_of_each_context_is_its_own(trace):
    for number in (0, 2):
        for context in (0xC0, 0xC1):
            trace.limit(number, 1 << 20, 8 * GIB, 8 * GIB - 4 * MIB, context=context)
    assert context_of(trace) == (16 * MIB, 16 * MIB, 4, 0, 0, 0)


def test_a_limit_set_below_what_it_was_at_first_takes_nothing(trace):
    trace.limit(0, 1024, 8 * GIB, 8 * GIB + 4 * MIB)
    trace.limit(0, 4096, 8 * GIB, 8 * GIB - 4 * MIB)
    assert context_of(trace) == (4 * MIB, 4 * MIB, 2, 1, 0, 0)


def test_modules_and_limits_go_with_their_context(trace):
    trace.event("context-create", object=0xC0, device=0)
    trace.module(0x11, 8 * GIB, 8 * GIB - 4 * MIB)
    trace.limit(0, 4096, 8 * GIB, 8 * GIB - 2 * MIB, context=0xC0)
    trace.limit(0, 4096, 8 * GIB, 8 * GIB - MIB, context=0xC1)
    trace.event("context-destroy", object=0xC0, device=0)
    assert context_of(trace) == (7 * MIB, MIB, 3, 0, 0, 2)


def test_a_library_may_be_unloaded_after_the_context_it_was_in(trace):
    trace.module(0x11, 8 * GIB, 8 * GIB - 4 * MIB)
    trace.event("context-destroy", device=0)
    trace.event("module-unload", object=0x11)
    assert context_of(trace) == (4 * MIB, 0, 1, 0, 0, 1)
    assert report_of(trace)["warnings"] == []


@pytest.mark.parametrize("result, left", [(4, 0), (201, 0), (1, 4 * MIB)])
def test_an_unload_that_says_the_context_is_gone_ends_the_module(trace, result, left):
    trace.event("context-create", object=0xC1, device=0)
    trace.event("context-create", object=0xC2, device=0)  # a context created after the module
    trace.module(0x11, 8 * GIB, 8 * GIB - 4 * MIB)
    trace.event("context-create", object=0xC3, device=0)
    trace.event("context-destroy", object=0xC3, device=0)
    trace.event("module-unload", object=0x11, result=result)
    assert context_of(trace)[1] == left


def test_people_see_modules_and_limits_only_when_they_took_something(trace, gpumemtrace):
    trace.module(0x11, 8 * GIB, 8 * GIB)
    assert "modules, limits" not in gpumemtrace("report", trace.write()).stdout
    trace.path.unlink()
    trace.module(0x12, 8 * GIB, 8 * GIB - 4 * MIB)
    assert "modules, limits  4.00 MiB" in gpumemtrace("report", trace.write()).stdout
