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
from torch import nn

from .. import command
from ..results import Results
from . import measures, recall, text
from .__main__ import SETS, file_of
from .experiment import loss_of_recall, loss_of_text
from .model import Finder, Writer
from .variants import VARIANTS

ROUNDS = 9


def work_of(data: str, model: Any, length: int, device: torch.device) -> Callable[[], torch.Tensor]:
    """The forward pass over one text of so many letters, or over one context of so many pairs with 128 questions."""
    if data == "text":
        letters = text.encode([text.write(length + 1, random.Random(length))]).to(device)
        return lambda: loss_of_text(model, letters).mean()
    task = recall.make(1, length, 128, torch.Generator().manual_seed(length)).to(device)
    return lambda: loss_of_recall(model, task)


def seconds(model: nn.Module, work: Callable[[], torch.Tensor], device: torch.device) -> float:
    """Of a forward and a backward pass: of the processor, or of the clock where a GPU works."""
    clock = time.perf_counter if device.type == "cuda" else time.process_time
    model.zero_grad()
    started = clock()
    work().backward()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return clock() - started


def measure(kept: pathlib.Path, device: torch.device) -> list[dict[str, Any]]:
    """For each task, length and kind of attention: the median of the rounds after the first, and what autograd keeps."""
    found = []
    for data, of in SETS.items():
        models = {}
        for name, (_, variant) in VARIANTS.items():
            models[name] = (Writer if data == "text" else Finder)(variant, of.training.size).to(device)
            models[name].load_state_dict(torch.load(file_of(kept, data, name), weights_only=True))
        for length in of.lengths:
            works = {name: work_of(data, model, length, device) for name, model in models.items()}
            rounds = [
                {name: seconds(models[name], work, device) for name, work in works.items()} for _ in range(ROUNDS + 1)
            ]
            for name, work in works.items():
                milliseconds = 1000 * statistics.median(one[name] for one in rounds[1:])
                megabytes = measures.kept_bytes(work) / 1e6
                one = {"data": data, "name": name, "length": length}
                found.append(one | {"milliseconds": milliseconds, "megabytes": megabytes})
    return found


def main(words: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(prog="python -m experiments.transformers.costs", description=__doc__)
    options.add_argument("--kept", type=pathlib.Path, metavar="DIR", required=True, help="what --keep saved")
    options.add_argument("--out", type=pathlib.Path, metavar="FILE", required=True, help="the file of results")
    options.add_argument("--device", default="cpu", type=torch.device)
    chosen = options.parse_args(words)
    torch.set_num_threads(1)
    results = Results(chosen.out, "transformers")
    results.content["costs"] = measure(chosen.kept, chosen.device)
    results.save()


if __name__ == "__main__":
    command.run_as_program("transformers.costs", main)
