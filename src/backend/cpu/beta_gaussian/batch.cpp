#include "fenchel/backend/cpu/beta_gaussian_batch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backend/cpu/checks.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

using Function = BetaGaussianFunction;

bool has_argument(Function f) {
  return f == Function::log_density || f == Function::cross_omega || f == Function::log_draw ||
         f == Function::cdf || f == Function::quantile || f == Function::below_peak;
}

/// Calls body(row, argument, log_det, alpha) for each element.
template <class Body>
void for_each_element(std::string_view where, Function function, const BetaGaussianBatch& batch,
                      const Body& body) {
  const index_t count = std::ssize(batch.log_det), n = batch.dimension;
  if (n < 1) throw_invalid_argument(where, "dimension", "must be at least 1", n);
  const bool on_line = function == Function::cdf || function == Function::quantile;
  if (on_line && n != 1) throw_invalid_argument(where, "dimension", "must be 1 for cdf and quantile", n);
  detail::check_count(where, "argument", std::ssize(batch.argument), has_argument(function) ? count : 0);
  detail::check_count(where, "alpha", std::ssize(batch.alpha), count);
  const double bound = std::max(0.0, 1 - 2 / static_cast<double>(n));
  for (index_t i = 0; i < count; ++i) {
    const double alpha = batch.alpha[static_cast<std::size_t>(i)];
    if (alpha > bound) continue;
    throw_domain_error(where, indexed("alpha", i), "must be above " + shortest(bound), alpha);
  }
  parallel_rows(count, workers_for(count, 200), [&](index_t begin, index_t end, int) noexcept {
    for (index_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      body(i, has_argument(function) ? batch.argument[at] : 0, batch.log_det[at], batch.alpha[at]);
    }
  });
}

/// One part of the jet a row.
template <std::size_t kCols>
void write_rows(std::string_view where, Function function, const BetaGaussianBatch& batch, bool in_alpha,
                Rows<double> out, std::array<double, kCols> Jet::*part) {
  detail::check_matrix(where, "out", out, std::ssize(batch.log_det), kCols);
  for_each_element(where, function, batch, [&](index_t i, double argument, double log_det, double alpha) {
    std::ranges::copy(beta_gaussian_jet(function, batch.dimension, argument, log_det, alpha, in_alpha).*part,
                      out.row(i));
  });
}

}  // namespace

void beta_gaussian(Function function, const BetaGaussianBatch& batch, std::span<double> out) {
  detail::check_count("beta_gaussian", "out", std::ssize(out), std::ssize(batch.log_det));
  for_each_element("beta_gaussian", function, batch,
                   [&](index_t i, double argument, double log_det, double alpha) {
                     out[static_cast<std::size_t>(i)] =
                         beta_gaussian_value(function, batch.dimension, argument, log_det, alpha);
                   });
}

void beta_gaussian_gradient(Function function, const BetaGaussianBatch& batch, Rows<double> out,
                            bool in_alpha) {
  write_rows("beta_gaussian_gradient", function, batch, in_alpha, out, &Jet::gradient);
}

void beta_gaussian_hessian(Function function, const BetaGaussianBatch& batch, Rows<double> out,
                           bool in_alpha) {
  write_rows("beta_gaussian_hessian", function, batch, in_alpha, out, &Jet::hessian);
}

void draw_directions(std::span<const double> seeds, Rows<double> out) {
  detail::check_view("draw_directions", "out", out);
  detail::check_count("draw_directions", "seeds", std::ssize(seeds), out.rows);
  parallel_rows(out.rows, workers_for(out.rows, 50 * (out.cols + 1)),
                [&](index_t begin, index_t end, int) noexcept {
                  for (index_t i = begin; i < end; ++i) {
                    draw_direction(static_cast<std::uint64_t>(seeds[static_cast<std::size_t>(i)]), out[i]);
                  }
                });
}

}  // namespace fenchel::cpu
