# SPDX-License-Identifier: MIT
"""The configs for which `make check-models` compares a family's file with its class."""
import json
import random

from support.run import ROOT

FAMILIES = ROOT / "analyzer/estimate/families"


def families():
    """Yields (model_type, classes) for every model type of every family."""
    for path in sorted(FAMILIES.glob("*.json")):
        family = json.loads(path.read_text())
        for model_type in family.get("model_types", []):
            yield model_type, family["architectures"]


def first_class(family):
    """Returns the family's first class. A file that is "like" another file may lack classes; it then has those of the
    other file."""
    base = family if "architectures" in family else json.loads((FAMILIES / f"{family['like']}.json").read_text())
    return base["architectures"][0]


def widths(dice):
    heads, head_dim = dice.choice([2, 4, 6]), dice.choice([8, 12, 16])
    return {"hidden_size": heads * head_dim, "num_attention_heads": heads, "vocab_size": dice.randint(50, 90),
            "num_hidden_layers": dice.randint(1, 3), "intermediate_size": dice.randint(20, 70)}


def decoder(dice):
    config = {**widths(dice), "max_position_embeddings": dice.randint(20, 60), "tie_word_embeddings": dice.random() < 0.5,
              "num_labels": dice.randint(2, 5)}
    config["num_key_value_heads"] = dice.choice([heads for heads in (1, 2, 4, 6) if config["num_attention_heads"] % heads == 0])
    return config


def llama(dice):
    config = {**decoder(dice), "attention_bias": dice.random() < 0.5, "mlp_bias": dice.random() < 0.5}
    if dice.random() < 0.5:
        config["head_dim"] = dice.choice([8, 20])
    return config


def with_head_dim(dice):
    return {**decoder(dice), "head_dim": dice.choice([8, 20]), "attention_bias": dice.random() < 0.5}


def granite(dice):
    return {**decoder(dice), "attention_bias": dice.random() < 0.5, "mlp_bias": dice.random() < 0.5}


def smollm3(dice):
    config = {**granite(dice), "num_hidden_layers": 3, "pad_token_id": 0}
    drawn = [dice.choice([0, 1]) for _ in range(3)]
    return {**config, **dice.choice([{}, {"no_rope_layer_interval": 2}, {"no_rope_layers": drawn}])}


def starcoder2(dice):
    return {**decoder(dice), "use_bias": dice.random() < 0.5}


def stablelm(dice):
    return {**decoder(dice), "use_qkv_bias": dice.random() < 0.5, "qk_layernorm": dice.random() < 0.5,
            "use_parallel_residual": dice.random() < 0.5, "partial_rotary_factor": dice.choice([0.25, 0.5, 1.0])}


def cohere(dice):
    return {**decoder(dice), "attention_bias": dice.random() < 0.5, "use_qk_norm": dice.random() < 0.5}


def glm4(dice):
    return {**with_head_dim(dice), "partial_rotary_factor": dice.choice([0.25, 0.5, 1.0]), "pad_token_id": 0}


def experts(dice, name):
    return {name: dice.choice([3, 4]), "num_experts_per_tok": dice.choice([1, 2])}


def mixtral(dice):
    return {**llama(dice), **experts(dice, "num_local_experts")}


def gpt_oss(dice):
    config = {**with_head_dim(dice), **experts(dice, "num_local_experts"), "num_hidden_layers": 3, "pad_token_id": 0}
    return {**config, **dice.choice([{}, {"layer_types": ["full_attention"] * 3}])}


def qwen_moe(dice):
    config = {**decoder(dice), **experts(dice, "num_experts"), "moe_intermediate_size": dice.choice([12, 18]),
              "decoder_sparse_step": dice.choice([1, 2]), "mlp_only_layers": dice.choice([[], [0], None]),
              "num_hidden_layers": 3}
    return config


def qwen2_moe(dice):
    return {**qwen_moe(dice), "qkv_bias": dice.random() < 0.5, "shared_expert_intermediate_size": dice.choice([10, 14])}


def qwen3_moe(dice):
    return {**qwen_moe(dice), "head_dim": dice.choice([8, 20]), "attention_bias": dice.random() < 0.5}


