import unittest

from check_trees import CheckTest

FILES = {"src/core/a.cpp": "\n", "include/fenchel/core/a.hpp": "#pragma once\n",
         "frontends/cli/a.hpp": "#pragma once\n",
         "tests/unit/core/a_test.cpp": "TEST(Rows, WalksAnyStride) {}\nTYPED_TEST(Laws, Hold) {}\n"}


def block(language, text):
    return f"```{language}\n{text}```\n"


def program(body):
    return block("cpp", f'#include <cstdio>\n#include "fenchel/core/parallel.hpp"\nint main() {{ {body} }}\n')


class Docs(CheckTest):
    check = "check_docs"

    def assert_true(self, text):
        self.assert_clean({**FILES, "docs/a.md": text})

    def assert_false(self, text, message):
        self.assert_fault({**FILES, "docs/a.md": text}, message)

    def test_accepts_programs_that_print_what_is_said(self):
        self.assert_true("Plain:\n\n" + block("", "int  f(;\n") + program("return fenchel::num_threads() < 1;") +
                         program('std::puts("1\\n2");') + "\nwhich prints\n\n" + block("text", "1\n2\n"))

    def test_finds_a_program_that_does_not_compile(self):
        self.assert_false("# A\n\n" + program("return nothing;"), "docs/a.md:3: does not compile")

    def test_finds_a_warning(self):
        self.assert_false(program("int unused = 1;"), "docs/a.md:1: does not compile")

    def test_finds_a_program_that_prints_something_else(self):
        self.assert_false(program('std::puts("2");') + block("text", "1\n"), "docs/a.md:1: prints something else")
        self.assert_false(program("") + block("text", "1\n"), "-1")

    def test_finds_a_program_that_fails(self):
        self.assert_false(program("return 3;"), "docs/a.md:1: ends with status 3")

    def test_finds_output_of_nothing(self):
        self.assert_false(block("text", "1\n"), "docs/a.md:1: a text block that follows no cpp or python block")
        self.assert_false(program("") + block("", "") + block("text", "1\n"),
                          "a text block that follows no cpp or python block")

    def test_leaves_python_to_its_own_tests(self):
        self.assert_true(block("python", "print(1)\n") + block("text", "2\n"))

    def test_accepts_sessions_that_print_what_is_said(self):
        self.assert_true(block("console", "$ echo 1 > a; cat a\n1\n$ echo \\\n    2\n2\n") + "then\n" + block("console", "$ cat a\n1\n"))

    def test_finds_a_session_that_prints_something_else(self):
        self.assert_false("\n" + block("console", "$ echo 1\n1\n$ echo 2\n3\n"), "docs/a.md:5: prints something else")
        self.assert_false(block("console", "$ no-such-command\n"), "+bash: line 1: no-such-command: command not found")

    def test_accepts_the_name_of_a_file_that_a_page_makes(self):
        self.assert_true("`src/core/new.cpp`:\n\n" + block("", "int x;\n"))
        self.assert_false("See `src/core/new.cpp`:\n", "docs/a.md:1: no src/core/new.cpp")

    def test_accepts_paths_tests_and_links_that_are_there(self):
        self.assert_true("`src/core/a.cpp` `core/a.hpp` `fenchel/core/a.hpp` `cli/a.hpp` `tests/` `Laws.Hold`\n"
                         "[itself](a.md) [a part](a.md#part) [the web](https://example.org)\n"
                         "`tests/unit/FOLDER/NAME_test.cpp` `build/dev` `lib/pkgconfig` `a/(b+c)`\n")

    def test_finds_a_path_that_is_not_there(self):
        self.assert_false("\nSee `src/core/b.cpp`.\n", "docs/a.md:2: no src/core/b.cpp")
        self.assert_false("`core/b.hpp`\n", "no core/b.hpp")
        self.assert_false("`cli/b.hpp`\n", "no cli/b.hpp")
        self.assert_false("`src/CMakeLists.txt`\n", "no src/CMakeLists.txt")
        self.assert_false("[b](b.md)\n", "docs/a.md:1: no b.md to link to")

    def test_finds_a_test_that_is_not_there(self):
        self.assert_false("`Rows.WalksBackwards`\n", "docs/a.md:1: no test Rows.WalksBackwards")


if __name__ == "__main__":
    unittest.main()
