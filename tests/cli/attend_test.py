"""fenchel attend: contexts, densities and matched weights against brute force written here, and what it refuses."""
import math
import struct
import unittest

from harness import CommandLine, csv_text

FRAMES = 120


def positions(count):
    return [(k + 0.5) / count for k in range(count)]


def parabola(mu, sigma2, t):
    """The density at alpha = 2: (1 - x^2)_+ 3 / (4 a), a = (3 sigma2 / 2)^(1/3)."""
    a = (1.5 * sigma2) ** (1 / 3)
    return max(1 - ((t - mu) / a) ** 2, 0) * 3 / (4 * a)


def gaussian(mean, width, t):
    return math.exp(-((t - mean) / width) ** 2 / 2) / (width * math.sqrt(2 * math.pi))


def solve(matrix, right):
    """By elimination with pivots."""
    rows = [list(row) + [b] for row, b in zip(matrix, right)]
    n = len(rows)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k])]
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - sum(rows[k][j] * x[j] for j in range(k + 1, n))) / rows[k][k]
    return x


def context(signal, mu, sigma2, functions, width, ridge):
    """The whole way at alpha = 2: normal equations, and the midpoint rule over the support."""
    means = [k / (functions - 1) for k in range(functions)]
    design = [[gaussian(m, width, t) for t in positions(len(signal))] for m in means]
    gram = [[sum(x * y for x, y in zip(f, g)) + (ridge if i == j else 0) for j, g in enumerate(design)]
            for i, f in enumerate(design)]
    b = solve(gram, [sum(x * y for x, y in zip(f, signal)) for f in design])
    a, steps = (1.5 * sigma2) ** (1 / 3), 4000
    points = [mu - a + 2 * a * (k + 0.5) / steps for k in range(steps)]
    return 2 * a / steps * math.fsum(parabola(mu, sigma2, t) * sum(c * gaussian(m, width, t) for c, m in zip(b, means))
                                     for t in points)


class Attend(CommandLine):
    def setUp(self):
        super().setUp()
        self.t = positions(FRAMES)
        self.w = [math.exp(-((t - 0.4) / 0.08) ** 2) + 0.3 * math.exp(-((t - 0.6) / 0.05) ** 2) for t in self.t]
        self.wave = [math.sin(6 * t) for t in self.t]
        self.file("signal.csv", csv_text(["left", "right", "w"], zip(self.wave, self.t, self.w)))


class Contexts(Attend):
    def test_the_record(self):
        done = self.json("attend", "signal.csv", "--columns", "right,left", "--mu", .3, "--sigma2", .002)
        self.assertEqual(list(done), ["frames", "basis", "density", "context"])
        self.assertEqual((done["frames"], done["basis"]), (FRAMES, 64))
        self.assertEqual(list(done["density"]), ["alpha", "mu", "sigma2", "variance", "support"])
        self.assertEqual([done["density"][key] for key in ("alpha", "mu", "sigma2")], [2, .3, .002])
        self.assertEqual(list(done["context"]), ["right", "left"])

    def test_the_context_is_the_integral_of_the_regression(self):
        for functions, width, ridge in [(6, .2, .01), (9, 1 / 9, .5)]:
            done = self.json("attend", "signal.csv", "--mu", .3, "--sigma2", .002, "--basis", functions,
                             "--basis-sigma", repr(width), "--ridge", ridge)
            self.assertEqual(done["basis"], functions)
            for name, signal in [("left", self.wave), ("right", self.t)]:
                self.assertAlmostEqual(done["context"][name], context(signal, .3, .002, functions, width, ridge), delta=1e-7)

    def test_the_width_is_one_share_of_the_interval_and_the_ridge_small(self):
        arguments = ["attend", "signal.csv", "--mu", .3, "--sigma2", .002, "--basis", 10]
        self.assertEqual(self.json(*arguments), self.json(*arguments, "--basis-sigma", "1/10", "--ridge", ".1", "--alpha", 2))

    def test_the_support_is_the_closed_form(self):
        for sigma2 in [1e-6, .002, .03]:
            a = (1.5 * sigma2) ** (1 / 3)
            density = self.json("attend", "signal.csv", "--mu", .3, "--sigma2", sigma2)["density"]
            self.assertAlmostEqual(density["support"][0], .3 - a, delta=1e-15)
            self.assertAlmostEqual(density["support"][1], .3 + a, delta=1e-15)
            self.assertAlmostEqual(density["variance"], a * a / 5, delta=1e-15)
        self.assertEqual(self.json("attend", "signal.csv", "--mu", .3, "--sigma2", .01, "--alpha", 1)["density"],
                         {"alpha": 1, "mu": .3, "sigma2": .01, "variance": .01, "support": ["-inf", "inf"]})

    def test_a_constant_signal_is_its_own_context(self):
        for frames, delta in [(10, 2e-2), (50, 1e-3), (500, 1e-4)]:
            for alpha in [1, 1.5, 2]:
                got = self.json("attend", "-", "--mu", .5, "--sigma2", .001, "--alpha", alpha, "--ridge", .01,
                                stdin="x\n" + "7\n" * frames)
                self.assertAlmostEqual(got["context"]["x"], 7, delta=delta)

    def test_a_straight_line_gives_the_middle_of_the_density(self):
        for mu in [.3, .5, .62]:
            done = self.json("attend", "signal.csv", "--columns", "right", "--mu", mu, "--sigma2", .001)
            self.assertAlmostEqual(done["context"]["right"], mu, delta=1e-4)

    def test_a_smooth_signal_gives_its_integral(self):
        a, steps = (1.5 * .002) ** (1 / 3), 2000
        points = [.3 - a + 2 * a * (k + .5) / steps for k in range(steps)]
        want = 2 * a / steps * sum(math.sin(6 * t) * parabola(.3, .002, t) for t in points)
        done = self.json("attend", "signal.csv", "--mu", .3, "--sigma2", .002, "--ridge", .01)
        self.assertAlmostEqual(done["context"]["left"], want, delta=1e-5)


