# SPDX-License-Identifier: MIT
"""Programs whose control flow depends on values read from the card; the argument names one part: decisions.py
graph | beams | policy | detector | packing | critic | depths | lengths | clusters | speculation | recomputed | pieces | counts |
draws | replayed | scales | rest. The last printed line has the sizes that the part saw, as JSON."""
import json
import sys

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

CUDA = "cuda"


def graph():
    """A graph network: messages along edges, an average at each node, and pooling that drops nodes by their score."""
    nodes, width = 4000, 256
    edges = torch.randint(nodes, (2, 20000)).to(CUDA)
    x = torch.randn(nodes, width, device=CUDA)
    layers = nn.ModuleList(nn.Linear(width, width) for _ in range(3)).to(CUDA)
    score = nn.Linear(width, 1).to(CUDA)
    sizes = []
    for layer in layers:
        source, target = edges
        degrees = torch.bincount(target, minlength=len(x)).clamp(min=1)
        x = torch.zeros_like(x).index_add_(0, target, layer(x)[source]) / degrees[:, None]
        keep = score(x).squeeze(-1).sigmoid() > 0.5
        number = keep.cumsum(0) - 1
        edges = number[edges[:, keep[source] & keep[target]]]
        x = x[keep].relu()
        sizes.append([len(x), edges.shape[1], bool((edges < len(x)).all())])
    x.square().mean().backward()
    return sizes


def beams():
    """A beam search that stops when each sentence of the batch has at least `beam` finished beams."""
    batch, beam, vocabulary, end, longest = 4, 5, 8000, 2, 40
    embed, cell, head = nn.Embedding(vocabulary, 512).to(CUDA), nn.GRUCell(512, 512).to(CUDA), nn.Linear(512, vocabulary).to(CUDA)
    state, scores = torch.zeros(batch * beam, 512, device=CUDA), torch.zeros(batch, beam, device=CUDA)
    words, finished = torch.ones(batch * beam, 1, dtype=torch.long, device=CUDA), [[] for _ in range(batch)]
    with torch.no_grad():
        while words.shape[1] < longest and not all(len(done) >= beam for done in finished):
            state = cell(embed(words[:, -1]), state)
            chances = torch.log_softmax(head(state), -1).view(batch, beam, -1) + scores[..., None]
            scores, best = chances.view(batch, -1).topk(2 * beam)
            came_from, word = best // vocabulary, best % vocabulary
            for sentence, (own, at) in enumerate(zip(word.tolist(), scores.tolist())):
                finished[sentence] += [value for one, value in zip(own, at) if one == end]
            rows = (came_from[:, :beam] + torch.arange(batch, device=CUDA)[:, None] * beam).flatten()
            words, state = torch.cat([words[rows], word[:, :beam].reshape(-1, 1)], 1), state[rows]
            scores = scores[:, :beam]
    return {"length": words.shape[1], "words": bool((words < vocabulary).all()), "rows": len(words)}


class Buffer:
    """A replay buffer on the card; batches are drawn by priority."""

    def __init__(self, size, shape):
        self.seen, self.actions = torch.zeros(size, *shape, dtype=torch.uint8, device=CUDA), torch.zeros(size, dtype=torch.long, device=CUDA)
        self.rewards, self.priorities, self.count = torch.zeros(size, device=CUDA), torch.zeros(size, device=CUDA), 0

    def add(self, seen, action, reward):
        at = self.count % len(self.rewards)
        self.seen[at], self.actions[at], self.rewards[at], self.priorities[at] = seen, action, reward, 1.0
        self.count += 1

    def draw(self, size):
        return torch.multinomial(self.priorities[:self.count], size, replacement=True)


