"""The errata of the report: each is there, with the numbers that show it."""
import html
import re
import unittest

from harness import CommandLine

# As printed, and by the library and brute force; None where the print gives no number.
NUMBERS = {
    "e1": [("0.34", "1"), ("1.222357", "3.589428")],
    "e2": [(None, "-0.0409")],
    "e3": [("1.132538", "0.923124")],
    "e4": [("0.5011872", "0.4864637")],
    "e5": [("0.3333333", "0.08333")],
    "e6": [("0.0735", "0.3998")],
    "e7": [("0.706889", "0.24406")],
    "e8": [("0.9011", "1.984735")],
    "e9": [("0.4662", "1")],
    "e10": [("-0.7379", "-0.2379")],
    "e11": [("0.64", "1.3")],
    "e12": [("0.383", "0.4")],
    "e13": [("0.245", "1")],
    "e14": [("-3", "-2")],
    "e15": [(None, "0.58239"), (None, "-1")],
    "e18": [("0.5", "0.3535534")],
    "e19": [("-0.4416415", "0.24406")],
    "e20": [("1.432", "1.6026"), ("1.183216", "1.4")],
}


class Errata(CommandLine):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.page = None

    def cards(self):
        """What each card says, its tags taken out: the whole, and the numbers of its examples."""
        if Errata.page is None:
            self.succeed("report", "--quiet", "--output", "page")
            Errata.page = (self.folder / "page" / "index.html").read_text(encoding="utf-8")
        cards = {}
        for name, content in re.findall(r'<article class="card" id="(\w+)">(.*?)</article>', Errata.page, re.S):
            rows = re.findall(r'<dl class="numbers">(.*?)</dl>', content, re.S)
            cards[name] = (plain(content), [[plain(cell) for cell in re.findall("<dd>(.*?)</dd>", row, re.S)]
                                            for row in rows])
        return cards

    def test_all_twenty_are_there_in_order(self):
        self.assertEqual(list(self.cards()), [f"e{k}" for k in range(1, 21)])

    def test_each_has_the_number_that_shows_it(self):
        cards = self.cards()
        for name, examples in NUMBERS.items():
            rows = cards[name][1]
            self.assertEqual(len(rows), len(examples), name)
            for (printed, right), (_, paper, library, force) in zip(examples, rows):
                with self.subTest(name=name, right=right):
                    if printed is not None:
                        self.assertAlmostEqual(float(paper), float(printed), delta=unit(printed))
                    self.assertAlmostEqual(float(library), float(right), delta=unit(right))
                    self.assertAlmostEqual(float(force.split()[0]), float(right), delta=unit(right))

    def test_where_there_is_no_prediction_the_library_refuses(self):
        cards = self.cards()
        self.assertIn("refuses alpha must be above 1/3 for a quadratic score on the line, got 0.3", cards["e16"][0])
        self.assertIn("-196.8784 and -19996.86", cards["e16"][0])
        self.assertIn("refuses kappa must be > 1 and finite, got 1", cards["e17"][0])
        self.assertIn("a/\u03c3 is 3 at \u03ba=1/0.9707091, 4.033404 at", cards["e17"][0])

    def test_the_share_where_the_poisson_loss_is_not_convex(self):
        self.assertRegex(self.cards()["e2"][0], r"43\.\d% of .* 12\.\d% for y=3, 0\.\d% for y=8")

    def test_misprints_carry_the_right_numbers(self):
        self.cards()
        section = plain(Errata.page[Errata.page.index('<section id="errata"'):])
        self.assertIn("the line is -1.220704)+\u03bb2a (-0.2379259; library -0.2379259)", section)
        self.assertIn("(-0.2642977; library -0.2642977)", section)
        self.assertIn("for \u03c3=1.4 it is 1.43257; the library\u2019s half width is 1.43257", section)

    def test_no_check_failed(self):
        self.cards()
        section = Errata.page[Errata.page.index('<section id="errata"'):]
        self.assertNotIn('class="failed"', section)
        self.assertEqual(section.count('class="mark"'), 23)


def plain(content):
    return html.unescape(re.sub("<[^>]*>", "", content)).replace("\u2212", "-").replace("\xa0", " ")


def unit(number):
    """One unit in the last place of a decimal number."""
    return 10.0 ** -len(number.partition(".")[2]) if "." in number else 1e-6


if __name__ == "__main__":
    unittest.main()
