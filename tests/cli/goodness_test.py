"""fenchel fit: how good a fit is, its warnings, intervals and bootstrap."""
import json
import math
import random
import statistics
import unittest

from harness import CommandLine

NORMAL = statistics.NormalDist()


def column(name, values):
    return name + "\n" + "".join(f"{value!r}\n" for value in values)


def gaussian_crps(t, mean, deviation):
    """T. Gneiting, A. Raftery (2007)."""
    z = (t - mean) / deviation
    return deviation * (z * (2 * NORMAL.cdf(z) - 1) + 2 * NORMAL.pdf(z) - 1 / math.sqrt(math.pi))


class Goodness(CommandLine):
    def record(self, values, *arguments):
        """The record, and what is said on standard error."""
        self.file("data.csv", column("t", values))
        done = self.run_fenchel("fit", "data.csv", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        record = json.loads(done.stdout)
        said = "".join(f"fenchel fit: warning: {warning}\n" for warning in record["warnings"])
        self.assertEqual(done.stderr, said)
        return record

    def test_a_gaussian_by_its_formulas(self):
        random.seed(5)
        values = [random.gauss(2, 3) for _ in range(500)]
        found = self.record(values, "--family", "gaussian", "--level", "0.9")
        mean, deviation = statistics.fmean(values), statistics.pstdev(values)
        fitted = statistics.NormalDist(mean, deviation)
        likelihood = sum(math.log(fitted.pdf(t)) for t in values)
        ordered = sorted(fitted.cdf(t) for t in values)
        distance = max(max((k + 1) / 500 - u, u - k / 500) for k, u in enumerate(ordered))
        darling = -500 - sum((2 * k + 1) * (math.log(u) + math.log(1 - v)) for k, (u, v) in
                             enumerate(zip(ordered, reversed(ordered)))) / 500
        error = deviation / math.sqrt(500) * NORMAL.inv_cdf(0.95)
        for got, expected in [(found["log_likelihood"], likelihood), (found["aic"], 4 - 2 * likelihood),
                              (found["bic"], 2 * math.log(500) - 2 * likelihood),
                              (found["crps"], statistics.fmean(gaussian_crps(t, mean, deviation) for t in values)),
                              (found["kolmogorov_smirnov"], distance), (found["anderson_darling"], darling),
                              (found["intervals"]["mu"][0], mean - error),
                              (found["intervals"]["mu"][1], mean + error)]:
            self.assertAlmostEqual(got, expected, delta=1e-9 * abs(expected))
        self.assertEqual((found["outside"], found["warnings"], found["intervals"]["method"]), (0, [], "wald"))

    def test_rows_outside_of_the_support_are_said(self):
        self.succeed("sample", "biweight", "--mu", "5", "--sigma2", "2", "-n", "398", "--seed", "3", "-o", "d.csv")
        values = [float(line) for line in (self.folder / "d.csv").read_text().split()[1:]]
        found = self.record(values)
        lower, upper = found["support"]
        outside = sum(not lower <= t <= upper for t in values)
        self.assertEqual((found["outside"], found["log_likelihood"], found["aic"]), (outside, "-inf", "inf"))
        self.assertGreater(outside, 0)
        self.assertLess(found["log_likelihood_inside"], 0)
        self.assertRegex(found["warnings"][0], rf"\A{outside} of 398 rows \(0\.\d+%\) lies? outside of the support \[")
        self.assertEqual(self.record(values, "--family", "biweight")["outside"] > 0,
                         bool(self.record(values, "--family", "biweight")["warnings"]))
        quiet = self.run_fenchel("fit", "data.csv", "--quiet")
        self.assertEqual((quiet.returncode, quiet.stderr), (0, ""))
        self.assertIn("warnings.0,", quiet.stdout)

    def test_two_groups_pooled_are_flagged(self):
        random.seed(4)
        values = [random.gauss(0, 1) for _ in range(110)] + [random.gauss(3.2, 1) for _ in range(90)]
        found = self.record(values, "--alpha", "auto")
        errors = found["standard_errors"]
        known = errors["sigma2"] != "nan" and errors["sigma2"] < found["parameters"]["sigma2"]
        self.assertTrue(found["warnings"] or known, found)
        apart = [random.gauss(0, 1) for _ in range(100)] + [random.gauss(30, 1) for _ in range(100)]
        self.assertIn("the data does not look like draws of the fit",
                      " ".join(self.record(apart, "--family", "gaussian")["warnings"]))

    def test_bootstrap(self):
        random.seed(6)
        values = [random.gauss(0, 1) for _ in range(200)]
        options = ["--family", "gaussian", "--bootstrap", "199", "--seed", "3"]
        found = self.record(values, *options)
        self.assertGreater(found["p_values"]["anderson_darling"], 0.01)
        self.assertEqual(found["bootstrap"], {"replicates": 199, "failed": 0})
        self.assertEqual((found["intervals"]["level"], found["intervals"]["method"]), (0.95, "bootstrap"))
        lower, upper = found["intervals"]["mu"]
        half = 1.96 * found["standard_errors"]["mu"]
        self.assertAlmostEqual(lower, found["parameters"]["mu"] - half, delta=half / 2)
        self.assertAlmostEqual(upper, found["parameters"]["mu"] + half, delta=half / 2)
        self.assertEqual(self.record(values, *options, "--threads", "1"), found)
        self.assertNotEqual(self.record(values, *options[:-1], "4"), found)
        bent = self.record([math.exp(t) for t in values], *options)
        self.assertEqual(bent["p_values"], {"kolmogorov_smirnov": 0.005, "anderson_darling": 0.005})

    def test_what_cannot_be_asked(self):
        self.file("data.csv", "a,b\n1,2\n2,5\n3,6\n4,1\n")
        self.fail_with(2, "fenchel fit: --level must be above 0 and below 1, got 95", "fit", "data.csv", "--level", "95")
        self.fail_with(2, "fenchel fit: --bootstrap: needs a family of one column", "fit", "data.csv", "--bootstrap", "9")


if __name__ == "__main__":
    unittest.main()
