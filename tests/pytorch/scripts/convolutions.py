# SPDX-License-Identifier: MIT
"""One training step each of small ResNet, MobileNet, ConvNeXt, U-Net, LSTM and GRU models, which use cuDNN on a card."""
import torch
from torch import nn

from moments import moment

device = "cuda"


class Residual(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return x + self.body(x)


class ChannelsLast(nn.Module):
    def forward(self, x):
        return x.contiguous(memory_format=torch.channels_last)


def resnet():
    body = nn.Sequential(nn.Conv2d(64, 32, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1, bias=False),
                         nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 1, bias=False), nn.BatchNorm2d(64))
    return nn.Sequential(nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2), Residual(body))


def mobilenet():
    return nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.Conv2d(16, 64, 1), nn.BatchNorm2d(64), nn.Hardswish(),
                         nn.Conv2d(64, 64, 3, padding=1, groups=64), nn.BatchNorm2d(64), nn.Hardswish(), nn.Conv2d(64, 24, 1))


def convnext():
    return nn.Sequential(nn.Conv2d(3, 48, 4, stride=4), ChannelsLast(), Residual(nn.Conv2d(48, 48, 7, padding=3, groups=48)),
                         nn.Conv2d(48, 96, 2, stride=2))


def unet():
    return nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1),
                         nn.ConvTranspose2d(64, 32, 2, stride=2), nn.Conv2d(32, 3, 1))


def step(model, inputs):
    optimizer = torch.optim.Adam(model.parameters())
    outputs = model(inputs)
    outputs = outputs[0] if isinstance(outputs, tuple) else outputs
    moment("forward")
    outputs.sum().backward()
    moment("backward")
    optimizer.step()


def main():
    assert torch.backends.cudnn.is_available()
    for make in (resnet, mobilenet, convnext, unet):
        step(make().to(device), torch.randn(8, 3, 64, 64, device=device))
        with torch.autocast(device, dtype=torch.bfloat16):
            step(make().to(device), torch.randn(8, 3, 64, 64, device=device))
    torch.backends.cudnn.benchmark = True
    step(unet().to(device), torch.randn(4, 3, 64, 64, device=device))
    for make in (nn.LSTM, nn.GRU):
        step(make(48, 64, 2, dropout=0.1, bidirectional=True).to(device), torch.randn(20, 8, 48, device=device))
    moment("end")


main()
