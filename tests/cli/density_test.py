"""fenchel density: families by name, their parameters, numbers about a distribution and values at points."""
import math
import unittest

from harness import CommandLine

INFINITY = math.inf
LINE_KEYS = ["family", "parameters", "support", "mean", "variance", "standard_deviation", "skewness", "kurtosis",
             "mode", "median", "entropy", "tsallis_entropy", "quantiles"]
ALPHAS = ["1", repr(math.nextafter(1, 2)), "1.00000001", "4/3", "3/2", "2", "5", "1e6", "inf", "0.6"]
DISTRIBUTIONS = [  # with bounded support
    ["triweight", "--sigma2", "2"], ["biweight", "--mu", "-1"], ["parabola"], ["triangular", "--b", "3"],
    ["beta-gaussian", "--alpha", "5"], ["beta-laplace", "--alpha", "1.3"],
    ["truncated-gaussian", "--kappa", "3", "--sigma2", "2"],
    ["location-scale", "--score", "cosh(t)", "--sigma", "2", "--mu", "1"],
    ["capped-triangular", "--b", "2", "--gamma", "0.5"], ["capped-parabola", "--sigma2", "4", "--gamma", "0.5"],
    ["smooth-triangular", "--b", "2", "--gamma", "0.5"], ["smooth-parabola", "--sigma2", "4", "--gamma", "0.5"],
    ["score", "--score", "3*cos(3*t)-t^2/40", "--interval", "-3,3"],
    ["score", "--score", "abs(t)", "--alpha", "1.5", "--interval", "-1,2"],
]


def numbers(values):
    return ",".join(repr(float(x)) for x in values)


def simpson(values, width):
    return width / 3 * sum(y * (1 if k in (0, len(values) - 1) else 4 if k % 2 else 2) for k, y in enumerate(values))


