# SPDX-License-Identifier: MIT
"""Reads configs, one JSON object per line. Writes the parameters and buffers of each config's class, one list per line.
A config that has only a name stands for a model of torchvision or for the U-Net."""
import json
import re
import sys
import warnings

warnings.filterwarnings("ignore")
answers, sys.stdout = sys.stdout, sys.stderr  # the library also prints to stdout

import torch
import torchvision
import transformers
from unet import UNet

transformers.logging.set_verbosity_error()


def build(config):
    if "name" in config:
        return UNet() if config["name"] == "unet" else torchvision.models.get_model(config["name"])
    values = {key: value for key, value in config.items() if key != "model_type"}
    made = transformers.AutoConfig.for_model(config["model_type"], **values)
    model = getattr(transformers, config["architectures"][0])(made)
    model.tie_weights()
    return model


def of_text(name):
    """Returns the tensor's name in the class that reads only text, or "" for a tensor of the vision part."""
    part = re.fullmatch(r"(model\.)?language_model\.(model\.)?(.*)", name)
    return f"model.{part[3]}" if part and part[3] != "lm_head.weight" else "lm_head.weight" if name.endswith("lm_head.weight") else ""


def tensors(config):
    with torch.device("meta"):
        model = build(config)
    kept = of_text if "text_config" in config and config["model_type"] != "clip" else str
    return [
        [kind, kept(name), list(tensor.shape), tensor.element_size()]
        for kind, named in (("parameters", model.named_parameters()), ("buffers", model.named_buffers()))
        for name, tensor in named
        if kept(name)
    ]


for line in sys.stdin:
    try:
        print(json.dumps(tensors(json.loads(line))), file=answers, flush=True)
    except Exception as problem:  # the class refuses the config
        print(json.dumps(f"{type(problem).__name__}: {problem}"), file=answers, flush=True)
