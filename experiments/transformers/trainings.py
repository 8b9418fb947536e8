"""Trainings of a kind of attention on a task with a seed, each of which is in the file of results as soon as it ends."""

from __future__ import annotations

import pathlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import torch

from .. import jobs
from ..results import Results, made
from ..training import Progress
from .presets import Set, config_of
from .variants import VARIANTS


class Job(NamedTuple):
    """A training."""

    data: str
    name: str
    """Of the kind of attention, in VARIANTS."""
    seed: int
    of: Set
    device: torch.device
    file: pathlib.Path | None
    """Where its parameters are saved."""

    def __str__(self) -> str:
        return f"{self.data}, {self.name}, seed {self.seed}"

    @property
    def config(self) -> dict[str, Any]:
        return config_of(self.of, VARIANTS[self.name][1])


class Trained(NamedTuple):
    values: dict[str, float]
    parameters: int
    seconds: float


def train(job: Job, progress: Callable[[float], None] = lambda share: None) -> Trained:
    started = time.monotonic()
    model = job.of.train(VARIANTS[job.name][1], job.of.training, job.seed, job.device, progress)
    if job.file is not None:
        job.file.parent.mkdir(parents=True, exist_ok=True)
        torch.save(model.state_dict(), job.file)
    values = job.of.measure(model, job.of.training, job.of.lengths, job.device)
    return Trained(values, sum(p.numel() for p in model.parameters()), time.monotonic() - started)


def train_beside_others(job: Job) -> Trained:
    """With one thread: processes share the cores."""
    torch.set_num_threads(1)
    return train(job)


def run(todo: Sequence[Job], results: Results, processes: int) -> None:
    """Those that the results do not have, in this process or in so many others."""
    progress = Progress(len(todo))
    missing = []
    for job in todo:
        if job.seed in results.seeds(job.data, job.name, job.config):
            progress.skip(str(job))
        else:
            missing.append(job)

    def here() -> Iterator[tuple[Job, Trained]]:
        for job in missing:
            yield job, train(job, lambda share: progress.show(str(job), share))

    ended = here() if processes == 1 else jobs.outcomes(train_beside_others, missing, processes)
    with closing(ended):
        for job, trained in ended:
            keep(results, job, trained, processes)
            progress.finish(str(job), f"accuracy {trained.values['accuracy']:.4f}, {trained.seconds:.0f} s")


def keep(results: Results, job: Job, trained: Trained, processes: int) -> None:
    """Adds a training to its row."""
    row = results.row(job.data, job.name, job.config) or {"runs": [], "seconds": 0.0}
    run = {"unit": 0, "seed": job.seed, "values": trained.values}
    results.put(
        {
            "data": job.data,
            "name": job.name,
            "label": VARIANTS[job.name][0],
            "group": "attention",
            "config": job.config,
            "parameters": trained.parameters,
            "runs": sorted([*row["runs"], run], key=lambda run: run["seed"]),
            "seconds": row["seconds"] + trained.seconds,
            "made": made(job.device) | {"jobs": processes},
        }
    )
