"""torch.compile and torch.export, by value."""

import pytest
import torch
import torch._dynamo.testing
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

import fenchel.torch as ft

F64 = torch.float64


def draw(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(4), dtype=F64)


ALPHA = torch.tensor(1.3, dtype=F64)
BASIS = ft.GaussianBasis(torch.linspace(0, 1, 3, dtype=F64), 0.3)


def classes(x):
    return torch.arange(4, device=x.device).flip(0)


FUNCTIONS = {
    "sparsemax": ft.sparsemax,
    "entmax15": lambda x: ft.entmax15(x, 0),
    "entmax": lambda x: ft.entmax(x, ALPHA + x[0, 0].abs()),
    "entmax_bisect": lambda x: ft.entmax_bisect(x, 1.7, n_iter=20),
    "fusedmax": lambda x: ft.fusedmax(x, 0.2),
    "sparsemax_loss": lambda x: ft.sparsemax_loss(x, classes(x)),
    "entmax15_loss": lambda x: ft.entmax15_loss(x, classes(x)),
    "entmax_loss": lambda x: ft.entmax_loss(x, torch.softmax(x.detach(), -1), ALPHA),
    "cross_omega": lambda x: ft.cross_omega(x, classes(x)),
    "continuous_attention": lambda x: ft.continuous_attention(2.0, x[:, 0], x[:, 1].exp(), BASIS),
    "SparsePoisson": lambda x: ft.SparsePoisson(log_mu=x, validate_args=False).cross_omega(torch.ones((), dtype=F64)),
}


def with_gradient(f, x):
    x = x.clone().requires_grad_()
    y = f(x)
    weights = torch.linspace(1, 2, y.numel(), dtype=F64, device=y.device).reshape(y.shape)
    return y.detach(), torch.autograd.grad((y * weights).sum(), x)[0]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_in_one_graph(name, device):
    if device.type == "cuda" and name == "SparsePoisson":
        pytest.skip("has no kernel for a GPU")
    torch.compiler.reset()
    BASIS.to(device)
    x = draw(4, 5).to(device)
    compiled = torch.compile(FUNCTIONS[name], fullgraph=True, backend="aot_eager")
    for ours, eager in zip(with_gradient(compiled, x), with_gradient(FUNCTIONS[name], x)):
        torch.testing.assert_close(ours, eager, rtol=1e-13, atol=1e-15)


def test_one_graph_serves_all_shapes(device):
    torch.compiler.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    alpha = ALPHA.to(device)
    compiled = torch.compile(lambda x: ft.entmax(x * 2, alpha, 1), fullgraph=True, dynamic=True, backend=counter)
    compiled(draw(4, 5, 2).to(device))
    graphs = counter.frame_count
    for shape in [(6, 7, 3), (2, 9, 8)]:
        x = draw(*shape).to(device)
        torch.testing.assert_close(compiled(x), ft.entmax(x * 2, alpha, 1), rtol=0, atol=0)
    assert counter.frame_count == graphs


def test_inductor(device):
    torch.compiler.reset()
    f = lambda x: ft.entmax(x * 2, 1.5).square().sum(-1)  # noqa: E731
    compiled = torch.compile(f, fullgraph=True, options={"cpp_cache_precompile_headers": False})
    x = draw(4, 5).to(device)
    for ours, eager in zip(with_gradient(compiled, x), with_gradient(f, x)):
        torch.testing.assert_close(ours, eager)


@pytest.mark.filterwarnings("ignore:Dynamo does not know:UserWarning")
def test_transforms_inside_of_compiled_code_break_the_graph(device):
    torch.compiler.reset()
    x, direction = draw(4, 5).to(device), draw(4, 5).flip(0).to(device)

    def total(x):
        return ft.entmax(x, 1.5).pow(3).sum()

    def along(x):
        return torch.func.jvp(total, (x,), (direction,))[1]

    for f in [along, torch.func.grad(total), torch.func.vmap(torch.func.grad(total)), torch.func.vmap(total)]:
        torch.testing.assert_close(torch.compile(f, backend="aot_eager")(x), f(x), rtol=1e-13, atol=1e-15)
        torch.compiler.reset()
        with pytest.raises(torch._dynamo.exc.Unsupported, match="knows torch.func in eager code alone"):
            torch.compile(f, backend="aot_eager", fullgraph=True)(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = nn.Linear(5, 7).double()
        self.alpha = nn.Parameter(ALPHA.clone())

    def forward(self, x):
        return ft.fusedmax(ft.entmax(self.scores(x), self.alpha), 0.01)


@pytest.mark.parametrize("name", ["sparsemax", "entmax", "cross_omega"])
def test_what_a_mode_writes_down_has_a_gradient(name, device):
    x = draw(4, 5).to(device)
    written = make_fx(lambda z: FUNCTIONS[name](z))(x)
    for found, eager in zip(with_gradient(written, x), with_gradient(FUNCTIONS[name], x)):
        torch.testing.assert_close(found, eager, rtol=1e-13, atol=1e-15)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("name", ["sparsemax", "entmax", "cross_omega"])
def test_what_torch_jit_writes_down_has_a_gradient(name, device):
    x = draw(4, 5).to(device)
    traced = torch.jit.trace(FUNCTIONS[name], x, check_trace=False)
    for found, eager in zip(with_gradient(traced, x), with_gradient(FUNCTIONS[name], x)):
        torch.testing.assert_close(found, eager, rtol=1e-13, atol=1e-15)


def test_export(device):
    model = Model().to(device)
    rows = torch.export.Dim("rows", min=2)
    exported = torch.export.export(model, (draw(4, 5).to(device),), dynamic_shapes=({0: rows},))
    for n in [4, 6]:
        x = draw(n, 5).to(device)
        torch.testing.assert_close(exported.module()(x), model(x), rtol=0, atol=0)
