# SPDX-License-Identifier: MIT
"""The cases of `make check-estimates`: each is a config of Hugging Face and the settings of its run.

The formulas were derived from the cases of the first list. The second list was written afterwards and did not change
the formulas. """


def decoder(model_type, name, hidden, layers, heads, vocab, **keys):
    return {"model_type": model_type, "architectures": [name], "hidden_size": hidden, "num_hidden_layers": layers,
            "num_attention_heads": heads, "vocab_size": vocab, **keys}


def gpt2(hidden, layers, heads, name="GPT2LMHeadModel", **keys):
    return {"model_type": "gpt2", "architectures": [name], "n_embd": hidden, "n_layer": layers, "n_head": heads, **keys}


def case(config, batch, sequence=None, optimizer="adamw", **settings):
    return {"config": config, "batch": batch, "optimizer": optimizer, **({"sequence": sequence} if sequence else {}), **settings}


BF16 = {"dtype": "bfloat16"}
EAGER = {"attention": "eager"}

FIXED_ON = {
    "llama": case(decoder("llama", "LlamaForCausalLM", 1024, 8, 16, 32000, intermediate_size=2816), 8, 1024),
    "llama, grouped": case(decoder("llama", "LlamaForCausalLM", 2048, 4, 16, 8000, intermediate_size=5632, num_key_value_heads=4), 4, 2048,
                           "momentum", **BF16),
    "llama, eager": case(decoder("llama", "LlamaForCausalLM", 512, 4, 8, 4000, intermediate_size=1408), 4, 1024, "sgd", **EAGER),
    "llama, one short sequence": case(decoder("llama", "LlamaForCausalLM", 1024, 8, 16, 8000, intermediate_size=2816), 1, 128),
    "gpt2": case(gpt2(768, 6, 12), 8, 1024),
    "gpt2, eager": case(gpt2(768, 6, 12, vocab_size=8000), 4, 1024, **BF16, **EAGER),
    "bert": case(decoder("bert", "BertForMaskedLM", 768, 6, 12, 30522), 32, 512, "adam"),
    "bert, eager": case(decoder("bert", "BertForSequenceClassification", 768, 6, 12, 30522), 16, 512, **BF16, **EAGER),
    "opt": case(decoder("opt", "OPTForCausalLM", 768, 6, 12, 50272, ffn_dim=3072), 8, 1024),
    "gpt_neox": case(decoder("gpt_neox", "GPTNeoXForCausalLM", 1024, 6, 16, 8000, intermediate_size=4096), 8, 1024, "adamw-fused", **BF16),
    "qwen2": case(decoder("qwen2", "Qwen2ForCausalLM", 896, 6, 14, 8000, intermediate_size=4864, num_key_value_heads=2,
                          tie_word_embeddings=True), 4, 1024, "sgd"),
    "qwen3, eager": case(decoder("qwen3", "Qwen3ForCausalLM", 1024, 4, 16, 8000, intermediate_size=3072, num_key_value_heads=8), 2, 1024,
                         **BF16, **EAGER),
    "gemma": case(decoder("gemma", "GemmaForCausalLM", 1024, 4, 4, 32000, intermediate_size=8192, num_key_value_heads=1, head_dim=256), 4,
                  2048, **BF16),
    "phi": case(decoder("phi", "PhiForCausalLM", 1024, 6, 16, 8000, intermediate_size=4096), 4, 1024),
    "vit": case({"model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": 768, "num_hidden_layers": 6,
                 "num_attention_heads": 12, "intermediate_size": 3072, "image_size": 224, "patch_size": 16}, 64),
    "llama, checkpointed": case(decoder("llama", "LlamaForCausalLM", 1024, 8, 16, 8000, intermediate_size=2816), 16, 1024, **BF16,
                                checkpointing=1),
    "gpt2, checkpointed": case(gpt2(1024, 8, 16, vocab_size=8000), 8, 1024, checkpointing=1),
    "bert, accumulated": case(decoder("bert", "BertForMaskedLM", 768, 6, 12, 8000), 16, 512, accumulation=3),
    "llama, autocast": case(decoder("llama", "LlamaForCausalLM", 1024, 6, 16, 8000, intermediate_size=2816), 8, 1024, amp="bfloat16"),
    "gpt2, autocast": case(gpt2(768, 6, 12, vocab_size=8000), 8, 1024, amp="bfloat16"),
    "bert, autocast": case(decoder("bert", "BertForMaskedLM", 768, 6, 12, 8000), 32, 512, amp="float16"),
    **{f"llama, {optimizer}": case(decoder("llama", "LlamaForCausalLM", 1024, 8, 16, 32000, intermediate_size=2816), 1, 128, optimizer)
       for optimizer in ("momentum-decay", "adamw-loop", "adafactor", "muon", "adagrad")},
}
MOE = {"num_key_value_heads": 4, "num_experts_per_tok": 2}
FIXED_ON |= {
    "mixtral, checkpointed": case(decoder("mixtral", "MixtralForCausalLM", 1024, 2, 16, 8000, intermediate_size=2816, num_local_experts=8, **MOE), 4,
                                  1024, **BF16, checkpointing=1),
    "qwen3_moe, autocast": case(decoder("qwen3_moe", "Qwen3MoeForCausalLM", 768, 4, 12, 16000, intermediate_size=2048, moe_intermediate_size=768,
                                        num_experts=8, head_dim=64, **MOE), 4, 1024, amp="bfloat16"),
}
EVERYWHERE = {"lora-on": "q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj"}
DROPPED = {"lora-dropout": 0.05}
QLORA = {"quantize": "nf4-dq", "lora": 16, **EVERYWHERE, **DROPPED}
PREPARED = {"prepared": True, "amp": "bfloat16", "checkpointing": 1}


