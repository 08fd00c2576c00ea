# SPDX-License-Identifier: MIT
"""Trains one common model for a few steps and prints PyTorch's counters as one line of JSON.

    python3 workloads.py NAME

{"allocated_peak", "reserved_peak", "allocated", "reserved": PyTorch's own counters; "used": the card's used bytes at
the end, as cuMemGetInfo counts them; "total"; "step_ms": the median step} or {"reason"}. Weights are random, so nothing
is downloaded. """
import json
import statistics
import sys
import time

STEPS = 6


class Missing(Exception):
    """The program cannot run here; the message says why."""


def images(torch, batch, size, classes=1000):
    return torch.randn(batch, 3, size, size, device="cuda"), torch.randint(0, classes, (batch,), device="cuda")


def of_vision(name, batch, size=224, amp=False):
    """Returns build(): a model of torchvision with AdamW, in single or mixed precision."""
    def build():
        import torch
        import torchvision

        model = getattr(torchvision.models, name)(weights=None).cuda()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

        def step():
            inputs, labels = images(torch, batch, size)
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=amp):
                loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()

        return step

    return build


def of_unet(batch, size):
    """Returns build(): a U-Net with convolutions down, transposed convolutions up, skip connections and group norm."""
    def build():
        import torch
        from torch import nn

        def block(before, after):
            return nn.Sequential(nn.Conv2d(before, after, 3, padding=1), nn.GroupNorm(8, after), nn.SiLU())

        class UNet(nn.Module):
            def __init__(self, widths=(64, 128, 256)):
                super().__init__()
                self.first = block(3, widths[0])
                pairs = list(zip(widths, widths[1:]))
                self.down = nn.ModuleList(nn.Sequential(nn.MaxPool2d(2), block(a, b)) for a, b in pairs)
                self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in reversed(pairs))
                self.join = nn.ModuleList(block(2 * a, a) for a, _ in reversed(pairs))
                self.last = nn.Conv2d(widths[0], 3, 1)

            def forward(self, x):
                kept = [self.first(x)]
                for down in self.down:
                    kept.append(down(kept[-1]))
                x = kept.pop()
                for up, join in zip(self.up, self.join):
                    x = join(torch.cat([up(x), kept.pop()], 1))
                return self.last(x)

        model = UNet().cuda()
        optimizer = torch.optim.Adam(model.parameters())

        def step():
            inputs, _ = images(torch, batch, size)
            torch.nn.functional.mse_loss(model(inputs), inputs).backward()
            optimizer.step()
            optimizer.zero_grad()

        return step

    return build


def of_lstm(batch, length, width, layers):
    def build():
        import torch
        from torch import nn

        embed = nn.Embedding(10000, width).cuda()
        lstm = nn.LSTM(width, width, layers, batch_first=True, dropout=0.1).cuda()
        head = nn.Linear(width, 10000).cuda()
        parameters = [*embed.parameters(), *lstm.parameters(), *head.parameters()]
        optimizer = torch.optim.Adam(parameters)

        def step():
            tokens = torch.randint(0, 10000, (batch, length), device="cuda")
            hidden, _ = lstm(embed(tokens))
            torch.nn.functional.cross_entropy(head(hidden).flatten(0, 1), tokens.flatten()).backward()
            optimizer.step()
            optimizer.zero_grad()

        return step

    return build


def of_language(kind, batch, length, dtype="float32", **sizes):
    """Returns build(): a language model of transformers with its own loss and AdamW."""
    def build():
        import torch
        import transformers

        config = getattr(transformers, f"{kind}Config")(**sizes)
        names = {"Bert": "BertForMaskedLM", "GPT2": "GPT2LMHeadModel", "Llama": "LlamaForCausalLM"}
        model = getattr(transformers, names[kind])(config).to("cuda", getattr(torch, dtype))
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

        def step():
            tokens = torch.randint(0, config.vocab_size, (batch, length), device="cuda")
            model(input_ids=tokens, labels=tokens).loss.backward()
            optimizer.step()
            optimizer.zero_grad()

        return step

    return build


LLAMA = {"hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 12, "num_attention_heads": 16,
         "num_key_value_heads": 4, "vocab_size": 32000}
PROGRAMS = {
    "resnet50": of_vision("resnet50", 64),
    "resnet50-bf16": of_vision("resnet50", 64, amp=True),
    "mobilenet-v3": of_vision("mobilenet_v3_large", 128),
    "convnext-tiny": of_vision("convnext_tiny", 32),
    "vit-b16-bf16": of_vision("vit_b_16", 64, amp=True),
    "unet": of_unet(16, 128),
    "lstm": of_lstm(64, 256, 1024, 2),
    "bert-base": of_language("Bert", 16, 512),
    "gpt2-small": of_language("GPT2", 8, 1024),
    "llama-0.6b-bf16": of_language("Llama", 4, 2048, "bfloat16", **LLAMA),
}


def train(name):
    try:
        import torch
    except ImportError as error:
        raise Missing(str(error)) from None
    if not torch.cuda.is_available():
        raise Missing("PyTorch finds no CUDA device")
    torch.manual_seed(1)
    try:
        step = PROGRAMS[name]()
    except ImportError as error:
        raise Missing(str(error)) from None
    times = []
    for _ in range(STEPS):
        begun = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - begun))
    free, total = torch.cuda.mem_get_info()
    memory = torch.cuda
    return {"allocated_peak": memory.max_memory_allocated(), "reserved_peak": memory.max_memory_reserved(),
            "allocated": memory.memory_allocated(), "reserved": memory.memory_reserved(),
            "used": total - free, "total": total, "step_ms": round(statistics.median(times), 2)}


def main():
    try:
        result = train(sys.argv[1])
    except Missing as error:
        result = {"reason": str(error)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
