# SPDX-License-Identifier: MIT
"""NCCL between ranks of one machine, part by part. `ranks.py COUNT PARTS` starts COUNT copies of itself, as torchrun
does. Its last line shows, as JSON, the results of each rank. With --alone, the program is one rank, which its
environment variables describe."""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from datetime import timedelta


def objects(rank, count):
    """Returns the objects that were gathered from all ranks, and the objects that rank 0 broadcasts."""
    gathered, said = [None] * count, [{"rank": rank}, rank * 2] if rank == 0 else [None, None]
    distributed.all_gather_object(gathered, {"rank": rank, "text": "x" * (10 * rank)})
    distributed.broadcast_object_list(said, src=0)
    distributed.barrier()
    return {"gathered": [[one["rank"], len(one["text"])] for one in gathered], "said": said}


def reductions(rank, count):
    """Returns sums, products, extremes and averages in several types, in and out of place."""
    seen = {}
    for kind in (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int32, torch.int64, torch.uint8):
        for name in ("SUM", "PRODUCT", "MAX", "MIN") + (("AVG",) if kind.is_floating_point else ()):
            x = torch.tensor([rank + 1, 2], dtype=kind, device=CUDA)
            distributed.all_reduce(x, getattr(distributed.ReduceOp, name))
            seen[f"{name} {kind}"] = [float(value) for value in x.tolist()]
    x = torch.full((2,), rank + 1.0, device=CUDA)
    distributed.reduce(x, dst=1)
    seen["reduce"] = x.tolist() if rank == 1 else None
    mine = torch.zeros(2, device=CUDA)
    distributed.reduce_scatter_tensor(mine, torch.arange(2.0 * count, device=CUDA) + rank)
    seen["scattered"] = mine.tolist()
    half = distributed._make_nccl_premul_sum(0.5)  # pylint: disable=protected-access
    x = torch.full((2,), rank + 1.0, device=CUDA)
    distributed.all_reduce(x, half)
    seen["halves"] = x.tolist()
    return seen


def exchanges(rank, count):
    """Returns the results of all-gather, uneven all-to-all, gather, scatter, a ring, and sends from even ranks to odd ones."""
    own, seen = torch.tensor([rank, 10 * rank], device=CUDA), {}
    into = torch.zeros(count, 2, dtype=torch.int64, device=CUDA)
    distributed.all_gather_into_tensor(into, own)
    seen["all"] = into.tolist()
    # Each rank sends d + 1 elements to rank d.
    given, taken = [to + 1 for to in range(count)], [rank + 1] * count
    uneven = torch.empty(sum(taken), dtype=torch.int64, device=CUDA)
    distributed.all_to_all_single(uneven, torch.full((sum(given),), rank, device=CUDA), taken, given)
    seen["uneven"] = uneven.tolist()
    tables = [torch.zeros(2, dtype=torch.int64, device=CUDA) for _ in range(count)]
    distributed.gather(own, tables if rank == 0 else None, dst=0)
    seen["gathered"] = [table.tolist() for table in tables] if rank == 0 else None
    mine = torch.zeros(1, dtype=torch.int64, device=CUDA)
    distributed.scatter(mine, [torch.tensor([7 * to], device=CUDA) for to in range(count)] if rank == 0 else None, src=0)
    seen["scattered"] = mine.item()
    before, after = torch.zeros_like(own), (rank + 1) % count
    for request in distributed.batch_isend_irecv([distributed.P2POp(distributed.irecv, before, (rank - 1) % count),
                                                  distributed.P2POp(distributed.isend, own, after)]):
        request.wait()
    seen["ring"] = before.tolist()
    if rank % 2 == 0:
        distributed.send(own + 1, rank + 1)
    else:
        distributed.recv(own, rank - 1)
    seen["sent"] = own.tolist()
    return seen


