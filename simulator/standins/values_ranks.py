# SPDX-License-Identifier: MIT
"""
A part of values.py, in one namespace with it (dryrun_values.S), for `run --rank=K/N`, which runs one rank alone. PyTorch's groups
and the stand-in for NCCL, where the other ranks give the same contents as this rank, allocate as among real ranks. This file
replaces the store through which ranks find each other. It must allocate no memory of a card.
"""
# pylint: disable=undefined-variable
import re

RANK_ALONE = os.environ.get("GPUMEMTRACE_SIM_RANK")
UNIQUE_ID_BYTES = 128
# Keys under which another rank would store its ncclUniqueId: the number of a group, or of two ranks.
KEYS_OF_NCCL = re.compile(r"(^|/)(nccl_\w+|\d+(:\d+)?)$")
# Where calls that bring an object name its rank; the group follows.
SOURCE_AT = {"broadcast_object_list": 1, "scatter_object_list": 2, "recv_object_list": 1}


def end_alone(what):
    raise SystemExit("gpumemtrace: --rank=%s: %s" % (RANK_ALONE, what))


def make_lone_store(plain):
    class LoneStore(plain):
        """The key-value store of the ranks, for one rank alone."""

        made = []  # because PyTorch's C++ code keeps a store alive but not its Python object

        def __init__(self, *_args, **_kwargs):
            super().__init__()
            self.kept = {}
            self.made.append(self)

        def invent(self, key):
            if key.endswith(":last_worker"):
                return b"1"
            if KEYS_OF_NCCL.search(key):
                return bytes(UNIQUE_ID_BYTES)
            return end_alone("the program waits for the key '%s', which another rank would set; run all ranks with torchrun"
                             % key)

        def set(self, key, value):
            self.kept[key] = value.encode() if isinstance(value, str) else bytes(value)

        def get(self, key):
            if key not in self.kept:
                self.kept[key] = self.invent(key)
            return self.kept[key]

        def add(self, key, value):
            self.kept[key] = str(int(self.kept.get(key, b"0")) + value).encode()
            return int(self.kept[key])

        def wait(self, keys, *_timeout):
            for key in keys:
                self.get(key)

        def check(self, keys):
            return all(key in self.kept for key in keys)

        def compare_set(self, key, expected, desired):
            found = self.kept.get(key, b"")
            if found.decode("latin-1") == expected or (not found and not expected):
                self.set(key, desired)
            return self.kept.get(key, expected.encode() if isinstance(expected, str) else expected)

        def delete_key(self, key):
            return self.kept.pop(key, None) is not None

        def num_keys(self):
            return len(self.kept)

        def has_extended_api(self):
            return False

        def clone(self):
            return self

        # The names in PyTorch's C++ code.
        deleteKey, getNumKeys, compareSet, hasExtendedApi = delete_key, num_keys, compare_set, has_extended_api

    return LoneStore


def refuse_gloo(plain):
    class Gloo(plain):
        def __init__(self, store, rank, size, *args, **kwargs):
            if size > 1:
                end_alone("a gloo group of %d ranks cannot be made by one of them; take nccl alone, or run all ranks with torchrun"
                          % size)
            super().__init__(store, rank, size, *args, **kwargs)

    return Gloo


def bring_objects(name, plain):
    """Lets this rank send its objects, and keep its own ones where another rank would broadcast some. Ends the program if it asks
    for an object that only another rank has."""
    def bring(*args, **kwargs):
        at = SOURCE_AT[name]
        src, group = (args[at + i] if len(args) > at + i else kwargs.get(key) for i, key in enumerate(("src", "group")))
        rank, own = torch.distributed.get_rank, kwargs.get("group_src")
        own = rank(group) == own if own is not None else rank() == (src or 0)
        if own and name != "recv_object_list":
            return plain(*args, **kwargs)
        if name != "broadcast_object_list":
            end_alone("%s asks for an object of another rank, which is not there; run all ranks with torchrun" % name)
        return None

    return bring


def accept_own_shards():
    """Lets torch.distributed.checkpoint save this rank's shards. Its own check would fail, because the shards of the other ranks
    are not there."""
    planner = sys.modules.get("torch.distributed.checkpoint.default_planner")
    check = getattr(planner, "_validate_global_plan", None)
    if check and check.__module__ == planner.__name__:
        nothing_wrong = check([], planner.Metadata({}))  # its type depends on the release
        planner._validate_global_plan = lambda *_: nothing_wrong  # pylint: disable=protected-access


def gather_own(plain):
    """Gathers this rank's tensor from the other ranks, too: NCCL receives theirs and is not told of this rank's own."""
    def gather(tensor, gather_list=None, *args, **kwargs):
        accept_own_shards()
        work = plain(tensor, gather_list, *args, **kwargs)
        with torch.no_grad():
            for other in gather_list or ():
                other.copy_(tensor)
        return work

    return gather


def be_alone():
    """Called before the program uses torch.distributed."""
    if not RANK_ALONE:
        return
    # Switch off PyTorch's threads that query the store, because they would need Python after it has ended.
    os.environ.setdefault("TORCH_NCCL_ENABLE_MONITORING", "0")
    os.environ.setdefault("TORCH_NCCL_DUMP_ON_TIMEOUT", "0")
    import torch.distributed as distributed
    if not distributed.is_available():
        return
    core = distributed.distributed_c10d
    store = make_lone_store(distributed.Store)
    others = {"TCPStore": store, "FileStore": store, "_get_split_source": lambda *_: None}
    if hasattr(core, "ProcessGroupGloo"):
        others["ProcessGroupGloo"] = refuse_gloo(core.ProcessGroupGloo)
    others.update((name, bring_objects(name, getattr(core, name, None))) for name in SOURCE_AT)
    others["gather"] = gather_own(core.gather)
    for module in (distributed, core, sys.modules["torch.distributed.rendezvous"]):
        for name, other in others.items():
            if hasattr(module, name):
                setattr(module, name, other)
