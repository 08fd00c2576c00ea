# SPDX-License-Identifier: MIT
"""Runs DDP and FSDP 2 of a small model, and prints the actions of PyTorch's allocator. `rank_alone.py WHAT` is one
rank, as torchrun starts it. `--ranks=COUNT` starts COUNT ranks and prints the output of rank 0."""
import json
import os
import socket
import subprocess
import sys


def train(what):
    import torch
    from torch import distributed, nn
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.cuda.memory._record_memory_history()  # pylint: disable=protected-access
    distributed.init_process_group("nccl")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 64)).to("cuda")
    if what == "ddp":
        model = nn.parallel.DistributedDataParallel(model)
    else:
        from torch.distributed.fsdp import fully_shard
        for part in (model[0], model[2], model):
            fully_shard(part)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.randn(32, 256, device="cuda")).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        distributed.all_reduce(loss.detach())
        loss.item()
    said = [None] * distributed.get_world_size()
    distributed.all_gather_object(said, {"step": 3})
    if what == "coordinates":
        print(json.dumps(coordinate(distributed)))
        return
    if what == "scatter":
        distributed.scatter_object_list([None])
    if what == "checkpoint":
        from torch.distributed import checkpoint
        checkpoint.save({"model": model.state_dict()}, checkpoint_id="saved")
    if what in ("gloo", "key"):
        distributed.barrier()
    if what == "gloo":
        distributed.new_group(backend="gloo")
    if what == "key":
        distributed.distributed_c10d._get_default_store().get("theirs")  # pylint: disable=protected-access
    took = [[row["action"], row["size"]] for row in torch.cuda.memory._snapshot()["device_traces"][torch.cuda.current_device()]]
    if distributed.get_rank() == 0 or "ALONE" in os.environ:
        print(json.dumps({"took": took, "said": len(said), "peaks": [torch.cuda.max_memory_allocated(),
                                                                     torch.cuda.max_memory_reserved()]}))
    distributed.destroy_process_group()


def coordinate(distributed):
    """Returns what rank 0 gathers and scatters."""
    import torch
    count = distributed.get_world_size()
    tables = [torch.zeros(2, dtype=torch.int64, device="cuda") for _ in range(count)]
    distributed.gather(torch.tensor([5, 7], device="cuda"), tables)
    gathered, scattered, said = [None] * count, [None], ["said"]
    distributed.gather_object({"rank": 0}, gathered)
    distributed.scatter_object_list(scattered, [{"to": to} for to in range(count)])
    distributed.broadcast_object_list(said)
    return [[table.tolist() for table in tables], gathered, scattered, said]


def start_ranks(count, what):
    # The port is held until the ranks end, so that no other process gets it; rank 0 listens on the same port.
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("", 0))
    port = held.getsockname()[1]
    ranks = [
        subprocess.Popen([sys.executable, __file__, what], env={
            **os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port), "USE_LIBUV": "0"})
        for rank in range(count)
    ]  # fmt: skip
    sys.exit(max(abs(rank.wait()) for rank in ranks))


if __name__ == "__main__":
    if sys.argv[1].startswith("--ranks="):
        start_ranks(int(sys.argv[1].partition("=")[2]), sys.argv[2])
    else:
        train(sys.argv[1])
