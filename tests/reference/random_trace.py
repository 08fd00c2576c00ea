# SPDX-License-Identifier: MIT
"""Makes a random trace from a seed. The trace has anything that a recorder may write, also about programs that lose
frees, free memory that they never allocated, close phases in any order, or are killed. Sizes, mixes and moods differ
with the seed. The maker keeps only the state that it needs for consistent events; other files compute the sums."""

import random

from reference import outside
from reference.trace_rest import add_rest
from support.tracefile import MIB, Trace

GRANULE = 2 * MIB
HOOKS = ("cuMemAlloc_v2", "cudaMalloc", "cuCtxCreate_v2", "cuDevicePrimaryCtxRetain", "cuMemCreate", "gpumemtrace_push")
MEMORIES = {  # {name of a kind of memory in tracefile: its address space}
    "linear": "device", "pitched": "device", "managed": "device", "imported": "device", "mapped": "device",
    "pinned": "host", "registered": "host", "array": "array", "external": "external", "reservation": "range",
}  # fmt: skip
PHASES = (
    "forward", "backward", "optimizer", "zero_grad", "init", "load data", "step", "Iteration", "epoch", "feedforward",
    "trainForward", "kv_cache", "x", "y", "z", "all_reduce", "evaluate",
)  # fmt: skip
FRAMES = (
    ("/opt/torch/nn/modules/module.py", 15, "Module._call_impl"), ("/opt/torch/optim/adam.py", 8, "Adam._init_group"),
    ("/usr/lib/torch/_tensor.py", 487, "Tensor.backward"), ("/usr/lib/torch/utils/data/loader.py", 10, "fetch"),
    ("/home/me/train.py", 12, "main"), ("/home/me/train.py", 30, "Model.__init__"), ("/home/me/model.py", 7, "block"),
    ("/usr/lib/torch/optim/sgd.py", 60, "SGD.step"), "malloc_wrapper", "backward (autograd)", "cache",
    ("/home/me/model.py", 20, "Block.forward"), ("/home/me/pool.py", 3, "Pool.allocate"), ("/home/me/b/train.py", 12, "main"),
)  # fmt: skip


STREAMS, GRAPHS = (0x71, 0x72, 0x73), (0xE1, 0xE2, 0xE3, 0xE4)


