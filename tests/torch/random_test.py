"""Random arguments of every operation: any shape and stride, and every type. What is known without data is what comes
with data, strides change no bit, and what is no real number is an error."""

import math
import random

import pytest
import torch
from torch._prims_common import check_significant_strides
from torch._subclasses.fake_tensor import FakeTensorMode

import fenchel.torch  # noqa: F401  loads the operations

F64, I64 = torch.float64, torch.int64
TYPES = [F64, torch.float32, torch.bfloat16, torch.float16]
OTHERS = [torch.int32, torch.int64, torch.bool, torch.complex64, torch.float8_e5m2]
"""Whose tensors no argument may be, but for those of integers."""
DRAWS = 12
SCHEMAS = {
    s.name.removeprefix("fenchel::"): s
    for s in sorted(torch._C._jit_get_all_schemas(), key=lambda s: s.name)
    if s.name.startswith("fenchel::")
}


class Draw:
    """Random numbers, shapes and tensors, the same for the same seed."""

    def __init__(self, seed):
        self.random, self.generator = random.Random(seed), torch.Generator().manual_seed(seed)
        self.batch = tuple(self.random.choices([0, 1, 2, 3, 5], [1, 2, 4, 4, 4], k=self.random.randrange(4)))
        self.type = self.random.choice(TYPES)

    def one_of(self, *items):
        return self.random.choice(items)

    def normal(self, *shape, dtype=F64):
        return torch.randn(shape, generator=self.generator, dtype=F64).to(dtype)

    def positive(self, *shape, dtype=F64):
        return self.normal(*shape).abs().add(0.1).to(dtype)

    def integers(self, low, high, *shape):
        return torch.randint(low, high, shape, generator=self.generator)

    def halves(self, places, cols, dim=-1):
        """One half at the first column and one half at these: rows of mass one in every type."""
        columns = torch.arange(cols).reshape([cols if i == dim % places.dim() else 1 for i in range(places.dim())])
        return (columns.eq(0).double() + columns.eq(places)) / 2

    def covariances(self, *shape, dtype=F64):
        """Of the last dimension, for each of the others."""
        root = self.normal(*shape, shape[-1])
        return (root @ root.mT + torch.eye(shape[-1], dtype=F64)).to(dtype)


class Rows(Draw):
    """Rows along `dim`."""

    def __init__(self, seed):
        super().__init__(seed)
        self.cols = self.one_of(1, 2, 3, 8, 33)
        place = self.random.randint(0, len(self.batch))
        self.dim = place - len(self.batch) - 1
        self.along = lambda n: (*self.batch[:place], n, *self.batch[place:])
        self.height = self.one_of(*(n for n in (1, 2, 3, 11) if self.cols % n == 0))
        is_soft = self.one_of(False, True)
        shape, one = self.along(self.cols), self.along(1)
        p = torch.ops.fenchel.entmax(self.normal(*shape), None, 2.0, self.dim)
        other = self.one_of(self.type, *TYPES)  # an argument may be of another type than the first one
        self.made = {
            "scores": lambda: self.normal(*shape, dtype=self.type),
            "p": lambda: p.to(self.type),
            "residual": lambda: (p - p.roll(1, self.dim)).to(self.type),
            "weight": lambda: self.positive(*shape, dtype=self.type),
            "alphas": lambda: 1 + self.positive(*one),
            "gammas": lambda: self.positive(*one),
            "classes": lambda: None if is_soft else self.integers(0, self.cols, *one),
            "soft": lambda: self.halves(self.integers(0, self.cols, *one), self.cols, self.dim).to(other) if is_soft else None,
            "lengths": lambda: self.integers(1, self.cols + 1, *one),
            "weights": lambda: self.positive(*self.along(self.cols - 1)),
            "alpha": lambda: self.one_of(1.0, 1.5, 1.7, 2.0, math.inf),
            "gamma": lambda: self.one_of(0.0, 0.3, 2.0),
            "dim": lambda: self.dim,
            "height": lambda: self.height,
            "ignore_index": lambda: self.one_of(-100, 0),
            "grad_loss": lambda: self.normal(*one, dtype=other),
        }
        for name in ("grad_p", "d_scores", "d_weight", "weight_scores", "weight_weight"):
            self.made[name] = lambda: self.normal(*shape, dtype=other)
        for name in ("d_alphas", "d_gammas", "weight_alphas", "weight_gammas"):
            self.made[name] = lambda: self.normal(*one)