def adapted(layers=8, **settings):
    return case(decoder("llama", "LlamaForCausalLM", 1024, layers, 16, 4000, intermediate_size=2816), 8, 1024, **settings)


FIXED_ON |= {
    "gpt2, adam8bit": case(gpt2(768, 6, 12, vocab_size=8000), 1, 128, "adam8bit", **BF16),
    "gpt2, lion": case(gpt2(768, 6, 12, vocab_size=8000), 1, 128, "lion", **BF16),
    "llama, adapters": adapted(lora=16),
    "llama, adapters everywhere": adapted(6, lora=8, amp="bfloat16", **EVERYWHERE),
    "llama, adapters in bfloat16": adapted(lora=16, **BF16, **EVERYWHERE, **DROPPED),
    "llama, adapters of its type": adapted(lora=16, **BF16, **{"lora-dtype": "model"}),
    "llama, adapters, checkpoint": adapted(lora=16, amp="bfloat16", checkpointing=1, **BF16, **EVERYWHERE, **DROPPED),
    "llama, int8": adapted(lora=16, **BF16, **EVERYWHERE, quantize="int8"),
    "llama, nf4": adapted(**BF16, **QLORA),
    "llama, nf4, prepared": adapted(**QLORA, **PREPARED),
    "bert, two layers trained": case(decoder("bert", "BertForMaskedLM", 768, 8, 12, 4000), 32, 512, trains="layer.6,layer.7"),
}

FIXED_ON |= {
    "llama, selective": case(decoder("llama", "LlamaForCausalLM", 1024, 8, 16, 4000, intermediate_size=2816), 8, 1024, checkpointing="selective", **BF16),
    "llama, one block of two": case(decoder("llama", "LlamaForCausalLM", 1024, 8, 16, 4000, intermediate_size=2816), 8, 1024, checkpointing="every-2",
                                    **BF16),
}

GEMMA2 = {"intermediate_size": 3072, "num_key_value_heads": 4, "head_dim": 96}

# Eager attention is the default of transformers for training Gemma 2.
FIXED_ON |= {
    "gemma2, eager": case(decoder("gemma2", "Gemma2ForCausalLM", 768, 4, 8, 20000, **GEMMA2), 2, 1024, **EAGER),
    "gemma2, long": case(decoder("gemma2", "Gemma2ForCausalLM", 768, 4, 8, 8000, **GEMMA2), 1, 2048, **BF16, **EAGER),
}

AMP = {"amp": "bfloat16"}

