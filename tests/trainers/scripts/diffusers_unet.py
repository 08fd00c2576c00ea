# SPDX-License-Identifier: MIT
"""Diffusers: its unconditional training: a UNet predicts noise, with an average of the weights, under accelerate."""
import torch
from accelerate import Accelerator
from diffusers import DDPMScheduler, UNet2DModel
from diffusers.optimization import get_cosine_schedule_with_warmup
from diffusers.training_utils import EMAModel
from torch.nn import functional as F

from count import Watch

accelerator = Accelerator()
model = UNet2DModel(sample_size=32, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(32, 64, 64),
                    down_block_types=("DownBlock2D", "AttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "AttnUpBlock2D", "UpBlock2D"))
watch = Watch(model)
average = EMAModel(model.parameters(), model_cls=UNet2DModel, model_config=model.config)
noises = DDPMScheduler(num_train_timesteps=1000)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
loader = torch.utils.data.DataLoader(torch.randn(24, 3, 32, 32), batch_size=8, shuffle=True)
schedule = get_cosine_schedule_with_warmup(optimizer, 2, 6)
model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
average.to(accelerator.device)
for _ in range(2):
    for clean in loader:
        noise = torch.randn_like(clean)
        times = torch.randint(0, 1000, (len(clean),), device=clean.device)
        noisy = noises.add_noise(clean, noise, times)
        with accelerator.accumulate(model):
            loss = F.mse_loss(model(noisy, times).sample, noise)
            watch.loss(loss, noise)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            average.step(model.parameters())
            watch.step()
