# SPDX-License-Identifier: MIT
"""Diffusers: its text to image training: an encoder of pictures and one of texts are frozen, a UNet learns."""
import torch
from accelerate import Accelerator
from diffusers import AutoencoderKL, DDPMScheduler, UNet2DConditionModel
from torch.nn import functional as F
from transformers import CLIPTextConfig, CLIPTextModel

from count import Watch

accelerator = Accelerator()
vae = AutoencoderKL(block_out_channels=(32, 64), down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2)
texts = CLIPTextModel(CLIPTextConfig(vocab_size=1000, hidden_size=64, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4))
unet = UNet2DConditionModel(sample_size=32, block_out_channels=(32, 64), down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), layers_per_block=1,
                            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), cross_attention_dim=64, attention_head_dim=8)
vae.requires_grad_(False)
texts.requires_grad_(False)
watch = Watch(unet, others=[vae, texts])
noises = DDPMScheduler(num_train_timesteps=1000)
data = torch.utils.data.TensorDataset(torch.randn(20, 3, 64, 64), torch.randint(0, 1000, (20, 16)))
unet, optimizer, loader = accelerator.prepare(unet, torch.optim.AdamW(unet.parameters(), lr=1e-5), torch.utils.data.DataLoader(data, batch_size=4))
vae.to(accelerator.device)
texts.to(accelerator.device)
for images, ids in loader:
    with accelerator.accumulate(unet):
        latents = vae.encode(images).latent_dist.sample() * vae.config.scaling_factor
        noise = torch.randn_like(latents)
        times = torch.randint(0, 1000, (len(latents),), device=latents.device).long()
        noisy = noises.add_noise(latents, noise, times)
        states = texts(ids, return_dict=False)[0]
        loss = F.mse_loss(unet(noisy, times, states, return_dict=False)[0].float(), noise.float())
        watch.loss(loss, noise)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(unet.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    watch.step()