def deepseek(dice):
    config = {**decoder(dice), **experts(dice, "n_routed_experts"), "n_shared_experts": dice.choice([1, 2]), "n_group": 1,
              "topk_group": 1, "moe_intermediate_size": dice.choice([12, 18]), "first_k_dense_replace": dice.choice([0, 1]),
              "q_lora_rank": dice.choice([None, 10]), "kv_lora_rank": dice.choice([6, 8]), "qk_rope_head_dim": dice.choice([4, 8]),
              "qk_nope_head_dim": dice.choice([6, 10]), "v_head_dim": dice.choice([6, 12]), "attention_bias": dice.random() < 0.5}
    config["num_key_value_heads"] = None
    return config


def deepseek_v2(dice):
    return {**deepseek(dice), "mlp_bias": dice.random() < 0.5}


def llama4_text(dice):
    config = {**with_head_dim(dice), **experts(dice, "num_local_experts"), "intermediate_size_mlp": dice.choice([24, 30])}
    return {**config, "num_hidden_layers": 3, **dice.choice([{"interleave_moe_layer_step": dice.choice([1, 2])}, {"moe_layers": [1]}])}


def gemma2(dice):
    return {**with_head_dim(dice), "final_logit_softcapping": dice.choice([None, 30.0])}


def gemma3_text(dice):
    config = {**with_head_dim(dice), "num_hidden_layers": 3}
    kinds = ["sliding_attention", "full_attention"]
    return {**config, **dice.choice([{}, {"sliding_window_pattern": 2}, {"layer_types": [dice.choice(kinds) for _ in range(3)]}])}


def phi3(dice):
    config = decoder(dice)
    return {**config, "pad_token_id": 0, "original_max_position_embeddings": config["max_position_embeddings"]}


def falcon(dice):
    heads = dice.choice([2, 4])
    config = {"hidden_size": 8 * heads, "num_attention_heads": heads, "num_hidden_layers": dice.randint(1, 3), "vocab_size": 70,
              "num_kv_heads": dice.choice([None, 2]), "new_decoder_architecture": dice.random() < 0.5, "multi_query": dice.random() < 0.5,
              "parallel_attn": dice.random() < 0.7, "bias": dice.random() < 0.5, "alibi": dice.random() < 0.3, "num_labels": 3,
              "ffn_hidden_size": dice.choice([None, 20]), "tie_word_embeddings": dice.random() < 0.5}
    return config


def t5(dice):
    return {"d_model": 16, "d_kv": dice.choice([4, 6]), "d_ff": dice.choice([20, 28]), "num_layers": dice.randint(1, 3), "num_heads": 2,
            "num_decoder_layers": dice.choice([None, 1, 2]), "feed_forward_proj": dice.choice(["relu", "gated-gelu", "gated-silu"]),
            "vocab_size": 70, "relative_attention_num_buckets": dice.choice([8, 16]), "num_labels": 3}


def whisper(dice):
    return {"d_model": 16, "encoder_layers": dice.randint(1, 3), "decoder_layers": dice.randint(1, 3), "encoder_ffn_dim": 20,
            "decoder_ffn_dim": 24, "encoder_attention_heads": 2, "decoder_attention_heads": 4, "num_mel_bins": dice.choice([8, 10]),
            "max_source_positions": dice.choice([12, 20]), "max_target_positions": 9, "vocab_size": 60, "pad_token_id": 0,
            "tie_word_embeddings": dice.random() < 0.5, "classifier_proj_size": 6, "use_weighted_layer_sum": dice.random() < 0.5,
            "num_labels": dice.randint(2, 5)}


def tower(dice):
    heads = dice.choice([2, 4])
    return {"hidden_size": 8 * heads, "num_attention_heads": heads, "intermediate_size": dice.choice([20, 28]),
            "num_hidden_layers": dice.randint(1, 3), "hidden_act": dice.choice(["gelu", "quick_gelu"])}


def clip(dice):
    vision = {**tower(dice), "image_size": dice.choice([16, 24]), "patch_size": dice.choice([4, 8])}
    text = {**tower(dice), "vocab_size": 60, "max_position_embeddings": dice.choice([10, 14])}
    return {"vision_config": vision, "text_config": text, "projection_dim": dice.choice([6, 10]), "num_labels": dice.randint(2, 5)}


