"""On a GPU: the numbers of the CPU, streams and graphs, no waiting, no copies, and what is not checked there."""

import functools

import math

import pytest
import torch
from parity import assert_rows_at_parity

import fenchel.torch as ft
from fenchel import Interval
from fenchel.torch import _library, nn
from fenchel.torch._attention import _attend

pytestmark = pytest.mark.gpu
F64, F32 = torch.float64, torch.float32
CUDA = torch.device("cuda")


def draw(*shape, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=F64)


@functools.cache
def line_basis(device):
    return ft.GaussianBasis.linearly_spaced(6, sigma=(0.1, 0.4)).to(device)


@functools.cache
def plane_basis(device):
    return ft.MultivariateGaussianBasis.unit_square(2, 3, torch.tensor([[0.05, 0.01], [0.01, 0.04]])).to(device)


def learned_attention(mu, log_sigma2, alpha, means, covariances):
    """The operation itself, with a basis that gets a gradient."""
    arguments = (mu[:, None], log_sigma2.exp()[:, None, None], alpha, means[:, None], covariances.exp()[:, None, None])
    return _attend(*arguments, 0.0)


def plane_attention(mu, root, alpha):
    eye = torch.eye(2, dtype=root.dtype, device=root.device)
    return ft.continuous_attention(alpha, mu, 0.02 * (root @ root.mT + eye), plane_basis(mu.device))


def densities(weights, alpha, positions=None):
    mu, Sigma = ft.match_weights(alpha, weights.softmax(-1), positions)
    return torch.cat([mu.flatten(1), Sigma.flatten(1)], 1) if mu.dim() > 1 else torch.stack([mu, Sigma], 1)


@functools.cache
def points(device):
    return draw(9, 2).to(device)


def learned_density(a, alpha):
    # Checks of arguments wait for the GPU, as those of torch's distributions do; torch.compile turns both off for good.
    like = {"dtype": a.dtype, "device": a.device, "validate_args": False}
    p = ft.predict(lambda t: a[:, None] * t.cos() - t.square(), alpha, Interval(-2, 2), 64, **like)
    return torch.stack([p.normalizer, p.variance, p.tsallis_entropy(), p.cross_omega(a / 4), p.pdf(a / 4)])


def classes_of(x):
    return torch.arange(x.shape[0], device=x.device) % x.shape[1]


def line(alpha, log_sigma2, x, statistic):
    return getattr(ft.BetaGaussian(alpha, x * 0, log_sigma2.exp(), validate_args=False), statistic)(x)


