"""fenchel fit --by: a fit to each group of rows."""
import csv
import io
import json
import random
import unittest

from harness import CommandLine


class FitBy(CommandLine):
    def setUp(self):
        super().setUp()
        random.seed(8)
        self.rows = [(random.gauss(group, 1 + group), group, random.randrange(1, 4)) for group in (3, 1, 2) * 200]
        self.file("data.csv", "x,year,n\n" + "".join(f"{x!r},{group},{n}\n" for x, group, n in self.rows))

    def test_each_group_is_fitted_as_alone(self):
        for arguments in [["--alpha", "1"], ["--alpha", "auto"], ["--family", "capped-parabola"], ["--family", "uniform"]]:
            found = self.json("fit", "data.csv", "--columns", "x", "--by", "year", "--weight", "n", *arguments)
            self.assertEqual((found["by"], [group.pop("group") for group in found["groups"]]), ("year", [1, 2, 3]))
            for number, group in enumerate(found["groups"], 1):
                self.file("one.csv", "x,n\n" + "".join(f"{x!r},{n}\n" for x, g, n in self.rows if g == number))
                alone = self.json("fit", "one.csv", "--columns", "x", "--weight", "n", *arguments)
                self.assertEqual(alone.pop("family"), found["family"])
                for key in ("schema", "kind"):  # of a model, which a table of groups is not
                    alone.pop(key)
                self.assert_agree(group, alone, 1e-9)

    def test_a_table(self):
        text = self.succeed("fit", "data.csv", "--columns", "x", "--by", "year", "--family", "gaussian")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(list(rows[0]), ["group", "weight", "mu", "mu_error", "sigma2", "sigma2_error",
                                         "log_likelihood", "crps", "outside", "kolmogorov_smirnov"])
        self.assertEqual([(row["group"], row["weight"]) for row in rows], [("1", "200"), ("2", "200"), ("3", "200")])
        for row in rows:
            self.assertAlmostEqual(float(row["mu"]), int(row["group"]), delta=5 * float(row["mu_error"]))
        self.assertEqual(text, self.succeed("fit", "data.csv", "--columns", "x", "--by", "year", "--family", "gaussian",
                                            "--threads", "1"))

    def test_counts(self):
        self.file("counts.csv", "k,g\n" + "".join(f"{k},{g}\n" for g in (0, 5) for k in [1, 2, 2, 3, 4, 0, 1 + g]))
        found = self.json("fit", "counts.csv", "--columns", "k", "--by", "g", "--family", "sparse-poisson",
                          "--alpha", "1")
        self.assertEqual([group["group"] for group in found["groups"]], [0, 5])
        for group, mean in zip(found["groups"], (13 / 7, 18 / 7)):
            self.assertAlmostEqual(group["parameters"]["mu"], mean, delta=1e-9)

    def test_a_group_without_a_fit_and_warnings_are_said(self):
        self.file("few.csv", "x,g\n1,1\n2,1\n4,1\n7,2\n")
        done = self.run_fenchel("fit", "few.csv", "--columns", "x", "--by", "g", "--alpha", "1", "--json")
        groups = json.loads(done.stdout)["groups"]
        self.assertIn("the variance must be positive and finite", groups[1]["failure"])
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\Afenchel fit: warning: group 1: 3 rows are fewer than the 20 that standard errors "
                                      r"need\nfenchel fit: warning: group 2 has no fit: .*variance.*\n\Z")

    def test_what_cannot_be_asked(self):
        self.fail_with(2, "fenchel fit: --by needs --columns COL, the one column to fit", "fit", "data.csv", "--by", "year")
        self.fail_with(2, "fenchel fit: --by: the family laplace needs several passes for each group; choose one that "
                          "moments or counts suffice for", "fit", "data.csv", "--columns", "x", "--by", "year",
                       "--family", "laplace")
        self.fail_with(2, "fenchel fit: --by has no confidence intervals; leave --level and --bootstrap out", "fit",
                       "data.csv", "--columns", "x", "--by", "year", "--level", "0.9")
        self.file("text.csv", "x,day\n1,Mon\n")
        self.fail_with(1, "fenchel fit: text.csv:2:2: expected a number, got 'Mon'", "fit", "text.csv", "--columns", "x",
                       "--by", "day")


if __name__ == "__main__":
    unittest.main()
