# SPDX-License-Identifier: MIT
"""Trains the model of a case for three steps, as users do, and prints PyTorch's counters.

    python train.py CASE      a JSON object, see cases.py
"""
import json
import sys
import types
import warnings

warnings.filterwarnings("ignore")
answers, sys.stdout = sys.stdout, sys.stderr  # the library also prints to stdout

import torch
import transformers
from transformers.initialization import no_init_weights

transformers.logging.set_verbosity_error()
STEPS = 3

OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "momentum-decay": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1),
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "adam-fused": lambda p: torch.optim.Adam(p, fused=True),
    "adamw-fused": lambda p: torch.optim.AdamW(p, fused=True),
    "adamw-loop": lambda p: torch.optim.AdamW(p, foreach=False),
    "rmsprop": torch.optim.RMSprop,
    "adagrad": torch.optim.Adagrad,
    "adadelta": torch.optim.Adadelta,
    "adafactor": torch.optim.Adafactor,
    "muon": torch.optim.Muon,
}
BITSANDBYTES = {"adam-bnb": "AdamW", "adam8bit": "AdamW8bit", "lion": "Lion", "lion8bit": "Lion8bit",
                "paged-adam": "PagedAdamW", "paged-adam8bit": "PagedAdamW8bit", "paged-lion8bit": "PagedLion8bit"}


def make_optimizers(case, model):
    """Returns one optimizer. For "muon", also returns an AdamW for the other parameters, because Muon takes only
    matrices."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if case["optimizer"] in BITSANDBYTES:
        import bitsandbytes
        return [getattr(bitsandbytes.optim, BITSANDBYTES[case["optimizer"]])(parameters)]
    if case["optimizer"] != "muon":
        return [OPTIMIZERS[case["optimizer"]](parameters)]
    rest = [parameter for parameter in parameters if parameter.ndim != 2]
    return [torch.optim.Muon([parameter for parameter in parameters if parameter.ndim == 2])] + ([torch.optim.AdamW(rest)] if rest else [])


def has_part(name, parts):
    return any(f".{part}." in f".{name}." for part in parts.split(","))


def freeze(names, model):
    """Freezes all parameters except those of the named layers."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(has_part(name, names))


def quantize(how, model):
    """Replaces all linear layers but the head by those of bitsandbytes, as transformers does."""
    import bitsandbytes
    for name, module in list(model.named_modules()):
        if not isinstance(module, torch.nn.Linear) or name == "lm_head":
            continue
        sizes = {"input_features": module.in_features, "output_features": module.out_features, "bias": module.bias is not None}
        if how == "int8":
            layer = bitsandbytes.nn.Linear8bitLt(**sizes, has_fp16_weights=False, threshold=6.0)
            layer.weight = bitsandbytes.nn.Int8Params(module.weight.data, requires_grad=False, has_fp16_weights=False)
        else:
            kind = {"compress_statistics": how == "nf4-dq", "quant_type": "nf4"}
            layer = bitsandbytes.nn.Linear4bit(**sizes, compute_dtype=torch.bfloat16, **kind)
            layer.weight = bitsandbytes.nn.Params4bit(module.weight.data, requires_grad=False, **kind)
        parent, _, own = name.rpartition(".")
        setattr(model.get_submodule(parent), own, layer)
    model.is_loaded_in_8bit, model.is_loaded_in_4bit = how == "int8", how != "int8"


def adapt(case, model):
    """Returns the model with peft's adapters, of the type that peft gives them. If the case says so, the model was first
    prepared for training with quantized weights."""
    import peft
    if case.get("prepared"):
        model = peft.prepare_model_for_kbit_training(model, "checkpointing" in case, {"use_reentrant": False})
    config = peft.LoraConfig(r=case["lora"], target_modules=case.get("lora-on", "q_proj,v_proj").split(","),
                             lora_dropout=case.get("lora-dropout", 0))
    return peft.get_peft_model(model, config, autocast_adapter_dtype=case.get("lora-dtype") != "model")


