"""fenchel sample: draws that follow their distribution, and that a seed decides."""
import array
import contextlib
import math
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from harness import FENCHEL, CommandLine

FAMILIES = [
    ["gaussian", "--mu", "2", "--sigma2", "4"], ["student", "--alpha", "0.8"], ["triweight"], ["biweight"],
    ["parabola", "--sigma2", "3"], ["beta-gaussian", "--alpha", "inf"], ["laplace", "--b", "2"], ["triangular"],
    ["truncated-gaussian"], ["capped-triangular"], ["capped-parabola", "--mu", "-3"], ["smooth-triangular"],
    ["smooth-parabola"], ["sparse-poisson", "--mu", "7"], ["sparse-integer-gaussian", "--sigma2", "30"],
    ["location-scale", "--score", "cosh(t)"], ["score", "--score", "3*cos(3*t)", "--interval", "-3,3"],
]
NORMAL = ["multivariate-beta-gaussian", "--alpha", "2", "--mu", "1,-1", "--Sigma", "1,0.5,0.5,2"]
PLANE = ["score", "--score", "2*cos(2*x)*cos(2*y)-(x^2+y^2-x*y)/4"]


def uniform(seed, stream):
    """The first uniform number of a stream: Philox4x32-10, its high 52 bits as an odd multiple of 2^-53."""
    counter, key = [0, 0, stream & 0xFFFFFFFF, stream >> 32], [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        products = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [products[1] >> 32 ^ counter[1] ^ key[0], products[1] & 0xFFFFFFFF,
                   products[0] >> 32 ^ counter[3] ^ key[1], products[0] & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return (2 * ((counter[1] << 32 | counter[0]) >> 12) + 1) / 2 ** 53


class Sample(CommandLine):
    def draws(self, *arguments):
        return self.table("sample", *arguments)["t"]

    def test_draws_follow_their_distribution(self):
        count = 20000
        for family in FAMILIES:
            with self.subTest(family):
                about = self.json("density", *family)
                draws = self.draws(*family, "-n", count, "--seed", 11)
                self.assertEqual(len(draws), count)
                mean = sum(draws) / count
                variance = sum((t - mean) ** 2 for t in draws) / count
                self.assertLess(abs(mean - about["mean"]), 5 * math.sqrt(about["variance"] / count))
                spread = math.sqrt((about["kurtosis"] - 1) / count) * about["variance"]
                self.assertLess(abs(variance - about["variance"]), 5 * spread)
                support = [[float(a), float(b)] for a, b in about.get("pieces", [about["support"]])]
                self.assertTrue(all(any(a <= t <= b for a, b in support) for t in draws))
                for level, quantile in about["quantiles"].items():
                    below = sum(t <= quantile for t in draws) / count
                    if isinstance(quantile, float):
                        self.assertLess(abs(below - float(level)), 5 * math.sqrt(0.25 / count))
                    else:
                        self.assertGreater(below - float(level), -5 * math.sqrt(0.25 / count))

    def test_several_dimensions(self):
        for family in (NORMAL, PLANE):
            with self.subTest(family):
                self.check_moments(family)

    def check_moments(self, family):
        count = 20000
        about = self.json("density", *family)
        table = self.table("sample", *family, "-n", count, "--seed", 3, "--quiet")  # no progress where it is slow
        self.assertEqual(list(table), ["t1", "t2"])
        columns = [table["t1"], table["t2"]]
        means = [sum(column) / count for column in columns]
        for i in range(2):
            self.assertLess(abs(means[i] - about["mean"][i]), 5 * math.sqrt(about["covariance"][i][i] / count))
            for j in range(2):
                covariance = sum((x - means[i]) * (y - means[j]) for x, y in zip(columns[i], columns[j])) / count
                spread = math.sqrt(2 * about["covariance"][i][i] * about["covariance"][j][j] / count)
                self.assertLess(abs(covariance - about["covariance"][i][j]), 5 * spread)
        inside = self.table("density", *family, *[f"--at={x},{y}" for x, y in zip(columns[0][:500], columns[1])])
        self.assertGreater(min(inside["pdf"]), 0)

    def test_a_seed_decides(self):
        for family in (["biweight"], ["sparse-poisson"], NORMAL, PLANE, ["score", "--score=-t^4"]):
            with self.subTest(family):
                draws = self.succeed("sample", *family, "-n", 50000 if family == ["biweight"] else 500, "--seed", 7)
                count = draws.count("\n") - 1
                again = self.succeed("sample", *family, "-n", count, "--seed", 7, "--threads", 1)
                self.assertEqual(draws, again)
                self.assertEqual(draws, self.succeed("sample", *family, "-n", count, "--seed", 7, "--threads", 5))
                self.assertNotEqual(draws, self.succeed("sample", *family, "-n", count, "--seed", 8))
                first = self.succeed("sample", *family, "-n", 100, "--seed", 7)
                self.assertTrue(draws.startswith(first))
        done = self.run_fenchel("sample", "biweight", "-n", 5)
        told = re.fullmatch(r"fenchel sample: note: --seed (\d+) draws the same again\n", done.stderr)
        self.assertEqual(done.stdout, self.succeed("sample", "biweight", "-n", 5, "--seed", told[1]))
        self.assertNotEqual(done.stdout, self.succeed("sample", "biweight", "-n", 5, "--quiet"))
        largest = self.draws("biweight", "-n", 5, "--seed", 2 ** 64 - 1)
        self.assertNotEqual(largest, self.draws("biweight", "-n", 5, "--seed", 0))

    def test_draw_number_k_is_of_stream_k(self):
        seed = 2 ** 40 + 5
        draws = self.draws("triangular", "-n", 40000, "--seed", seed)
        for k in (0, 1, 16383, 16384, 39999):
            u = uniform(seed, k)
            expected = math.sqrt(2 * u) - 1 if u < 0.5 else 1 - math.sqrt(2 - 2 * u)
            self.assertAlmostEqual(draws[k], expected, delta=1e-12)

    def test_forms(self):
        self.assertEqual(self.succeed("sample", "biweight", "-n", 0, "--seed", 1), "t\n")
        self.assertEqual(self.succeed("sample", *NORMAL, "-n", 0, "--seed", 1), "t1,t2\n")
        self.assertEqual(self.json("sample", "biweight", "-n", 0, "--seed", 1), {"columns": ["t"], "rows": []})
        draws = self.draws("biweight", "-n", 1000, "--seed", 1)
        self.assertEqual(self.json("sample", "biweight", "-n", 1000, "--seed", 1), {"columns": ["t"], "rows": [[t] for t in draws]})
        self.assertEqual(self.succeed("sample", "biweight", "-n", 1e3, "--seed", 1, "-o", "draws.npy"), "")
        data = (self.folder / "draws.npy").read_bytes()
        self.assertIn(b"'shape': (1000, 1)", data[:128])
        self.assertEqual(list(array.array("d", data[128:])), draws)
        integers = self.succeed("sample", "sparse-poisson", "-n", 20, "--seed", 1).split()[1:]
        self.assertTrue(all(t.isdigit() for t in integers), integers)

    def test_a_million_draws_through_a_pipe(self):
        with subprocess.Popen([FENCHEL, "sample", "parabola", "-n", "1e6", "--seed", "1"], stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"t\n")
            draws = array.array("d", map(float, process.stdout))
        self.assertEqual((process.returncode, len(draws)), (0, 10 ** 6))
        variance = 1.5 ** (2 / 3) / 5
        self.assertLess(abs(sum(draws) / 10 ** 6), 5e-3 * math.sqrt(variance))

    def test_a_reader_that_goes(self):
        with subprocess.Popen([FENCHEL, "sample", "gaussian", "-n", "100000000", "--seed", "1"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"t\n")
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(30), -signal.SIGPIPE)

    def written(self, process):
        """Bytes of the file in this folder that a process has open, which need not have a name."""
        size = 0
        for file in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
                if os.readlink(file).startswith(str(self.folder.resolve())):
                    size += file.stat().st_size
        return size

    def test_interrupts_leave_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                before = self.file("draws.csv", "what stood there\n")
                with subprocess.Popen([FENCHEL, "sample", "gaussian", "-n", "1e9", "--seed", "1", "-o", "draws.csv"], cwd=self.folder,
                                      stderr=subprocess.PIPE) as process:
                    for _ in range(1000):
                        if self.written(process) > 0:
                            break
                        time.sleep(0.01)
                    self.assertGreater(self.written(process), 0)
                    process.send_signal(number)
                    self.assertEqual(process.wait(30), -number)
                    self.assertEqual(process.stderr.read(), b"fenchel sample: interrupted; draws.csv is not written\n")
                self.assertEqual(os.listdir(self.folder), ["draws.csv"])
                self.assertEqual(before.read_text(), "what stood there\n")

    def test_errors(self):
        def complains(message, *arguments):
            self.fail_with(2, "fenchel sample: " + message, "sample", *arguments)

        complains("-n: expected a whole number that is not negative, got -1", "biweight", "-n", "-1")
        complains("-n: expected a whole number that is not negative, got 1.5", "biweight", "-n", "1.5")
        complains("-n: expected a whole number that is not negative, got inf", "biweight", "-n", "inf")
        complains("--count is required; see fenchel sample --help", "biweight")
        complains("unknown family 'biwieght'; did you mean biweight?", "biwieght", "-n", "1")
        complains("gaussian has alpha 1, got --alpha 2; beta-gaussian takes any", "gaussian", "--alpha", "2", "-n", "1")
        self.fail_with(1, "fenchel sample: cannot write nowhere/draws.csv: No such file or directory",
                       "sample", "biweight", "-n", "1", "-o", "nowhere/draws.csv")


if __name__ == "__main__":
    unittest.main()
