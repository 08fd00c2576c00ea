# SPDX-License-Identifier: MIT
"""The estimate beside PyTorch itself, allocation by allocation.

PyTorch's profiler reports every allocation, on the CPU too, and autograd keeps the same tensors
there; so a training loop on the CPU is a measurement of what the estimate predicts. Left out is
what differs by device: Dropout's mask, scratch copies of convolution libraries and (at its own
peak) of batch normalization, scalars of four bytes.
Skipped where PyTorch is not installed.
"""
import json

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

STEPS = 3
# Step counters, loss scalars and their like: PyTorch keeps some on the host.
SCALAR_BYTES = 256


def linear(width, **fields):
    return {"type": "Linear", "out": width, **fields}


def layer(name, **fields):
    return {"type": name, **fields}


MLP = [linear(400), layer("BatchNorm1d"), layer("ReLU"), linear(300), layer("ReLU"), linear(100),
       layer("CrossEntropyLoss")]
PLAIN = [layer for layer in MLP if layer["type"] != "BatchNorm1d"]
CNN = [layer("Conv2d", out=16, kernel=3, padding=1), layer("BatchNorm2d"),
       layer("ReLU", inplace=True), layer("MaxPool2d", kernel=2),
       layer("Conv2d", out=32, kernel=3, stride=2), layer("SiLU", inplace=True),
       layer("AdaptiveAvgPool2d", output=1), layer("Flatten"), linear(10),
       layer("CrossEntropyLoss")]
TEXT = [layer("Embedding", num=1000, dim=64), layer("LayerNorm"), linear(128), layer("GELU"),
        layer("Flatten"), linear(10), layer("CrossEntropyLoss")]
FIT = [linear(64), layer("Tanh"), linear(64), layer("MSELoss")]

OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, foreach=True),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, foreach=True),
    "adam": lambda p: torch.optim.Adam(p, foreach=True),
    "adamw": lambda p: torch.optim.AdamW(p, foreach=True),
    "amsgrad": lambda p: torch.optim.Adam(p, amsgrad=True, foreach=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, foreach=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, foreach=True),
}

CASES = [("mlp", [100], MLP, 16, optimizer) for optimizer in OPTIMIZERS]
CASES += [("mlp, large batch", [100], PLAIN, 1024, "adam"), ("cnn", [3, 32, 32], CNN, 64, "adam"),
          ("text", [32], TEXT, 32, "adamw"), ("fit", [64], FIT, 512, "sgd")]


def make_module(description, shape):
    fields = {key: value for key, value in description.items() if key != "type"}
    make = getattr(torch.nn, description["type"])
    first = {"Linear": shape[-1:], "Conv2d": shape[:1], "BatchNorm1d": shape[:1],
             "BatchNorm2d": shape[:1], "LayerNorm": shape[-1:]}.get(description["type"], [])
    names = {"out": "out_features" if description["type"] == "Linear" else "out_channels",
             "kernel": "kernel_size", "num": "num_embeddings", "dim": "embedding_dim",
             "output": "output_size"}
    return make(*first, **{names.get(key, key): value for key, value in fields.items()})


def make_batch(description, shape, batch, output):
    last = description[-1]["type"]
    ids = description[0]["type"] == "Embedding"
    samples = torch.zeros([batch] + shape, dtype=torch.long if ids else torch.float32)
    if last == "CrossEntropyLoss":
        return samples, torch.zeros(batch, dtype=torch.long)
    return samples, torch.zeros([batch] + output)


def train(description, shapes, batch, optimizer):
    phase = torch.profiler.record_function
    with phase("phase init"):
        network = torch.nn.Sequential(*map(make_module, description[:-1], shapes))
    stepper = OPTIMIZERS[optimizer](network.parameters())
    criterion = getattr(torch.nn, description[-1]["type"])()

    def step(samples, targets):
        with phase("phase forward"):
            loss = criterion(prediction := network(samples), targets)
        with phase("phase backward"):
            loss.backward()
        with phase("phase optimizer"):
            stepper.step()
            stepper.zero_grad()
        del prediction

    for _ in range(STEPS):
        samples = targets = None
        with phase("phase data"):
            samples, targets = make_batch(description, shapes[0], batch, shapes[-1])
        step(samples, targets)


def measure(*arguments):
    """{phase: highest live bytes} of a profiled training loop."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                profile_memory=True) as profiler:
        train(*arguments)
    events = profiler.profiler.kineto_results.events()
    phases = [(event.start_ns(), event.start_ns() + event.duration_ns(), event.name()[6:])
              for event in events if event.name().startswith("phase ")]
    changes = sorted((event.start_ns(), event.nbytes()) for event in events
                     if event.name() == "[memory]")
    peaks, live = {}, 0
    for time_ns, change_bytes in changes:
        for begin_ns, end_ns, name in phases:
            if begin_ns <= time_ns <= end_ns:
                peaks[name] = max(peaks.get(name, 0), live, live + change_bytes)
        live += change_bytes
    return peaks


@pytest.fixture(autouse=True)
def plain_kernels():
    """One thread, and convolutions without the CPU library's own copies."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.backends.mkldnn.flags(enabled=False):
        yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("name, shape, description, batch, optimizer", CASES,
                         ids=[f"{case[0]} {case[4]}" for case in CASES])
def test_every_phase_peaks_where_the_estimate_says(gpumemtrace, tmp_path, name, shape, description,
                                                   batch, optimizer):
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"schema": "gpumemtrace.model/1", "name": name, "input": shape,
                                "batch": batch, "optimizer": optimizer, "layers": description}))
    completed = gpumemtrace("estimate", path, "--json")
    assert completed.returncode == 0, completed.stderr
    estimate = json.loads(completed.stdout)
    shapes = [shape] + [[int(size) for size in row["output"].split(" x ")]
                        for row in estimate["layers"][:-1]]
    measured = measure(description, shapes, batch, optimizer)
    estimated = {row["name"]: row["peak_bytes"] for row in estimate["phases"]}
    assert measured.keys() == estimated.keys()
    for phase, peak_bytes in estimated.items():
        assert abs(measured[phase] - peak_bytes) <= SCALAR_BYTES, phase
