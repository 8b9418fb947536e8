#include "fenchel/estimate/goodness/probability_cells.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace fenchel {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The middle of the doubles that share all but the last `dropped` bits with x; 0 stays 0.
double rounded(double x, int dropped) noexcept {
  if (dropped == 0 || x == 0) return x;
  const std::uint64_t low = (std::uint64_t{1} << dropped) - 1;
  const std::uint64_t bits = (std::bit_cast<std::uint64_t>(x) & ~low) | ((low >> 1) + 1);
  return std::clamp(std::bit_cast<double>(bits), -0.5, 0.5);
}

/// u and 1 - u of a cell, and their logarithms.
struct Probability {
  double u, s, log_u, log_s;
};
Probability probability(double tail) noexcept {
  const double part = std::abs(tail);
  if (std::signbit(tail)) return {1 - part, part, std::log1p(-part), std::log(part)};
  return {part, 1 - part, std::log(part), std::log1p(-part)};
}

/// weight * log, 0 for a weight of 0.
double times(double weight, double log) noexcept { return weight == 0 ? 0 : weight * log; }

}  // namespace

bool ProbabilityCells::before(const Cell& a, const Cell& b) noexcept {
  const bool upper_a = std::signbit(a.tail), upper_b = std::signbit(b.tail);
  return upper_a == upper_b ? a.tail < b.tail : upper_b;
}

void ProbabilityCells::settle(index_t sorted) {
  constexpr int kFirstDropped = 20;
  std::inplace_merge(cells_.begin(), cells_.begin() + sorted, cells_.end(), before);
  for (;;) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      cells_[i].tail = rounded(cells_[i].tail, dropped_);
      if (kept > 0 && !before(cells_[kept - 1], cells_[i]))
        cells_[kept - 1].weight += cells_[i].weight;
      else
        cells_[kept++] = cells_[i];
    }
    cells_.resize(kept);
    if (size() <= kMostCells || dropped_ == kMostDropped) return;
    dropped_ = std::max(dropped_ + 1, kFirstDropped);
  }
}

void ProbabilityCells::add(std::span<const double> u, std::span<const double> s,
                           std::span<const double> weights) {
  const index_t sorted = size();
  for (std::size_t i = 0; i < u.size(); ++i) {
    if (weights[i] > 0)
      cells_.push_back({u[i] <= s[i] ? std::min(u[i], 0.5) : -std::min(s[i], 0.5), weights[i]});
  }
  std::sort(cells_.begin() + sorted, cells_.end(), before);
  settle(sorted);
}

void ProbabilityCells::merge(const ProbabilityCells& other) {
  dropped_ = std::max(dropped_, other.dropped_);
  const index_t sorted = size();
  cells_.insert(cells_.end(), other.cells_.begin(), other.cells_.end());
  settle(sorted);
}

double ProbabilityCells::kolmogorov_smirnov() const {
  DoubleDouble total, below;
  for (const Cell& cell : cells_) total += cell.weight;
  double distance = cells_.empty() ? kNaN : 0;
  for (const Cell& cell : cells_) {
    const Probability p = probability(cell.tail);
    const double before_it = (below / total).value();
    below += cell.weight;
    const double with_it = (below / total).value();
    distance = std::max({distance, p.u - before_it, with_it - p.u});
  }
  return distance;
}

double ProbabilityCells::anderson_darling() const {
  DoubleDouble total, below, sum;
  for (const Cell& cell : cells_) total += cell.weight;
  double left = 0;  // shares before and after the cell
  for (const Cell& cell : cells_) {
    const Probability p = probability(cell.tail);
    below += cell.weight;
    const double right = (below / total).value(), share = (cell.weight / total).value();
    sum += times(share * (left + right), p.log_u);
    sum += times(share * ((1 - left) + (1 - right)), p.log_s);
    left = right;
  }
  return cells_.empty() ? kNaN : std::max(0.0, (total * (-1.0 - sum.value())).value());
}

}  // namespace fenchel
