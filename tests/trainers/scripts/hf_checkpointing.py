# SPDX-License-Identifier: MIT
"""Transformers' Trainer: a Llama whose layers are computed again in backward."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

from count import Watch, of_transformers

model = LlamaForCausalLM(LlamaConfig(vocab_size=1000, hidden_size=256, intermediate_size=688, num_hidden_layers=4, num_attention_heads=4,
                                     num_key_value_heads=2, max_position_embeddings=256, use_cache=False))
watch = Watch(model)
ids = torch.randint(0, 1000, (32, 256))
arguments = TrainingArguments("out", max_steps=4, per_device_train_batch_size=4, gradient_checkpointing=True,
                              report_to=[], save_strategy="no", disable_tqdm=True)
Trainer(model, arguments, train_dataset=[{"input_ids": row, "labels": row} for row in ids], callbacks=[of_transformers(watch)]).train()
