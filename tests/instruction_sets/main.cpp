#include <gtest/gtest.h>

#include <cstdio>

/// Runs the tests of one instruction set where the processor has it, and says so where it has not.
namespace {

constexpr int kSkipped = 77;

#if defined(__x86_64__)
bool has_avx2() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}
#endif

/// What the kernels are compiled for; FENCHEL_TEST_LEVEL is the level of x86-64, 0 on other processors.
const char* missing() {
#if defined(__x86_64__)
  if (FENCHEL_TEST_LEVEL >= 4 && !has_avx512()) return "AVX-512 (x86-64-v4)";
  if (FENCHEL_TEST_LEVEL >= 3 && !has_avx2()) return "AVX2 (x86-64-v3)";
#endif
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (const char* set = missing()) {
    std::printf("this processor has no %s, so its kernels did not run\n", set);
    return kSkipped;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
