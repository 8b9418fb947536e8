"""fenchel predict: what a regression that was written says of rows, and what it refuses."""
import json
import math
import subprocess
import unittest

from harness import FENCHEL, CommandLine, csv_text
from regress_test import noisy

ROWS = noisy(300)


class Predict(CommandLine):
    def setUp(self):
        super().setUp()
        self.file("data.csv", csv_text("yxz", ROWS))

    def model(self, *options, x="x,z"):
        self.succeed("regress", "data.csv", "--x", x, "--y", "y", *options, "-o", "model.json")
        return json.loads((self.folder / "model.json").read_text())

    def density(self, model, x, *arguments):
        """What fenchel density says of the prediction at these features, computed here."""
        mu = sum(model["mean"]["coefficients"][name] * value for name, value in x.items()) + model["mean"]["intercept"]
        s = sum(model["scale"]["coefficients"][name] * value for name, value in x.items()) + model["scale"]["intercept"]
        sigma2 = s * s if model["scale"]["link"] == "linear" else math.exp(2 * s)
        return self.json("density", "beta-gaussian", f"--alpha={model['alpha']!r}", f"--mu={mu!r}", f"--sigma2={sigma2!r}",
                         *arguments)

    def test_rows_have_mean_support_quantiles_and_interval(self):
        for alpha in ["2", "3/2", "1.00000001", "1", "0.7"]:
            for link in ["log", "linear"]:
                model = self.model("--alpha", alpha, "--link", link, "--scale-penalty", "1")
                self.assertEqual((model["schema"], model["kind"], model["y"]), ("fenchel-model-1", "regression", "y"))
                self.file("new.csv", "other,z,x\n7,0.5,2\n8,-1,9\n")
                got = self.table("predict", "model.json", "new.csv", "--quantiles", "0.05,0.5,1", "--level", "0.8")
                self.assertEqual(list(got), ["mean", "support_lower", "support_upper", "lower", "upper", "q0.05", "q0.5", "q1"])
                for i, x in enumerate([{"x": 2, "z": 0.5}, {"x": 9, "z": -1}]):
                    p = self.density(model, x, "--quantiles", "0.05,0.1,0.5,0.9,1")
                    ends = [float(end) for end in p["support"]]
                    for name, value in [("mean", p["mean"]), ("support_lower", ends[0]), ("support_upper", ends[1]),
                                        ("lower", p["quantiles"]["0.1"]), ("upper", p["quantiles"]["0.9"]),
                                        ("q0.05", p["quantiles"]["0.05"]), ("q0.5", p["median"]), ("q1", ends[1])]:
                        if math.isinf(value):
                            self.assertEqual(got[name][i], value)
                        else:
                            self.assertAlmostEqual(got[name][i], value, delta=1e-12 * (abs(value) + 1), msg=name)

    def test_where_y_is_there_its_density_is(self):
        model = self.model("--alpha", "2")
        self.file("data.csv", csv_text("yxz", [*ROWS, (99, 5, 0)]))
        got = self.table("predict", "model.json", "data.csv")
        self.assertEqual(list(got), ["mean", "support_lower", "support_upper", "y", "pdf", "inside"])
        self.assertEqual(got["y"], [row[0] for row in ROWS] + [99])
        for lower, upper, y, pdf, inside in zip(*(got[name] for name in list(got)[1:])):
            self.assertEqual(inside, lower <= y <= upper)
            self.assertEqual(pdf > 0, lower < y < upper)
        self.assertEqual(set(got["inside"]), {0, 1})
        for i in (0, 17):
            y, x, z = ROWS[i]
            at = self.density(model, {"x": x, "z": z}, f"--at={y!r}")["rows"][0]
            self.assertAlmostEqual(got["pdf"][i], at[1], delta=1e-10)

    def test_columns_are_found_by_name_in_files_and_streams(self):
        self.model()
        expected = self.succeed("predict", "model.json", "data.csv")
        mixed = csv_text(["z", "day", "y", "x"], [(z, "mon", y, x) for y, x, z in ROWS])
        self.file("mixed.csv", mixed)
        self.assertEqual(self.succeed("predict", "model.json", "mixed.csv"), expected)
        numbers = mixed.replace("mon", "1")
        self.assertEqual(self.succeed("predict", "model.json", "-", stdin=numbers), expected)
        self.file("short.csv", "x,y\n1,2\n")
        self.fail_with(1, "fenchel predict: short.csv: has no column 'z'; its columns are 'x', 'y'",
                       "predict", "model.json", "short.csv")
        self.fail_with(1, "fenchel predict: standard input: has no column 'z'; its columns are 'x', 'y'",
                       "predict", "model.json", "-", stdin="x,y\n1,2\n")

    def test_numbers_may_be_names(self):
        self.file("years.csv", csv_text(["2020", "2010"], [row[:2] for row in ROWS]))
        self.succeed("regress", "years.csv", "--x", "2010", "--y", "2020", "-o", "years.json")
        self.assertEqual(self.table("predict", "years.json", "years.csv")["y"], [row[0] for row in ROWS])
        self.file("later.csv", "2010\n1\n")
        self.assertEqual(list(self.table("predict", "years.json", "later.csv")), ["mean", "support_lower", "support_upper"])

    def test_rows_without_y_are_predicted(self):
        self.model()
        self.file("new.csv", "x,y,z\n1,,0.5\n1,3,0.5\n")
        got = self.table("predict", "model.json", "new.csv")
        self.assertEqual(got["mean"][0], got["mean"][1])
        self.assertEqual([math.isnan(got[name][0]) for name in got], [False, False, False, True, True, True])
        self.assertEqual((got["y"][1], got["inside"][1] in (0, 1)), (3, True))
        self.assertEqual(self.json("predict", "model.json", "new.csv")["rows"][0][3:], ["nan", "nan", "nan"])

    def test_arrays(self):
        self.model()
        self.succeed("predict", "model.json", "data.csv", "-o", "p.npy")
        self.succeed("regress", "p.npy", "--y", "3", "--x", "0", "-o", "again.json")
        got = self.table("predict", "again.json", "p.npy", "--quantiles", "0.5")
        self.assertEqual(list(got), ["mean", "support_lower", "support_upper", "q0.5", "y", "pdf", "inside"])
        self.assertEqual(got["y"], [row[0] for row in ROWS])
        rows = self.json("predict", "model.json", "data.csv")
        self.assertEqual((rows["columns"][0], len(rows["rows"])), ("mean", 300))

    def test_a_bad_model_names_the_file_the_key_and_the_constraint(self):
        good = self.model()

        def bad(message, change):
            model = json.loads(json.dumps(good))
            change(model)
            self.file("bad.json", json.dumps(model))
            self.fail_with(1, f"fenchel predict: bad.json: {message}", "predict", "bad.json", "data.csv")

        bad('schema must be "fenchel-model-1", got "fenchel-model-9"', lambda m: m.update(schema="fenchel-model-9"))
        bad('kind must be "regression", as fenchel regress writes it, got "distribution"', lambda m: m.update(kind="distribution"))
        bad("alpha must be above 1/3, got 0.25", lambda m: m.update(alpha=0.25))
        bad('alpha must be a finite number, got "inf"', lambda m: m.update(alpha="inf"))
        bad("y is missing", lambda m: m.pop("y"))
        bad("mean is missing", lambda m: m.pop("mean"))
        bad('mean.intercept must be a finite number, got "nan"', lambda m: m["mean"].update(intercept="nan"))
        bad('scale.link must be "linear" or "log", got "sqrt"', lambda m: m["scale"].update(link="sqrt"))
        bad("scale.coefficients.z is missing", lambda m: m["scale"]["coefficients"].pop("z"))
        bad("scale.coefficients must be of the same columns for the mean and the scale, got an object",
            lambda m: m["scale"]["coefficients"].update(w=1.0))
        bad("mean.coefficients.x must be a finite number, got null", lambda m: m["mean"]["coefficients"].update(x=None))

    def test_what_means_nothing_is_refused(self):
        self.model()
        self.fail_with(2, "fenchel predict: --quantiles must be in [0, 1], got 2", "predict", "model.json", "data.csv",
                       "--quantiles", "0.5,2")
        self.fail_with(2, "fenchel predict: --level must be in [0, 1], got 90", "predict", "model.json", "data.csv", "--level", "90")
        self.file("far.csv", "x,z\n1,1\n1e308,1\n")
        done = self.run_fenchel("predict", "model.json", "far.csv", "-o", "p.csv")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.startswith("fenchel predict: far.csv:3:1: "), done.stderr)
        self.assertFalse((self.folder / "p.csv").exists())
        self.file("gap.csv", "x,z\n1,1\n2,\n")
        done = self.run_fenchel("predict", "model.json", "gap.csv")
        self.assertEqual((done.returncode, done.stderr.partition(": a value is missing")[0]), (1, "fenchel predict: gap.csv:3:2"))
        self.assertEqual(len(self.table("predict", "model.json", "gap.csv", "--missing", "drop")["mean"]), 1)
        self.fail_with(1, "fenchel predict: cannot write no/p.csv: No such file or directory", "predict", "missing.json",
                       "missing.csv", "-o", "no/p.csv")

    def test_memory_does_not_grow_with_the_table(self):
        self.model()

        def peak(count):
            self.file("large.csv", "x,z\n" + "1.25,0.5\n" * count)
            script = (f"import resource, subprocess; subprocess.run([{FENCHEL!r}, 'predict', 'model.json', 'large.csv', '-o', "
                      "'large.npy'], check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
            return int(subprocess.run(["python3", "-c", script], cwd=self.folder, capture_output=True, check=True).stdout)

        self.assertLess(peak(1000000) - peak(200000), 3000)  # kilobytes, of 7 MB more


if __name__ == "__main__":
    unittest.main()
