#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "core/gamma_ratio_derivatives.hpp"
#include "core/small_matrix.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/gamma_ratio.hpp"
#include "fenchel/core/index.hpp"

/// What match_weights and its derivatives compute for one row, once its moments are known. An Offset has the
/// coordinates of a column less those of the mean, offset[0] to offset[d - 1].
namespace fenchel::detail {

/// One row matched. Matrices are D x D.
struct MatchedRow {
  index_t length;
  double total;        ///< of the weights
  double* mean;        ///< D numbers
  double* spread;      ///< covariance of the weights
  double* covariance;  ///< that and the floor
  double* inverse;     ///< of the covariance
  double* work;        ///< free, D x D
  double* offset;      ///< free, D numbers
  double* shift;       ///< free, D numbers
  double* more;        ///< free, 3 D x D and D numbers
  double log_det;      ///< of the covariance
  double kappa;        ///< Sigma = kappa covariance
  double kappa_slope;  ///< d log kappa / d alpha at fixed covariance
};

FENCHEL_HD constexpr index_t matched_row_size(index_t d) noexcept { return 4 * d + 7 * d * d; }

FENCHEL_HD inline MatchedRow matched_row(index_t length, index_t d, double* numbers) noexcept {
  double* const square = numbers + 3 * d;
  return {.length = length,
          .total = 0,
          .mean = numbers,
          .spread = square,
          .covariance = square + d * d,
          .inverse = square + 2 * d * d,
          .work = square + 3 * d * d,
          .offset = numbers + d,
          .shift = numbers + 2 * d,
          .more = square + 4 * d * d,
          .log_det = 0,
          .kappa = 0,
          .kappa_slope = 0};
}

template <class Real>
FENCHEL_HD inline bool is_weight(Real w) noexcept {
  return w >= 0 && w <= std::numeric_limits<Real>::max();
}

FENCHEL_HD inline double cell_width(index_t length) noexcept { return 1 / static_cast<double>(length); }
FENCHEL_HD inline double cell_centre(index_t l, double width) noexcept {
  return (static_cast<double>(l) + 0.5) * width;
}
/// The variance of one of `length` cells of the unit cube, the default of the floor.
FENCHEL_HD inline double cell_variance(index_t length, index_t d) noexcept {
  return std::pow(static_cast<double>(length), -2 / static_cast<double>(d)) / 12;
}

template <class X, class Y>
FENCHEL_HD inline double inner(const X& x, const Y& y, index_t n) noexcept {
  double sum = 0;
  for (index_t k = 0; k < n; ++k) sum += x[k] * y[k];
  return sum;
}

/// matrix += factor x x^T.
template <class X>
FENCHEL_HD inline void add_square(double factor, const X& x, index_t d, double* matrix) noexcept {
  for (index_t a = 0; a < d; ++a) {
    for (index_t b = 0; b < d; ++b) matrix[a * d + b] += factor * x[a] * x[b];
  }
}

/// out = x y for a symmetric y.
FENCHEL_HD inline void multiply(const double* x, const double* y, index_t d, double* out) noexcept {
  for (index_t a = 0; a < d; ++a) {
    for (index_t b = 0; b < d; ++b) out[a * d + b] = inner(x + a * d, y + b * d, d);
  }
}

/// From mean and spread the covariance, its inverse and log determinant; false where it is singular. The
/// inverse is the sum of w w^T over the rows w of the inverse Cholesky factor.
FENCHEL_HD inline bool invert_covariance(double floor, index_t d, MatchedRow& row) noexcept {
  constexpr double kEpsilon = 8 * std::numeric_limits<double>::epsilon();
  for (index_t a = 0; a < d * d; ++a) {
    row.covariance[a] = row.spread[a];
    row.inverse[a] = 0;
  }
  for (index_t a = 0; a < d; ++a) row.covariance[a * d + a] += floor;
  if (!cholesky(row.covariance, d, row.work)) return false;
  for (index_t a = 0; a < d; ++a) {  // what rounding leaves of 0 is 0
    const double pivot = row.work[a * d + a] * row.work[a * d + a], error = kEpsilon * row.mean[a];
    if (!(pivot > kEpsilon * row.covariance[a * d + a] && pivot > error * error)) return false;
  }
  for (index_t a = 0; a < d; ++a) {
    row.log_det += 2 * std::log(row.work[a * d + a]);
    for (index_t b = 0; b < d; ++b) row.offset[b] = a == b;
    solve_upper(row.work, d, row.offset);
    add_square(1, row.offset, d, row.inverse);
  }
  return true;
}

/// What of the matching depends on alpha alone.
struct AlphaTerms {
  double am1;
  double ratio, ratio_slope;  ///< log_gamma_ratio
};

FENCHEL_HD inline AlphaTerms alpha_terms(index_t d, double am1) noexcept {
  return {am1, log_gamma_ratio(d, am1), log_gamma_ratio_slope(d, am1)};
}

/// log kappa = am1 (log det(2 pi V) / 2 - D_n) + (2 + n am1) / 2 log1p((n + 2) am1 / 2).
FENCHEL_HD inline void match_scale(const AlphaTerms& alpha, index_t d, MatchedRow& row) noexcept {
  const auto n = static_cast<double>(d);
  const double am1 = alpha.am1;
  const double half_log_det = (n * std::log(2 * std::numbers::pi) + row.log_det) / 2;
  const double room = (n + 2) * am1 / 2, log_room = std::log1p(room), near = (2 + n * am1) / 2;
  const double excess = half_log_det - alpha.ratio;
  row.kappa = std::exp(am1 * excess + near * log_room);
  row.kappa_slope = excess - am1 * alpha.ratio_slope + n / 2 * log_room + near * (n + 2) / (2 * (1 + room));
}

/// Whether Sigma is in the range of numbers.
template <class Real>
FENCHEL_HD inline bool scale_fits(index_t d, const MatchedRow& row) noexcept {
  for (index_t a = 0; a < d; ++a) {
    const auto entry = static_cast<Real>(row.kappa * row.covariance[a * d + a]);
    if (!(entry > 0 && entry <= std::numeric_limits<Real>::max())) return false;
  }
  return true;
}

/// d^2 log kappa / dalpha^2.
FENCHEL_HD inline double kappa_curve(index_t d, double am1) noexcept {
  const auto n = static_cast<double>(d);
  const double slope = (n + 2) / (2 + (n + 2) * am1);  // of log1p((n + 2) am1 / 2)
  const GammaRatioDerivatives ratio = log_gamma_ratio_derivatives(d, am1);
  return -2 * ratio.first - am1 * ratio.second + slope * (n - (2 + n * am1) / 2 * slope);
}

/// phi = <c, mean> + <G, kappa V> has the gradient (c o + o A o - <A, spread>) / total in a weight at the
/// offset o from the mean, A = kappa G + am1/2 kappa <G, V> V^-1, and kappa <G, V> dlog kappa/dalpha in
/// alpha: dSigma = kappa (dV + V dlog kappa), dlog kappa = am1/2 Tr(V^-1 dV) + slope dalpha.
struct MatchGradient {
  const double* a;  ///< A, in row.work
  double of_kappa, average;

