# SPDX-License-Identifier: MIT
"""Transformers' Trainer: a GPT-2, two batches for each step, gradients clipped."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

from count import Watch, of_transformers


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        ids = torch.randint(0, 1000, (128,))
        return {"input_ids": ids, "labels": ids}


model = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_positions=128, n_embd=256, n_layer=3, n_head=4))
watch = Watch(model)
arguments = TrainingArguments("out", max_steps=4, per_device_train_batch_size=4, gradient_accumulation_steps=2,
                              logging_steps=1, report_to=[], save_strategy="no", disable_tqdm=True)
Trainer(model, arguments, train_dataset=Texts(), callbacks=[of_transformers(watch)]).train()