def phi(dice):
    return {**decoder(dice), "qk_layernorm": dice.random() < 0.5}


def gpt2(dice):
    heads = dice.choice([2, 4])
    config = {"n_embd": 8 * heads, "n_head": heads, "n_layer": dice.randint(1, 3), "n_positions": dice.randint(20, 60),
              "vocab_size": dice.randint(50, 90), "num_labels": dice.randint(2, 5), "tie_word_embeddings": dice.random() < 0.5}
    return {**config, "n_inner": dice.choice([None, 40])}  # n_inner may be None, because public configs have null here


def gpt_neox(dice):
    return {**widths(dice), "max_position_embeddings": dice.randint(20, 60), "attention_bias": dice.random() < 0.5,
            "use_parallel_residual": dice.random() < 0.5, "tie_word_embeddings": dice.random() < 0.5, "num_labels": 3}


def gptj(dice):
    return {**gpt2(dice), "rotary_dim": dice.choice([4, 8])}


def bloom(dice):
    heads = dice.choice([2, 4])
    return {dice.choice(["hidden_size", "n_embed"]): 8 * heads, "n_head": heads, "n_layer": dice.randint(1, 3), "vocab_size": 70,
            "num_labels": dice.randint(2, 5), "tie_word_embeddings": dice.random() < 0.5}


def opt(dice):
    config = {**widths(dice), "ffn_dim": dice.randint(20, 70), "max_position_embeddings": dice.randint(20, 60), "num_labels": 4,
              "do_layer_norm_before": dice.random() < 0.5, "enable_bias": dice.random() < 0.5,
              "layer_norm_elementwise_affine": dice.random() < 0.5, "tie_word_embeddings": dice.random() < 0.5}
    del config["intermediate_size"]
    return {**config, "word_embed_proj_dim": dice.choice([config["hidden_size"], 10])}


def encoder(dice):
    return {**widths(dice), "max_position_embeddings": dice.randint(20, 60), "type_vocab_size": dice.randint(1, 3),
            "tie_word_embeddings": dice.random() < 0.5, "num_labels": dice.randint(2, 5)}


def electra(dice):
    return {**encoder(dice), "embedding_size": dice.choice([10, 24])}


def modernbert(dice):
    flags = ["norm_bias", "attention_bias", "mlp_bias", "decoder_bias", "classifier_bias", "tie_word_embeddings"]
    return {**widths(dice), **{flag: dice.random() < 0.5 for flag in flags}, "num_hidden_layers": 3, "pad_token_id": 0, "num_labels": 3,
            **dice.choice([{}, {"global_attn_every_n_layers": 2}, {"layer_types": ["full_attention"] * 3}])}


def distilbert(dice):
    heads = dice.choice([2, 4])
    return {"dim": 8 * heads, "n_heads": heads, "n_layers": dice.randint(1, 3), "hidden_dim": dice.randint(20, 70), "vocab_size": 70,
            "max_position_embeddings": dice.randint(20, 60), "num_labels": 2, "tie_word_embeddings": dice.random() < 0.5}


def vit(dice):
    config = {**widths(dice), "patch_size": dice.choice([4, 8]), "image_size": dice.choice([32, 40]), "num_channels": dice.choice([1, 3]),
              "qkv_bias": dice.random() < 0.5, "num_labels": dice.randint(2, 5)}
    del config["vocab_size"]
    return config


RANDOM = {"mixtral": mixtral, "qwen2_moe": qwen2_moe, "qwen3_moe": qwen3_moe, "deepseek_v2": deepseek_v2, "deepseek_v3": deepseek,
          "llama4_text": llama4_text, "gemma2": gemma2, "gemma3_text": gemma3_text, "phi3": phi3, "falcon": falcon, "t5": t5,
          "whisper": whisper, "clip": clip, "llama": llama, "mistral": with_head_dim, "qwen2": decoder, "qwen3": with_head_dim, "gemma": with_head_dim, "phi": phi,
          "gpt2": gpt2, "gpt_neox": gpt_neox, "opt": opt, "bert": encoder, "roberta": encoder,
          "xlm-roberta": encoder, "camembert": encoder, "electra": electra, "modernbert": modernbert,
          "bloom": bloom, "gptj": gptj, "cohere": cohere, "gpt_oss": gpt_oss, "glm": glm4, "glm4": glm4, "granite": granite,
          "olmo2": granite, "smollm3": smollm3, "starcoder2": starcoder2, "stablelm": stablelm, "distilbert": distilbert, "vit": vit}