  template <class Numbers, class Offset>
  [[nodiscard]] FENCHEL_HD double in_weight(const Numbers& of_mu, const Offset& offset, index_t d,
                                            double total) const noexcept {
    double sum = -average;
    for (index_t k = 0; k < d; ++k) sum += offset[k] * (of_mu[k] + inner(a + k * d, offset, d));
    return sum / total;
  }
};

template <class Numbers>
FENCHEL_HD inline MatchGradient match_gradient(const Numbers& of_scale, double am1, index_t d,
                                               const MatchedRow& row) noexcept {
  double* const g = row.work;
  for (index_t a = 0; a < d * d; ++a) g[a] = row.kappa * of_scale[a];
  const double of_kappa = inner(g, row.covariance, d * d);
  const double share = am1 / 2 * of_kappa;
  for (index_t a = 0; a < d * d; ++a) g[a] += share * row.inverse[a];
  return {g, of_kappa, inner(g, row.spread, d * d)};
}

/// From sums of a direction over the offsets, as row.shift, and over their squares, as `moved`, how mean and
/// covariance move; `total` is its own sum.
FENCHEL_HD inline void finish_move(double total, index_t d, const MatchedRow& row, double* moved) noexcept {
  for (index_t a = 0; a < d; ++a) row.shift[a] /= row.total;
  for (index_t a = 0; a < d * d; ++a) moved[a] = (moved[a] - total * row.spread[a]) / row.total;
}

/// How Sigma moves with the covariance and alpha: returns d log kappa.
FENCHEL_HD inline double moved_log_kappa(const double* moved, double am1, double d_alpha, index_t d,
                                         const MatchedRow& row) noexcept {
  return am1 / 2 * inner(row.inverse, moved, d * d) + row.kappa_slope * d_alpha;
}

/// The derivative of MatchGradient along a direction, `moved` in row.more.
struct MatchCurvature {
  const double *a, *d_a;
  const double* pull;  ///< (A + A^T) times the mean's move
  double average, d_average, share, of_kappa, of_moved, d_log_kappa, trace;

