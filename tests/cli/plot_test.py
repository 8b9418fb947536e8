"""fenchel plot: every kind draws what its numbers say."""
import math
import pathlib
import re
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from harness import FENCHEL, CommandLine

PAGES = pathlib.Path(FENCHEL).parent / "pages"
SVG = "{http://www.w3.org/2000/svg}"
SIGNAL = "s,w\n" + "".join(f"{math.sin(i / 8)},{math.exp(-((i - 60) / 10) ** 2)}\n" for i in range(100))
ROWS = "x,y\n" + "".join(f"{i},{2 * i + (i % 7 - 3) * (1 + i / 20)}\n" for i in range(1, 80))


class Plot(CommandLine):
    def draw(self, *arguments):
        """The drawing, parsed."""
        return ElementTree.fromstring(self.succeed("plot", *arguments))

    def texts(self, drawing):
        return ["".join(text.itertext()) for text in drawing.iter(SVG + "text")]

    def marks(self, drawing):
        return [mark for tag in ("path", "polyline", "polygon", "rect", "circle", "line") for mark in drawing.iter(SVG + tag)]

    def test_densities_name_their_parameters(self):
        for arguments, title in [(["biweight", "--sigma2", "4"], "biweight: \u03b1 = 1.5, \u03bc = 0, \u03c3\u00b2 = 4"),
                                 (["triangular"], "triangular: \u03b1 = 2, \u03bc = 0, b = 1"),
                                 (["sparse-poisson", "--mu", "6"], "sparse-poisson: \u03b1 = 2, \u03bc = 6"),
                                 (["capped-parabola", "--gamma", "0.1"], "capped-parabola: \u03b3 = 0.1, \u03bc = 0, \u03c3\u00b2 = 1")]:
            drawing = self.draw("density", *arguments)
            self.assertIn(title, self.texts(drawing))
            self.assertEqual(drawing.find(SVG + "title").text, title)
            self.assertGreater(len(self.marks(drawing)), 5)

    def test_every_family_has_both_plots(self):
        families = subprocess.run(["bash", "-c", 'source "$0"; COMP_WORDS=(fenchel density ""); COMP_CWORD=2; cd /; _fenchel; '
                                   'echo "${COMPREPLY[@]}"', PAGES / "fenchel"], capture_output=True, text=True).stdout.split()
        families = families[families.index("beta-gaussian"):families.index("score") + 1]
        self.assertGreater(len(families), 16)
        for family in families:
            more = {"score": ["--score", "cos(3*t)-t^2/2"], "location-scale": ["--score", "t^3/6"],
                    "student": ["--alpha", "0.7"]}.get(family, [])
            with self.subTest(family=family):
                self.assertGreater(len(self.marks(self.draw("density", family, *more))), 5)
                if family == "multivariate-beta-gaussian":
                    self.fail_with(2, "fenchel plot cdf: multivariate-beta-gaussian in R^2 has no distribution function to plot; "
                                   "see fenchel plot density", "plot", "cdf", family)
                else:
                    self.assertGreater(len(self.marks(self.draw("cdf", family, *more))), 5)

    def test_stems_stand_on_integers_with_rings_for_exact_zeros(self):
        drawing = self.draw("density", "sparse-poisson", "--mu", "6")
        rings = list(drawing.iter(SVG + "circle"))
        pmf = self.table("density", "sparse-poisson", "--mu", "6", "--at", "3,4,5,6,7,8")["pmf"]
        self.assertEqual([p == 0 for p in pmf], [True, False, False, False, False, True])
        self.assertEqual(len(rings), pmf.count(0))

    def test_the_range_is_the_axis(self):
        labels = self.texts(self.draw("density", "gaussian", "--range", "-10,10"))
        self.assertTrue({"\u221210", "0", "10"} <= set(labels), labels)
        for bad in ["1", "1,1", "2,1", "0,inf", "1,2,3"]:
            self.fail_with(2, f"fenchel plot density: --range must be two finite ends A,B with A < B, got {bad}",
                           "plot", "density", "gaussian", f"--range={bad}")

    def test_planes_show_draws_of_the_seed(self):
        plane = ["density", "multivariate-beta-gaussian", "--mu", "0,0", "--Sigma", "2,1,1,1"]
        once, again, other = (self.succeed("plot", *plane, "--seed", seed) for seed in (1, 1, 2))
        self.assertEqual(once, again)
        self.assertNotEqual(once, other)
        self.assertIn("support", self.texts(self.draw(*plane)))
        bare, full = self.draw(*plane, "--samples", "0"), self.draw(*plane, "--samples", "100")
        self.assertGreater(len(ElementTree.tostring(full)), len(ElementTree.tostring(bare)) + 1000)
        self.fail_with(2, "fenchel plot density: a plot shows two dimensions, multivariate-beta-gaussian has 3", "plot", "density",
                       "multivariate-beta-gaussian", "--mu", "0,0,0", "--Sigma", "1,1,1")

    def test_scores_in_the_plane_have_contours(self):
        ring = self.draw("density", "score", "--score=-(x^2+y^2-4)^2", "--samples", "0")
        self.assertTrue({"half of the mass", "90%", "support"} <= set(self.texts(ring)), self.texts(ring))
        self.assertNotIn("draws", self.texts(ring))
        filled = [path.get("d") for path in ring.iter(SVG + "path") if path.get("fill-rule") == "evenodd"]
        self.assertEqual([path.count("M") for path in filled], [2])  # the support has a hole
        # The ends of the domain cut this one, and the way between the ends of its edge is none.
        corner = self.draw("density", "score", "--score=-3*x-2*y", "--interval=0,4,0,4", "--samples", "0")
        self.assertIn("support", self.texts(corner))
        self.assertEqual([path for path in corner.iter(SVG + "path") if path.get("fill-rule") == "evenodd"], [])
        texts = self.texts(self.draw("density", "score", "--score=-x^2-y^2", "--alpha", "1", "--samples", "5"))
        self.assertIn("draws", texts)
        self.assertNotIn("support", texts)

    def test_attention_over_a_signal(self):
        self.file("signal.csv", SIGNAL)
        texts = self.texts(self.draw("attention", "signal.csv", "--weight", "w"))
        self.assertTrue({"s", "weights times frames", "density", "support"} <= set(texts), texts)
        texts = self.texts(self.draw("attention", "signal.csv", "--mu", "0.5", "--sigma2", "0.01"))
        self.assertIn("Attention: \u03b1 = 2, \u03bc = 0.5, \u03c3\u00b2 = 0.01", texts)

    def test_regression_band(self):
        self.file("rows.csv", ROWS)
        for alpha, band in [("2", "support"), ("1", "95%")]:
            texts = self.texts(self.draw("regression", "rows.csv", "--x", "x", "--y", "y", "--alpha", alpha))
            self.assertTrue({f"y by x, \u03b1 = {alpha}", "mean", band} <= set(texts), texts)

    def fitted(self, values, *arguments, name="model.json"):
        self.file("values.csv", "height,w\n" + "".join(f"{value!r},1\n" for value in values))
        self.succeed("fit", "values.csv", "--columns", "height", *arguments, "-o", name)
        return ["fit", "values.csv", "--model", name, "--columns", "height"]

    def test_a_fit_is_compared_with_its_data(self):
        values = self.table("sample", "biweight", "--mu", "5", "--sigma2", "2", "-n", "500", "--seed", "0")["t"]
        plot = self.fitted(values)
        lower, upper = self.json("density", "model.json")["support"]
        outside = sum(not lower <= value <= upper for value in values)
        self.assertGreater(outside, 0)
        drawing = self.draw(*plot)
        texts = self.texts(drawing)
        self.assertTrue({"data", "density", "support", f"outside of the support: {outside} of 500 rows", "Quantiles", "height",
                         "Shares up to each value", "of the model", "of the data"} <= set(texts), texts)
        self.assertFalse(any("nan" in mark.get("d", "") for mark in self.marks(drawing)))

    def test_a_weight_is_so_many_rows_in_a_picture(self):
        plot = self.fitted([1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.5])
        self.file("weighted.csv", "w,height\n" + "3,3\n1,1\n0,99\n2,2\n1,3.5\n")
        self.assertEqual(self.succeed("plot", "fit", "weighted.csv", "--model", "model.json", "--columns", "height", "--weight", "w"),
                         self.succeed("plot", *plot))

    def test_fits_of_integers_and_of_heavy_tails_are_drawn(self):
        counts = self.table("sample", "sparse-poisson", "--mu", "4", "-n", "100", "--seed", "0")["t"]
        texts = self.texts(self.draw(*self.fitted(counts, "--family", "sparse-poisson")))
        self.assertIn("probability; a ring is exactly 0", texts)
        tails = self.fitted([*range(500), 1e6], "--family", "gaussian")
        texts = self.texts(self.draw(*tails))
        self.assertIn("height (1 of 501 rows are farther out)", texts)
        texts = self.texts(self.draw(*tails, "--range=-1,1"))
        self.assertTrue({"\u22121", "1"} <= set(texts), texts)

    def test_a_fit_of_one_value_is_drawn(self):
        self.fitted([1.0, 2.0])
        self.file("one.csv", "t\n1.5\n")
        self.assertIn("Quantiles", self.texts(self.draw("fit", "one.csv", "--model", "model.json")))

    def test_what_no_plot_of_a_fit_shows(self):
        plot = self.fitted([1.0, 2.0, 4.0])
        self.fail_with(2, "fenchel plot fit: a plot of a fit shows one column, values.csv has 'height', 'w'; choose with --columns",
                       "plot", "fit", "values.csv", "--model", "model.json")
        self.file("points.csv", "x,y\n0,1\n1,0\n2,2\n3,1\n")
        self.succeed("fit", "points.csv", "-o", "points.json")
        self.fail_with(2, "fenchel plot fit: a plot of a fit shows one column, points.json is of 2", "plot", *plot[:2], "--model",
                       "points.json", "--columns", "height")
        self.file("none.csv", "t,w\n1,0\n")
        self.fail_with(1, "fenchel plot fit: none.csv: has no rows", "plot", "fit", "none.csv", "--model", "model.json", "--weight",
                       "w")

    def test_a_fit_that_did_not_converge_is_not_drawn(self):
        data = pathlib.Path(__file__).resolve().parents[2] / "data" / "cancer.csv"
        self.fail_with(1, "fenchel plot regression: no start converged for --scale-penalty 0, the minimum for 30 was "
                          "found. Give --scale-penalty 30 or more, a smaller --alpha, or --link log",
                       "plot", "regression", data, "--x", "population", "--y", "cancer", "--alpha", "5",
                       "--link", "linear", "--penalty", "0", "-o", "a.svg")
        self.fail_with(2, "fenchel plot regression: --alpha must be finite and above 1/3, where the noise has a variance, "
                          "got 0.25",
                       "plot", "regression", data, "--x", "population", "--y", "cancer", "--alpha", "0.25", "-o", "a.svg")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_channels_that_cannot_be_shown_are_not_left_out_in_silence(self):
        self.file("wide.csv", "a,b,c,d,e,f,g\n" + "1,2,3,4,5,6,7\n" * 9)
        density = ["--mu", "0.5", "--sigma2", "0.01"]
        self.fail_with(2, "fenchel plot attention: a plot shows 6 channels at most, wide.csv has 7; choose with --columns",
                       "plot", "attention", "wide.csv", *density)
        self.assertTrue(set("bg") <= set(self.texts(self.draw("attention", "wide.csv", "--columns", "b,g", *density))))

    def test_string_and_geodesics(self):
        texts = self.texts(self.draw("string", "--score", "2*cos(2*t)-t^2/8", "--gamma", "0.4"))
        self.assertTrue({"tube", "string", "straight", "fusedmax"} <= set(texts), texts)
        texts = self.texts(self.draw("geodesics", "--alpha", "1", "--from", "0,1", "--to", "0,2.718281828459045"))
        self.assertIn(f"\u03b1 = 1, length {math.sqrt(2):.4g}", texts)  # ds = sqrt(2) dsigma / sigma
        self.fail_with(2, "fenchel plot geodesics: --from must be MU,SIGMA, got 1 numbers", "plot", "geodesics", "--from", "1")

    def test_themes(self):
        light, dark, auto = (self.succeed("plot", "density", "gaussian", "--theme", theme) for theme in ("light", "dark", "auto"))
        self.assertNotEqual(light, dark)
        self.assertIn("prefers-color-scheme", auto)
        self.assertNotIn("prefers-color-scheme", light + dark)
        self.assertEqual(re.sub("<style>.*</style>", "", light, flags=re.DOTALL),
                         re.sub("<style>.*</style>", "", dark, flags=re.DOTALL))

    def test_files_are_whole_or_not_there(self):
        self.assertEqual(self.succeed("plot", "density", "gaussian", "-o", "a.svg"), "")
        self.assertEqual((self.folder / "a.svg").read_text(), self.succeed("plot", "density", "gaussian"))
        self.fail_with(1, "fenchel plot density: cannot write no/such/b.svg: No such file or directory",
                       "plot", "density", "gaussian", "-o", "no/such/b.svg")
        self.fail_with(1, "fenchel plot density: cannot write .: it is a folder", "plot", "density", "gaussian", "-o", ".")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["a.svg"])

    def test_a_column_name_is_only_text(self):
        self.file("rows.csv", ROWS.replace("x,y", "<x>,&y"))
        self.assertIn("&y by <x>, \u03b1 = 2", self.texts(self.draw("regression", "rows.csv", "--x", "<x>", "--y", "&y")))


if __name__ == "__main__":
    unittest.main()
