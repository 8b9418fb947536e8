import unittest

from check_trees import SCRIPTS, CheckTest, load_script

DESIGN = """# Design

## One vocabulary

| word | place | default | notion |
| --- | --- | --- | --- |
| `scores` | 1 | | |
| `alpha` | 3 | 2, 1.5 | |
| `weights` | 4 | | |
| `mu` | 5 | 0, 1 | |
| `sigma2` | 6 | 1 | |
| `Sigma` | 6 | | |
| `ridge` | | 0.1 | |
| `link` | | log | |

| C++ | Python, torch | command | parameters |
| --- | --- | --- | --- |
| `Bell` | `Bell` | `bell` | `alpha = 2, mu = 0, sigma2 = 1` |
| `Bell::tent` | `Tent` | | `mu = 0` |
| `Cloud` | `Cloud` | `cloud` | `alpha, mu, Sigma` |

| not | but |
| --- | --- |
| `lambda`, `cross_fy` | `ridge` |
| `loc`, `widths` | `mu` |

## Views
"""
CPP = """class FENCHEL_EXPORT Bell {{
 public:
  /// Not this one: Bell(double mu);
  {constructor}
  [[nodiscard]] static Bell tent(double mu = 0) {{ return Bell(2, mu); }}
}};
class Cloud {{
  Cloud(double alpha, Eigen::VectorXd mu, Eigen::MatrixXd Sigma);
}};
"""
CONSTRUCTOR = "explicit Bell(double alpha = 2, double mu = 0, double sigma2 = 1, double temperature = 3);"
TABLE = """  static const std::vector<Family> all{{
      {{{{.family = "bell", {bell}}}, make_bell}},
      {{{{.family = "cloud", .alpha = 2, .mu = {{0, 0}}, .Sigma = {{1, 1}}}}, make_cloud}},
  }};
"""
PYTHON = """class Bell:
    def __init__(self, alpha: float = 2.0, mu: float = 0.0, sigma2: float = 1.0) -> None: ...
class Tent:
    def __init__(self, mu: float = 0) -> None: ...
class Cloud:
    def __init__(self, alpha: float, mu: Any, Sigma: Any) -> None: ...
"""
HEADER, PAGE, MODULE = "include/fenchel/bell.hpp", "frontends/cli/families/table.cpp", "frontends/python/fenchel/_bell.py"


def tree(constructor=CONSTRUCTOR, bell=".alpha = 2, .mu = {0}, .sigma2 = 1}"):
    return {"docs/design.md": DESIGN, HEADER: CPP.format(constructor=constructor),
            PAGE: TABLE.format(bell=bell), MODULE: PYTHON}


def with_file(path, text):
    return {**tree(), path: text}


