"""Models: what fenchel fit -o writes stands in place of a family, to the bit."""
import json
import unittest

from harness import CommandLine

FAMILIES = [
    ("biweight", [], []), ("triweight", [], []), ("gaussian", [], []), ("parabola", [], []), ("uniform", [], []),
    ("beta-gaussian", ["--alpha", "4/3"], []), ("beta-gaussian", ["--alpha", "1.00000001"], []),
    ("beta-gaussian", ["--alpha", "0.7"], []), ("beta-gaussian", ["--alpha", "1.0000000000000002"], []),
    ("beta-gaussian", ["--alpha", "auto"], []), ("triangular", [], []), ("laplace", [], []),
    ("beta-laplace", ["--alpha", "3/2"], []), ("truncated-gaussian", ["--kappa", "1.5"], []),
    ("capped-parabola", ["--gamma", "0.3"], []), ("capped-triangular", ["--gamma", "0.3"], []),
    ("smooth-parabola", ["--gamma", "0.3"], []), ("smooth-triangular", ["--gamma", "0.3"], []),
    ("sparse-poisson", ["--alpha", "3/2"], ["--columns", "n"]),
    ("sparse-integer-gaussian", ["--alpha", "auto"], ["--columns", "n"]),
]


def options(parameters):
    """The parameters of a model as options of the command line; repr is the shortest that reads back."""
    def text(value):
        rows = value if isinstance(value, list) else [value]
        flat = [x for row in rows for x in (row if isinstance(row, list) else [row])]
        return ",".join(x if isinstance(x, str) else repr(x) for x in flat)
    return [f"--{name}={text(value)}" for name, value in parameters.items()]


