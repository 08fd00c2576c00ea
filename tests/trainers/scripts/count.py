# SPDX-License-Identifier: MIT
"""Counts what a trainer does, by hooks of PyTorch that any trainer leaves in place, and stores moments (moments.py). The
steps are counted by the trainer's own callbacks, or by the loop. The last line of the script's output has the counts."""
import atexit
import json
import types

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from moments import moment, saved_for_backward

torch.manual_seed(0)


class Watch:
    """`models` are the modules whose calls are forwards; `others` also have weights. `own_states()` returns tensors that
    the trainer keeps for its optimizer."""

    def __init__(self, *models, others=(), own_states=list):
        self.models, self.own_states = models, own_states
        self.all = torch.nn.ModuleList([*models, *others])
        self.counts = dict.fromkeys(("steps", "forwards", "backwards", "optimizers"), 0)
        self.states, self.saved, self.hooked, self.has_loss = {}, None, set(), False
        for model in models:
            model.register_forward_pre_hook(self._forward, with_kwargs=True)
        register_optimizer_step_post_hook(self._optimizer)
        atexit.register(lambda: print(json.dumps(self.counts)))

    def step(self):
        self.counts["steps"] += 1

    def loss(self, loss, *targets):
        """Call this when the loss is known. `targets` are inputs of the loss alone. The moment is the start of backward."""
        self.saved.__exit__(None, None, None)
        self.saved.places -= {t.untyped_storage().data_ptr() for t in targets}
        loss.register_hook(lambda _gradient, saved=self.saved: moment("backward", saved=saved))
        self.saved, self.has_loss = None, True

    def _forward(self, model, args, kwargs):
        inputs = [t for t in (*args, *kwargs.values()) if torch.is_tensor(t)]
        if not torch.is_grad_enabled():
            self.counts["forwards"] += 1
        elif not self.saved:  # a loss of several calls is one forward
            self.counts["forwards"] += 1
            self.saved = saved_for_backward(self.all, *inputs)
            self.saved.__enter__()
        first = next((p for p in model.parameters() if p.requires_grad), None)
        if first is not None and first not in self.hooked:
            self.hooked.add(first)
            first.register_post_accumulate_grad_hook(self._backward)

    def _backward(self, _parameter):
        self.counts["backwards"] += self.has_loss
        self.has_loss = False

    def _optimizer(self, optimizer, *_):
        self.counts["optimizers"] += 1
        self.states[id(optimizer)] = optimizer.state
        tensors = [t for states in self.states.values() for state in states.values() for t in state.values()]
        held = {0: dict(enumerate([*tensors, *self.own_states()]))}
        moment("optimizer", self.all, types.SimpleNamespace(state=held))


def of_transformers(watch):
    """Returns a callback of transformers' Trainer. The model computes the loss itself."""
    from transformers import TrainerCallback

    class Callback(TrainerCallback):
        def on_step_end(self, *_, **__):
            watch.step()

    watch.models[0].register_forward_hook(lambda _, __, told: watch.loss(told.loss) if torch.is_grad_enabled() else None)
    return Callback()


def of_lightning(watch):
    """Returns a callback of Lightning's Trainer."""
    from lightning import Callback as Base

    class Callback(Base):
        def on_before_backward(self, _trainer, _module, loss):
            watch.loss(loss)

        def on_train_batch_end(self, *_, **__):
            watch.step()

    return Callback()
