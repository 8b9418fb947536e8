"""Modules of entmax and its losses: the functions' results, state, copies, and an alpha that learns."""

import copy
import io

import pytest
import torch

import fenchel.torch as ft
from fenchel.torch import nn

X = torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(7))
CLASSES = torch.randint(5, (2, 3, 4), generator=torch.Generator().manual_seed(8))


def test_modules_are_the_functions():
    assert (nn.Entmax(1.3, dim=1)(X) == ft.entmax(X, 1.3, 1)).all()
    assert (nn.Entmax15()(X) == ft.entmax15(X)).all() and (nn.Sparsemax(0)(X) == ft.sparsemax(X, 0)).all()
    assert (nn.Fusedmax(0.1, dim=2)(X) == ft.fusedmax(X, 0.1, 2)).all()
    loss = nn.EntmaxLoss(1.3, ignore_index=2, reduction="sum")
    assert loss(X, CLASSES) == ft.entmax_loss(X, CLASSES, 1.3, 2, "sum")
    assert nn.SparsemaxLoss()(X, CLASSES) == ft.entmax_loss(X, CLASSES, 2.0)
    assert nn.Entmax15Loss(dim=1)(X.movedim(-1, 1), CLASSES) == ft.entmax_loss(X.movedim(-1, 1), CLASSES, dim=1)
    assert not list(nn.Entmax().parameters()) and not nn.Entmax().state_dict()


@pytest.mark.parametrize(
    "module,text",
    [
        (nn.Entmax(1.5, learned=True), "Entmax(alpha=1.5, dim=-1, learned=True)"),
        (nn.Entmax(torch.full((3, 1, 1), 1.5)), "Entmax(alpha=tensor(3, 1, 1), dim=-1)"),
        (nn.Sparsemax(), "Sparsemax(alpha=2, dim=-1)"),
        (nn.Fusedmax(torch.nn.Parameter(torch.tensor(0.25))), "Fusedmax(gamma=0.25, dim=-1)"),
        (nn.SparsemaxLoss(), "SparsemaxLoss(alpha=2, ignore_index=-100, reduction=mean, dim=-1)"),
    ],
)
def test_state_copies_and_text(module, text):
    assert repr(module) == text
    arguments = (X, CLASSES) if "Loss" in text else (X,)
    expected = module(*arguments)
    other = copy.deepcopy(module)
    other.load_state_dict(module.state_dict())
    stored = io.BytesIO()
    torch.save(module, stored)
    stored.seek(0)
    for twin in (other, torch.load(stored, weights_only=False)):
        assert (twin(*arguments) == expected).all()
    assert {p.dtype for p in copy.deepcopy(module).double().state_dict().values()} <= {torch.float64}


def test_alpha_of_each_head_learns_within_its_range():
    heads = nn.Entmax(torch.tensor([1.2, 1.5, 1.9])[:, None, None], learned=True)
    torch.testing.assert_close(heads(X), ft.entmax(X, heads.alpha.detach()))
    torch.testing.assert_close(heads.alpha.detach().flatten().float(), torch.tensor([1.2, 1.5, 1.9]))
    # The target of the first head is dense, that of the last one sparse.
    target = torch.stack([torch.softmax(X[:, 0], -1), ft.entmax15(X[:, 1]), ft.sparsemax(X[:, 2])], 1)
    optimizer = torch.optim.Adam(heads.parameters(), lr=0.3)
    for _ in range(60):
        optimizer.zero_grad()
        ((heads(X) - target) ** 2).sum().backward()
        optimizer.step()
    dense, middle, sparse = heads.alpha.detach().flatten().tolist()
    assert 1 < dense < 1.1 and middle == pytest.approx(1.5, abs=0.02) and 1.9 < sparse < 2
    with torch.no_grad():
        heads.raw_alpha.fill_(1e4)
        assert (heads.bfloat16().alpha == 2).all() and torch.isfinite(heads(X)).all()
    with pytest.raises(ValueError, match="alpha must be between 1 and 2 to be learned, got 2.0"):
        nn.Entmax(2.0, learned=True)