class Weights(Attend):
    def test_the_density_has_the_moments_of_the_weights(self):
        total = math.fsum(self.w)
        mean = math.fsum(w * t for w, t in zip(self.w, self.t)) / total
        spread = math.fsum(w * (t - mean) ** 2 for w, t in zip(self.w, self.t)) / total + 1 / (12 * FRAMES ** 2)
        for alpha in [.8, 1, 4 / 3, 1.5, 2, 3]:
            done = self.json("attend", "signal.csv", "--weight", "w", "--alpha", repr(alpha))
            self.assertEqual(list(done), ["frames", "basis", "density", "context", "discrete"])
            self.assertAlmostEqual(done["density"]["mu"], mean, delta=1e-14)
            self.assertAlmostEqual(done["density"]["variance"], spread, delta=1e-14)
            self.assertEqual(list(done["context"]), ["left", "right"])
            for name, signal in [("left", self.wave), ("right", self.t)]:
                want = math.fsum(w * x for w, x in zip(self.w, signal)) / total
                self.assertAlmostEqual(done["discrete"][name], want, delta=1e-14)
            self.assertAlmostEqual(done["context"]["right"], mean, delta=1e-4)

    def test_weights_give_what_their_density_gives(self):
        matched = self.json("attend", "signal.csv", "--weight", "w", "--alpha", 1.5)
        given = self.json("attend", "signal.csv", "--columns", "left,right", "--alpha", 1.5,
                          "--mu", repr(matched["density"]["mu"]), "--sigma2", repr(matched["density"]["sigma2"]))
        del matched["discrete"]
        self.assertEqual(matched, given)

    def test_only_the_proportions_of_weights_count(self):
        text = csv_text(["x", "w"], [[x, 1024 * w] for x, w in zip(self.wave, self.w)])
        self.file("once.csv", csv_text(["x", "w"], zip(self.wave, self.w)))
        self.assertEqual(self.json("attend", "-", "--weight", "w", stdin=text), self.json("attend", "once.csv", "--weight", "w"))


class Forms(Attend):
    def test_every_form_holds_the_same_numbers(self):
        arguments = ["attend", "signal.csv", "--weight", "w"]
        done = self.json(*arguments)
        lines = dict(line.split(",") for line in self.succeed(*arguments).splitlines())
        self.assertEqual(lines.pop("name"), "value")
        self.assertEqual({name: float(value) for name, value in lines.items()},
                         {"frames": FRAMES, "basis": 64,
                          **{"density." + key: value for key, value in done["density"].items() if key != "support"},
                          "density.support.0": done["density"]["support"][0],
                          "density.support.1": done["density"]["support"][1],
                          **{f"{part}.{key}": value for part in ("context", "discrete") for key, value in done[part].items()}})
        self.assertEqual(self.succeed(*arguments, "-o", "c.json"), "")
        self.assertEqual((self.folder / "c.json").read_text(), self.succeed(*arguments, "--json"))

    def test_npy_and_standard_input(self):
        header = f"{{'descr': '<f8', 'fortran_order': True, 'shape': ({FRAMES}, 3), }}".ljust(117) + "\n"
        numbers = [*self.wave, *self.t, *self.w]
        content = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + struct.pack(f"<{3 * FRAMES}d", *numbers)
        want = self.json("attend", "signal.csv", "--weight", "w")
        for part in ("context", "discrete"):
            want[part] = dict(zip("01", want[part].values()))
        self.file("signal.npy", content)
        self.assertEqual(self.json("attend", "signal.npy", "--weight", 2), want)
        self.assertEqual(self.json("attend", "-", "--weight", 2, stdin=content), want)

    def test_few_frames_have_as_few_functions(self):
        self.assertEqual(self.json("attend", "-", "--mu", .5, "--sigma2", .01, stdin="x\n1\n2\n3\n")["basis"], 3)

    def test_the_examples_of_the_help_work(self):
        examples = [line.split() for line in self.succeed("attend", "--help").splitlines() if line.startswith("  fenchel")]
        self.assertEqual(len(examples), 2)
        for example in examples:
            self.succeed(*example[1:])
        done = self.json("attend", "-", "--no-header", "--mu", "1/2", "--sigma2", .001,
                         stdin="\n".join(map(str, range(1, 101))))
        self.assertAlmostEqual(done["context"]["0"], 50.5, delta=1e-3)


