# SPDX-License-Identifier: MIT
"""Transformers' Trainer: adapters of peft in a frozen Llama."""
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

from count import Watch, of_transformers

base = LlamaForCausalLM(LlamaConfig(vocab_size=1000, hidden_size=256, intermediate_size=688, num_hidden_layers=3, num_attention_heads=4,
                                    max_position_embeddings=128, use_cache=False))
model = get_peft_model(base, LoraConfig(r=8, target_modules=["q_proj", "v_proj"], lora_dropout=0.05, task_type="CAUSAL_LM"))
watch = Watch(model)
ids = torch.randint(0, 1000, (32, 128))
arguments = TrainingArguments("out", max_steps=4, per_device_train_batch_size=4, report_to=[], save_strategy="no", disable_tqdm=True)
Trainer(model, arguments, train_dataset=[{"input_ids": row, "labels": row} for row in ids], callbacks=[of_transformers(watch)]).train()
