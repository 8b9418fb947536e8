import unittest

from check_trees import CheckTest

HEADER = "include/fenchel/core/a.hpp"


class Headers(CheckTest):
    check = "check_headers"

    def test_accepts_a_header_that_stands_alone(self):
        self.assert_clean({HEADER: "#pragma once\n#include <string>\nstd::string f();\n"})

    def test_finds_a_missing_include(self):
        self.assert_fault({HEADER: "#pragma once\nstd::string f();\n"}, HEADER + ":1: does not compile alone")

    def test_finds_a_warning(self):
        self.assert_fault({HEADER: "#pragma once\ninline int f(double x) { return x; }\n"}, "-Werror")

    def test_finds_a_header_that_cannot_be_included_twice(self):
        self.assert_fault({HEADER: "struct S {};\n"}, "does not compile alone")

    def test_leaves_a_header_to_the_source_that_begins_with_it(self):
        alone = {HEADER: "#pragma once\nstd::string f();\n"}
        source = '#include "fenchel/core/a.hpp"\n\n#include <string>\n'
        other = {"include/fenchel/core/b.hpp": "#pragma once\n"}
        self.assert_clean({**alone, **other, "src/core/a.cpp": source})
        self.assert_fault({**alone, "src/core/a.cpp": "#include <string>\n" + source}, HEADER)


if __name__ == "__main__":
    unittest.main()
