# SPDX-License-Identifier: MIT
"""TRL: two steps of supervised fine-tuning of a small Llama that this script creates."""
import warnings; warnings.filterwarnings("ignore")
import torch
from datasets import Dataset
from datasets.table import InMemoryTable
from transformers import LlamaConfig, LlamaForCausalLM
from trl import SFTConfig, SFTTrainer
model = LlamaForCausalLM(LlamaConfig(hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, vocab_size=1000))
data = Dataset(InMemoryTable.from_pydict({"input_ids": [[1] * 32] * 8}), fingerprint="0")  # hashing fails with newest pyarrow
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
words = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({str(i): i for i in range(1000)}, unk_token="0")), eos_token="2", pad_token="0")
SFTTrainer(model, SFTConfig("out", dataset_kwargs={"skip_prepare_dataset": True}, max_steps=2, per_device_train_batch_size=4, report_to=[], save_strategy="no", bf16=True), train_dataset=data, processing_class=words).train()
print("done")
