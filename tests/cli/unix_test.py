"""What a Unix person tries: pipes as files, closed streams, links, signals, names that are strange."""
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest

from harness import FENCHEL, SECONDS, CommandLine

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import elf

SCORES = "a,b\n1,2\n0.5,-4\n"


class Unix(CommandLine):
    def shell(self, command):
        """A finished run of a command of bash, in which $F is fenchel."""
        return subprocess.run(["bash", "-c", command], cwd=self.folder, env={**os.environ, "F": FENCHEL},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)

    def names(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def test_it_can_neither_connect_nor_start_a_program(self):
        """It asks the system for no function that could."""
        nm = shutil.which("nm")
        if nm is None:
            self.skipTest("nm is not there")
        listing = subprocess.run([nm, "-D", "--undefined-only", FENCHEL], capture_output=True, text=True, check=True).stdout
        names = {line.split()[-1].split("@")[0] for line in listing.splitlines()}
        self.assertIn("write", names)
        self.assertEqual(names & {"system", "popen", "execl", "execle", "execlp", "execv", "execve", "execvp", "fork", "vfork",
                                  "posix_spawn", "posix_spawnp", "dlopen", "socket", "connect", "getaddrinfo"}, set())

    def test_it_is_hardened(self):
        missing = elf.missing(FENCHEL)
        if missing is None:
            self.skipTest("readelf is not there")
        self.assertEqual(missing, [])

    def test_numbers_for_names_are_asked_about(self):
        self.fail_with(1, "fenchel map: standard input:1: the names of the columns are numbers; --no-header makes a row of this "
                          "line, --columns chooses columns by these names", "map", "-", "--quiet", stdin="1,2\n5,0\n")
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
        self.assertEqual(self.shell('"$F" sample gaussian -n 2 --seed 1 -o draws.csv <&- >&- 2>&-').returncode, 0)
        self.assertEqual((self.folder / "draws.csv").read_text(), self.succeed("sample", "gaussian", "-n", "2", "--seed", "1"))
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
        for text, message in [("a,b\n1,NA\n", "t.csv:2:2: a value is missing; --missing drop leaves such rows out"),
                              ("a|b\n1|2\n", "t.csv:2:1: expected a number, got '1|2'; the fields may need another --separator"),
                              ("a\n1;2\n", "t.csv:2:1: expected a number, got '1;2'; the fields may need another --separator"),
                              ("a\n1\t2\n", "t.csv:2:1: expected a number, got '1\\x092'; the fields may need another --separator"),
                              ("a b\n1 2\n", "t.csv:2:1: expected a number, got '1 2'; blanks between fields need --separator space"),
                              ("a;b\n1,5;2\n", "t.csv:2:1: expected a number, got '1,5'; numbers with a comma need --decimal ,"),
                              ("a,b\n#1,2\n1,2\n", "t.csv:2:1: expected a number, got '#1'; --comment '#' leaves such lines out"),
                              ("a,b\n1,x\n1,2\n", "t.csv:2:2: expected a number, got 'x'")]:
            self.file("t.csv", text)
            self.fail_with(1, "fenchel map: " + message, "map", "t.csv", "--quiet")
        self.file("t.tsv", "a\tb\n1\t2\n")
        self.file("t.csv", "a,b\n1,2\n")
        self.assertEqual(self.succeed("map", "t.tsv", "--separator", "\\t"), self.succeed("map", "t.csv"))

    def begin(self, *arguments, before=""):
        process = subprocess.Popen(["bash", "-c", f"{before} exec {shlex.quote(FENCHEL)} {shlex.join(arguments)}"],
                                   cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    def end(self, signals, *arguments, before=""):
        """How a run ends that gets these signals, soon after."""
        process = self.begin(*arguments, before=before)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        for number in signals:
            process.send_signal(number)
            time.sleep(0.3)
        _, said = process.communicate(timeout=15)
        self.assertRegex(said, rb"\A(fenchel [a-z]+: interrupted; [^\n]+\n)?\Z")
        return process.returncode

    def test_signals_leave_nothing(self):
        self.file("draws.csv", "old\n")
        long = ["sample", "gaussian", "-n", "1e12", "--seed", "1", "-o", "draws.csv"]
        self.assertEqual(self.end([signal.SIGINT], *long), -signal.SIGINT)
        self.assertEqual(self.end([signal.SIGTERM], *long), -signal.SIGTERM)
        self.assertEqual(self.end([signal.SIGINT], "report", "--output", "new/report"), -signal.SIGINT)
        self.assertEqual(self.end([signal.SIGKILL], "report", "--output", "new/report"), -signal.SIGKILL)
        self.assertEqual(self.end([signal.SIGINT], "map", "-"), -signal.SIGINT)
        self.assertEqual((self.names(), (self.folder / "draws.csv").read_text()), (["draws.csv"], "old\n"))

    def end_each(self, signals, before):
        """Runs that write a new file and one that exists, each ended by one of the signals, leave nothing."""
        self.file("draws.csv", "old\n")
        runs = [(number, self.begin("sample", "gaussian", "-n", "1e12", "--seed", "1", "-o", output, "--threads", "1", before=before))
                for number in signals for output in ["draws.csv", "new.csv"]]
        time.sleep(1)
        for number, process in runs:
            self.assertIsNone(process.poll())
            process.send_signal(number)
        for number, process in runs:
            _, said = process.communicate(timeout=15)
            self.assertEqual((process.returncode, said), (-number, b""))
        self.assertEqual((self.names(), (self.folder / "draws.csv").read_text()), (["draws.csv"], "old\n"))

    def test_a_result_has_no_name_until_it_is_whole(self):
        """So that nothing is left by signals that nobody expects, nor by one that nobody can catch."""
        self.end_each([signal.SIGQUIT, signal.SIGUSR1, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGKILL], "ulimit -c 0;")

    def test_a_result_with_a_name_goes_with_a_signal(self):
        """Without /proc a file cannot get its name late, as on file systems without O_TMPFILE."""
        hidden = ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c"]
        if subprocess.run([*hidden, "mount -t tmpfs none /proc"], capture_output=True).returncode != 0:
            self.skipTest("no namespaces without privileges here")
        if b"__asan_init" in pathlib.Path(FENCHEL).read_bytes():
            self.skipTest("a sanitizer needs /proc")
        script = 'mount -t tmpfs none /proc; exec "$@"'
        draws = self.succeed("sample", "gaussian", "-n", "2", "--seed", "1")
        for output in ["draws.csv", "draws.csv"]:  # a new file, and one that exists
            done = subprocess.run([*hidden, script, "bash", FENCHEL, "sample", "gaussian", "-n", "2", "--seed", "1", "-o", output],
                                  cwd=self.folder, capture_output=True)
            self.assertEqual((done.returncode, done.stderr, self.names()), (0, b"", [output]))
            self.assertEqual((self.folder / output).read_text(), draws)
        before = f"ulimit -c 0; exec {shlex.join(hidden)} {shlex.quote(script)}"
        self.end_each([signal.SIGQUIT, signal.SIGUSR1, signal.SIGXCPU, signal.SIGXFSZ], before)

    def test_a_file_that_may_not_grow(self):
        self.file("draws.csv", "old\n")
        for output in ["draws.csv", "new.csv"]:
            done = self.shell(f'ulimit -f 100; exec "$F" sample gaussian -n 1e6 --seed 1 -o {output}')
            self.assertEqual((done.returncode, done.stderr), (1, f"fenchel sample: cannot write {output}: File too large\n"))
            self.assertEqual((self.names(), (self.folder / "draws.csv").read_text()), (["draws.csv"], "old\n"))

    def test_an_output_that_cannot_be_written_is_known_before_the_input_is_read(self):
        """The inputs are pipes that nobody writes to: whoever reads one waits for ever."""
        os.mkfifo(self.folder / "pipe")
        self.file("closed.csv", "old\n").chmod(0o444)
        outputs = [("nowhere/out.csv", "cannot write nowhere/out.csv: No such file or directory"),
                   ("x" * 300, f"cannot write {'x' * 300}: File name too long"),
                   (".", "cannot write .: it is a folder")]
        if os.geteuid() != 0:
            outputs.append(("closed.csv", "cannot write closed.csv: Permission denied"))
        for command in [["map", "pipe"], ["map", "-"], ["fit", "pipe"], ["fit", "-"], ["loss", "gaussian", "--data", "pipe"],
                        ["regress", "pipe", "--x", "a", "--y", "b"],
                        ["attend", "pipe", "--mu", "0.5", "--sigma2", "0.1"],
                        ["plot", "regression", "pipe", "--x", "a", "--y", "b"]]:
            name = " ".join(command[:2]) if command[0] == "plot" else command[0]
            for output, said in outputs:
                reader, writer = os.pipe()
                self.addCleanup(os.close, writer)
                process = subprocess.Popen([FENCHEL, *command, "-o", output], cwd=self.folder, stdin=reader,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                os.close(reader)
                self.addCleanup(process.kill)
                _, error = process.communicate(timeout=10)
                self.assertEqual((process.returncode, error), (1, f"fenchel {name}: {said}\n"))

    def test_a_hangup_that_is_ignored_stays_ignored(self):
        long = ["sample", "gaussian", "-n", "1e12", "--seed", "1"]
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
