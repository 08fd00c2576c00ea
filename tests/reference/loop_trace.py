# SPDX-License-Identifier: MIT
"""Makes a random program with a loop from a seed. Some of its call stacks keep more memory in each step, some fill a
list and empty it, some hold a batch into the next step, and some only work. The steps are marked, named, recognizable
only by repetition, or missing."""

import contextlib
import random

from reference.trace_rest import add_walks
from support.tracefile import MIB, Trace

MARKS = ("event", "event", "step", "Iteration", "optimizer", "backward", "forward", "nothing", "nothing", "turns", "turns",
         "workers", "workers")  # fmt: skip


class Site:
    """A call stack, and the memory that it takes and frees in each step."""

    def __init__(self, trace, choose, number):
        self.trace, self.choose = trace, choose
        self.stack = trace.stack("malloc_wrapper", (f"part{number % 3}.py", number + 1, f"site_{number}"))
        self.act = choose.choice([self.work, self.work, self.leak, self.seldom, self.fill, self.hold, self.saw, self.drain,
                               self.enlarge, self.double, self.cache, self.lose])
        self.size = choose.choice([512, 4096, MIB]) * choose.randint(1, 9)
        self.every, self.until = choose.randint(2, 12), choose.randint(2, 60)
        self.held = []

    def take(self, size=None):
        self.held.append(self.trace.tensor(None, size or self.size, stack=self.stack))

    def drop(self, index=-1):
        if self.held:
            self.trace.tensor_free(self.held.pop(index))

    def work(self, _):
        self.take(self.size * self.choose.randint(1, 3))
        self.drop()

    def leak(self, _):
        self.take()

    def seldom(self, step):
        if step % self.every == 0:
            self.take()
        self.work(step)

    def fill(self, step):
        if step < self.until:
            self.take()

    def cache(self, step):
        """Keeps blocks of one or of several sizes up to a number of them."""
        if step % (self.every // 4 + 1) == 0:
            self.take(self.size * (self.choose.randint(1, 2) if self.every % 2 else 1))
            if len(self.held) > self.until:
                self.drop(0)

    def lose(self, _):
        self.take()
        if self.choose.randrange(self.every):
            self.drop()

    def hold(self, _):
        """Makes a new block and then frees the block of the step before."""
        self.take(self.size * self.choose.randint(1, 4))
        if len(self.held) > 1:
            self.drop(0)

    def enlarge(self, step):
        """Makes a larger block in each step, as a cache of tokens does. In some steps the old block is kept as well."""
        self.take(self.size * (step + 1))
        if len(self.held) > 1 and not (self.until < 9 and step % self.until == 1):
            self.drop(0)

    def double(self, step):
        if step & (step - 1) == 0:
            self.take(self.size * 2 * (step + 1))
            if len(self.held) > 1:
                self.drop(0)

    def saw(self, step):
        self.take()
        if step % self.every == 0:
            while self.held:
                self.drop()

    def drain(self, step):
        if step == 0:
            for _ in range(self.until):
                self.take()
        self.drop()


class Maker:
    def __init__(self, path, seed):
        self.choose = random.Random(seed)
        self.trace = Trace(path)
        if seed % 3 == 0:  # these programs allocate tensors of a framework, all others plain memory
            self.trace.alloc(64 * MIB)
            self.free_at = 1 << 40
            self.trace.tensor, take = self.tensor, self.trace.tensor
            self.take = take
            self.rests, self.rest_units = random.Random(seed), seed % 5 * 512
        else:
            self.memories, self.memory_of = ("linear", "pinned", "managed")[: 1 if seed % 3 == 1 else 3], {}
            self.trace.tensor, self.trace.tensor_free = self.plain, lambda at: self.trace.free(at, self.memory_of.pop(at))
        if seed % 2:
            self.trace.device(0, "GPU-0", "card", 16 << 30)

    def tensor(self, _, size, stack):
        """Makes a tensor of the size. Its pool may give it a larger block."""
        rest = 512 * self.rests.randint(0, self.rest_units)
        self.free_at += -(-size // 512) * 512 + rest
        if rest:
            self.trace.event("pool-asked", address=self.free_at, size=size, device=0)
        self.take(self.free_at, size + rest, stack=stack)
        return self.free_at

    def plain(self, _, size, stack):
        """Makes a block of the memory that the call stack always takes."""
        memory = self.memories[stack % len(self.memories)]
        address = self.trace.alloc(size, memory, stack=stack)
        self.memory_of[address] = memory
        return address

    def take_turns(self, turns, step, is_named):
        """Runs the optimizers of a step. A turn is (line that calls the optimizer, calls per step, number of steps from
        one turn to the next, first step)."""
        for line, count, every, first in turns:
            for _ in range(count if step >= first and step % every == 0 else 0):
                frames = ("/lib/torch/optim/adam.py", 500, "Adam.step"), ("train.py", line, "train")
                with self.trace.phase("optimizer", source=1) if is_named else contextlib.nullcontext():
                    self.trace.free(self.trace.alloc(512, stack=self.trace.stack(*frames)))
                if not is_named:
                    self.trace.free(self.trace.alloc(512, stack=self.trace.stack(("train.py", 9, "load"))))

    def work(self, sites, step, workers, every):
        """Runs a step as a batch on one of `workers` threads, with phases inside. In some steps a phase of another
        thread runs at the same time. An epoch may surround ten steps."""
        thread = 2 + step % workers
        if step % 10 == 0 and every < 3:
            self.trace.push("Epoch", thread=2)
        with self.trace.phase("batch", source=1, thread=thread):
            for number, site in enumerate(sites):
                with self.trace.phase("part", thread=thread) if number % 2 else contextlib.nullcontext():
                    site.act(step)
        if step % every == 0:
            with self.trace.phase("aten::mm" if every == 4 else "save", thread=9):
                sites[0].act(step)
        if step % 10 == 9 and every < 3:
            self.trace.pop(thread=2)

    def work_afterwards(self):
        """Goes on after the last step, as an evaluation does, or as layers that backwards compute again."""
        for number in range(self.choose.choice([0, 0, 0, 5, 20])):
            if not number:
                sites = [Site(self.trace, self.choose, 20 + n) for n in range(self.choose.randint(1, 4))]
                layers = self.choose.choice([0, 1, 7])
            if layers and number % layers == 0:
                self.trace.push("backwards", source=1)
            for site in sites:
                site.act(number)
            if layers and number % layers == layers - 1:
                self.trace.pop(source=1)

    def make(self):
        choose, trace = self.choose, self.trace
        mark, steps = choose.choice(MARKS), choose.choice([2, 3, 4, 5, 9, 12, 30, 64, 66, 70, 140, 300])
        for number in range(choose.randint(0, 20)):
            trace.alloc(MIB, stack=trace.stack(("load.py", number + 1, "load")))
        sites = [Site(trace, choose, number) for number in range(choose.randint(1, 7))]
        turns = [(line, choose.choice([1, 1, 2, 5]), choose.choice([1, 1, 1, 2, 3, 16]), choose.choice([0, 0, 0, 3, 12]))
                 for line in range(1, choose.randint(2, 4))]  # fmt: skip
        is_named = choose.random() < 0.5
        workers, every = choose.choice([1, 1, 2, 5, 40]), choose.randint(1, 9)
        for step in range(steps):
            if mark == "workers":
                self.work(sites, step, workers, every)
                continue
            named = mark not in ("event", "nothing", "turns")
            with trace.phase(mark, source=1) if named else contextlib.nullcontext():
                for site in sites:
                    site.act(step)
            if mark == "event":
                trace.step(step + 1)
            elif mark == "turns":
                self.take_turns(turns, step, is_named)
        self.work_afterwards()
        if choose.random() < 0.5:
            calls = [event for event in trace.events if event[6]]
            trace.rows["call_duration"] = [(event[0], choose.randint(500, 90_000)) for event in calls]
        trace.exit()
        add_walks(trace, choose)
        return trace.write()


def make_loop(path, seed):
    return Maker(path, seed).make()