def blocks_of(model):
    """Returns the blocks of the outermost ModuleLists."""
    lists = [(name, module) for name, module in model.named_modules() if isinstance(module, torch.nn.ModuleList)]
    return [block for name, blocks in lists if not any(name.startswith(f"{other}.") for other, _ in lists) for block in blocks]


def shard(case, model):
    """Applies FSDP 2 to each block and to the rest of the model; returns the model with its shards on the device."""
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    mixed = {name: getattr(torch, case[name]) for name in ("param_dtype", "reduce_dtype") if name in case}
    reshard = {"always": {"reshard_after_forward": True}, "never": {"reshard_after_forward": False}}.get(case.get("reshard"), {})
    for block in blocks_of(model):
        fully_shard(block, mp_policy=MixedPrecisionPolicy(**mixed), **reshard)
    fully_shard(model, mp_policy=MixedPrecisionPolicy(**mixed), **reshard)
    return model.to_empty(device="cuda").train()


def shard_flat(case, model):
    """Returns the model in FSDP 1, as accelerate makes it: one flat parameter per block and one for the rest, with
    views of them."""
    from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, ShardingStrategy
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy
    mixed = {name: getattr(torch, case[name]) for name in ("param_dtype", "reduce_dtype") if name in case}
    strategy = ShardingStrategy.SHARD_GRAD_OP if case.get("reshard") == "never" else ShardingStrategy.FULL_SHARD
    return FullyShardedDataParallel(model, auto_wrap_policy=ModuleWrapPolicy({type(block) for block in blocks_of(model)}), sharding_strategy=strategy,
                                    mixed_precision=MixedPrecision(**mixed), device_id=0, use_orig_params=True).train()


def reduced(_state, bucket):
    """Returns a future with the bucket's buffer, as if all ranks had summed the bucket in place."""
    future = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future


def distribute(case, model):
    """Returns the model wrapped for DataParallel, or for rank 0 of PyTorch's fake process group, which exchanges
    nothing."""
    from torch.testing._internal.distributed.fake_pg import FakeStore
    if case["parallel"] in ("dp", "dp-other"):
        return torch.nn.DataParallel(model.to("cuda").train())
    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=case["gpus"])
    if case["parallel"] == "fsdp2":
        return shard(case, model)
    if case["parallel"] == "fsdp1":
        return shard_flat(case, model)
    model = model.to("cuda").train()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[0], gradient_as_bucket_view=case["parallel"] == "ddp-view")
    model.register_comm_hook(None, reduced)  # because the fake group's own result is no tensor
    return model


def checkpoint(how, model):
    """Checkpoints every block or every Nth block. "selective" saves the same operators as torchtitan, with PyTorch's
    functions."""
    from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

    kept = {torch.ops.aten._scaled_dot_product_flash_attention.default, torch.ops.aten._scaled_dot_product_efficient_attention.default}

    def contexts():
        products = {}

        def policy(context, operator, *arguments, **options):
            is_product = operator == torch.ops.aten.mm.default
            products[context.is_recompute] = products.get(context.is_recompute, 0) + is_product
            keeps = operator in kept or is_product and products[context.is_recompute] % 2
            return CheckpointPolicy.MUST_SAVE if keeps else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(policy)

    model.gradient_checkpointing_enable({"use_reentrant": False, **({"context_fn": contexts} if how == "selective" else {})})
    if str(how).startswith("every-"):
        blocks = [module for module in model.modules() if hasattr(module, "gradient_checkpointing") and hasattr(module, "mlp")]
        for number, block in enumerate(blocks):
            block.gradient_checkpointing = (number + 1) % int(how.removeprefix("every-")) == 0


def make_vision_model(case):
    """Returns (model of torchvision, number of parameters). The training loop computes the loss."""
    import torchvision
    with torch.device("meta"):
        model = getattr(torchvision.models, case["torchvision"])()
    model = model.to(getattr(torch, case.get("dtype", "float32"))).to_empty(device="cuda").train()
    return model, sum(parameter.numel() for parameter in model.parameters())