# The loop does what zero_grad and AdamW did by default in that release.
WRITTEN_AFTERWARDS = {
    "gpt2, gradients as zeros": case(gpt2(768, 6, 12, vocab_size=8000), 2, 1024, "adamw-loop", torch="1.13", **EAGER),
    "bert, gradients as zeros": case(decoder("bert", "BertForSequenceClassification", 768, 6, 12, 30522), 4, 256, "adamw-loop", torch="1.13"),
    "mistral": case(decoder("mistral", "MistralForCausalLM", 1536, 6, 12, 16000, intermediate_size=5376, num_key_value_heads=4), 6, 1536, **BF16),
    "mistral, eager autocast": case(decoder("mistral", "MistralForCausalLM", 1024, 4, 16, 16000, intermediate_size=3584, num_key_value_heads=8), 4,
                                    1024, "momentum", **EAGER, **AMP),
    "llama, tied": case(decoder("llama", "LlamaForCausalLM", 768, 10, 12, 49152, intermediate_size=2048, tie_word_embeddings=True), 4, 2048,
                        "adam-fused"),
    "llama, eager grouped": case(decoder("llama", "LlamaForCausalLM", 1280, 5, 20, 12000, intermediate_size=3456, num_key_value_heads=5), 3, 1200,
                                 **BF16, **EAGER),
    "llama, all at once": case(decoder("llama", "LlamaForCausalLM", 1024, 12, 16, 16000, intermediate_size=2816, num_key_value_heads=8), 16, 1024,
                               **AMP, checkpointing=1, accumulation=2),
    "gpt2, medium": case(gpt2(1024, 8, 16, vocab_size=12000), 6, 1024, "rmsprop", **BF16),
    "gpt2, eager autocast": case(gpt2(768, 6, 12, vocab_size=6000), 6, 1024, **EAGER, **AMP),
    "gpt2, one sample": case(gpt2(1280, 6, 20, vocab_size=20000), 1, 256, "adadelta"),
    "bert, large": case(decoder("bert", "BertForMaskedLM", 1024, 8, 16, 30522, intermediate_size=4096), 24, 384, **BF16),
    "bert, checkpointed": case(decoder("bert", "BertForMaskedLM", 1024, 8, 16, 8000, intermediate_size=4096), 32, 512, checkpointing=1),
    "bert, short": case(decoder("bert", "BertForSequenceClassification", 768, 12, 12, 30522), 64, 128, "adamw", **AMP),
    "roberta, eager": case(decoder("roberta", "RobertaForMaskedLM", 768, 6, 12, 8000, max_position_embeddings=514), 24, 512, **EAGER),
    "xlm_roberta": case(decoder("xlm-roberta", "XLMRobertaForMaskedLM", 768, 4, 12, 32000, max_position_embeddings=514, type_vocab_size=1), 8, 512),
    "olmo2": case(decoder("olmo2", "Olmo2ForCausalLM", 1024, 6, 16, 8000, intermediate_size=2816, num_key_value_heads=8), 4, 1024, **BF16),
    "starcoder2, eager": case(decoder("starcoder2", "Starcoder2ForCausalLM", 1024, 6, 16, 8000, intermediate_size=4096, num_key_value_heads=2,
                                      residual_dropout=0.1, embedding_dropout=0.1), 4, 1024, **BF16, **EAGER),
    "modernbert": case(decoder("modernbert", "ModernBertForMaskedLM", 768, 6, 12, 20000, intermediate_size=1152, pad_token_id=0), 8, 1024),
    "distilbert": case({"model_type": "distilbert", "architectures": ["DistilBertForMaskedLM"], "dim": 768, "n_layers": 6, "n_heads": 12,
                        "hidden_dim": 3072, "vocab_size": 10000}, 32, 512, "adam", accumulation=2),
    "opt, eager": case(decoder("opt", "OPTForCausalLM", 1024, 6, 16, 10000, ffn_dim=4096), 4, 1024, **BF16, **EAGER),
    "opt, checkpointed": case(decoder("opt", "OPTForCausalLM", 1024, 8, 16, 10000, ffn_dim=4096), 12, 1024, **AMP, checkpointing=1),
    "gpt_neox, autocast": case(decoder("gpt_neox", "GPTNeoXForCausalLM", 1024, 6, 16, 12000, intermediate_size=4096), 6, 1024, **AMP),
    "gpt_neox, eager": case(decoder("gpt_neox", "GPTNeoXForCausalLM", 768, 6, 12, 6000, intermediate_size=3072), 4, 1024, "adafactor", **EAGER),
    "qwen2, autocast": case(decoder("qwen2", "Qwen2ForCausalLM", 1152, 6, 18, 16000, intermediate_size=6144, num_key_value_heads=6), 6, 1024, **AMP),
    "qwen3": case(decoder("qwen3", "Qwen3ForCausalLM", 1024, 6, 16, 8000, intermediate_size=3072, num_key_value_heads=8), 6, 1024, "sgd"),
    "gemma, eager": case(decoder("gemma", "GemmaForCausalLM", 768, 5, 6, 6000, intermediate_size=4096, num_key_value_heads=2, head_dim=128), 4,
                         1024, **EAGER),
    "phi, autocast": case(decoder("phi", "PhiForCausalLM", 1024, 6, 16, 10000, intermediate_size=4096), 6, 1024, **AMP),
    "vit, autocast": case({"model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": 1024, "num_hidden_layers": 8,
                           "num_attention_heads": 16, "intermediate_size": 4096, "image_size": 224, "patch_size": 14}, 48, **AMP),
    "vit, eager": case({"model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": 768, "num_hidden_layers": 8,
                        "num_attention_heads": 12, "intermediate_size": 3072, "image_size": 384, "patch_size": 16}, 24, optimizer="momentum", **BF16, **EAGER,
                       checkpointing=1),
}

