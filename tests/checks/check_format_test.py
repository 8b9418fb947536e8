import unittest

from check_trees import CheckTest


class Format(CheckTest):
    check = "check_format"
    style = {".clang-format": "BasedOnStyle: Google\n"}

    def test_accepts_what_clang_format_writes(self):
        self.assert_clean({**self.style, "src/a.cpp": "int f(int x) { return x; }\n"})

    def test_names_the_line(self):
        self.assert_fault({**self.style, "src/a.cpp": "int x;\nint  y;\n"}, "src/a.cpp:2:")

    def test_skips_what_git_ignores(self):
        files = {".gitignore": "/build/\n", "build/a.cpp": "int  x;\n", "src/a.cpp": "int x;\n"}
        self.assert_clean({**self.style, **files})

    def test_an_empty_tree_is_a_mistake(self):
        self.assert_fault(self.style, "no C++ files")


if __name__ == "__main__":
    unittest.main()
