# SPDX-License-Identifier: MIT
"""Generates text with the model of a case, as users do: with generate(), whose cache grows with each token.

    python generate.py CASE      a JSON object, see cases.py; prints PyTorch's counters
"""
import json
import sys
import warnings

warnings.filterwarnings("ignore")
answers, sys.stdout = sys.stdout, sys.stderr  # the library also prints to stdout

import torch
import transformers
from transformers.initialization import no_init_weights

transformers.logging.set_verbosity_error()


def make_model(case):
    values = {key: value for key, value in case["config"].items() if key != "model_type"}
    config = transformers.AutoConfig.for_model(case["config"]["model_type"], **values)
    config._attn_implementation = case.get("attention", "sdpa")
    with no_init_weights():  # values do not matter
        model = getattr(transformers, case["config"]["architectures"][0])(config)
    model.tie_weights()
    return model.to(getattr(torch, case.get("dtype", "float32"))).to("cuda").eval()


def main():
    case = json.loads(sys.argv[1])
    model = make_model(case)
    loaded = torch.cuda.memory_allocated()
    prompt = torch.zeros(case["batch"], case["sequence"], dtype=torch.long).to("cuda")
    # One more token than the cache holds, because the last token does not go through the model again.
    model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=case["kv-cache"] - case["sequence"] + 1, do_sample=False,
                   eos_token_id=None, pad_token_id=0)
    stats = torch.cuda.memory_stats()
    print(json.dumps({"parameters": sum(parameter.numel() for parameter in model.parameters()), "loaded": loaded,
                      "requested": stats["requested_bytes.all.peak"], "allocated": torch.cuda.max_memory_allocated(),
                      "reserved": torch.cuda.max_memory_reserved()}), file=answers)


main()
