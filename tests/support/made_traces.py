# SPDX-License-Identifier: MIT
"""Small made-up traces, one for each feature of an answer.

MADE maps a name to (function that fills a Trace, meta); the name says what the trace contains. Nothing here may depend on
the machine, the time or chance, because the answers about these traces are stored byte by byte."""
from support.tracefile import MIB

GIB = 1024 * MIB
CONTEXT = 300 * MIB
MADE = {}


def made(**meta):
    """Returns a decorator that adds a function to MADE under the name of the function. The function fills a Trace;
    `meta` is given to the Trace."""

    def enter(function):
        MADE[function.__name__] = (function, meta)
        return function

    return enter


def failing(trace, size, free, total=16 * GIB, **columns):
    """Adds a refused allocation in the form in which the recorder stores it: first the free memory of the card, which
    was sampled inside the call, and then the call."""
    trace.device_memory(free, total, call=9, nested=1)
    return trace.fail(size, call=9, **columns)


def card(trace, number=0):
    trace.rows["device"].append((number, f"GPU-{number}", f"Card {number}", 16 * GIB, CONTEXT))


@made()
def without_events(trace):
    pass


@made()
def driver_only(trace):
    card(trace)
    stack = trace.stack("cudaMalloc", ("train.py", 12, "load"), ("train.py", 40, "main"))
    first = trace.alloc(100 * MIB, stack=stack)
    trace.alloc(7 * MIB, stack=trace.stack("cudaMalloc", ("train.py", 20, "step"), ("train.py", 41, "main")))
    trace.free(first)
    trace.alloc(3 * MIB)
    trace.exit()


@made(rank=3, simulated=1)
def dry_run_of_a_rank(trace):
    trace.rows["module"].append((1, "/opt/torch/lib/libc10_cuda.so", None, 0x1000, 0x1000, 0x2000))
    trace.tensor(trace.alloc(2 * MIB), 1 * MIB)
    trace.exit()


@made(command="torchrun " + " ".join(f"--option-{n}={n}" for n in range(30)) + " train.py")
def pool_with_segments(trace):
    card(trace)
    stack = trace.stack("cudaMalloc", 'say "hi", twice', ("/opt/lib/torch/nn/linear.py", 9, "forward"),
                        ("model;a.py", 3, "Net.forward"), ("model;a.py", 30, "main"))
    segment, other = trace.alloc(20 * MIB), trace.alloc(2 * MIB)
    kept = trace.tensor(segment, 6 * MIB, stack=stack)
    gone = trace.tensor(segment + 6 * MIB, 4 * MIB, stack=stack)
    trace.tensor(segment + 10 * MIB, 2 * MIB, stack=trace.stack("label"))
    trace.tensor(other, 1 * MIB)
    trace.tensor_free(gone)
    trace.device_memory(9 * GIB, 16 * GIB)
    trace.tensor_free(kept)
    trace.exit()


@made()
def two_pools(trace):
    first, second = trace.alloc(20 * MIB), trace.alloc(8 * MIB)
    trace.tensor(first, 6 * MIB, stack=trace.stack(("a.py", 1, "a")))
    trace.tensor(second, 5 * MIB, "rmm", stack=trace.stack(("b.py", 2, "b")))
    trace.tensor(second + 5 * MIB, 1 * MIB, "rmm")
    trace.exit()


@made()
def two_devices(trace):
    for device in (0, 1):
        card(trace, device)
        with trace.phase("forward"):
            trace.alloc((device + 1) * 10 * MIB, device=device, stack=trace.stack(("d.py", device + 1, "work")))
        failing(trace, 20 * GIB, free=GIB, device=device)
    trace.exit()


@made()
def device_unknown(trace):
    trace.alloc(5 * MIB, device=None)
    trace.fail(6 * MIB, device=None)
    trace.free(0x1234)
    trace.exit()


@made()
def phases_in_phases(trace):
    with trace.phase("epoch"):
        for step in range(3):
            with trace.phase("forward", source=1):
                held = trace.alloc((10 + step) * MIB, stack=trace.stack(("f.py", 5, "forward")))
            with trace.phase("backward", source=1):
                trace.alloc(2 * MIB, stack=trace.stack(("f.py", 8, "backward")))
                trace.free(held)
            trace.step(step + 1)
    trace.alloc(1 * MIB)
    trace.exit()


