# SPDX-License-Identifier: MIT
"""DeepSpeed, from its source without compiled operators: two steps with ZeRO 2 on one rank."""
import os
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29531", RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
import deepspeed, torch
net = torch.nn.Linear(256, 256)
engine, *_ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config={
    "train_micro_batch_size_per_gpu": 4, "bf16": {"enabled": True}, "zero_optimization": {"stage": 2},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}}})
for _ in range(2):
    engine.backward(engine(torch.randn(4, 256, device="cuda", dtype=torch.bfloat16)).square().mean())
    engine.step()
assert not engine.skipped_steps
print("done")