class Model(CommandLine):
    def setUp(self):
        super().setUp()
        draws = self.table("sample", "biweight", "--mu", "5", "--sigma2", "2", "-n", "400", "--seed", "3")["t"]
        counts = self.table("sample", "sparse-poisson", "--mu", "4", "-n", "400", "--seed", "0")["t"]
        self.file("draws.csv", "t,n\n" + "".join(f"{t!r},{n:g}\n" for t, n in zip(draws, counts)))

    def fit(self, family, *arguments, columns=("--columns", "t"), name="model.json"):
        self.assertEqual(self.succeed("fit", "draws.csv", "--family", family, *arguments, *(columns or ["--columns", "t"]),
                                      "-o", name), "")
        return json.loads((self.folder / name).read_text())

    def test_a_model_is_its_family_with_its_parameters_to_the_bit(self):
        for family, shape, columns in FAMILIES:
            with self.subTest(family=family, shape=shape):
                model = self.fit(family, *shape, columns=columns)
                self.assertEqual(list(model)[:4], ["schema", "kind", "family", "parameters"])
                self.assertEqual((model["schema"], model["kind"], model["family"]), ("fenchel-model-1", "distribution", family))
                same = [family, *options(model["parameters"])]
                for command, arguments in [("density", ["--json"]), ("density", ["--at", "4,5,6"]),
                                           ("sample", ["-n", "5", "--seed", "8"])]:
                    self.assertEqual(self.succeed(command, "model.json", *arguments), self.succeed(command, *same, *arguments))
                described = self.json("density", "model.json")
                self.assertEqual(model["mean"], described["mean"])
                self.assertAlmostEqual(model["variance"], described["variance"], delta=1e-12 * described["variance"])

    def test_models_are_plotted_and_have_losses(self):
        model = self.fit("biweight")
        same = ["biweight", *options(model["parameters"])]
        for kind in ["density", "cdf"]:
            self.assertEqual(self.succeed("plot", kind, "model.json"), self.succeed("plot", kind, *same))
        loss = self.json("loss", "model.json", "--data", "draws.csv", "--columns", "t")
        self.assertEqual(loss, self.json("loss", *same, "--data", "draws.csv", "--columns", "t"))
        self.assertAlmostEqual(loss["loss"], model["loss"], delta=1e-14)

    def test_models_of_points(self):
        self.succeed("sample", "multivariate-beta-gaussian", "--mu", "1,2,3", "--Sigma", "2,1,0,1,2,0.5,0,0.5,1", "-n", "300",
                     "-o", "points.csv", "--seed", "0")
        for alpha in ["3/2", "auto"]:
            self.succeed("fit", "points.csv", "--alpha", alpha, "-o", "model.json")
            model = json.loads((self.folder / "model.json").read_text())
            same = ["multivariate-beta-gaussian", *options(model["parameters"])]
            for command, arguments in [("density", []), ("density", ["--at", "1,2,3"]), ("sample", ["-n", "4", "--seed", "0"])]:
                self.assertEqual(self.succeed(command, "model.json", *arguments), self.succeed(command, *same, *arguments))

    def test_an_infinite_alpha_is_kept(self):
        self.file("two.csv", "t\n" + "0\n1\n" * 9)
        self.succeed("fit", "two.csv", "--alpha", "auto", "-o", "model.json")
        model = json.loads((self.folder / "model.json").read_text())
        self.assertEqual(model["parameters"]["alpha"], "inf")
        self.assertEqual(self.json("density", "model.json")["support"], model["support"])
        self.file("points.csv", "x,y\n" + "0,1\n1,0\n-1,0\n0,-1\n" * 9)
        self.succeed("fit", "points.csv", "--alpha", "auto", "-o", "model.json")
        self.fail_with(1, 'fenchel density: model.json: parameters.alpha must be finite for points, got "inf"', "density", "model.json")

    def test_only_json_is_a_model(self):
        table = self.succeed("fit", "draws.csv", "--columns", "t")
        self.assertTrue(table.startswith("name,value\nfamily,beta-gaussian\n"), table)
        self.file("model.csv", table)
        self.fail_with(1, "fenchel density: model.csv: is no model: parse error at line 1, column 2: syntax error while parsing "
                          "value - invalid literal", "density", "model.csv")

    def test_a_bad_model_names_the_file_the_key_and_the_constraint(self):
        good = self.fit("biweight", name="good.json")
        self.fit("beta-gaussian", name="any.json")

        def bad(message, **changes):
            self.file("bad.json", json.dumps({**good, **changes}))
            self.fail_with(1, f"fenchel density: bad.json: {message}", "density", "bad.json")

        bad('schema must be "fenchel-model-1", got "fenchel-model-2"', schema="fenchel-model-2")
        writes = "-o FILE.json of fenchel fit and fenchel regress writes models"
        bad(f"is no model: it has no schema; {writes}", schema="other")
        bad('kind must be "distribution", as fenchel fit writes it, got "regression"', kind="regression")
        bad("kind must be a text, got 1", kind=1)
        bad("unknown family 'biweigt'; did you mean biweight?", family="biweigt")
        bad("parameters must be an object, got a list", parameters=[1])
        bad("parameters.sigma2 is missing", parameters={"mu": 0.0})
        bad("parameters.mu is missing", parameters={"sigma2": 1.0})
        number = 'a number, "inf" or "-inf", or a list of them'
        bad(f"parameters.mu must be {number}, got \"nan\"", parameters={"mu": "nan", "sigma2": 1})
        bad(f"parameters.mu must be {number}, got null", parameters={"mu": None, "sigma2": 1})
        bad("parameters.sigma2 must be one number, got a list", parameters={"mu": 0, "sigma2": [1, 2]})
        bad("parameters.mu must be a list of numbers, got a list", parameters={"mu": ["x"], "sigma2": 1})
        bad("parameters.mu must be a list of numbers, got an empty list", parameters={"mu": [], "sigma2": 1})
        bad("parameters.foo must be left out: no family has such a parameter, got 1", parameters={"mu": 0, "sigma2": 1, "foo": 1})
        bad("biweight does not take b; it takes mu, sigma2", parameters={"mu": 0, "sigma2": 1, "b": 1})
        bad("biweight has alpha 1.5, got alpha 2; beta-gaussian takes any", parameters={"alpha": 2, "mu": 0, "sigma2": 1})
        bad("sigma2 must be positive and finite, got -1", parameters={"mu": 0, "sigma2": -1})
        bad("mu: biweight takes one number, got 2", parameters={"mu": [0, 1], "sigma2": 1})
        for text, message in [("[1]", f"bad.json: is no model: it has no schema; {writes}"),
                              ("", "bad.json: is no model: parse error at line 1, column 1: syntax error while parsing value - "
                                   "unexpected end of input; expected '[', '{', or a literal")]:
            self.file("bad.json", text)
            self.fail_with(1, f"fenchel density: {message}", "density", "bad.json")
        self.fail_with(1, "fenchel sample: cannot read no.json: No such file or directory", "sample", "no.json", "-n", "1", "--seed", "0")
        self.fail_with(2, "fenchel density: --sigma2: the model good.json has its own parameters", "density", "good.json",
                       "--sigma2", "3")

    def test_hostile_files_are_errors(self):
        for content in [b"\x00" * 100, b"[" * 1000000, b'{"schema": "\xff\xfe"}', b'{"schema":' * 100000,
                        b'{"schema": "fenchel-model-1", "kind": "distribution", "family": "biweight", "parameters": '
                        b'{"mu": 1e999, "sigma2": 1}}']:
            self.file("bad.json", content)
            done = self.run_fenchel("density", "bad.json")
            self.assertEqual((done.returncode, done.stdout), (1, ""), content[:30])
            self.assertTrue(done.stderr.startswith("fenchel density: bad.json: is no model: "), done.stderr)

    def test_an_output_that_cannot_be_written_is_known_before_the_input_is_read(self):
        self.fail_with(1, "fenchel fit: cannot write nowhere/model.json: No such file or directory", "fit", "missing.csv",
                       "-o", "nowhere/model.json")

    def test_a_model_from_a_pipe(self):
        self.fit("biweight")
        self.assertEqual(self.succeed("density", "/dev/stdin", stdin=(self.folder / "model.json").read_bytes()),
                         self.succeed("density", "model.json"))


if __name__ == "__main__":
    unittest.main()
