"""fenchel map: probabilities, losses and gradients against brute force written here, and what it refuses."""
import ast
import json
import math
import os
import random
import struct
import subprocess
import unittest

from harness import FENCHEL, CommandLine, csv_text

ALPHAS = [1, math.nextafter(1, 2), 1 + 1e-8, 4 / 3, 1.5, 2, 5, 1e6, 0.5]
SCORES = [[0.3, -1.2, 2.5, 0.1], [1, 1, 1, 1], [4, 0, 0, 0], [-0.25, 0.25, 0.5, 0.5]]
NAMES = ["a", "b", "c", "d"]
LABELS = [2, 0, 0, 3]


def entmax(alpha, scores):
    """By bisection for the largest probability q: p^am1 = q^am1 - am1 (max z - z)."""
    am1 = alpha - 1

    def probability(q, distance):
        if distance == 0:
            return q
        if am1 == 0:
            return q * math.exp(-distance)
        power = math.expm1(am1 * math.log(q)) - am1 * distance
        return math.exp(math.log1p(power) / am1) if power > -1 else 0.0

    low, high = 0.5 / len(scores), 1.0
    for _ in range(100):
        middle = (low + high) / 2
        p = [probability(middle, max(scores) - z) for z in scores]
        low, high = (low, middle) if sum(p) > 1 else (middle, high)
    return p


def negentropy(alpha, p):
    """Omega_alpha = sum p (p^(alpha - 1) - 1) / (alpha (alpha - 1))."""
    if alpha == 1:
        return sum(x * math.log(x) for x in p if x > 0)
    return sum(x * math.expm1((alpha - 1) * math.log(x)) for x in p if x > 0) / (alpha * (alpha - 1))