class ClassRows(Rows):
    """For an operation whose targets are classes, of the shape of the scores without `dim`."""

    def __init__(self, seed):
        super().__init__(seed)
        self.made["classes"] = lambda: self.integers(0, self.cols, *self.batch)


class Attention(Draw):
    def __init__(self, seed):
        super().__init__(seed)
        d, n = self.one_of(1, 2, 3), self.one_of(1, 5, 17)
        at, other = self.batch, self.one_of(self.type, *TYPES)
        self.made = {
            "mu": lambda: self.normal(*at, d, dtype=self.type),
            "scale": lambda: self.covariances(*at, d, dtype=self.type),
            "alphas": lambda: 1 + self.positive(*at),
            "means": lambda: self.normal(n, d),
            "covariances": lambda: self.covariances(n, d),
            "alpha": lambda: self.one_of(1.0, 1.5, 2.0),
            "grad_r": lambda: self.normal(*at, n, dtype=other),
        }
        for kind in ("d", "weight"):
            self.made |= {
                f"{kind}_mu": lambda: self.normal(*at, d, dtype=other),
                f"{kind}_scale": lambda: self.normal(*at, d, d, dtype=other),
                f"{kind}_alphas": lambda: self.normal(*at, dtype=other),
                f"{kind}_means": lambda: self.normal(n, d),
                f"{kind}_covariances": lambda: self.normal(n, d, d),
            }


class KeyAttention(Draw):
    def __init__(self, seed):
        super().__init__(seed)
        b, groups, share, n, m = (self.one_of(*sizes) for sizes in ((0, 1, 2), (1, 3), (1, 2), (0, 1, 5), (0, 1, 7, 30)))
        h, d, e, other = groups * share, self.one_of(1, 4, 9), self.one_of(1, 3), self.one_of(self.type, *TYPES)
        dropout, has_ranges = self.one_of(0.0, 0.3), self.one_of(False, True)
        over_scores = lambda: [self.one_of(1, size) for size in (b, h, n, m)]  # noqa: E731
        self.made = {
            "query": lambda: self.normal(b, h, n, d, dtype=self.type),
            "key": lambda: self.normal(b, groups, m, d, dtype=other),
            "value": lambda: self.normal(b, groups, m, e, dtype=other),
            "mask": lambda: self.normal(*over_scores()) > -1,
            "bias": lambda: self.normal(*over_scores(), dtype=other),
            "alphas": lambda: 1 + self.positive(h),
            "scales": lambda: self.normal(h),
            "seed": lambda: self.integers(0, 2**62, 1) if dropout > 0 else None,
            "ranges": lambda: self.integers(0, m + 1, b, n * 3).sort().values.reshape(b, n, 3).int() if has_ranges else None,
            "normalizers": lambda: self.normal(b, h, n, 2, dtype=F64 if self.type == F64 else torch.float32),
            "support": lambda: torch.empty(0, dtype=torch.int32),
            "grad_out": lambda: self.normal(b, h, n, e, dtype=other),
            "alpha": lambda: self.one_of(1.0, 1.5, 1.7, 2.0, math.inf),
            "scale": lambda: self.one_of(0.5, -2.0),
            "causal": lambda: not has_ranges and self.one_of(False, True),
            "dropout": lambda: dropout,
            "sinks": lambda: self.one_of(0, 2),
        }


class Cache(Draw):
    def __init__(self, seed):
        super().__init__(seed)
        b, groups, share, n, size = (self.one_of(*sizes) for sizes in ((0, 1, 2), (1, 3), (1, 2), (0, 1, 3), (1, 4, 9)))
        h, d, e, other = groups * share, self.one_of(1, 4, 9), self.one_of(1, 3), self.one_of(self.type, *TYPES)
        pages, each = self.one_of(1, 2, 5), self.one_of(1, 3)
        self.made = {
            "query": lambda: self.normal(b, h, n, d, dtype=self.type),
            "key": lambda: self.normal(pages, groups, size, d, dtype=other),
            "value": lambda: self.normal(pages, groups, size, e, dtype=other),
            "pages": lambda: self.integers(0, pages, b, each).int(),
            "lengths": lambda: self.integers(0, size * each + 1, b),
            "bias": lambda: self.normal(*[self.one_of(1, k) for k in (b, h, n, size * each + 1)], dtype=other),
            "bounds": lambda: self.normal(pages, groups, 2, d, dtype=other),
            "alphas": lambda: 1 + self.positive(h),
            "scales": lambda: self.normal(h),
            "alpha": lambda: self.one_of(1.0, 1.5, 1.7, 2.0, math.inf),
            "scale": lambda: self.one_of(0.5, -2.0),
            "window": lambda: self.one_of(0, 3, 2**63 - 1),
            "sinks": lambda: self.one_of(0, 2),
        }


