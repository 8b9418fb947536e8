"""mpirun fenchel fit|regress: the same result as one process, printed once; errors said once; nobody is left."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

from harness import FENCHEL, SECONDS, CommandLine, run

MPIRUN = os.environ.get("MPIRUN") or shutil.which("mpirun")
# Open MPI refuses root, and more processes than processors, unless it is told; its own leaks are not ours.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1",
               "ASAN_OPTIONS": "detect_leaks=0"}
# When one has failed, all are at their end: mpirun need not wait a second for the others.
IMPATIENT = {**ENVIRONMENT, "OMPI_MCA_odls_base_sigkill_timeout": "0"}
CANCER = pathlib.Path(__file__).resolve().parents[2] / "data" / "cancer.csv"


def table(count):
    """y, x, n and a note, which makes few rows a large file."""
    random.seed(11)
    rows, note = [], "x" * 400
    for _ in range(count):
        x = random.uniform(0, 10)
        rows.append(f"{1 + 2 * x + (1 + 0.3 * x) * (random.betavariate(2, 2) - 0.5)!r},{x!r},{random.randrange(9)},{note}\n")
    return rows


class Mpi(CommandLine):
    @classmethod
    def setUpClass(cls):
        cls.rows = table(12000)  # 5 MB, batches of 1 MiB: each process has one at least

    def mpirun(self, processes, *arguments, stdin=subprocess.DEVNULL):
        done = subprocess.run([MPIRUN, "-n", str(processes), FENCHEL, *map(str, arguments)], cwd=self.folder,
                              env=IMPATIENT, stdin=stdin, capture_output=True, text=True, timeout=SECONDS)
        self.assertNotIn("\r", done.stdout)
        return done

    def all_of(self, name="data.csv", rows=None):
        return self.file(name, "y,x,n,note\n" + "".join(rows or self.rows))

    def test_the_same_result_printed_once(self):
        self.all_of()
        for processes, *arguments in [
            (2, "fit", "data.csv", "--columns", "y,x"),
            (2, "fit", "data.csv", "--columns", "y", "--family", "triangular", "--weight", "n"),
            (2, "loss", "triangular", "--data", "data.csv", "--columns", "y", "--weight", "n"),
            (3, "regress", "data.csv", "--x", "x", "--y", "y", "--test-top", "500", "--starts", "1"),
            (3, "regress", "data.csv", "--x", "x", "--y", "y", "--folds", "2", "--starts", "1"),
        ]:
            with self.subTest(arguments=arguments, processes=processes):
                done = self.mpirun(processes, *arguments, "--json", "--quiet")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assert_agree(json.loads(done.stdout), self.json(*arguments), 1e-12)

    def test_a_small_table(self):
        arguments = ["regress", CANCER, "--x", "population", "--y", "cancer", "--test-top", "30", "--starts", "1"]
        done = self.mpirun(3, *arguments)  # one batch: two processes have no rows
        self.assertEqual((done.returncode, done.stdout), (0, self.succeed(*arguments)))

    def test_errors_are_said_once_by_all(self):
        self.file("flat.csv", "y\n1\n1\n")
        self.all_of("bad.csv", self.rows[:11000] + ["high,1,1,\n"] + self.rows[11000:])
        for arguments, status, message in [
            (["fit", "missing.csv"], 1, "rank 0: missing.csv: cannot be opened: No such file or directory"),
            (["regress", "bad.csv", "--y", "y", "--x", "x", "--test-top", "5"], 1,
             "rank 1: bad.csv:11002:1: expected a number, got 'high'"),
            (["fit", "flat.csv"], 1, "flat.csv: column 'y': the variance must be positive and finite (rows that are all "
                                     "equal are a Dirac), got 0"),
            (["fit", "-"], 2, "FILE: standard input belongs to one process; give mpirun a file that all can read"),
            (["fit", CANCER, "--columns", "cancer", "-o", "nowhere/a.csv"], 1,
             "rank 0: cannot write nowhere/a.csv: No such file or directory"),
        ]:
            with self.subTest(arguments=arguments):
                done = self.mpirun(2, *arguments)
                self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
                said = [line for line in done.stderr.splitlines() if line.startswith("fenchel")]
                self.assertEqual(said, [f"fenchel {arguments[0]}: {message}"])

    def test_what_did_not_converge_is_written_once(self):
        done = self.mpirun(2, "regress", CANCER, "--x", "population", "--y", "cancer", "--alpha", 5, "--link", "linear", "--penalty", 0,
                           "--starts", 1, "-o", "out.json")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(json.loads((self.folder / "out.json").read_text())["status"], "stalled")
        self.assertEqual(done.stderr.count("fenchel regress: no start converged"), 1)

    def test_commands_of_one_process_run_once(self):
        done = self.mpirun(2, "version", "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["mpi"]), (0, True))

    def test_standard_input_of_one_process(self):
        with open(CANCER) as stdin:
            done = self.mpirun(1, "fit", "-", "--columns", "cancer", "--json", "--quiet", stdin=stdin)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout), self.json("fit", CANCER, "--columns", "cancer"))

    def running(self):
        """The processes whose arguments name our folder."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if str(self.folder).encode() in (entry / "cmdline").read_bytes():
                    found.append(entry.name)
            except OSError:
                pass
        return found

    def wait_until(self, condition):
        end = time.monotonic() + SECONDS
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_an_interrupt_of_mpirun_ends_all(self):
        data = shutil.copy(CANCER, self.folder)
        job = subprocess.Popen([MPIRUN, "-n", "3", FENCHEL, "regress", data, "--x", "population", "--y", "cancer",
                                "--starts", "100000000"], env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait_until(lambda: len(self.running()) == 4)
        time.sleep(1)
        self.assertIsNone(job.poll())
        job.send_signal(signal.SIGINT)
        out, _ = job.communicate(timeout=SECONDS)
        self.assertNotEqual(job.returncode, 0)
        self.assertEqual(out, b"")
        self.wait_until(lambda: not self.running())


if __name__ == "__main__":
    if MPIRUN is None or not json.loads(run("version", "--json").stdout)["mpi"]:
        sys.exit(77)
    unittest.main()
