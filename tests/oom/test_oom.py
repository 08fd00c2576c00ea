# SPDX-License-Identifier: MIT
"""Why an allocation failed: the verdict and its figures."""
import pytest

from support.run import load_json, run_command, texts_of
from support.tracefile import MIB, Trace

GIB = 1 << 30
CONTEXT = 300 * MIB


@pytest.fixture
def trace(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    trace.rows["device"].append((0, "GPU-1", "Card", 16 * GIB, CONTEXT))
    return trace


def fail(trace, size, free, **columns):
    """Records the failure as a recorder does: first the answer of cuMemGetInfo inside the failing call, and then the
    call."""
    trace.device_memory(free, 16 * GIB, call=9, nested=1)
    return trace.fail(size, call=9, **columns)


def ooms(trace):
    return load_json("oom", trace.write())["oom"]


def verdict(trace):
    return ooms(trace)[-1]["verdict"]


def test_a_process_that_filled_the_card_exhausted_it(trace):
    trace.alloc(15 * GIB)
    fail(trace, GIB, free=16 * GIB - 15 * GIB - CONTEXT)
    (oom,) = ooms(trace)
    assert oom["verdict"] == "exhausted"
    assert oom["asked_bytes"] == GIB
    assert oom["device_free_bytes"] == GIB - CONTEXT
    assert oom["device_total_bytes"] == 16 * GIB
    assert oom["others_bytes"] == 0
    assert oom["driver_live_bytes"] == 15 * GIB
    assert oom["explanation"] == "This process held 15.00 GiB of the card's 16.00 GiB."


def test_more_than_the_whole_card_is_exhausted_whatever_is_free(trace):
    fail(trace, 17 * GIB, free=15 * GIB)
    assert verdict(trace) == "exhausted"


@pytest.mark.parametrize(("size", "asked", "why"), [
    (17 * GIB, "17.00 GiB", "17.00 GiB is more than the card has"),
    ((1 << 63) - 1, "more than 8 EiB", "a request for more than 8 EiB has a size that overflowed (negative or wrapped)"),
])  # fmt: skip
def test_a_request_larger_than_the_card_exhausts_nothing(trace, size, asked, why):
    fail(trace, size, free=15 * GIB, stack=trace.stack(("/home/me/train.py", 8, "reserve")))
    said = [line["text"] for line in load_json("oom", trace.write())["verdict"]]
    assert said[0].endswith(f"train.py:8 reserve asked for {asked}.")
    assert said[1] == f"Larger than the whole card: the card had 15.00 GiB of 16.00 GiB free, and {why}."
    assert ("Check how the size is computed at train.py:8 reserve." in said) == (size > 1 << 62)


@pytest.mark.parametrize(("free", "told"), [
    ([], None),
    ([9], "device 0 refused, and device 1 had 9.00 GiB free."),
    ([9, 11, 2], "device 0 refused, and device 2 had most of the others, 11.00 GiB free."),
])  # fmt: skip
def test_a_process_with_several_devices_is_told_which_one_refused(trace, free, told):
    for device, gib in enumerate(free, 1):
        trace.rows["device"].append((device, f"GPU-1{device}", "Card", 16 * GIB, CONTEXT))
        trace.device_memory(gib * GIB, 16 * GIB, device=device)
    trace.alloc(15 * GIB)
    fail(trace, GIB, free=16 * GIB - 15 * GIB - CONTEXT)
    why = next(line["text"] for line in load_json("oom", trace.write())["verdict"] if line["role"] == "why")
    assert why.endswith(told) if told else "refused" not in why


def test_memory_that_other_processes_hold_is_the_verdict_others(trace):
    trace.alloc(8 * GIB)
    fail(trace, GIB, free=MIB)
    (oom,) = ooms(trace)
    assert oom["verdict"] == "others"
    assert oom["others_bytes"] == 16 * GIB - MIB - 8 * GIB - CONTEXT


def test_others_that_were_there_from_the_start_are_told_from_the_context(trace):
    trace.rows["device"] = [(0, None, None, 16 * GIB, CONTEXT + 6 * GIB)]
    trace.alloc(9 * GIB)
    fail(trace, 2 * GIB, free=16 * GIB - 15 * GIB - CONTEXT)
    (oom,) = ooms(trace)
    assert oom["verdict"] == "others"
    # No context is larger than 1 GiB. The rest of the memory that was used at the start therefore belongs to other
    # processes.
    assert oom["others_bytes"] == 6 * GIB + CONTEXT - GIB


def test_a_pool_with_enough_free_but_no_piece_large_enough_is_fragmented(trace):
    segments = [trace.alloc(2 * GIB) for _ in range(7)]
    for segment in segments:
        trace.tensor(segment + GIB, 2 * MIB)
    fail(trace, 3 * GIB, free=MIB)
    trace.fail(3 * GIB, "tensor")
    (oom,) = ooms(trace)
    assert (oom["layer"], oom["verdict"]) == ("pool", "fragmented")
    assert oom["idle_bytes"] == 7 * (2 * GIB - 2 * MIB)
    assert oom["largest_hole_bytes"] == GIB
    assert oom["live_bytes"] == 14 * MIB


@pytest.mark.parametrize("line, number", [(8, 1), (9, 2)])
def test_deep_stacks_that_are_cut_at_different_frames_are_of_one_request(trace, line, number):
    """The pool reports its failure from fewer native frames than those of its driver call: one more outer frame fits."""
    inner = [("layer.py", line, "Layer.forward"), ("model.py", 5, "Model.forward")]
    trace.tensor(trace.alloc(15 * GIB), 15 * GIB)
    fail(trace, 2 * GIB, free=MIB, stack=trace.stack(0x1000, ("layer.py", 8, "Layer.forward"), inner[1]))
    trace.fail(2 * GIB, "tensor", stack=trace.stack(*inner, ("train.py", 9, "main")))
    failures = ooms(trace)
    assert len(failures) == number
    assert ("without asking the driver" in failures[-1]["explanation"]) == (number > 1)


@pytest.mark.parametrize("layers, state", [
    (8, "fragmented: the card had 200.00 MiB of 16.00 GiB free, and 3.50 GiB of the process's memory lay idle, the largest "
        "piece 512.00 MiB."),
    (10, "the card had 200.00 MiB of 16.00 GiB free, and 3.50 GiB of the process's memory lay idle, but the rest of the step "
         "needs more."),
])  # fmt: skip
def test_fragmentation_is_no_second_cause_if_the_step_needs_more_than_all_idle_memory(trace, layers, state):
    """The tensors of the last batch are six times as large. Seven of them fit into one segment each."""
    segments, lines = [trace.alloc(2 * GIB) for _ in range(7)], [trace.stack(("train.py", line, "main")) for line in range(layers)]
    for number in range(1, 5):
        made = [segments[layer // 2] + layer % 2 * GIB for layer in range(layers)]
        for address, line in zip(made, lines):
            trace.tensor(address, GIB // 4, stack=line)
        for address in made:
            trace.tensor_free(address)
        trace.step(number)
    for address, line in zip(segments, lines):
        trace.tensor(address, 6 * GIB // 4, stack=line)
    fail(trace, 6 * GIB // 4, free=200 * MIB, stack=lines[7])
    trace.fail(6 * GIB // 4, "tensor", stack=lines[7])
    why = texts_of(load_json("oom", trace.write()), "why")
    assert "6.00 times as large as in other steps" in why and why.endswith(": a longer batch or sequence; " + state)


@pytest.mark.parametrize("idle, expected", [(GIB, "fragmented"), (500 * MIB, "exhausted")])
def test_a_pool_is_not_fragmented_by_what_every_allocator_loses(trace, idle, expected):
    """The request is a little larger than the idle memory. The idle memory together with the free memory of the card
    would be enough for it."""
    held = 16 * GIB - CONTEXT - 200 * MIB
    trace.tensor(trace.alloc(held), held - idle)
    fail(trace, idle + 100 * MIB, free=200 * MIB)
    trace.fail(idle + 100 * MIB, "tensor")
    assert verdict(trace) == expected


@pytest.mark.parametrize("idle, expected", [(GIB, "fragmented"), (500 * MIB, "exhausted")])
def test_nor_by_as_little_where_what_was_asked_for_is_less(trace, idle, expected):
    """In one piece, the idle memory would be large enough for this request, but not for a second one."""
    held = 16 * GIB - CONTEXT - 20 * MIB
    trace.tensor(trace.alloc(held), held - idle)
    fail(trace, 300 * MIB, free=20 * MIB)
    trace.fail(300 * MIB, "tensor")
    assert verdict(trace) == expected


def test_what_the_pool_asked_the_driver_for_is_what_did_not_fit(trace):
    """PyTorch asks the driver for 20 MiB to serve a tensor of 8 MiB. 16 MiB that are free on the card therefore do not
    show that a limit refused the request."""
    held = 16 * GIB - CONTEXT - 16 * MIB
    trace.tensor(trace.alloc(held), held)
    fail(trace, 20 * MIB, free=16 * MIB)
    trace.fail(8 * MIB, "tensor")
    assert verdict(trace) == "exhausted"
    assert "the card had 16.00 MiB of 16.00 GiB free, and the pool asked the driver for 20.00 MiB" in texts_of(load_json("oom", trace.path), "why")


def test_what_the_pool_asked_for_beyond_the_tensor_is_left_out_where_it_is_next_to_nothing(trace):
    held = 16 * GIB - CONTEXT - GIB
    trace.tensor(trace.alloc(held), held)
    fail(trace, 3602 * MIB, free=GIB)
    trace.fail(3601 * MIB, "tensor")
    page = load_json("oom", trace.write())
    assert page["answer"][0].endswith("asked for 3.52 GiB.") and "the card had 1.00 GiB" in texts_of(page, "why")


@pytest.mark.parametrize("more, expected", [(0, "fragmented"), (1, "exhausted")])
def test_a_pool_is_fragmented_where_everything_free_together_is_just_enough(trace, more, expected):
    held = 16 * GIB - CONTEXT - 200 * MIB
    trace.tensor(trace.alloc(held), held - GIB)
    fail(trace, GIB + 200 * MIB + more, free=200 * MIB)
    trace.fail(GIB + 200 * MIB + more, "tensor")
    assert verdict(trace) == expected


def test_holes_between_plain_allocations_are_fragmentation_too(trace):
    trace.alloc(16 * GIB - CONTEXT - 8 * MIB)
    for granule in range(0x7000_0000, 0x7000_0000 + 8 * MIB, 2 * MIB):
        trace.alloc(MIB // 2, address=granule + MIB + MIB // 2)
    fail(trace, 3 * MIB, free=0)
    assert verdict(trace) == "fragmented"


def test_a_card_with_enough_free_that_refuses_is_a_limit(trace):
    fail(trace, GIB, free=4 * GIB)
    assert verdict(trace) == "limit"


def test_a_framework_that_refuses_without_asking_the_driver_is_a_limit(trace):
    segment = trace.alloc(2 * GIB)
    trace.tensor(segment, 2 * GIB)
    trace.fail(GIB, "tensor")
    assert verdict(trace) == "limit"


def test_without_an_answer_of_the_card_the_verdict_is_unknown(tmp_path):
    trace = Trace(tmp_path / "bare.db")
    trace.alloc(GIB)
    trace.fail(GIB)
    (oom,) = ooms(trace)
    assert oom["verdict"] == "unknown"
    assert oom["device_free_bytes"] is None and oom["others_bytes"] is None


def test_without_an_answer_the_process_alone_can_still_have_filled_the_card(trace):
    trace.alloc(15 * GIB)
    trace.fail(2 * GIB)
    assert verdict(trace) == "exhausted"


def test_an_older_answer_is_moved_by_what_the_process_took_since(trace):
    trace.device_memory(15 * GIB, 16 * GIB)
    trace.alloc(14 * GIB)
    trace.fail(2 * GIB)
    (oom,) = ooms(trace)
    assert oom["device_free_bytes"] == GIB
    assert oom["verdict"] == "exhausted"


@pytest.mark.parametrize("result, text", [(1, "invalid value"), (700, "illegal address"), (12345, "12345")])
def test_another_error_is_no_lack_of_memory(trace, result, text):
    fail(trace, GIB, free=0, result=result)
    (oom,) = ooms(trace)
    assert (oom["verdict"], oom["result"]) == ("unknown", result)
    assert "Not a lack of memory" in oom["explanation"] and text in oom["explanation"]


def test_who_held_the_rest_is_listed_by_site_and_category(trace):
    with trace.phase("backward"):  # of an earlier step: the program trains
        pass
    with trace.phase("forward"):
        trace.alloc(15 * GIB, stack=trace.stack("activation"))
        fail(trace, GIB, free=0, stack=trace.stack("straw"))
    (oom,) = ooms(trace)
    assert oom["phase"] == "forward"
    assert oom["frames"][0]["function"] == "straw"
    assert [(h["bytes"], h["frames"][0]["function"]) for h in oom["sites"]] == [(15 * GIB, "activation")]
    assert oom["categories"]["activations"] == 15 * GIB
    assert oom["categories"]["other"] == 0


def test_failures_are_numbered_as_at_oom_counts_them(trace):
    trace.fail(1 * GIB)
    trace.fail(2 * GIB)
    path = trace.write()
    assert [(o["number"], o["asked_bytes"]) for o in load_json("oom", path)["oom"]] == [(1, GIB), (2, 2 * GIB)]
    (moment,) = load_json("peak", path, "--at=oom:2")["devices"][0]["moments"]
    assert moment["seq"] == 2


def test_failures_are_headed_by_the_lines_that_tell_them_from_each_other_and_from_what_was_live(trace):
    make = ("util.py", 3, "make")
    trace.alloc(15 * GIB, stack=trace.stack(make, ("train.py", 5, "load")))
    for line in (9, 12):
        fail(trace, 2 * GIB, free=GIB - CONTEXT, stack=trace.stack(make, ("train.py", line, "step")))
    page = load_json("oom", trace.write())
    assert [oom["site"] for oom in page["oom"]] == ["train.py:9 step", "train.py:12 step"]
    assert "train.py:12 step asked for 2.00 GiB" in page["answer"][0] and "all by train.py:5 load" in texts_of(page, "who")


def test_a_failure_in_a_backward_is_headed_by_its_forward_line(trace):
    trace.rows["module"].append((1, "/me/libtorch_cpu.so", None, 0x10000, 0x10000, 0x20000))
    trace.name(0x10010, (None, 1, "torch::autograd::generated::MmBackward0::apply"))
    segment = trace.alloc(15 * GIB)
    trace.event("autograd-node", address=1, object=7, size=0)
    trace.tensor(segment, GIB, stack=trace.stack(("train.py", 9, "forward")))
    trace.event("autograd-node", address=1, object=7, size=1)
    trace.fail(2 * GIB, "tensor", stack=trace.stack(0x10010))
    assert ooms(trace)[0]["site"] == "MmBackward0 of train.py:9 forward"


def test_of_many_failures_the_first_and_last_hundred_are_explained(trace):
    for size in range(1, 301):
        trace.fail(size)
    path = trace.write()
    numbers = [oom["number"] for oom in load_json("oom", path)["oom"]]
    assert numbers == [*range(1, 101), *range(201, 301)]
    assert load_json("report", path)["devices"][0]["driver"]["failed"] == 300


def test_people_read_the_verdict_in_the_report(trace):
    trace.alloc(15 * GIB)
    fail(trace, GIB, free=0)
    text = run_command("report", trace.write()).stdout
    first = " ".join(text.split("\n\n")[0].split())
    assert first == ("Out of memory: a call without a stack asked for 1.00 GiB. Why: Exhausted: the card had 0 B of 16.00 GiB free. "
                     "Who: 15.00 GiB live.")  # fmt: skip
    assert "This process held 15.00 GiB of the card's 16.00 GiB." in text


def test_without_failures_people_are_told_so(trace):
    trace.alloc(1)
    completed = run_command("oom", trace.write())
    assert completed.returncode == 0 and completed.stdout.startswith("No allocation failed.")


# --- memory that is not on the card, or has no size in the request ---


@pytest.mark.parametrize("is_first", [False, True])
def test_what_modules_took_is_not_others(trace, is_first):
    """The first sample of the card, which shows the context, is the one before the module or an earlier one."""
    before = 16 * GIB if is_first else 8 * GIB
    if not is_first:
        trace.alloc(8 * GIB)
    trace.module(0x11, before - CONTEXT, before - 6 * GIB - CONTEXT)
    if is_first:
        trace.alloc(8 * GIB)
    fail(trace, 2 * GIB, free=2 * GIB - CONTEXT)
    (oom,) = ooms(trace)
    assert (oom["verdict"], oom["others_bytes"]) == ("exhausted", 0)


def test_an_older_answer_of_the_card_is_moved_by_what_modules_took_since(trace):
    trace.alloc(MIB)
    trace.module(0x11, 9 * GIB, 8 * GIB)
    trace.module(0x12, 8 * GIB, 6 * GIB)  # the last answer says that 6 GiB are free
    trace.event("module-unload", object=0x11)  # after this event, 7 GiB are free
    trace.fail(17 * GIB)
    assert ooms(trace)[0]["device_free_bytes"] == 7 * GIB


@pytest.mark.parametrize("memory", ["pinned", "registered", "vmm-host"])
def test_the_hosts_memory_says_nothing_about_the_card(trace, memory):
    fail(trace, 4 * GIB, free=8 * GIB, memory=memory)
    (oom,) = ooms(trace)
    assert oom["verdict"] == "unknown"
    assert oom["explanation"] == "A request for 4.00 GiB of host memory was refused."


def test_an_import_that_cannot_be_opened_says_nothing_about_the_card(trace):
    fail(trace, 4 * GIB, free=8 * GIB, memory="imported")
    assert verdict(trace) == "unknown"


@pytest.mark.parametrize("kind", ["module-load", "limit", "context-create"])
def test_a_context_a_module_or_a_limit_without_room_is_told_without_a_size(trace, kind):
    trace.device_memory(3 * MIB, 16 * GIB)
    trace.event(kind, object=0xC0, device=0, result=2)
    (oom,) = ooms(trace)
    assert (oom["layer"], oom["verdict"], oom["asked_bytes"]) == ("device", "unknown", None)
    assert oom["explanation"] == (
        "There was no room for a context, a module or a limit, and no call reports how much that needs; the card had 3.00 MiB free."
    )


def test_addresses_that_could_not_be_reserved_are_no_lack_of_memory(trace):
    for memory in ("reservation", "mapped", "graph-node", "multicast"):
        fail(trace, 4 * GIB, free=8 * GIB, memory=memory)
    assert ooms(trace) == []
