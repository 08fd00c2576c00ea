# SPDX-License-Identifier: MIT
"""Hand-written traces about the segments of CUDA graphs, and about forward stacks of the allocations that a backward
makes."""
from support.run import load_json
from support.tracefile import MIB

WINDOW = 1 << 17  # the number of nodes whose forward stacks are kept, as in autograd.h


def segments(path, seq):
    (device,) = load_json("frag", "--segments", f"--at={seq}", path)["devices"]
    return device["segments"]


def of_graphs(trace, *seqs):
    """Returns a list for each event in `seqs`: the addresses of the segments that belong to graphs right after that
    event."""
    path = trace.write()
    return [[s["address"] for s in segments(path, seq) if s["of_graph"]] for seq in seqs]


def taken(trace, size=2 * MIB, **columns):
    """Allocates a segment and a tensor that fills it."""
    return trace.tensor(trace.alloc(size), size, "pytorch", **columns)


def test_a_segment_taken_in_a_capture_is_its_graphs_until_both_of_its_forms_are_destroyed(trace):
    taken(trace, stream=7)
    began = trace.event("capture-begin", stream=7)
    inside = taken(trace, stream=7)
    taken(trace, stream=8, thread=2)  # another stream and thread
    ended = trace.event("capture-end", stream=7, object=0x91)
    made = trace.event("graph-made", object=0x92, address=0x91)
    half = trace.event("graph-destroy", object=0x91)
    gone = trace.event("graph-destroy", object=0x92)
    assert of_graphs(trace, began, ended, made, half, gone) == [[], [inside], [inside], [inside], []]


def test_a_stream_that_joined_a_capture_is_known_by_the_thread(trace):
    trace.event("capture-begin", stream=7, thread=1)
    inside = taken(trace, stream=9, thread=1)
    ended = trace.event("capture-end", stream=7, object=0x91)
    later = taken(trace, stream=9, thread=1)
    assert of_graphs(trace, ended, len(trace.events)) == [[inside], [inside]]
    assert later != inside


def test_a_capture_that_was_not_valid_holds_nothing(trace):
    trace.event("capture-begin", stream=7)
    inside = taken(trace, stream=7)
    before = len(trace.events)
    ended = trace.event("capture-end", stream=7, object=0)
    assert of_graphs(trace, before, ended) == [[inside], []]


def test_graphs_that_took_from_one_segment_share_their_pool(trace):
    trace.event("capture-begin", stream=7)
    first = taken(trace, stream=7)
    shared = trace.alloc(4 * MIB)
    trace.tensor(shared, MIB, "pytorch", stream=7)
    trace.event("capture-end", stream=7, object=0x91)
    trace.event("capture-begin", stream=7)
    trace.tensor(shared + MIB, MIB, "pytorch", stream=7)
    trace.event("capture-end", stream=7, object=0x92)
    one = trace.event("graph-destroy", object=0x91)
    none = trace.event("graph-destroy", object=0x92)
    assert of_graphs(trace, one, none) == [[first, shared], []]


# --- autograd ---


def node(trace, number, backward=0, thread=1, maker=1):
    return trace.event("autograd-node", object=number, address=maker, size=backward, thread=thread)


def forward_stacks(trace):
    return {b["address"]: b["forward_stack_id"] for s in segments(trace.write(), "end") for b in s["blocks"]}


def test_a_backward_tensor_has_the_stack_of_the_first_tensor_under_its_node(trace):
    place = trace.alloc(20 * MIB)
    line, other = trace.stack(("train.py", 12, "forward")), trace.stack(("train.py", 13, "forward"))
    node(trace, 5)
    trace.tensor(place, MIB, "pytorch", stack=line)
    trace.tensor(place + MIB, MIB, "pytorch", stack=other)
    node(trace, 5, thread=3, maker=2)  # a node of another thread
    trace.tensor(place + 2 * MIB, MIB, "pytorch", stack=other, thread=3)
    node(trace, 5, backward=1, thread=2)
    trace.tensor(place + 3 * MIB, MIB, "pytorch", stack=trace.stack("backward (autograd)"), thread=2)
    node(trace, 6, backward=1, thread=2)
    trace.tensor(place + 4 * MIB, MIB, "pytorch", thread=2)
    node(trace, 0, thread=2)
    trace.tensor(place + 5 * MIB, MIB, "pytorch", thread=2)
    stacks = forward_stacks(trace)
    assert [stacks[place + i * MIB] for i in range(6)] == [None, None, None, line, None, None]


def test_the_forward_stacks_of_the_last_nodes_are_kept(trace):
    place, line = trace.alloc(20 * MIB), trace.stack(("train.py", 12, "forward"))
    for number in range(1, WINDOW + 2):
        node(trace, number)
        trace.fail(512, "tensor", object=trace.string("pytorch"), stack=line)
    for number in (1, 2, WINDOW + 1):
        node(trace, number, backward=1, thread=2)
        trace.tensor(place + number * 64, 64, "pytorch", thread=2)
    stacks = forward_stacks(trace)
    assert [stacks[place + number * 64] for number in (1, 2, WINDOW + 1)] == [None, line, line]
