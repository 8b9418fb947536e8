#include "backend/cpu/attention/line_functions.hpp"

#include <cmath>
#include <numeric>

namespace fenchel::detail {
namespace {

/// [first.begin, second.end).
LineFunctions::Range joined(const LineFunctions::Range& first, const LineFunctions::Range& second) noexcept {
  return {first.begin,
          second.end,
          std::min(first.lowest, second.lowest),
          std::max(first.highest, second.highest),
          std::min(first.narrowest, second.narrowest),
          std::max(first.widest, second.widest)};
}

}  // namespace

LineFunctions::LineFunctions(const cpu::GaussianFunctions& psi)
    : size_(psi.mu.rows),
      whole_((size_ + kBlock - 1) / kBlock * kBlock),
      memory_(static_cast<std::size_t>(5 * whole_)) {
  fill(psi);
  find_groups();
  if (!is_mixed()) return;
  sort(psi);
  fill(psi);
  find_groups();
}

void LineFunctions::fill(const cpu::GaussianFunctions& psi) {
  blocks_.clear();
  for (index_t j = 0; j < whole_; ++j) {
    const index_t place = std::min(j, size_ - 1);
    const index_t from = order_.empty() ? place : order_[static_cast<std::size_t>(place)];
    const double mean = psi.mu.row(from)[0], width = std::sqrt(psi.Sigma.row(from)[0]);
    double* const lane = memory_.data() + j;
    lane[0] = mean;
    lane[whole_] = width;
    lane[2 * whole_] = 1 / width;
    if (order_.empty()) {
      lane[3 * whole_] = mean;
      lane[4 * whole_] = width;
    }
    const Range range{j / kBlock * kBlock, j / kBlock * kBlock + kBlock, mean, mean, width, width};
    if (j % kBlock == 0) {
      blocks_.push_back(range);
    } else {
      blocks_.back() = joined(blocks_.back(), range);
    }
  }
}

void LineFunctions::find_groups() {
  groups_.clear();
  for (const Range& block : blocks_) {
    if (!groups_.empty()) {
      const Range both = joined(groups_.back(), block);
      if (both.widest <= kAlike * both.narrowest) {
        groups_.back() = both;
        continue;
      }
    }
    groups_.push_back(block);
  }
}

bool LineFunctions::is_mixed() const noexcept {
  return size_ > kBlock && std::any_of(blocks_.begin(), blocks_.end(), [](const Range& block) {
           return block.widest > kAlike * block.narrowest;
         });
}

/// By width, and in a group by mean, so that far functions are beside each other.
void LineFunctions::sort(const cpu::GaussianFunctions& psi) {
  order_.resize(static_cast<std::size_t>(size_));
  std::iota(order_.begin(), order_.end(), index_t{0});
  const auto by = [](const Rows<const double>& of) {
    return [of](index_t i, index_t j) { return of.row(i)[0] < of.row(j)[0]; };
  };
  std::stable_sort(order_.begin(), order_.end(), by(psi.Sigma));
  fill(psi);
  find_groups();
  for (const Range& group : groups_) {
    std::stable_sort(order_.begin() + group.begin, order_.begin() + std::min(group.end, size_), by(psi.mu));
  }
}

}  // namespace fenchel::detail