def groups(rank, count):
    """Reduces in groups of even and of odd ranks, and in a group of only the first two ranks."""
    halves = [distributed.new_group([one for one in range(count) if one % 2 == which]) for which in range(2)]
    x, pair = torch.tensor([rank + 1.0], device=CUDA), distributed.new_group([0, 1])
    distributed.all_reduce(x, group=halves[rank % 2])
    y = torch.tensor([rank + 1.0], device=CUDA)
    if rank < 2:
        distributed.all_reduce(y, group=pair)
    distributed.barrier()
    return [x.item(), y.item()]


def large(_rank, _count):
    """A tensor that is too large to be transferred gets unknown values. All ranks go on."""
    x = torch.ones(1024, 1024, device=CUDA)
    distributed.all_reduce(x)
    distributed.broadcast(x, src=0)
    return list(x.shape)


def unused(rank, _count):
    """Runs DDP with ranks that use different layers. Each parameter gets the gradient averaged over all ranks."""
    torch.manual_seed(rank)
    layers = nn.ModuleList(nn.Linear(4, 1, bias=False) for _ in range(2)).to(CUDA)

    class Chooses(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = layers

        def forward(self, x):
            return self.layers[rank % 2](x)

    model = nn.parallel.DistributedDataParallel(Chooses(), find_unused_parameters=True)
    weights = [round(layer.weight.sum().item(), 5) for layer in layers]
    for _ in range(2):
        model.zero_grad()
        model(torch.full((1, 4), rank + 1.0, device=CUDA)).sum().backward()
    return {"weights": weights, "gradients": [layer.weight.grad[0].tolist() for layer in layers]}


def clipped(rank, _count):
    """Runs FSDP 1 and returns the norm of the gradients over all ranks, before and after clipping."""
    from torch.distributed.fsdp import FullyShardedDataParallel
    torch.manual_seed(0)
    model = FullyShardedDataParallel(nn.Linear(8, 8, bias=False).to(CUDA), use_orig_params=True)
    model(torch.full((1, 8), rank + 1.0, device=CUDA)).sum().backward()
    norm = model.clip_grad_norm_(1.0).item()
    return {"norm": round(norm, 4), "after": round(model.clip_grad_norm_(1.0).item(), 4)}


def sharded(rank, count):
    """Runs FSDP 2. The norm for clipping equals the norm for the whole model on all batches. Also returns this rank's
    rows of a layer."""
    from torch.distributed.fsdp import fully_shard

    def make():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(8, 8, bias=False), nn.ReLU(), nn.Linear(8, 4, bias=False))

    def train(model, batches):
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(2):
            optimizer.zero_grad()
            for batch in batches:
                (model(batch).sum() / len(batches)).backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        return (norm.full_tensor() if hasattr(norm, "full_tensor") else norm).item()

    batches = [torch.full((2, 8), one + 1.0) for one in range(count)]
    model, whole = make().to(CUDA), train(make(), batches)
    for layer in (model[0], model[2], model):
        fully_shard(layer)
    norm = train(model, [batches[rank].to(CUDA)])
    return {"right": abs(norm - whole) < 1e-3, "rows": model[0].weight.to_local().shape[0]}


