import unittest

from check_trees import CheckTest

CPU, CUDA = "include/fenchel/backend/cpu/map.hpp", "include/fenchel/backend/cuda/map.hpp"
TEST = "tests/unit/backend/signatures_test.cpp"
HEADERS = {
    CPU: "template <class Real>\nFENCHEL_EXPORT void map(int);\nFENCHEL_EXPORT void alone();\n// FENCHEL_EXPORT void no();\n",
    CUDA: "struct FENCHEL_EXPORT Half {};\nFENCHEL_EXPORT void map(int, Stream);\n[[nodiscard]] FENCHEL_EXPORT int bytes();\n",
}
COMPARED = "#define FENCHEL_TWINS(name, ...) 0\nFENCHEL_TWINS(map<Real>, void(int));\n"
LISTS = 'constexpr const char* kOnlyCpu[] = {"alone"};\nconstexpr const char* kOnlyCuda[] = {\n    "bytes",\n};\n'


class BackEnds(CheckTest):
    check = "check_back_ends"

    def test_accepts_what_is_compared_or_listed(self):
        self.assert_clean({**HEADERS, TEST: COMPARED + LISTS})

    def test_a_function_of_both_must_be_compared(self):
        self.assert_fault({**HEADERS, TEST: LISTS}, f"{CPU}: map is of both back ends, and {TEST} does not compare it")
        commented = COMPARED.replace("FENCHEL_TWINS(map", "// FENCHEL_TWINS(map")
        self.assert_fault({**HEADERS, TEST: commented + LISTS}, f"{CUDA}: map is of both back ends")

    def test_a_function_of_one_must_be_listed(self):
        without = LISTS.replace('"alone"', "").replace('"bytes",', "")
        self.assert_fault({**HEADERS, TEST: COMPARED + without}, f"{CPU}: alone is of this back end alone, and not in kOnlyCpu")
        self.assert_fault({**HEADERS, TEST: COMPARED + without}, f"{CUDA}: bytes is of this back end alone, and not in kOnlyCuda")

    def test_what_is_listed_must_be_there(self):
        both = LISTS.replace('"alone"', '"alone", "map", "gone"')
        self.assert_fault({**HEADERS, TEST: COMPARED + both}, f"{TEST}: map is in kOnlyCpu, and no function of cpu alone")
        self.assert_fault({**HEADERS, TEST: COMPARED + both}, f"{TEST}: gone is in kOnlyCpu")
        self.assert_fault({**HEADERS, TEST: COMPARED + "FENCHEL_TWINS(bytes, int());\n" + LISTS},
                          f"{TEST}: bytes is compared, and not of both back ends")


if __name__ == "__main__":
    unittest.main()