def make_model(case):
    if "torchvision" in case:
        return make_vision_model(case)
    values = {key: value for key, value in case["config"].items() if key != "model_type"}
    config = transformers.AutoConfig.for_model(case["config"]["model_type"], **values)
    config._attn_implementation = case.get("attention", "sdpa")
    with no_init_weights(), torch.device("meta" if case.get("parallel") == "fsdp2" else "cpu"):  # values do not matter
        model = getattr(transformers, case["config"]["architectures"][0])(config)
    model.tie_weights()
    if "trains" in case:
        freeze(case["trains"], model)
    if "checkpointing" in case:
        checkpoint(case["checkpointing"], model)
    model = model.to(torch.bfloat16 if case.get("prepared") else getattr(torch, case.get("dtype", "float32")))
    if "quantize" in case:
        quantize(case["quantize"], model)
        model = model.to("cuda")  # here the weights are quantized
    if "lora" in case:
        model = adapt(case, model)
    parameters = sum(parameter.numel() for parameter in model.parameters())  # before FSDP 1 keeps only a share
    return distribute(case, model) if "parallel" in case else model.to("cuda").train(), parameters


def devices(case):
    """Returns the devices whose batches the process makes: all GPUs with DataParallel, else one."""
    return range(case["gpus"] if case.get("parallel") in ("dp", "dp-other") else 1)


def make_batch(case, config):
    """Returns a batch on the host, as a data loader makes it: ids or images, and labels."""
    rows = case["batch"] * len(devices(case))
    labels = torch.zeros(rows, dtype=torch.long)
    kind = getattr(torch, case.get("dtype", "float32"))
    if "torchvision" in case:
        return {"images": torch.zeros(rows, 3, case.get("image_size", 224), case.get("image_size", 224), dtype=kind), "labels": labels}
    name = case["config"]["architectures"][0]
    if case["config"]["model_type"] == "whisper":
        return {"input_features": torch.zeros(rows, config.num_mel_bins, 3000, dtype=kind),
                "labels": torch.zeros(rows, case["decoder_sequence"], dtype=torch.long)}
    if "image_size" in case["config"]:
        size = case["config"]["image_size"]
        batch = {"pixel_values": torch.zeros(rows, config.num_channels, size, size, dtype=kind)}
    else:
        batch = {"input_ids": torch.zeros(rows, case["sequence"], dtype=torch.long)}
    of_tokens = name.endswith(("CausalLM", "LMHeadModel", "MaskedLM", "TokenClassification", "ConditionalGeneration"))
    labels = torch.zeros(rows, case["sequence"], dtype=torch.long) if of_tokens else torch.zeros(rows, dtype=torch.long)
    return {**batch, "labels": labels}


def predict(model, images, labels):
    """Returns only the loss, so that the scores are freed."""
    return types.SimpleNamespace(loss=torch.nn.functional.cross_entropy(model(images), labels))


def run_batch(case, model, host):
    batch = {key: value.to("cuda") for key, value in host.items()}
    with torch.autocast("cuda", getattr(torch, case.get("amp", "bfloat16")), enabled="amp" in case):
        outputs = model(**batch) if "config" in case else predict(model, **batch)
    outputs.loss.mean().backward()  # DataParallel returns one loss per GPU
    return outputs


def step(case, model, optimizers, host):
    for _ in range(case.get("accumulation", 1)):
        outputs = None
        outputs = run_batch(case, model, host)
    for optimizer in optimizers:
        optimizer.step()
    model.zero_grad(set_to_none="torch" not in case)  # the default was False before 2.0
    return outputs.loss.mean().item()


def main():
    case = json.loads(sys.argv[1])
    model, parameters = make_model(case)
    device = 1 if case.get("parallel") == "dp-other" else 0
    loaded = torch.cuda.memory_allocated(device)
    optimizers = make_optimizers(case, model)
    host = make_batch(case, getattr(getattr(model, "module", model), "config", None))
    for _ in range(STEPS):
        step(case, model, optimizers, host)
    stats = torch.cuda.memory_stats(device)
    print(json.dumps({"parameters": parameters, "loaded": loaded,
                      "requested": stats["requested_bytes.all.peak"], "allocated": torch.cuda.max_memory_allocated(device),
                      "reserved": torch.cuda.max_memory_reserved(device)}), file=answers)


main()