def policy():
    """A policy: actions of a game on the host are drawn from a network's logits; updates use the replay buffer."""
    net = nn.Sequential(nn.Conv2d(4, 16, 8, 4), nn.ReLU(), nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.Flatten(), nn.Linear(2592, 256), nn.ReLU(),
                        nn.Linear(256, 6)).to(CUDA)
    optimizer, buffer, episodes, actions = torch.optim.RMSprop(net.parameters()), Buffer(256, (4, 84, 84)), 0, set()
    position = 0
    for _ in range(64):
        seen = torch.randint(256, (4, 84, 84), dtype=torch.uint8, device=CUDA)
        with torch.no_grad():
            choice = torch.distributions.Categorical(logits=net(seen[None] / 255.0))
            action = choice.sample().item()
        actions.add(action)
        position += action - 2
        buffer.add(seen, action, float(position))
        if abs(position) > 8:
            position, episodes = 0, episodes + 1
        if buffer.count >= 32:
            drawn = buffer.draw(32)
            choice = torch.distributions.Categorical(logits=net(buffer.seen[drawn] / 255.0))
            loss = -(choice.log_prob(buffer.actions[drawn]) * buffer.rewards[drawn]).mean() - 0.01 * choice.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            buffer.priorities[drawn] = loss.detach().abs().expand(32) + 1e-3
    return {"actions": sorted(actions), "episodes": episodes, "steps": buffer.count}


def overlaps(box, others):
    left, right = torch.max(box[:2], others[:, :2]), torch.min(box[2:], others[:, 2:])
    shared = (right - left).clamp(min=0).prod(1)
    areas = (others[:, 2:] - others[:, :2]).prod(1)
    return shared / ((box[2:] - box[:2]).prod() + areas - shared)


def detector():
    """A detector: boxes above a score, the best of each group that overlaps, and up to 3 hard negatives per positive."""
    body = nn.Sequential(nn.Conv2d(3, 64, 7, 4, 3), nn.ReLU(), nn.Conv2d(64, 128, 3, 2, 1), nn.ReLU()).to(CUDA)
    head = nn.Conv2d(128, 5 * 3, 1).to(CUDA)
    kept = []
    for image in torch.randn(3, 3, 256, 256, device=CUDA):
        out = head(body(image[None])).view(5, -1).t()
        scores, boxes = out[:, 4].sigmoid(), out[:, :4].cumsum(1)
        above = (scores > 0.3).nonzero().squeeze(1)
        boxes, scores = boxes[above], scores[above]
        order, keep = scores.argsort(descending=True)[:500], []
        while order.numel():
            keep.append(order[0])
            order = order[1:][overlaps(boxes[order[0]], boxes[order[1:]]) <= 0.5]
        kept.append([len(out), len(above), len(boxes[torch.stack(keep)])])
        positive = out[:, 4] > 0.5
        losses = functional.softplus(out[:, 4]).masked_fill(positive, 0)
        count = min(3 * int(positive.sum()), int((~positive).sum()))
        hard = losses.topk(max(count, 1))[0]
        (out[positive].square().sum() + hard.sum()).backward()
    return kept


def packing():
    """Removes padding: counts lengths on the card, packs the sequences for an LSTM, joins them and splits them for attention."""
    tokens = torch.zeros(16, 100, dtype=torch.long)
    for i in range(16):
        tokens[i, :5 + 6 * i] = 7
    tokens = tokens.to(CUDA)
    lengths = (tokens != 0).sum(1)
    embed, lstm = nn.Embedding(1000, 256).to(CUDA), nn.LSTM(256, 256, batch_first=True).to(CUDA)
    packed = nn.utils.rnn.pack_padded_sequence(embed(tokens), lengths.cpu(), batch_first=True, enforce_sorted=False)
    out, seen = nn.utils.rnn.pad_packed_sequence(lstm(packed)[0], batch_first=True)
    ends = functional.pad(lengths.cumsum(0), (1, 0)).tolist()
    joined = embed(tokens[tokens != 0])
    parts = joined.split(lengths.tolist())
    attended = torch.cat([functional.scaled_dot_product_attention(part[None], part[None], part[None])[0] for part in parts])
    (attended.mean() + out.mean()).backward()
    return {"joined": len(joined), "ends": ends[-1], "padded": list(out.shape), "lengths": seen.tolist() == lengths.tolist()}


def critic():
    """A critic with a gradient penalty takes five steps for each step of the generator, until the distance is small."""
    maker = nn.Sequential(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 3072)).to(CUDA)
    judge = nn.Sequential(nn.Linear(3072, 1024), nn.LeakyReLU(0.2), nn.Linear(1024, 1)).to(CUDA)
    of_maker, of_judge = (torch.optim.Adam(net.parameters(), 1e-4, betas=(0.0, 0.9)) for net in (maker, judge))
    steps, distance = 0, 9.0
    while distance > 0.1 and steps < 5000:
        for _ in range(5):
            real, made = torch.randn(64, 3072, device=CUDA), maker(torch.randn(64, 64, device=CUDA)).detach()
            share = torch.rand(64, 1, device=CUDA)
            between = (share * real + (1 - share) * made).requires_grad_()
            (slope,) = torch.autograd.grad(judge(between).sum(), between, create_graph=True)
            loss = judge(made).mean() - judge(real).mean() + 10 * (slope.norm(2, 1) - 1).square().mean()
            of_judge.zero_grad()
            loss.backward()
            of_judge.step()
        distance = abs((judge(real).mean() - judge(made).mean()).item())
        of_maker.zero_grad()
        (-judge(maker(torch.randn(64, 64, device=CUDA))).mean()).backward()
        of_maker.step()
        steps += 1
    return steps