class Maker:
    def __init__(self, path, seed, deepest, **meta):
        self.random = random.Random(seed)
        self.killed, self.is_long = seed % 4 == 3, seed % 50 == 49
        self.trace = Trace(path, complete=0 if self.killed else 1, **meta)
        self.trace.rows["hook"] = [(number, name, "driver") for number, name in enumerate(HOOKS, 1)]
        self.deepest, self.seed = deepest, seed
        self.next = {"device": 0x7F00_0000_0000, "va": 0x3_0000_0000_0000, "other": 0x5000}
        self.devices = self.random.choice([[0], [0], [0, 1], [0, 1], [1, 5]])
        self.threads = list(range(1, self.random.randint(2, 6)))
        self.trace.thread_names = {thread: "pt_autograd_0" for thread in self.threads[2:3]}
        self.live, self.freed = [], []  # driver blocks: dictionaries
        self.tensors = []
        self.objects, self.imports, self.containers = [], [], []
        self.mempools, self.contexts, self.graph, self.nodes = [], [], {}, []
        self.opened, self.ranges = [], []
        self.calls = 0
        self.broken = self.random.random() < 0.5  # if so, frees get lost, and unallocated memory is used
        for device in self.devices:
            if self.random.random() < 0.8:
                context = self.random.choice([None, 300 * MIB, 2 << 30])
                self.trace.rows["device"].append((device, None, None, self.random.choice([8, 16]) << 30, context))

    # --- small choices ---

    def some(self, things, condition=None):
        found = [thing for thing in things if not condition or condition(thing)]
        return self.random.choice(found) if found else None

    def chance(self, share):
        return self.random.random() < share

    def size(self):
        return self.random.choice([512, 1024, 4096, 65536, MIB, GRANULE, 20 * MIB]) * self.random.randint(
            1, 4
        ) + self.random.choice([0, 0, 0, 256])

    def fresh(self, kind="other", size=16):
        place = self.next[kind]
        step = self.random.choice([0, 0, 512, GRANULE])
        self.next[kind] += -(-size // 512) * 512 + step if kind == "device" else size
        return place

    def device(self):
        return self.random.choice(self.devices)

    def common(self, stack=True):
        columns = {"thread": self.random.choice(self.threads), "hook": self.random.randint(1, 2)}
        if stack and self.chance(0.8):
            depth = self.random.randint(1, 4)
            columns["stack"] = self.trace.stack(
                *(self.random.choice(FRAMES[self.seed % 2 * 4 :]) for _ in range(depth))
            )
        return columns

    def result(self):
        """Returns the result of an allocation that fails; None: the process was killed inside the call."""
        return self.random.choice([2, 2, 2, 2, 1, 999] + ([None] if self.broken else []))

    # --- plain memory ---

    def alloc(self):
        memory = self.random.choice(["linear"] * 6 + list(MEMORIES))
        place, size, device = MEMORIES[memory], self.size(), self.device()
        columns = self.common()
        if memory in ("linear", "managed", "pinned") and self.contexts and self.chance(0.4):
            columns["object"] = self.random.choice(self.contexts)["handle"]
        if self.chance(0.1):
            outside.look_inside(self, device, columns)
        if self.chance(0.08):
            self.trace.fail(self.random.choice([size, 1 << 33, 1 << 35]), memory, self.result(), device, **columns)
            return
        if self.broken and self.chance(0.02):
            device = None
        address = self.address(place, size)
        self.trace.alloc(size, memory, address, device, **columns)
        self.live = [block for block in self.live if (block["place"], block["address"]) != (place, address)]
        self.live.append(
            {
                "place": place,
                "address": address,
                "size": size,
                "memory": memory,
                "device": device,
                "pool": None,
                "is_mapping": False,
            }
        )

    def address(self, place, size):
        """Returns an unused address, the address of a freed block, or the address of a block whose free is lost."""
        if place != "device":
            lost = (
                self.some(self.live, lambda block: block["place"] == place)
                if self.broken and self.chance(0.1)
                else None
            )
            return lost["address"] if lost else self.fresh("other")
        if self.broken and self.chance(0.06):
            lost = self.some(self.live, lambda block: block["place"] == place and block["size"] >= size)
            if lost:
                return lost["address"]
        again = self.some(self.freed, lambda block: block["size"] >= size) if self.chance(0.5) else None
        if again:
            self.freed.remove(again)
            return again["address"]
        return self.fresh("device", size)

    def free(self):
        holds_tensors = {id(tensor["home"]) for tensor in self.tensors}
        block = self.some(self.live, lambda b: id(b) not in holds_tensors or (self.broken and self.chance(0.2)))
        if not block:
            return
        memory = (
            self.random.choice(["linear", "async", block["memory"]]) if block["place"] == "device" else block["memory"]
        )
        if self.chance(0.06):
            self.trace.free(
                block["address"], memory, result=self.random.choice([1, 4, 201, 709, 700]), **self.common(False)
            )
            return
        self.trace.free(block["address"], memory, device=block["device"], **self.common(False))
        self.live.remove(block)
        if block["place"] == "device":
            self.freed.append(block)

    def free_nothing(self):
        if self.broken:
            memory = self.random.choice(["linear", "tensor", "vmm", "pinned", "array", "graph-node"])
            self.trace.free(
                self.random.choice([0, 0xDEAD0000 + self.random.randrange(99)]), memory, **self.common(False)
            )

    # --- tensors ---

    def tensors_in(self, place, size):
        return [t for t in self.tensors if t["address"] < place + size and place < t["address"] + t["size"]]

    def holes(self, home):
        """Yields (address, bytes) of each hole. The last hole may extend into the mapping right behind."""
        at, end = home["address"], home["address"] + home["size"]
        behind = self.some(self.ranges, lambda r: home["is_mapping"] and r["address"] == end)
        end += behind["size"] if behind else 0
        for tensor in sorted(self.tensors_in(at, end - at), key=lambda t: t["address"]):
            if tensor["address"] > at:
                yield at, tensor["address"] - at
            at = max(at, tensor["address"] + tensor["size"])
        if at < end:
            yield at, end - at

    def homes(self):
        return [b for b in self.live if b["memory"] == "linear" and b["size"] >= 4096] + [
            r for r in self.ranges if r["size"]
        ]

    def tensor(self):
        home = self.some(self.homes())
        columns = self.common()
        if self.chance(0.05):
            pool = self.random.choice([None, "rmm"])
            number = pool and self.trace.string(pool) or 0
            self.trace.fail(self.size(), "tensor", self.result(), self.device(), object=number, **columns)
        elif home:
            if home["pool"] is None:
                home["pool"] = self.random.choice(["", "", "", "rmm", "cupy"])
            hole, room = self.random.choice(list(self.holes(home)) or [(0, 0)])
            size = min(self.size(), room)
            if size:
                at = hole + self.random.choice([0, room - size])
                pool = "cupy" if self.broken and self.chance(0.05) else home["pool"]
                self.add_tensor(at, size, pool, home, columns)
        elif self.broken:
            self.add_tensor(self.fresh("va", GRANULE), MIB, "cupy", None, columns)

    def add_tensor(self, at, size, pool, home, columns):
        device = home["device"] if home else self.device()
        columns["stream"] = self.random.choice([0, None, *STREAMS])
        if any((t["address"], t["pool"]) == (at, pool) for t in self.tensors):
            return
        stream = self.random.choice([0, 0, 0xA1, 0xB2, None])
        self.trace.tensor(at, size, pool or None, device=device, **{"stream": stream, **columns})
        self.tensors.append({"address": at, "size": size, "pool": pool, "home": home, "device": device})

    def ask_again(self):
        """Simulates a refused pool, which gives segments back and asks again. The trace may lack the end of this."""
        columns, device = self.common(), self.device()
        memory, size = self.random.choice(["linear", "linear", "vmm"]), self.random.randint(1, 8) * GRANULE
        for _ in range(self.random.randint(1, 5)):
            self.trace.fail(size, memory, self.random.choice([2, 2, 2, 2, 2, 1]), device, **columns)
            idle = self.some(
                self.live, lambda b: b["memory"] == "linear" and b["pool"] is not None
                and not self.tensors_in(b["address"], b["size"]))  # fmt: skip
            if idle and self.chance(0.6):
                self.trace.free(idle["address"], device=idle["device"], thread=columns["thread"])
                self.live.remove(idle)
        if self.chance(0.3):
            columns = {**self.common(), "thread": columns["thread"]}
        if self.chance(0.5):
            size += self.random.choice([0, 0, 0, GRANULE])
            address = self.fresh("device", size)
            self.trace.alloc(size, "linear", address, device, **columns)
            home = {"place": "device", "address": address, "size": size, "memory": "linear", "device": device,
                    "pool": "", "is_mapping": False}  # fmt: skip
            self.live.append(home)
            if self.chance(0.7):
                self.add_tensor(address, self.random.choice([512, size]), "", home, columns)
        elif self.chance(0.7):
            self.trace.fail(self.random.choice([512, size, 2 * size]), "tensor", 2, device, **columns)

    def tensor_free(self):
        tensor = self.some(self.tensors)
        if tensor:
            self.tensors.remove(tensor)
            if not (self.broken and self.chance(0.03)):  # in the other case, the free is lost
                self.trace.tensor_free(
                    tensor["address"], tensor["pool"] or None, device=tensor["device"], **self.common(False)
                )

    # --- phases ---

    def push(self):
        if len(self.opened) >= self.deepest // 2:
            return
        source, range_id = self.random.choice([(0, 0), (0, 0), (1, 0), (1, self.fresh())])
        if range_id and self.opened and not self.is_long and self.chance(0.1):
            range_id = self.opened[-1][2]  # a range's number that is still open, or 0
        columns = self.common(False)
        domain = self.random.choice([None, None, "NCCL", "mine", "cub::detail", "cube"]) if source else None
        self.trace.push(self.random.choice(PHASES), source, range_id, domain, **columns)
        self.opened.append((columns["thread"], source, range_id))

    def pop(self):
        if self.chance(0.03):
            self.trace.pop(self.random.randint(0, 1), self.random.choice([0, 77777]), **self.common(False))
        if self.opened:
            thread, source, range_id = self.opened.pop(
                self.random.choice([-1, -1, -1, self.random.randrange(len(self.opened))])
            )
            self.trace.pop(source, range_id, thread=self.random.choice(self.threads) if range_id else thread)

    def dive(self):
        """Nests phases deeply: opens many on one thread, and ends them in order, or in any order if they are ranges."""
        depth = self.random.randint(self.deepest // 2, self.deepest) if self.seed % 25 == 0 else 40
        thread, by_number = self.random.choice(self.threads), self.chance(0.5)
        numbers = [self.fresh() if by_number else 0 for _ in range(depth)]
        for level, number in enumerate(numbers):
            self.trace.push("abcdefg"[level % 7], 1, number, thread=thread)
            if self.chance(0.05):
                self.random.choice([self.alloc, self.free, self.tensor, self.tensor_free])()
        order = self.random.choice([list(reversed(numbers)), numbers, self.random.sample(numbers, depth)])
        for number in order[: self.random.choice([depth, depth // 2])]:
            self.trace.pop(1, number, thread=self.random.choice(self.threads) if by_number else thread)
            if self.chance(0.05):
                self.random.choice([self.alloc, self.free, self.tensor, self.tensor_free])()

    def step(self):
        self.trace.step(len(self.trace.events))

    # --- autograd ---

    def work_for(self):
        backward, number = self.random.choice([0, 0, 1]), self.random.choice([0, 1, 1, 2, 3, 4])
        maker, thread = self.random.choice([1, 1, 1, 2, 1 << 40]), self.random.choice(self.threads[:2])
        self.trace.event("autograd-node", address=maker, size=backward, object=number, thread=thread)

    # --- captures ---

    def capture(self):
        stream, thread = self.random.choice(STREAMS), self.random.choice(self.threads)
        if self.chance(0.5):
            self.trace.event("capture-begin", stream=stream, thread=thread, result=0 if self.chance(0.9) else 901)
        else:
            graph = self.random.choice([0, *GRAPHS])
            self.trace.event("capture-end", stream=stream, thread=thread, object=graph)

    def captured(self):
        kind, result = self.random.choice(["graph-made", "graph-destroy"]), 0 if self.chance(0.9) else 1
        self.trace.event(kind, address=self.random.choice(GRAPHS), object=self.random.choice(GRAPHS), result=result)

    # --- virtual memory ---

    def create(self):
        memory = self.random.choice(["vmm", "vmm", "vmm", "vmm-host", "imported-vmm"])
        size = self.random.randint(1, 8) * GRANULE
        if self.chance(0.05):
            self.trace.fail(size, memory, self.result(), self.device(), **self.common())
            return
        made = {
            "memory": memory,
            "size": size,
            "handles": [self.fresh()],
            "places": [],
            "device": self.device(),
            "bound": 0,
        }
        self.trace.alloc(
            0 if memory == "imported-vmm" else size, memory, made["handles"][0], made["device"], **self.common()
        )
        self.objects.append(made)

    def map(self):
        target = self.some(self.objects, lambda o: o["handles"])
        if not target:
            return
        size = target["size"] // self.random.choice([1, 1, 2]) // GRANULE * GRANULE or GRANULE
        if self.chance(0.3):
            self.next["va"] += GRANULE
        place = self.fresh("va", size)
        result = 0 if self.chance(0.9) else 1
        self.trace.map(
            self.random.choice(target["handles"]), place, size, device=target["device"], result=result, **self.common()
        )
        if not result:
            target["places"].append((place, size))
            self.ranges.append(
                {"address": place, "size": size, "device": target["device"], "pool": None, "is_mapping": True}
            )

    def unmap(self):
        target = self.some(self.objects, lambda o: o["places"])
        if not target:
            return
        place, size = self.random.choice(target["places"])
        gone = [(target, (place, size))]
        if self.chance(0.3):  # in this case the call also unmaps the mapping right behind
            gone += [(o, other) for o in self.objects for other in o["places"] if other[0] == place + size]
        size = sum(size for _, (_, size) in gone)
        if self.tensors_in(place, size) and not (self.broken and self.chance(0.2)):
            return
        self.trace.unmap(place, size, **self.common(False))
        for owner, other in gone:
            owner["places"].remove(other)
            self.ranges = [r for r in self.ranges if r["address"] != other[0]]

    def retain(self):
        target = self.some(self.objects, lambda o: o["places"])
        if target:
            again = target["handles"] and self.chance(0.5)
            handle = self.random.choice(target["handles"]) if again else self.fresh()
            place, size = self.random.choice(target["places"])
            self.trace.event("retain", "vmm", place + self.random.randrange(size), object=handle, **self.common(False))
            target["handles"].append(handle)

    def release(self):
        target = self.some(self.objects, lambda o: o["handles"])
        if target:
            handle = self.random.choice(target["handles"])
            result = 0 if self.chance(0.95) else 1
            self.trace.free(handle, "vmm", result=result, **self.common(False))
            if not result:
                target["handles"].remove(handle)

    def contain(self):
        memory = self.random.choice(["multicast", "array"])
        self.containers.append((self.trace.alloc(0, memory, self.fresh(), self.device(), **self.common()), memory))

    def bind(self):
        target = self.some(self.objects, lambda o: o["handles"] or o["places"])
        if target and self.containers:
            memory, name = ("vmm", target["handles"][0]) if target["handles"] else ("none", target["places"][0][0])
            handle = self.random.choice(self.containers)[0]
            self.trace.event(
                "bind", memory, self.random.randrange(4) * MIB, MIB, object=name, stream=handle, device=target["device"]
            )

    def unbind(self):
        if self.containers:
            device = self.random.choice([None, *self.devices])
            place, size = self.random.randrange(4) * MIB, self.random.choice([MIB, 4 * MIB])
            self.trace.event(
                "unbind", "none", place, size, stream=self.random.choice(self.containers)[0], device=device
            )

    def drop(self):
        if self.containers:
            handle, memory = self.containers.pop(self.random.randrange(len(self.containers)))
            self.trace.free(handle, "vmm" if memory == "multicast" else "array", **self.common(False))

    # --- imports, graphs, the driver's pools ---

    def open(self):
        again = self.imports and self.chance(0.5)
        address, size = (
            self.random.choice(self.imports) if again else (self.fresh("va", 16 * MIB), self.size() % (16 * MIB) + 1)
        )
        self.trace.alloc(size, "imported", address, self.devices[0], **self.common())
        self.imports.append((address, size))

    def close(self):
        if self.imports:
            address, _ = self.imports.pop(self.random.randrange(len(self.imports)))
            self.trace.free(address, self.random.choice(["imported", "async", "linear"]), **self.common(False))

    def launch(self):
        device = self.device()
        size = self.random.choice([0, 2, 32, 32, 64]) * MIB
        self.trace.graph_usage(size // 2, size, device, **self.common())

    def node(self):
        if self.nodes and self.chance(0.6):
            self.trace.free(
                self.random.choice(self.nodes), self.random.choice(["async", "graph-node"]), **self.common(False)
            )
        else:
            self.nodes.append(self.fresh("va", GRANULE))
            self.trace.alloc(MIB, "graph-node", self.nodes[-1], self.device(), **self.common())

    def mempool(self):
        pool = self.some(self.mempools)
        if pool and self.chance(0.3):
            self.trace.event("pool-destroy", object=pool["handle"], device=pool["device"])
            self.mempools.remove(pool)
        elif pool and self.chance(0.6):
            self.trace.pool_usage(pool["handle"], self.size(), self.size() + 32 * MIB, pool["device"])
        else:
            memory = self.random.choice(["async", "async", "async-host", "async-managed"])
            handle = self.random.choice([0x900, 0xA00, 0xB00])
            if all(other["handle"] != handle for other in self.mempools):
                self.mempools.append({"handle": handle, "device": self.device()})
                self.trace.event("pool-create", memory, object=handle, device=self.mempools[-1]["device"])

    def alloc_async(self):
        pool, size = self.some(self.mempools), self.size()
        device = pool["device"] if pool else self.device()
        handle = pool["handle"] if pool else self.random.choice([0, 0xD00 + device])
        columns = {**self.common(), "object": handle, "stream": 7}
        if self.chance(0.05):
            self.trace.fail(size, "async", self.result(), device, **columns)
            return
        address = self.fresh("va", -(-size // 512) * 512)
        self.trace.alloc(size, "async", address, device, **columns)
        self.live.append(
            {
                "place": "device",
                "address": address,
                "size": size,
                "memory": "async",
                "device": device,
                "pool": None,
                "is_mapping": False,
            }
        )

    # --- contexts, modules, samples ---

    def context(self):
        if self.contexts and self.chance(0.3):
            gone = self.random.choice(self.contexts)
            by_reset = gone["hook"] == 4 and self.chance(0.5)
            self.trace.event("context-destroy", object=0 if by_reset else gone["handle"], device=gone["device"])
            self.contexts.remove(gone)
            self.live = [
                b
                for b in self.live
                if b["device"] != gone["device"]
                or b["memory"] in ("async", "imported", "mapped", "external", "reservation")
            ]
        elif self.chance(0.2):
            self.trace.event("context-create", result=2, device=self.device(), hook=3)
        else:
            made = {"handle": self.fresh(), "device": self.device(), "hook": self.random.choice([3, 4])}
            self.contexts.append(made)
            self.trace.event("context-create", object=made["handle"], device=made["device"], hook=made["hook"])

    def measure(self):
        self.calls += 1
        device, free = self.device(), self.random.randint(1, 8) << 30
        after = free - self.random.choice([0, MIB, 64 * MIB, -MIB])
        columns = {
            **self.common(),
            "device": device,
            "call": self.calls,
            "result": self.random.choice([0, 0, 0, 0, 2, 1]),
        }
        inside = self.alloc if self.chance(0.2) else None
        if self.chance(0.5):
            self.trace.module(self.random.choice([0x111, 0x222, self.fresh()]), free, after, inside=inside, **columns)
        else:
            context = self.random.choice(self.contexts)["handle"] if self.contexts else 0xC0
            self.trace.limit(self.random.randrange(3), 4096, free, after, context=context, inside=inside, **columns)

    def unload(self):
        self.trace.event(
            "module-unload",
            object=self.random.choice([0x111, 0x222]),
            result=self.random.choice([0, 0, 4, 1]),
            **self.common(False),
        )

    def sample(self):
        device = self.random.choice([*self.devices, None]) if self.broken else self.device()
        self.trace.device_memory(
            self.random.randint(0, 16 << 30), 16 << 30, device, result=0 if self.chance(0.9) else 1
        )

    def tell(self):
        outside.happen(self)

    def other(self):
        kind = self.random.choice(["mark", "exec", "interpreter"])
        thread = self.random.choice(self.threads)
        if kind == "exec":  # the exec failed: the thread goes on
            self.trace.event("exit", object=2, thread=thread)
            self.trace.event(self.random.choice(["exit-undone", "mark"]), thread=thread)
        elif kind == "interpreter":  # the interpreter was finalized, and the program went on
            self.trace.event("exit", object=3, thread=thread)
            if self.chance(0.5):
                self.trace.event("exit-undone", thread=thread)
        else:
            self.trace.event("mark", object=self.trace.string("here"), thread=thread)

    # --- a whole trace ---

    def moods(self):
        """Returns how often each action is taken. Each seed makes some actions more frequent."""
        steps = {
            self.alloc: 10, self.free: 8, self.tensor: 16, self.ask_again: 1, self.tensor_free: 13, self.push: 5, self.pop: 5,
            self.step: 1, self.create: 2, self.map: 3, self.unmap: 2, self.retain: 1, self.release: 2,
            self.contain: 1, self.bind: 1, self.unbind: 1, self.drop: 1, self.open: 1, self.close: 1,
            self.launch: 1, self.node: 1, self.mempool: 2, self.alloc_async: 2, self.context: 1,
            self.measure: 1, self.unload: 1, self.sample: 2, self.free_nothing: 1, self.other: 1, self.capture: 2,
            self.captured: 2, self.work_for: 8, self.tell: 2,
        }  # fmt: skip
        return {step: weight * self.random.choice([0.2, 1, 1, 3]) for step, weight in steps.items()}

    def make(self):
        moods = self.moods()
        count = 15_000 if self.is_long else self.random.randint(60, 300)
        dive_at = count // 2 if self.seed % 5 == 0 else None
        for number in range(count):
            if number == dive_at:
                self.dive()
            self.random.choices(list(moods), list(moods.values()))[0]()
        self.end()
        self.set_times()
        add_rest(self.trace, self.seed)
        return self.trace.write()

    def end(self):
        if self.killed:
            for thread in self.threads:
                if self.chance(0.5):
                    self.trace.alloc(4096, address=0, result=None, device=self.device(), thread=thread)
                elif self.live and self.chance(0.5):
                    self.trace.free(self.random.choice(self.live)["address"], result=None, thread=thread)
            return
        how = self.random.choice([0, 0, 1, 2])
        seq = self.trace.event("exit", object=how, thread=99)
        if self.chance(0.5):
            self.trace.meta["exit_seq"] = seq
        if self.chance(0.7):
            self.trace.meta["exit_status"] = self.random.choice([0, 1])
        for _ in range(self.random.randrange(6)):  # events after the exit, which count in no figure
            self.random.choice([self.free, self.tensor_free, self.alloc, self.pop])()

    def set_times(self):
        """Sets the times. Calls of different threads may end in an order that differs from their numbers."""
        now, disorder, events = 0, self.seed % 6 == 5, []
        for event in self.trace.events:
            now += self.random.choice([1, 10, 1000, 1000, 50_000])
            time = max(now - self.random.randrange(2000), 0) if disorder else now
            events.append((event[0], time, *event[2:]))
        self.trace.events = events


def make(path, seed, deepest, **meta):
    return Maker(path, seed, deepest, **meta).make()