WRITTEN_AFTERWARDS |= {
    "mistral, nf4, prepared": case(decoder("mistral", "MistralForCausalLM", 1536, 6, 12, 16000, intermediate_size=5376, num_key_value_heads=4), 4, 1024,
                                   **QLORA, **PREPARED),
    "qwen2, adapters": case(decoder("qwen2", "Qwen2ForCausalLM", 896, 6, 14, 8000, intermediate_size=4864, num_key_value_heads=2), 4, 1024,
                            lora=32, amp="bfloat16", checkpointing=1, **BF16, **EVERYWHERE, **DROPPED),
    "qwen3, int8 autocast": case(decoder("qwen3", "Qwen3ForCausalLM", 1024, 4, 16, 8000, intermediate_size=3072, num_key_value_heads=8), 4, 1024,
                                 quantize="int8", lora=8, amp="bfloat16", **BF16, **DROPPED),
    "gemma2, nf4": case(decoder("gemma2", "Gemma2ForCausalLM", 1024, 4, 8, 32000, intermediate_size=4096, num_key_value_heads=4, head_dim=128), 2, 1024,
                        **BF16, **EAGER, **QLORA),
    "phi3, adapters": case(decoder("phi3", "Phi3ForCausalLM", 1024, 6, 16, 8000, intermediate_size=2816, pad_token_id=0), 4, 1024, lora=16, **BF16,
                           **DROPPED, **{"lora-on": "qkv_proj,o_proj,gate_up_proj,down_proj"}),
    "opt, adapters": case(decoder("opt", "OPTForCausalLM", 768, 6, 12, 8000, ffn_dim=3072), 8, 1024, lora=8, amp="float16", **DROPPED),
    "llama, adam-bnb": case(decoder("llama", "LlamaForCausalLM", 1024, 8, 16, 32000, intermediate_size=2816), 1, 128, "adam-bnb", **BF16),
    "qwen2, lion8bit": case(decoder("qwen2", "Qwen2ForCausalLM", 896, 6, 14, 8000, intermediate_size=4864, num_key_value_heads=2), 1, 256, "lion8bit"),
    "bert, adapters": case(decoder("bert", "BertForSequenceClassification", 768, 6, 12, 30522), 32, 256, lora=8, **BF16, **DROPPED,
                           **{"lora-on": "query,value"}),
}
WRITTEN_AFTERWARDS |= {
    "llama, paged adam8bit": case(decoder("llama", "LlamaForCausalLM", 1024, 8, 16, 32000, intermediate_size=2816), 1, 128, "paged-adam8bit", **BF16),
    "gpt2, paged adam": case(gpt2(768, 6, 12, vocab_size=8000), 1, 128, "paged-adam", **BF16),
    "resnet50": {"torchvision": "resnet50", "batch": 32, "optimizer": "momentum"},
    "convnext, autocast": {"torchvision": "convnext_tiny", "batch": 16, "optimizer": "adamw", **AMP},
    "efficientnet": {"torchvision": "efficientnet_b0", "batch": 24, "optimizer": "rmsprop"},
    "densenet": {"torchvision": "densenet121", "batch": 16, "optimizer": "adam", **BF16},
    "mobilenet, large images": {"torchvision": "mobilenet_v3_large", "batch": 32, "optimizer": "sgd", "image_size": 320, "amp": "float16"},
    "vgg, normalized": {"torchvision": "vgg16_bn", "batch": 16, "optimizer": "sgd"},
    "resnet18, accumulated": {"torchvision": "resnet18", "batch": 32, "optimizer": "adam", "accumulation": 4},
    "resnext, autocast": {"torchvision": "resnext50_32x4d", "batch": 32, "optimizer": "momentum", "amp": "float16"},
    "vision transformer, large": {"torchvision": "vit_l_16", "batch": 4, "optimizer": "adamw", "amp": "bfloat16"},
    "vision transformer": {"torchvision": "vit_b_16", "batch": 16, "optimizer": "adamw-fused"},
    "mixtral": case(decoder("mixtral", "MixtralForCausalLM", 768, 4, 12, 16000, intermediate_size=2048, num_local_experts=4, **MOE), 4, 768, **BF16),
    "qwen2_moe, accumulated": case(decoder("qwen2_moe", "Qwen2MoeForCausalLM", 512, 4, 8, 16000, intermediate_size=1408, num_experts=8,
                                           moe_intermediate_size=512, shared_expert_intermediate_size=1024, **MOE), 4, 512, accumulation=2),
    "t5": case({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 4,
                "num_heads": 8, "vocab_size": 32128, "decoder_start_token_id": 0, "pad_token_id": 0}, 8, 384, "adafactor"),
    "whisper, autocast": case({"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"], "d_model": 384, "encoder_layers": 4,
                               "decoder_layers": 4, "encoder_attention_heads": 6, "decoder_attention_heads": 6, "encoder_ffn_dim": 1536,
                               "decoder_ffn_dim": 1536, "vocab_size": 51865, "num_mel_bins": 80}, 4, decoder_sequence=128, amp="float16"),
    "phi3, autocast": case(decoder("phi3", "Phi3ForCausalLM", 1024, 5, 16, 16000, intermediate_size=2816, num_key_value_heads=8, pad_token_id=0), 4,
                           768, "momentum", **AMP),
}

