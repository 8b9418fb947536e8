"""The C++ headers for libtorch: their test, the program of docs/cpp.md, the example and the audio experiment, in a
project that finds an installed fenchel as people do."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import torch

import fenchel.torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT)]
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
        f"-Ddocumented_program={folder / 'documented.cpp'}", f"-Dexample={ROOT / 'examples' / 'torch' / 'bursts.cpp'}",
        f"-Daudio={ROOT / 'experiments' / 'cpp'}")
    run("cmake", "--build", consumer, "--parallel", "2")
    return consumer


def test_the_header_and_the_documented_program(programs):
    assert run(programs / "header_test") == documented()[1]


def test_the_example_learns_and_says_what_it_found(programs):
    lines = run(programs / "bursts").splitlines()
    losses = [float(line.split()[-1]) for line in lines if line.startswith("epoch")]
    assert losses[-1] < losses[0] / 4
    assert re.fullmatch(r"accuracy on \d+ new signals: (0\.9\d+|1\.000)", lines[-1])


def test_the_audio_model_learns_as_the_one_in_python_does(programs, tmp_path, monkeypatch):
    pytest.importorskip("soundfile")
    from experiments import training
    from experiments.audio import data, experiment, made_up
    from experiments.audio.model import Pooling

    losses, steps = [], 5

    class Recorded(training.Trainer):
        def steps(self):
            for done in super().steps():
                losses.append(self.loss.item())
                yield done
                if done == steps:
                    return

    monkeypatch.setattr(training, "Trainer", Recorded)
    made_up.write_folder(tmp_path)
    clips = data.prepared(data.read_mel(tmp_path), "clip")
    protocol = experiment.Protocol(clips, folds=[2], seeds=[3], settings=experiment.Settings())
    (run_in_python,) = experiment.measure(experiment.train(protocol, Pooling("both", 1.5)), protocol)

    options = ("--data", tmp_path, "--fold", 2, "--seed", 3, "--alpha", 1.5)
    *lines, last = run(programs / "audio" / "audio", *options, "--steps", steps).splitlines()
    assert [line.partition(": loss ")[0] for line in lines] == [f"step {i}" for i in range(1, steps + 1)]
    assert [float(line.split()[-1]) for line in lines] == pytest.approx(losses, rel=1e-4)
    assert last == f"accuracy {run_in_python['values']['accuracy']:.3f} of 16 clips"

    # One seed more: other parameters, and another order.
    other = run(programs / "audio" / "audio", *options, "--seed", 4, "--steps", 1).splitlines()
    assert float(other[0].split()[-1]) != pytest.approx(losses[0], rel=1e-4)

    *epochs, last = run(programs / "audio" / "audio", *options, "--epochs", 4).splitlines()
    assert [re.fullmatch(r"epoch (\d) of 4: loss \d\.\d{4}, \d:\d\d left", line)[1] for line in epochs] == list("1234")
    assert re.fullmatch(r"accuracy (0\.\d{3}|1\.000) of 16 clips", last)