# {model that also reads images: (class, model type of the text part)}
OF_TEXT = {"gemma3": ("Gemma3ForConditionalGeneration", "gemma3_text"), "llama4": ("Llama4ForConditionalGeneration", "llama4_text"),
           "llava": ("LlavaForConditionalGeneration", "llama"), "llava_next": ("LlavaNextForConditionalGeneration", "mistral"),
           "mistral3": ("Mistral3ForConditionalGeneration", "mistral"), "paligemma": ("PaliGemmaForConditionalGeneration", "gemma")}


def more_than_text(dice, name):
    """Returns a config with a vision and a text part. The outer tie_word_embeddings decides whether the head is tied, except in
    llama4, whose head belongs to the text part."""
    architecture, text_type = OF_TEXT[name]
    vision = {**tower(dice), "hidden_act": "gelu", "image_size": 28, "patch_size": 14}
    tied = dice.random() < 0.5
    tied_text = tied if name == "llama4" else dice.choice([tied, False])
    return {"model_type": name, "architectures": [architecture], "vision_config": vision, "tie_word_embeddings": tied,
            "text_config": {**RANDOM[text_type](dice), "model_type": text_type, "tie_word_embeddings": tied_text}}


# The key that makes the default config of a family small, for families in which this is not num_hidden_layers.
FEW = {**dict.fromkeys(["gpt2", "gptj", "bloom"], {"n_layer": 2}), "distilbert": {"n_layers": 2}, "t5": {}, "whisper": {}, "clip": {}}