def npy_bytes(rows):
    """A .npy file of doubles, as NumPy writes it."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header = header.ljust(128 - 11) + "\n"
    body = b"".join(struct.pack(f"<{len(row)}d", *row) for row in rows)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + body


def npy_rows(content):
    """The rows of a two-dimensional .npy file of doubles."""
    assert content[:8] == b"\x93NUMPY\x01\x00", content[:8]
    size = struct.unpack("<H", content[8:10])[0]
    header = ast.literal_eval(content[10:10 + size].decode())
    assert header["descr"] == "<f8" and not header["fortran_order"], header
    rows, columns = header["shape"]
    numbers = struct.unpack(f"<{rows * columns}d", content[10 + size:])
    return [list(numbers[i * columns:(i + 1) * columns]) for i in range(rows)]


class Map(CommandLine):
    def setUp(self):
        super().setUp()
        self.file("scores.csv", csv_text(NAMES, SCORES))
        self.file("labelled.csv", csv_text(["label"] + NAMES, [[k, *z] for k, z in zip(LABELS, SCORES)]))

    def rows(self, *arguments, **options):
        done = self.json("map", *arguments, **options)
        self.assertEqual(list(done), ["columns", "rows"])
        return done["rows"]

    def assert_close(self, got, want, tolerance=1e-14):
        self.assertEqual(len(got), len(want))
        for x, y in zip(got, want):
            self.assertAlmostEqual(x, y, delta=tolerance)


class Probabilities(Map):
    def test_entmax_is_what_bisection_finds_for_every_alpha(self):
        for alpha in ALPHAS:
            with self.subTest(alpha=alpha):
                for got, scores in zip(self.rows("scores.csv", "--alpha", repr(alpha)), SCORES):
                    self.assert_close(got, entmax(alpha, scores), 2e-12)
                    self.assertAlmostEqual(math.fsum(got), 1, delta=2e-15)

    def test_infinite_alpha_shares_among_the_largest(self):
        self.assertEqual(self.rows("scores.csv", "--alpha", "inf"),
                         [[0, 0, 1, 0], [.25] * 4, [1, 0, 0, 0], [0, 0, .5, .5]])

    def test_names_are_values_of_alpha(self):
        for name, alpha in [("softmax", 1), ("sparsemax", 2)]:
            self.assertEqual(self.rows("scores.csv", "--map", name), self.rows("scores.csv", "--alpha", alpha))
            self.assertEqual(self.rows("scores.csv", "--map", name),
                             self.rows("scores.csv", "--map", name, "--alpha", alpha))
        self.assertEqual(self.rows("scores.csv"), self.rows("scores.csv", "--map", "entmax", "--alpha", "3/2"))

    def test_zeros_are_exact(self):
        self.assertEqual(self.succeed("map", "-", "--map", "sparsemax", stdin="a,b,c\n0.5,0.75,-1\n0,0,4\n"),
                         "a,b,c\n0.375,0.625,0\n0,0,1\n")

    def test_fusedmax_from_sparsemax_to_uniform(self):
        sparse = self.rows("scores.csv", "--map", "sparsemax")
        for name in ["fusedmax", "smooth-sparsemax"]:
            for got, want in zip(self.rows("scores.csv", "--map", name, "--gamma", 0), sparse):
                self.assert_close(got, want)
            for row in self.rows("scores.csv", "--map", name, "--gamma", 1e9):
                self.assert_close(row, [.25] * 4, 1e-8)
            self.assertEqual(self.rows("scores.csv", "--map", name), self.rows("scores.csv", "--map", name, "--gamma", 1))

    def test_fusedmax_has_plateaus_of_equal_numbers(self):
        noise = random.Random(7)
        steps = [[(0, .3, .1)[k // 4] + noise.uniform(-.02, .02) for k in range(12)]]
        self.file("steps.csv", csv_text([f"t{k}" for k in range(12)], steps))
        p = self.rows("steps.csv", "--map", "fusedmax", "--gamma", .1)[0]
        self.assertEqual([len(set(p[k:k + 4])) for k in (0, 4, 8)], [1, 1, 1])
        self.assertEqual(len(set(p)), 3)
        self.assertAlmostEqual(math.fsum(p), 1, delta=2e-15)
        # A step between plateaus shrinks by gamma / length for each of the edges of the plateau above.
        means = [sum(steps[0][k:k + 4]) / 4 for k in (0, 4, 8)]
        self.assertAlmostEqual(p[4] - p[8], means[1] - means[2] - 3 * .1 / 4, delta=1e-14)

    def test_smooth_sparsemax_solves_its_equations(self):
        gamma, scores = .5, [0, .25, .5, .3]
        p = self.rows("-", "--map", "smooth-sparsemax", "--gamma", gamma, stdin=csv_text(NAMES, [scores]))[0]
        self.assertGreater(min(p), 0)
        laplacian = [sum(p[k] - p[j] for j in (k - 1, k + 1) if 0 <= j < 4) for k in range(4)]
        tau = [z - x - gamma * y for z, x, y in zip(scores, p, laplacian)]
        self.assert_close(tau, tau[:1] * 4)

    def test_columns_are_chosen_in_their_order(self):
        got = self.table("map", "scores.csv", "--columns", "d,a")
        self.assertEqual(list(got), ["d", "a"])
        for d, a, scores in zip(got["d"], got["a"], SCORES):
            self.assert_close([d, a], entmax(1.5, [scores[3], scores[0]]))


class Losses(Map):
    def test_the_loss_is_omega_of_the_class_less_that_of_the_prediction(self):
        for alpha in ALPHAS:
            with self.subTest(alpha=alpha):
                done = self.table("map", "labelled.csv", "--target", "label", "--alpha", repr(alpha))
                self.assertEqual(list(done), NAMES + ["loss"])
                for k, z, got in zip(LABELS, SCORES, done["loss"]):
                    p = entmax(alpha, z)
                    want = sum(x * (y - z[k]) for x, y in zip(p, z)) - negentropy(alpha, p)
                    self.assertAlmostEqual(got, want, delta=1e-12)

    def test_the_loss_is_zero_where_the_class_is_certain(self):
        loss = self.table("map", "labelled.csv", "--target", "label", "--map", "sparsemax")
        certain = [row[k] == 1 for k, row in zip(LABELS, zip(*(loss[name] for name in NAMES)))]
        self.assertEqual(certain, [True, False, True, False])
        self.assertEqual([x == 0 for x in loss["loss"]], certain)
        self.assertTrue(all(x >= 0 for x in loss["loss"]))

    def test_the_gradient_is_the_prediction_less_the_class(self):
        for choice in [["--alpha", 1.5], ["--map", "softmax"], ["--map", "fusedmax"], ["--map", "smooth-sparsemax"]]:
            done = self.table("map", "labelled.csv", "--target", "label", "--gradient", *choice)
            self.assertEqual(list(done), NAMES + ["loss"] + ["d_" + name for name in NAMES])
            for i, label in enumerate(LABELS):
                for k, name in enumerate(NAMES):
                    self.assertAlmostEqual(done["d_" + name][i], done[name][i] - (k == label), delta=1e-15)

    def test_the_gradient_is_the_slope_of_the_loss(self):
        h = 1e-6
        for choice in [["--alpha", 1.5], ["--map", "fusedmax", "--gamma", .3], ["--map", "smooth-sparsemax"]]:
            moved = [[0] + [.3 + h, .1, .2], [0] + [.3 - h, .1, .2], [0, .3, .1, .2]]
            self.file("moved.csv", csv_text(["k", "x", "y", "z"], moved))
            done = self.table("map", "moved.csv", "--target", "k", "--gradient", *choice)
            self.assertAlmostEqual((done["loss"][0] - done["loss"][1]) / (2 * h), done["d_x"][2], delta=1e-8)


class Forms(Map):
    def test_every_form_holds_the_same_numbers(self):
        want = self.rows("scores.csv")
        table = self.table("map", "scores.csv")
        self.assertEqual(list(table), NAMES)
        self.assertEqual([list(row) for row in zip(*table.values())], want)
        for name in ["p.csv", "p.json", "p.npy"]:
            self.assertEqual(self.succeed("map", "scores.csv", "-o", name), "")
        self.assertEqual((self.folder / "p.csv").read_text(), self.succeed("map", "scores.csv"))
        self.assertEqual(json.loads((self.folder / "p.json").read_text()), {"columns": NAMES, "rows": want})
        self.assertEqual(npy_rows((self.folder / "p.npy").read_bytes()), want)

    def test_npy_in_and_out(self):
        self.file("scores.npy", npy_bytes(SCORES))
        self.file("labelled.npy", npy_bytes([[*z, k] for k, z in zip(LABELS, SCORES)]))
        self.assertEqual(self.json("map", "scores.npy"), {"columns": list("0123"), "rows": self.rows("scores.csv")})
        self.assertEqual(self.rows("labelled.npy", "--target", 4, "--gradient"),
                         self.rows("labelled.csv", "--target", "label", "--gradient"))
        self.assertEqual(self.rows("scores.npy", "--columns", "3,0"), self.rows("scores.csv", "--columns", "d,a"))

    def test_standard_input(self):
        for content in [csv_text(NAMES, SCORES), npy_bytes(SCORES)]:
            self.assertEqual(self.rows("-", stdin=content), self.rows("scores.csv"))
        self.assertEqual(self.succeed("map", "-", "--no-header", "--separator", ";", "--map", "sparsemax", stdin="4;0;0\n"),
                         "0,1,2\n1,0,0\n")

    def test_missing_values(self):
        text = "a,b\n1,2\n,3\n0,NA\n4,0\n"
        self.fail_with(1, "fenchel map: standard input:4:2: a value is missing; --missing drop leaves such rows out",
                       "map", "-", stdin=text)
        self.assertEqual(self.rows("-", "--missing", "drop", "--map", "sparsemax", stdin=text), [[0, 1], [1, 0]])

    def test_masks(self):
        rows = [["2", "", "1"], ["-inf", "1", "1"], ["", "3", "-inf"]]
        self.file("masked.csv", csv_text("abc", rows))
        full = [[2, 1], [1, 1]]
        for name, *options in [("softmax",), ("sparsemax",), ("entmax", "--alpha", "5"), ("entmax", "--alpha", "inf"),
                               ("entmax", "--alpha", "0.7")]:
            self.file("full.csv", csv_text("ab", full))
            kept = self.rows("full.csv", "--map", name, *options)
            expected = [[kept[0][0], 0, kept[0][1]], [0, *kept[1]], [0, 1, 0]]
            self.assertEqual(self.rows("masked.csv", "--map", name, *options), expected, name)
        numbers = [[float(z) if z else -math.inf for z in row] for row in rows]
        self.file("masked.npy", npy_bytes(numbers))
        for name in ("softmax", "fusedmax", "smooth-sparsemax"):
            probabilities = self.rows("masked.npy", "--map", name)
            self.assertEqual(probabilities, self.rows("masked.csv", "--map", name))
            for row, scores in zip(probabilities, numbers):
                self.assertTrue(all(p == 0 for p, z in zip(row, scores) if z == -math.inf), name)
                self.assertAlmostEqual(sum(row), 1, places=14)
        self.assertEqual(self.json("map", "masked.csv", "--map", "softmax")["rows"][2], [0, 1, 0])

    def test_losses_of_masked_scores(self):
        text = "a,b,c,k\n2,,1,0\n2,,1,1\n"
        rows = self.rows("-", "--map", "softmax", "--target", "k", "--gradient", stdin=text)
        self.assertAlmostEqual(rows[0][3], math.log(1 + math.exp(-1)), places=14)
        self.assertEqual(rows[0][5], 0)  # d_b
        self.assertEqual(rows[1][3], "inf")  # the class is masked
        self.fail_with(1, "fenchel map: standard input:2:3: a value is missing; --missing drop leaves such rows out",
                       "map", "-", "--target", "k", stdin="a,b,k\n1,2,\n")

    def test_a_row_of_masks_alone(self):
        self.fail_with(1, "fenchel map: standard input:3:2: all scores of the row are masked",
                       "map", "-", "--columns", "b,c", stdin="a,b,c\n1,2,3\n1,,-inf\n")
        self.file("masked.npy", npy_bytes([[1, 2], [-math.inf, -math.inf]]))
        self.fail_with(1, "fenchel map: masked.npy: row 1, column 0: all scores of the row are masked",
                       "map", "masked.npy")
        self.assertEqual(self.rows("-", "--missing", "drop", "--map", "softmax", stdin="a,b\n,\n1,1\n"), [[0.5, 0.5]])

    def test_many_rows_stream_through(self):
        count = 200_000
        random.seed(5)
        some = [[round(random.gauss(0, 1), 3) for _ in range(4)] for _ in range(1000)]
        self.file("big.csv", csv_text(NAMES, some * (count // 1000)))
        self.assertEqual(self.succeed("map", "big.csv", "-o", "p.csv"), "")
        lines = (self.folder / "p.csv").read_text().splitlines()
        self.assertEqual(len(lines), count + 1)
        self.assertEqual(lines[1:1001] * (count // 1000), lines[1:])
        for line, scores in list(zip(lines[1:], some))[::50]:
            self.assert_close(list(map(float, line.split(","))), entmax(1.5, scores), 1e-13)
        self.assertEqual([path.name for path in self.folder.iterdir() if "p.csv" in path.name], ["p.csv"])
        self.assertEqual(lines, self.succeed("map", "big.csv", "--threads", 1).splitlines())

    def test_a_terminal_shows_a_table_and_no_progress_between_its_rows(self):
        self.file("steps.csv", csv_text(["a", "long name"], [[0, 1], [0.5, 0.75]]))
        self.assertEqual(self.on_terminal("map", "steps.csv", "--map", "softmax"),
                         "       a  long name\r\n0.268941   0.731059\r\n0.437823   0.562177\r\n")
        self.file("big.csv", csv_text(NAMES, SCORES * 30_000))
        lines = self.on_terminal("map", "big.csv", "--alpha", 1.9).splitlines()
        self.assertEqual(len(lines), 120_001)
        self.assertEqual(len(set(lines)), 5)

    def on_terminal(self, *arguments):
        """What a terminal gets of standard output and standard error."""
        reader, terminal = os.openpty()
        with subprocess.Popen([FENCHEL, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal,
                              cwd=self.folder, env={**os.environ, "TERM": "xterm"}) as process:
            os.close(terminal)
            pieces = []
            try:
                while piece := os.read(reader, 1 << 16):
                    pieces.append(piece)
            except OSError:  # Linux's way to say that the other side is closed
                pass
        os.close(reader)
        self.assertEqual(process.returncode, 0)
        return b"".join(pieces).decode()

    def test_a_table_without_rows(self):
        self.assertEqual(self.succeed("map", "-", stdin="a,b\n"), "a,b\n")
        self.assertEqual(self.rows("-", stdin="a,b\n"), [])

    def test_the_examples_of_the_help_work(self):
        text = self.succeed("map", "--help")
        self.file("scores.npy", npy_bytes(SCORES))
        self.file("scores.csv", (self.folder / "labelled.csv").read_bytes())
        examples = [line.split() for line in text.splitlines() if line.startswith("  fenchel map")]
        self.assertEqual(len(examples), 4)
        for example in examples:
            self.succeed(*example[1:])


class Refusals(Map):
    def test_files(self):
        self.file("empty.csv", b"")
        self.file("binary.csv", bytes(range(256)))
        self.file("text.csv", "a,b\n1,2\n3,four\n")
        self.file("short.csv", "a,b\n1,2\n3\n")
        self.file("infinite.csv", "a,b\n1,inf\n")
        for name, message in [
                ("empty.csv", "empty.csv: is empty"),
                ("absent.csv", "absent.csv: cannot be opened: No such file or directory"),
                (".", ".: is a directory"),
                ("text.csv", "text.csv:3:2: expected a number, got 'four'"),
                ("short.csv", "short.csv:3:2: expected 2 fields, got 1"),
                ("infinite.csv", "infinite.csv:2:2: must be finite or -inf, got 'inf'")]:
            self.fail_with(1, "fenchel map: " + message, "map", name)
        done = self.run_fenchel("map", "binary.csv")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Afenchel map: binary\.csv:1:1: a name must hold no control characters .*\n\Z")

    def test_columns(self):
        self.fail_with(1, "fenchel map: scores.csv: has no column 'x'; its columns are 'a', 'b', 'c', 'd'",
                       "map", "scores.csv", "--columns", "a,x")
        self.fail_with(1, "fenchel map: scores.csv: has no column 'x'; its columns are 'a', 'b', 'c', 'd'",
                       "map", "scores.csv", "--target", "x")
        self.fail_with(2, "fenchel map: --target a is among --columns; it cannot be a score as well",
                       "map", "scores.csv", "--columns", "a,b", "--target", "a")
        self.fail_with(2, "fenchel map: the result would have two columns 'loss'; choose the scores with --columns",
                       "map", "-", "--target", "k", stdin="k,a,loss\n0,1,2\n")
        self.file("scores.npy", npy_bytes(SCORES))
        self.fail_with(2, "fenchel map: the columns of a .npy file are called 0, 1, ..., got 'a'",
                       "map", "scores.npy", "--columns", "a")

    def test_classes_that_are_none(self):
        for label in ["4", "-1", "1.5", "-100"]:
            self.file("bad.csv", csv_text(NAMES + ["label"], [[*SCORES[0], 1], [*SCORES[1], label]]))
            self.fail_with(1, f"fenchel map: bad.csv:3:5: the target must be a class from 0 to 3, got {label}",
                           "map", "bad.csv", "--target", "label")
        self.file("bad.npy", npy_bytes([[1, 2, 0], [1, 2, 2]]))
        self.fail_with(1, "fenchel map: bad.npy: row 1, column 2: the target must be a class from 0 to 1, got 2",
                       "map", "bad.npy", "--target", 2)

    def test_a_measure(self):
        """Softmax with a prior; weights of each row; a weight of two is a score that is there twice."""
        weights = [0.5, 2, 1, 0]
        self.file("prior.csv", csv_text(NAMES, [weights]))
        for p, scores in zip(self.rows("scores.csv", "--map", "softmax", "--measure", "prior.csv"), SCORES):
            masses = [w * math.exp(z) for w, z in zip(weights, scores)]
            self.assert_close(p, [m / sum(masses) for m in masses])
        self.file("each.csv", csv_text(NAMES, [[1, 1, 1, 1]] * 3 + [[2, 2, 2, 2]]))
        rows = self.rows("scores.csv", "--alpha", 1.3, "--measure", "each.csv")
        for p, scores in zip(rows[:3], SCORES[:3]):
            self.assert_close(p, entmax(1.3, scores))
        self.assert_close(rows[3], [2 * x for x in entmax(1.3, SCORES[3] * 2)[:4]])
        labelled = self.rows("labelled.csv", "--map", "softmax", "--target", "label", "--measure", "prior.csv")
        for row, label in zip(labelled[:3], LABELS[:3]):
            self.assert_close(row[4:], [-math.log(row[label])])

    def test_a_measure_that_does_not_fit(self):
        self.file("short.csv", csv_text(["a"], [[1]]))
        self.file("rows.csv", csv_text(NAMES, [[1, 1, 1, 1]] * 3))
        self.file("empty.csv", "a,b,c,d\n")
        self.file("negative.csv", csv_text(NAMES, [[1, 1, -1, 1]]))
        count = "expected one row of weights, or one for each row of scores, got "
        for name, status, message in [
                ("short.csv", 1, "short.csv: expected 4 columns, as many as there are scores, got 1"),
                ("rows.csv", 1, "rows.csv: " + count + "3"), ("empty.csv", 1, "empty.csv: " + count + "0"),
                ("negative.csv", 2, "weights[0][2] must be finite and not negative, got -1")]:
            self.fail_with(status, "fenchel map: " + message, "map", "scores.csv", "--measure", name)

    def test_options_that_contradict_each_other(self):
        for arguments, message in [
                (["--map", "fusedmax", "--measure", "scores.csv"],
                 "--measure does not go with --map fusedmax; softmax, sparsemax and entmax have it"),
                (["--map", "softmax", "--alpha", 2], "--map softmax is --alpha 1, got --alpha 2; leave one out"),
                (["--map", "sparsemax", "--alpha", 1.5], "--map sparsemax is --alpha 2, got --alpha 1.5; leave one out"),
                (["--gamma", 1], "--gamma does not go with --map entmax; fusedmax and smooth-sparsemax have it"),
                (["--map", "fusedmax", "--alpha", 2], "--alpha does not go with --map fusedmax; it has --gamma"),
                (["--gradient"], "--gradient needs --target, the column of the classes"),
                (["--json", "-o", "p.npy"], "--json and --output p.npy ask for two forms; leave one out")]:
            self.fail_with(2, "fenchel map: " + message, "map", "scores.csv", *arguments)
        self.assertFalse((self.folder / "p.npy").exists())

    def test_values_that_mean_nothing(self):
        for arguments, message in [
                (["--alpha", 0], "alpha must be positive, got 0"),
                (["--alpha", "-1"], "alpha must be positive, got -1"),
                (["--alpha", "nan"], "--alpha: expected a number such as 1.5, 4/3 or inf, got 'nan'"),
                (["--map", "fusedmax", "--gamma", "-1"], "gamma must be finite and not negative, got -1"),
                (["--map", "smooth-sparsemax", "--gamma", "inf"], "gamma must be finite and not negative, got inf"),
                (["--map", "hardmax"], "--map: expected one of softmax, sparsemax, entmax, fusedmax, smooth-sparsemax, "
                                       "got 'hardmax'")]:
            self.fail_with(2, "fenchel map: " + message, "map", "scores.csv", *arguments)

    def test_outputs_that_cannot_be_written(self):
        self.fail_with(1, "fenchel map: cannot write nowhere/p.csv: No such file or directory",
                       "map", "scores.csv", "-o", "nowhere/p.csv")
        self.fail_with(1, "fenchel map: cannot write /dev/full: No space left on device",
                       "map", "scores.csv", "-o", "/dev/full")

    def test_an_error_leaves_the_old_file(self):
        self.file("p.csv", "old\n")
        self.file("bad.csv", csv_text(NAMES, SCORES * 20_000) + "1,2,3,x\n")
        self.fail_with(1, "fenchel map: bad.csv:80002:4: expected a number, got 'x'", "map", "bad.csv", "-o", "p.csv")
        self.assertEqual((self.folder / "p.csv").read_text(), "old\n")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["bad.csv", "labelled.csv", "p.csv", "scores.csv"])


if __name__ == "__main__":
    unittest.main()