class Density(CommandLine):
    def near(self, value, expected, relative=1e-12):
        self.assertLessEqual(abs(float(value) - expected), relative * max(1, abs(expected)), (value, expected))

    def moments(self, arguments, support, count=4001):
        """Mass, mean, variance, kurtosis and entropies by Simpson's rule on the printed density."""
        totals = [0.0] * 6
        for a, b in support:
            points = [a + (b - a) * k / (count - 1) for k in range(count)]
            table = self.table("density", *arguments, "--at=" + numbers(points))
            self.assertEqual(table["t"], points)
            width = (b - a) / (count - 1)
            pdf = table["pdf"]
            for k in range(3):
                totals[k] += simpson([y * t ** k for t, y in zip(points, pdf)], width)
            totals[3] += simpson([y * t ** 4 for t, y in zip(points, pdf)], width)
            totals[4] += simpson([-y * math.log(y) if y > 0 else 0 for y in pdf], width)
            totals[5] += simpson([y * y for y in pdf], width)
        return totals

    def test_integrals_of_the_printed_density(self):
        for arguments in DISTRIBUTIONS:
            with self.subTest(arguments):
                record = self.json("density", *arguments)
                pieces = record.pop("pieces", [record["support"]])
                self.assertEqual(list(record), LINE_KEYS)
                mass, first, second, fourth, entropy, square = self.moments(arguments, pieces)
                self.near(mass, 1, 2e-5)
                self.near(first, record["mean"], 1e-4)
                self.near(second - first ** 2, record["variance"], 1e-4)
                self.near(record["standard_deviation"] ** 2, record["variance"])
                self.near(entropy, record["entropy"], 1e-4)
                if record["mean"] == 0:
                    self.near(fourth / second ** 2, record["kurtosis"], 1e-4)
                    self.assertEqual(record["skewness"], 0)
                self.assertEqual(record["tsallis_entropy"]["alpha"], record["parameters"].get("alpha", 2))
                if record["tsallis_entropy"]["alpha"] == 2:
                    self.near((1 - square) / 2, record["tsallis_entropy"]["value"], 1e-4)

    def test_cdf_survival_and_quantiles_agree(self):
        for arguments in DISTRIBUTIONS + [["student"], ["laplace"], ["gaussian", "--mu", "3"]]:
            with self.subTest(arguments):
                levels = [0.01, 0.2, 0.5, 0.9]
                quantiles = self.json("density", *arguments, "--quantiles", numbers(levels))["quantiles"]
                self.assertEqual(list(quantiles), ["0.01", "0.2", "0.5", "0.9"])
                points = list(quantiles.values())
                self.assertEqual(points, sorted(points))
                table = self.table("density", *arguments, "--at=" + numbers(points))
                self.assertEqual(list(table), ["t", "pdf", "log_pdf", "cdf", "survival"])
                for level, cdf, survival, pdf, log_pdf in zip(levels, table["cdf"], table["survival"], table["pdf"],
                                                              table["log_pdf"]):
                    self.near(cdf, level, 1e-9)
                    self.near(cdf + survival, 1, 1e-9)
                    self.near(math.exp(log_pdf), pdf)

    def test_every_alpha(self):
        for alpha in ALPHAS:
            for family, scale in (("beta-gaussian", "--sigma2"), ("beta-laplace", "--b")):
                with self.subTest(alpha=alpha, family=family):
                    record = self.json("density", family, "--alpha", alpha, "--mu", "1", scale, "2")
                    a, b = record["support"]
                    value = eval(alpha) if alpha != "inf" else INFINITY
                    self.assertEqual(float(record["parameters"]["alpha"]), value)
                    self.assertEqual((record["mean"], record["mode"], record["median"]), (1, 1, 1))
                    self.assertEqual((a, b) == ("-inf", "inf"), value <= 1)
                    quarter, three_quarters = record["quantiles"]["0.25"], record["quantiles"]["0.75"]
                    self.near(quarter + three_quarters, 2)
                    table = self.table("density", family, "--alpha", alpha, "--mu", "1", scale, "2",
                                       "--at", numbers([quarter, 1, three_quarters]))
                    self.near(table["cdf"][0], 0.25, 1e-9)
                    self.near(table["survival"][2], 0.25, 1e-9)
                    self.assertGreaterEqual(table["pdf"][1], table["pdf"][2])

    def test_gaussian_limit(self):
        for alpha in ALPHAS[:3]:
            table = self.table("density", "beta-gaussian", "--alpha", alpha, "--sigma2", "2", "--at", "0.5")
            self.near(table["pdf"][0], math.exp(-0.0625) / math.sqrt(4 * math.pi), 1e-7)
            record = self.json("density", "beta-gaussian", "--alpha", alpha, "--sigma2", "2")
            self.near(record["variance"], 2, 1e-7)
            self.near(record["kurtosis"], 3, 1e-7)
            self.near(record["entropy"], 0.5 * math.log(4 * math.pi * math.e), 1e-7)

    def test_uniform_limit(self):
        for alpha, accuracy in (("1e6", 1e-4), ("inf", 1e-12)):
            record = self.json("density", "beta-gaussian", "--alpha", alpha, "--sigma2", "9")
            a, b = record["support"]
            self.near(b - a, 1, accuracy)
            self.near(record["variance"], 1 / 12, accuracy)
            self.near(record["kurtosis"], 1.8, accuracy)

    def test_closed_forms_of_the_parabola(self):
        for sigma2 in (0.1, 2 / 3, 4):
            a = (1.5 * sigma2) ** (1 / 3)
            record = self.json("density", "parabola", "--mu", "-2", "--sigma2", repr(sigma2))
            lower, upper = record["support"]
            self.near(lower, -2 - a)
            self.near(upper, -2 + a)
            self.near(record["variance"], a * a / 5)
            self.near(record["kurtosis"], 15 / 7)
            tau = -a * a / (2 * sigma2)
            self.near(record["tsallis_entropy"]["value"], 0.5 + 0.4 * tau)
            table = self.table("density", "parabola", "--mu", "-2", "--sigma2", repr(sigma2), "--at=-2,-1.9,9")
            self.near(table["pdf"][0], -tau)
            self.near(table["pdf"][1], -tau - 0.005 / sigma2)
            x = 0.1 / a
            self.near(table["cdf"][1], (2 + 3 * x - x ** 3) / 4)
            self.assertEqual([table[name][2] for name in ("pdf", "log_pdf", "cdf", "survival")],
                             [0, -INFINITY, 1, 0])

    def test_closed_forms_of_the_triangle(self):
        record = self.json("density", "triangular", "--b", "4")
        self.assertEqual(record["support"], [-2, 2])
        self.near(record["variance"], 4 / 6)
        self.near(record["tsallis_entropy"]["value"], 0.5 - 1 / 6)
        table = self.table("density", "triangular", "--b", "4", "--at=-1,0,1")
        self.assertEqual(table["pdf"], [0.25, 0.5, 0.25])
        self.near(table["cdf"][0], 1 / 8)
        self.near(table["survival"][2], 1 / 8)

    def test_closed_forms_of_capped_densities(self):
        sigma, gamma = 2, 0.5
        a, b = math.sqrt(2 * sigma * gamma), math.sqrt(sigma * (1 + 2 * gamma))
        record = self.json("density", "capped-triangular", "--b", sigma, "--gamma", gamma, "--mu", 1)
        self.near(record["support"][1], 1 + b)
        self.near(record["variance"], sigma * (1 + 4 * gamma) / 6)
        table = self.table("density", "capped-triangular", "--b", sigma, "--gamma", gamma, "--at", "0,1")
        self.near(table["pdf"][0], (b - a) / sigma)
        self.assertEqual(table["pdf"][0], table["pdf"][1])
        a, b = (3 * sigma ** 2 * gamma) ** (1 / 3), (1.5 * sigma ** 2 * (1 + 2 * gamma)) ** (1 / 3)
        record = self.json("density", "capped-parabola", "--sigma2", repr(float(sigma)**2), "--gamma", gamma)
        self.near(record["support"][1], b)
        self.near(record["variance"], 2 * (b ** 5 - a ** 5) / (15 * sigma ** 2))
        uncapped = self.json("density", "capped-parabola", "--sigma2", "9", "--gamma", "0")
        parabola = self.json("density", "parabola", "--sigma2", "9")
        self.near(uncapped["variance"], parabola["variance"])
        smooth = self.json("density", "smooth-parabola", "--sigma2", "9", "--gamma", "0")
        self.near(smooth["variance"], parabola["variance"])

    def test_what_is_printed_of_a_score_is_certain(self):
        for alpha in ("0.5", "1", "1.5", "2", "4"):
            for score in ("-t^2000", "-1e6*max(abs(t)-1,0)^2"):
                with self.subTest(alpha=alpha, score=score):
                    self.near(self.json("density", "score", "--score", score, "--alpha", alpha)["mean"], 0, 1e-10)
        waves = self.json("density", "score", "--score", "cos(t)", "--interval=-10000,10000")
        self.near(waves["mean"], 0, 1e-7)
        self.near(waves["variance"], 33331259.519, 1e-9)
        heavy = ["score", "--score", "-t^2", "--alpha", "0.34"]
        closed = self.json("density", "beta-gaussian", "--alpha", "0.34", "--sigma2", "0.5")
        self.near(self.json("density", *heavy)["variance"], closed["variance"], 1e-9)

    def test_a_score_with_any_regularizer(self):
        triangle, bowl = "-abs(t)/2", "-t^2/8"
        for score, family in ((triangle, ["capped-triangular", "--b", "2"]), (bowl, ["capped-parabola", "--sigma2", "4"])):
            any_score = self.json("density", "score", "--score", score, "--regularizer", "total-variation", "--gamma", "0.5")
            closed = self.json("density", *family, "--gamma", "0.5")
            self.near(any_score["variance"], closed["variance"], 1e-6)
            self.assertEqual(list(any_score["parameters"]), ["regularizer", "gamma", "score", "interval"])
        for score, family in ((triangle, ["smooth-triangular", "--b", "2"]), (bowl, ["smooth-parabola", "--sigma2", "4"])):
            any_score = self.json("density", "score", "--score", score, "--regularizer", "sobolev")
            self.near(any_score["variance"], self.json("density", *family)["variance"], 1e-6)

    def test_the_same_distribution_by_other_names(self):
        same = [
            (["parabola", "--sigma2", "8"], ["location-scale", "--score", "t^3/6", "--sigma", "2"]),
            (["parabola"], ["score", "--score", "-t^2/2"]),
            (["triangular", "--b", "4"], ["location-scale", "--score", "t^2/2", "--sigma", "2"]),
            (["triangular", "--b", "4"], ["score", "--score", "-abs(t)/4"]),
            (["triangular", "--b", "2"], ["capped-triangular", "--b", "2", "--gamma", "0"]),
            (["gaussian"], ["score", "--alpha", "1", "--score=-t*t/2"]),
            (["biweight"], ["beta-gaussian", "--alpha", "1.5"]),
            (["triweight"], ["beta-gaussian", "--alpha", "4/3"]),
            (["laplace"], ["beta-laplace", "--alpha", "1"]),
            (["student"], ["beta-gaussian", "--alpha", "1/2"]),
            (["truncated-gaussian", "--kappa", "2"], ["score", "--score", "2*exp(-t^2/2)/sqrt(2*pi)"]),
        ]
        for one, other in same:
            with self.subTest(one=one, other=other):
                points = "--at=-1,-0.5,0,0.25,1"
                a, b = self.table("density", *one, points), self.table("density", *other, points)
                for column in a:
                    for x, y in zip(a[column], b[column]):
                        if x != y:
                            self.near(x, y, 1e-8)

    def test_moments_that_do_not_exist(self):
        record = self.json("density", "student", "--alpha", "0.2")
        self.assertEqual((record["variance"], record["skewness"], record["kurtosis"]), ("inf", "nan", "inf"))
        self.assertEqual(record["support"], ["-inf", "inf"])

    def test_a_support_in_pieces(self):
        arguments = ["score", "--score", "3*cos(3*t)", "--interval", "-3,3"]
        record = self.json("density", *arguments)
        support = record["pieces"]
        self.assertEqual(len(support), 3)
        self.assertEqual(record["support"], [support[0][0], support[-1][1]])
        gap = (support[0][1] + support[1][0]) / 2
        self.assertEqual(self.table("density", *arguments, f"--at={gap}")["pdf"], [0])
        for piece in support:
            inside = self.table("density", *arguments, "--at=" + numbers([(2 * piece[0] + piece[1]) / 3]))
            self.assertGreater(inside["pdf"][0], 0)

    def test_integers(self):
        for arguments in (["sparse-poisson", "--mu", "3"], ["sparse-integer-gaussian", "--mu", "0.3", "--sigma2", "5"]):
            with self.subTest(arguments):
                record = self.json("density", *arguments)
                self.assertEqual(list(record), LINE_KEYS)
                first, last = record["support"]
                points = list(range(first - 1, last + 2))
                table = self.table("density", *arguments, "--at=" + ",".join(map(str, points)))
                self.assertEqual(list(table), ["t", "pmf", "log_pmf", "cdf", "survival"])
                pmf = table["pmf"]
                self.assertEqual((pmf[0], pmf[-1]), (0, 0))
                self.assertGreater(min(pmf[1:-1]), 0)
                mean = sum(k * p for k, p in zip(points, pmf))
                self.near(sum(pmf), 1)
                self.near(record["mean"], mean)
                self.near(record["variance"], sum((k - mean) ** 2 * p for k, p in zip(points, pmf)))
                self.near(record["tsallis_entropy"]["value"], (1 - sum(p * p for p in pmf)) / 2)
                self.near(table["cdf"][2], pmf[1] + pmf[2])
                self.assertIsInstance(record["mode"], int)
                self.assertIsInstance(record["quantiles"]["0.05"], int)
        # p = [f - tau]_+ with f = t log 3 - log t!, tau by brute force over the support.
        scores = [t * math.log(3) - math.lgamma(t + 1) for t in range(30)]
        size = max(n for n in range(1, 31) if sorted(scores)[-n] > (sum(sorted(scores)[-n:]) - 1) / n)
        tau = (sum(sorted(scores)[-size:]) - 1) / size
        pmf = self.table("density", "sparse-poisson", "--mu", "3", "--at", ",".join(map(str, range(30))))["pmf"]
        for t, p in enumerate(pmf):
            self.near(p, max(0, scores[t] - tau))
        poisson = self.json("density", "sparse-poisson", "--alpha", "1", "--mu", "2.5")
        self.assertEqual(poisson["support"], [0, "inf"])
        self.near(poisson["variance"], 2.5)

    def test_counts_below_alpha_one(self):
        record = self.json("density", "sparse-poisson", "--alpha", "0.8", "--mu", "3", "--quantiles", "0.5")
        self.near(record["mean"], 3.5392540085033693)
        self.near(record["variance"], 6.4572470131275176)
        self.assertEqual(record["support"], [0, "inf"])
        self.assertEqual(self.json("density", "sparse-poisson", "--alpha", "0.4", "--mu", "3")["mean"], "inf")
        draws = self.succeed("sample", "sparse-integer-gaussian", "--alpha", "0.5", "-n", 20, "--seed", 1).split()[1:]
        self.assertEqual(len([int(x) for x in draws]), 20)

    def test_scores_on_integers(self):
        arguments = ["score", "--score=-abs(t-3)/4", "--domain"]
        for domain in ("integers", "naturals"):
            record = self.json("density", *arguments, domain)
            self.assertEqual(record["support"], [2, 4])
            self.assertEqual(record["parameters"]["domain"], domain)
            self.near(record["mean"], 3)
        table = self.table("density", *arguments, "naturals", "--at", "2,3,4,5")
        for found, expected in zip(table["pmf"], [0.25, 0.5, 0.25, 0]):
            self.near(found, expected)
        self.assertEqual(self.succeed("sample", *arguments, "naturals", "-n", 5, "--seed", 1).split()[0], "t")

    def test_several_dimensions(self):
        arguments = ["multivariate-beta-gaussian", "--alpha", "1.5", "--mu", "1,-1", "--Sigma", "1,0.5,0.5,2"]
        record = self.json("density", *arguments)
        self.assertEqual(list(record), ["family", "parameters", "dimension", "support", "mean", "covariance", "kurtosis",
                                        "mode", "entropy", "tsallis_entropy"])
        self.assertEqual(record["parameters"], {"alpha": 1.5, "mu": [1, -1], "Sigma": [[1, 0.5], [0.5, 2]]})
        self.assertEqual((record["mean"], record["mode"]), ([1, -1], [1, -1]))
        # Brute force on a grid over a box about the support.
        count, half = 61, 4.0
        width = 2 * half / (count - 1)
        points = [(1 - half + width * i, -1 - half + width * j) for i in range(count) for j in range(count)]
        at = [word for point in points for word in ("--at", numbers(point))]
        table = self.table("density", *arguments, *at)
        self.assertEqual(list(table), ["t1", "t2", "pdf", "log_pdf"])
        self.near(sum(table["pdf"]) * width ** 2, 1, 1e-3)
        for i, first in enumerate(("t1", "t2")):
            for j, second in enumerate(("t1", "t2")):
                covariance = width ** 2 * sum((x - record["mean"][i]) * (y - record["mean"][j]) * p
                                              for x, y, p in zip(table[first], table[second], table["pdf"]))
                self.near(record["covariance"][i][j], covariance, 2e-3)
        support = record["support"]
        (a, b), (_, d) = support["shape"]
        for x, y, p in zip(table["t1"], table["t2"], table["pdf"]):
            x, y = x - 1, y + 1
            distance = (d * x * x - 2 * b * x * y + a * y * y) / (a * d - b * b)
            self.assertEqual(p > 0, distance < support["radius2"])
        variances = self.json("density", "multivariate-beta-gaussian", "--Sigma", "1,2,3")
        self.assertEqual(variances["parameters"],
                         {"alpha": 2, "mu": [0, 0, 0], "Sigma": [[1, 0, 0], [0, 2, 0], [0, 0, 3]]})
        self.assertEqual(self.json("density", "multivariate-beta-gaussian", "--mu", "5")["dimension"], 1)

    def test_scores_in_the_plane(self):
        for alpha in ("1", "4/3", "2", "inf"):
            with self.subTest(alpha=alpha):
                closed = ["multivariate-beta-gaussian", "--alpha", alpha, "--mu", "1,-1", "--Sigma", "1,0.5,0.5,2"]
                any_score = ["score", "--alpha", alpha, "--score", "-(4*(x-1)^2-2*(x-1)*(y+1)+2*(y+1)^2)/7"]
                points = ["--at=1,-1", "--at=1.25,-0.5", "--at=0.5,-1.25", "--at=9,9"]
                a, b = self.table("density", *closed, *points), self.table("density", *any_score, *points)
                self.assertEqual(list(a), list(b))
                for column in a:
                    for x, y in zip(a[column], b[column]):
                        if x != y:
                            self.near(y, x, 1e-7)
        record = self.json("density", "score", "--score", "-(x^2+y^2)/2+cos(3*x)")
        self.assertEqual(list(record), ["family", "parameters", "dimension", "support", "mean", "covariance", "mode",
                                        "entropy", "tsallis_entropy"])
        self.assertEqual(record["parameters"]["interval"], ["-inf", "inf", "-inf", "inf"])
        self.assertEqual(record["dimension"], 2)
        # On a box a product of lines at alpha = 1: y is uniform on [0, 2], x has the density exp(x) / (e - 1) on [0, 1].
        box = self.json("density", "score", "--alpha", "1", "--score", "x", "--interval", "0,1,0,2")
        self.near(box["mean"][0], 1 / (math.e - 1), 1e-7)
        self.near(box["mean"][1], 1, 1e-7)
        self.near(box["covariance"][1][1], 1 / 3, 1e-7)
        self.assertEqual(box["support"], {"lower": [0, 0], "upper": [1, 2]})

    def test_a_score_in_space(self):
        ball = self.table("density", "score", "--score=-(x^2+y^2+z^2)/2", "--at=0,0,0", "--at=0.5,0,1")
        self.assertEqual(list(ball), ["t1", "t2", "t3", "pdf", "log_pdf"])
        closed = self.table("density", "multivariate-beta-gaussian", "--mu", "0,0,0", "--at=0,0,0", "--at=0.5,0,1")
        for x, y in zip(ball["pdf"], closed["pdf"]):
            self.near(x, y, 1e-5)

    def test_formulas(self):
        values = {
            "2*t^2-1": lambda t: 2 * t ** 2 - 1, "-t^2": lambda t: -t ** 2, "2^3^t/8": lambda t: 2 ** 3 ** t / 8,
            "1-2-3+t": lambda t: t - 4, "8/4/2*t": lambda t: t, "2^-t": lambda t: 2 ** -t, "--t": lambda t: t,
            "( t + 1 )*(t - 1)": lambda t: t * t - 1, "pi*t": lambda t: math.pi * t, "e^t": math.exp,
            "abs(t)": abs, "exp(t)": math.exp, "log(t+2)": lambda t: math.log(t + 2),
            "sqrt(t+2)": lambda t: math.sqrt(t + 2), "sin(t)": math.sin, "cos(t)": math.cos, "tan(t)": math.tan,
            "sinh(t)": math.sinh, "cosh(t)": math.cosh, "tanh(t)": math.tanh, "erf(t)": math.erf,
            "min(t,0.25)": lambda t: min(t, 0.25), "max(t,-t^2)": lambda t: max(t, -t * t),
            "1.5e-1*t+.5": lambda t: 0.15 * t + 0.5,
        }
        points = [-0.9, -0.3, 0.2, 0.7]
        for formula, f in values.items():  # at alpha = 1 the density is exp f / mass: ratios show f
            with self.subTest(formula):
                table = self.table("density", "score", "--alpha", "1", "--interval=-1,1", f"--score={formula}",
                                   "--at=" + numbers(points))
                for t, log_pdf in zip(points, table["log_pdf"]):
                    self.near(log_pdf - table["log_pdf"][0], f(t) - f(points[0]), 1e-10)

    def test_slopes_of_formulas(self):
        # f - tau = (g'(a) - g'(u)) / sigma shows the derivative of g.
        slopes = {
            "cosh(t)": math.sinh, "t^3/6": lambda u: u * u / 2, "exp(t)-t": lambda u: math.exp(u) - 1,
            "t*t*e^(t/2)": lambda u: (2 * u + u * u / 2) * math.exp(u / 2),
            "max(t^2/4,t^2-0.5)": lambda u: u / 2 if u * u * 0.75 < 0.5 else 2 * u,
            "2^t": lambda u: math.log(2) * 2 ** u, "abs(-t)^2.5": lambda u: 2.5 * u ** 1.5,
            "-log(cos(t/4))": lambda u: math.tan(u / 4) / 4,
            "t^2+t*tanh(t)": lambda u: 2 * u + math.tanh(u) + u / math.cosh(u) ** 2,
            "t^2+sqrt(1+t^2)": lambda u: 2 * u + u / math.sqrt(1 + u * u),
            "t*erf(t)+exp(-t^2)/sqrt(pi)": math.erf,
            "t^2-sin(t)": lambda u: 2 * u - math.cos(u), "t^2+tan(t/9)": lambda u: 2 * u + (1 + math.tan(u / 9) ** 2) / 9,
            "t^2+sinh(t)+max(t,0)-min(t,0)": lambda u: 2 * u + math.cosh(u) + 1,
        }
        for formula, slope in slopes.items():
            with self.subTest(formula):
                points = [0, 0.1, 0.3, 0.5]
                pdf = self.table("density", "location-scale", f"--score={formula}", "--at", numbers(points))["pdf"]
                self.assertGreater(min(pdf), 0)
                for u, p in zip(points, pdf):
                    self.near(pdf[0] - p, slope(u) - slope(0), 1e-9)


