# SPDX-License-Identifier: MIT
"""Serves requests from a fixed cache; the third wants the log probabilities of its prompt. --chunk: 512 tokens at a time."""
import sys

import torch
from torch import nn

CHUNK = 512 if "--chunk" in sys.argv else 8192
WIDTH, VOCABULARY, BLOCKS, CACHE_TOKENS = 2048, 152064, 8, 135000


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                                  nn.Linear(4 * WIDTH, WIDTH)) for _ in range(BLOCKS))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.cache = torch.zeros(BLOCKS, CACHE_TOKENS, 2, WIDTH)

    def hidden_states(self, tokens):
        state = self.embed(tokens)
        for number, block in enumerate(self.blocks):
            state = state + block(state)
            self.cache[number, :len(tokens), 0] = state
        return state


def prompt_logprobs(model, states, tokens):
    chosen = []
    for part, wanted in zip(states.split(CHUNK), tokens.split(CHUNK)):
        logits = model.head(part)
        logprobs = logits.log_softmax(dim=-1, dtype=torch.float32)
        chosen.append(logprobs.gather(-1, wanted[:, None]))
        del logits, logprobs
    return torch.cat(chosen)


def serve(model, prompt_tokens, with_logprobs):
    tokens = torch.zeros(prompt_tokens, dtype=torch.long, device="cuda")
    states = model.hidden_states(tokens)
    if with_logprobs:
        prompt_logprobs(model, states, tokens)
    model.head(states[-1:]).argmax()
    print(prompt_tokens, "tokens, live", torch.cuda.memory_allocated(), "peak", torch.cuda.max_memory_allocated(), flush=True)


@torch.no_grad()
def main():
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = Model()
    serve(model, 2048, False)
    serve(model, 8192, False)
    serve(model, 8192, True)
    serve(model, 4096, False)


main()
