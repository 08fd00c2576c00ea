# SPDX-License-Identifier: MIT
"""vLLM: eight tokens of a small Llama with random weights, in this process."""
import json, os, pathlib, tempfile
os.environ.update(VLLM_ENABLE_V1_MULTIPROCESSING="0", VLLM_LOGGING_LEVEL="WARNING")
from vllm import LLM, SamplingParams
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "config.json").write_text(json.dumps({
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256, "intermediate_size": 512,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 1000, "max_position_embeddings": 256,
    "torch_dtype": "bfloat16", "rms_norm_eps": 1e-5, "hidden_act": "silu"}))
model = LLM(str(folder), load_format="dummy", skip_tokenizer_init=True, enforce_eager=True, max_model_len=128, gpu_memory_utilization=0.5)
answer = model.generate({"prompt_token_ids": [1, 2, 3]}, SamplingParams(max_tokens=8, detokenize=False, ignore_eos=True), use_tqdm=False)
print(len(answer[0].outputs[0].token_ids), "tokens")
print("done")