SMALL = decoder("llama", "LlamaForCausalLM", 1024, 8, 16, 32000, intermediate_size=2816)
DDP = {"gpus": 8, "parallel": "ddp"}
VIEW = {"gpus": 8, "parallel": "ddp-view"}
FSDP2 = {"gpus": 8, "parallel": "fsdp2"}
MIXED = {"param_dtype": "bfloat16", "reduce_dtype": "float32"}

# The first of several ranks. The formulas were derived from the first four cases and the last one.
RANKS = {
    "ranks, ddp": case(SMALL, 2, 512, **DDP),
    "ranks, ddp of views": case(SMALL, 2, 512, **VIEW),
    "ranks, fsdp2": case(SMALL, 2, 512, **FSDP2),
    "ranks, fsdp2 mixed": case(SMALL, 2, 512, **FSDP2, **MIXED),
    "ranks, gpt2 dp": case(gpt2(768, 6, 12, vocab_size=8000), 4, 512, gpus=2, parallel="dp"),
    "ranks, gpt2 dp, the other": case(gpt2(768, 6, 12, vocab_size=8000), 4, 512, gpus=2, parallel="dp-other"),
    "ranks, bert dp of three": case(decoder("bert", "BertForMaskedLM", 768, 6, 12, 8000), 8, 256, "momentum", gpus=3, parallel="dp", accumulation=2, **AMP),
    "ranks, llama fsdp1": case(SMALL, 2, 512, gpus=8, parallel="fsdp1"),
    "ranks, llama fsdp1 mixed": case(SMALL, 2, 512, gpus=8, parallel="fsdp1", **MIXED),
    "ranks, gpt2 fsdp1 accumulated": case(gpt2(768, 6, 12, vocab_size=8000), 4, 512, "momentum", gpus=4, parallel="fsdp1", accumulation=2),
    "ranks, bert fsdp1 never": case(decoder("bert", "BertForMaskedLM", 768, 6, 12, 8000), 4, 256, gpus=4, parallel="fsdp1", reshard="never"),
    "ranks, gpt2 ddp autocast": case(gpt2(768, 6, 12, vocab_size=8000), 4, 512, "adamw-fused", **DDP, **AMP),
    "ranks, bert ddp accumulated": case(decoder("bert", "BertForMaskedLM", 768, 6, 12, 8000), 8, 256, "momentum", **DDP, accumulation=2),
    "ranks, opt ddp of views": case(decoder("opt", "OPTForCausalLM", 768, 6, 12, 10000, ffn_dim=3072), 2, 512, **VIEW, **BF16),
    "ranks, bert fsdp2 of three": case(decoder("bert", "BertForMaskedLM", 768, 6, 12, 8000), 8, 256, gpus=3, parallel="fsdp2", accumulation=2),
    "ranks, gpt2 fsdp2 mixed": case(gpt2(768, 8, 12), 2, 512, "momentum", **FSDP2, **MIXED),
    "ranks, opt fsdp2 always": case(decoder("opt", "OPTForCausalLM", 1024, 8, 16, 10000, ffn_dim=4096), 2, 256, **FSDP2, reshard="always"),
    "ranks, llama fsdp2 never": case(SMALL, 1, 256, **FSDP2, **MIXED, reshard="never"),
    "ranks, llama fsdp2 checkpointed": case(decoder("llama", "LlamaForCausalLM", 2048, 6, 16, 8000, intermediate_size=5632), 2, 1024, gpus=64,
                                            parallel="fsdp2", **MIXED, checkpointing=1),
    "ranks, llama fsdp2 selective": case(decoder("llama", "LlamaForCausalLM", 2048, 6, 16, 8000, intermediate_size=5632, num_key_value_heads=4), 4,
                                         1024, gpus=16, parallel="fsdp2", **MIXED, checkpointing="selective"),
    "ranks, qwen2 ddp selective": case(decoder("qwen2", "Qwen2ForCausalLM", 1024, 8, 16, 4000, intermediate_size=4096, num_key_value_heads=4), 16,
                                       1024, "sgd", **DDP, **BF16, checkpointing="selective"),
}


