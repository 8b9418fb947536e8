"""Processes, threads, files and the shared object itself."""

import io
import pathlib
import runpy
import shutil
import subprocess
import sys

import pytest
import torch
import torch.distributed as dist
from torch import nn

import fenchel.torch as ft

LIBRARY = pathlib.Path(ft.__file__).with_name("libfenchel_torch_ops.so")
CUDA_LIBRARY = LIBRARY.with_stem("libfenchel_torch_ops_cuda")


@pytest.mark.skipif(shutil.which("nm") is None, reason="nm lists the symbols")
@pytest.mark.parametrize("library", [LIBRARY, CUDA_LIBRARY], ids=["cpu", "cuda"])
def test_the_shared_object_needs_no_symbol_of_torch_in_cpp(library):
    if not library.exists():
        pytest.skip("built without CUDA")
    listed = subprocess.run(["nm", "-DC", "--undefined-only", library], capture_output=True, text=True, check=True)
    symbols = [line.split(maxsplit=1)[-1] for line in listed.stdout.splitlines()]
    assert any(s.startswith("aoti_torch_") for s in symbols)
    of_torch = [s for s in symbols if any(name in s for name in ("at::", "c10::", "torch::", "caffe2::", "Py"))]
    assert of_torch == []


def test_a_missing_library_is_named(tmp_path):
    shutil.copy(pathlib.Path(ft.__file__).with_name("_library.py"), tmp_path)
    with pytest.raises(ImportError, match=r"fenchel was built without torch.* install fenchel again"):
        runpy.run_path(str(tmp_path / "_library.py"))


def test_a_tensor_on_a_gpu_without_a_kernel_is_told_what_to_do():
    """Here the kernel for a GPU is called with a tensor of the CPU, whatever torch this is."""
    x = torch.ones(2, 1, dtype=torch.float64)
    on_gpu = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)
    with pytest.raises(NotImplementedError, match=r"sparse_poisson .*: .*move its tensors to the CPU, with x.cpu\(\)"):
        torch.ops.fenchel.sparse_poisson.default.redispatch(on_gpu, x, None, x, 2.0, 0, 1.0)
    with pytest.raises(NotImplementedError, match=r"smooth_sparsemax .*: .*move its tensors to the CPU, with x.cpu\(\)"):
        torch.ops.fenchel.smooth_sparsemax.default.redispatch(on_gpu, x, None, None, None, 1.0, -1)
    if not CUDA_LIBRARY.exists():
        with pytest.raises(NotImplementedError, match="entmax was built without CUDA: .* install fenchel again"):
            torch.ops.fenchel.entmax.default.redispatch(on_gpu, x, None, 1.5, -1)


THREADS = """
import pathlib, torch, fenchel.torch as ft
tasks = pathlib.Path("/proc/self/task")
x, before = torch.randn(512, 512), len(list(tasks.iterdir()))
for threads in 1, 3:
    torch.set_num_threads(threads)
    ft.entmax(x, 1.3)
    print(len(list(tasks.iterdir())) - before)
"""


@pytest.mark.skipif(not pathlib.Path("/proc/self/task").exists(), reason="threads are counted in /proc")
def test_threads_are_as_many_as_torch_says():
    assert subprocess.check_output([sys.executable, "-c", THREADS], timeout=300).split() == [b"0", b"2"]


def results(x):
    x = x.clone().requires_grad_()
    w = torch.linspace(-1, 1, x.shape[-1])
    p = ft.entmax(x, 1.3)
    (gradient,) = torch.autograd.grad((p * w).sum() + ft.fusedmax(x, 0.1).square().sum(), x)
    loss = ft.entmax_loss(x, torch.arange(x.shape[0]) % x.shape[1], 1.5, reduction="none")
    counts = ft.SparsePoisson(log_mu=x.detach()[:, 0].abs(), alpha=1.5).entropy()
    return [p.detach(), gradient, loss.detach(), counts]


def test_threads_do_not_change_a_bit():
    x = torch.randn(200, 100, generator=torch.Generator().manual_seed(1))
    threads = torch.get_num_threads()
    torch.use_deterministic_algorithms(True)
    try:
        torch.set_num_threads(1)
        alone = results(x)
        torch.set_num_threads(3)
        together = results(x)
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(False)
    assert all(torch.equal(a, b) for a, b in zip(alone, together))


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return ft.entmax(torch.randn(300, 300, generator=torch.Generator().manual_seed(i)), 1.3)


def test_workers_that_fork_after_threads_were_used():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        expected = [Rows()[i] for i in range(4)]
        loader = torch.utils.data.DataLoader(
            Rows(), batch_size=None, num_workers=2, multiprocessing_context="fork", timeout=100
        )
        assert all(torch.equal(a, b) for a, b in zip(loader, expected))
    finally:
        torch.set_num_threads(threads)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.scores = nn.Linear(6, 5)
        self.alpha = nn.Parameter(torch.tensor(1.4))
        self.classes = nn.Linear(5, 3)

    def forward(self, x):
        return self.classes(ft.entmax(self.scores(x), self.alpha))


def batch():
    generator = torch.Generator().manual_seed(3)
    return torch.randn(8, 6, generator=generator), torch.randint(3, (8,), generator=generator)


def gradients(model, part):
    x, y = batch()
    ft.entmax_loss(model(x[part]), y[part]).backward()
    return [p.grad for p in model.parameters()]


def train_half(rank, file):
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    model = nn.parallel.DistributedDataParallel(Model())
    found = gradients(model, slice(4 * rank, 4 * rank + 4))
    torch.save(found, f"{file}.{rank}")
    dist.destroy_process_group()


@pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="torch without gloo")
def test_two_processes_have_the_gradient_of_one(tmp_path):
    file = tmp_path / "meeting"
    torch.multiprocessing.spawn(train_half, (str(file),), nprocs=2)
    expected = gradients(Model(), slice(None))
    for rank in range(2):
        for ours, theirs in zip(torch.load(f"{file}.{rank}"), expected, strict=True):
            torch.testing.assert_close(ours, theirs)


def test_a_model_and_a_distribution_can_be_saved():
    x, _ = batch()
    model, file = Model(), io.BytesIO()
    p = ft.SparsePoisson(log_mu=torch.tensor([0.5, 1.0]), alpha=1.5)
    torch.save((model, p), file)
    file.seek(0)
    again, q = torch.load(file, weights_only=False)
    assert torch.equal(again(x), model(x)) and torch.equal(q.mean, p.mean)
    other = Model()
    nn.init.zeros_(other.scores.weight)
    other.load_state_dict(model.state_dict())
    assert torch.equal(other(x), model(x))
