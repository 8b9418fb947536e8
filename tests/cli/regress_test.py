"""fenchel regress: the paper's table, rows held out, weights, and what it refuses."""
import json
import math
import os
import pathlib
import random
import signal
import subprocess
import time
import unittest

from harness import FENCHEL, SECONDS, CommandLine, csv_text

CANCER = pathlib.Path(__file__).resolve().parents[2] / "data" / "cancer.csv"
KEYS = ["schema", "kind", "y", "alpha", "rows", "weight", "noise_loss", "loss", "r2", "coverage", "crps", "scale_penalty", "status", "mean", "scale", "standard_errors",
        "starts"]
LINE = ["intercept", "coefficients"]


def noisy(count, seed=5):
    """y, x, z with a mean and a width that depend on x."""
    random.seed(seed)
    rows = []
    for _ in range(count):
        x, z = random.uniform(0, 10), random.gauss(0, 1)
        rows.append((1 + 2 * x - z + (1 + 0.3 * x) * (random.betavariate(2, 2) - 0.5), x, z))
    return rows


class Regress(CommandLine):
    def test_the_table_of_the_paper(self):
        # docs/math.md 9: r2, r2_swapped, slope and intercept.
        for alpha, r2, swapped, slope, intercept in [("1", 0.803, 0.668, 0.00343215518, 0.86748150),
                                                     ("4/3", 0.808, 0.684, 0.00347440087, 0.68406578),
                                                     ("3/2", 0.811, 0.694, 0.00350357440, 0.56656317),
                                                     ("2", 0.815, 0.721, 0.00362391753, 0.12458360)]:
            done = self.json("regress", CANCER, "--x", "population", "--y", "cancer", "--alpha", alpha, "--link", "linear",
                             "--penalty", 0, "--test-top", 30)
            self.assertEqual(list(done), KEYS + ["test", "least_squares"])
            self.assertEqual((done["rows"], done["weight"], done["status"]), (271, 271, "converged"))
            self.assertEqual(list(done["test"]), ["rows", "r2", "r2_swapped", "coverage", "crps", "loss"])
            self.assertEqual((done["test"]["rows"], round(done["test"]["r2"], 3), round(done["test"]["r2_swapped"], 3)),
                             (30, r2, swapped))
            self.assertEqual(list(done["mean"]), LINE)
            self.assertAlmostEqual(done["mean"]["coefficients"]["population"], slope, delta=1e-10)
            self.assertAlmostEqual(done["mean"]["intercept"], intercept, delta=1e-6)
            line = done["least_squares"]
            self.assertEqual(list(line), LINE + ["test"])
            self.assertEqual(list(line["test"]), ["rows", "r2", "r2_swapped"])
            self.assertEqual((round(line["test"]["r2"], 3), round(line["test"]["r2_swapped"], 3)), (0.768, 0.562))
            self.assertAlmostEqual(line["coefficients"]["population"], 0.0032457, delta=5e-8)
            self.assertAlmostEqual(line["intercept"], 2.0272, delta=5e-5)

    def by_hand(self, rows, held, options):
        """What fits to all rows but those held out, part by part, say of these: r2, r2_swapped, coverage, rows."""
        truth, mean, inside = [], [], []
        for part in held:
            self.file("fit.csv", csv_text("yxz", [row for i, row in enumerate(rows) if i not in part]))
            self.file("test.csv", csv_text("yxz", [rows[i] for i in part]))
            self.succeed("regress", "fit.csv", "--x", "x,z", "--y", "y", *options, "-o", "part.json")
            said = self.table("predict", "part.json", "test.csv")
            truth, mean, inside = truth + said["y"], mean + said["mean"], inside + said["inside"]

        def squares(values):
            middle = sum(values) / len(values)
            return sum((value - middle) ** 2 for value in values)

        errors = sum((y - m) ** 2 for y, m in zip(truth, mean))
        return {"rows": len(truth), "r2": 1 - errors / squares(truth), "r2_swapped": 1 - errors / squares(mean),
                "coverage": sum(inside) / len(inside)}

    def test_folds_and_shares_are_what_fits_to_the_others_say(self):
        rows = noisy(240)
        rows[17] = (99.0, 5.0, 0.0)  # is in no support
        self.file("data.csv", csv_text("yxz", rows))
        options = ["--scale-penalty", "0.1", "--seed", "5"]
        u = self.table("sample", "uniform", "-n", "240", "--seed", "5")["t"]
        for test, held in [(["--folds", "3"], [{i for i in range(240) if int(3 * u[i]) == k} for k in range(3)]),
                           (["--test-share", "0.25"], [{i for i in range(240) if u[i] < 0.25}])]:
            done = self.json("regress", "data.csv", "--x", "x,z", "--y", "y", *options, *test)
            expected = self.by_hand(rows, held, options)
            self.assertLess(expected["coverage"], 1)
            self.assertEqual(list(done["test"]), ["rows", "r2", "r2_swapped", "coverage", "crps", "loss"])
            for name in ["crps", "loss"]:
                self.assertTrue(math.isfinite(done["test"].pop(name)))
            self.assert_agree(done["test"], expected, 1e-7)
            self.assertEqual(done["least_squares"]["test"]["rows"], expected["rows"])
            self.assertEqual(done["rows"], 240 if test[0] == "--folds" else 240 - expected["rows"])
        whole = self.json("regress", "data.csv", "--x", "x,z", "--y", "y", *options)
        folds = self.json("regress", "data.csv", "--x", "x,z", "--y", "y", *options, "--folds", "3")
        self.assertEqual({key: folds[key] for key in KEYS}, {key: whole[key] for key in KEYS})

    def test_alpha_auto_is_the_best_in_the_folds(self):
        random.seed(1)
        for draw, least, most in [(lambda: random.betavariate(1.5, 1.5) - 0.5, 2, 3), (lambda: random.gauss(0, 1), 0.7, 1.5),
                                  (lambda: random.gauss(0, 1) / random.gauss(0, 1), 0.5, 0.7)]:
            self.file("data.csv", csv_text("yx", [(3 + x / 9 + draw(), x) for x in range(400)]))
            regress = ["regress", "data.csv", "--x", "x", "--y", "y", "--scale-penalty", "1", "--seed", "3"]
            done = self.json(*regress, "--alpha", "auto", "--folds", "4")
            self.assertEqual([one["alpha"] for one in done["alphas"]], [0.5, 0.7, 1, 4 / 3, 1.5, 2, 3])
            self.assertEqual(list(done["alphas"][0]), ["alpha", "crps", "difference", "standard_error"])
            scores = {one["alpha"]: one for one in done["alphas"] if one["crps"] != "nan"}
            best = min(scores.values(), key=lambda one: one["crps"])
            self.assertEqual((done["alpha"], best["difference"], best["standard_error"]), (best["alpha"], 0, 0))
            self.assertTrue(least <= done["alpha"] <= most, done["alphas"])
            self.assertAlmostEqual(done["test"]["crps"], best["crps"], delta=1e-12)
            for alpha in [1, 2]:
                if alpha in scores:  # the same folds, with a fit of that alpha
                    one = self.json(*regress, "--alpha", alpha, "--folds", "4")["test"]["crps"]
                    self.assertAlmostEqual(one, scores[alpha]["crps"], delta=1e-12)
                    self.assertAlmostEqual(scores[alpha]["difference"], one - best["crps"], delta=1e-12)
            alone = self.json(*regress, "--alpha", repr(done["alpha"]), "--folds", "4")
            self.assertEqual({key: done[key] for key in alone}, alone)
        half = self.json(*regress, "--alpha", "auto", "--test-share", "0.5")
        self.assertEqual((half["rows"] + half["test"]["rows"], len(half["alphas"])), (400, 7))
        self.assertEqual([one["alpha"] for one in self.json(*regress, "--alpha", "auto", "--noise-loss", "likelihood")["alphas"]],
                         [0.5, 0.7, 1])

    def test_r2_and_coverage_are_those_of_the_rows(self):
        rows = noisy(100)
        self.file("data.csv", csv_text("yxz", rows))
        done = self.json("regress", "data.csv", "--x", "x,z", "--y", "y")
        line = done["mean"]["coefficients"]
        mean = [done["mean"]["intercept"] + line["x"] * x + line["z"] * z for _, x, z in rows]
        middle = sum(row[0] for row in rows) / 100
        errors = sum((row[0] - m) ** 2 for row, m in zip(rows, mean))
        self.assertAlmostEqual(done["r2"], 1 - errors / sum((row[0] - middle) ** 2 for row in rows), delta=1e-12)
        self.succeed("regress", "data.csv", "--x", "x,z", "--y", "y", "-o", "model.json")
        inside = self.table("predict", "model.json", "data.csv")["inside"]
        self.assertAlmostEqual(done["coverage"], sum(inside) / 100, delta=1e-15)

    def test_tests_that_mean_nothing(self):
        self.file("data.csv", csv_text("yxz", noisy(30)))
        regress = ["regress", "data.csv", "--x", "x", "--y", "y"]
        self.fail_with(2, "fenchel regress: --test-share must be between 0 and 1, got 1.5", *regress, "--test-share", "1.5")
        self.fail_with(1, "fenchel regress: data.csv: has 30 rows, --test-share 0.0001 leaves none of them to test", *regress,
                       "--test-share", "1e-4")
        self.fail_with(1, "fenchel regress: data.csv: has 30 rows, --folds 900 leaves none of them to test", *regress, "--folds", 900)
        self.fail_with(2, "fenchel regress: --folds: expected a whole number from 2 to 1000, got '1'", *regress, "--folds", 1)
        self.fail_with(2, "fenchel regress: --test-top excludes --folds; see fenchel regress --help", *regress, "--folds", 2, "--test-top", 2)

    def test_what_a_result_holds(self):
        self.file("data.csv", csv_text("yxz", noisy(300)))
        done = self.json("regress", "data.csv", "--x", "x,z", "--y", "y", "--link", "linear", "--penalty", 0,
                         "--starts", 3)
        self.assertEqual(list(done), KEYS + ["least_squares"])
        self.assertEqual((done["alpha"], done["rows"], done["status"]), (2, 300, "converged"))
        self.assertEqual(list(done["scale"]), ["link"] + LINE)
        self.assertEqual(done["scale"]["link"], "linear")
        for part in ["mean", "scale"]:
            self.assertEqual(list(done[part]["coefficients"]), ["x", "z"])
            self.assertEqual(list(done["standard_errors"][part]), LINE)
            self.assertEqual(list(done["standard_errors"][part]["coefficients"]), ["x", "z"])
        for name, truth in [("x", 2), ("z", -1)]:
            self.assertLess(abs(done["mean"]["coefficients"][name] - truth),
                            5 * done["standard_errors"]["mean"]["coefficients"][name])
            self.assertLess(abs(done["least_squares"]["coefficients"][name] - truth), 0.1)
        self.assertEqual([list(start) for start in done["starts"]], [["objective", "status"]] * 3)
        self.assertIn(done["loss"], [start["objective"] for start in done["starts"]])
        self.assertEqual(list(done["least_squares"]), LINE)

    def test_a_line_that_is_worse_than_the_mean_is_said_to_be(self):
        """A curve whose beginning has little noise and many rows."""
        random.seed(1)
        xs = [1] * 40 + [3] * 60 + [7] * 80 + [28] * 120 + [90] * 30 + [365] * 6
        rows = [(12 * math.log(1 + x) + (2 + 0.02 * x) * random.gauss(0, 1), x) for x in xs]
        self.file("curve.csv", "y,x\n" + "".join(f"{y},{x}\n" for y, x in rows))
        done = self.run_fenchel("regress", "curve.csv", "--x", "x", "--y", "y", "--json")
        self.assertLess(json.loads(done.stdout)["r2"], 0)
        self.assertRegex(done.stderr, r"\Afenchel regress: note: the mean of 'y' is nearer to its rows than the line, r2 = -[0-9.]+: ")
        done = self.run_fenchel("regress", "curve.csv", "--x", "x", "--y", "y", "--json", "--scale-penalty", "100")
        self.assertGreater(json.loads(done.stdout)["r2"], 0)
        self.assertEqual(done.stderr, "")

    def test_logarithmic_sigma(self):
        self.file("data.csv", csv_text("yxz", noisy(300)))
        both = ["regress", "data.csv", "--x", "x", "--y", "y", "--alpha", "1"]
        done = self.json(*both, "--link", "log", "--penalty", 0)
        self.assertEqual((done["scale"]["link"], done["status"]), ("log", "converged"))
        # At alpha = 1 the loss is the mean of log sigma + log(2 pi)/2 + residual^2 / (2 sigma^2).
        sum_ = 0
        for y, x, _ in noisy(300):
            log_sigma = done["scale"]["intercept"] + done["scale"]["coefficients"]["x"] * x
            residual = y - done["mean"]["intercept"] - done["mean"]["coefficients"]["x"] * x
            sum_ += log_sigma + math.log(2 * math.pi) / 2 + residual**2 / 2 * math.exp(-2 * log_sigma)
        self.assertAlmostEqual(done["loss"], sum_ / 300, delta=1e-12)

    def test_the_largest_rows_are_held_out_the_last_of_those_that_tie(self):
        rows = [(y, float(round(x)), z) for y, x, z in noisy(200)]
        self.file("all.csv", csv_text("yxz", rows))
        in_order = sorted(range(200), key=lambda i: rows[i][1])  # stable
        for count in [1, 7, 30, 55]:
            kept, held = sorted(in_order[:-count]), in_order[-count:]
            self.file("kept.csv", csv_text("yxz", [rows[i] for i in kept]))
            done = self.json("regress", "all.csv", "--x", "x,z", "--y", "y", "--test-top", count)
            test = done.pop("test")
            line_test = done["least_squares"].pop("test")
            self.assert_agree(done, self.json("regress", "kept.csv", "--x", "x,z", "--y", "y"), 1e-9)
            truth = [rows[i][0] for i in held]
            for result, line in [(test, done["mean"]), (line_test, done["least_squares"])]:
                guess = [line["intercept"] + line["coefficients"]["x"] * rows[i][1]
                         + line["coefficients"]["z"] * rows[i][2] for i in held]
                errors = sum((a - b)**2 for a, b in zip(truth, guess))
                self.assertEqual(result["rows"], count)
                for name, values in [("r2", truth), ("r2_swapped", guess)]:
                    squares = sum((v - sum(values) / count)**2 for v in values)
                    if squares > 0:
                        self.assertAlmostEqual(result[name], 1 - errors / squares, delta=1e-9)
                    else:
                        self.assertEqual(result[name], "-inf")

    def test_held_out_rows_of_many_batches(self):
        rows = noisy(60000)  # 3 MB: several batches
        self.file("all.csv", csv_text("yxz", rows))
        self.assertGreater((self.folder / "all.csv").stat().st_size, 3 << 20)
        in_order = sorted(range(len(rows)), key=lambda i: rows[i][1])
        self.file("kept.csv", csv_text("yxz", [rows[i] for i in sorted(in_order[:-1000])]))
        arguments = ["--x", "x", "--y", "y", "--alpha", "3/2", "--starts", 1]
        done = self.json("regress", "all.csv", *arguments, "--test-top", 1000)
        del done["test"], done["least_squares"]["test"]
        self.assertEqual(done["rows"], 59000)
        self.assert_agree(done, self.json("regress", "kept.csv", *arguments), 1e-9)
        self.file("bad.csv", csv_text("yxz", rows[:50000] + [("high", 1.0, 1.0)] + rows[50000:]))
        self.fail_with(1, "fenchel regress: bad.csv:50002:1: expected a number, got 'high'", "regress", "bad.csv",
                       *arguments, "--test-top", 1000)

    def test_memory_does_not_grow_with_the_file(self):
        note = "x" * 2000
        rows = csv_text(["y", "x", "note"], [(y, x, note) for y, x, _ in noisy(500)]).split("\n", 1)
        peaks = []
        for copies in [2, 60]:
            with open(self.folder / "data.csv", "w") as file:
                file.write(rows[0] + "\n")
                file.writelines(rows[1] for _ in range(copies))
            child = subprocess.Popen([FENCHEL, "regress", "data.csv", "--x", "x", "--y", "y", "--alpha", "1", "--starts",
                                      "1", "--test-top", "100", "--threads", "1"], cwd=self.folder,
                                     stdout=subprocess.DEVNULL,  # what a sanitizer keeps back is not ours
                                     env={**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1"})
            _, child.returncode, usage = os.wait4(child.pid, 0)
            self.assertEqual(child.returncode, 0)
            peaks.append(usage.ru_maxrss)
        size = (self.folder / "data.csv").stat().st_size / 1024  # kB, as ru_maxrss
        self.assertGreater(size, 50e3)
        self.assertLess(peaks[1] - peaks[0], size / 4)

    def test_students_noise_is_robust(self):
        rows = [(y + (50 + 20 * x if k % 10 == 0 else 0), x, z) for k, (y, x, z) in enumerate(noisy(300))]
        self.file("data.csv", csv_text("yxz", rows))
        both = ["regress", "data.csv", "--x", "x,z", "--y", "y", "--test-top", 20]
        student, gaussian = (self.json(*both, "--alpha", alpha) for alpha in ["0.5", "1"])
        self.assertEqual((student["noise_loss"], gaussian["noise_loss"]), ("likelihood", "cross_omega"))
        for name, truth in [("x", 2), ("z", -1)]:
            self.assertLess(abs(student["mean"]["coefficients"][name] - truth), 0.1)
            self.assertLess(abs(student["mean"]["coefficients"][name] - truth),
                            5 * student["standard_errors"]["mean"]["coefficients"][name])
        self.assertGreater(abs(gaussian["mean"]["coefficients"]["x"] - 2), 1)
        cross = self.json(*both, "--alpha", "0.5", "--noise-loss", "cross_omega")
        self.assertGreater(abs(cross["mean"]["coefficients"]["x"] - 2), 1)
        self.assertLess(student["test"]["loss"], gaussian["test"]["loss"])  # -log p(y) of both

    def test_weights_are_repeated_rows(self):
        rows = noisy(80)
        weights = [k % 4 for k in range(80)]
        self.file("weighted.csv", csv_text("yxzw", [(*row, w) for row, w in zip(rows, weights)]))
        self.file("repeated.csv", csv_text("yxz", [row for row, w in zip(rows, weights) for _ in range(w)]))
        weighted = self.json("regress", "weighted.csv", "--x", "x", "--y", "y", "--weight", "w")
        repeated = self.json("regress", "repeated.csv", "--x", "x", "--y", "y")
        self.assertEqual((weighted.pop("rows"), repeated.pop("rows")), (80, 120))
        self.assert_agree(weighted, repeated, 1e-8)
        top = self.json("regress", "weighted.csv", "--x", "x", "--y", "y", "--weight", "w", "--test-top", 20)
        held = sorted(range(80), key=lambda i: rows[i][1])[-20:]
        again = self.json("regress", "repeated.csv", "--x", "x", "--y", "y", "--test-top", sum(weights[i] for i in held))
        for name in ["r2", "r2_swapped", "loss"]:
            self.assertAlmostEqual(top["test"][name], again["test"][name], delta=1e-7)

    def test_standard_input_and_csv_output(self):
        expected = self.json("regress", CANCER, "--x", "population", "--y", "cancer", "--test-top", 30)
        self.assertEqual(self.json("regress", "-", "--x", "population", "--y", "cancer", "--test-top", 30,
                                   stdin=CANCER.read_bytes()), expected)
        lines = self.succeed("regress", CANCER, "--x", "population", "--y", "cancer", "--test-top", 30).splitlines()
        self.assertEqual(lines[0], "name,value")
        self.assertIn(f"test.r2_swapped,{expected['test']['r2_swapped']!r}", lines)
        self.assertIn(f"mean.coefficients.population,{expected['mean']['coefficients']['population']!r}", lines)

    def test_starts_are_drawn_by_the_seed(self):
        arguments = ["regress", CANCER, "--x", "population", "--y", "cancer", "--alpha", "2.5", "--link", "linear",
                     "--penalty", 0, "--starts", 6]
        self.assertEqual(self.run_fenchel(*arguments, "--seed", 3).stdout, self.run_fenchel(*arguments, "--seed", 3).stdout)
        self.assertNotEqual(self.run_fenchel(*arguments, "--seed", 3).stdout,
                            self.run_fenchel(*arguments, "--seed", 4).stdout)

    def test_what_was_reached_is_printed_when_nothing_converged(self):
        done = self.run_fenchel("regress", CANCER, "--x", "population", "--y", "cancer", "--alpha", 5,
                                "--link", "linear", "--penalty", 0, "--json")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "fenchel regress: no start converged for --scale-penalty 0, the minimum for 30 was found. "
                             "Give --scale-penalty 30 or more, a smaller --alpha, or --link log\n"))
        reached = json.loads(done.stdout)
        self.assertEqual((reached["status"], reached["scale_penalty"]), ("stalled", 30))

    def test_usage_errors_come_before_the_data(self):
        for arguments, message in [
            (["--x", "x", "--y", "y", "--alpha", "1/3"],
             "--alpha must be finite and above 1/3, where the noise has a variance, got 0.3333333333333333"),
            (["--x", "x", "--y", "y", "--alpha", "inf"],
             "--alpha must be finite and above 1/3, where the noise has a variance, got inf"),
            (["--x", "x", "--y", "y", "--noise-loss", "likelihood"],
             "--noise-loss likelihood needs --alpha up to 1, got 2"),
            (["--x", "x", "--y", "y", "--scale-penalty", "-1"],
             "--scale-penalty must be finite and not negative, got -1"),
            (["--x", "x", "--y", "y", "--penalty", "-1"], "--penalty must be finite and not negative, got -1"),
            (["--x", "x", "--y", "y", "--starts", "0"], "--starts: expected a whole number from 1 to 1000000000, "
                                                      "got '0'"),
            (["--x", "x", "--y", "y", "-o", "x.npy"],
             "--output: a result with names has no .npy form; use .json or .csv"),
            (["--x", "x"], "--y is required; see fenchel regress --help"),
            (["--y", "y"], "--x is required; see fenchel regress --help"),
            (["--x", "x", "--y", "y", "--link", "flat"],
             "--link: expected one of linear, log, got 'flat'"),
            (["--x", "x", "--y", "y", "--test-top", "-1"],
             "--test-top: expected a whole number from 0 to 2147483648, got '-1'"),
        ]:
            self.fail_with(2, "fenchel regress: " + message, "regress", "missing.csv", *arguments)

    def test_data_that_cannot_be_fitted(self):
        line = csv_text("yx", [(2.0 * k + 1, float(k)) for k in range(9)])
        for content, arguments, status, message in [
            ("", [], 1, "data.csv: is empty"),
            ("y,x\n", [], 1, "data.csv: has no rows"),
            (line, ["--penalty", 0], 1, "data.csv: the residual of least squares must be more than rounding, got 0"),
            (line, ["--test-top", 9], 1, "data.csv: has 9 rows, --test-top 9 leaves none of them to fit"),
            ("y,x\n1,1\n2,2\n1,3\n", [], 1,
             "data.csv: the weight of all rows must be at least the number of parameters, 4, got 3"),
            ("y,x\n1,1\n2,1\n1,1\n0,1\n", ["--penalty", 0], 1,
             "data.csv: column 'x' must vary unless the penalty is positive, got 1"),
            ("y,x\n1,1\n2,one\n", ["--test-top", 1], 1, "data.csv:3:2: expected a number, got 'one'"),
            ("y,z\n1,1\n", [], 1, "data.csv: has no column 'x'; its columns are 'y', 'z'"),
            (line, ["--y", "x"], 2, "column 'x' is chosen twice"),
        ]:
            self.file("data.csv", content)
            y = [] if "--y" in arguments else ["--y", "y"]
            self.fail_with(status, "fenchel regress: " + message, "regress", "data.csv", "--x", "x", *y, *arguments)

    def test_an_interrupt_ends_it(self):
        child = subprocess.Popen([FENCHEL, "regress", CANCER, "--x", "population", "--y", "cancer", "--starts",
                                  "100000000", "-o", "out.json"], cwd=self.folder, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        time.sleep(0.5)
        self.assertIsNone(child.poll())
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.communicate(timeout=SECONDS),
                         (b"", b"fenchel regress: interrupted; out.json is not written\n"))
        self.assertEqual(child.returncode, -signal.SIGINT)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
