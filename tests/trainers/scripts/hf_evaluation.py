# SPDX-License-Identifier: MIT
"""Transformers' Trainer: a BERT that classifies, in bfloat16, with an evaluation after every second step and at last."""
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

from count import Watch, of_transformers


def texts(count):
    return [{"input_ids": torch.randint(0, 1000, (64,)), "attention_mask": torch.ones(64, dtype=torch.long), "labels": i % 3} for i in range(count)]


model = BertForSequenceClassification(BertConfig(vocab_size=1000, hidden_size=192, num_hidden_layers=3, num_attention_heads=3,
                                                 intermediate_size=768, num_labels=3))
watch = Watch(model)
arguments = TrainingArguments("out", max_steps=4, per_device_train_batch_size=8, per_device_eval_batch_size=16, bf16=True, eval_strategy="steps",
                              eval_steps=2, optim="adamw_torch", report_to=[], save_strategy="no", disable_tqdm=True)
trainer = Trainer(model, arguments, train_dataset=texts(64), eval_dataset=texts(48), callbacks=[of_transformers(watch)],
                  compute_metrics=lambda told: {"accuracy": float((told.predictions.argmax(-1) == told.label_ids).mean())})
trainer.train()
trainer.evaluate()
