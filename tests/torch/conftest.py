"""Which devices the laws are tested on: `-m "not gpu"` the CPU, `-m gpu` a GPU."""

import pytest
import torch

WITHOUT_GPU = 77


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs a GPU")
    if config.option.markexpr == "gpu" and not torch.cuda.is_available():
        reason = "sees no GPU" if torch.version.cuda else "is built without CUDA"
        pytest.exit(f"torch.gpu: torch {torch.__version__} {reason}, so nothing is tested on one", WITHOUT_GPU)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("gpu") and not torch.cuda.is_available():
            item.add_marker(pytest.mark.skip(reason="no GPU"))


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request):
    return torch.device(request.param)
