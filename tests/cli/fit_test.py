"""fenchel fit: every family against moments and closed forms computed here, and what it refuses."""
import json
import math
import os
import random
import statistics
import struct
import unittest

from harness import CommandLine

KEYS = ["schema", "kind", "family", "parameters", "standard_errors", "weight", "loss", "support", "mean", "variance"]
LIKELIHOOD = ["log_likelihood", "aic", "bic", "outside"]
GOODNESS = LIKELIHOOD + ["crps", "kolmogorov_smirnov", "anderson_darling", "warnings"]
ALPHAS = [1, math.nextafter(1, 2), 1 + 1e-8, 4 / 3, 1.5, 2, 5, 1e6, 0.8]
# Its variance is 1/12, near which alone sigma2 is a double for a very large alpha.
GRID = [k / math.sqrt(399**2 - 1) for k in range(-199, 200)]


def log_gamma_ratio(eps):
    """D_1 of docs/math.md 5.2: log Gamma(3/2 + 1/eps) eps^(1/2) / Gamma(1 + 1/eps), 0 at 0."""
    if abs(eps) < 1e-12:
        return 0.0
    if eps > 0:
        return math.lgamma(1.5 + 1 / eps) + math.log(eps) / 2 - math.lgamma(1 + 1 / eps)
    return math.lgamma(-1 / eps) + math.log(-eps) / 2 - math.lgamma(-1 / eps - 0.5)


def matched_sigma2(alpha, variance):
    """Moment matching, docs/math.md 5.6 with N = 1."""
    eps = alpha - 1
    return variance * math.exp(eps * (math.log(2 * math.pi * variance) / 2 - log_gamma_ratio(eps))
                               + (2 + eps) / 2 * math.log1p(1.5 * eps))


def column(name, values):
    return name + "\n" + "".join(f"{value!r}\n" for value in values)


def draws(count, seed=1):
    random.seed(seed)
    return [random.betavariate(3, 2) * 4 + 1 for _ in range(count)]


def truncated_gaussian_quantiles(end, count):
    """Quantiles at (k + 1/2) / count of kappa (phi(t) - phi(end)) on [-end, end], and kappa."""
    normal = statistics.NormalDist()
    level = normal.pdf(end)

    def area(t):
        return normal.cdf(t) - normal.cdf(-end) - level * (t + end)

    def quantile(u):
        low, high = -end, end
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if area(middle) < u * area(end) else (low, middle)
        return middle

    return [quantile((k + 0.5) / count) for k in range(count)], 1 / area(end)


