import unittest

from check_trees import CheckTest

PAGE = """| dependency | at least | licence |
| --- | --- | --- |
| `Eigen3` | 3.4 | MPL-2.0 |
| `GTest`, `rapid.h` | any | BSD-3-Clause |
| `numpy` | 1.26 | BSD-3-Clause |
| `fmt` | any | MIT |
"""
TREE = {
    "docs/dependencies.md": PAGE,
    "src/CMakeLists.txt": "find_package(Eigen3 3.4 REQUIRED)  # find_package(Other)\n",
    "frontends/CMakeLists.txt": "foreach(package fmt)\n  find_package(${package} QUIET)\nendforeach()\n",
    "tests/CMakeLists.txt": "find_package(GTest REQUIRED)\nfind_path(RAPID deep/rapid.h)\n",
    "pyproject.toml": '[project]\nname = "fenchel"\ndependencies = ["numpy>=1.26"]\n',
}


class Dependencies(CheckTest):
    check = "check_dependencies"

    def assert_faults(self, files, *faults):
        self.assertEqual(self.run_on({**TREE, **files}), (1, "".join(fault + "\n" for fault in faults)))

    def test_a_tree_whose_page_lists_all(self):
        self.assert_clean(TREE)

    def test_what_is_asked_for_is_listed(self):
        self.assert_faults({"src/CMakeLists.txt": "find_package(Eigen3)\nfind_package(Boost 1.74)\n"},
                           "src/CMakeLists.txt: asks for Boost, which docs/dependencies.md does not list")
        self.assert_faults({"pyproject.toml": '[project]\ndependencies = ["numpy>=2.0", "left-pad[all]"]\n'},
                           "pyproject.toml: asks for numpy 2.0, docs/dependencies.md says '1.26'",
                           "pyproject.toml: asks for left-pad, which docs/dependencies.md does not list")

    def test_what_is_listed_is_asked_for(self):
        self.assert_faults({"frontends/CMakeLists.txt": ""}, "docs/dependencies.md: lists fmt, which nothing asks for")

    def test_sources_do_nothing_of_the_kind(self):
        self.assert_clean({**TREE, "src/a.cpp": "// system(\"ls\")\nint system();\nauto s = ridge.system(1);\n",
                           "frontends/a.py": "import re\nre.compile('x')\n", "scripts/a.py": "import subprocess\n"})
        for line, fault in [('int k = std::system("ls");', "calls system"), ("FILE* f = popen(name, mode);", "calls popen"),
                            ("#include <sys/socket.h>", "includes sys/socket.h"), ("execvp(name, all);", "calls execvp")]:
            self.assert_faults({"src/a.cpp": f"\n{line}\n"}, f"src/a.cpp:2: {fault}")
        for line, fault in [("import pickle", "imports pickle"), ("from urllib.request import urlopen", "imports urllib.request"),
                            ("eval(text)", "calls eval"), ("os.system(text)", "calls system"),
                            ("numpy.load(path)", "calls load")]:
            self.assert_faults({"frontends/a.py": f"\n{line}\n"}, f"frontends/a.py:2: {fault}")


if __name__ == "__main__":
    unittest.main()
