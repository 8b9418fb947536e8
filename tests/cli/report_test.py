"""`fenchel report`: what it writes, and what it says when it cannot."""
import html
import html.parser
import os
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree

from harness import CommandLine, run

SECTIONS = ["families", "sparse-densities", "maps", "distributions", "misfit", "location-scale", "integers",
            "beta-gaussians", "maximum-entropy", "capped-and-smooth", "taut-string", "attention", "regression", "geodesics", "audio",
            "visual-questions", "errata"]
IMAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "images"
MARKS = {"path", "polyline", "polygon", "line", "rect", "circle"}
PNG = "data:image/png;base64,"
VOID = {"meta", "br", "link", "img", "hr"}


class Page(html.parser.HTMLParser):
    """What stands in a page; fails on tags that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.loaded, self.classes = [], [], [], [], []
        self.sections, self.figures, self.pictures, self.drawings, self.numbers = [], {}, {}, [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if "id" in values:
            self.ids.append(values["id"])
        self.classes += values.get("class", "").split()
        if tag == "a":
            self.links.append(values["href"])
        elif tag == "img" and values["src"].startswith(PNG):
            self.pictures[list(self.figures)[-1]] = values
        elif "href" in values or "src" in values or tag in ("script", "link", "iframe"):
            self.loaded.append((tag, values))
        if tag == "section":
            self.sections.append(values["id"])
        if tag == "figure":
            self.figures[values["id"]] = []
        if tag == "svg" and "svg" not in self.open:
            self.drawings.append({"role": values.get("role"), "title": "", "marks": 0})
            list(self.figures.values())[-1].append(self.drawings[-1])
        if tag in MARKS and "svg" in self.open:
            self.drawings[-1]["marks"] += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data):
        if self.open[-2:] == ["svg", "title"]:
            self.drawings[-1]["title"] += data
        if self.open[-2:] == ["li", "b"]:
            self.numbers.append(int(data))


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name) / "made" / "report"
        cls.done = run("report", "--output", cls.folder)
        text = (cls.folder / "index.html").read_text(encoding="utf-8")
        cls.page = Page(text)
        cls.text = re.sub(f'"{PNG}[^"]*"', '""', text)

    def test_says_where_the_page_is(self):
        said = re.sub(r"fenchel report: +\d+%, .* left, .*\n", "", self.done.stderr)  # where it takes a while
        self.assertEqual((self.done.returncode, self.done.stdout, said), (0, f"{self.folder / 'index.html'}\n", ""))

    def test_has_every_section_in_order(self):
        self.assertEqual(self.page.sections, SECTIONS)
        self.assertEqual(sorted(set(self.page.ids)), sorted(self.page.ids), "an id occurs twice")

    def test_links_lead_somewhere(self):
        self.assertEqual([link for link in self.page.links if link[0] != "#" or link[1:] not in self.page.ids], [])
        self.assertEqual([f"#{section}" for section in SECTIONS if f"#{section}" not in self.page.links], [])

    def test_needs_nothing_from_outside(self):
        self.assertEqual(self.page.loaded, [])
        self.assertNotRegex(self.text, r"@import|url\(|<script")
        addresses = set(re.findall(r"https?://[^\"'<\s]+", self.text))
        self.assertEqual(addresses - {"http://www.w3.org/2000/svg"}, set())

    def test_every_number_is_close(self):
        self.assertNotIn("failed", self.page.classes)
        self.assertNotRegex(self.text, r"\bnan\b")
        compared, close, errata = self.page.numbers
        self.assertGreater(compared, 100)
        self.assertEqual(close, compared)
        self.assertEqual(errata, 20)

    def test_formulas_are_mathml(self):
        self.assertGreater(self.text.count("<math>"), 500)
        self.assertEqual(re.findall(r".{20}\$.{20}", self.text), [])
        text = re.sub(r"<(style|svg|math)\b.*?</\1>", "", self.text, flags=re.S)
        self.assertEqual(re.findall(r"<su[bp]>.*?</su[bp]>", text), [], "a formula in HTML")

    def test_the_paper_has_a_column_of_its_own(self):
        heads = re.findall(r'<table class="checks">\s*<thead>\s*<tr>(.*?)</tr>', self.text, re.S)
        self.assertGreater(len(heads), 10)
        for head in heads:
            self.assertEqual(re.findall(r">([^<]+)</th>", head), ["what is compared", "the paper prints", "compared with",
                                                                   "ours", "difference", "close"])
        rows = re.findall(r"<tr[^>]*>(.*?)</tr>", "".join(re.findall(r'<table class="checks">.*?</table>', self.text, re.S)), re.S)
        midpoint = [row for row in rows if "larger than 1.7" in row]
        self.assertEqual(len(midpoint), 1)
        self.assertIn("the paper errs", midpoint[0])
        self.assertNotIn("\u2713", midpoint[0])

    def test_numbers_are_printed_as_in_books(self):
        text = re.sub(r"<style>.*?</style>", "", self.text, flags=re.S)
        text = html.unescape(re.sub(r"<[^>]*>", "\n", text))
        self.assertIn("\u2212", text)
        self.assertEqual(re.findall(r".*\d[eE][-+]\d.*", text), [], "1e-5 instead of a power of ten")
        self.assertEqual(re.findall(r".*(?<!\w)-\d.*", text), [], "a hyphen instead of a minus")

    def test_no_stem_or_bar_is_cut(self):
        stems = bars = 0
        for chart in re.findall(r'<svg [^>]*class="chart".*?</svg>', self.text, re.S):
            title = re.search("<title>(.*?)</title>", chart)[1]
            # A stem with its head, or in the legend; what leaves the frame has none.
            for lines, heads in re.findall(r'<path class="s\d" stroke-width="2" d="([^"]*)"/>'
                                           r'<path class="s\d" stroke-width="7" stroke-linecap="round" d="([^"]*)"/>', chart):
                self.assertEqual(lines.count("M"), heads.count("M"), title)
                stems += lines.count("M")
            for data in re.findall(r'<path class="s\d l\d" stroke-width="1"[^>]* d="([^"]*)"/>', chart):
                frame = re.search(r'class="axis" d="M[\d.]+ ([\d.]+)V([\d.]+)', chart)
                ends = [float(end) for pair in re.findall(r"M[\d.]+ ([\d.]+)H[\d.]+V([\d.]+)", data) for end in pair]
                self.assertGreater(min(ends), float(frame[1]), title)
                bars += len(ends) // 2
        self.assertGreater(stems, 100)
        self.assertGreater(bars, 50)

    def test_every_figure_is_drawn(self):
        for name, drawings in self.page.figures.items():
            self.assertEqual(len(drawings) > 0, name not in self.page.pictures, name)
            for drawing in drawings:
                self.assertEqual(drawing["role"], "img", name)
                self.assertTrue(drawing["title"], name)
                self.assertGreater(drawing["marks"], 3, drawing["title"])

    def test_every_figure_is_a_file(self):
        files = {path.stem: path for path in (self.folder / "figures").iterdir()}
        self.assertEqual(set(files), {name.removeprefix("figure-") for name in self.page.figures})
        self.assertEqual([path.name for path in IMAGES.glob("*.svg") if path.stem not in files], [])  # what documents show
        for name, path in files.items():
            if f"figure-{name}" in self.page.pictures:
                self.assertEqual(path.suffix, ".png")
                continue
            self.assertEqual(path.suffix, ".svg")
            root = xml.etree.ElementTree.parse(path).getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg", name)
            drawn = [part for part in root.iter() if part.tag.rpartition("}")[2] in MARKS]
            self.assertGreater(len(drawn), 3, name)
            self.assertTrue(any(part.tag.endswith("}style") for part in root.iter()), name)

    def test_one_thread_writes_the_same_bytes_and_quiet_says_nothing(self):
        again = self.folder.parent / "again"
        done = run("report", "--output", again, "--quiet", env={"OMP_NUM_THREADS": "1"})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        written = sorted(path.relative_to(self.folder) for path in self.folder.rglob("*.*"))
        self.assertEqual(sorted(path.relative_to(again) for path in again.rglob("*.*")), written)
        for path in written:
            self.assertEqual((again / path).read_bytes(), (self.folder / path).read_bytes(), path)


class Errors(CommandLine):
    def left(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def test_out_is_a_file(self):
        self.file("taken", "mine")
        self.fail_with(1, "fenchel report: cannot make the folder taken/figures: Not a directory",
                       "report", "--output", "taken")
        self.assertEqual(self.left(), ["taken"])
        self.assertEqual((self.folder / "taken").read_text(), "mine")

    def test_out_is_inside_a_file(self):
        self.file("taken", "mine")
        self.fail_with(1, "fenchel report: cannot make the folder taken/here/figures: Not a directory",
                       "report", "--output", "taken/here")
        self.assertEqual(self.left(), ["taken"])

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_out_may_not_be_written(self):
        (self.folder / "closed").mkdir(mode=0o555)
        self.fail_with(1, "fenchel report: cannot make the folder closed/here/figures: Permission denied",
                       "report", "--output", "closed/here")
        self.assertEqual(self.left(), ["closed"])

    def test_the_page_may_not_be_written(self):
        (self.folder / "out" / "index.html").mkdir(parents=True)
        self.fail_with(1, "fenchel report: cannot write out/index.html: it is a folder", "report", "--output", "out")
        self.assertEqual(self.left(), ["out", "out/index.html"])

    def test_out_needs_a_folder(self):
        done = self.run_fenchel("report", "--output")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"\Afenchel report: .*--output.*\n\Z")
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    unittest.main()
