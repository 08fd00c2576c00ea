# SPDX-License-Identifier: MIT
"""What programs read back from the card, one part by name: says in its last line what it saw, as JSON."""
import json
import math
import os
import sys

import torch
from torch import nn
from torch.nn import functional

CUDA = "cuda"


def operators():
    """Names of what differs from the same operator on the CPU."""
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
    """x[mask] and the like beside numpy, on the same tensor."""
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
    """Tokens per expert in four layers of a mixture, as Mixtral routes them; tokens and experts per token."""
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
    """As HF's generate: 64 new tokens or the end token; the stop flag is on the device, and the cache grows."""
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
    """A loss that nobody computed."""
    model, steps, loss = nn.Linear(2048, 2048).to(CUDA), 0, torch.tensor(9.0)
    while loss > 0.05 and steps < 10000:
        loss = model(torch.randn(64, 2048, device=CUDA)).pow(2).mean()
        steps += 1
    return steps


def small_loop():
    """A loss that is computed: it falls by gradient descent."""
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
    """Ten steps of mixed precision: the optimizer steps, the scale stays."""
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
    """Both selections by one mask that nobody computed have one size; what is read twice agrees."""
    x = torch.randn(2048, 2048, device=CUDA) @ torch.randn(2048, 2048, device=CUDA)
    mask, loss = x > 0, x.mean()
    return {"rows": [len(x[mask]), len(mask[mask])], "of": x.numel(), "losses": [loss.item(), loss.item()]}


def rising():
    """A loop that waits for a score that nobody computed to rise."""
    model, steps, score = nn.Linear(2048, 2048).to(CUDA), 0, 0.0
    while score < 0.95 and steps < 10000:
        score = model(torch.randn(8, 2048, device=CUDA)).sigmoid().mean().item()
        steps += 1
    return steps


def endless():
    """A loop that waits for an accuracy of guesses, which never comes."""
    model, steps, right = nn.Linear(1024, 1024).to(CUDA), 0, 0.0
    while right < 0.9 and steps < 1100:
        right = (model(torch.randn(512, 1024, device=CUDA)).argmax(1) == torch.arange(512, device=CUDA)).float().mean().item()
        steps += 1
    return steps


def finite():
    """What programs check of a gradient that nobody computed; all of it holds."""
    x = torch.randn(2048, 2048, device=CUDA) @ torch.randn(2048, 2048, device=CUDA)
    top, low = x.amax(), x.amin()
    return [
        torch.isfinite(top).item(), torch.isfinite(top).logical_and(torch.isfinite(low)).item(), torch.isfinite(x).all().item(),
        not torch.isnan(top).item(), not torch.isinf(low).item(), not (~torch.isfinite(x)).any().item(),
        (top == top).item(), (x[0] != float("inf")).all().item(), math.isfinite(x.norm().item()),
    ]  # fmt: skip


def forgotten():
    """Backward finds the mask of its forward, though between them a graph ran, after which no contents are known."""
    still, graph = torch.zeros(8, device=CUDA), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        still.add(1)
    x = torch.randn(200, 64, device=CUDA, requires_grad=True)
    mask = torch.arange(200, device=CUDA) % 5 != 0
    chosen = x[mask]
    graph.replay()
    with torch.autograd.set_multithreading_enabled(False):  # a thread of its own may abort the wheel at its exit
        chosen.sum().backward()
    return [list(chosen.shape), list(x.grad.shape)]


def wrong_check():
    """Fails on a value that nobody computed."""
    x = torch.ones(2048, 2048, device=CUDA)
    assert (x @ x).mean().item() == 2048


def printed():
    """Texts of tensors of the card, as those of the CPU say them; what a mask selects before and after them."""
    x, mask = torch.arange(64.0, device=CUDA).view(16, 4), (torch.arange(16) < 3).to(CUDA)
    before, loss = len(x[mask]), (x[0] ** 2).mean()
    here = [torch.ones(3), torch.arange(4) - 2, torch.tensor([0.5, float("inf")]), torch.tensor(3.5), torch.tensor([True, False])]
    same = [repr(one.to(CUDA)) == f"{one!r}"[:-1] + ", device='cuda:0')" for one in here]
    weight = nn.Parameter(torch.ones(2, device=CUDA))
    texts = [str(loss), f"{loss:.2f}", repr(weight), str(weight * 2)]
    return {"same": same, "texts": texts, "rows": [before, len(x[mask])]}


def gaps():
    """Names of tensors with gaps that the host does not get as the CPU has them; the same of a large tensor, read twice."""
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
    """What is selected, reduced, moved and read in inference mode, and of its tensors outside."""
    with torch.inference_mode():
        labels = torch.tensor([0] * 1000 + [3] * 24).to(CUDA)
        x, model = torch.zeros(1024, 4, device=CUDA), nn.Sequential(nn.Linear(8, 8), nn.ReLU()).to(CUDA)
        y = model(torch.ones(2, 8).to(CUDA))
        seen = [list(x[labels == 3].shape), len((labels == 3).nonzero()), torch.ones(3, device=CUDA).sum().item(),
                len(labels.unique()), labels.max().item(), torch.allclose(y.cpu(), model.cpu()(torch.ones(2, 8)))]
    return seen + [torch.ones_like(y).sum().item(), list(x[labels == 3].shape)]


def beam_flags():
    """As HF's beam search: it goes on while a running beam may become better than the worst one that has ended."""
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
    """The line of each index that is not there."""
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


print(json.dumps(globals()[sys.argv[1]]()))