  [[nodiscard]] FENCHEL_HD double in_alpha(double kappa_slope, double curve, double d_alpha) const noexcept {
    return of_kappa * (d_log_kappa * kappa_slope + trace / 2 + curve * d_alpha) + of_moved * kappa_slope;
  }
  template <class Numbers, class Offset>
  [[nodiscard]] FENCHEL_HD double in_weight(const Numbers& of_mu, const Offset& offset, index_t d,
                                            double total) const noexcept {
    double sum = share * average - d_average;
    for (index_t k = 0; k < d; ++k) {
      const double own = of_mu[k] + inner(a + k * d, offset, d);
      sum += offset[k] * (inner(d_a + k * d, offset, d) - pull[k] - share * own);
    }
    return sum / total;
  }
};

template <class Numbers>
FENCHEL_HD inline MatchCurvature match_curvature(const Numbers& of_mu, const Numbers& of_scale, double am1,
                                                 double total, double d_alpha, index_t d,
                                                 const MatchedRow& row) noexcept {
  const index_t d2 = d * d;
  double *const g = row.work, *const moved = row.more, *const d_g = moved + d2, *const product = d_g + d2;
  double* const pull = product + d2;
  for (index_t a = 0; a < d2; ++a) g[a] = row.kappa * of_scale[a];
  const double of_kappa = inner(g, row.covariance, d2), of_moved = inner(g, moved, d2);
  const double half = am1 / 2, trace = inner(row.inverse, moved, d2);
  const double d_log_kappa = half * trace + row.kappa_slope * d_alpha;
  multiply(row.inverse, moved, d, product);
  multiply(product, row.inverse, d, d_g);
  for (index_t a = 0; a < d2; ++a) {
    g[a] += half * of_kappa * row.inverse[a];
    d_g[a] = d_log_kappa * g[a] + (half * of_moved + d_alpha / 2 * of_kappa) * row.inverse[a] -
             half * of_kappa * d_g[a];
  }
  double d_average = inner(d_g, row.spread, d2) + inner(g, moved, d2);
  for (index_t a = 0; a < d; ++a) {
    d_average += of_mu[a] * row.shift[a];
    pull[a] = 0;
    for (index_t b = 0; b < d; ++b) pull[a] += (g[a * d + b] + g[b * d + a]) * row.shift[b];
  }
  return {g,        d_g,         pull, inner(g, row.spread, d2), d_average, total / row.total, of_kappa,
          of_moved, d_log_kappa, trace};
}

}  // namespace fenchel::detail