ROWS = (draw(6, 37),)
ROWS_AND_ORDERS = (draw(6, 37), 1 + draw(6, 1, seed=2).square())
LINE = (draw(9, seed=3).abs(), draw(9, seed=4), draw(9, seed=5) / 2)
FUNCTIONS = {
    "entmax": (lambda x: ft.entmax(x, 1.3), ROWS),
    "entmax, learned": (ft.entmax, ROWS_AND_ORDERS),
    "entmax, dim 0": (lambda x, a: ft.entmax(x, a.mT, 0), (draw(37, 6), ROWS_AND_ORDERS[1])),
    "softmax": (lambda x: ft.entmax(x, 1.0), ROWS),
    "sparsemax": (ft.sparsemax, ROWS),
    "fusedmax": (lambda x: ft.fusedmax(x, 0.3), ROWS),
    "fusedmax, learned": (lambda x, g: ft.fusedmax(x, g.sigmoid()), (draw(6, 37), draw(6, 1))),
    "entmax_loss": (lambda x: ft.entmax_loss(x, classes_of(x), 1.5, reduction="none"), ROWS),
    "entmax_loss, learned": (lambda x, a: ft.entmax_loss(x, classes_of(x), a, reduction="none"), ROWS_AND_ORDERS),
    "entmax_loss, soft": (
        lambda x, a: ft.entmax_loss(x, torch.softmax(x.detach().flip(0), -1), a, reduction="none"),
        ROWS_AND_ORDERS,
    ),
    "cross_omega": (lambda x: ft.cross_omega(x, torch.softmax(x.detach().flip(0), -1), 2.0, reduction="none"), ROWS),
    "attention on the line": (
        lambda mu, s: ft.continuous_attention(1.5, mu, s.exp() / 50, line_basis(mu.device)),
        (draw(7), draw(7, seed=2)),
    ),
    "attention with a learned basis": (
        learned_attention,
        (draw(5) / 4, draw(5, seed=2) - 3, 1.2 + draw(5).square(), draw(4), draw(4, seed=3) - 2),
    ),
    "attention on the plane": (plane_attention, (draw(3, 2) / 4, draw(3, 2, 2), 1.2 + draw(3).square())),
    "densities": (densities, (draw(4, 9), 1.5 + draw(4).square())),
    "densities on the plane": (lambda x: densities(x, 2.0, points(x.device)), (draw(4, 9),)),
    "predict": (learned_density, (draw(5), 1.2 + draw(5, seed=2).square())),
    "log_prob": (lambda a, s, x: line(1 + a, s, x, "log_prob"), LINE),
    "cdf": (lambda a, s, x: line(1 + a, s, x, "cdf"), LINE),
    "Student's log_prob": (lambda a, s, x: line(1 / (1 + a), s, x, "log_prob"), LINE),
    "entropy": (
        lambda a, s: ft.BetaGaussian(1 + a, torch.zeros_like(s), s.exp(), validate_args=False).entropy(),
        LINE[:2],
    ),
}
SECOND = [name for name in FUNCTIONS if name != "cdf"]
functions = pytest.mark.parametrize("name", FUNCTIONS)


def results(name, device, dtype, second=False):
    """The value, the gradients, and those of a number made of them."""
    f, inputs = FUNCTIONS[name]
    x = [t.clone().to(device, dtype).requires_grad_() for t in inputs]
    y = f(*x)
    weights = torch.linspace(1, 2, y.numel(), dtype=F64).reshape(y.shape).to(device, y.dtype)
    gradients = torch.autograd.grad((y * weights).sum(), x, create_graph=second)
    found = [y, *gradients]
    if second:
        total = sum((g * torch.linspace(-1, 1, g.numel(), dtype=F64).reshape(g.shape).to(g)).sum() for g in gradients)
        found += torch.autograd.grad(total, x, allow_unused=True)
    return [t.detach().to("cpu", F64) for t in found if t is not None]


@functions
def test_the_numbers_of_the_cpu(name):
    for ours, exact in zip(results(name, CUDA, F64, name in SECOND), results(name, "cpu", F64, name in SECOND)):
        torch.testing.assert_close(ours, exact, rtol=1e-9, atol=1e-10 * float(exact.abs().max()))


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "attention on the line"])
def test_float32_errs_no_more_than_twice_as_the_cpu(name):
    exact, ours, theirs = (results(name, d, t) for d, t in (("cpu", F64), (CUDA, F32), ("cpu", F32)))
    for best, a, b in zip(exact, ours, theirs):
        finite = best.isfinite()  # beyond an end a density is 0
        assert torch.equal(a[~finite], best[~finite])
        best, a, b = best[finite], a[finite], b[finite]
        size = float(best.abs().max())
        assert (a - best).abs().max() <= 2 * (b - best).abs().max() + 4 * torch.finfo(F32).eps * size


