import unittest

from check_trees import CheckTest

# Citations that lead nowhere must not stand here as such: the check reads this file, too.
PAGE, GOLDEN, OLD = "docs/math.md", "golden", "MATH" + ".md"
TEXT = """# Mathematics

## 2 Maps

### 7.3 Integrals

#### R1 Nodes

### E11 Hessian

| row | value |
| --- | --- |
| 66 | 1.5 |
| 67 | 2.5 |
"""


class Citations(CheckTest):
    check = "check_citations"

    def assert_true(self, text, path="src/a.hpp"):
        self.assert_clean({PAGE: TEXT, path: text})

    def assert_false(self, text, message, path="src/a.hpp"):
        self.assert_fault({PAGE: TEXT, path: text}, f"{path}:{message}")

    def test_accepts_citations_that_lead_somewhere(self):
        self.assert_true(f"// {PAGE} 7.3; {PAGE} 2, E11. [{PAGE} 7.3, R1] {PAGE} 2 and 7.3, see {PAGE}'s {GOLDEN} row 66\n"
                         f"// {PAGE}, {GOLDEN} values 66 to 67; {PAGE} 2, rows 66, 67; {PAGE} E11's 1 of E11\n")
        self.assert_true(f"/// {PAGE}\n/// 7.3, and [SCD22; {PAGE} 7.3,\n/// E11] or {PAGE} {GOLDEN}\n/// rows 66 and\n/// 67\n")
        self.assert_true(f"# {PAGE}\n# 7.3\n", "scripts/a")
        self.assert_true("[a](math.md#73-integrals) [b](#here-is-b) [c](https://example.org/a.md#c)\n\n## Here `is` b!\n",
                         "docs/a.md")

    def test_finds_a_section_that_is_not_there(self):
        self.assert_false(f"\n// {PAGE} 7.4: nothing\n", f"2: {PAGE} has no 7.4")
        self.assert_false(f"// {PAGE} 2, 7.3 and 9\n", f"1: {PAGE} has no 9")
        self.assert_false(f"// {PAGE} 7.3, R2\n", f"1: {PAGE} has no R2")
        self.assert_false(f"see `{PAGE}` 3\n", f"1: {PAGE} has no 3", "docs/a.md")
        self.assert_false(f"# {PAGE} 5\n", f"1: {PAGE} has no 5", "CMakeLists.txt")

    def test_finds_it_on_the_next_line(self):
        self.assert_false(f"/// {PAGE}\n/// 7.4\n", f"1: {PAGE} has no 7.4")
        self.assert_false(f"  // {PAGE} 7.3,\n  // 7.4\n", f"1: {PAGE} has no 7.4")
        self.assert_false(f"# {PAGE}\n# 7.4\n", f"1: {PAGE} has no 7.4", "scripts/a")
        self.assert_false(f"{PAGE}\n7.4\n", f"1: {PAGE} has no 7.4", "docs/a.md")

    def test_finds_an_erratum_that_is_not_there(self):
        self.assert_false(f"// {PAGE} E{12}\n", f"1: {PAGE} has no E{12}")
        self.assert_false(f"x;  // the right order (E{12})\n", f"1: {PAGE} has no E{12}")

    def test_finds_a_golden_row_that_is_not_there(self):
        self.assert_false(f"// {PAGE} 2, rows 66 to 68\n", f"1: {PAGE} has no {GOLDEN} row 68")
        self.assert_false(f"// {PAGE}, {GOLDEN}\n// values 65\n", f"1: {PAGE} has no {GOLDEN} row 65")
        self.assert_false(f"// {GOLDEN.title()} row 65\n", f"1: {PAGE} has no {GOLDEN} row 65")

    def test_finds_the_former_name(self):
        self.assert_false(f"// {OLD} 7.3\n", f"1: {OLD} is {PAGE}")

    def test_finds_a_page_that_is_not_there(self):
        self.assert_fault({"src/a.hpp": f"// {PAGE} 2\n"}, f"src/a.hpp:1: {PAGE} has no 2")

    def test_finds_a_link_to_a_part_that_is_not_there(self):
        self.assert_false("\n[a](math.md#74-integrals)\n", "2: no #74-integrals in math.md", "docs/a.md")
        self.assert_false("[a](#b)\n", "1: no #b in docs/a.md", "docs/a.md")


if __name__ == "__main__":
    unittest.main()
