#include <algorithm>

#include "backend/attention/space_slopes.hpp"
#include "backend/cpu/attention/space_row.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kG = kSpaceGroup;

class Row : public SpaceRow {
 public:
  using SpaceRow::SpaceRow;

  void store(index_t j, index_t lane, Wanted wanted, RowBlocks out) noexcept {
    if (vanishes_[lane]) {
      for (index_t block = 0; block < block_count(d_, wanted); ++block) out[block][j] = 0;
      return;
    }
    out[0][j] = at_.sums[lane];
    if (wanted == Wanted::kValues) return;
    last_ = nullptr;
    space_slopes(d_, shared_, p_.constants, at_.factor, at_.turns + lane * d_ * d_, at_.distance + lane,
                 at_.sums + lane, kG, at_.vector, at_.matrix);
    for (index_t a = 0; a < d_; ++a) out[1 + a][j] = at_.vector[a];
    index_t block = 1 + d_;
    for (index_t a = 0; a < d_; ++a) {
      for (index_t b = 0; b <= a; ++b) out[block++][j] = 0.5 * at_.matrix[a * d_ + b];
    }
    if (wanted == Wanted::kAlphaToo) out[block][j] = at_.sums[(space_sums(d_, wanted) - 1) * kG + lane];
  }
};

}  // namespace

index_t space_scratch(index_t d) noexcept {
  return 3 * d * d + d + kG * (d * d + 8 * d + space_sums(d, Wanted::kAlphaToo));
}

bool attend_space_row(const DensityRow& p, const cpu::GaussianFunctions& psi, Wanted wanted,
                      Accuracy accuracy, double* scratch, RowBlocks out) noexcept {
  Row row(p, psi, scratch);
  if (!row.factorise()) return false;
  const index_t count = psi.mu.rows;
  for (index_t first = 0; first < count; first += kG) {
    const index_t lanes = std::min(kG, count - first);
    for (index_t lane = 0; lane < kG; ++lane) row.load(first + std::min(lane, lanes - 1), lane);
    if (!row.integrate(wanted, accuracy)) return false;
    for (index_t lane = 0; lane < lanes; ++lane) row.store(first + lane, lane, wanted, out);
  }
  return true;
}

}  // namespace fenchel::detail
