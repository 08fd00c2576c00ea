# SPDX-License-Identifier: MIT
"""Finds the forward stack of each tensor that a backward allocates. It is the stack of the first tensor that was
allocated or requested under the same node. The code is slow and plain: it keeps every node, because no trace here has
more nodes than the analyzer keeps."""


def forward_stacks(books, kinds=("tensor",)):
    """Returns {index of an event: forward stack} for each event in a backward that allocates memory of one of these
    kinds. kinds=None selects every event in a backward."""
    work, first, found = {}, {}, {}
    for event in books.events[: books.count]:
        if event.result is None:  # the process was killed inside the call
            continue
        if event.kind == "autograd-node":  # a thread number beyond 32 bits is not PyTorch's
            work[event.thread] = (event.address, event.object if event.address < 1 << 32 else 0, event.size == 1)
        maker, number, backward = work.get(event.thread, (0, 0, False))
        if not number:
            continue
        if backward:
            if kinds is None or (event.kind == "alloc" and event.memory in kinds):
                found[event.index] = first.get((maker, number))
        elif event.kind == "alloc" and event.memory == "tensor" and event.stack:
            first.setdefault((maker, number), event.stack)
    return found