def tensor_parallel(_rank, count):
    """A layer split by columns and a layer split by rows compute the same output as the whole model."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).to(CUDA)
    x = torch.arange(8.0, device=CUDA)[None]
    whole = model(x).tolist()
    parallelize_module(model, init_device_mesh("cuda", (count,)), {"0": ColwiseParallel(), "2": RowwiseParallel()})
    parts = model(x).tolist()
    return max(abs(a - b) for a, b in zip(whole[0], parts[0])) < 1e-3


def pipeline(rank, count):
    """Runs the stages of a pipeline with microbatches. The last stage computes the same output as the whole model."""
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
    torch.manual_seed(0)
    layers = [nn.Linear(8, 8) for _ in range(count)]
    x = torch.arange(32.0).view(4, 8) / 32
    whole = nn.Sequential(*layers)(x)
    stage = PipelineStage(layers[rank].to(CUDA), rank, count, torch.device(CUDA))
    schedule = ScheduleGPipe(stage, n_microbatches=2, loss_fn=lambda output, target: ((output - target) ** 2).mean())
    given = {"target": torch.zeros(4, 8, device=CUDA), "losses": []} if rank == count - 1 else {}
    output = schedule.step(*([x.to(CUDA)] if rank == 0 else []), **given)
    right = output is None or (output.cpu() - whole).abs().max().item() < 1e-4
    return right and layers[rank].weight.grad is not None


def context(rank, count):
    """Runs attention over a sequence that the ranks share. Returns the shapes before and after the parts are joined."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.experimental import context_parallel
    from torch.distributed.tensor.experimental._attention import context_parallel_unshard
    from torch.nn.attention import SDPBackend, sdpa_kernel
    torch.manual_seed(0)
    mesh = init_device_mesh("cuda", (count,))
    parts = [torch.randn(1, 2, 8 * count, 16, dtype=torch.bfloat16).to(CUDA) for _ in range(3)]
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION), context_parallel(mesh, buffers=parts, buffer_seq_dims=[2] * 3):
        output = nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
        seen = list(output.shape)
        (output,) = context_parallel_unshard(mesh, [output], [2])
    return [seen, list(output.shape), rank]


def killed(rank, _count):
    """The last rank is killed while the other ranks wait for it in a collective."""
    distributed.barrier()
    if rank == distributed.get_world_size() - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        distributed.all_reduce(torch.ones(2, device=CUDA))
        torch.cuda.synchronize()
    except RuntimeError as error:
        return str(error)
    return "nothing"


def differing(rank, _count):
    """Ranks call a collective with different sizes."""
    try:
        distributed.all_reduce(torch.ones(2 + rank, device=CUDA))
        distributed.barrier()
    except RuntimeError as error:
        return str(error)
    return "nothing"


def late(rank, count):
    """Rank 0 makes no call until all other ranks have given up. They wait for two seconds."""
    distributed.barrier()
    # This is set after the barrier, because ranks may reach the barrier late.
    os.environ["GPUMEMTRACE_SIM_NCCL_WAIT"] = "2"
    if rank == 0:
        while not all(os.path.exists(os.path.join(os.environ["RANKS"], f"{other}.json")) for other in range(1, count)):
            time.sleep(0.05)
        return "nothing"
    try:
        distributed.all_reduce(torch.ones(2, device=CUDA))
    except RuntimeError as error:
        return str(error)
    return "nothing"


def be_rank(names):
    rank, count = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    bound = {"device_id": torch.device(CUDA, torch.cuda.current_device())} if "bound" in names else {}
    distributed.init_process_group("nccl", timeout=timedelta(minutes=20), **bound)
    seen = {name: globals()[name](rank, count) for name in names if name != "bound"}
    with open(os.path.join(os.environ["RANKS"], f"{rank}.json"), "w", encoding="utf-8") as file:
        json.dump(seen, file)
    if set(names) & {"killed", "differing", "late"}:
        os._exit(0)  # other ranks of the group may still wait, so this rank exits at once
    distributed.destroy_process_group()


def start_ranks(count, names):
    # The port is held until the ranks end, so that no other process gets it; rank 0 listens on the same port.
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("", 0))
    port = held.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        ranks = [
            subprocess.Popen([sys.executable, __file__, "--alone", *names], stdout=sys.stderr, env={
                **os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count),
                "LOCAL_WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "USE_LIBUV": "0",
                "RANKS": folder})
            for rank in range(count)
        ]  # fmt: skip
        statuses = [rank.wait() for rank in ranks]
        seen = []
        for rank in range(count):
            path = os.path.join(folder, f"{rank}.json")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    seen.append(json.load(file))
            else:
                seen.append(None)
    print(json.dumps({"statuses": statuses, "ranks": seen}))


if __name__ == "__main__":
    if sys.argv[1] == "--alone":
        import torch
        from torch import distributed, nn
        CUDA = "cuda"
        be_rank(sys.argv[2:])
    else:
        start_ranks(int(sys.argv[1]), sys.argv[2:])
