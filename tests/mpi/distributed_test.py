"""What a person sees who fits files by several processes.

usage: distributed_test.py COMMAND...
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMMAND = sys.argv[1:]
del sys.argv[1:]


class Distributed(unittest.TestCase):
    def run_with(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            for name, numbers in [("part1.csv", [1, 2, 3, 4]), ("part2.csv", [2, 3, 9])]:
                pathlib.Path(folder, name).write_text("y\n" + "".join(f"{n}\n" for n in numbers))
            return subprocess.run([*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, timeout=60)

    def test_fits_all_files(self):
        done = self.run_with("1", "y", "part1.csv", "part2.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        # Mean 24/7 and variance V = 292/49, with errors sqrt(V / 7) and V sqrt(2 / 7): alpha = 1 is the Gaussian.
        self.assertEqual(done.stdout, "7 rows in 3 processes\nmu = 3.42857, standard error 0.92\n"
                                      "sigma2 = 5.95918, standard error 3.2\nsupport [-inf, inf]\n")

    def test_says_once_what_is_wrong(self):
        for arguments, message in [
            (["1", "z", "part1.csv"], "distributed: rank 0: part1.csv: has no column 'z'; its columns are 'y'"),
            (["1", "y", "part3.csv"], "distributed: rank 0: part3.csv: cannot be opened: No such file or directory"),
            (["high", "y", "part1.csv"], "distributed: ALPHA must be a number, got 'high'"),
        ]:
            done = self.run_with(*arguments)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertEqual(done.stderr.splitlines().count(message), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
