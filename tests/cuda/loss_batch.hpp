#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/core/infinity.hpp"
#include "gpu.hpp"

/// What tests of the losses on a GPU share: batches, and their losses on the CPU.
namespace fenchel::test {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline const std::vector<double> kAlphas = {
    0.5, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.1, 1.25, 1.5, 1.7, 2.0, 3, 5, 1e6, kInfinity};

struct Losses {
  std::vector<double> loss, residual, slope;
};

template <class T>
struct Batch {
  index_t rows, cols;
  std::vector<T> scores;
  std::vector<index_t> classes;
  std::vector<T> soft;  // empty for classes

  Batch(index_t row_count, index_t col_count, double scale, bool with_soft, unsigned seed)
      : rows(row_count), cols(col_count) {
    std::mt19937_64 rng(seed);
    std::normal_distribution<double> normal(0, scale);
    for (index_t k = 0; k < rows * cols; ++k) scores.push_back(stored<T>(normal(rng)));
    for (index_t i = 0; i < rows; ++i)
      classes.push_back(static_cast<index_t>(rng() % static_cast<std::uint64_t>(cols)));
    if (!with_soft) return;
    for (index_t i = 0; i < rows; ++i) {  // eighths on a few columns: exact in every type
      std::vector<int> eighths(static_cast<std::size_t>(cols), 0);
      for (int k = 0; k < 8; ++k) ++eighths[rng() % static_cast<std::uint64_t>(cols)];
      for (const int k : eighths) soft.push_back(stored<T>(k / 8.0));
    }
  }
};

template <class T>
std::vector<double> widened(const std::vector<T>& x) {
  std::vector<double> result;
  for (const T value : x) result.push_back(static_cast<double>(widened(value)));
  return result;
}

template <class Real, class T>
Losses on_cpu(const Batch<T>& batch, double alpha, bool cross) {
  const std::vector<double> wide = widened(batch.scores), wide_soft = widened(batch.soft);
  const std::vector<Real> z(wide.begin(), wide.end()), q(wide_soft.begin(), wide_soft.end());
  std::vector<Real> loss(static_cast<std::size_t>(batch.rows)), residual(z.size());
  std::vector<double> slope(loss.size());
  const cpu::LossOutputs<Real> outputs{loss, {residual.data(), batch.rows, batch.cols}, slope};
  const Rows<const Real> scores(z.data(), batch.rows, batch.cols);
  if (q.empty()) {
    cpu::entmax_loss<Real>(scores, alpha, cpu::ClassTargets{batch.classes}, outputs);
  } else {
    const cpu::SoftTargets<Real> targets{{q.data(), batch.rows, batch.cols}};
    if (cross) {
      cpu::cross_omega<Real>(scores, alpha, targets, outputs);
    } else {
      cpu::entmax_loss<Real>(scores, alpha, targets, outputs);
    }
  }
  return {{loss.begin(), loss.end()}, {residual.begin(), residual.end()}, slope};
}

inline double worst_difference(const std::vector<double>& x, const std::vector<double>& exact) {
  double worst = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (x[k] == exact[k] || (std::isnan(x[k]) && std::isnan(exact[k]))) continue;
    const double error = std::abs(x[k] - exact[k]) / std::max(1.0, std::abs(exact[k]));
    worst = std::isnan(error) ? kInfinity : std::max(worst, error);
  }
  return worst;
}

}  // namespace fenchel::test
