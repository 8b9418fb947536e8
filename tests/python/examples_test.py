"""The examples in Python, run as users run them, against the fit of one process."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import fenchel

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"
MPI = {
    "OMP_NUM_THREADS": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def run(*command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120, env={**os.environ, **MPI})
    assert done.returncode == 0, done.stderr
    return done.stdout


def parameters(printed):
    """Those of the distribution in the first line of a fit."""
    first = printed.splitlines()[0]
    assert first.startswith("Fit of BetaGaussian(")
    return [float(number) for number in re.findall(r"=([^,)]+)", first)]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "x.npy"
    np.save(path, fenchel.BetaGaussian(1.5, mu=3, sigma2=2).rvs(50_001, random_state=1))
    return path


def mpirun():
    pytest.importorskip("mpi4py")
    if not shutil.which("mpirun"):
        pytest.skip("there is no mpirun")
    return ["mpirun", "-n", "2", sys.executable, "-m", "mpi4py", EXAMPLES / "mpi_fit.py"]


def dask(*options):
    pytest.importorskip("dask.array")
    return [sys.executable, EXAMPLES / "dask_fit.py", *options]


@pytest.mark.parametrize(
    "command, alpha",
    [(lambda: dask(), 2), (lambda: dask("--block", "1000"), None), (mpirun, None)],
    ids=["dask, one block", "dask, a tree of blocks", "mpi4py, two processes"],
)
def test_the_fit_of_one_process(command, alpha, file):
    printed = run(*command(), file, *(["--alpha", alpha] if alpha else []))
    alone = fenchel.fit(fenchel.BetaGaussian, np.load(file), alpha=alpha)
    np.testing.assert_allclose(parameters(printed), parameters(repr(alone)), rtol=1e-12)
    assert "weight 50001" in printed


@pytest.mark.parametrize("name, module", [("dask_fit", "dask.array"), ("mpi_fit", "mpi4py")])
def test_help_and_errors(name, module, tmp_path):
    pytest.importorskip(module)
    if module == "mpi4py" and not shutil.which("mpirun"):
        pytest.skip("there is no MPI")
    assert "usage:" in run(sys.executable, EXAMPLES / f"{name}.py", "--help")
    np.save(tmp_path / "bad.npy", [1.0, np.nan])
    command = [sys.executable, EXAMPLES / f"{name}.py", tmp_path / "bad.npy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0 and "row 1, column 0: value must be finite, got nan" in done.stderr
    command = [sys.executable, EXAMPLES / f"{name}.py", tmp_path / "missing.npy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "file must be an .npy file of numbers: " in done.stderr
    assert "Traceback" not in done.stderr


def test_help_of_the_gallery(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    assert "usage:" in run(sys.executable, EXAMPLES / "gallery.py", "--help")
    assert list(tmp_path.iterdir()) == []