@made()
def many_phases(trace):
    for number in range(20):
        with trace.phase(f"layer {number}"):
            trace.alloc((number * 7 % 20 // 2 + 1) * MIB)
    trace.exit()


@made()
def many_sites(trace):
    segment = trace.alloc(64 * MIB)
    for number in range(14):
        stack = trace.stack("alloc", ("site.py", number + 1, f"site_{number}"), ("site.py", 99, "main"))
        trace.tensor(segment + number * MIB, (number % 5 + 1) * 1024, stack=stack)
    for number in range(13):
        trace.alloc((number + 1) * 4096, stack=trace.stack("alloc", ("raw.py", number + 1, "raw")))
    trace.exit()


@made()
def growing_steps(trace):
    segment = trace.alloc(32 * MIB)
    for step in range(1, 7):
        trace.tensor(segment + step * MIB, 300, stack=trace.stack("leak", ("leak.py", 7, "keep")))
        trace.alloc(2 * MIB, stack=trace.stack("driver leak", ("leak.py", 9, "keep")))
        trace.free(trace.alloc(9 * MIB, stack=trace.stack("work")))
        trace.step(step)
    trace.exit()


@made()
def holders_of_a_leak(trace):
    card(trace)
    at, kept = trace.alloc(64 * MIB), []
    weight = trace.tensor(at, 8 * MIB, stack=trace.stack(("score.py", 3, "main")))
    for step in range(1, 6):
        made = trace.stack(("score.py", 17, "Scorer.forward"), ("score.py", 28, "main"))
        kept.append(trace.tensor(at + (8 + 4 * step) * MIB, 4 * MIB, stack=made))
        trace.step(step)
    held = [(address, 4 * MIB, "graph", "curve.kept_scores[*] -> graph", 5, ("score.py", 28, "main")) for address in kept]
    held.append((weight, 8 * MIB, "module", "model.weight", None, None))
    failing(trace, 20 * GIB, free=GIB, stack=trace.stack(("score.py", 31, "main")))
    trace.walk("oom", *held)
    trace.tensor_free(kept[0])
    trace.walk("end", *held[1:])
    trace.exit()


@made()
def deep_stack(trace):
    frames = ["cuMemAlloc_v2", "cudaMalloc"]
    frames += [("/usr/lib/python3/dist-packages/torch/nn/modules/module.py", 1500 + n, "_call_impl") for n in range(9)]
    for n in range(6):
        frames += [("/home/user/model.py", 10 + n, f"Block{n}.forward"),
                   ("/usr/lib/python3/dist-packages/torch/nn/modules/module.py", 1400 + n, "_wrapped_call_impl")]
    trace.alloc(12 * MIB, stack=trace.stack(*frames, ("/home/user/train.py", 3, "<module>")))
    inner = ("/usr/lib/python3/dist-packages/torch/cuda/__init__.py", 300, "_lazy_init")
    trace.alloc(4 * MIB, stack=trace.stack("cuMemAlloc_v2", inner))
    trace.exit()


@made()
def native_stack(trace):
    trace.rows["module"] += [(1, "/no/such/libmodel.so", "ab" * 20, 0x10000, 0x10000, 0x20000),
                             (2, "/no/such/libcudart.so.12", None, 0x30000, 0x30000, 0x40000)]
    trace.name(0x10500, ("inline.h", 7, "inner"), ("model.cpp", 70, "Model::load(int)"))
    trace.alloc(6 * MIB, stack=trace.stack("cudaMalloc", 0x30100, 0x10500, 0x10900, 0x99999))
    trace.exit()


@made()
def exhausted_card(trace):
    card(trace)
    trace.alloc(15 * GIB, stack=trace.stack(("load.py", 4, "load")))
    with trace.phase("forward"):
        failing(trace, GIB, free=16 * GIB - 15 * GIB - CONTEXT, stack=trace.stack(("fail.py", 6, "ask")))
    trace.exit()


@made()
def failures_of_every_kind(trace):
    card(trace)
    trace.rows["hook"].append((7, "cuMemAlloc_v2", "driver"))
    segments = [trace.alloc(2 * GIB) for _ in range(4)]
    for segment in segments:
        trace.tensor(segment + GIB, 2 * MIB, stack=trace.stack(("pool.py", 2, "take")))
    failing(trace, 3 * GIB, free=MIB, hook=7)
    trace.fail(3 * GIB, "tensor")
    failing(trace, GIB, free=4 * GIB, hook=7)
    failing(trace, GIB, free=8 * GIB - CONTEXT, hook=7)
    trace.fail(GIB, "pinned")
    trace.fail(GIB, "imported")
    trace.fail(GIB, result=999)
    trace.event("context-create", result=2, device=0)
    trace.device_memory(8 * GIB, 16 * GIB)
    trace.exit()


@made()
def memory_of_every_kind(trace):
    trace.alloc(4 * MIB, "managed")
    trace.alloc(3 * MIB, "pinned")
    trace.alloc(2 * MIB, "imported")
    trace.alloc(1 * MIB, "pitched")
    trace.alloc(8 * MIB, "array")
    trace.alloc(16 * MIB, "vmm", address=0x77)
    trace.map(0x77, 0x500000000, 8 * MIB)
    trace.unmap(0x500000000, 8 * MIB)
    trace.event("pool-create", object=0xAA, device=0)
    trace.alloc(5 * MIB, "async", object=0xAA)
    trace.pool_usage(0xAA, 5 * MIB, 32 * MIB)
    trace.graph_usage(6 * MIB, 8 * MIB)
    trace.module(0x11, 8 * GIB, 8 * GIB - 6 * MIB)
    trace.limit(2, 4096, 8 * GIB - 6 * MIB, 8 * GIB - 9 * MIB)
    trace.exit()


@made()
def context_destroyed(trace):
    trace.event("context-create", object=0xC0, device=0)
    trace.event("bind", object=0xC0, device=0)
    trace.alloc(10 * MIB)
    trace.alloc(2 * MIB, "managed")
    trace.event("context-destroy", object=0xC0, device=0)
    trace.alloc(1 * MIB)
    trace.exit()


@made(complete=0, lost_events=7)
def cut_off_with_losses(trace):
    trace.alloc(10 * MIB)
    trace.event("alloc", "linear", 0, 5 * MIB, result=None, device=0)
    trace.free(0x4321)


@made()
def looked_up_but_not_recorded(trace):
    trace.rows["coverage"] += [("cuMemAllocQuantum", 2), ("cudaNewAlloc", 1)]
    trace.rows["hook"] += [(1, "cuCtxCreate_v4", "driver"), (2, "cuMemAlloc_v2", "driver")]
    trace.event("context-create", object=0xC0, device=0, call=1, hook=1)
    for _ in range(12):
        trace.event("limit", object=0xC0, device=0, call=1, nested=1, hook=2)
    trace.alloc(MIB, hook=2)
    trace.exit()


@made()
def names_that_need_quoting(trace):
    trace.device(0, "GPU-0", "a, \"b\"\n& <c>", 8 * GIB)
    with trace.phase("fase, \"één\"\n<&>"):
        trace.alloc(2 * MIB, stack=trace.stack("evil\x1b[31m", ("päth,\n.py", 3, 'say "hi"')))
    trace.exit()


@made()
def phases_from_stacks(trace):
    torch = "/usr/lib/python3/dist-packages/torch"
    segment = trace.alloc(64 * MIB)
    for number, (file, line, function) in enumerate((
        (f"{torch}/nn/modules/linear.py", 125, "forward"),
        (f"{torch}/autograd/__init__.py", 347, "backward"),
        (f"{torch}/optim/adamw.py", 220, "step"),
        (f"{torch}/utils/data/dataloader.py", 708, "__next__"),
    )):
        trace.tensor(segment + number * 4 * MIB, (number + 1) * MIB,
                     stack=trace.stack((file, line, function), ("train.py", 10 + number, "main")))
    trace.exit()


@made()
def one_training_step(trace):
    """Records one step of a layer with 32 inputs and 16 outputs, without bias, for batch 100 and SGD. It is the example
    in the descriptions of `compare`."""
    with trace.phase("init"):
        trace.alloc(2048)
    with trace.phase("data"):
        trace.alloc(12800)
    with trace.phase("forward"):
        output = trace.alloc(6400)
        trace.alloc(1000)
    with trace.phase("backward"):
        gradient, weight = trace.alloc(6400), trace.alloc(2048)
        trace.free(gradient)
    with trace.phase("optimizer"):
        trace.free(weight)
    trace.free(output)
    trace.exit()