class LineAttention(Draw):
    def __init__(self, seed):
        super().__init__(seed)
        self.made = {
            "mu": lambda: self.normal(*self.batch),
            "sigma2": lambda: self.positive(*self.batch),
            "alphas": lambda: 1 + self.positive(*self.batch),
            "basis": lambda: self.one_of("polynomial", "fourier"),
            "count": lambda: self.one_of(1, 4),
            "offset": lambda: 0.3,
            "unit": lambda: 2.0,
        }


class Matching(Draw):
    def __init__(self, seed):
        super().__init__(seed)
        length, d, at = self.one_of(1, 2, 9), self.one_of(1, 2, 3), self.batch
        points = self.one_of(None, self.normal(length, d))
        d = 1 if points is None else d
        other, lengths = self.one_of(self.type, *TYPES), self.integers(1, length + 1, *at)
        self.made = {
            "weights": lambda: self.halves(lengths[..., None] - 1, length).to(self.type),
            "alphas": lambda: 1 + self.positive(*at),
            "points": lambda: points,
            "lengths": lambda: lengths,
            "alpha": lambda: self.one_of(1.0, 1.5, 2.0),
            "floor": lambda: self.one_of(None, 0.01),
            "grad_density": lambda: self.normal(*at, d + d * d, dtype=other),
        }
        for kind in ("d", "weight"):
            self.made[f"{kind}_weights"] = lambda: self.normal(*at, length, dtype=other)
            self.made[f"{kind}_alphas"] = lambda: self.normal(*at, dtype=other)


class BetaGaussians(Draw):
    def __init__(self, seed):
        super().__init__(seed)
        at_numbers = {"log_density": self.positive, "cross_omega": self.positive, "cdf": self.normal}
        function = self.one_of(*at_numbers, "entropy", "tsallis_entropy", "log_variance", "log_radius2", "log_draw")
        seeds = lambda *shape: self.integers(0, 2**53, *shape).double()  # noqa: E731
        argument = (at_numbers | {"log_draw": seeds}).get(function, lambda *shape: None)
        self.made = {
            "argument": lambda: argument(*self.batch),
            "log_det": lambda: self.normal(*self.batch),
            "alphas": lambda: 1 + self.positive(*self.batch),
            "function": lambda: function,
            "dimension": lambda: 1 if function == "cdf" else self.one_of(1, 2, 3),
            "seeds": lambda: seeds(*self.batch),
        }


class Line(Draw):
    def __init__(self, seed):
        super().__init__(seed)
        at_a_number = self.one_of(False, True)
        functions = ("log_pdf", "cdf", "cross_omega") if at_a_number else ("half_width", "variance", "entropy")
        self.made = {
            "x": lambda: self.normal(*self.batch) if at_a_number else None,
            "family": lambda: self.one_of("beta_laplace", "truncated_gaussian", "capped_triangular", "smooth_parabola"),
            "function": lambda: self.one_of(*functions),
        }
        for name in ("mu", "target_mu"):
            self.made[name] = lambda: self.normal(*self.batch)
        for name in ("shape", "scale", "target_shape", "target_scale"):
            self.made[name] = lambda: 1 + self.positive(*self.batch)


class Counts(Draw):
    def __init__(self, seed):
        super().__init__(seed)
        length = self.one_of(1, 2, 9)
        self.made = {
            "mu": lambda: 3 * self.positive(*self.batch, 1),
            "alphas": lambda: 1 + self.positive(*self.batch, 1),
            "at": lambda: self.integers(0, 7, *self.batch, length).double(),
            "alpha": lambda: self.one_of(1.0, 1.5, 2.0),
            "statistic": lambda: self.random.randrange(9),
            "order": lambda: self.one_of(1.0, 1.5),
        }