class Vocabulary(CheckTest):
    check = "check_vocabulary"

    def test_accepts_what_the_tables_say(self):
        self.assert_clean(tree())
        self.assert_clean(with_file("include/fenchel/a.hpp", "void f(Rows scores, double alpha = 1.5, int rest = 7);\n"
                                    "struct Options {\n  double ridge = 0.1;\n  ScaleLink link = ScaleLink::log;\n};\n"))
        self.assert_clean(with_file("frontends/python/fenchel/a.py", "def f(scores, alpha=1.5, *, link='log'): ...\n"))

    def test_finds_a_constructor_that_differs(self):
        says = "Bell takes (alpha = 2, mu = 0, sigma2 = 1), got "
        self.assert_fault(tree("Bell(double alpha, double mu, double sigma2);"), f"{HEADER}:4: {says}(alpha, mu, sigma2)")
        self.assert_fault(tree("Bell(double mu = 0,\n double sigma2 = 1, double alpha = 2);"), f"{HEADER}:4: {says}(mu = 0, ")
        self.assert_fault(tree("Bell(double alpha = 2, double mu = 0);"), f"{says}(alpha = 2, mu = 0)")
        self.assert_fault(tree(bell=".alpha = 2, .mu = {1}, .sigma2 = 1}"),
                          f"{PAGE}:2: bell takes (alpha = 2, mu = 0, sigma2 = 1), got (alpha = 2, mu = 1, sigma2 = 1)")
        self.assert_fault({**tree(), PAGE: "\n"}, "docs/design.md:1: cloud is not found in command")
        self.assert_fault({**tree(), MODULE: "\n"}, "docs/design.md:1: Bell is not found in Python")
        self.assert_fault({**tree(), HEADER: "\n"}, "docs/design.md:1: Bell::tent is not found in C++")
        self.assert_fault({**tree(), MODULE: PYTHON.replace("sigma2: float = 1.0", "sigma2: float")
                           .replace("alpha: float = 2.0, mu: float = 0.0", "alpha: float, mu: float")},
                          f"{MODULE}:2: {says}(alpha, mu, sigma2)")
        inherited = PYTHON.replace("class Tent:", "class Tent(Bell):").replace("(self, mu: float = 0)", "_not(self)")
        self.assert_fault({**tree(), MODULE: inherited.replace("__init___not", "other")},
                          f"{MODULE}:2: Tent takes (mu = 0), got (alpha = 2, mu = 0, sigma2 = 1)")
        self.assert_fault({**tree(), MODULE: PYTHON.replace("mu: float = 0)", "mu: float)")}, "Tent takes (mu = 0), got (mu)")
        self.assert_fault({**tree(), HEADER: CPP.format(constructor=CONSTRUCTOR).replace("tent(double mu = 0)", "tent(double m)")},
                          "tent takes (mu = 0), got ()")

    def test_finds_another_order(self):
        self.assert_fault(with_file("include/fenchel/a.hpp", "\nvoid f(double alpha,\n  Rows<const double> scores);\n"),
                          "include/fenchel/a.hpp:2: f: scores comes before alpha")
        self.assert_fault(with_file("frontends/python/fenchel/torch/a.py", "class A:\n    def f(self, weights, alpha=2): ...\n"),
                          "frontends/python/fenchel/torch/a.py:2: f: alpha comes before weights")

    def test_finds_another_default(self):
        says = "the default of ridge is 0.1, got 0.01"
        self.assert_fault(with_file("include/fenchel/a.hpp", "void f(double ridge = 0.01);\n"), f"a.hpp:1: f: {says}")
        self.assert_fault(with_file("include/fenchel/a.hpp", "struct A {\n  double alpha = 2, ridge = 0.01;\n};\n"),
                          f"a.hpp:2: ridge: {says}")
        self.assert_fault(with_file("frontends/cli/commands/a.hpp", "struct A {\n  double ridge = 0.01;\n};\n"), says)
        self.assert_fault(with_file("frontends/python/fenchel/a.py", "def f(link='linear'): ...\n"),
                          "a.py:1: f: the default of link is log, got linear")
        self.assert_fault(with_file("include/fenchel/a.hpp", "struct A {\n  ScaleLink link = ScaleLink::linear;\n};\n"),
                          "a.hpp:2: link: the default of link is log, got linear")

    def test_finds_a_word_that_nothing_is_called(self):
        for path, text, word in [("include/fenchel/a.hpp", "void f(double lambda);\n", "lambda"),
                                 ("include/fenchel/backend/cpu/a.hpp", "void cross_fy(double x);\n", "cross_fy"),
                                 ("frontends/python/fenchel/a.py", "class A:\n    def cross_fy(self): ...\n", "cross_fy"),
                                 ("frontends/python/fenchel/_a.py", "def _f(widths): ...\n", "widths"),
                                 ("frontends/cli/a.cpp", 'add_number(app, "--widths", x);\n', "widths")]:
            self.assert_fault(with_file(path, text), f"{word} is called")

    def test_leaves_alone_what_the_tables_do_not_mean(self):
        self.assert_clean(with_file("include/fenchel/a.hpp", "/// f(double lambda)\ndouble f(double x) { return g(mu, alpha); }\n"))
        self.assert_clean(with_file("include/fenchel/backend/a.hpp", "void f(PerRow mu, PerRow alpha);\n"))
        self.assert_clean(with_file("frontends/python/fenchel/stats.py", "def f(loc=0): ...\n"))
        self.assert_clean(with_file("tests/a.cpp", "void f(double lambda);\n"))

    def test_needs_its_tables(self):
        self.assert_fault({**tree(), "docs/design.md": "## One vocabulary\n"}, "must have three tables, got 0")

    def test_reads_the_real_tables(self):
        script = load_script(self.check)
        real = script.Vocabulary((SCRIPTS.parent / "docs" / "design.md").read_text(encoding="utf-8"))
        self.assertEqual(real.defaults["penalty"], [1e-6, 0.01, 0])
        self.assertIn(("BetaLaplace::triangular", "Triangular", ""), [row[:3] for row in real.families])


if __name__ == "__main__":
    unittest.main()