class Fit(CommandLine):
    def fit(self, values, *arguments):
        self.file("data.csv", column("t", values))
        return self.json("fit", "data.csv", *arguments)

    def keys(self, done):
        """Its keys, without those that rows outside of the support add."""
        self.assertEqual("log_likelihood_inside" in done, done["outside"] > 0)
        return [key for key in done if key != "log_likelihood_inside"]

    def close(self, got, expected, tolerance=1e-12):
        self.assertAlmostEqual(got, expected, delta=tolerance * max(1, abs(expected)))

    def test_beta_gaussians_match_mean_and_variance(self):
        for alpha in ALPHAS:
            with self.subTest(alpha=alpha):
                values = [3 + t for t in GRID]
                done = self.fit(values, "--alpha", repr(alpha))
                self.assertEqual(self.keys(done), KEYS + GOODNESS)
                self.assertEqual(done["family"], "beta-gaussian")
                self.assertEqual(list(done["parameters"]), ["alpha", "mu", "sigma2"])
                self.assertEqual(list(done["standard_errors"]), ["mu", "sigma2"])
                variance = statistics.pvariance(GRID)
                tolerance = 1e-8 if alpha > 1e3 else 1e-12
                self.assertEqual(done["parameters"]["alpha"], alpha)
                self.close(done["parameters"]["mu"], 3)
                self.close(done["parameters"]["sigma2"] / matched_sigma2(alpha, variance), 1, tolerance)
                self.close(done["mean"], 3)
                self.close(done["variance"], variance)
                self.close(done["standard_errors"]["mu"], math.sqrt(variance / len(GRID)))
                self.assertEqual(done["weight"], len(GRID))
                if alpha <= 1:
                    self.assertEqual(done["support"], ["-inf", "inf"])
                else:  # half width^2 = variance (3 + 2 / (alpha - 1)), docs/math.md 5.1
                    half = math.sqrt(variance * (3 + 2 / (alpha - 1)))
                    self.close(done["support"][0], 3 - half)
                    self.close(done["support"][1], 3 + half)

    def test_members_with_names_have_one_alpha(self):
        values = draws(300)
        for family, alpha in [("gaussian", "1"), ("triweight", "4/3"), ("biweight", "3/2"), ("parabola", "2")]:
            named = self.fit(values, "--family", family)
            general = self.fit(values, "--alpha", alpha)
            self.assertEqual(named.pop("family"), family)
            del general["family"], general["parameters"]["alpha"]
            self.assertEqual(named, general)
        gaussian = self.fit(values, "--family", "gaussian")
        variance = statistics.pvariance(values)
        self.close(gaussian["parameters"]["sigma2"], variance)
        self.close(gaussian["standard_errors"]["sigma2"], variance * math.sqrt(2 / 300))
        # The cross-entropy of the Gaussian with the moments of the data.
        self.close(gaussian["loss"], math.log(2 * math.pi * math.e * variance) / 2)

    def test_uniform(self):
        found = self.fit([0, 1, 5, 6], "--family", "uniform")
        self.assertEqual(self.keys(found), KEYS + GOODNESS)
        half = math.sqrt(3 * 26 / 4)
        self.assertEqual(list(found["parameters"]), ["lower", "upper"])
        self.close(found["parameters"]["lower"], 3 - half)
        self.close(found["parameters"]["upper"], 3 + half)
        self.close(found["standard_errors"]["upper"], half * math.sqrt((1 / 3 + 1 / 5) / 4))
        self.close(found["variance"], 26 / 4)
        self.assertEqual(found["loss"], 0)
        self.assertEqual(self.fit([0, 1, 5, 6], "--alpha", "inf"), found)
        self.assertEqual(self.fit([0.1, 0.2, 0.3], "--alpha", "inf")["loss"], "-inf")  # shorter than 1
        options = [word for name, x in found["parameters"].items() for word in (f"--{name}", repr(x))]
        density = self.json("density", "uniform", *options)
        self.assertEqual((density["parameters"], density["support"]), (found["parameters"], found["support"]))

    def test_alpha_from_the_kurtosis(self):
        values = draws(2000)
        mean, variance = statistics.fmean(values), statistics.pvariance(values)
        kurtosis = statistics.fmean((t - mean)**4 for t in values) / variance**2
        alpha = 1 + 2 * (3 - kurtosis) / (5 * kurtosis - 9)
        done = self.fit(values, "--alpha", "auto")
        self.close(done["parameters"]["alpha"], alpha, 1e-10)
        self.close(done["parameters"]["sigma2"], matched_sigma2(alpha, variance), 1e-9)
        self.assertEqual(list(done["standard_errors"]), ["alpha", "mu", "sigma2"])
        uniform = self.fit([0, 1, 5, 6], "--alpha", "auto")  # flatter than every member: the uniform one
        self.assertEqual((uniform["parameters"]["alpha"], uniform["standard_errors"]["alpha"]), ("inf", "nan"))
        half = math.sqrt(3 * statistics.pvariance([0, 1, 5, 6]))
        self.close(uniform["support"][0], 3 - half)
        self.close(uniform["support"][1], 3 + half)

    def test_absolute_families_match_median_and_deviation(self):
        values = draws(301)
        median = statistics.median(values)
        deviation = statistics.fmean(abs(t - median) for t in values)
        laplace = self.fit(values, "--family", "laplace")
        self.close(laplace["parameters"]["mu"], median)
        self.close(laplace["parameters"]["b"], deviation)
        self.close(laplace["variance"], 2 * deviation**2)
        triangular = self.fit(values, "--family", "triangular")  # half width 3 deviations, sqrt(b)
        self.close(triangular["parameters"]["b"], (3 * deviation)**2)
        self.close(triangular["support"][1], median + 3 * deviation)
        general = self.fit(values, "--family", "beta-laplace", "--alpha", "2")
        self.assertEqual(general["parameters"].pop("alpha"), 2)
        self.assertEqual(general["parameters"], triangular["parameters"])

    def test_capped_and_smooth(self):
        values = draws(301)
        for gamma in ["0", "0.5", "2"]:
            factor = 1 + 2 * float(gamma)
            for family in ["capped-parabola", "smooth-parabola"]:
                done = self.fit(values, "--family", family, "--gamma", gamma)
                self.assertEqual(list(done["parameters"]), ["gamma", "mu", "sigma2"])
                self.assertEqual(list(done["standard_errors"]), ["mu", "sigma2"])
                self.close(done["mean"], statistics.fmean(values))
                self.close(done["variance"], statistics.pvariance(values), 1e-10)
                if family == "capped-parabola":
                    half = (1.5 * done["parameters"]["sigma2"] * factor)**(1 / 3)
                    self.close(done["support"][1] - done["mean"], half)
            capped = self.fit(values, "--family", "capped-triangular", "--gamma", gamma)
            self.close(capped["parameters"]["mu"], statistics.median(values))
            self.close((capped["support"][1] - capped["mean"])**2, capped["parameters"]["b"] * factor)
            smooth = self.fit(values, "--family", "smooth-triangular", "--gamma", gamma)
            self.close(smooth["parameters"]["mu"], statistics.median(values))
            if gamma == "0":
                for done in [capped, smooth]:
                    expected = self.fit(values, "--family", "triangular")
                    self.close(done["parameters"]["b"], expected["parameters"]["b"], 1e-9)
                    self.close(done["standard_errors"]["b"], expected["standard_errors"]["b"], 1e-9)
        parabola = self.fit(values, "--family", "parabola")
        capped = self.fit(values, "--family", "capped-parabola", "--gamma", "0")
        for part in ["parameters", "standard_errors"]:
            self.close(capped[part]["sigma2"], parabola[part]["sigma2"])

    def test_truncated_gaussian_is_found_again(self):
        values, kappa = truncated_gaussian_quantiles(2, 1000)
        once = self.fit(values, "--family", "truncated-gaussian", "--kappa", "auto")
        self.assertEqual(list(once["parameters"]), ["kappa", "mu", "sigma2"])
        self.assertEqual(list(once["standard_errors"]), ["kappa", "mu", "sigma2"])
        self.close(once["parameters"]["kappa"], kappa, 0.02)
        self.close(once["parameters"]["sigma2"], 1, 0.02)
        self.close(once["parameters"]["mu"], 0, 1e-6)
        self.close(once["support"][1], 2, 0.02)
        tenfold = self.fit([10 * t + 7 for t in values], "--family", "truncated-gaussian", "--kappa", "auto")
        self.close(tenfold["parameters"]["kappa"], once["parameters"]["kappa"], 1e-5)
        self.close(tenfold["parameters"]["sigma2"], 100 * once["parameters"]["sigma2"], 1e-5)
        self.close(tenfold["mean"], 7, 1e-5)
        self.assertEqual(self.fit(values, "--family", "truncated-gaussian")["parameters"]["kappa"], 2)
        fixed = self.fit(values, "--family", "truncated-gaussian", "--kappa", repr(once["parameters"]["kappa"]))
        self.close(fixed["loss"], once["loss"], 1e-9)
        self.assertEqual(list(fixed["standard_errors"]), ["mu", "sigma2"])
        flat = self.run_fenchel("fit", self.file("flat.csv", column("t", GRID)), "--family", "truncated-gaussian",
                                "--kappa", "auto")
        self.assertEqual((flat.returncode, flat.stdout), (1, ""))
        self.assertRegex(flat.stderr, r"\Afenchel fit: \S+flat\.csv: column 't': kappa must be bounded: the data is flatter than a truncated "
                                      r"parabola, got [0-9.e+]+\n\Z")

    def test_counts(self):
        counts = [0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 7]
        mean, variance = statistics.fmean(counts), statistics.pvariance(counts)
        for alpha in ["1", "1.2", "3/2", "2"]:
            poisson = self.fit(counts, "--family", "sparse-poisson", "--alpha", alpha)
            self.assertEqual((self.keys(poisson), list(poisson["parameters"])), (KEYS + GOODNESS, ["alpha", "mu"]))
            self.close(poisson["mean"], mean, 1e-10)
            if alpha == "1":
                self.close(poisson["parameters"]["mu"], mean)
                self.close(poisson["standard_errors"]["mu"], math.sqrt(mean / len(counts)))
                self.assertEqual(poisson["support"], [0, "inf"])
            else:
                self.assertGreater(poisson["parameters"]["mu"], mean)
                self.assertIsInstance(poisson["support"][1], int)
            gaussian = self.fit([t - 3 for t in counts], "--family", "sparse-integer-gaussian", "--alpha", alpha)
            self.close(gaussian["mean"], mean - 3, 1e-8)
            self.close(gaussian["variance"], variance, 1e-8)
        everywhere = self.fit(counts, "--family", "sparse-integer-gaussian", "--alpha", "1")
        self.assertEqual(everywhere["support"], ["-inf", "inf"])

    def test_several_columns(self):
        random.seed(3)
        rows = [(x, 0.5 * x + random.gauss(0, 2)) for x in (random.gauss(1, 1) for _ in range(500))]
        self.file("data.csv", "a,b\n" + "".join(f"{a!r},{b!r}\n" for a, b in rows))
        done = self.json("fit", "data.csv")
        self.assertEqual(self.keys(done), KEYS[:-1] + ["covariance"] + LIKELIHOOD + ["warnings"])
        self.assertEqual(done["family"], "multivariate-beta-gaussian")
        means = [statistics.fmean(c) for c in zip(*rows)]
        covariance = [[statistics.fmean((r[i] - means[i]) * (r[j] - means[j]) for r in rows) for j in range(2)]
                      for i in range(2)]
        # docs/math.md 5.6 with N = 2 and alpha = 2: D_2 = log 2.
        det = covariance[0][0] * covariance[1][1] - covariance[0][1]**2
        kappa = math.exp(math.log(4 * math.pi**2 * det) / 2 - math.log(2) + 2 * math.log(3))
        for i in range(2):
            self.close(done["parameters"]["mu"][i], means[i])
            self.close(done["standard_errors"]["mu"][i], math.sqrt(covariance[i][i] / 500))
            for j in range(2):
                self.close(done["covariance"][i][j], covariance[i][j], 1e-11)
                self.close(done["parameters"]["Sigma"][i][j], kappa * covariance[i][j], 1e-11)
        self.assertEqual(done["mean"], done["parameters"]["mu"])
        self.assertEqual(done["standard_errors"]["Sigma"][0][1], done["standard_errors"]["Sigma"][1][0])
        self.assertEqual(list(done["support"]), ["centre", "shape", "radius2"])
        gaussian = self.json("fit", "data.csv", "--alpha", "1")
        for i, j in [(0, 0), (0, 1), (1, 1)]:  # of a Gaussian: (C_ii C_jj + C_ij^2) / n
            self.close(gaussian["standard_errors"]["Sigma"][i][j],
                       math.sqrt((covariance[i][i] * covariance[j][j] + covariance[i][j]**2) / 500), 1e-11)
        self.assertEqual(gaussian["support"]["radius2"], "inf")
        auto = self.json("fit", "data.csv", "--alpha", "auto")
        self.assertEqual(list(auto["standard_errors"]), ["alpha", "mu", "Sigma"])
        self.close(auto["parameters"]["alpha"], 1, 0.2)
        one = self.json("fit", "data.csv", "--columns", "b")
        self.close(one["mean"], means[1])

    def test_weights_are_repeated_rows(self):
        values, weights = [1, 2, 4, 7, 8], [3, 1, 4, 0, 2]
        self.file("weighted.csv", "t,w\n" + "".join(f"{t},{w}\n" for t, w in zip(values, weights)))
        self.file("repeated.csv", column("t", [t for t, w in zip(values, weights) for _ in range(w)]))
        for arguments in [["--alpha", "auto"], ["--family", "triangular"], ["--family", "sparse-poisson"],
                          ["--family", "truncated-gaussian", "--kappa", "3"]]:
            weighted = self.json("fit", "weighted.csv", "--weight", "w", *arguments)
            repeated = self.json("fit", "repeated.csv", *arguments)
            self.assertEqual((weighted["weight"], repeated["weight"]), (10, 10))
            for part in ["parameters", "standard_errors"]:
                for name, value in repeated[part].items():
                    if isinstance(value, float) and isinstance(weighted[part][name], float):
                        self.close(weighted[part][name], value, 1e-7)
                    else:
                        self.assertEqual(weighted[part][name], value)

    def test_every_way_in_and_out(self):
        values = draws(200)
        expected = self.fit(values)
        text = column("t", values)
        self.assertEqual(self.json("fit", "-", stdin=text), expected)
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(values)}, 1), }}".ljust(117) + "\n"
        npy = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<200d", *values)
        self.file("data.npy", npy)
        self.assertEqual(self.json("fit", "data.npy"), expected)
        self.assertEqual(self.json("fit", "-", stdin=npy), expected)
        self.file("odd.txt", "w;x\n" + "".join(f"one;{t!r}\n" for t in values) + "one;NA\n")
        self.assertEqual(self.json("fit", "odd.txt", "--separator", ";", "--columns", "x", "--missing", "drop"), expected)
        self.assertEqual(self.succeed("fit", "data.csv", "-o", "out.json"), "")
        self.assertEqual(json.loads((self.folder / "out.json").read_text()), expected)
        lines = self.succeed("fit", "data.csv").splitlines()
        self.assertEqual(lines[:2], ["name,value", "family,beta-gaussian"])
        self.assertIn(f"parameters.sigma2,{expected['parameters']['sigma2']!r}", lines)
        self.assertIn(f"support.1,{expected['support'][1]!r}", lines)

    def test_alpha_of_counts_is_estimated(self):
        self.succeed("sample", "sparse-poisson", "--alpha", "0.85", "--mu", "4", "-n", "3000", "--seed", "1", "-o", "y.csv")
        fit = self.json("fit", "y.csv", "--family", "sparse-poisson", "--alpha", "auto")
        self.assertEqual(list(fit["standard_errors"]), ["alpha", "mu"])
        for name, truth in (("alpha", 0.85), ("mu", 4)):
            self.close(fit["parameters"][name], truth, 4 * fit["standard_errors"][name])

    def test_parameters_are_checked_before_the_data_are_read(self):
        for arguments, message in [
            (["--alpha", "0.2"], "--alpha must be finite and above 1/3, got 0.2"),
            (["--alpha", "inf", "--family", "beta-laplace"], "--alpha must be finite and above 1/2, got inf"),
            (["--alpha", "inf", "--family", "sparse-poisson"], "--alpha must be finite and above 1/2, got inf"),
            (["--alpha", "2", "--family", "uniform"], "--alpha: the family uniform takes none"),
            (["--alpha", "two"], "--alpha: expected a number such as 1.5, 4/3 or inf, got 'two'"),
            (["--family", "beta-laplace", "--alpha", "1/2"], "--alpha must be finite and above 1/2, got 0.5"),
            (["--family", "sparse-poisson", "--alpha", "0.5"], "--alpha must be finite and above 1/2, got 0.5"),
            (["--family", "beta-laplace", "--alpha", "auto"],
             "--alpha: the family beta-laplace needs a number, it cannot be estimated"),
            (["--family", "gaussian", "--alpha", "2"], "--alpha: the family gaussian takes none"),
            (["--family", "parabola", "--gamma", "2"], "--gamma: the family parabola takes none"),
            (["--kappa", "2"], "--kappa: the family beta-gaussian takes --alpha"),
            (["--family", "smooth-parabola", "--gamma", "-1"], "--gamma must be finite and not negative, got -1"),
            (["--family", "truncated-gaussian", "--kappa", "1"], "--kappa must be finite and above 1, got 1"),
            (["--columns", "a,,b"], "--columns: a name is empty in 'a,,b'"),
            (["-o", "x.npy"], "--output: a result with names has no .npy form; use .json or .csv"),
            (["--json", "-o", "x.csv"], "--json and --output x.csv ask for two forms; leave one out"),
            (["--family", "biwieght"], "--family: none is called 'biwieght'; did you mean biweight?"),
            (["--family", "normal"],
             "--family: none is called 'normal'; choose one of beta-gaussian, gaussian, triweight, biweight, "
             "parabola, uniform, multivariate-beta-gaussian, beta-laplace, laplace, triangular, truncated-gaussian, "
             "capped-triangular, capped-parabola, smooth-triangular, smooth-parabola, sparse-poisson, "
             "sparse-integer-gaussian"),
        ]:
            self.fail_with(2, "fenchel fit: " + message, "fit", "missing.csv", *arguments)

    def test_data_that_cannot_be_fitted(self):
        dirac = "must be positive and finite (rows that are all equal are a Dirac), got 0"
        poisson, integers = ["--family", "sparse-poisson"], ["--family", "sparse-integer-gaussian"]
        for content, arguments, message in [
            ("", [], "data.csv: is empty"),
            ("x\n", [], "data.csv: has no rows"),
            ("x\n5\n", [], "data.csv: column 'x': the variance " + dirac),
            ("x\n5\n5\n5\n", ["--alpha", "auto"], "data.csv: column 'x': the variance " + dirac),
            ("x\n5\n5\n", ["--family", "laplace"], "data.csv: column 'x': the mean deviation " + dirac),
            ("x,w\n5,0\n7,0\n", ["--weight", "w"],
             "data.csv: column 'x': the weight of all rows must be positive and finite, got 0"),
            ("x,w\n5,1\n7,-2\n", ["--weight", "w"], "data.csv:3:2: weight must be finite and not negative, got -2"),
            ("x\n5\nfive\n", [], "data.csv:3:1: expected a number, got 'five'"),
            ("x\n5\n\n", ["--columns", "y"], "data.csv: has no column 'y'; its columns are 'x'"),
            ("x\n5\nNA\n7\n", [], "data.csv:3:1: a value is missing, in 1 of 3 rows; --missing drop leaves such rows out"),
            ("n\n1\n2\n-1\n", poisson, "data.csv: column 'n': the least count must not be negative, got -1"),
            ("n\n1\n2.5\n", poisson,
             "data.csv:3:1: value must be an integer of absolute value at most 2^53, got 2.5"),
            ("n\n0\n0\n", poisson, "data.csv: column 'n': the mean must be positive, got 0"),
            ("n\n3\n4\n", integers, "data.csv: column 'n': the largest less the least value must be at least 2 "
                                    "for the variance to say something about sigma2, got 1"),
            ("a,b\n1,2\n2,2\n", [], "data.csv: the variance of column 'b' must be positive and finite (leave a "
                                    "constant column out), got 0"),
            ("a,b\n1,2\n2,4\n3,6\n", ["--alpha", "auto"],
             "data.csv: column 'b' must not be a linear combination of those before it (leave it out, or give more "
             "rows than columns), got a singular covariance"),
        ]:
            self.file("data.csv", content)
            self.fail_with(1, "fenchel fit: " + message, "fit", "data.csv", *arguments)
        self.fail_with(1, "fenchel fit: missing.csv: cannot be opened: No such file or directory", "fit", "missing.csv")
        self.fail_with(1, "fenchel fit: standard input: column 'x': the variance " + dirac, "fit", "-", stdin="x\n1\n")

    def test_choices_that_the_table_does_not_have(self):
        self.file("data.csv", "a,b\n1,2\n2,5\n3,6\n")
        self.fail_with(2, "fenchel fit: the family gaussian is of one column, data.csv has 'a', 'b'; choose with "
                          "--columns", "fit", "data.csv", "--family", "gaussian")
        self.fail_with(2, "fenchel fit: --alpha must be finite and above 2/4, got 0.5", "fit", "data.csv",
                       "--alpha", "1/2")
        self.fail_with(2, "fenchel fit: column 'a' is chosen twice", "fit", "data.csv",
                       "--columns", "a", "--weight", "a")

    def test_binary_input(self):
        for seed in range(20):
            random.seed(seed)
            self.file("data.bin", b"\x00" + random.randbytes(3000))
            done = self.run_fenchel("fit", "data.bin")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, r"\Afenchel fit: data\.bin:1:\d+: [ -~]+\n\Z")
        self.file("cut.npy", b"\x93NUMPY\x01\x00\x76\x00{'descr")
        done = self.run_fenchel("fit", "cut.npy")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\Afenchel fit: cut\.npy: [ -~]+\n\Z")

    def test_output_that_cannot_be_written(self):
        self.file("data.csv", "x\n1\n2\n")
        done = self.run_fenchel("fit", "data.csv", "-o", "nowhere/out.json")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Afenchel fit: [^\n]*nowhere/out\.json[^\n]*No such file or directory\n\Z")
        self.assertEqual(os.listdir(self.folder), ["data.csv"])


if __name__ == "__main__":
    unittest.main()