# {name of the model in the command: number of parameters published with the weights}. The number for DeepSeek-V3 leaves
# out the layer that predicts a second token, and in the number for Falcon the tied head counts once.
PUBLISHED = {
    "bert-base": 109_482_240, "bert-large": 335_141_888, "roberta-base": 124_645_632, "roberta-large": 355_359_744,
    "xlm-roberta-base": 278_043_648, "xlm-roberta-large": 559_890_432,
    "distilbert-base": 66_362_880, "gpt2": 124_439_808, "gpt2-medium": 354_823_168, "gpt2-large": 774_030_080,
    "gpt2-xl": 1_557_611_200, "llama-2-7b": 6_738_415_616, "llama-2-13b": 13_015_864_320, "llama-2-70b": 68_976_648_192,
    "llama-3-8b": 8_030_261_248, "llama-3-70b": 70_553_706_496, "llama-3.1-8b": 8_030_261_248, "llama-3.1-70b": 70_553_706_496,
    "llama-3.1-405b": 405_853_388_800, "llama-3.2-1b": 1_235_814_400, "llama-3.2-3b": 3_212_749_824,
    "tinyllama-1.1b": 1_100_048_384, "mistral-7b": 7_241_732_096, "mixtral-8x7b": 46_702_792_704,
    "mixtral-8x22b": 140_620_634_112, "qwen2.5-0.5b": 494_032_768, "qwen2.5-1.5b": 1_543_714_304, "qwen2.5-3b": 3_085_938_688,
    "qwen2.5-7b": 7_615_616_512, "qwen2.5-14b": 14_770_033_664, "qwen2.5-32b": 32_763_876_352, "qwen2.5-72b": 72_706_203_648,
    "qwen3-0.6b": 596_049_920, "qwen3-1.7b": 1_720_574_976, "qwen3-4b": 4_022_468_096, "qwen3-8b": 8_190_735_360,
    "qwen3-14b": 14_768_307_200, "qwen3-32b": 32_762_123_264, "qwen1.5-moe-a2.7b": 14_315_784_192,
    "qwen3-30b-a3b": 30_532_122_624, "qwen3-235b-a22b": 235_093_634_560, "deepseek-v2-lite": 15_706_484_224,
    "deepseek-v2": 235_741_434_880, "deepseek-v3": 671_026_404_352, "deepseek-r1": 671_026_404_352, "gemma-2b": 2_506_172_416,
    "gemma-7b": 8_537_680_896, "gemma-2-2b": 2_614_341_888, "gemma-2-9b": 9_241_705_984, "gemma-2-27b": 27_227_128_320,
    "gemma-3-1b": 999_885_952, "phi-1.5": 1_418_270_720, "phi-2": 2_779_683_840, "phi-3-mini": 3_821_079_552,
    "phi-3-medium": 13_960_238_080, "phi-4": 14_659_507_200, "falcon-7b": 6_921_720_704, "falcon-40b": 41_303_293_952,
    "pythia-70m": 70_426_624, "pythia-160m": 162_322_944, "pythia-410m": 405_334_016, "pythia-1b": 1_011_781_632,
    "pythia-1.4b": 1_414_647_808, "pythia-2.8b": 2_775_208_960, "pythia-6.9b": 6_857_302_016, "pythia-12b": 11_846_072_320,
    "gpt-neox-20b": 20_554_567_680, "opt-125m": 125_239_296, "opt-1.3b": 1_315_758_080, "opt-2.7b": 2_651_596_800,
    "opt-6.7b": 6_658_473_984, "opt-13b": 12_853_473_280, "opt-30b": 29_974_540_288, "opt-350m": 331_196_416,
    "olmo-2-7b": 7_298_617_344, "granite-3.1-2b": 2_533_531_648, "granite-3.1-8b": 8_170_848_256, "smollm3-3b": 3_075_098_624,
    "gpt-oss-20b": 20_914_757_184, "gpt-oss-120b": 116_829_156_672, "command-r": 34_980_831_232,
    "bloom-560m": 559_214_592, "bloom-1b1": 1_065_314_304, "bloom-1b7": 1_722_408_960, "bloom-3b": 3_002_557_440,
    "bloom-7b1": 7_069_016_064, "bloom": 176_247_271_424, "gpt-j-6b": 6_050_882_784,
    "modernbert-base": 149_655_232, "modernbert-large": 395_881_664, "starcoder2-3b": 3_030_371_328,
    "starcoder2-7b": 7_173_923_840, "stablelm-3b": 2_795_443_200, "stablelm-2-1.6b": 1_644_515_328,
    "vit-base-patch16-224": 86_567_656, "vit-large-patch16-224": 304_326_632, "clip-vit-base-patch32": 151_277_313,
    "clip-vit-base-patch16": 149_620_737, "clip-vit-large-patch14": 427_616_513, "t5-small": 60_506_624, "t5-base": 222_903_552,
    "t5-large": 737_668_096, "t5-3b": 2_851_598_336, "t5-11b": 11_307_321_344, "whisper-tiny": 37_760_640,
    "whisper-base": 72_593_920, "whisper-small": 241_734_912, "whisper-medium": 763_857_920, "whisper-large-v2": 1_543_304_960,
    "whisper-large-v3": 1_543_490_560, "whisper-large-v3-turbo": 808_878_080, "vgg16": 138_357_544, "resnet50": 25_557_032,
}


def names():
    """Yields (name, config) for every model that the command knows by name; config is None if transformers lacks the model."""
    for path in sorted(FAMILIES.glob("*.json")):
        family = json.loads(path.read_text())
        for name, config in family.get("names", {}).items():
            if "model_types" not in family:
                yield name, None
                continue
            yield name, {"model_type": family["model_types"][0], "architectures": [first_class(family)], **config}


def all_configs(seed, rounds):
    """Yields (title, config, name or None, published count or None) for random configs and for all named models. The
    same seed gives the same configs."""
    dice = random.Random(seed)
    for model_type, classes in families():
        for name in classes:
            for number in range(rounds):
                yield f"{name}, random {number}", {"model_type": model_type, "architectures": [name], **RANDOM[model_type](dice)}, None, None
            few = FEW.get(model_type, {"num_hidden_layers": 2})
            yield f"{name}, defaults", {"model_type": model_type, "architectures": [name], **few}, None, None
    for name in OF_TEXT:
        for number in range(rounds):
            yield f"the text of {name}, random {number}", more_than_text(dice, name), None, None
    for name, config in names():
        yield name, config or {"name": name}, name, PUBLISHED.get(name)
