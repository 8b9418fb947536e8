"""A cache in the memory of a GPU: kernels that read its pages, random problems, and what other calls do instead."""

import random

import pytest
import torch
from key_attention import HALF, whole_matrix

import fenchel.torch as ft
from fenchel.torch import _cache as module

pytestmark = pytest.mark.gpu
PROBLEMS = 400


def by_hand(cache, query, bias=None, scale=None, alpha=1.5, window=None, sinks=0):
    """From the rows of keys, in float64, one sequence after the other."""
    outputs = []
    for b, length in enumerate(cache.lengths.tolist()):
        if length == 0:
            outputs.append(query.new_zeros(*query.shape[1:3], cache.value.shape[3], dtype=torch.float64))
            continue
        pages = cache.table[b].long().cuda()
        key, value = (x[pages].transpose(0, 1).flatten(1, 2)[None, :, :length].double() for x in (cache.key, cache.value))
        place = length - query.shape[2] + torch.arange(query.shape[2], device="cuda")[:, None]
        token = torch.arange(length, device="cuda")
        seen = token <= place
        if window is not None:
            seen &= (token >= place - window) | (token < sinks)
        added = torch.zeros(1, query.shape[1], query.shape[2], length, dtype=torch.float64, device="cuda")
        if bias is not None:
            added += bias[..., :length].double()
        added = added.masked_fill(~seen, -torch.inf)
        share = query.shape[1] // key.shape[1]
        value = value.repeat_interleave(share, 1)
        outputs.append(
            whole_matrix(query[b : b + 1].double(), key, value, added, scale=scale, alpha=alpha, enable_gqa=True)[0]
        )
    return torch.stack(outputs)


def problem(seed):
    """A cache that came to its tokens by appending, selecting and clearing; queries and options."""
    pick, generator = random.Random(seed), torch.Generator("cuda").manual_seed(seed)
    dtype = HALF[seed % 2]

    def normal(*shape):
        return torch.randn(shape, generator=generator, device="cuda").to(dtype)

    batch, groups, share = pick.choice([1, 2, 3]), pick.choice([1, 2]), pick.choice([1, 1, 3, 8])
    columns, value_columns = (8 * pick.randint(1, 32) for _ in range(2))
    size = pick.choice([None, 1, 4, 16, 48, 64])
    bounds = size is not None and size % 16 == 0 and pick.random() < 0.7
    cache = ft.KeyValueCache(batch, groups, 2000, columns, value_columns, page_size=size, bounds=bounds, dtype=dtype,
                             device="cuda")  # fmt: skip
    for _ in range(pick.randint(1, 4)):
        length = pick.choice([1, 3, 40, 300])
        key = normal(batch, groups, length, columns) + pick.choice([0, 2]) * normal(batch, groups, 1, columns)
        counts = torch.tensor([pick.randint(0, length) for _ in range(batch)]) if pick.random() < 0.5 else None
        cache.append(key, normal(batch, groups, length, value_columns), counts)
        if pick.random() < 0.3:
            cache.select(torch.tensor([pick.randrange(batch) for _ in range(batch)]))
    queries = pick.choice([1, 1, 1, 2, 5])
    options = {"alpha": pick.choice([1.0, 1.1, 1.25, 4 / 3, 1.5, 1.5, 1.8, 2.0])}
    heads = groups * share
    if pick.random() < 0.2:
        options["alpha"] = 1 + torch.rand(heads, generator=generator, device="cuda", dtype=torch.float64)
    if pick.random() < 0.3:
        options["scale"] = pick.choice([0.05, -0.1, torch.randn(heads, generator=generator, device="cuda") / 10])
    if pick.random() < 0.3:
        options |= {"window": pick.choice([0, 7, 200]), "sinks": pick.choice([0, 4, 100])}
    if pick.random() < 0.3:
        options["bias"] = normal(heads, 1, 2000)
    return cache, pick.choice([0.1, 1.0, 3.0]) * normal(batch, heads, queries, columns), options


@pytest.mark.parametrize("part", range(4))
def test_errors_of_random_problems_are_a_rounding(part):
    for seed in range(part, PROBLEMS, 4):
        cache, query, options = problem(seed)
        assert cache._has_kernel(query, options["alpha"]) == (query.shape[1] // cache.key.shape[1] * query.shape[2] <= 64)
        found, exact = cache.attend(query, **options), by_hand(cache, query, **options)
        error = (found.double() - exact).norm() / exact.norm().clamp(min=1e-2)
        assert error < torch.finfo(query.dtype).eps, (seed, error)
        assert torch.equal(found, cache.attend(query, **options)), seed


@pytest.mark.parametrize("dtype", HALF)
def test_pages_are_not_copied(dtype):
    cache = ft.KeyValueCache(1, 4, 2**16, 128, dtype=dtype, device="cuda")
    x = torch.randn(1, 4, 2**16, 128, dtype=dtype, device="cuda")
    cache.append(x, x)
    query = torch.randn(1, 4, 1, 128, dtype=dtype, device="cuda")
    cache.attend(query)
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    cache.attend(query)
    assert torch.cuda.max_memory_allocated() - before < cache.key.nbytes / 20


def test_what_kernels_do_not_take_is_computed_from_rows():
    for columns, dtype, alpha in ((12, torch.float16, 1.5), (64, torch.float32, 1.5), (64, torch.float16, float("inf"))):
        cache = ft.KeyValueCache(2, 2, 64, columns, dtype=dtype, device="cuda")
        key = torch.randn(2, 2, 40, columns, device="cuda", dtype=dtype)
        cache.append(key, key)
        query = torch.randn(2, 4, 1, columns, device="cuda", dtype=dtype)
        assert not cache._has_kernel(query, alpha)
        if alpha < float("inf"):
            exact = by_hand(cache, query, alpha=alpha)
            assert (cache.attend(query, alpha=alpha).double() - exact).norm() < torch.finfo(dtype).eps * 4 * exact.norm()
    cache = ft.KeyValueCache(1, 1, 64, 16, dtype=torch.bfloat16, device="cuda")
    cache.append(*torch.randn(2, 1, 1, 40, 16, device="cuda", dtype=torch.bfloat16).unbind(0))
    many = torch.randn(1, 5, 40, 16, device="cuda", dtype=torch.bfloat16)
    assert not cache._has_kernel(many, 1.5) and module.MOST_SHARING < 5 * 40
    exact = by_hand(cache, many)
    assert (cache.attend(many).double() - exact).norm() < 2e-3 * exact.norm()


def test_shapes_are_known_without_data():
    with torch._subclasses.fake_tensor.FakeTensorMode():
        cache = ft.KeyValueCache(2, 2, 64, 16, 24, dtype=torch.bfloat16, device="cuda")
        cache.lengths = cache.lengths + 40
        assert cache.attend(torch.empty(2, 4, 1, 16, dtype=torch.bfloat16, device="cuda")).shape == (2, 4, 1, 24)


def test_bad_arguments_are_errors():
    cache = ft.KeyValueCache(1, 1, 64, 16, dtype=torch.bfloat16, device="cuda")
    cache.append(*torch.randn(2, 1, 1, 40, 16, device="cuda", dtype=torch.bfloat16).unbind(0))
    query = torch.randn(1, 1, 1, 16, device="cuda", dtype=torch.bfloat16)
    with pytest.raises(ValueError, match="tensors must be on one device, got cuda:0 and cpu"):
        cache.attend(query, bias=torch.zeros(1, 1, 1, 40, dtype=torch.bfloat16))
    with pytest.raises(ValueError, match="alpha must be at least 1, got 0.5"):
        cache.attend(query, alpha=0.5)