def writes(config, batch, prompt, tokens, **settings):
    return {"config": config, "batch": batch, "sequence": prompt, "kv-cache": tokens, **settings}


# The last four were written afterwards.
GENERATED = {
    "llama, many short prompts": writes(decoder("llama", "LlamaForCausalLM", 1024, 4, 16, 8000, intermediate_size=2816), 64, 16, 520, **BF16),
    "llama, grouped, long prompt": writes(decoder("llama", "LlamaForCausalLM", 1024, 4, 16, 32000, intermediate_size=2816, num_key_value_heads=4,
                                                  max_position_embeddings=8192), 4, 4000, 4010, **BF16),
    "llama, eager decode": writes(decoder("llama", "LlamaForCausalLM", 1024, 4, 16, 8000, intermediate_size=2816, num_key_value_heads=4), 64, 16, 520,
                                  **BF16, **EAGER),
    "gpt2, decode": writes(gpt2(768, 6, 12), 64, 16, 300),
    "mistral, window": writes(decoder("mistral", "MistralForCausalLM", 1024, 4, 16, 8000, intermediate_size=3584, num_key_value_heads=8,
                                      sliding_window=128), 64, 16, 400, **BF16),
    "gemma2, every second window": writes(decoder("gemma2", "Gemma2ForCausalLM", 1024, 4, 8, 8000, intermediate_size=4096, num_key_value_heads=4,
                                                  head_dim=128, sliding_window=128), 64, 16, 400, **BF16, **EAGER),
    "deepseek, compressed": writes(decoder("deepseek_v3", "DeepseekV3ForCausalLM", 1024, 3, 16, 8000, intermediate_size=2816,
                                           moe_intermediate_size=512, n_routed_experts=8, num_experts_per_tok=2, n_group=1, topk_group=1,
                                           first_k_dense_replace=1), 32, 16, 300, **BF16),
    "qwen3, decode": writes(decoder("qwen3", "Qwen3ForCausalLM", 1024, 4, 16, 8000, intermediate_size=3072, num_key_value_heads=8), 48, 64, 700, **BF16),
    "opt, eager decode": writes(decoder("opt", "OPTForCausalLM", 768, 4, 12, 10000, ffn_dim=3072), 48, 32, 400, **EAGER),
    "mixtral, decode": writes(decoder("mixtral", "MixtralForCausalLM", 768, 4, 12, 16000, intermediate_size=1024, num_local_experts=4, **MOE), 16, 32,
                              500, **BF16),
    "phi3, eager window": writes(decoder("phi3", "Phi3ForCausalLM", 1024, 4, 16, 16000, intermediate_size=2816, num_key_value_heads=8, pad_token_id=0,
                                         sliding_window=200), 40, 24, 420, **BF16, **EAGER),
    "qwen2, grouped decode": writes(decoder("qwen2", "Qwen2ForCausalLM", 1152, 5, 18, 16000, intermediate_size=4096, num_key_value_heads=2), 96, 48, 450,
                                    **BF16),
}
