# SPDX-License-Identifier: MIT
"""The U-Net of Ronneberger et al. (2015) as written in PyTorch today: padded convolutions, batch norm, 4 levels down and up."""
import torch


def twice(channels, width):
    layers = []
    for before in (channels, width):
        layers += [torch.nn.Conv2d(before, width, 3, padding=1, bias=False), torch.nn.BatchNorm2d(width), torch.nn.ReLU(inplace=True)]
    return torch.nn.Sequential(*layers)


class Double(torch.nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.double_conv = twice(channels, width)


class Down(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.maxpool_conv = torch.nn.Sequential(torch.nn.MaxPool2d(2), Double(width // 2, width))


class Up(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = torch.nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.conv = Double(2 * width, width)


class Out(torch.nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.conv = torch.nn.Conv2d(width, classes, 1)


class UNet(torch.nn.Module):
    def __init__(self, channels=3, classes=2, width=64):
        super().__init__()
        self.inc = Double(channels, width)
        for step in range(1, 5):
            setattr(self, f"down{step}", Down(width << step))
        for step in range(1, 5):
            setattr(self, f"up{step}", Up(width << (4 - step)))
        self.outc = Out(width, classes)
