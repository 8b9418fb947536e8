#pragma once

#include "fenchel/core/index.hpp"

/// Plain vector loops over the few thousand rows of a chunk: each sum errs by some 1e-15 of the sum of the
/// absolute terms.
namespace fenchel::detail {

/// Copies n numbers that lie `stride` apart; false if one of them is not finite.
[[nodiscard]] bool copy_finite(const double* x, index_t stride, index_t n, double* out) noexcept;

struct Extremes {
  double minimum, maximum;
};
[[nodiscard]] Extremes extremes(const double* x, index_t n) noexcept;

[[nodiscard]] double sum(const double* x, index_t n) noexcept;
/// The sum of w x.
[[nodiscard]] double weighted_sum(const double* x, const double* w, index_t n) noexcept;
/// The sum of w (x - centre).
[[nodiscard]] double centred_sum(const double* x, const double* w, double centre, index_t n) noexcept;

/// The sums of w d^k for d = x - centre.
struct PowerSums {
  double first, second, third, fourth;
};
[[nodiscard]] PowerSums power_sums(const double* x, const double* w, double centre, index_t n) noexcept;

/// A double close to the weighted mean, and equal to x if all x are the same; `weight` is the sum of w > 0.
/// The mean is corrected once: off it by some ulp of it and 1e-15 of the mean deviation.
[[nodiscard]] double rounded_mean(const double* x, const double* w, double weight, index_t n) noexcept;

/// x - centre, and w (x - centre).
void centre_column(const double* x, const double* w, double centre, index_t n, double* centred,
                   double* weighted) noexcept;
/// |x - centre|.
void distances(const double* x, double centre, index_t n, double* out) noexcept;
/// The sums of w over x < centre, and over x > centre.
struct Sides {
  double below, above;
};
[[nodiscard]] Sides side_weights(const double* x, const double* w, double centre, index_t n) noexcept;

}  // namespace fenchel::detail
