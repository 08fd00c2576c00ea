# SPDX-License-Identifier: MIT
"""Accelerate: an encoder, four batches for each step; the last batches of an epoch are fewer."""
import torch
from accelerate import Accelerator
from torch import nn
from torch.nn import functional as F

from count import Watch


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(1000, 192), nn.Linear(192, 4)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(192, 4, 512, batch_first=True), 3)

    def forward(self, ids):
        return self.head(self.encoder(self.words(ids)).mean(1))


accelerator = Accelerator(gradient_accumulation_steps=4)
model = Classifier()
watch = Watch(model)
data = torch.utils.data.TensorDataset(torch.randint(0, 1000, (80, 64)), torch.randint(0, 4, (80,)))
model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), torch.utils.data.DataLoader(data, batch_size=8, shuffle=True))
for _ in range(2):
    for ids, labels in loader:
        with accelerator.accumulate(model):
            loss = F.cross_entropy(model(ids), labels)
            watch.loss(loss, labels)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            watch.step()
