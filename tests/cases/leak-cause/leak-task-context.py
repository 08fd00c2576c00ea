# SPDX-License-Identifier: MIT
"""A service that embeds images, with a tracing decorator around its coroutines. --reset: a request sets the variable back."""
import asyncio
import contextvars
import functools
import sys
import uuid
from dataclasses import dataclass, field
from typing import Any, Optional

import torch
from torch import nn

RESET = "--reset" in sys.argv
WIDTH, PIXELS, REQUESTS = 512, 3 * 224 * 224, 40
_PARENT_RUN_TREE = contextvars.ContextVar("_PARENT_RUN_TREE", default=None)


@dataclass
class RunTree:
    name: str
    inputs: dict
    parent: Optional["RunTree"] = None
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    outputs: Any = None
    error: Optional[str] = None

    def end(self, outputs):
        self.outputs = {"shape": list(outputs.shape)}

    def patch(self):
        return {"id": self.id, "name": self.name, "outputs": self.outputs}


def traceable(fn):
    @functools.wraps(fn)
    async def wrapper(*args, **kwargs):
        run_tree = RunTree(fn.__name__, {"args": args[1:], **kwargs}, _PARENT_RUN_TREE.get())
        context = contextvars.copy_context()
        context.run(_PARENT_RUN_TREE.set, run_tree)
        result = await asyncio.create_task(fn(*args, **kwargs), context=context)
        run_tree.end(result)
        run_tree.patch()
        return result
    return wrapper


class EmbeddingService:
    def __init__(self):
        self.project = nn.Linear(PIXELS, WIDTH, bias=False).cuda()
        self.tasks = {}

    @traceable
    async def embed(self, images):
        with torch.no_grad():
            return self.project(images)

    async def handle(self, request_id):
        images = torch.rand(16, PIXELS, device="cuda")
        _PARENT_RUN_TREE.set(RunTree("request", {"images": images}))
        vectors = await self.embed(images)
        if RESET:
            _PARENT_RUN_TREE.set(None)
        return vectors.norm().item()

    def accept(self, request_id):
        self.tasks[request_id] = asyncio.get_running_loop().create_task(self.handle(request_id))
        return self.tasks[request_id]


async def main():
    service = EmbeddingService()
    for number in range(REQUESTS):
        await service.accept(f"request-{number}")


asyncio.run(main())
