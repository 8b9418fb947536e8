"""fenchel fit --compare: families by their scores on rows that were held out."""
import csv
import io
import json
import math
import random
import unittest

from harness import CommandLine

NAMES = ["family", "crps", "crps_difference", "crps_error", "log_score", "log_difference", "log_error", "outside"]
USUAL = ["gaussian", "triweight", "biweight", "parabola", "beta-gaussian", "uniform", "laplace", "triangular"]


class Compare(CommandLine):
    def setUp(self):
        super().setUp()
        random.seed(2)
        self.values = [random.gauss(5, 2) for _ in range(800)]
        self.file("data.csv", "t\n" + "".join(f"{t!r}\n" for t in self.values))

    def test_the_family_of_the_draws_wins(self):
        found = self.json("fit", "data.csv", "--compare", "gaussian,laplace,uniform")
        self.assertEqual(list(found), ["winner", "close", "weight", "folds", "scores"])
        self.assertEqual((found["winner"], found["close"], found["weight"], found["folds"]), ("gaussian", [], 800, 10))
        best, *others = found["scores"]
        self.assertEqual(list(best), NAMES)
        self.assertEqual((best["crps_difference"], best["crps_error"], best["outside"]), (0, 0, 0))
        # Of a Gaussian that is known: sigma / sqrt(pi), and -log(2 pi e sigma^2) / 2.
        self.assertAlmostEqual(best["crps"], 2 / math.sqrt(math.pi), delta=0.1)
        self.assertAlmostEqual(best["log_score"], -math.log(2 * math.pi * math.e * 4) / 2, delta=0.1)
        for score in others:
            self.assertAlmostEqual(score["crps"] - best["crps"], score["crps_difference"], delta=1e-12)
            self.assertGreater(score["crps_difference"], 2 * score["crps_error"])
        uniform = next(score for score in others if score["family"] == "uniform")
        self.assertGreater(uniform["outside"], 0)
        self.assertEqual((uniform["log_score"], uniform["log_difference"]), ("-inf", "nan"))

    def test_the_usual_families_as_a_table(self):
        text = self.succeed("fit", "data.csv", "--compare", "--folds", "3")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(list(rows[0]), NAMES)
        self.assertEqual(sorted(row["family"] for row in rows), sorted(USUAL))
        scores = [float(row["crps"]) for row in rows]
        self.assertEqual(scores, sorted(scores))
        self.assertEqual(text, self.succeed("fit", "data.csv", "--compare", "--folds", "3", "--threads", "1"))
        self.assertNotEqual(text, self.succeed("fit", "data.csv", "--compare", "--folds", "3", "--seed", "1"))
        self.succeed("fit", "data.csv", "--compare", "-o", "out.json")
        self.assertEqual(len(json.loads((self.folder / "out.json").read_text())["scores"]), len(USUAL))

    def test_counts_and_weights(self):
        lines = [f"{k},{n}\n" for k, n in enumerate([40, 90, 110, 80, 50, 20, 10]) for _ in range(20)]
        self.file("counts.csv", "k,n\n" + "".join(lines))
        found = self.json("fit", "counts.csv", "--columns", "k", "--weight", "n", "--compare",
                          "sparse-poisson,sparse-integer-gaussian", "--folds", "4")
        self.assertEqual((found["weight"], len(found["scores"])), (8000, 2))

    def test_a_family_without_a_fit_is_said(self):
        flat = "t\n" + "".join(f"{k / 200}\n" for k in range(200))
        self.file("flat.csv", flat)
        done = self.run_fenchel("fit", "flat.csv", "--json", "--compare", "gaussian,truncated-gaussian")
        self.assertEqual(done.returncode, 0, done.stderr)
        failed = json.loads(done.stdout)["scores"][1]
        self.assertEqual((failed["family"], failed["crps"]), ("truncated-gaussian", "nan"))
        self.assertIn("kappa must be bounded", failed["failure"])
        self.assertRegex(done.stderr, r"\Afenchel fit: warning: truncated-gaussian has no fit: .*kappa must be bounded")

    def test_what_cannot_be_compared(self):
        self.fail_with(2, "fenchel fit: candidates must all be of counts, or all of numbers, got gaussian and "
                          "sparse-poisson", "fit", "data.csv", "--compare", "gaussian,sparse-poisson")
        self.fail_with(2, "fenchel fit: --compare fits several families; leave --alpha out",
                       "fit", "data.csv", "--compare", "--alpha", "2")
        done = self.run_fenchel("fit", "data.csv", "--compare", "normal")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Afenchel fit: --compare: none is called 'normal'; choose from beta-gaussian, ")
        self.file("two.csv", "a,b\n1,2\n2,5\n")
        self.fail_with(2, "fenchel fit: --compare: families are of one column, two.csv has 'a', 'b'; choose with "
                          "--columns", "fit", "two.csv", "--compare")


if __name__ == "__main__":
    unittest.main()
