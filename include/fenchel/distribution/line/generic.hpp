#pragma once

/// Accessors that follow from others: `median`, `moment`, `expectation`, draws with a seed.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/domain/interval.hpp"

/// Accessors that follow from others, for families that have nothing better.
namespace fenchel {
namespace detail {

inline std::vector<Interval> pieces(const Interval& support) { return {support}; }
inline std::vector<Interval> pieces(std::vector<Interval> support) { return support; }

/// The mu of a family that can be moved, and its member about 0: next to a large mu doubles are too coarse
/// for what is narrow. 0 and p itself for others.
template <class P>
[[nodiscard]] double location(const P& p) {
  if constexpr (requires { p.centred(); }) return p.mu();
  return 0;
}
template <class P>
[[nodiscard]] P centred(const P& p) {
  if constexpr (requires { p.centred(); }) return p.centred();
  return p;
}

/// int pdf f over the pieces of a support, cut at `centre` and `cuts`; infinite ends are scanned at `scale`.
[[nodiscard]] FENCHEL_EXPORT double expectation(FunctionRef<double(double)> f,
                                                FunctionRef<double(double)> pdf,
                                                std::span<const Interval> support, double centre,
                                                double scale, double accuracy, std::span<const double> cuts);

/// How many panels an expectation begins with, for each piece: the second number where f is 0 at all nodes of
/// the first.
inline constexpr index_t kFirstPanels = 16, kFinestPanels = 2048;

/// E[t^n] from central moments.
[[nodiscard]] FENCHEL_EXPORT double raw_moment(int n, double mean, FunctionRef<double(int)> central_moment);

/// What one draw costs, in nanoseconds, when parallel_rows decides about threads.
inline constexpr index_t kDrawCost = 50;

inline std::size_t checked_count(index_t count) {
  if (count < 0) throw_invalid_argument("sample", "count", "must not be negative", count);
  return static_cast<std::size_t>(count);
}

/// The draws of sample(p, count, seed) below on one thread, for families that call functions of their user,
/// which may throw.
template <class P>
[[nodiscard]] std::vector<typename P::value_type> sample_on_one_thread(const P& p, index_t count,
                                                                       std::uint64_t seed) {
  std::vector<typename P::value_type> draws;
  draws.reserve(checked_count(count));
  for (index_t k = 0; k < count; ++k) {
    checkpoint_at(k);
    Philox rng(seed, static_cast<std::uint64_t>(k));
    draws.push_back(sample(p, rng));
  }
  return draws;
}

}  // namespace detail

template <class P>
concept HasVariance = requires(const P& p) {
  { variance(p) } -> std::convertible_to<double>;
};

template <HasVariance P>
[[nodiscard]] double standard_deviation(const P& p) {
  return std::sqrt(variance(p));
}

template <class P>
requires requires(const P& p) { quantile(p, 0.5); }
[[nodiscard]] auto median(const P& p) { return quantile(p, 0.5); }

/// E[t^n], from the central moments. Throws std::domain_error for n < 0; NaN or infinity where the family has
/// no such moment.
template <class P>
requires requires(const P& p) {
  { central_moment(p, 2) } -> std::convertible_to<double>;
}
[[nodiscard]] double moment(const P& p, int n) {
  return detail::raw_moment(n, mean(p), [&p](int k) { return central_moment(p, k); });
}

/// E[f(t)] for any callable, to `accuracy` times E|f(t)|, by two rules that agree on it. They may miss a bump
/// of f that is narrower than a tenth of the standard deviation of p, or than a thousandth where f is 0
/// elsewhere, unless it is at one of the `cuts`. Throws std::domain_error where f is NaN and ConvergenceError
/// when the accuracy is not reached, as for an expectation that does not exist.
template <class P, std::invocable<double> F>
requires requires(const P& p) {
  { pdf(p, 0.0) } -> std::convertible_to<double>;
}
[[nodiscard]] double expectation(const P& p, F&& f, double accuracy = 1e-10,
                                 std::span<const double> cuts = {}) {
  const auto centre = static_cast<double>(median(p));
  const double scale = survival_quantile(p, 0.25) - quantile(p, 0.25);
  return detail::expectation(
      f, [&p](double t) { return pdf(p, t); }, detail::pieces(support(p)), centre, scale, accuracy, cuts);
}

/// d Omega_order(p) / d order, by quadrature; 0 for an infinite order, NaN where Omega is infinite.
template <class P>
requires requires(const P& p) {
  { log_pdf(p, 0.0) } -> std::convertible_to<double>;
}
[[nodiscard]] double negentropy_order_derivative(const P& p, double order) {
  if (std::isinf(order)) return 0;
  if (std::isinf(tsallis_entropy(p, order))) return std::numeric_limits<double>::quiet_NaN();
  const double am1 = order - 1;
  const P about_zero = detail::centred(p);
  return expectation(about_zero, [&about_zero, am1, order](double t) {
    const double l = log_pdf(about_zero, t);
    return (deformed_log_alpha_derivative<1>(am1, l) - deformed_log_of_exp(am1, l) / order) / order;
  });
}

/// `count` draws, the k-th from stream k of the seed: the same for every number of threads.
template <class P>
requires requires(const P& p, Philox& rng) {
  { sample(p, rng) } -> std::convertible_to<typename P::value_type>;
}
[[nodiscard]] std::vector<typename P::value_type> sample(const P& p, index_t count, std::uint64_t seed) {
  constexpr index_t kTogether = 1 << 20;  // so that memory for many is not touched at once
  std::vector<typename P::value_type> draws;
  draws.reserve(detail::checked_count(count));
  for (index_t first = 0; first < count; first += kTogether) {
    const index_t part = std::min(kTogether, count - first);
    draws.insert(draws.end(), static_cast<std::size_t>(part), typename P::value_type{});
    parallel_rows(part, workers_for(part, detail::kDrawCost), [&](index_t begin, index_t end, int) noexcept {
      for (index_t k = first + begin; k < first + end; ++k) {
        Philox rng(seed, static_cast<std::uint64_t>(k));
        draws[static_cast<std::size_t>(k)] = sample(p, rng);
      }
    });
  }
  return draws;
}

}  // namespace fenchel