def depths():
    """A router sends the 128 best tokens through each block; at the end, all tokens above a threshold take one block more."""
    width, x = 512, torch.randn(4, 512, 512, device=CUDA)
    routers, blocks = (nn.ModuleList(nn.Linear(width, n) for _ in range(4)).to(CUDA) for n in (1, width))
    sizes = []
    for router, block in zip(routers, blocks):
        weights, chosen = router(x).squeeze(-1).topk(128, dim=1)
        at = chosen.sort(1)[0][..., None].expand(-1, -1, width)
        x = x.scatter_add(1, at, block(x.gather(1, at)) * weights[..., None])
        sizes.append([len(torch.unique(chosen[0])), bool(((chosen >= 0) & (chosen < 512)).all())])
    above = routers[0](x).squeeze(-1).sigmoid() > 0.5
    rows = above.nonzero()
    x = x.index_put((rows[:, 0], rows[:, 1]), blocks[0](x[above]))
    x.mean().backward()
    return {"chosen": sizes, "above": [len(rows), len(x[above]), above.numel()]}


def lengths():
    """Cuts each batch to its longest sequence, and repeats each state as often as the predicted duration says."""
    embed, predict, decode = nn.Embedding(500, 384).to(CUDA), nn.Linear(384, 1).to(CUDA), nn.Linear(384, 80).to(CUDA)
    cut, frames = [], []
    for batch in range(3):
        sizes = torch.tensor([5, 9 + batch, 30 + 10 * batch, 12], device=CUDA)
        tokens = torch.randint(1, 500, (4, 128), device=CUDA)
        tokens = tokens[:, :sizes.max().item()]
        cut.append(tokens.shape[1])
        states = embed(tokens)
        durations = predict(states).squeeze(-1).exp().round().clamp(1, 20).long()
        spread = nn.utils.rnn.pad_sequence([state.repeat_interleave(times, 0) for state, times in zip(states, durations)], True)
        frames.append([spread.shape[1], int(durations.sum(1).max())])
        decode(spread).mean().backward()
    return {"cut": cut, "frames": frames}


def clusters():
    """K-means: centres move until they rest; a centre without points is placed on a random point."""
    points, k = torch.randn(20000, 64, device=CUDA), 32
    centres, moved, rounds = points[torch.randperm(len(points), device=CUDA)[:k]], float("inf"), 0
    while moved > 1e-3 and rounds < 3000:
        nearest = torch.cdist(points, centres).argmin(1)
        counts = torch.bincount(nearest, minlength=k)
        new = torch.zeros_like(centres).index_add_(0, nearest, points) / counts.clamp(min=1)[:, None]
        empty = (counts == 0).nonzero().squeeze(1)
        if len(empty):
            new[empty] = points[torch.randint(len(points), (len(empty),), device=CUDA)]
        moved, centres, rounds = (new - centres).norm(dim=1).max().item(), new, rounds + 1
    return {"rounds": rounds, "counts": [int(counts.sum()), int(counts.min())]}


def speculation():
    """Speculative decoding: a small model proposes four tokens, and a large one keeps the tokens that it agrees with."""
    vocabulary, wanted = 4000, 32
    small, large = (nn.Sequential(nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)).to(CUDA) for width in (64, 1024))
    tokens, calls = torch.randint(vocabulary, (1, 8), device=CUDA), 0
    with torch.no_grad():
        while tokens.shape[1] < 8 + wanted:
            draft = tokens
            for _ in range(4):
                draft = torch.cat([draft, small(draft[:, -1:])[:, -1].argmax(-1, keepdim=True)], 1)
            chosen = large(draft)[:, -5:].argmax(-1)
            same = int((chosen[:, :-1] == draft[:, -4:]).long().cumprod(1).sum())
            tokens = torch.cat([draft[:, :tokens.shape[1] + same], chosen[:, same:same + 1]], 1)
            calls += 1
    return {"tokens": tokens.shape[1], "calls": calls}


