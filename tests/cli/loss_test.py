"""fenchel loss: the loss that fit minimises, laws, and what it refuses."""
import json
import math
import random
import unittest

from harness import CommandLine, csv_text

KEYS = ["family", "parameters", "weight", "loss", "gradient"]


class Loss(CommandLine):
    def setUp(self):
        super().setUp()
        random.seed(4)
        self.values = [random.betavariate(3, 2) * 4 + 1 for _ in range(400)]
        self.counts = [random.randrange(5) for _ in range(400)]
        rows = [[x, k, random.random(), n] for x, k, n in zip(self.values, self.counts, [1, 2, 0, 1] * 100)]
        self.file("data.csv", csv_text(["x", "k", "z", "n"], rows))

    def loss(self, *arguments):
        return self.json("loss", *arguments, "--data", "data.csv")

    def test_where_fit_ends_the_loss_is_its_loss_and_the_gradient_is_zero(self):
        for family, column, *options in [
            ("beta-gaussian", "x", "--alpha", "4/3"),
            ("beta-gaussian", "x", "--alpha", "0.8"),
            ("parabola", "x"),
            ("multivariate-beta-gaussian", "x,z", "--alpha", "3/2"),
            ("truncated-gaussian", "x"),
            ("capped-parabola", "x", "--gamma", "0.2"),
            ("smooth-parabola", "x", "--gamma", "0.2"),
            ("capped-triangular", "x", "--gamma", "0.2"),
            ("triangular", "x"),
            ("sparse-poisson", "k", "--alpha", "3/2"),
            ("sparse-integer-gaussian", "k"),
        ]:
            with self.subTest(family=family, options=options):
                fit = self.json("fit", "data.csv", "--family", family, "--columns", column, "--weight", "n", *options)
                given = []
                for name, value in fit["parameters"].items():
                    flat = value if isinstance(value, list) else [value]
                    flat = [x for row in flat for x in (row if isinstance(row, list) else [row])]
                    given += [f"--{name}", ",".join(map(repr, flat))]
                found = self.loss(family, *given, "--columns", column, "--weight", "n")
                self.assertEqual(list(found), KEYS)
                self.assertEqual(found["weight"], fit["weight"])
                self.assertAlmostEqual(found["loss"], fit["loss"], delta=1e-9)
                for name, slope in found["gradient"].items():
                    if name in ("alpha", "gamma", "kappa") or (name == "mu" and "b" in found["gradient"]):
                        continue  # kept fixed; at the median the loss has a kink
                    flat = json.dumps(slope).replace("[", "").replace("]", "").split(",")
                    self.assertLess(max(abs(float(x)) for x in flat), 2e-6, name)

    def test_at_alpha_one_it_is_the_mean_of_the_negative_logarithm(self):
        found = self.loss("gaussian", "--mu", "3", "--sigma2", "2", "--columns", "x")
        mean = sum((x - 3) ** 2 / 4 + math.log(4 * math.pi) / 2 for x in self.values) / 400
        self.assertAlmostEqual(found["loss"], mean, places=13)
        self.assertAlmostEqual(found["gradient"]["mu"], sum(3 - x for x in self.values) / 800, places=13)
        poisson = self.loss("sparse-poisson", "--alpha", "1", "--mu", "3", "--columns", "k")
        mean = sum(3 - k * math.log(3) + math.lgamma(k + 1) for k in self.counts) / 400
        self.assertAlmostEqual(poisson["loss"], mean, places=12)
        self.assertAlmostEqual(poisson["gradient"]["log_mu"], 3 - sum(self.counts) / 400, places=12)

    def test_gradients_are_differences(self):
        for family, given in [
            ("beta-gaussian", {"alpha": 1.5, "mu": 2.5, "sigma2": 3}),
            ("beta-laplace", {"alpha": 1.5, "mu": 2.5, "b": 3}),
            ("truncated-gaussian", {"kappa": 3, "mu": 2.5, "sigma2": 1}),
            ("capped-triangular", {"gamma": 0.3, "mu": 2.5, "b": 2}),
            ("smooth-triangular", {"gamma": 0.3, "mu": 2.5, "b": 2}),
            ("location-scale", {"mu": 2.5, "sigma": 2}),
        ]:
            extra = ["--score", "cosh(t)"] if family == "location-scale" else []

            def loss(parameters):
                options = [word for name, x in parameters.items() for word in (f"--{name}", repr(x))]
                return self.loss(family, *options, *extra, "--columns", "x")

            gradient = loss(given)["gradient"]
            self.assertEqual(set(gradient), set(given), family)
            for name in given:
                if name == "mu" and "b" in given:
                    continue  # a kink at every value
                above, below = (loss(given | {name: given[name] + h})["loss"] for h in (1e-4, -1e-4))
                self.assertAlmostEqual(gradient[name], (above - below) / 2e-4, delta=1e-6, msg=f"{family} {name}")

    def test_formulas(self):
        parabola = self.loss("parabola", "--mu", "2", "--sigma2", "3", "--columns", "x")
        formula = self.loss("score", "--score", "-(t-2)^2/6", "--columns", "x")
        self.assertAlmostEqual(formula["loss"], parabola["loss"], places=8)
        self.assertAlmostEqual(formula["gradient"]["alpha"], parabola["gradient"]["alpha"], places=7)
        for regularizer, family in [("total-variation", "capped-parabola"), ("sobolev", "smooth-parabola")]:
            known = self.loss(family, "--gamma", "0.3", "--mu", "2", "--sigma2", "3", "--columns", "x")
            found = self.loss("score", "--score", "-(t-2)^2/6", "--regularizer", regularizer, "--gamma", "0.3",
                              "--interval", "-3,7", "--columns", "x")
            self.assertAlmostEqual(found["loss"], known["loss"], places=6)
        outside = self.loss("score", "--score", "-(t-2)^2/6", "--interval", "0,3", "--columns", "x")
        self.assertEqual(outside["loss"], "inf")

    def test_infinite_alpha(self):
        found = self.loss("beta-gaussian", "--alpha", "inf", "--mu", "2", "--columns", "x")
        self.assertEqual(found["parameters"]["alpha"], "inf")
        large = self.loss("beta-gaussian", "--alpha", "1e9", "--mu", "2", "--columns", "x")
        self.assertAlmostEqual(found["loss"], large["loss"], places=6)

    def test_forms(self):
        arguments = ["loss", "parabola", "--data", "data.csv", "--columns", "x"]
        table = dict(line.split(",") for line in self.succeed(*arguments).splitlines()[1:])
        record = self.json(*arguments)
        self.assertEqual(float(table["loss"]), record["loss"])
        self.assertEqual(float(table["gradient.mu"]), record["gradient"]["mu"])
        self.succeed(*arguments, "-o", "loss.json")
        self.assertEqual(json.loads((self.folder / "loss.json").read_text()), record)
        text = "x\n" + "".join(f"{x!r}\n" for x in self.values)
        self.assertEqual(self.json("loss", "parabola", "--data", "-", stdin=text)["loss"], record["loss"])

    def test_refusals(self):
        for status, message, *arguments in [
            (2, "parabola is of 1 column, data.csv has 'x', 'k', 'z', 'n'; choose with --columns", "parabola"),
            (2, "multivariate-beta-gaussian is of 2 columns, data.csv has 'x'; choose with --columns",
             "multivariate-beta-gaussian", "--columns", "x"),
            (2, "uniform is the prediction of no score, and has no loss; beta-gaussian with --alpha inf is",
             "uniform", "--columns", "x"),
            (2, "parabola does not take --b; it takes --mu, --sigma2", "parabola", "--b", "1", "--columns", "x"),
            (2, "sigma2 must be positive and finite, got -1", "parabola", "--sigma2", "-1", "--columns", "x"),
            (1, "data.csv:2:1: column 'x': must be an integer", "sparse-poisson", "--columns", "x"),
        ]:
            with self.subTest(arguments=arguments):
                done = self.run_fenchel("loss", *arguments, "--data", "data.csv")
                if status == 1:
                    self.assertEqual(done.returncode, 1)
                    self.assertRegex(done.stderr, r"\Afenchel loss: data\.csv:2:1: .*integer.*\n\Z")
                else:
                    self.assertEqual((done.returncode, done.stderr), (status, f"fenchel loss: {message}\n"))
        self.assertEqual(self.run_fenchel("loss", "parabola").returncode, 2)
        self.file("bad.csv", "x\n1\n-inf\n")
        self.fail_with(1, "fenchel loss: bad.csv:3:1: must be finite, got '-inf'", "loss", "parabola", "--data", "bad.csv")
        self.file("zero.csv", "x,w\n1,0\n2,0\n")
        self.fail_with(1, "fenchel loss: zero.csv: column 'x': the weight of all rows must be positive and finite, got 0",
                       "loss", "parabola", "--data", "zero.csv", "--weight", "w")

    def test_the_examples_of_the_help_run(self):
        self.file("draws.csv", "t,count\n1,2\n0.5,1\n")
        self.file("visits.csv", "visits\n1\n0\n4\n")
        self.json("loss", "parabola", "--mu", "1", "--sigma2", "4", "--data", "draws.csv", "--columns", "t")
        self.json("loss", "sparse-poisson", "--mu", "3", "--data", "visits.csv", "--columns", "visits")
        self.json("loss", "score", "--score", "cos(3*t)-t^2/2", "--data", "draws.csv", "--weight", "count")


if __name__ == "__main__":
    unittest.main()
