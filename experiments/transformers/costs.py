"""Time and memory of a step of trained models, which take turns, so that other work on the machine disturbs all alike.

    python -m experiments.transformers.costs --kept DIR --out experiments/results/transformers.json
"""

from __future__ import annotations

import argparse
import pathlib
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from .. import command
from ..results import Results, made
from . import measures, presets, recall, text
from .devices import arithmetic
from .experiment import loss_of_recall, loss_of_text
from .presets import SIZES, Set, file_of
from .variants import VARIANTS

ROUNDS = 9


def work_of(data: str, of: Set, model: Any, length: int, device: torch.device) -> Callable[[], torch.Tensor]:
    """The forward pass over one text of so many letters, or over one context of so many pairs with 128 questions."""
    if data == "text":
        letters = text.encode([text.write(length + 1, random.Random(length))]).to(device)
        return within(of, device, lambda: loss_of_text(model, letters).mean())
    task = recall.make(1, length, 128, torch.Generator().manual_seed(length)).to(device)
    return within(of, device, lambda: loss_of_recall(model, task))


def within(of: Set, device: torch.device, loss: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
    """In the arithmetic of the training."""

    def work() -> torch.Tensor:
        with arithmetic(of.training.autocast, device):
            return loss()

    return work


def milliseconds(work: Callable[[], torch.Tensor], device: torch.device) -> float:
    """Of a forward and a backward pass: of the processor, or between two events of a GPU."""
    if device.type != "cuda":
        started = time.process_time()
        work().backward()
        return 1000 * (time.process_time() - started)
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize(device)
    first.record()
    work().backward()
    last.record()
    torch.cuda.synchronize(device)
    return first.elapsed_time(last)


def megabytes(work: Callable[[], torch.Tensor], device: torch.device) -> float:
    """What autograd keeps for the backward pass; of a GPU the most that both passes take at a time, beyond what was taken
    before."""
    if device.type != "cuda":
        return measures.kept_bytes(work) / 1e6
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    work().backward()
    return (torch.cuda.max_memory_allocated(device) - before) / 1e6


def measure(sets: dict[str, Set], kept: pathlib.Path, device: torch.device) -> list[dict[str, Any]]:
    """For each task, length and kind of attention: the median of the rounds after the first, and the memory."""
    found = []
    for data, of in sets.items():
        models = {}
        for name, (_, variant) in VARIANTS.items():
            state = torch.load(file_of(kept, data, name), map_location=device, weights_only=True)
            models[name] = of.model(variant, of.training.size).to(device)
            models[name].load_state_dict(state)
        for length in of.timed:
            works = {name: work_of(data, of, model, length, device) for name, model in models.items()}

            def of_step(cost: Callable[..., float], name: str) -> float:
                models[name].zero_grad()
                return cost(works[name], device)

            rounds = [{name: of_step(milliseconds, name) for name in works} for _ in range(ROUNDS + 1)]
            for name in works:
                one = {"data": data, "name": name, "length": length}
                one["milliseconds"] = statistics.median(each[name] for each in rounds[1:])
                one["megabytes"] = of_step(megabytes, name)
                found.append(one)
    return found


def main(words: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(prog="python -m experiments.transformers.costs", description=__doc__)
    options.add_argument("--kept", type=pathlib.Path, metavar="DIR", required=True, help="what --keep saved")
    options.add_argument("--out", type=pathlib.Path, metavar="FILE", required=True, help="the file of results")
    options.add_argument("--device", default="cpu", type=torch.device)
    presets.add_size(options)
    chosen = options.parse_args(words)
    torch.set_num_threads(1)
    results = Results(chosen.out, "transformers")
    results.content["costs"] = measure(SIZES[chosen.size], chosen.kept, chosen.device)
    results.content["costs_made"] = made(chosen.device)
    results.save()


if __name__ == "__main__":
    command.run_as_program("transformers.costs", main)
