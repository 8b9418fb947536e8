"""What holds for every command: help, forms of output, errors, terminals, the manual page and the completion."""
import fcntl
import json
import os
import pathlib
import pty
import re
import shlex
import struct
import subprocess
import termios
import unittest

from harness import FENCHEL, CommandLine

COMMANDS = ["map", "density", "sample", "fit", "kde", "loss", "regress", "predict", "attend", "plot", "report", "version"]
PLOTS = ["density", "cdf", "fit", "attention", "regression", "string", "geodesics"]
PAGES = pathlib.Path(FENCHEL).parent / "pages"
SCORES = "a,b,c\n1,2,3\n0.5,0.5,-4\n"


def on_terminal(*arguments, columns=80, **environment):
    """What a terminal shows of a run, and its status."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([FENCHEL, *arguments], stdin=slave, stdout=slave, stderr=slave,
                               env={**os.environ, "TERM": "xterm", **environment})
    os.close(slave)
    shown = b""
    try:
        while piece := os.read(master, 1 << 16):
            shown += piece
    except OSError:  # how a terminal says that it is over
        pass
    os.close(master)
    return process.wait(), shown.decode().replace("\r\n", "\n")


class Basics(CommandLine):
    def test_help_at_every_level_has_examples(self):
        for path in [[], *([command] for command in COMMANDS), *(["plot", kind] for kind in PLOTS)]:
            text = self.succeed(*path, "--help")
            self.assertIn("Examples:\n  ", text, path)
            self.assertIn(" ".join(["fenchel", *path]), text)
            self.assertTrue(text.splitlines()[0].strip(), path)
            for line in text.splitlines():
                self.assertTrue(len(line) <= 100 or re.match("  (fenchel|mpirun|printf|seq| {30}score) ", line), line)
        for command in COMMANDS:
            self.assertRegex(self.succeed("--help"), rf"(?m)^  {command}  +\S")

    def test_help_is_a_command_too(self):
        self.assertEqual(self.succeed("help"), self.succeed("--help"))
        self.assertEqual(self.succeed("help", "plot", "density"), self.succeed("plot", "density", "--help"))
        self.fail_with(2, "fenchel: there is no command 'fenchel mop'; see fenchel --help", "help", "mop")

    def test_no_zero_has_a_sign(self):
        self.file("scores.csv", "a,b\n3,-0\n")
        self.assertEqual(self.table("map", "scores.csv", "--target", "b", "--gradient", "--columns", "a")["loss"], [0])
        for form in ([], ["--json"]):
            for command in (["density", "gaussian", "--mu", "-0"], ["density", "gaussian", "--at", "-0"],
                            ["map", "scores.csv", "--map", "sparsemax"]):
                self.assertNotRegex(self.succeed(*command, *form), r"-0(\.0)?\b(?!\.)")

    def test_version(self):
        done = self.json("version")
        self.assertRegex(done["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(list(done), ["version", "compiler", "threads", "mpi", "json"])
        self.assertIn(f"version,{done['version']}\n", self.succeed("version"))
        self.assertEqual(self.succeed("--version"), f"fenchel {done['version']}\n")
        self.assertEqual(self.succeed("-v"), f"fenchel {done['version']}\n")
        self.assertEqual(self.json("version", "--threads", "1")["threads"], 1)

    def test_usage_errors_take_one_line(self):
        for message, arguments in [
                ("fenchel: a command is missing; see fenchel --help", []),
                ("fenchel: there is no command 'fenchel mop'; see fenchel --help", ["mop"]),
                ("fenchel: there is no command 'fenchel reprt'; did you mean report?", ["reprt"]),
                ("fenchel: there is no command 'fenchel plot pdf'; see fenchel plot --help", ["plot", "pdf", "gaussian"]),
                ("fenchel map: FILE is required; see fenchel map --help", ["map"]),
                ("fenchel version: there is no option --jsn; did you mean --json?", ["version", "--jsn"]),
                ("fenchel map: there is no option --verbose; see fenchel map --help", ["map", "--verbose", "x.csv"]),
                ("fenchel map: there is no option -x.csv; see fenchel map --help", ["map", "-x.csv"]),
                ("fenchel: there is no option --verbose; see fenchel --help", ["--verbose"]),
                ("fenchel version: --json must follow the command; see fenchel version --help", ["--json", "version"]),
                ("fenchel version: 'now' was not expected; see fenchel version --help", ["version", "now"]),
                ("fenchel version: --threads needs a value; see fenchel version --help", ["version", "--threads"]),
                ("fenchel version: --threads is given more than once; see fenchel version --help",
                 ["version", "--threads", "1", "--threads", "2"]),
                ("fenchel map: --separator: expected one character, tab or space, got 'ab'",
                 ["map", "x.csv", "--separator", "ab"]),
                ("fenchel map: --columns: a name is empty in 'a,,b'", ["map", "x.csv", "--columns", "a,,b"]),
                ("fenchel plot density: --output: a plot is an SVG file, got p.png", ["plot", "density", "gaussian", "-o", "p.png"]),
                ("fenchel plot: a command is missing; see fenchel plot --help", ["plot"]),
                ("fenchel version: --threads: expected a whole number from 0 to 4096, got '-1'", ["version", "--threads", "-1"]),
                ("fenchel sample: --seed: expected a whole number from 0 to 18446744073709551615, got '-1'",
                 ["sample", "gaussian", "-n", "1", "--seed", "-1"]),
                ("fenchel density: --alpha: expected a number such as 1.5, 4/3 or inf, got 'inf/inf'",
                 ["density", "beta-gaussian", "--alpha", "inf/inf"]),
                ("fenchel density: --alpha: expected a number such as 1.5, 4/3 or inf, got 'two'",
                 ["density", "beta-gaussian", "--alpha", "two"]),
                ("fenchel density: --alpha: expected a number such as 1.5, 4/3 or inf, got '1/0'",
                 ["density", "beta-gaussian", "--alpha", "1/0"])]:
            self.fail_with(2, message, *arguments)

    def test_fractions_and_infinity_are_numbers(self):
        third, rounded = (self.json("density", "beta-gaussian", "--alpha", alpha) for alpha in ("4/3", "1.3333333333333333"))
        self.assertEqual(third, rounded)
        self.assertEqual(self.json("density", "beta-gaussian", "--alpha", "inf")["parameters"]["alpha"], "inf")

    def test_a_number_too_small_for_a_double_is_zero(self):
        self.assertEqual(self.json("density", "gaussian", "--mu", "1e-400")["mean"], 0)
        self.succeed("density", "score", "--score", "1e-400 - t^2")
        self.assertEqual(self.succeed("map", "-", "--map", "sparsemax", stdin="a,b\n1e-400,-1e-400\n"), "a,b\n0.5,0.5\n")
        self.fail_with(2, "fenchel density: --mu: expected a number such as 1.5, 4/3 or inf, got '1e400'",
                       "density", "gaussian", "--mu", "1e400")
        self.fail_with(1, "fenchel map: standard input:2:1: must be in the range of double, got '1e400'",
                       "map", "-", stdin="a,b\n1e400,1\n")

    def test_the_form_follows_the_file(self):
        self.file("scores.csv", SCORES)
        table = self.table("map", "scores.csv")
        for name in ["p.csv", "p.json", "p.npy"]:
            self.assertEqual(self.succeed("map", "scores.csv", "-o", name), "")
        self.assertEqual((self.folder / "p.csv").read_text(), self.succeed("map", "scores.csv"))
        stored = json.loads((self.folder / "p.json").read_text())
        self.assertEqual(stored, self.json("map", "scores.csv"))
        self.assertEqual(stored["columns"], list(table))
        self.assertEqual([list(row) for row in zip(*table.values())], stored["rows"])
        self.assertTrue((self.folder / "p.npy").read_bytes().startswith(b"\x93NUMPY\x01\x00"))
        again = self.table("map", "p.npy", "--map", "sparsemax")
        for got, p in zip(again.values(), table.values()):  # what has sum one is its own sparsemax
            for x, y in zip(got, p):
                self.assertAlmostEqual(x, y, delta=1e-15)
        self.fail_with(2, "fenchel map: --json and --output p.csv ask for two forms; leave one out",
                       "map", "scores.csv", "--json", "-o", "p.csv")
        self.fail_with(2, "fenchel version: --output: a result with names has no .npy form; use .json or .csv",
                       "version", "-o", "v.npy")
        self.assertFalse((self.folder / "v.npy").exists())

    def test_a_terminal_gets_an_aligned_table(self):
        status, shown = on_terminal("map", str(self.file("scores.csv", SCORES)), "--map", "sparsemax")
        self.assertEqual((status, shown), (0, "  a    b  c\n  0    0  1\n0.5  0.5  0\n"))
        status, shown = on_terminal("version")
        self.assertRegex(shown, r"(?m)\Aversion   \d+\.\d+\.\d+\ncompiler  \S.*\nthreads   \d+\nmpi       (true|false)\njson      1\n\Z")
        json.loads(on_terminal("version", "--json")[1])

    def test_progress_is_for_terminals_that_want_it(self):
        long = ["sample", "gaussian", "-n", "2000000", "--seed", "1", "-o", "/dev/null"]
        self.assertEqual(self.succeed(*long), "")
        status, shown = on_terminal(*long)
        self.assertEqual(status, 0)
        self.assertRegex(shown, r"\r[a-z ]+: +\d+%")
        self.assertTrue(shown.endswith("\r\x1b[K"), shown[-50:])  # it wipes what it drew
        self.assertEqual(on_terminal(*long, "--quiet"), (0, ""))
        self.assertEqual(on_terminal(*long, TERM="dumb"), (0, ""))

    def test_progress_makes_room_for_the_result(self):
        rows = self.file("rows.csv", "x,y\n" + "".join(f"{k % 97},{k % 89}\n" for k in range(60000)))
        status, shown = on_terminal("regress", str(rows), "--x", "x", "--y", "y", columns=30)
        self.assertEqual(status, 0)
        lines = shown.split("\r")[1:]
        self.assertGreater(len(lines), 1)
        for line in lines[:-1]:  # as long as a line of the terminal at most
            self.assertRegex(line, r"\Aregress: [^\x1b]{,20}\x1b\[K\Z")
        self.assertRegex(lines[-1], r"\A\x1b\[Ky  +y\n")
        self.assertNotIn("\r", on_terminal("sample", "gaussian", "-n", "200000", "--seed", "1")[1])  # one sees the draws come

    def test_output_that_cannot_be_written(self):
        self.fail_with(1, "fenchel version: cannot write no/such/folder: No such file or directory",
                       "version", "-o", "no/such/folder")
        done = subprocess.run(f"{shlex.quote(FENCHEL)} version > /dev/full", shell=True, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "fenchel version: cannot write standard output: No space left on device\n"))

    def test_a_file_keeps_its_mode_and_a_failure_keeps_the_file(self):
        kept = self.file("kept.csv", "precious\n")
        kept.chmod(0o640)
        self.file("bad.csv", "a,b\n1,2\n3,x\n")
        self.fail_with(1, "fenchel map: bad.csv:3:2: expected a number, got 'x'", "map", "bad.csv", "-o", "kept.csv")
        self.assertEqual(kept.read_text(), "precious\n")
        self.succeed("version", "-o", "kept.csv")
        self.assertNotEqual(kept.read_text(), "precious\n")
        self.assertEqual(kept.stat().st_mode & 0o777, 0o640)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["bad.csv", "kept.csv"])

    def test_draws_are_fitted_back(self):
        for family, parameters in [("biweight", {"mu": 0.5, "sigma2": 2}), ("triangular", {"mu": -1, "b": 3}),
                                   ("sparse-poisson", {"mu": 4}), ("capped-parabola", {"gamma": 0.1, "sigma2": 2})]:
            options = [word for name, value in parameters.items() for word in (f"--{name}", str(value))]
            self.succeed("sample", family, *options, "-n", "20000", "--seed", "5", "-o", "draws.csv")
            known = ["--gamma", "0.1"] if "gamma" in parameters else []
            fit = self.json("fit", "draws.csv", "--family", family, *known)
            for name, error in fit["standard_errors"].items():
                self.assertLess(abs(fit["parameters"][name] - parameters.get(name, 0)), 5 * error, (family, name))


class Pages(CommandLine):
    def complete(self, line):
        """The words that bash offers at the end of a line."""
        words = line.split(" ")
        script = (f"source {shlex.quote(str(PAGES / 'fenchel'))}\nCOMP_WORDS=({' '.join(map(shlex.quote, words))})\n"
                  f"COMP_CWORD={len(words) - 1}\n_fenchel\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n")
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("fenchel "), [*COMMANDS, "--help", "--version"])
        self.assertEqual(self.complete("fenchel re"), ["regress", "report"])
        self.assertIn("--alpha", self.complete("fenchel map --a"))
        self.assertEqual(self.complete("fenchel map --map soft"), ["softmax"])
        self.assertEqual(self.complete("fenchel fit --family tri"), ["triweight", "triangular"])
        self.assertEqual(self.complete("fenchel plot g"), ["geodesics"])
        self.assertEqual(self.complete("fenchel plot density biw"), ["biweight"])
        self.file("scores.csv", SCORES)
        self.assertEqual(self.complete("fenchel map sc"), ["scores.csv"])
        self.assertEqual(self.complete("fenchel help re"), ["regress", "report"])
        for line in ("fenchel density s", "fenchel fit --family s", "fenchel plot density --sigma2 s", "fenchel map --missing s"):
            self.assertNotIn("scores.csv", self.complete(line))
        for line in ("fenchel density gaussian -o s", "fenchel map x.csv --measure s", "fenchel loss biweight --data s"):
            self.assertIn("scores.csv", self.complete(line))

    def test_the_manual_page_has_every_command_and_option(self):
        page = (PAGES / "fenchel.1").read_text()
        for path in [*([command] for command in COMMANDS), *(["plot", kind] for kind in PLOTS)]:
            section = page.split(f".SS fenchel {' '.join(path)}\n")
            self.assertEqual(len(section), 2, path)
            text = section[1].split(".SS ")[0].replace("\\-", "-")
            for option in re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", self.succeed(*path, "--help")):
                if option != "--help":
                    self.assertIn(option, text, path)
        self.assertTrue(page.isascii())
        for line in page.splitlines():  # requests are those that we meant
            self.assertRegex(line, r"^(\.(TH|SH|SS|TP|PP|nf|fi|B|I)\b|\\&|[^.'])|^$")


if __name__ == "__main__":
    unittest.main()
