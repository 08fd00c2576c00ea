# SPDX-License-Identifier: MIT
"""The forward stack of each tensor that a backward takes: that of the first tensor, or attempt at one, under the same
node. Slow and plain; every node is kept, as no trace here has more than the analyzer keeps."""


def forward_stacks(books):
    """{number of the event that takes a tensor: stack}"""
    work, first, found = {}, {}, {}
    for event in books.events[: books.count]:
        if event.result is None:  # the process was killed inside the call
            continue
        if event.kind == "autograd-node":  # a thread beyond 32 bits is none of PyTorch's
            work[event.thread] = (event.address, event.object if event.address < 1 << 32 else 0, event.size == 1)
        maker, number, backward = work.get(event.thread, (0, 0, False))
        if event.kind != "alloc" or event.memory != "tensor" or not number:
            continue
        if backward:
            found[event.index] = first.get((maker, number))
        elif event.stack:
            first.setdefault((maker, number), event.stack)
    return found
