"""The C++ header for libtorch: its test, the program of docs/cpp.md and the example, in a project that finds an
installed fenchel as people do."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import torch

import fenchel.torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from blocks import split  # noqa: E402

if torch.version.cuda and not shutil.which("nvcc"):
    pytest.skip("the CMake package of a torch for CUDA wants the CUDA toolkit", allow_module_level=True)


def run(*command):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


def documented():
    """The program of docs/cpp.md, and what it is said to print."""
    blocks, _ = split((ROOT / "docs" / "cpp.md").read_text())
    ((program, printed),) = [(b, after) for b, after in zip(blocks, blocks[1:]) if b.language == "cc"]
    return program.text, printed.text


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The folder of the built programs. What is installed has been built before: the operations are those of the
    wheel, and the static library, of which these programs need nothing, is empty."""
    folder = tmp_path_factory.mktemp("cpp")
    library, consumer = folder / "fenchel", folder / "consumer"
    parts = ("BUILD_TESTS", "BUILD_BENCHMARKS", "BUILD_EXAMPLES", "BUILD_CLI", "MPI", "CUDA")
    off = [f"-DFENCHEL_{part}=OFF" for part in parts]
    python = f"-DPython_EXECUTABLE={sys.executable}"
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", library, "-DFENCHEL_TORCH=ON", python, *off)
    (library / "src" / "libfenchel.a").write_bytes(b"!<arch>\n")
    operations = pathlib.Path(fenchel.torch.__file__).with_name("libfenchel_torch_ops.so")
    shutil.copy(operations, library / "frontends" / "torch")
    run("cmake", "--install", library, "--prefix", folder / "staged")
    prefix = (folder / "staged").rename(folder / "prefix")
    shutil.rmtree(library)

    program = documented()[0].replace("int main()", "void documented_program()")
    (folder / "documented.cpp").write_text(program)
    run("cmake", "-G", "Ninja", "-S", ROOT / "tests" / "torch" / "cpp", "-B", consumer,
        f"-DCMAKE_PREFIX_PATH={prefix};{torch.utils.cmake_prefix_path}",
        f"-Ddocumented_program={folder / 'documented.cpp'}", f"-Dexample={ROOT / 'examples' / 'torch' / 'bursts.cpp'}")
    run("cmake", "--build", consumer, "--parallel", "2")
    return consumer


def test_the_header_and_the_documented_program(programs):
    assert run(programs / "header_test") == documented()[1]


def test_the_example_learns_and_says_what_it_found(programs):
    lines = run(programs / "bursts").splitlines()
    losses = [float(line.split()[-1]) for line in lines if line.startswith("epoch")]
    assert losses[-1] < losses[0] / 4
    assert re.fullmatch(r"accuracy on \d+ new signals: (0\.9\d+|1\.000)", lines[-1])
