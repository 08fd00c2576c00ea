# SPDX-License-Identifier: MIT
"""Fine-tunes with momentum SGD. Gradients of four batches are accumulated for each step, and the norm is clipped after each
backward."""
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

ACCUMULATE, BATCHES = 4, 32


class Classifier(nn.Module):
    def __init__(self, width=768, layers=6):
        super().__init__()
        self.embed = nn.Embedding(30522, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 12, 4 * width, dropout=0.0, batch_first=True) for _ in range(layers)
        )
        self.answer = nn.Linear(width, 2)

    def forward(self, tokens):
        hidden = self.embed(tokens)
        for layer in self.layers:
            hidden = layer(hidden)
        return self.answer(hidden)


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    global_step, running = 0, 0.0
    model.zero_grad()
    for number, (tokens, starts) in enumerate(batches):
        model.train()
        scores = model(tokens.cuda())[..., 0]
        loss = nn.functional.cross_entropy(scores, starts.cuda()) / ACCUMULATE
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        running += loss.item()
        if (number + 1) % ACCUMULATE == 0:
            optimizer.step()
            model.zero_grad()
            global_step += 1
    return global_step, running


data = [(torch.zeros(8, 384, dtype=torch.long), torch.zeros(8, dtype=torch.long)) for _ in range(BATCHES)]
print(train(Classifier().cuda(), data))
