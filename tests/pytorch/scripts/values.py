# SPDX-License-Identifier: MIT
"""Programs that read values back from the card; the argument names one part. The last printed line is its result as JSON."""
import json
import math
import os
import sys

import torch
from torch import nn
from torch.nn import functional

CUDA = "cuda"


def operators():
    """Returns [name, result on the card, result on the CPU] for each operator whose results differ."""
    mask = torch.tensor([1, 0, 1, 0, 0, 1, 1, 1, 0, 0], dtype=torch.bool)
    x = torch.tensor([3.0, 1.0, 2.0, 5.0, 4.0, 1.0, 1.0, 7.0, 0.0, 9.0])
    n = torch.tensor([3, 1, 3, 0, 2, 2, 1, 3, 0, 0])

    def put(x, n, mask):
        y = torch.zeros(12, device=x.device)
        y[n] = 4.0
        y[y > 3] += 1
        y.index_add_(0, n, torch.ones_like(x))
        y[2:4] *= 2
        return y.view(3, 4).t().contiguous()

    def gradient(x, n, mask):
        w = x.clone().requires_grad_()
        (w * w * mask).sum().backward()
        return w.grad

    cases = {
        "x[mask]": lambda x, n, mask: x[mask],
        "x[n]": lambda x, n, mask: x[n],
        "masked_select": lambda x, n, mask: torch.masked_select(x, mask),
        "nonzero": lambda x, n, mask: mask.nonzero(),
        "where": lambda x, n, mask: torch.where(x > 2)[0],
        "unique": lambda x, n, mask: torch.unique(n, return_counts=True)[1],
        "unique_rows": lambda x, n, mask: torch.unique(n.view(5, 2), dim=0),
        "unique_columns": lambda x, n, mask: torch.unique(n.view(2, 5), dim=1, return_inverse=True)[1],
        "consecutive_rows": lambda x, n, mask: torch.unique_consecutive(n.view(5, 2), dim=0),
        "unique_consecutive": lambda x, n, mask: torch.unique_consecutive(n),
        "one_hot": lambda x, n, mask: functional.one_hot(n),
        "cumsum": lambda x, n, mask: torch.cumsum(x, 0),
        "bincount": lambda x, n, mask: torch.bincount(n),
        "repeat_interleave": lambda x, n, mask: torch.repeat_interleave(n),
        "sort": lambda x, n, mask: x.sort(stable=True)[1],
        "topk": lambda x, n, mask: x.topk(3)[1],
        "argmax": lambda x, n, mask: x.argmax(),
        "equal": lambda x, n, mask: torch.tensor(torch.equal(x, x.clone())),
        "allclose": lambda x, n, mask: torch.tensor(torch.allclose(x, x + 1)),
        "softmax": lambda x, n, mask: torch.softmax(x, 0).round(decimals=4),
        "put": put,
        "half": lambda x, n, mask: x.half().to(torch.bfloat16).float(),
        "gradient": gradient,
        "scatter": lambda x, n, mask: torch.zeros(4, device=x.device).scatter_add_(0, n, x),
    }
    differ = []
    for name, case in cases.items():
        there = case(x.to(CUDA), n.to(CUDA), mask.to(CUDA))
        here = case(x, n, mask)
        if there.shape != here.shape or there.cpu().tolist() != here.tolist():
            differ.append([name, there.tolist(), here.tolist()])
    return differ


def numpy():
    """Returns for x[mask] and similar expressions whether the result equals numpy's on the same data."""
    import numpy as np

    a = np.array([4, 1, 3, 1, 0, 4, 2, 2])
    x = torch.from_numpy(a).to(CUDA)
    pairs = [
        (x[x > 1], a[a > 1]), (x.nonzero().flatten(), a.nonzero()[0]), (torch.unique(x), np.unique(a)),
        (functional.one_hot(x), np.eye(5, dtype=int)[a]), (x.cumsum(0), a.cumsum()), (torch.bincount(x), np.bincount(a)),
        (x[x], a[a]),
    ]  # fmt: skip
    return [there.cpu().numpy().tolist() == here.tolist() for there, here in pairs]


