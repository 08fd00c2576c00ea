# SPDX-License-Identifier: MIT
"""Keeps memory in each of the ways in which programs keep it without intention. Each storage has a size of its own, in units of
64 KiB, by which test_pytorch_holders.py knows it. The statement that keeps it has the size in a comment."""
import asyncio
import copy
import ctypes
import dataclasses
import functools
import gc
import logging.handlers
import os
import queue
import sys
import threading
import weakref

import torch
from torch import nn

UNIT = 1 << 14  # numbers of four bytes in 64 KiB
os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":0:0"  # cuBLAS allocates none of the memory, which no variable would hold


def big(size, **options):
    return torch.zeros(size * UNIT, device="cuda", **options)


kept = []
table = {}
chosen = set()
single = big(3)  # 3


class Box:
    __slots__ = ("slot",)


class History:
    def __init__(self):
        self.scores = []
        self.by_name = {"loss": []}
        self.last = None

    def note(self, score):
        self.scores.append(score)  # 5
        self.by_name["loss"].append(big(38))  # 38

    def finish(self):
        self.last = big(6)  # 6


@functools.lru_cache(maxsize=None)  # 7
def table_of(size):
    return size, big(size)


class Scorer:
    @functools.lru_cache(maxsize=8)  # 8
    def mask(self, size):
        return big(size)


def averager():
    seen = []

    def average(value):
        seen.append(value)  # 9
        return len(seen)

    return average


def remember(value, memory=[]):
    memory.append(value)  # 10


class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        ctx.output = value * 2  # 130
        return ctx.output

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Metric:
    def __init__(self):
        self.total = 0

    def update(self, value):
        self.total = self.total + value  # 17


def fails():
    batch = big(18)
    raise ValueError(batch.shape)


def logs():
    logged = big(20)
    raise KeyError(logged.shape)


class Records(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)  # 20


def batches():
    buffer = big(21)  # 21
    while True:
        yield buffer.shape


async def waits(event):
    waiting = big(22)  # 22
    await event.wait()
    return waiting


def trained_and_dropped():
    layer = nn.Linear(25 * UNIT, 1, bias=False, device="cuda")
    return torch.optim.SGD(layer.parameters(), lr=0.1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(26 * UNIT, 1, bias=False)  # 26
        self.register_buffer("scale", torch.zeros(27 * UNIT))  # 27
        self.outputs = []

    def forward(self, value):
        return self.head(value)


def clip():
    Clip.apply(big(130, requires_grad=True))


def watch(layer):
    captured = []

    def note(module, inputs, output):
        captured.append(inputs[0])

    layer.register_forward_hook(note)  # 52


@dataclasses.dataclass
class Session:
    name: str
    state: torch.Tensor


class Layer:
    def __init__(self):
        self.input = None

    def reset(self):
        self.input = big(37)

    def note(self, value):
        self.input = value  # 37


class Reader:
    def __init__(self):
        self.data = big(35)
        weakref.finalize(self, self.close)  # 35

    def close(self):
        self.data = None


sessions = {}
layers = [Layer() for _ in range(6)]
average = averager()
scorer = Scorer()
history = History()
box = Box()
records = Records()
spooler = logging.handlers.MemoryHandler(1000)
local = threading.local()
jobs = queue.Queue()
running = batches()


def keep_by_names():
    for _ in range(3):
        kept.append(big(1))  # 1
    for _ in range(3):
        chosen.add(big(53))  # 53
    for step in range(3):
        table[f"step {step}"] = big(4)  # 4
    for _ in range(3):
        history.note(big(5))
    history.finish()
    table_of(7)
    scorer.mask(8)
    average(big(9))
    remember(big(10))
    box.slot = big(11)  # 11
    local.cache = big(23)  # 23
    jobs.put((0, "first", big(24)))  # 24
    next(running)


def keep_by_objects():
    for number in range(6):
        sessions[f"user {number}"] = Session("user", big(34))  # 34
        layers[number].note(big(37))
    Reader()
    for _ in range(5):
        spooler.handle(logging.makeLogRecord({"levelno": 0, "args": big(54)}))  # no statement of the program fills its list


def keep_by_errors():
    logger = logging.getLogger("keepers")
    logger.addHandler(records)
    logger.propagate = False
    try:
        logs()
    except KeyError:
        logger.exception("no batch")


def keep_by_graphs(losses):
    weight = torch.ones(1, device="cuda", requires_grad=True)
    for _ in range(3):
        losses.append((big(14).add(weight) * weight).sum())  # 14
    total = 0
    for _ in range(2):
        total = total + (big(15).add(weight) * weight).sum()
    return total


async def keep_by_tasks():
    event = asyncio.Event()
    task = asyncio.create_task(waits(event))
    await asyncio.sleep(0)
    walk()
    event.set()
    await task


def walk():
    ctypes.CDLL(None).gpumemtrace_holders()


def main():
    net = Net().cuda()
    watch(net.head)
    net(big(52).view(2, -1))
    net.outputs.append(big(29))  # 29
    shadow = copy.deepcopy(net.outputs)  # 29
    keep_by_names()
    keep_by_objects()
    losses = []
    total = keep_by_graphs(losses)  # 15
    metric = Metric()
    weight = torch.ones(1, device="cuda", requires_grad=True)
    metric.update((big(17).add(weight) * weight).sum())
    keep_by_errors()
    try:
        fails()
    except ValueError as error:
        problem = error  # 18
    history_of_main = [big(2) for _ in range(3)]
    history_of_main.append(big(2))  # 2
    optimizer = trained_and_dropped()  # 25
    leaf = big(30, requires_grad=True)  # 30
    leaf.sum().backward()
    curved = big(33, requires_grad=True)  # 33
    curved.pow(2).sum().backward(create_graph=True)
    watched = big(31, requires_grad=True)
    watched.register_hook(lambda gradient, mask=big(32): gradient * mask)  # 32
    gc.disable()  # a collection would free the cycle
    clip()
    asyncio.run(keep_by_tasks())
    return net, shadow, curved, total, metric, problem, optimizer


main()
sys.stdout.flush()
