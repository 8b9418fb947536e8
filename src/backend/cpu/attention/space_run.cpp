#include "backend/cpu/attention/space_run.hpp"

#include <algorithm>

#include "core/lanes/lanes.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kRun = SharedFunctions::kMost;

}  // namespace

FENCHEL_CLONES void run_distances(const cpu::GaussianFunctions& psi, index_t first, index_t count,
                                  const double* mu, const double* factor, const double* axes, double beta,
                                  double* distance, double* e2) noexcept {
  const index_t d = psi.mu.cols;
  double* const solved = e2;  // until the squares are written over it
  for (index_t a = 0; a < d; ++a) {
    double* const x = solved + a * kRun;
    for (index_t j = 0; j < count; ++j) x[j] = psi.mu.row(first + j)[a] - mu[a];
    for (index_t b = 0; b < a; ++b) {
      const double entry = factor[a * d + b], *const y = solved + b * kRun;
      for (index_t j = 0; j < count; ++j) x[j] -= entry * y[j];
    }
    const double inverse = 1 / factor[a * d + a];
    for (index_t j = 0; j < count; ++j) x[j] *= inverse;
  }
  for (index_t a = 0; a < d; ++a) {
    double* const to = distance + a * kRun;
    std::fill_n(to, count, 0.0);
    for (index_t b = 0; b < d; ++b) {
      const double entry = axes[b * d + a], *const y = solved + b * kRun;
      for (index_t j = 0; j < count; ++j) to[j] += entry * y[j];
    }
  }
  for (index_t i = 0; i < d * kRun; ++i) e2[i] = beta / 2 * distance[i] * distance[i];
}

FENCHEL_CLONES void run_slopes(const SharedFunctions& functions, index_t first, const double* turn,
                               double beta, double volume, double* work, RowBlocks out) noexcept {
  const index_t d = functions.dimension, count = functions.count;
  const double *const firsts = functions.sums + kRun, *const seconds = firsts + d * kRun;
  double* const trace = work;
  double* const term = work + kRun;
  const auto clear = [&](index_t block) { std::fill_n(out[block] + first, count, 0.0); };
  for (index_t block = 1; block < block_count(d, Wanted::kGradient); ++block) clear(block);
  std::fill_n(trace, count, 0.0);
  for (index_t a = 0; a < d; ++a) {
    const double *const distance = functions.distance + a * kRun, *const second = seconds + a * kRun;
    for (index_t i = 0; i < d; ++i) {
      const double factor = beta * turn[i * d + a];
      double* const to = out[1 + i] + first;
      for (index_t j = 0; j < count; ++j) to[j] += factor * distance[j] * second[j];
    }
  }
  const double* cross = seconds + d * kRun;
  for (index_t a = 0; a < d; ++a) {
    for (index_t b = 0; b <= a; ++b, cross += kRun) {
      const double *const x = functions.distance + a * kRun, *const y = functions.distance + b * kRun;
      for (index_t j = 0; j < count; ++j) term[j] = beta * x[j] * y[j] * cross[j];
      if (a == b) {
        const double* const own = firsts + a * kRun;
        for (index_t j = 0; j < count; ++j) {
          term[j] -= own[j];
          trace[j] += term[j];
        }
      }
      for_each_entry(d, [&](index_t i, index_t k, index_t block) {
        const double pair = turn[i * d + a] * turn[k * d + b];
        const double factor = 0.5 * (a == b ? pair : pair + turn[i * d + b] * turn[k * d + a]);
        double* const to = out[block] + first;
        for (index_t j = 0; j < count; ++j) to[j] += factor * term[j];
      });
    }
  }
  for_each_entry(d, [&](index_t i, index_t k, index_t block) {
    double inverse = 0;  // of Sigma, (i, k)
    for (index_t a = 0; a < d; ++a) inverse += turn[i * d + a] * turn[k * d + a];
    double* const to = out[block] + first;
    for (index_t j = 0; j < count; ++j) to[j] -= 0.5 * volume * inverse * trace[j];
  });
}

}  // namespace fenchel::detail