def router():
    """Routes tokens as Mixtral does; returns the tokens of each expert in four layers, all tokens, and experts per token."""
    hidden, experts, per_token, tokens = 1024, 8, 2, 2048
    x = torch.randn(tokens, hidden, device=CUDA)
    layers = []
    for _ in range(4):
        gate = nn.Linear(hidden, experts, bias=False).to(CUDA)
        weights, chosen = torch.topk(functional.softmax(gate(x), dim=1, dtype=torch.float), per_token, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        mask = functional.one_hot(chosen, num_classes=experts).permute(2, 1, 0)
        out, counts = torch.zeros_like(x), []
        for expert in range(experts):
            place, token = torch.where(mask[expert])
            out.index_add_(0, token, x[token] * weights[token, place, None])
            counts.append(len(token))
        layers.append(counts)
        x = x + out
    return {"layers": layers, "tokens": tokens, "per_token": per_token}


def generate():
    """Like Hugging Face's generate(): 64 new tokens or the end token; the stop flag is on the device, and the cache grows."""
    vocabulary, hidden = 32000, 1024
    embedding = nn.Embedding(vocabulary, hidden).to(CUDA)
    head = nn.Linear(hidden, vocabulary, bias=False).to(CUDA)
    ids = torch.randint(5, 100, (2, 7)).to(CUDA)
    cache, first = torch.empty(2, 0, hidden, device=CUDA), ids.shape[1]
    going, done = torch.ones(2, dtype=torch.long, device=CUDA), False
    with torch.no_grad():
        while not done:
            x = embedding(ids if not cache.shape[1] else ids[:, -1:])
            cache = torch.cat([cache, x], 1)
            ids = torch.cat([ids, (head(x[:, -1]).argmax(-1) * going)[:, None]], -1)
            stop = torch.full((2,), ids.shape[1] >= first + 64, device=CUDA, dtype=torch.bool)
            going = going & ~(stop | torch.isin(ids[:, -1], torch.tensor([2], device=CUDA)))
            done = going.max() == 0
    return {"new": ids.shape[1] - first, "cached": cache.shape[1], "within": bool((ids < vocabulary).all())}


def beam():
    vocabulary, beams = 5000, 4
    ids, scores = torch.randint(5, 100, (beams, 3)).to(CUDA), torch.zeros(beams, device=CUDA)
    weights = torch.randn(768, vocabulary, device=CUDA)
    for _ in range(10):
        chances = torch.log_softmax(torch.randn(beams, 768, device=CUDA) @ weights, -1) + scores[:, None]
        scores, best = chances.view(-1).topk(beams)
        ids = torch.cat([ids[best // vocabulary], (best % vocabulary)[:, None]], 1)
    return {"shape": list(ids.shape), "within": bool(((ids >= 0) & (ids < vocabulary)).all())}


def large_loop():
    """Waits for a small loss that the dry run does not compute; returns the number of iterations."""
    model, steps, loss = nn.Linear(2048, 2048).to(CUDA), 0, torch.tensor(9.0)
    while loss > 0.05 and steps < 10000:
        loss = model(torch.randn(64, 2048, device=CUDA)).pow(2).mean()
        steps += 1
    return steps


def small_loop():
    """Waits for a small loss that the dry run computes; it falls by gradient descent."""
    torch.manual_seed(0)
    model, steps, loss = nn.Linear(4, 1).to(CUDA), 0, torch.tensor(9.0)
    optimizer, x = torch.optim.SGD(model.parameters(), 0.1), torch.randn(64, 4, device=CUDA)
    while loss > 0.01 and steps < 1000:
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps += 1
    return {"steps": steps, "loss": loss.item()}


def early():
    model, best, worse, epochs = nn.Linear(2048, 2048).to(CUDA), 9e9, 0, 0
    while worse < 3 and epochs < 10000:
        loss = model(torch.randn(8, 2048, device=CUDA)).pow(2).mean().item()
        worse, best = (0, loss) if loss < best else (worse + 1, best)
        epochs += 1
    return epochs


def scaler():
    """Ten steps in mixed precision: the optimizer is not skipped, and the scale does not change."""
    model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)).to(CUDA)
    optimizer, scale = torch.optim.AdamW(model.parameters()), torch.amp.GradScaler("cuda")
    for _ in range(10):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = functional.cross_entropy(model(torch.randn(32, 1024, device=CUDA)),
                                            torch.randint(10, (32,), device=CUDA))
        optimizer.zero_grad()
        scale.scale(loss).backward()
        scale.step(optimizer)
        scale.update()
    return {"scale": scale.get_scale(), "states": len(optimizer.state)}


def distributions():
    logits = nn.Linear(512, 64).to(CUDA)(torch.randn(256, 512, device=CUDA))
    action = torch.distributions.Categorical(logits=logits).sample()
    noise = torch.distributions.Normal(logits, functional.softplus(logits)).rsample()
    torch.manual_seed(3)
    once = torch.rand(5, device=CUDA)
    torch.manual_seed(3)
    return {"actions": bool(((action >= 0) & (action < 64)).all()), "noise": list(noise.shape),
            "repeats": torch.equal(once, torch.rand(5, device=CUDA)), "mean": torch.rand(9999, device=CUDA).mean().item()}


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return torch.full((3,), index)


def loader():
    batches = torch.utils.data.DataLoader(Numbers(), 4, num_workers=2, pin_memory=True)
    return [batch.to(CUDA, non_blocking=True).sum().item() for batch in batches]


def parallel():
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1", USE_LIBUV="0")
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("nccl", store=store, rank=0, world_size=1)
    model = nn.parallel.DistributedDataParallel(nn.Linear(64, 64).to(CUDA))
    model(torch.randn(4, 64, device=CUDA)).sum().backward()
    total, gathered = torch.ones(3, device=CUDA), [torch.zeros(3, device=CUDA)]
    torch.distributed.all_reduce(total)
    torch.distributed.all_gather(gathered, total * 2)
    return [total.tolist(), gathered[0].tolist()]


def large_mask():
    """Two selections by the same mask with guessed values have the same size; a value that is read twice stays the same."""
    x = torch.randn(2048, 2048, device=CUDA) @ torch.randn(2048, 2048, device=CUDA)
    mask, loss = x > 0, x.mean()
    return {"rows": [len(x[mask]), len(mask[mask])], "of": x.numel(), "losses": [loss.item(), loss.item()]}


def rising():
    """A loop that waits until a score rises that the dry run does not compute."""
    model, steps, score = nn.Linear(2048, 2048).to(CUDA), 0, 0.0
    while score < 0.95 and steps < 10000:
        score = model(torch.randn(8, 2048, device=CUDA)).sigmoid().mean().item()
        steps += 1
    return steps


def endless():
    """A loop that waits for a high accuracy, which guessed values never reach."""
    model, steps, right = nn.Linear(1024, 1024).to(CUDA), 0, 0.0
    while right < 0.9 and steps < 1100:
        right = (model(torch.randn(512, 1024, device=CUDA)).argmax(1) == torch.arange(512, device=CUDA)).float().mean().item()
        steps += 1
    return steps


def finite():
    """Checks that programs make of a gradient; all of them hold for one that the dry run does not compute."""
    x = torch.randn(2048, 2048, device=CUDA) @ torch.randn(2048, 2048, device=CUDA)
    top, low = x.amax(), x.amin()
    return [
        torch.isfinite(top).item(), torch.isfinite(top).logical_and(torch.isfinite(low)).item(), torch.isfinite(x).all().item(),
        not torch.isnan(top).item(), not torch.isinf(low).item(), not (~torch.isfinite(x)).any().item(),
        (top == top).item(), (x[0] != float("inf")).all().item(), math.isfinite(x.norm().item()),
    ]  # fmt: skip


def forgotten():
    """Backward uses the mask of its forward, although a CUDA graph ran in between, after which all values are unknown."""
    still, graph = torch.zeros(8, device=CUDA), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        still.add(1)
    x = torch.randn(200, 64, device=CUDA, requires_grad=True)
    mask = torch.arange(200, device=CUDA) % 5 != 0
    chosen = x[mask]
    graph.replay()
    with torch.autograd.set_multithreading_enabled(False):  # autograd's own thread may make the wheel abort at exit
        chosen.sum().backward()
    return [list(chosen.shape), list(x.grad.shape)]


def wrong_check():
    """Fails, because it asserts a value that the dry run does not compute."""
    x = torch.ones(2048, 2048, device=CUDA)
    assert (x @ x).mean().item() == 2048


def printed():
    """Returns whether tensors print the same on card and CPU, other texts, and the rows that a mask selects before and after."""
    x, mask = torch.arange(64.0, device=CUDA).view(16, 4), (torch.arange(16) < 3).to(CUDA)
    before, loss = len(x[mask]), (x[0] ** 2).mean()
    here = [torch.ones(3), torch.arange(4) - 2, torch.tensor([0.5, float("inf")]), torch.tensor(3.5), torch.tensor([True, False])]
    same = [repr(one.to(CUDA)) == f"{one!r}"[:-1] + ", device='cuda:0')" for one in here]
    weight = nn.Parameter(torch.ones(2, device=CUDA))
    texts = [str(loss), f"{loss:.2f}", repr(weight), str(weight * 2)]
    return {"same": same, "texts": texts, "rows": [before, len(x[mask])]}


def gaps():
    """Returns the names of strided tensors whose copies on the host differ from the CPU's result."""
    here = torch.arange(24.0).view(4, 6).softmax(1)
    cases = {
        "column": lambda x: x[:, 1], "steps": lambda x: x[::3], "diagonal": lambda x: x.diagonal(),
        "expand": lambda x: x[:1].expand(5, 6),
        "unfold": lambda x: x.flatten().unfold(0, 3, 2), "as_strided": lambda x: x.as_strided((3, 2), (5, 2)),
        "turned": lambda x: x.t()[1:3, ::2], "imag": lambda x: torch.complex(x, x).conj().imag,
    }  # fmt: skip
    differ = []
    for name, case in cases.items():
        there, wanted = case(here.to(CUDA)), case(here)
        into = torch.zeros(wanted.shape)
        into.copy_(there)
        given = [there.tolist(), there.cpu().numpy().tolist(), there.to("cpu", torch.float64).tolist(), into.tolist()]
        differ += [name] if any(one != wanted.tolist() for one in given) else []
    return differ


def unknown_gaps():
    x = torch.ones(2048, 2048, device=CUDA) @ torch.ones(2048, 2048, device=CUDA)
    column = x[:, 1]
    return column.tolist() == column.tolist() and all(value > 0 for value in column.tolist())


def inference():
    """Returns results of selections, reductions, copies and reads in inference mode, and of the same tensors outside of it."""
    with torch.inference_mode():
        labels = torch.tensor([0] * 1000 + [3] * 24).to(CUDA)
        x, model = torch.zeros(1024, 4, device=CUDA), nn.Sequential(nn.Linear(8, 8), nn.ReLU()).to(CUDA)
        y = model(torch.ones(2, 8).to(CUDA))
        seen = [list(x[labels == 3].shape), len((labels == 3).nonzero()), torch.ones(3, device=CUDA).sum().item(),
                len(labels.unique()), labels.max().item(), torch.allclose(y.cpu(), model.cpu()(torch.ones(2, 8)))]
    return seen + [torch.ones_like(y).sum().item(), list(x[labels == 3].shape)]


def beam_flags():
    """Like Hugging Face's beam search: goes on while a running beam may become better than the worst finished beam."""
    vocabulary, beams, first = 5000, 4, 3
    ids, running = torch.randint(5, 100, (1, beams, first)).to(CUDA), torch.zeros(1, beams, device=CUDA)
    ended, scores = torch.zeros(1, beams, dtype=torch.bool, device=CUDA), torch.full((1, beams), -1e9, device=CUDA)
    weights, going = torch.randn(768, vocabulary, device=CUDA), True
    while going and ids.shape[-1] < first + 32:
        chances = torch.log_softmax(torch.randn(beams, 768, device=CUDA) @ weights, -1).view(1, beams, -1) + running[:, :, None]
        running, best = chances.view(1, -1).topk(beams)
        before = ids.gather(1, (best // vocabulary)[:, :, None].expand(-1, -1, ids.shape[-1]))
        ids = torch.cat([before, (best % vocabulary)[:, :, None]], -1)
        worst = torch.where(ended, scores.min(1, keepdim=True)[0], -1.0e9)
        better = torch.any(running[:, :1] > worst, dim=-1, keepdim=True)
        stopped = (ids[:, :, -1] == 2) | (ids.shape[-1] >= first + 32)
        going = torch.any(better) & ~torch.all(ended) & ~torch.all(stopped)
    return ids.shape[-1] - first


def outside():
    """Uses indices that are out of range; returns the line of each."""
    lines, rows, labels = [], nn.Embedding(50000, 64).to(CUDA), torch.tensor([3, -100, 9], device=CUDA)
    words, few = torch.randint(50000, (4, 64), device=CUDA), torch.arange(10, device=CUDA)
    rows(words), functional.cross_entropy(torch.randn(3, 10, device=CUDA), labels), few[-few], few.gather(0, few)
    words[1, 3] = 50000
    for wrong in (lambda: rows(words),
                  lambda: functional.cross_entropy(torch.randn(3, 9, device=CUDA), labels),
                  lambda: few[few + 1],
                  lambda: few.gather(0, few - 1)):  # fmt: skip
        wrong(), wrong()
        lines.append(wrong.__code__.co_firstlineno)
    return lines


def compiled():
    model = torch.compile(nn.Sequential(nn.Linear(64, 64), nn.ReLU()).to(CUDA), backend="aot_eager")
    for _ in range(3):
        model(torch.randn(8, 64, device=CUDA)).sum().backward()
    from torch._dynamo.utils import counters

    return counters["stats"]["unique_graphs"]


def subclasses():
    """Returns the shapes of parameters that get them at the first forward, and the sum of a subclass of Parameter."""
    class Weight(nn.Parameter):
        pass

    model = nn.Sequential(nn.LazyConv2d(8, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(4)).to(CUDA)
    model(torch.zeros(2, 3, 8, 8, device=CUDA)).sum().backward()
    return [list(model[3].weight.grad.shape), Weight(torch.ones(3, device=CUDA)).sum().item()]


def unknown_loss(width):
    return torch.randn(width, width, device=CUDA).pow(2).mean()


def shown():
    """Floats that are shown and summed, and weights that PyTorch draws again where they lie outside."""
    nn.init.trunc_normal_(torch.empty(2048, 2048, device=CUDA), std=0.02)
    total = 0.0
    for step in range(3):
        loss = unknown_loss(2048).item()
        total += loss
        print(f"{unknown_loss(2048).item():.3f}", loss, file=sys.stderr)
    return [total]


def compared():
    """Returns the lines that compare a float."""
    best = 1e9
    loss = unknown_loss(2048).item()  # is compared below
    if loss < best:
        best = loss
    if unknown_loss(2048) > 1:
        best = 1.0
    return [compared.__code__.co_firstlineno + 3, compared.__code__.co_firstlineno + 6]


print(json.dumps(globals()[sys.argv[1]]()))
