# SPDX-License-Identifier: MIT
"""Computes what NVML told the program around its failures, and the limit that a pool reported. It applies the rules of
the manual (doc/counting.md) to all events at once. It also adds random answers of NVML to a trace."""

KINDS = ("process-memory", "pool-limit")
NEAR_NS = 1_000_000_000
NO_BYTES = (1 << 63) - 1
LEAST_BYTES_UNKNOWN = NO_BYTES // 2
NAMED = 4


class Outside:
    """Sees each event after Failures saw it. Keeps for each failure the answers and the limit that may belong to that
    failure."""

    def __init__(self):
        self.answer, self.told, self.limits = [], {}, {}

    def see(self, event, every):
        last = next((one for one in reversed(every) if one.state != "gone" and one.event.thread == event.thread), None)
        if event.kind == "process-memory" and event.device is not None:
            first = self.answer[0] if self.answer else None
            goes_on = first and len(self.answer) < first.address and all(
                getattr(first, name) == getattr(event, name) for name in ("thread", "device", "address")
            )
            self.answer = [*self.answer, event] if goes_on else [event]
            self.offer(last)
        elif event.kind == "pool-limit" and last and last.account[1] == "pool" and last.account[0] == event.device:
            self.limits[id(last)] = event.size
        elif last and last.event is event:
            self.offer(last)

    def offer(self, failure):
        if failure and self.answer and len(self.answer) == self.answer[0].address:
            self.told.setdefault(id(failure), []).append(self.answer)


def told(figures, failure):
    """Returns (own bytes, [(bytes, pid) of other processes]) from the first answer that belongs to the failure, or
    None."""
    own_pid = figures.books.meta.get("pid")
    for answer in figures.failures.outside.told.get(id(failure), []):
        first = answer[0]
        held = figures.live((first.device, "device", 0))
        names = {event.object for event in answer}
        if (
            first.thread == failure.event.thread
            and first.device == failure.account[0]
            and abs(failure.event.time - first.time) <= NEAR_NS
            and held[first.index] == held[failure.event.index]
            and own_pid in names
            and all(event.size < LEAST_BYTES_UNKNOWN for event in answer)
        ):
            others = [(event.size, event.object) for event in answer if event.object != own_pid]
            return sum(event.size for event in answer if event.object == own_pid), others
    return None


def at(figures, device, index):
    """Returns told() for the failure at this event, or None."""
    for failure in figures.failures.list:
        if failure.event.index == index and failure.account[0] == device:
            return told(figures, failure)
    return None


def fields(figures, failure, found):
    """Returns the keys of `oom` that come from NVML's answer and the pool's limit."""
    known = found["told"]
    if known:
        found["others_bytes"] = sum(size for size, _ in known[1])
    largest = sorted(known[1], key=lambda one: -one[0])[:NAMED] if known else []
    return {
        "others_source": None if found["others_bytes"] is None else "NVML" if known else "difference",
        "limit_bytes": figures.failures.outside.limits.get(id(failure)) or None,
        "other_processes": [{"pid": pid, "bytes": size} for size, pid in largest],
    }


def happen(maker):
    """Adds an answer of NVML, mostly after a failed call, or the limit of a pool."""
    chance, random, trace = maker.chance, maker.random, maker.trace
    last = trace.events[-1] if trace.events else None
    thread = last[2] if last and chance(0.8) else random.choice(maker.threads)
    device = last[-1] if last and last[-1] is not None and chance(0.9) else random.choice([*maker.devices, None])
    if chance(0.3):
        trace.event("pool-limit", size=random.randint(1, 16 << 30), object=1, device=device, thread=thread)
        return
    sizes = [random.choice([0, 1 << 20, random.randint(0, 12 << 30), random.randint(0, 12 << 30)]) for _ in range(random.randint(0, 7))]
    processes = [(7 + i, NO_BYTES if chance(0.03) else size) for i, size in enumerate(sizes)]
    if chance(0.8):
        processes.insert(random.randint(0, len(processes)), (trace.meta["pid"], random.randint(0, 16 << 30)))
    if not processes:
        trace.event("process-memory", device=device, thread=thread)
    for pid, size in processes[: -1 if chance(0.1) else None]:
        trace.event("process-memory", address=len(processes), size=size, object=pid, device=device, thread=thread)
        if chance(0.05):
            maker.alloc()
    if chance(0.5):
        trace.fail(random.choice([1 << 20, 20 << 30]), random.choice(["linear", "tensor"]), 2, device, thread=thread)


def look_inside(maker, device, columns):
    """Adds a sample of the card inside a call. Other threads may allocate between the sample and the event of that
    call."""
    maker.calls += 1
    columns["call"] = maker.calls
    free = maker.random.randint(0, 16 << 30)
    columns_of_look = {name: columns[name] for name in ("thread", "hook", "call")}
    maker.trace.device_memory(free, 16 << 30, device, nested=1, **columns_of_look)
    if maker.chance(0.3):
        maker.alloc()
