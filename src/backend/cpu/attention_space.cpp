#include "backend/cpu/attention_row.hpp"

namespace fenchel::detail {

index_t space_scratch(index_t) noexcept { return 0; }
bool attend_space_row(const DensityRow&, const cpu::GaussianFunctions&, Wanted, Accuracy, double*,
                      RowBlocks) noexcept {
  return false;
}

}  // namespace fenchel::detail