KINDS = {
    "entmax_mean_loss": ClassRows,
    "attend_line": LineAttention,
    "cached_attention": Cache,
    "attend": Attention,
    "dot_product_attention": KeyAttention,
    "match_weights": Matching,
    "beta_gaussian": BetaGaussians,
    "line": Line,
    "sparse_poisson": Counts,
}
"""By how the name of an operation begins. All others are of rows."""
ALWAYS = {"classes", "soft", "points", "argument", "x", "floor", "seed", "ranges"}
"""What may be absent, and where another argument says whether it is."""


FIXED = {"soft", "weights", "lengths", "scale"}
"""What must keep its numbers: rows of mass one up to their lengths, and a matrix that is positive definite."""


def kind_of(name):
    return next((kind for prefix, kind in KINDS.items() if name.startswith(prefix)), Rows)


def arguments(name, seed):
    """Of the operation: its tensors are contiguous."""
    draw, given = kind_of(name)(seed), []
    for a in SCHEMAS[name].arguments:
        if isinstance(a.type, torch.BoolType) and a.name not in draw.made:
            given.append(draw.one_of(False, True))
        elif isinstance(a.type, torch.OptionalType) and a.name not in ALWAYS and draw.one_of(False, True):
            given.append(None)
        else:
            given.append(draw.made[a.name]())
    return draw, given


def elsewhere(x, draw):
    """The same numbers with other strides."""
    if x.dim() == 0:
        return torch.cat([x[None], x[None]])[1]
    order = list(range(x.dim()))
    draw.random.shuffle(order)
    steps, skipped = [draw.one_of(1, 1, 2, 3) for _ in order], [draw.one_of(0, 1, 4) for _ in order]
    sizes = [skipped[i] + steps[i] * x.shape[i] for i in order]
    room = torch.full(sizes, 7).to(x.dtype)
    view = room[tuple(slice(skipped[i], None, steps[i]) for i in order)]
    view = view[tuple(slice(x.shape[i]) for i in order)].permute([order.index(i) for i in range(x.dim())])
    return view.copy_(x)


def moved(name, args, draw):
    """Pairs of the same tensors, contiguous and not. Some are one element, repeated along the first dimension."""
    contiguous, strided = [], []
    for argument, x in zip(SCHEMAS[name].arguments, args):
        if isinstance(x, torch.Tensor):
            fixed = argument.name in FIXED or x.dim() == 0 or len(x) == 0
            x = x[:1].expand(x.shape) if not fixed and draw.one_of(False, False, True) else elsewhere(x, draw)
            contiguous.append(x.clone(memory_format=torch.contiguous_format))
        else:
            contiguous.append(x)
        strided.append(x)
    return contiguous, strided


def results(name, args):
    y = getattr(torch.ops.fenchel, name)(*args)
    return y if isinstance(y, tuple) else (y,)


def bits(x):
    return x.contiguous().view({8: torch.int64, 4: torch.int32, 2: torch.int16}[x.element_size()])


def in_place(convert, args):
    return [convert(x) if isinstance(x, torch.Tensor) else x for x in args]


def without_data(x):
    return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")


def assert_known_without_data(fakes, reals, device):
    assert len(fakes) == len(reals)
    for fake, real in zip(fakes, reals):
        assert (fake.shape, fake.dtype, fake.device.type) == (real.shape, real.dtype, device)
        same, where = check_significant_strides(fake, real, only_cuda=False)
        assert same, (where, fake.stride(), real.stride())


@pytest.mark.parametrize("name", SCHEMAS)
def test_strides_change_no_bit_and_shapes_need_no_data(name):
    for seed in range(DRAWS):
        draw, args = arguments(name, seed)
        contiguous, strided = moved(name, args, draw)
        expected, found = results(name, contiguous), results(name, strided)
        for x, y in zip(expected, found):
            assert x.shape == y.shape and torch.equal(bits(x), bits(y)), seed
        assert_known_without_data(results(name, in_place(without_data, strided)), found, "meta")
        if seed % 6 == 0:
            with FakeTensorMode() as mode:
                assert_known_without_data(results(name, in_place(mode.from_tensor, strided)), found, "cpu")


@pytest.mark.parametrize("name", SCHEMAS)
def test_other_types_are_errors(name):
    for seed in range(DRAWS):
        draw, args = arguments(name, seed)
        places = [i for i, x in enumerate(args) if isinstance(x, torch.Tensor)]
        for i in places:
            wrong = list(args)
            wrong[i] = args[i].to(draw.one_of(*(t for t in OTHERS if t != args[i].dtype)))
            with pytest.raises(ValueError, match="fenchel: .* must be .*, got "):
                results(name, wrong)
