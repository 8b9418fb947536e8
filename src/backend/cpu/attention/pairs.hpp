#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string_view>
#include <vector>

#include "backend/cpu/attention/hessian.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/parallel.hpp"

/// Loops over all pairs of a density and a function, for derivatives in the functions and of second order.
namespace fenchel::detail {

/// The rows in at most 64 parts, whatever the number of threads: what is summed over rows is summed over each
/// part, and the parts are added in their order.
struct RowParts {
  static constexpr index_t kMost = 64;
  index_t rows, size, count;
  explicit RowParts(index_t row_count) noexcept
      : rows(row_count), size((rows + kMost - 1) / kMost), count((rows + size - 1) / size) {}
};

/// Sums over rows of numbers for each function: N x (D + D^2).
class BasisSums {
 public:
  BasisSums(const RowParts& parts, index_t count, index_t dimension)
      : parts_(parts.count),
        count_(count),
        dimension_(dimension),
        sums_(static_cast<std::size_t>(parts_ * count_ * (dimension + dimension * dimension))) {}

  [[nodiscard]] double* mean(index_t part, index_t j) noexcept {
    return sums_.data() + (part * count_ + j) * (dimension_ + dimension_ * dimension_);
  }
  [[nodiscard]] double* covariance(index_t part, index_t j) noexcept { return mean(part, j) + dimension_; }

  void store(const cpu::BasisTangents<double>& out) noexcept {
    const index_t d = dimension_;
    for (index_t j = 0; j < count_; ++j) {
      double* const sum = mean(0, j);
      for (index_t part = 1; part < parts_; ++part) {
        for (index_t k = 0; k < d + d * d; ++k) sum[k] += mean(part, j)[k];
      }
      if (out.mu.data != nullptr) std::copy_n(sum, d, out.mu.row(j));
      if (out.Sigma.data != nullptr) std::copy_n(sum + d, d * d, out.Sigma.row(j));
    }
  }

 private:
  index_t parts_, count_, dimension_;
  std::vector<double> sums_;
};

/// Calls visit(j, row, lane) for all functions of one row; false where one is not accurate.
class Pairs {
 public:
  Pairs(PairRow& row, index_t count) noexcept : row_(row), count_(count) {}
  template <class Visit>
  [[nodiscard]] bool for_each(const Visit& visit) const noexcept {
    for (index_t first = 0; first < count_; first += kSpaceGroup) {
      const index_t lanes = std::min(kSpaceGroup, count_ - first);
      if (!row_.integrate(first, lanes)) return false;
      for (index_t lane = 0; lane < lanes; ++lane) visit(first + lane, row_, lane);
    }
    return true;
  }

 private:
  PairRow& row_;
  index_t count_;
};

/// Calls body(part, worker, i, pairs) for every density; it returns what pairs.for_each did. `workers` is
/// what pair_workers says.
template <class Real>
[[nodiscard]] int pair_workers(const cpu::Densities<Real>& p, const cpu::GaussianFunctions& psi) noexcept {
  const RowParts parts(p.mu.rows);
  return workers_for(parts.count, parts.size * psi.mu.rows * 5000);
}
template <class Real, class Body>
void for_each_pair_row(std::string_view where, const cpu::Densities<Real>& p,
                       const cpu::GaussianFunctions& psi, int workers, const Body& body) {
  const index_t d = p.mu.cols;
  const RowParts parts(p.mu.rows);
  struct Worker {
    PairMemory memory;
    std::vector<double> mu, scale, factor;
    explicit Worker(index_t n)
        : memory(n),
          mu(static_cast<std::size_t>(n)),
          scale(static_cast<std::size_t>(n * n)),
          factor(static_cast<std::size_t>(n * n)) {}
  };
  std::vector<Worker> team;
  team.reserve(static_cast<std::size_t>(workers));
  for (int worker = 0; worker < workers; ++worker) team.emplace_back(d);
  std::atomic<index_t> failed = -1;
  parallel_rows(parts.count, workers, [&](index_t begin, index_t end, int worker) noexcept {
    Worker& own = team[static_cast<std::size_t>(worker)];
    for (index_t i = begin * parts.size; i < std::min(end * parts.size, parts.rows); ++i) {
      std::copy_n(p.mu.row(i), d, own.mu.data());
      std::copy_n(p.Sigma.row(i), d * d, own.scale.data());
      cholesky(own.scale.data(), d, own.factor.data());
      double log_det = 0;
      for (index_t a = 0; a < d; ++a)
        log_det += 2 * std::log(own.factor[static_cast<std::size_t>(a * d + a)]);
      const DensityRow density{beta_gaussian_constants(d, p.alpha[i] - 1, log_det), own.mu.data(),
                               own.scale.data()};
      PairRow row(density, psi, own.memory);
      if (body(i / parts.size, worker, i, Pairs(row, psi.mu.rows))) continue;
      index_t first = failed;
      while ((first < 0 || i < first) && !failed.compare_exchange_weak(first, i)) {
      }
    }
  });
  if (failed < 0) return;
  throw ConvergenceError(error_message(where, "the expectation under density " + shortest(failed.load()),
                                       "must be resolved", "an integral that is not"));
}

}  // namespace fenchel::detail