class Refusals(Attend):
    def test_densities(self):
        for arguments in [[], ["--mu", .3], ["--sigma2", .1], ["--mu", .3, "--weight", "w"],
                          ["--mu", .3, "--sigma2", .1, "--weight", "w"]]:
            self.fail_with(2, "fenchel attend: the density needs either --mu and --sigma2 or --weight",
                           "attend", "signal.csv", *arguments)
        for arguments, message in [
                (["--sigma2", 0], "sigma2 must be positive and finite, got 0"),
                (["--sigma2", ".1", "--mu", "inf"], "mu must be finite, got inf"),
                (["--sigma2", ".1", "--alpha", 0], "alpha must be positive on the line, got 0"),
                (["--sigma2", ".1", "--alpha", "two"], "--alpha: expected a number such as 1.5, 4/3 or inf, got 'two'"),
                (["--sigma2", ".1", "--basis-sigma", 0], "--basis-sigma must be positive and finite, got 0"),
                (["--sigma2", ".1", "--ridge", "-1"], "--ridge must be finite and not negative, got -1"),
                (["--sigma2", ".1", "--ridge", "0", "--basis-sigma", 1],
                 "ridge must be larger, since F and ridge make a singular system, got 0"),
                (["--sigma2", ".1", "--basis", 0], "--basis: expected a whole number from 1 to 4096, got '0'"),
                (["--sigma2", ".1", "-o", "c.npy"],
                 "--output: a result with names has no .npy form; use .json or .csv")]:
            mu = [] if "--mu" in arguments else ["--mu", .3]
            self.fail_with(2, "fenchel attend: " + message, "attend", "signal.csv", *mu, *arguments)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["signal.csv"])

    def test_weights(self):
        self.fail_with(2, "fenchel attend: --weight w is among --columns; it cannot be a channel as well",
                       "attend", "signal.csv", "--weight", "w", "--columns", "left,w")
        self.fail_with(2, "fenchel attend: alpha must be finite and greater than 1/3, got inf",
                       "attend", "signal.csv", "--weight", "w", "--alpha", "inf")
        self.fail_with(1, "fenchel attend: signal.csv: has no column 'v'; its columns are 'left', 'right', 'w'",
                       "attend", "signal.csv", "--weight", "v")
        for text, message in [("x,w\n1,1\n2,-0.5\n", ":3:2: a weight must not be negative, got -0.5"),
                              ("x,w\n1,0\n2,0\n", ": the weights must have a positive and finite sum, got 0"),
                              ("x,w\n1,1e308\n2,1e308\n", ": the weights must have a positive and finite sum, got inf")]:
            self.file("bad.csv", text)
            self.fail_with(1, "fenchel attend: bad.csv" + message, "attend", "bad.csv", "--weight", "w")

    def test_files(self):
        self.file("bad.csv", "x\n1\n2\nthree\n")
        density = ["--mu", .3, "--sigma2", .1]
        self.fail_with(1, "fenchel attend: bad.csv:4:1: expected a number, got 'three'", "attend", "bad.csv", *density)
        self.fail_with(1, "fenchel attend: standard input: has no frames", "attend", "-", *density, stdin="x\n")
        self.fail_with(1, "fenchel attend: standard input: is empty", "attend", "-", *density)
        self.fail_with(1, "fenchel attend: absent.csv: cannot be opened: No such file or directory",
                       "attend", "absent.csv", *density)
        self.fail_with(1, "fenchel attend: cannot write nowhere/c.json: No such file or directory",
                       "attend", "signal.csv", *density, "-o", "nowhere/c.json")
        self.fail_with(1, "fenchel attend: cannot write /dev/full: No space left on device",
                       "attend", "signal.csv", *density, "-o", "/dev/full")


if __name__ == "__main__":
    unittest.main()