@pytest.mark.parametrize("alpha", [4 / 3, 1.5, 1.7, 2.0, 3.0])
def test_attention_in_float32_errs_as_it_says(alpha):
    """Densities of one alpha on the line are computed in float there: backend/cuda/attention.hpp says how well."""
    error, rounding = 2e-5, 8 * 2.0**-24  # kAttendFloatError; 8 roundings of the lengths
    mu, sigma2 = draw(64).float(), (draw(64, seed=2).exp() / 50).float()
    basis = line_basis("cpu")
    x = mu.double(), sigma2.double(), *basis.functions()

    def f(mu, sigma2, mean, covariance):
        return _attend(mu[:, None], sigma2[:, None, None], None, mean, covariance, alpha)

    def along(k):
        """The derivative in an argument that all entries of it share."""
        return torch.func.jvp(f, x, tuple(torch.full_like(t, float(i == k)) for i, t in enumerate(x)))[1]

    exact, slope, stretch, bend = f(*x), along(0), along(1), along(3)
    width = x[3][:, 0, 0].sqrt()
    half = ft.BetaGaussian(alpha, 0 * x[0], x[1]).active_support()[1][:, None]
    lengths = x[0].abs()[:, None] + x[2][:, 0].abs() + half
    value = exact.clamp(min=1e-6 / (width * math.sqrt(2 * math.pi)))
    allowed = error * value + rounding * (
        slope.abs() * lengths + 2 * stretch.abs() * x[1][:, None] + 2 * bend.abs() * width.square()
    )
    on_gpu = mu.cuda().requires_grad_(), sigma2.cuda().requires_grad_()
    r = ft.continuous_attention(alpha, *on_gpu, line_basis(CUDA))
    assert r.dtype == F32 and (r >= 0).all()
    assert ((r.cpu() - exact).abs() <= allowed).all()

    cotangent = draw(*r.shape, seed=3).float()
    found = torch.autograd.grad(r, on_gpu, cotangent.cuda())
    of_terms = error + rounding * lengths / torch.minimum(width, half)
    room = (half / width).square().clamp(max=1) / ((1 + alpha) * x[1][:, None])
    for ours, derivative, other in ((found[0], slope, 1 / torch.maximum(width, half)), (found[1], stretch, room)):
        best = (cotangent * derivative).sum(-1)
        bound = (cotangent.abs() * of_terms * (derivative.abs() + value * other)).sum(-1)
        assert ((ours.cpu() - best).abs() <= bound).all()


@functions
def test_forward_mode(name):
    f, inputs = FUNCTIONS[name]
    along = tuple(draw(*t.shape, seed=8) for t in inputs)
    exact = torch.func.jvp(f, inputs, along)[1].detach()
    ours = torch.func.jvp(f, *(tuple(t.cuda() for t in x) for x in (inputs, along)))[1]
    torch.testing.assert_close(ours.cpu(), exact, rtol=1e-9, atol=1e-10 * float(exact.abs().max()))


@functions
def test_nobody_waits_for_the_gpu(name):
    f, inputs = FUNCTIONS[name]
    x = [t.cuda().requires_grad_() for t in inputs]
    f(*x).sum().backward()  # what is made once
    torch.cuda.set_sync_debug_mode("error")
    try:
        f(*x).sum().backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")


@functions
def test_on_the_stream_of_the_caller(name):
    """What the work before it on a side stream writes, it reads."""
    f, inputs = FUNCTIONS[name]
    expected = f(*(t.cuda() for t in inputs))
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        busy = torch.randn(3000, 3000, device=CUDA)
        for _ in range(10):
            busy = busy @ busy / 100
        late = [t.cuda() + 0 * busy[0, 0].double().nan_to_num() for t in inputs]
        ours = f(*late)
    stream.synchronize()
    assert torch.equal(ours, expected)


def step(x, scores, classes):
    p = ft.entmax(scores, 1.5)
    loss = ft.entmax_loss(scores, classes, 1.5) + ft.fusedmax(p, 0.1).square().mean()
    return torch.autograd.grad(loss, x)[0]


def test_a_graph_is_captured_and_replayed():
    x = draw(64, 100).cuda().requires_grad_()
    classes = classes_of(x)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(x, x * 2, classes)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step(x, x * 2, classes)
    for seed in range(3):
        with torch.no_grad():
            x.copy_(draw(64, 100, seed=seed))
        graph.replay()
        assert torch.equal(captured, step(x, x * 2, classes))


