"""Tables as others write them: decimal commas, comments, blanks, compression, text, several files, long streams."""
import gzip
import os
import random
import resource
import subprocess
import unittest

from harness import FENCHEL, CommandLine

PEOPLE = "day,name,height,weight\n" + "".join(f"2024-01-{k:02},n{k},{150 + k * 7 % 40},{60 + k * 11 % 30}.5\n" for k in range(1, 29))
CHOSEN = ["--columns", "height,weight"]


class Files(CommandLine):
    def setUp(self):
        super().setUp()
        self.file("people.csv", PEOPLE)
        self.expected = self.json("fit", "people.csv", *CHOSEN)

    def fits(self, *arguments, **options):
        self.assertEqual(self.json("fit", *arguments, **options), self.expected, arguments)

    def notes(self, *arguments, **options):
        done = self.run_fenchel("fit", *arguments, "--json", **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line for line in done.stderr.splitlines() if ": note: " in line]

    def test_columns_of_text_are_left_out_and_said(self):
        note = "fenchel fit: note: people.csv: columns that hold text are left out: 'day', 'name'; --columns chooses"
        self.assertEqual(self.notes("people.csv"), [note])
        self.fits("people.csv", "--quiet")
        self.fail_with(1, "fenchel fit: people.csv:2:2: expected a number, got 'n1'", "fit", "people.csv", "--columns", "name")

    def test_tabs_and_semicolons_are_recognized_and_said(self):
        for separator, word, name in [("\t", "tab", "a tab"), (";", ";", "a semicolon")]:
            self.file("people.txt", PEOPLE.replace(",", separator))
            note = f"fenchel fit: note: people.txt: {name} is between the fields; --separator takes another"
            self.assertEqual(self.notes("people.txt", *CHOSEN), [note])
            self.fits("people.txt", *CHOSEN, "--quiet")
            self.fits("people.txt", *CHOSEN, "--separator", word)

    def test_decimal_commas_comments_and_blanks(self):
        german = "# made by hand\n\n" + PEOPLE.replace(",", ";").replace(".", ",").replace("2024-01-05", "\n# more\n2024-01-05")
        self.file("german.csv", german)
        self.fits("german.csv", *CHOSEN, "--decimal", ",", "--comment", "#")
        self.fail_with(2, "fenchel fit: --decimal: expected one character, got '.,'", "fit", "german.csv", "--decimal", ".,")
        self.fail_with(2, "fenchel fit: decimal must be . or ,, got ';'", "fit", "german.csv", "--decimal", ";")
        self.fail_with(2, "fenchel fit: separator must differ from the decimal, got ','",
                       "fit", "german.csv", "--decimal", ",", "--separator", ",")
        self.file("aligned.txt", "".join("".join(f"{field:>14}" for field in line.split(",")) + "\n" for line in PEOPLE.splitlines()))
        self.fits("aligned.txt", *CHOSEN, "--separator", "space")
        self.file("hash.csv", "#x\n1\n2\n4\n")
        self.assertEqual(self.notes("hash.csv"), ["fenchel fit: note: hash.csv:1: the names of the columns begin with #; "
                                                  "--comment '#' leaves out lines that do"])

    def test_gzip(self):
        self.file("people.csv.gz", gzip.compress(PEOPLE.encode()))
        self.fits("people.csv.gz", *CHOSEN)
        self.fits("-", *CHOSEN, stdin=gzip.compress(PEOPLE.encode()))
        self.file("cut.gz", gzip.compress(PEOPLE.encode())[:-9])
        self.fail_with(1, "fenchel fit: cut.gz: is cut off: its compressed text does not end", "fit", "cut.gz")
        self.file("bad.gz", gzip.compress(b"x,y\n1,2\n3,four\n"))
        self.fail_with(1, "fenchel fit: bad.gz:3:2: expected a number, got 'four'", "fit", "bad.gz")
        self.file("sheet.xlsx", b"PK\x03\x04 and more")
        self.fail_with(1, "fenchel fit: sheet.xlsx: is a ZIP archive, as spreadsheets are; save the table as CSV", "fit", "sheet.xlsx")

    def test_several_files_are_one_table(self):
        lines = PEOPLE.splitlines(keepends=True)
        self.file("one.csv", "".join(lines[:10]))
        self.file("two.csv.gz", gzip.compress("".join(lines[:1] + lines[10:]).encode()))
        done = self.json("fit", "one.csv", "two.csv.gz", *CHOSEN)
        self.assert_agree(done, self.expected, 1e-12)
        self.assert_agree(self.json("fit", "one.csv", "two.csv.gz", "--quiet"), self.expected, 1e-12)
        self.assert_agree(self.json("fit", "-", "two.csv.gz", *CHOSEN, stdin="".join(lines[:10])), self.expected, 1e-12)
        twice = self.json("loss", "gaussian", "--data", "one.csv", "--data", "one.csv", "--columns", "height")
        self.assertEqual(twice["weight"], 18)
        self.file("other.csv", "height\n170\n")
        self.fail_with(1, "fenchel fit: other.csv: has no column 'weight'; its columns are 'height'",
                       "fit", "people.csv", "other.csv", *CHOSEN)
        self.fail_with(2, "fenchel fit: FILE: standard input is given twice", "fit", "-", "-")

    def test_names_with_commas(self):
        self.file("odd.csv", '"a,b",c,"say ""d"""\n1,2,3\n2,5,1\n4,4,2\n')
        self.assertEqual(self.json("map", "odd.csv", "--columns", '"a,b",c')["columns"], ["a,b", "c"])
        self.assertEqual(self.json("map", "odd.csv", "--columns", '"say ""d""","a,b"')["columns"], ['say "d"', "a,b"])
        for text in ['"a,b', '"a,b"x']:
            self.fail_with(2, f"fenchel map: --columns: expected a comma behind each name in quotes, got '{text}'",
                           "map", "odd.csv", "--columns", text)

    def test_missing_values_are_counted(self):
        self.file("gaps.csv", "x,y\n1,NA\n2,3\n,4\n5,6\n7,8\n9,7\n")
        self.fail_with(1, "fenchel fit: gaps.csv:2:2: a value is missing, in 2 of 6 rows; --missing drop leaves such rows out",
                       "fit", "gaps.csv")
        self.assertEqual(self.json("fit", "gaps.csv", "--missing", "drop")["weight"], 4)
        self.fail_with(2, "fenchel fit: --missing: expected one of refuse, drop, got 'no'", "fit", "gaps.csv", "--missing", "no")

    def test_a_first_row_is_not_lost(self):
        question = ("the names of the columns are numbers; --no-header makes a row of this line, --columns chooses columns by "
                    "these names")
        self.file("plain.csv", "\n1,2.5\n3,4\n5,7\n6,1\n")
        self.fail_with(1, f"fenchel fit: plain.csv:2: {question}", "fit", "plain.csv")
        self.assertEqual(self.json("fit", "plain.csv", "--no-header")["weight"], 4)
        self.assertEqual(self.json("fit", "plain.csv", "--columns", "1,2.5")["weight"], 3)
        self.file("comma.csv", "1,5;2,5\n2;3\n")
        self.fail_with(1, f"fenchel fit: comma.csv:1: {question}", "fit", "comma.csv", "--decimal", ",")

    def test_long_streams_take_constant_memory(self):
        """200 MB by a pipe, of which no more than some megabytes may be in memory."""
        line = b"".join(b"%d.25,%d\n" % (k % 1000, k % 7) for k in range(100_000))

        def limit():
            resource.setrlimit(resource.RLIMIT_DATA, (160_000_000, 160_000_000))

        process = subprocess.Popen([FENCHEL, "fit", "-", "--threads", "1", "--json"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder, preexec_fn=limit,
                                   env={**os.environ, "TMPDIR": str(self.folder)})
        process.stdin.write(b"x,y\n")
        for _ in range(200_000_000 // len(line)):
            process.stdin.write(line)
        out, error = process.communicate(timeout=60)
        self.assertEqual((process.returncode, error), (0, b""))
        self.assertIn(b'"weight": %d' % (200_000_000 // len(line) * 100_000), out)
        self.assertEqual(sorted(os.listdir(self.folder)), ["people.csv"])
        done = subprocess.run([FENCHEL, "fit", "-"], input=line * 70, capture_output=True, env={**os.environ, "TMPDIR": "/proc/none"})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rb"\Afenchel fit: standard input: is too long for memory, and cannot be kept in /proc/none: "
                                      rb"No such file or directory; TMPDIR names another folder\n\Z")

    def test_random_bytes_behind_a_magic_are_refused(self):
        for seed in range(20):
            random.seed(seed)
            for magic in (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08\0\0\0\0\0\0\x03"):
                self.file("data.bin", magic + random.randbytes(3000))
                done = self.run_fenchel("fit", "data.bin")
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, r"\Afenchel fit: data\.bin: is (damaged|cut off): [ -~]+\n\Z")


if __name__ == "__main__":
    unittest.main()
