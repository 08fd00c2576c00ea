# SPDX-License-Identifier: MIT
"""A recording is transcribed with one model, and a second model finds the time of each word. The first model is still there
when the second one is loaded. --release drops it before."""
import gc
import sys

import torch
from torch import nn

RELEASE = "--release" in sys.argv
SECONDS, CHUNK = 600, 30


class Transcriber(nn.Module):
    def __init__(self, width=1280, depth=20):
        super().__init__()
        self.inputs = nn.Conv1d(80, width, 3, 2, 1)
        layer = nn.TransformerEncoderLayer(width, 20, 4 * width, batch_first=True, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.decoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.words = nn.Linear(width, 51865)

    def forward(self, spectrum):
        sound = self.encoder(self.inputs(spectrum).transpose(1, 2))
        return self.words(self.decoder(sound[:, :224])).argmax(-1)


class Aligner(nn.Module):
    def __init__(self, width=1024, depth=24):
        super().__init__()
        self.inputs = nn.Conv1d(1, width, 400, 320)
        layer = nn.TransformerEncoderLayer(width, 16, 4 * width, batch_first=True, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.letters = nn.Linear(width, 32)

    def forward(self, wave):
        return self.letters(self.encoder(self.inputs(wave).transpose(1, 2))).log_softmax(-1)


def load(kind):
    return kind().eval().to("cuda")


@torch.inference_mode()
def transcribe(model):
    texts = []
    for _ in range(SECONDS // CHUNK):
        spectrum = torch.randn(1, 80, 100 * CHUNK, device="cuda")
        texts.append(model(spectrum).cpu())
    return texts


@torch.inference_mode()
def align(model, texts):
    return [model(torch.randn(1, 1, 16000 * CHUNK, device="cuda")).cpu() for _ in texts]


def main():
    transcriber = load(Transcriber)
    texts = transcribe(transcriber)
    if RELEASE:
        del transcriber
        gc.collect()
    aligner = load(Aligner)
    print("aligned", len(align(aligner, texts)))


main()