@pytest.mark.parametrize("dtype", [F64, F32, torch.bfloat16, torch.float16])
def test_what_two_strides_describe_is_not_copied(dtype):
    """All the memory that is taken is that of the result."""
    x = draw(4, 24, 32, 16).cuda().to(dtype)
    last = x.to(memory_format=torch.channels_last)
    same = x[:1].expand(4, -1, -1, -1)
    for view, dim in ((x, 0), (x, 1), (x, 3), (last, 1), (x[..., 3:-1], 3), (x[:, :, ::2], 3), (same, 1), (same, 3)):
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        p = ft.entmax(view, 1.5, dim)
        assert torch.cuda.max_memory_allocated() - before <= x.numel() * x.element_size() + 4096
        host = view.cpu()
        assert_rows_at_parity(p, ft.entmax(host.double(), 1.5, dim), ft.entmax(host, 1.5, dim), dim)
        assert p.movedim(dim, -1).is_contiguous()


types = pytest.mark.parametrize("dtype", [F64, F32, torch.bfloat16, torch.float16])


@types
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("kind", ["classes", "soft"])
def test_the_gradient_of_a_loss_is_that_of_the_cpu(dtype, reduction, kind):
    """In float64; of 16 bits it is rounded once."""
    scores = draw(6, 1000).to(dtype)
    target = ft.sparsemax(draw(6, 1000, seed=2)) if kind == "soft" else torch.tensor([0, 999, -100, 3, 500, 7])
    weights = torch.tensor([0.5, -1.0, 2.0, 0.0, 0.25, -4.0])  # exact in every type

    def gradient(x, device):
        x = x.to(device).requires_grad_()
        loss = ft.entmax_loss(x, target.to(device), 1.5, reduction=reduction)
        upstream = weights if reduction == "none" else weights[5]
        return torch.autograd.grad(loss, x, upstream.to(loss))[0]

    ours, exact = gradient(scores, CUDA), gradient(scores.double(), "cpu")
    assert ours.dtype == dtype
    room = 32 * torch.finfo(torch.promote_types(dtype, F32)).eps * float(weights.abs().max())
    torch.testing.assert_close(ours.cpu().double(), exact, rtol=torch.finfo(dtype).eps, atol=room)
    if kind == "classes":
        assert (ours[2] == 0).all()


@types
@pytest.mark.parametrize("reduction", ["mean", "none"])
@pytest.mark.parametrize("autocast", [False, True])
def test_a_loss_takes_the_memory_of_its_gradient_alone(dtype, reduction, autocast):
    """Forward and backward together: nothing else is of the size of the scores."""
    x = draw(512, 4096).cuda().to(dtype).requires_grad_()
    classes, weights = classes_of(x), torch.linspace(-1, 1, 512, device=CUDA)

    def gradient():
        with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
            loss = ft.entmax_loss(x, classes, 1.5, reduction=reduction)
        return torch.autograd.grad(loss, x, weights.to(loss) if reduction == "none" else None)[0]

    gradient()  # what is made once
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    found = gradient()
    assert found.dtype == dtype
    assert torch.cuda.max_memory_allocated() - before <= x.numel() * x.element_size() + 2**16


def test_a_single_number_of_the_cpu_serves():
    x, alpha = draw(3, 5).cuda(), torch.tensor(1.5, requires_grad=True)
    p = ft.entmax(x, alpha)
    exact = ft.entmax(x.cpu(), 1.5)
    assert_rows_at_parity(p.detach(), exact, exact)
    p.square().sum().backward()
    assert alpha.grad.device.type == "cpu" and alpha.grad != 0


def test_tensors_on_two_devices_are_refused():
    x, alphas = draw(3, 5), torch.full((3, 1), 1.5, dtype=F64)
    for call in (
        lambda: ft.entmax(x.cuda(), alphas),
        lambda: ft.entmax(x, alphas.cuda()),
        lambda: torch.ops.fenchel.entmax_vjp(x.cuda(), None, x, 1.5, -1),
        lambda: ft.entmax_loss(x.cuda(), torch.zeros(3, dtype=torch.long)),
        lambda: ft.match_weights(2.0, x.softmax(-1).cuda(), lengths=torch.ones(3, dtype=torch.long)),
        lambda: ft.continuous_attention(2.0, x.cuda(), x.cuda().exp(), line_basis("cpu")),
        lambda: torch.ops.fenchel.beta_gaussian(x.cuda(), x, x, "log_density", 1),
    ):
        with pytest.raises(ValueError, match="tensors must be on one device, got (cuda:0 and cpu|cpu and cuda:0)"):
            call()


