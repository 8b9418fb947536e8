"""fenchel kde: densities at points against sums over rows, bandwidths, half-lines, and what it refuses."""
import math
import unittest

from harness import CommandLine, csv_text

X = [1.0, 2.0, 2.5, 4.0, 7.0]
DATA = csv_text(["x"], [[x] for x in X])
KERNELS = {"gaussian": 1, "triweight": 4 / 3, "biweight": 1.5, "epanechnikov": 2, "uniform": math.inf}


def kernel(alpha, u, n=1):
    """Of covariance I at distance u, docs/math.md 10.1."""
    if alpha == 1:
        return math.exp(-u * u / 2) / (2 * math.pi) ** (n / 2)
    e = 0 if alpha == math.inf else 1 / (alpha - 1)
    square = n + 2 + 2 * e
    peak = math.gamma(n / 2 + e + 1) / math.gamma(e + 1) / (math.pi * square) ** (n / 2)
    return peak * max(0, 1 - u * u / square) ** e if u * u < square else 0


class Densities(CommandLine):
    def test_values_are_sums_over_rows(self):
        self.file("x.csv", DATA)
        for name, alpha in KERNELS.items():
            got = self.table("kde", "x.csv", "--kernel", name, "--bandwidth", 0.7, "--at", "0,2.2,5,40")
            self.assertEqual(list(got), ["x", "pdf", "log_pdf", "cdf"])
            for t, pdf, log_pdf in zip(got["x"], got["pdf"], got["log_pdf"]):
                want = sum(kernel(alpha, (t - x) / 0.7) for x in X) / (len(X) * 0.7)
                self.assertAlmostEqual(pdf, want, delta=1e-14)
                if want:
                    self.assertAlmostEqual(log_pdf, math.log(want), delta=1e-12)
            self.assertAlmostEqual(got["cdf"][3], 1, delta=1e-12)
            if alpha > 1:
                self.assertEqual((got["pdf"][3], got["log_pdf"][3]), (0, -math.inf))

    def test_weights_are_repeated_rows(self):
        self.file("once.csv", csv_text(["x", "w"], [[x, 1 + k % 3] for k, x in enumerate(X)]))
        self.file("many.csv", csv_text(["x"], [[x] for k, x in enumerate(X) for _ in range(1 + k % 3)]))
        for more in ([], ["--bandwidth", "sheather-jones"]):
            once = self.table("kde", "once.csv", "--weight", "w", "--at", "1,3", *more)
            many = self.table("kde", "many.csv", "--at", "1,3", *more)
            self.assert_agree(once, many, 1e-9)

    def test_the_plane_and_a_table_of_points(self):
        rows = [[0, 0, 5], [1, 2, 5], [3, 1, 5]]
        self.file("data.csv", csv_text(["a", "b", "c"], rows))
        self.file("new.csv", csv_text(["b", "a"], [[2, 1], [9, 9]]))
        got = self.table("kde", "data.csv", "--columns", "a,b", "--bandwidth", "1,2", "--points", "new.csv")
        want = sum(kernel(2, math.hypot(1 - a, (2 - b) / 2), 2) for a, b, _ in rows) / (3 * 2)
        self.assertEqual((got["a"], got["b"]), ([1, 9], [2, 9]))
        self.assertAlmostEqual(got["pdf"][0], want, delta=1e-14)
        self.assertEqual(got["pdf"][1], 0)

    def test_a_half_line_loses_no_mass(self):
        self.file("x.csv", DATA)
        for alpha in (1, 2):
            grid = self.table("kde", "x.csv", "--alpha", alpha, "--lower", 0.5, "--grid", 2001)
            self.assertEqual(grid["x"][0], 0.5)
            step = grid["x"][1] - grid["x"][0]
            mass = step * (sum(grid["pdf"]) - (grid["pdf"][0] + grid["pdf"][-1]) / 2)
            self.assertAlmostEqual(mass, 1, delta=1e-3 if alpha == 1 else 1e-5)
            self.assertEqual(grid["cdf"][0], 0)
        self.assertEqual(self.table("kde", "x.csv", "--upper", 7, "--at", "7,7.1")["pdf"][1], 0)


