import re
import unittest

from check_trees import SCRIPTS, CheckTest, load_script

CORE = {"include/fenchel/core/a.hpp": "#pragma once\n"}


def header(*includes):
    return "".join(["#pragma once\n", *(f"#include {name}\n" for name in includes)])


class Includes(CheckTest):
    check = "check_includes"

    def test_accepts_the_layers_of_the_design(self):
        self.assert_clean({
            **CORE,
            "include/fenchel/fenchel.hpp": header('"fenchel/core/a.hpp"', '"fenchel/predict/a.hpp"'),
            "include/fenchel/backend/a.hpp": header("<span>", '"fenchel/core/a.hpp"'),
            "include/fenchel/predict/a.hpp": header("<Eigen/Dense>", '"fenchel/distribution/a.hpp"'),
            "src/predict/a.cpp": '#include "fenchel/predict/a.hpp"\n#include "backend/cpu/a.hpp"\n',
            "frontends/cli/a.cpp": '#include "fenchel/fenchel.hpp"\n#include "cli/a.hpp"\n',
            "tests/unit/core/a_test.cpp": '#include "core/lanes/lanes.hpp"\n',
        })

    def test_finds_an_include_that_goes_up(self):
        for folder, name in [("core", "backend"), ("backend", "predict"), ("domain", "score"), ("score", "regularizer"),
                             ("regularizer", "distribution"), ("distribution", "backend"), ("predict", "loss"),
                             ("loss", "attention"), ("attention", "estimate")]:
            path = f"include/fenchel/{folder}/a.hpp"
            self.assert_fault({path: header("<span>", f'"fenchel/{name}/a.hpp"')}, f"{path}:3: {folder} may not see {name}")

    def test_holds_for_sources_and_their_private_headers(self):
        self.assert_fault({**CORE, "src/core/a.cpp": '#include "backend/cpu/a.hpp"\n'}, "core may not see backend")

    def test_angle_brackets_are_no_way_around(self):
        self.assert_fault({"include/fenchel/core/a.hpp": header("<fenchel/loss/a.hpp>")}, "core may not see loss")

    def test_finds_the_header_of_everything_below_it(self):
        self.assert_fault({"include/fenchel/loss/a.hpp": header('"fenchel/fenchel.hpp"')},
                          "loss may not see fenchel/fenchel.hpp")

    def test_keeps_private_headers_private(self):
        self.assert_fault({"include/fenchel/core/a.hpp": header('"core/lanes/lanes.hpp"')}, "core/lanes/lanes.hpp is private to src")
        self.assert_fault({"frontends/cli/a.cpp": '#include "core/lanes/lanes.hpp"\n'}, "core/lanes/lanes.hpp is private to src")

    def test_finds_a_relative_include(self):
        self.assert_fault({"include/fenchel/core/b.hpp": header('"a.hpp"')}, "b.hpp:2: a.hpp is neither")

    def test_keeps_matrix_libraries_out_of_kernels(self):
        self.assert_fault({"include/fenchel/backend/a.hpp": header("<Eigen/Dense>")}, "backend may not see Eigen")

    def test_source_mirrors_include(self):
        self.assert_fault({**CORE, "src/loss/a.cpp": "\n"}, "src/loss/a.cpp:1: src/loss has no include/fenchel/loss")
        self.assert_fault({"include/fenchel/misc/a.hpp": header()}, "misc is no folder of the design")
        self.assert_fault({"src/a.cpp": "\n"}, "src/a.cpp:1: belongs to no folder of the design")

    def test_finds_a_header_without_guard(self):
        self.assert_fault({"tests/a.hpp": "int x;\n"}, "tests/a.hpp:1: no #pragma once")

    def test_finds_a_letter_outside_ascii(self):
        self.assert_fault({"bench/a.cpp": "int x;\n// na\u00efve\n"}, "bench/a.cpp:2: not ASCII")

    def test_finds_a_long_file(self):
        self.assert_clean({"bench/a.cpp": 500 * "\n"})
        self.assert_fault({"bench/a.cpp": 501 * "\n"}, "bench/a.cpp:501: 501 lines, more than 500")

    def defining(self, first, second):
        """A public and a private header with these definitions in namespace fenchel."""
        return {path: f"#pragma once\nnamespace fenchel {{\n{text}\n}}\n"
                for path, text in [("include/fenchel/core/a.hpp", first), ("src/core/b.cuh", second)]}

    def test_finds_a_name_that_two_headers_define(self):
        for first, second in [
            ("struct A { int x; };", "class FENCHEL_EXPORT A final : public B {};"),
            ("enum class A { x };", "template <class T>\nstruct alignas(16) A {};"),
            ("using A = int;", "struct A {};"),
            ("inline constexpr double A = 1;", "inline constexpr int z = 1, A = 2;"),
            ("constexpr int A[] = {1, 2};", "template <class T> inline constexpr T A{1};"),
        ]:
            for text in (second, "/// A brace, {\n" + second):
                line = 3 + text.count("\n")
                self.assert_fault(self.defining(first, text),
                                  f"src/core/b.cuh:{line}: fenchel::A is defined in include/fenchel/core/a.hpp, too")

    def test_a_name_may_stand_in_two_headers_that_do_not_define_it_twice(self):
        for first, second in [
            ("struct A {};", "struct A;"),
            ("template <class T> struct A {};", "template <>\nstruct A<int> {};"),
            ("struct A {};", "namespace detail {\nstruct A {};\n}"),
            ("struct A {};", "struct B {\n  struct A {};\n};\ninline A f(A a = A{}) { return a; }"),
            ("constexpr int f(int x) { return x; }", "constexpr long f(long x) { return x; }"),
            ("struct A {};", "using detail::A;  // struct A {};"),
        ]:
            self.assert_clean(self.defining(first, second))
        self.assert_clean({path: "#pragma once\nstruct A {};\n" for path in ("tests/a.hpp", "bench/a.hpp")})

    def test_the_documented_table_is_the_one_enforced(self):
        text = (SCRIPTS.parent / "docs" / "design.md").read_text(encoding="ascii")
        table = text.split("| folder | may include")[1].split("\n\n")[0]
        rows = (re.findall(r"`(\w+)`", line) for line in table.splitlines()[2:])
        self.assertEqual({folder: set(seen) for folder, *seen in rows}, load_script("check_includes").SEES)

    def test_the_libraries_of_the_folders_follow_the_table(self):
        text = (SCRIPTS.parent / "src" / "CMakeLists.txt").read_text(encoding="ascii")
        found = re.findall(r"^fenchel_folder\((\w+)(?: EIGEN)?(?: SEES ([\w ]+?))? SOURCES$", text, re.MULTILINE)
        sees = load_script("check_includes").SEES
        self.assertEqual({folder: set(seen.split()) for folder, seen in found},
                         {folder: seen for folder, seen in sees.items() if folder != "mpi"})


if __name__ == "__main__":
    unittest.main()
