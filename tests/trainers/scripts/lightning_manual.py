# SPDX-License-Identifier: MIT
"""Lightning, which leaves the optimization to the program: a generator and a discriminator, an optimizer for each."""
import lightning
import torch
from torch import nn
from torch.nn import functional as F

from count import Watch, of_lightning


class Networks(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Sequential(nn.Linear(64, 256), nn.LeakyReLU(0.2), nn.Linear(256, 784), nn.Tanh())
        self.discriminator = nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1))

    def judge(self, images, truth):
        scores = self.discriminator(images)
        return F.binary_cross_entropy_with_logits(scores, torch.full_like(scores, truth))

    def training_step(self, batch, index):
        (real,) = batch
        of_generator, of_discriminator = self.optimizers()
        noise = torch.randn(len(real), 64, device=self.device)

        self.toggle_optimizer(of_generator)
        loss = self.judge(self.generator(noise), 1.0)
        of_generator.zero_grad()
        self.manual_backward(loss)
        of_generator.step()
        self.untoggle_optimizer(of_generator)

        self.toggle_optimizer(of_discriminator)
        loss = (self.judge(real, 1.0) + self.judge(self.generator(noise).detach(), 0.0)) / 2
        of_discriminator.zero_grad()
        self.manual_backward(loss)
        of_discriminator.step()
        self.untoggle_optimizer(of_discriminator)

    def configure_optimizers(self):
        return [torch.optim.Adam(net.parameters(), lr=2e-4, betas=(0.5, 0.999)) for net in (self.generator, self.discriminator)]


module = Networks()
watch = Watch(module.generator, module.discriminator)
data = torch.utils.data.TensorDataset(torch.randn(5 * 128, 784))
lightning.Trainer(max_epochs=1, accelerator="gpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                  callbacks=[of_lightning(watch)]).fit(module, torch.utils.data.DataLoader(data, batch_size=128))