def recomputed():
    """A checkpoint computes its mask again in backward; the mask selects the same number of rows as in forward."""
    x, layer = torch.randn(513, 1024, device=CUDA, requires_grad=True), nn.Linear(1024, 64).to(CUDA)

    def chosen(x):
        y = layer(x)
        return y[y.mean(1) > 0]

    out = checkpoint(chosen, x, use_reentrant=False)
    with torch.autograd.set_multithreading_enabled(False):
        out.sum().backward()
    return [len(out), list(x.grad.shape)]


def pieces():
    """Operators set a part of a tensor's memory: this part has known values, which stay when the rest is guessed."""
    order = torch.tensor([3, 1, 0, 2], device=CUDA)
    back, scattered, half, added = torch.empty_like(order), torch.empty_like(order), torch.empty(8, device=CUDA), torch.empty(4, device=CUDA)
    back[order] = torch.arange(4, device=CUDA)
    scattered.scatter_(0, order, torch.arange(4, device=CUDA))
    half.index_fill_(0, order, 2.0)
    added.index_put_((order[:2],), torch.ones(2, device=CUDA), accumulate=True)
    return {"back": back.tolist(), "scattered": scattered.tolist(), "known": half[:4].tolist(), "whole": half.tolist(), "again": half.tolist(),
            "added": added.tolist()}


def counts():
    """Splits tokens, too many for the dry run to compute, by the counts of their experts; counts nonzeros of a large matrix."""
    expert = torch.randn(300000, 8, device=CUDA).argmax(1)
    parts = torch.randn(300000, 4, device=CUDA).split(torch.bincount(expert, minlength=8).tolist())
    matrix = (torch.randn(1024, 1024, device=CUDA) @ torch.randn(1024, 1024, device=CUDA)).relu().to_sparse()
    edges = torch.sparse_coo_tensor(torch.randint(50, (2, 400), device=CUDA), torch.ones(400, device=CUDA), (50, 50)).coalesce()
    return {"parts": [len(part) for part in parts], "matrix": matrix._nnz(), "edges": edges._nnz()}


def draws():
    """Distributions with unknown parameters check that their samples are valid."""
    raw = (torch.randn(1024, 1024, device=CUDA) @ torch.randn(1024, 1024, device=CUDA))[0, :5].exp()
    kinds = torch.distributions.Dirichlet(raw), torch.distributions.Beta(raw, raw), torch.distributions.Poisson(raw)
    return [list(kind.log_prob(kind.sample()).shape) for kind in kinds]


def replayed():
    """After a graph ran, the values that lay on the card before and those that the graph wrote are both unknown."""
    beside, still, graph = torch.full((4,), 7.0, device=CUDA), torch.full((4,), 5.0, device=CUDA), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        still.add_(1)
    before = beside.tolist()
    graph.replay()
    return [before, still.tolist(), beside.tolist()]


def overflows(x):
    """Returns whether x has an inf or NaN, tested as in trainers with their own dynamic scale, DeepSpeed's for example."""
    total = float(x.float().sum())
    return total in (float("inf"), float("-inf")) or total != total


def scales():
    """A loss scale is halved until nothing overflows: with unknown gradients, and with a tensor that does overflow."""
    model, found = nn.Linear(2048, 2048).to(CUDA).half(), {}
    model(torch.randn(64, 2048, device=CUDA).half()).float().mean().backward()
    found["unknown"] = [overflows(weight.grad) for weight in model.parameters()]
    small, scale, steps = torch.full((8,), 2.0, device=CUDA, dtype=torch.float16), 65536.0, 0
    while overflows(small * scale):
        scale, steps = scale / 2, steps + 1
    return {**found, "scale": scale, "steps": steps}


def rest():
    """Runs until the loss no longer changes."""
    model, loss, before, steps = nn.Linear(2048, 2048).to(CUDA), 9.0, 0.0, 0
    while abs(before - loss) > 1e-9 and steps < 3000:
        before, loss = loss, model(torch.randn(8, 2048, device=CUDA)).square().mean().item()
        steps += 1
    return steps


print(json.dumps(globals()[sys.argv[1]]()))
