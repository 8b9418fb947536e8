import unittest

from check_trees import CheckTest

BEGIN, END = "<!-- headers: written by scripts/header_table -->", "<!-- end of headers -->"


def header(sentence):
    return f"#pragma once\n\n/// {sentence}\n\nint x;\n"


def page(*rows):
    table = "### fenchel/core\n\n| header | what it holds |\n| --- | --- |\n" + "".join(row + "\n" for row in rows)
    return f"# A page\n\n{BEGIN}\n\n{table}\n{END}\n"


class HeaderTable(CheckTest):
    check = "header_table"
    arguments = ("--check",)

    def test_accepts_the_table_of_the_headers(self):
        self.assert_clean({
            "docs/cpp.md": page("| `fenchel/core/a.hpp` | What `a` is. |", "| `fenchel/core/b.hpp` | \\|t\\| of b. |"),
            "include/fenchel/core/b.hpp": header("|t| of b."),
            "include/fenchel/core/a.hpp": header("What `a` is."),
            "src/core/c.hpp": "#pragma once\n",
        })

    def test_finds_a_table_that_lacks_a_header(self):
        self.assert_fault({
            "docs/cpp.md": page("| `fenchel/core/a.hpp` | A. |"),
            "include/fenchel/core/a.hpp": header("A."),
            "include/fenchel/core/b.hpp": header("B."),
        }, "docs/cpp.md:1: the table of headers is not up to date")

    def test_finds_a_table_with_an_old_description(self):
        self.assert_fault({
            "docs/cpp.md": page("| `fenchel/core/a.hpp` | What it was. |"),
            "include/fenchel/core/a.hpp": header("What it is."),
        }, "docs/cpp.md:1: the table of headers is not up to date")

    def test_finds_a_header_without_a_sentence(self):
        for text in ["#pragma once\n\nint x;\n", header("no full stop"), header("Two lines\n/// of comment.")]:
            self.assert_fault({"docs/cpp.md": page(), "include/fenchel/core/a.hpp": text},
                              "include/fenchel/core/a.hpp:1: does not begin with")

    def test_finds_a_page_without_markers(self):
        self.assert_fault({"docs/cpp.md": "# A page\n", "include/fenchel/core/a.hpp": header("A.")}, "docs/cpp.md: needs one line")


if __name__ == "__main__":
    unittest.main()
