# SPDX-License-Identifier: MIT
"""Trains a model several times in one process, each time with a new trainer. --unregister: a closed engine leaves atexit."""
import atexit
import gc
import logging
import sys

import torch
from torch import nn

UNREGISTER = "--unregister" in sys.argv
WIDTH, RUNS, BATCHES = 1024, 12, 3
log = logging.getLogger(__name__)


class State:
    def __init__(self, model, optimizers, max_batches):
        self.model = model
        self.optimizers = optimizers
        self.max_batches = max_batches
        self.batch = None
        self.loss = None
        self.callbacks = []


class Logger:
    def __init__(self, state, destinations=()):
        self.destinations = list(destinations)
        self._state = state

    def log_metrics(self, metrics):
        for destination in self.destinations:
            destination.info(metrics)


class Engine:
    def __init__(self, state, logger):
        self.state = state
        self.logger = logger
        self._is_closed = False
        atexit.register(self._close, state, logger)

    def run_event(self, event):
        for callback in self.state.callbacks:
            callback.run_event(event, self.state, self.logger)

    def close(self):
        if not self._is_closed:
            self._close(self.state, self.logger)
        if UNREGISTER:
            atexit.unregister(self._close)
        self._is_closed = True

    @staticmethod
    def _close(state, logger):
        for callback in state.callbacks:
            callback.close(state, logger)


class Trainer:
    def __init__(self, model, max_batches):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        self.state = State(model, [optimizer], max_batches)
        self.logger = Logger(self.state, [log])
        self.engine = Engine(self.state, self.logger)

    def fit(self):
        for _ in range(self.state.max_batches):
            self.state.batch = torch.randn(64, WIDTH, device="cuda")
            self.state.loss = self.state.model(self.state.batch).square().mean()
            self.state.loss.backward()
            self.state.optimizers[0].step()
            self.state.optimizers[0].zero_grad()
            self.engine.run_event("batch_end")
        self.logger.log_metrics({"loss": self.state.loss.item()})


for run in range(RUNS):
    trainer = Trainer(nn.Sequential(*[nn.Linear(WIDTH, WIDTH) for _ in range(4)]).cuda(), BATCHES)
    trainer.fit()
    trainer.engine.close()
    del trainer
    gc.collect()
