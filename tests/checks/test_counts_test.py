import pathlib
import subprocess
import tempfile
import unittest

from check_trees import load_script

TESTS = """
add_test(passes true)
add_test(fails false)
add_test(skips sh -c "echo first; echo no network; exit 77")
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
add_test(disabled true)
set_tests_properties(disabled PROPERTIES DISABLED ON)
add_test(absent ./no-such-program)
add_test(setup false)
set_tests_properties(setup PROPERTIES FIXTURES_SETUP fixture)
add_test(needs_setup true)
set_tests_properties(needs_setup PROPERTIES FIXTURES_REQUIRED fixture)
"""


class Counts(unittest.TestCase):
    def test_what_could_not_run_has_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "CTestTestfile.cmake").write_text(TESTS)
            junit = pathlib.Path(folder, "tests.xml")
            subprocess.run(["ctest", "--output-junit", junit], cwd=folder, capture_output=True)
            script = load_script("test")
            self.assertEqual(script.count(junit), (1, 4, 2))
            self.assertEqual(script.reasons(junit), ["skipped skips: no network"])


if __name__ == "__main__":
    unittest.main()
