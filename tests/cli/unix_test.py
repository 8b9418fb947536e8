"""What a Unix person tries: pipes as files, closed streams, links, signals, names that are strange."""
import os
import shlex
import signal
import subprocess
import time
import unittest

from harness import FENCHEL, SECONDS, CommandLine

SCORES = "a,b\n1,2\n0.5,-4\n"


class Unix(CommandLine):
    def shell(self, command):
        """A finished run of a command of bash, in which $F is fenchel."""
        return subprocess.run(["bash", "-c", command], cwd=self.folder, env={**os.environ, "F": FENCHEL},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)

    def names(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def test_numbers_for_names_are_noted(self):
        note = "fenchel map: note: standard input:1: the columns have numbers for names; --no-header makes a row of them\n"
        done = self.run_fenchel("map", "-", "--map", "sparsemax", stdin="1,2\n5,0\n")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1,2\n1,0\n", note))
        self.assertEqual(self.succeed("map", "-", "--map", "sparsemax", "--quiet", stdin="1,2\n5,0\n"), "1,2\n1,0\n")
        self.assertEqual(self.succeed("map", "-", "--map", "sparsemax", "--columns", "2,1", stdin="1,2\n5,0\n"), "2,1\n0,1\n")
        self.assertEqual(self.succeed("map", "-", "--map", "sparsemax", "--no-header", stdin="1,2\n5,0\n"), "0,1\n0,1\n1,0\n")
        self.succeed("map", "-", stdin="1,b\n5,0\n")

    def test_pipes_and_devices_are_tables(self):
        self.file("scores.csv", SCORES)
        self.succeed("map", "scores.csv", "-o", "scores.npy")
        for name in ["scores.csv", "scores.npy"]:
            expected = self.succeed("map", name)
            for command in [f'"$F" map <(cat {name})', f'cat {name} | "$F" map /dev/stdin',
                            f'mkfifo pipe; cat {name} > pipe & "$F" map pipe; rm pipe']:
                done = self.shell(command)
                self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", expected), command)
        self.fail_with(1, "fenchel map: /dev/null: is empty", "map", "/dev/null")
        done = self.shell('''printf 'a\\nx\\n' | "$F" fit /dev/stdin''')
        self.assertEqual((done.returncode, done.stderr), (1, "fenchel fit: /dev/stdin:2:1: expected a number, got 'x'\n"))

    def test_closed_streams(self):
        """Nothing that is said goes into a file, and nothing ends in a crash."""
        for command, status, said in [
                ('"$F" version >&-', 1, "fenchel version: cannot write standard output: Bad file descriptor\n"),
                ('"$F" map - <&-', 1, "fenchel map: cannot read standard input: Bad file descriptor\n"),
                ('"$F" --help > /dev/full', 1, "fenchel: cannot write standard output: No space left on device\n"),
                ('"$F" version 2>&- >&-', 1, ""),
                ('"$F" mop 2>&-', 2, ""),
                ('"$F" map bad.csv -o kept.csv <&- >&- 2>&-', 1, "")]:
            self.file("bad.csv", "a\n1\nx\n")
            done = self.shell(command)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (status, "", said), command)
        self.assertEqual(self.shell('"$F" sample gaussian -n 2 -o draws.csv <&- >&- 2>&-').returncode, 0)
        self.assertEqual((self.folder / "draws.csv").read_text(), self.succeed("sample", "gaussian", "-n", "2"))
        self.assertEqual(self.names(), ["bad.csv", "draws.csv"])

    def test_links_stay_links(self):
        text = self.succeed("version")
        self.file("file.csv", "old\n")
        (self.folder / "in").mkdir()
        for link, target in [("link.csv", "file.csv"), ("in/deep.csv", "../link.csv"), ("new.csv", "in/made.csv")]:
            (self.folder / link).symlink_to(target)
        for link, file in [("link.csv", "file.csv"), ("in/deep.csv", "file.csv"), ("new.csv", "in/made.csv")]:
            (self.folder / "file.csv").write_text("old\n")
            self.succeed("version", "-o", link)
            self.assertTrue((self.folder / link).is_symlink(), link)
            self.assertFalse((self.folder / file).is_symlink(), link)
            self.assertEqual((self.folder / file).read_text(), text, link)
        self.assertEqual(self.names(), ["file.csv", "in", "in/deep.csv", "in/made.csv", "link.csv", "new.csv"])

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_file_that_may_not_be_written_is_kept(self):
        self.file("kept.csv", "precious\n").chmod(0o444)
        self.fail_with(1, "fenchel version: cannot write kept.csv: Permission denied", "version", "-o", "kept.csv")
        self.assertEqual((self.folder / "kept.csv").read_text(), "precious\n")

    def test_strange_names(self):
        for name in ["-lead.csv", "a b.csv", "\u03b1\u4e2d.csv"]:
            self.file(name, SCORES)
            self.succeed("map", "--output", "out" + name, "--", name)
            self.assertEqual((self.folder / ("out" + name)).read_text(), self.succeed("map", "./" + name))
        self.fail_with(1, "fenchel map: two?lines.csv: cannot be opened: No such file or directory", "map", "two\nlines.csv")
        self.fail_with(2, "fenchel map: --output: the name of the file is empty", "map", "a b.csv", "-o", "")

    def test_names_that_are_not_utf8(self):
        self.file("latin.csv", b"gr\xf6\xdfe,b\n1,2\n3,5\n4,4\n2,2\n")
        self.assertEqual(self.json("map", "latin.csv")["columns"], ["gr\ufffd\ufffde", "b"])
        context = self.json("attend", "latin.csv", "--mu", "1/2", "--sigma2", "1")["context"]
        self.assertEqual(list(context), ["gr\ufffd\ufffde", "b"])

    def test_hints_for_tables(self):
        for text, message in [("a,b\n1,NA\n", "t.csv:2:2: a value is missing; --skip-missing leaves such rows out"),
                              ("a;b\n1;2\n", "t.csv:2:1: expected a number, got '1;2'; the fields may need another --separator"),
                              ("a\tb\n1\t2\n", "t.csv:2:1: expected a number, got '1\\x092'; the fields may need another --separator"),
                              ("a,b\n1,x\n", "t.csv:2:2: expected a number, got 'x'")]:
            self.file("t.csv", text)
            self.fail_with(1, "fenchel map: " + message, "map", "t.csv")
        self.file("t.tsv", "a\tb\n1\t2\n")
        self.file("t.csv", "a,b\n1,2\n")
        self.assertEqual(self.succeed("map", "t.tsv", "--separator", "\\t"), self.succeed("map", "t.csv"))

    def end(self, signals, *arguments, before=""):
        """How a run ends that gets these signals, soon after."""
        process = subprocess.Popen(["bash", "-c", f"{before} exec {shlex.quote(FENCHEL)} {shlex.join(arguments)}"],
                                   cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        for number in signals:
            process.send_signal(number)
            time.sleep(0.3)
        _, said = process.communicate(timeout=15)
        self.assertEqual(said, b"")
        return process.returncode

    def test_signals_leave_nothing(self):
        self.file("draws.csv", "old\n")
        long = ["sample", "gaussian", "-n", "1e12", "-o", "draws.csv"]
        self.assertEqual(self.end([signal.SIGINT], *long), -signal.SIGINT)
        self.assertEqual(self.end([signal.SIGTERM], *long), -signal.SIGTERM)
        self.assertEqual(self.end([signal.SIGINT], "report", "--out", "new/report"), -signal.SIGINT)
        self.assertEqual(self.end([signal.SIGINT], "map", "-"), -signal.SIGINT)
        self.assertEqual((self.names(), (self.folder / "draws.csv").read_text()), (["draws.csv"], "old\n"))

    def test_a_hangup_that_is_ignored_stays_ignored(self):
        long = ["sample", "gaussian", "-n", "1e12"]
        self.assertEqual(self.end([signal.SIGHUP], *long), -signal.SIGHUP)
        self.assertEqual(self.end([signal.SIGHUP, signal.SIGTERM], *long, before="trap '' HUP;"), -signal.SIGTERM)

    def test_a_step_that_does_not_ask_ends_too(self):
        """A regression on many functions takes long: two seconds after a signal, or at a second one, it is over."""
        self.file("signal.csv", "a\n" + "".join(f"{k % 7}\n" for k in range(10000)))
        long = ["attend", "signal.csv", "--mu", "0.5", "--sigma2", "0.1", "--basis", "4096"]
        self.assertEqual(self.end([signal.SIGINT], *long), -signal.SIGINT)
        self.assertEqual(self.end([signal.SIGINT, signal.SIGINT], *long), -signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
