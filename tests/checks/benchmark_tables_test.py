import contextlib
import io
import math
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import tables

PAGE = """# A page

<!-- gpu.py: maps -->

old maps

<!-- end -->
Between.
<!-- gpu.py: losses -->
old losses
<!-- end -->
"""


def measured():
    """A table of numbers that nobody measured."""
    with contextlib.redirect_stdout(io.StringIO()):
        table = tables.Table("Some data.", ["columns", "time", "error"])
        table.add(64, tables.milliseconds_cell(0.2637), tables.error_cell(3.2e-7))
        table.add(512, tables.milliseconds_cell(None), tables.error_cell(None))
    return table


class BenchmarkTables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = pathlib.Path(folder.name, "page.md")

    def assert_refused(self, page, parts, message):
        self.page.write_text(page)
        with self.assertRaisesRegex(ValueError, message):
            tables.Pages("gpu.py", [self.page], parts)
        self.assertEqual(self.page.read_text(), page)

    def test_replaces_what_is_between_the_markers_of_a_part_and_nothing_else(self):
        self.page.write_text(PAGE)
        pages = tables.Pages("gpu.py", [self.page], ["maps"])
        text = "\nSome data.\n\n| columns | time | error |\n| --- | --- | --- |\n| 64 | 0.264 | 3e-7 |\n| 512 | - | - |\n\nHere.\n\n"
        for _ in range(2):
            pages.replace("maps", measured().markdown("Here."))
            self.assertEqual(self.page.read_text(), PAGE.replace("\nold maps\n\n", text))

    def test_a_part_may_be_on_one_of_several_pages(self):
        other = self.page.with_name("other.md")
        self.page.write_text(PAGE)
        other.write_text("<!-- gpu.py: small -->\n<!-- end -->\n")
        tables.Pages("gpu.py", [self.page, other], ["maps", "small"]).replace("small", "new\n")
        self.assertEqual(self.page.read_text(), PAGE)
        self.assertEqual(other.read_text(), "<!-- gpu.py: small -->\nnew\n<!-- end -->\n")

    def test_a_command_writes_its_own_parts_alone(self):
        other = "<!-- pytorch.py: maps -->\nold\n<!-- end -->\n"
        self.page.write_text(PAGE + other)
        tables.Pages("pytorch.py", [self.page], ["maps"]).replace("maps", "new\n")
        self.assertEqual(self.page.read_text(), PAGE + other.replace("old", "new"))
        self.assert_refused("<!-- gpu.py: maps -->\n" + other, ["maps"], "and after it, before the next, <!-- end -->")

    def test_refuses_a_page_without_a_marker(self):
        self.assert_refused("# A page\n", ["maps"], "needs a line <!-- gpu.py: PART -->")
        self.assert_refused(PAGE, ["maps", "small"], "no line <!-- gpu.py: small -->")

    def test_refuses_a_marker_that_does_not_end_or_stands_twice(self):
        fault = "needs one line <!-- gpu.py: maps --> and after it, before the next, <!-- end -->"
        self.assert_refused("<!-- gpu.py: maps -->\n", ["maps"], fault)
        self.assert_refused("<!-- gpu.py: maps -->\n<!-- gpu.py: losses -->\n<!-- end -->\n", ["maps"], fault)
        self.assert_refused(PAGE + PAGE, ["maps"], fault)

    def test_cells(self):
        self.assertEqual([tables.milliseconds_cell(x) for x in (0.0654, 2.537, 74.66)], ["0.065", "2.54", "74.7"])
        self.assertEqual([tables.share_cell(1, x) for x in (1.02, 40, None)], ["98 %", "2.5 %", "-"])
        self.assertEqual([tables.ratio_cell(x) for x in (0.854, 1.26, 4.26, 24.3, None)], [".85", "1.26", "4.3", "24", "-"])
        self.assertEqual([tables.error_cell(x) for x in (0.2, 4e-16, 0.0, 3e10, math.nan)], ["2e-1", "4e-16", "0", "3e+10", "nan"])
        self.assertEqual([tables.largest(x) for x in ([], [None], [None, 2, 1])], [None, None, 2])
        self.assertTrue(math.isnan(tables.largest([1, math.nan, 2])))

    def test_a_row_has_a_cell_for_each_column(self):
        with self.assertRaisesRegex(ValueError, "a row of 2 cells in a table of 3 columns"):
            measured().add(64, "0.26")

    def test_the_page_has_every_part_once_and_in_order(self):
        page, readme = ROOT / "docs/benchmarks.md", ROOT / "README.md"
        on_readme = {"gpu.py": ("packages",), "pytorch.py": ()}
        for command, parts in tables.PARTS.items():
            marker = re.compile(rf"<!-- {re.escape(command)}: (.*) -->")
            found = [tuple(marker.findall(path.read_text(encoding="utf-8"))) for path in (page, readme)]
            self.assertEqual(found, [parts, on_readme[command]])
            tables.Pages(command, [page], parts)

    def test_the_programs_compile(self):
        for path in sorted((ROOT / "bench").glob("*.py")):
            compile(path.read_text(encoding="utf-8"), str(path), "exec")


if __name__ == "__main__":
    unittest.main()
