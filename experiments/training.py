"""Training of an ensemble: orders of the data, steps that are recorded once and replayed, and how long is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

import torch
from torch import nn


def use_one_arithmetic() -> None:
    """The same numbers each time on one device: products in TF32 on a GPU, and no algorithm that depends on chance."""
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True


def orders(counts: list[int], seeds: list[int], epochs: int, batch: int) -> torch.Tensor:
    """In which order each model sees its examples, (epochs, steps, models, batch).

    Model i has `counts[i]` examples, numbered from 0, and an order of its own for each epoch. All take as many steps as
    the one with the fewest examples has whole batches, so that a model leaves out a few, others in each epoch.
    """
    steps = min(counts) // batch
    if steps == 0:
        raise ValueError(f"orders: batch must be at most the fewest examples, {min(counts)}, got {batch}")
    chosen = torch.empty(epochs, steps, len(counts), batch, dtype=torch.int64)
    for model, (count, seed) in enumerate(zip(counts, seeds)):
        random = torch.Generator().manual_seed(seed)
        for epoch in range(epochs):
            order = torch.randperm(count, generator=random)[: steps * batch]
            chosen[epoch, :, model] = order.view(steps, batch)
    return chosen


class Trainer:
    """Adam on the sum of the models' losses, each of which has its own parameters and so its own gradient.

    Parameters
    ----------
    model : Module
        An ensemble.
    losses : callable
        From the examples of a step, a tensor (models, batch) of int, to losses (models,).
    examples : Tensor, shape (steps, models, batch)
        Of all steps, on the device of the model.
    rates : Tensor, shape (steps,)
        The learning rate of each step.
    weight_decay : float
        Of Adam, added to the gradient.
    capture : bool
        Whether steps on a GPU are recorded once, as a CUDA graph, and replayed. What waits for the GPU cannot be.
    """

    warm_up_steps = 3
    """Steps before a recording: the first calls allocate and choose algorithms. They count as steps."""

    def __init__(
        self,
        model: nn.Module,
        losses: Callable[[torch.Tensor], torch.Tensor],
        examples: torch.Tensor,
        rates: torch.Tensor,
        weight_decay: float = 0.0,
        capture: bool = True,
    ) -> None:
        device = examples.device
        self.model, self.losses, self.examples = model, losses, examples
        self.rates = rates.to(device)
        self.now = torch.zeros(1, dtype=torch.int64, device=device)
        self.loss = torch.zeros(examples.shape[1], device=device)
        on_gpu = device.type == "cuda"
        self.rate = torch.tensor(float(rates[0]), device=device)
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=self.rate, weight_decay=weight_decay, fused=on_gpu or None, capturable=on_gpu
        )
        self.capture = capture and on_gpu
        self.graph: torch.cuda.CUDAGraph | None = None

    def _step(self) -> None:
        self.rate.copy_(self.rates[self.now][0])
        self.optimizer.zero_grad(set_to_none=True)
        losses = self.losses(self.examples[self.now][0])
        losses.sum().backward()
        self.optimizer.step()
        self.loss.copy_(losses.detach())
        self.now += 1

    def steps(self) -> Iterator[int]:
        """Trains, and yields the number of steps that were done after each."""
        self.model.train()
        total = self.examples.shape[0]
        for done in range(1, total + 1):
            if self.graph is not None:
                self.graph.replay()
            elif self.capture and self.warm_up_steps < done:
                self.graph = torch.cuda.CUDAGraph()
                self.optimizer.zero_grad(set_to_none=True)
                with torch.cuda.graph(self.graph):
                    self._step()
                self.graph.replay()
            elif self.capture:
                stream = torch.cuda.Stream()
                stream.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(stream):
                    self._step()
                torch.cuda.current_stream().wait_stream(stream)
            else:
                self._step()
            yield done


class Progress:
    """A line on standard error with what is done and how long the rest may take; on a terminal it is written over."""

    def __init__(self, total: int, stream: object = None) -> None:
        self.total, self.done = total, 0
        self.started = self.shown = time.monotonic()
        self.stream = sys.stderr if stream is None else stream

    def skip(self, name: str) -> None:
        """A part that was there already."""
        self.total -= 1
        print(f"{name}: there already", file=self.stream)

    def show(self, name: str, share: float) -> None:
        """So much of the part `name` is done; at most one line in ten seconds, five in one on a terminal."""
        now = time.monotonic()
        terminal = self.stream.isatty()
        if now - self.shown < (0.2 if terminal else 10):
            return
        self.shown = now
        finished = self.done + share
        left = (now - self.started) * (self.total - finished) / finished if finished > 0 else float("nan")
        text = f"{name}: {share:4.0%}; part {self.done + 1} of {self.total}, {_clock(left)} left"
        print(f"\r\x1b[K{text}" if terminal else text, end="" if terminal else "\n", file=self.stream, flush=True)

    def finish(self, name: str, result: str) -> None:
        """The part is done, with this result."""
        self.done += 1
        start = "\r\x1b[K" if self.stream.isatty() else ""
        print(f"{start}{name}: {result}", file=self.stream, flush=True)


def _clock(seconds: float) -> str:
    return "?" if seconds != seconds else f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