def test_what_has_no_kernel_says_so():
    with pytest.raises(NotImplementedError, match="sparse_poisson has no kernel for a GPU: move its tensors"):
        ft.SparsePoisson(2.0, torch.tensor([3.0], device=CUDA)).entropy()
    x = torch.zeros(2, 4, device=CUDA)
    for call, name in (
        (lambda: ft.Triangular(x, 1.0).variance, "line"),
        (lambda: ft.continuous_attention(2.0, x, x.exp(), ft.PolynomialBasis(2)), "attend_line"),
    ):
        with pytest.raises(NotImplementedError, match=f"{name} has no kernel for a GPU: move its tensors"):
            call()
    with pytest.raises(ValueError, match="lengths of fusedmax must be absent on a GPU"):
        torch.ops.fenchel.fusedmax(x, None, torch.full((2, 1), 3, device=CUDA), None, 1.0, -1)
    assert torch._C._dispatch_has_kernel_for_dispatch_key("fenchel::entmax", "CUDA") and _library._CUDA_PATH.exists()


def test_a_bad_number_is_a_row_of_nan():
    """What the CPU refuses, and a GPU could only refuse after waiting."""
    x = draw(4, 5).cuda()
    bad = torch.tensor([False, True, False, False], device=CUDA)

    def check(y, expected):
        assert y[bad].isnan().all()
        assert torch.equal(y[~bad], expected[~bad])

    alphas = torch.full((4, 1), 1.5, dtype=F64, device=CUDA)
    wrong = alphas.masked_fill(bad[:, None], -1.0)
    check(ft.entmax(x, wrong), ft.entmax(x, alphas))
    check(ft.fusedmax(x, wrong), ft.fusedmax(x, alphas))
    classes = torch.tensor([0, 4, 1, 2], device=CUDA)
    losses = ft.entmax_loss(x, classes, reduction="none")
    check(ft.entmax_loss(x, classes + bad, reduction="none"), losses)
    weights, lengths = torch.full((4, 5), 0.2, dtype=F64, device=CUDA), torch.full((4,), 5, device=CUDA)
    check(ft.match_weights(2.0, weights, lengths=lengths + bad)[0], ft.match_weights(2.0, weights, lengths=lengths)[0])
    sigma2 = torch.full((4,), 0.1, dtype=F64, device=CUDA)
    basis = line_basis(CUDA)
    check(
        ft.continuous_attention(2.0, x[:, 0], sigma2.masked_fill(bad, -1.0), basis),
        ft.continuous_attention(2.0, x[:, 0], sigma2, basis),
    )
    with pytest.raises(ValueError, match="alpha must be positive, got -1"):
        ft.entmax(x, -1.0)


@pytest.mark.parametrize("kind", ["both", "continuous"])
@pytest.mark.parametrize("learned", [False, True])
def test_attention_over_padded_sequences(kind, learned):
    values, scores, lengths = draw(5, 12, 3), draw(5, 12, seed=2), torch.tensor([12, 7, 1, 3, 9])
    basis = ft.GaussianBasis.linearly_spaced(8, learned=learned)
    module = nn.ContinuousAttention(basis, kind, alpha=1.5, learned_alpha=True)
    expected = module(values, scores, lengths=lengths)[0]
    module.cuda()
    arguments = values.cuda(), scores.cuda().requires_grad_()
    on_gpu = lengths.cuda()
    module(*arguments, lengths=on_gpu)
    torch.cuda.set_sync_debug_mode("error")
    try:
        context = module(*arguments, lengths=on_gpu)[0]
        context.sum().backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    torch.testing.assert_close(context.cpu(), expected, rtol=1e-9, atol=1e-10)
    assert arguments[1].grad.isfinite().all() and module.raw_alpha.grad.isfinite()