class DensityErrors(CommandLine):
    def complains(self, message, *arguments, status=2):
        self.fail_with(status, "fenchel density: " + message, *arguments)

    def test_families(self):
        self.complains("unknown family 'biwieght'; did you mean biweight?", "density", "biwieght")
        self.complains("unknown family 'triangle'; did you mean triangular?", "density", "triangle")
        self.complains("unknown family 'Gaussian'; did you mean gaussian?", "density", "Gaussian")
        self.complains("FAMILY is required; see fenchel density --help", "density")

    def test_regularizers(self):
        self.complains("score with --regularizer sobolev does not take --alpha; it takes --regularizer, --gamma, --score, "
                       "--interval", "density", "score", "--score", "t", "--regularizer", "sobolev", "--alpha", "2")
        self.complains("--regularizer: expected one of tsallis, total-variation, sobolev, got 'shannon'",
                       "density", "score", "--score", "t", "--regularizer", "shannon")
        self.complains("parabola does not take --regularizer; it takes --mu, --sigma2",
                       "density", "parabola", "--regularizer", "tsallis")

    def test_parameters_that_do_not_belong(self):
        self.complains("gaussian has alpha 1, got --alpha 2; beta-gaussian takes any", "density", "gaussian", "--alpha", "2")
        self.complains("triweight has alpha 4/3, got --alpha 1.5; beta-gaussian takes any",
                       "density", "triweight", "--alpha", "3/2")
        self.complains("triangular has alpha 2, got --alpha 1; beta-laplace takes any",
                       "density", "triangular", "--alpha", "1")
        self.complains("student has alpha below 1, got --alpha 1; beta-gaussian takes any",
                       "density", "student", "--alpha", "1")
        self.complains("triangular does not take --sigma2; it takes --mu, --b", "density", "triangular", "--sigma2", "1")
        self.complains("truncated-gaussian does not take --alpha; it takes --kappa, --mu, --sigma2",
                       "density", "truncated-gaussian", "--alpha", "2")
        self.complains("score with --regularizer tsallis does not take --mu; it takes --regularizer, --alpha, --score, --interval",
                       "density", "score", "--score", "t", "--mu", "1")
        self.complains("location-scale needs --score, a formula in t", "density", "location-scale")
        self.complains("score needs --score, a formula in t", "density", "score")
        self.json("density", "gaussian", "--alpha", "1")

    def test_numbers(self):
        self.complains("--mu: parabola takes one number, got 2", "density", "parabola", "--mu", "1,2")
        self.complains("--mu: parabola takes one number, got 3", "density", "parabola", "--mu", "1,2,3")
        self.complains("--Sigma: for 2 coordinates expected 2 numbers of a diagonal or 4 by rows, got 3",
                       "density", "multivariate-beta-gaussian", "--mu", "0,0", "--Sigma", "1,2,3")
        self.complains("--interval: expected two ends such as -1,1, got 3 numbers",
                       "density", "score", "--score", "t", "--interval", "1,2,3")
        self.complains("sigma2 must be positive and finite, got -1", "density", "capped-parabola", "--sigma2", "-1")
        self.complains("--quantiles must be in [0, 1], got 1.5", "density", "parabola", "--quantiles", "0.5,1.5")
        self.complains("multivariate-beta-gaussian in R^2 has no quantiles; leave --quantiles out",
                       "density", "multivariate-beta-gaussian", "--quantiles", "0.5")
        self.complains("--at: sparse-poisson is on the integers, got 0.5", "density", "sparse-poisson", "--at", "0,0.5")
        self.complains("beta-gaussian does not take --domain; it takes --alpha, --mu, --sigma2", "density", "beta-gaussian",
                       "--domain", "integers")
        self.complains("--at: expected a point with 2 coordinates, got '1,2,3'; repeat --at for more",
                       "density", "multivariate-beta-gaussian", "--at", "1,2,3")
        self.complains("--at excludes --quantiles; see fenchel density --help",
                       "density", "parabola", "--quantiles", "0.5", "--at", "0")
        self.complains("--at: expected a number such as 1.5, 4/3 or inf, got 'x'", "density", "parabola", "--at", "1,x")

    def test_scores_in_the_plane(self):
        def score(formula, *more):
            return ["density", "score", f"--score={formula}", *more]

        self.complains("--score: 't' in a formula in x, y or z at position 3 of 'y+t'; t is on the line, x and y are in the "
                       "plane, x, y and z in space", *score("y+t"))
        self.complains("--score: 'z' in a formula in t at position 3 of 't*z'; t is on the line, x and y are in the plane, "
                       "x, y and z in space", *score("t*z"))
        for regularizer in ("total-variation", "sobolev"):
            self.complains(f"--score: with --regularizer {regularizer} a formula is in t, got one in x and y",
                           *score("-x^2-y^2", "--regularizer", regularizer))
        self.complains("--interval: expected two ends for each of x and y such as -1,1,0,2, got 2 numbers",
                       *score("-x^2-y^2", "--interval", "0,1"))
        self.complains("score in R^2 has no quantiles; leave --quantiles out", *score("-x^2-y^2", "--quantiles", "0.5"))
        self.complains("--at: expected a point with 2 coordinates, got '1'; repeat --at for more",
                       *score("-x^2-y^2", "--at", "1"))
        self.complains("upper[1] must be above lower, got 0", *score("-x^2-y^2", "--interval", "0,1,0,0"))
        self.complains("--score: unknown name 'x' at position 1 of 'x'; known are t, pi, e, abs, exp, log, sqrt, sin, cos, "
                       "tan, sinh, cosh, tanh, erf, min and max", "density", "location-scale", "--score", "x")

    def test_what_the_library_says(self):
        self.complains("sigma2 must be positive and finite, got -1", "density", "parabola", "--sigma2", "-1")
        self.complains("kappa must be > 1 and finite, got 1", "density", "truncated-gaussian", "--kappa", "1")
        self.complains("upper must be at least lower, got -1", "density", "score", "--score", "t", "--interval", "1,-1")

    def test_formulas(self):
        def score(formula):
            return ["density", "score", f"--score={formula}"]

        self.complains("--score: expected a number, t, x, y, z or '(' at position 5 of 'cos(*t)'", *score("cos(*t)"))
        self.complains("--score: expected a number, t, x, y, z or '(' at position 3 of 't+'", *score("t+"))
        self.complains("--score: expected an operator or the end at position 2 of '2t'", *score("2t"))
        self.complains("--score: expected an operator or the end at position 2 of 't)'", *score("t)"))
        self.complains("--score: expected ')' at position 6 of 'sin(t'", *score("sin(t"))
        self.complains("--score: expected '(' at position 5 of 'sin t'", *score("sin t"))
        self.complains("--score: expected ',' at position 6 of 'min(t)'", *score("min(t)"))
        self.complains("--score: unknown name 'u' at position 3 of '2*u'; known are t, x, y, z, pi, e, abs, exp, log, sqrt, sin, "
                       "cos, tan, sinh, cosh, tanh, erf, min and max", *score("2*u"))
        self.complains("--score: a number out of range at position 1 of '1e999'", *score("1e999"))
        self.complains("--score: expected a number, t, x, y, z or '(' at position 1 of '.'", *score("."))
        deep = "nested deeper than 100 levels at position"
        for formula in ("(" * 120000, "-" * 120000 + "t", "2^" * 60000 + "t", "t+(" * 40000):
            done = self.run_fenchel(*score(formula))
            self.assertEqual(done.returncode, 2)
            self.assertIn(deep, done.stderr)
            self.assertIn(f"of '{formula[:60]}...'\n", done.stderr)
        self.json(*score("(" * 98 + "-t" + ")" * 98 + "*t"))


if __name__ == "__main__":
    unittest.main()
