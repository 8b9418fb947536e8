"""Handwritten digits with EntmaxLoss: a network whose probabilities are exactly 0 for the digits that it rules out.

    python classifier.py
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

from fenchel.torch import entmax
from fenchel.torch.nn import EntmaxLoss


class Result(NamedTuple):
    """On digits that the network has not seen."""

    accuracy: float
    possible: float
    """How many digits have a probability above 0, on average."""
    sure: float
    """The share of images for which that is one digit."""
    right: float
    """The share of images whose digit is among them."""


def train(alpha: float, epochs: int = 20) -> Result:
    """A small network, trained with the loss at alpha, and read with entmax at the same alpha."""
    torch.manual_seed(0)
    images, digits = (torch.as_tensor(x) for x in load_digits(return_X_y=True))
    x, x_test, y, y_test = train_test_split((images / 16).float(), digits, test_size=0.3, random_state=0)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    loss, optimizer = EntmaxLoss(alpha), torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(epochs):
        for batch in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            loss(model(x[batch]), y[batch]).backward()
            optimizer.step()
    with torch.no_grad():
        p = entmax(model(x_test), alpha)
    possible = p > 0
    return Result(
        (p.argmax(-1) == y_test).float().mean().item(),
        possible.sum(-1).float().mean().item(),
        (possible.sum(-1) == 1).float().mean().item(),
        possible.gather(-1, y_test[:, None]).float().mean().item(),
    )


def main() -> None:
    print("alpha  accuracy  possible digits  sure of one  the right one possible")
    for alpha in (1.0, 1.5, 2.0):
        result = train(alpha)
        print(f"{alpha:5.1f} {result.accuracy:9.3f} {result.possible:16.2f} {result.sure:12.3f} {result.right:23.3f}")


if __name__ == "__main__":
    main()
