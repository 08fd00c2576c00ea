# SPDX-License-Identifier: MIT
"""Lightning: a network of convolutions, two epochs with a validation after each."""
import lightning
import torch
from torch import nn
from torch.nn import functional as F

from count import Watch, of_lightning


class Pictures(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
                                 nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(4),
                                 nn.Flatten(), nn.Linear(1024, 10))

    def training_step(self, batch, index):
        images, labels = batch
        loss = F.cross_entropy(self.net(images), labels)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        images, labels = batch
        self.log("accuracy", (self.net(images).argmax(1) == labels).float().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters())
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 1)}


def loader(batches):
    images = torch.utils.data.TensorDataset(torch.randn(16 * batches, 3, 32, 32), torch.randint(0, 10, (16 * batches,)))
    return torch.utils.data.DataLoader(images, batch_size=16)


module = Pictures()
watch = Watch(module.net)
lightning.Trainer(max_epochs=2, accelerator="gpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                  callbacks=[of_lightning(watch)]).fit(module, loader(4), loader(3))
