"""What FENCHEL_CUDA and the machine make of cmake/cuda.cmake: whether CUDA is built, and for which GPUs."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

CUDA = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "cuda.cmake"
PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(option LANGUAGES CXX)
include({CUDA})
message(STATUS "result: ${{FENCHEL_CUDA}} ${{CMAKE_CUDA_ARCHITECTURES}}")
"""
NO_NVCC = "-DCMAKE_CUDA_COMPILER=NOTFOUND"
needs_nvcc = unittest.skipUnless(shutil.which(os.environ.get("CUDACXX") or "nvcc"), "there is no nvcc here")


class Option(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "CMakeLists.txt").write_text(PROJECT)

    def configure(self, *options, gpus=(), **environment):
        """The exit status of cmake and what it said, on a machine with GPUs of these compute capabilities."""
        smi = self.folder / "nvidia-smi"
        smi.write_text("#!/bin/sh\n" + "".join(f"echo {gpu}\n" for gpu in gpus) if gpus else
                       "#!/bin/sh\necho 'NVIDIA-SMI 580.95 has failed'\nexit 9\n")
        smi.chmod(0o755)
        here = {name: value for name, value in os.environ.items() if name != "CUDAARCHS"}
        done = subprocess.run(["cmake", "-G", "Ninja", "-S", self.folder, "-B", self.folder / "build", *options],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=here | environment | {"PATH": f"{self.folder}:{here['PATH']}"})
        return done.returncode, " ".join(done.stdout.split())

    def assert_built(self, architectures, *options, **machine):
        status, output = self.configure(*options, **machine)
        self.assertEqual(status, 0, output)
        self.assertIn(f"fenchel: building fenchel::cuda for {architectures} ", output)
        self.assertIn(f"result: ON {architectures} ", output)

    def assert_left_out(self, line, *options, **machine):
        status, output = self.configure(*options, **machine)
        self.assertEqual(status, 0, output)
        self.assertIn("result: OFF", output)
        self.assertIn(line, output)
        self.assertNotIn("CUDA compiler identification", output)

    def assert_refused(self, message, *options, **machine):
        status, output = self.configure(*options, **machine)
        self.assertNotEqual(status, 0)
        self.assertIn(message, output)

    def test_auto_without_a_gpu_says_why_and_what_to_set(self):
        self.assert_left_out("fenchel: building without fenchel::cuda, since no GPU is here; FENCHEL_CUDA=ON or "
                             "CMAKE_CUDA_ARCHITECTURES=90 builds it all the same")

    def test_auto_does_not_count_gpus_before_ampere(self):
        self.assert_left_out("since no GPU is here", gpus=["7.5", "6.1"])

    def test_auto_without_nvcc_says_so(self):
        line = "fenchel: building without fenchel::cuda, since there is no CUDA compiler"
        self.assert_left_out(line, NO_NVCC, gpus=["9.0"])
        self.assert_left_out(line, NO_NVCC, "-DCMAKE_CUDA_ARCHITECTURES=90-virtual")

    def test_off_leaves_it_out_whatever_is_here(self):
        self.assert_left_out("result: OFF", "-DFENCHEL_CUDA=OFF", "-DCMAKE_CUDA_ARCHITECTURES=90", gpus=["9.0"])

    def test_on_without_nvcc_is_an_error(self):
        self.assert_refused("FENCHEL_CUDA is ON, but there is no CUDA compiler", "-DFENCHEL_CUDA=ON", NO_NVCC)

    def test_another_word_is_an_error(self):
        self.assert_refused("FENCHEL_CUDA must be AUTO, ON or OFF, got maybe", "-DFENCHEL_CUDA=maybe")

    @needs_nvcc
    def test_auto_is_for_the_gpus_here_and_on_for_everybody_unless_one_is_named(self):
        self.assert_built("90a-real;120-real", gpus=["9.0", "9.0", "7.5", "12.0"])
        self.assert_built("80-real;90a-real;100", "-DFENCHEL_CUDA=ON", gpus=["9.0"])
        self.assert_built("90-virtual", "-DFENCHEL_CUDA=auto", "-DCMAKE_CUDA_ARCHITECTURES=90-virtual")

    @needs_nvcc
    def test_the_environment_may_name_it(self):
        self.assert_built("89", CUDAARCHS="89")


if __name__ == "__main__":
    unittest.main()
