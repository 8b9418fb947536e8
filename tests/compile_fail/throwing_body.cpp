#include "fenchel/core/parallel.hpp"

#ifdef FENCHEL_COMPILE_FAIL_TWIN
#define FENCHEL_NOEXCEPT noexcept
#else
#define FENCHEL_NOEXCEPT
#endif

void visit() {
  fenchel::parallel_rows(1, 1, [](fenchel::index_t, fenchel::index_t, int) FENCHEL_NOEXCEPT {});
}
