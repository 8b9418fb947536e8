#include <algorithm>

#include "backend/attention/space_slopes.hpp"
#include "backend/cpu/attention/space_row.hpp"
#include "backend/cpu/attention/space_run.hpp"

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

  [[nodiscard]] bool may_share(Wanted wanted) const noexcept {
    return p_.constants.am1 > 0 && shared_.n <= kMostSharedOrders &&
           (wanted == Wanted::kValues || wanted == Wanted::kGradient);
  }

  /// How many functions from `first` on have one covariance.
  [[nodiscard]] index_t alike(index_t first) const noexcept {
    const index_t most = std::min(psi_.mu.rows - first, SharedFunctions::kMost);
    const double* const covariance = psi_.Sigma.row(first);
    index_t count = 1;
    while (count < most && std::equal(covariance, covariance + d_ * d_, psi_.Sigma.row(first + count)))
      ++count;
    return count;
  }

  /// Computes those of functions [first, first + count), which have one covariance, that may share contours.
  void share(index_t first, index_t count, Wanted wanted, Accuracy accuracy, bool* done,
             RowBlocks out) noexcept {
    find_axes(first);
    run_distances(psi_, first, count, p_.mu, at_.factor, at_.axes, shared_.beta, at_.run_distance,
                  at_.run_e2);
    double widest = 0;
    for (index_t a = 0; a < d_; ++a) {
      at_.vector[a] = shared_.beta * std::max(at_.matrix[a * d_ + a], 0.0);
      widest = std::max(widest, at_.vector[a]);
    }
    const index_t rows = space_sums(d_, wanted);
    for (index_t j = 0; j < count; ++j) {
      double size2 = 0;
      for (index_t a = 0; a < d_; ++a) size2 += at_.run_e2[a * SharedFunctions::kMost + j];
      done[j] = space_vanishes(shared_, size2, widest);
      for (index_t row = 0; done[j] && row < rows; ++row) at_.run_sums[row * SharedFunctions::kMost + j] = 0;
    }
    const SharedFunctions functions{d_,         count,        at_.vector, at_.run_distance,
                                    at_.run_e2, at_.run_sums, done,       at_.run_work};
    integrate_shared(shared_, functions, wanted, accuracy);
    std::copy_n(at_.run_sums, count, out[0] + first);
    if (wanted == Wanted::kValues) return;
    std::copy_n(at_.axes, d_ * d_, at_.turns);
    for (index_t a = 0; a < d_; ++a) {
      for (index_t i = 0; i < d_; ++i) at_.vector[i] = at_.turns[i * d_ + a];
      solve_upper(at_.factor, d_, at_.vector);
      for (index_t i = 0; i < d_; ++i) at_.turns[i * d_ + a] = at_.vector[i];
    }
    run_slopes(functions, first, at_.turns, shared_.beta, determinant_exponent(p_.constants), at_.run_work,
               out);
  }
};

}  // namespace

index_t space_scratch(index_t d) noexcept { return SpaceScratch::size(d); }

bool attend_space_row(const DensityRow& p, const cpu::GaussianFunctions& psi, Wanted wanted,
                      Accuracy accuracy, double* scratch, RowBlocks out) noexcept {
  constexpr index_t kFewest = 8;  // for which a contour is worth its nodes
  Row row(p, psi, scratch);
  if (!row.factorise()) return false;
  const index_t count = psi.mu.rows;
  const bool may_share = row.may_share(wanted);
  for (index_t first = 0; first < count;) {
    bool done[SharedFunctions::kMost] = {};
    index_t run = may_share ? row.alike(first) : 1;
    if (run >= kFewest) {
      row.share(first, run, wanted, accuracy, done, out);
    } else {
      run = std::min(count - first, kG);
    }
    index_t left[SharedFunctions::kMost], size = 0;
    for (index_t j = 0; j < run; ++j) {
      if (!done[j]) left[size++] = first + j;
    }
    for (index_t i = 0; i < size; i += kG) {
      const index_t lanes = std::min(kG, size - i);
      for (index_t lane = 0; lane < kG; ++lane) row.load(left[i + std::min(lane, lanes - 1)], lane);
      if (!row.integrate(wanted, accuracy)) return false;
      for (index_t lane = 0; lane < lanes; ++lane) row.store(left[i + lane], lane, wanted, out);
    }
    first += run;
  }
  return true;
}

}  // namespace fenchel::detail