def padded_rows(seed):
    """Values, scores and lengths of 64 sequences."""
    lengths = torch.randint(1, 13, (64,), generator=torch.Generator().manual_seed(seed))
    return draw(64, 12, 3, seed=seed), draw(64, 12, seed=seed + 1), lengths


@pytest.mark.parametrize("queries", [1, 30])
@pytest.mark.parametrize("kept", [True, False])
def test_lengths_on_a_gpu_are_those_of_the_cpu(queries, kept):
    """From matrices of all lengths, or where these would be too large, from a system for each row."""
    values, _, lengths = padded_rows(3)
    values[torch.arange(12) >= lengths[:, None]] = torch.nan
    r = draw(64, queries, 8, seed=5)
    on_cpu = ft.RidgeValues(ft.GaussianBasis.linearly_spaced(8), 0.05)
    on_gpu = ft.RidgeValues(ft.GaussianBasis.linearly_spaced(8), 0.05).cuda()
    if not kept:
        on_gpu.largest_table = 12 * 12 * 8 - 1
    arguments = values.cuda(), lengths.cuda()
    close = {"rtol": 1e-9, "atol": 1e-10}
    torch.testing.assert_close(on_gpu.fit(*arguments).cpu(), on_cpu.fit(values, lengths), **close)
    torch.testing.assert_close(on_gpu.contexts(r.cuda(), *arguments).cpu(), on_cpu.contexts(r, values, lengths), **close)
    assert len(on_gpu._matrices) == kept


@pytest.mark.parametrize("kind", ["discrete", "continuous", "both"])
@pytest.mark.parametrize("components", [1, 2])
def test_a_graph_captures_attention_over_padded_sequences(kind, components):
    """After one call, which makes the matrices of all lengths; it is replayed with other lengths."""

    def make():
        basis = ft.GaussianBasis.linearly_spaced(8)
        options = {"learned_alpha": True, "components": components, "iterations": 3}
        return nn.ContinuousAttention(basis, kind, 1.5, **options).double()

    def step(module, values, scores, lengths):
        context = module(values, scores, lengths=lengths)[0]
        x = (values, scores) if kind == "discrete" else (values, scores, module.raw_alpha)
        return context.detach(), *torch.autograd.grad(context.square().sum(), x)

    module, twin = make().cuda(), make()
    arguments = [t.cuda() for t in padded_rows(1)]
    for t in arguments[:2]:
        t.requires_grad_()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step(module, *arguments)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step(module, *arguments)
    for seed in (1, 7, 9):
        rows = padded_rows(seed)
        with torch.no_grad():
            for ours, new in zip(arguments, rows):
                ours.copy_(new)
        graph.replay()
        expected = step(twin, rows[0].requires_grad_(), rows[1].requires_grad_(), rows[2])
        for ours, exact in zip(captured, expected):
            torch.testing.assert_close(ours.cpu(), exact, rtol=1e-7, atol=1e-9 * float(exact.abs().max()))


def test_draws_follow_the_seed_and_the_law():
    p = ft.BetaGaussian(torch.tensor([1.0, 1.5, 2.0], device=CUDA), torch.zeros(3, device=CUDA))
    torch.manual_seed(5)
    t = p.rsample((20000,))
    torch.manual_seed(5)
    assert t.is_cuda and torch.equal(t, p.rsample((20000,)))
    u = p.cdf(t).sort(0).values
    steps = torch.arange(1, 20001, device=CUDA)[:, None] / 20000
    assert (u - steps).abs().max() < 0.015


def test_a_model_is_trained_in_half_precision():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).cuda()
    x = torch.randn(256, 8, device=CUDA)
    y = x[:, :4].argmax(1)
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    losses = []
    for _ in range(60):
        with torch.autocast("cuda", torch.bfloat16):
            loss = ft.entmax_loss(model(x), y, 1.5)
        assert loss.dtype == torch.float32
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    assert losses[-1] < losses[0] / 4