class Bandwidths(CommandLine):
    def test_what_is_said_without_points(self):
        self.file("x.csv", DATA)
        # R: bw.nrd0(c(1, 2, 2.5, 4, 7)) = 0.727885, times (3 / (5 sqrt 5) 2 sqrt(pi))^(1/5) for Epanechnikov's kernel.
        got = self.json("kde", "x.csv", "--alpha", 1)
        self.assertEqual(list(got), ["rows", "weight", "alpha", "bandwidth", "rule", "radius", "support"])
        self.assertAlmostEqual(got["bandwidth"]["x"], 0.9 * 2 / 1.34 * 5 ** -0.2, delta=1e-12)
        self.assertEqual((got["radius"], got["rule"], got["rows"]), ("inf", "silverman", 5))
        share = (3 / (5 * math.sqrt(5)) * 2 * math.sqrt(math.pi)) ** 0.2
        other = self.json("kde", "x.csv")
        self.assertAlmostEqual(other["bandwidth"]["x"], share * got["bandwidth"]["x"], delta=1e-12)
        reach = math.sqrt(5) * other["bandwidth"]["x"]
        self.assert_agree(other["support"]["x"], [1 - reach, 7 + reach], 1e-12)

    def test_every_rule_and_its_scores(self):
        self.file("x.csv", csv_text(["x"], [[math.sin(k * k) + k % 2 * 3] for k in range(200)]))
        found = {rule: self.json("kde", "x.csv", "--bandwidth", rule, "--scores")
                 for rule in ("silverman", "sheather-jones", "likelihood", "least-squares")}
        best = max(found, key=lambda rule: float(found[rule]["likelihood_score"]))
        least = min(found, key=lambda rule: found[rule]["least_squares_score"])
        self.assertEqual((best, least), ("likelihood", "least-squares"))

    def test_threads_give_the_same(self):
        self.file("x.csv", csv_text(["x"], [[math.sin(k * k)] for k in range(5000)]))
        ways = [self.succeed("kde", "x.csv", "--grid", 999, "--threads", threads) for threads in (1, 2, 3)]
        self.assertEqual(len(set(ways)), 1)


class Refusals(CommandLine):
    def test_what_means_nothing(self):
        self.file("x.csv", DATA)
        self.file("plane.csv", csv_text(["a", "b"], [[1, 2], [3, 4], [5, 7]]))
        self.file("same.csv", csv_text(["x"], [[3], [3]]))
        for message, *arguments in (
            ("--kernel is an --alpha with a name; give one of them", "x.csv", "--kernel", "gaussian", "--alpha", 2),
            ("--bandwidth: expected a number or one of silverman, sheather-jones, likelihood, least-squares, got 'best'", "x.csv", "--bandwidth", "best"),
            ("--grid is for one column; give --points for more", "plane.csv", "--grid", 9),
            ("--grid must be a whole number from 2 to 1e9, got 1.5", "x.csv", "--grid", 1.5),
            ("--at: expected a point with 2 coordinates, got '1'; repeat --at for more", "plane.csv", "--at", 1),
        ):
            done = self.run_fenchel("kde", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)
        for message, *arguments in (
            ("same.csv: the values of a column must not all be the same, got 3", "same.csv"),
            ("x.csv: alpha must be at least 1, got 0.5", "x.csv", "--alpha", 0.5),
            ("x.csv: bandwidth must be positive and finite, got -1", "x.csv", "--bandwidth", -1),
            ("x.csv: points[0] must be in the domain, got 1", "x.csv", "--lower", 1.5),
            ("new.csv: expected 1 columns, as many as the data have, got 2", "x.csv", "--points", "new.csv"),
        ):
            self.file("new.csv", csv_text(["a", "b"], [[1, 2]]))
            done = self.run_fenchel("kde", *arguments)
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
