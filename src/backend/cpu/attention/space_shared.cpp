#include "backend/cpu/attention/space_shared.hpp"

#include <algorithm>
#include <cmath>

#include "backend/attention/line_math.hpp"
#include "backend/attention/space_saddle.hpp"
#include "backend/cpu/attention/space_node.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kG = kSpaceGroup, kRun = SharedFunctions::kMost, kMostNodes = 64, kMostContours = 48;

/// A contour reaches saddles that are so many standard deviations of the integrand away from its own; its
/// sums are then e^(kReach^2 / 2) times as large as their result.
constexpr double kReach = 1.5, kFiner = 0.7;

/// Rows of numbers for each node: x, the weight f, and for each a K_a = kappa_a x^2 / (1 + zeta v_a), with
/// which a function's exponent is tilt x + sum_a e2_a K_a, and 1 / (1 + zeta v_a).
struct NodeTable {
  double* data;
  index_t dimension;
  [[nodiscard]] FENCHEL_INLINE double* x(index_t part) const noexcept { return data + part * kMostNodes; }
  [[nodiscard]] FENCHEL_INLINE double* f(index_t part) const noexcept {
    return data + (2 + part) * kMostNodes;
  }
  [[nodiscard]] FENCHEL_INLINE double* k(index_t a, index_t part) const noexcept {
    return data + (4 + 2 * a + part) * kMostNodes;
  }
  [[nodiscard]] FENCHEL_INLINE double* inverse(index_t a, index_t part) const noexcept {
    return k(dimension + a, part);
  }
};

/// A contour through zeta, and the function whose saddle it is: e2 is the same along all axes.
struct Contour {
  double zeta, e2, second, third, slope, step, width;
  index_t size;
};

Contour contour_at(double n, index_t d, const double* v, double zeta) noexcept {
  double slope = 0, squares = 0;
  for (index_t a = 0; a < d; ++a) {
    const double c = 1 / (1 + zeta * v[a]);
    slope += 0.5 * v[a] * c;
    squares += c * c;
  }
  Contour at{};
  at.zeta = zeta;
  at.slope = zeta * slope;
  at.e2 = std::max(0.0, (n * (1 - 1 / zeta) - slope) / squares);
  at.second = n;
  at.third = 2 * n;
  for (index_t a = 0; a < d; ++a) {
    const SaddleTerm term = saddle_term(zeta, v[a], at.e2, 0);
    at.second += term.second;
    at.third += term.third;
  }
  return at;
}

/// Takes the derivatives of the exponent from function j instead.
void take_derivatives(double n, const SharedFunctions& all, index_t j, Contour& at) noexcept {
  at.second = n;
  at.third = 2 * n;
  for (index_t a = 0; a < all.dimension; ++a) {
    const SaddleTerm term = saddle_term(at.zeta, all.v[a], all.e2[a * kRun + j], 0);
    at.second += term.second;
    at.third += term.third;
  }
}

/// Fills a table with the nodes of a contour, as many as its function needs. False where they are too many.
FENCHEL_INLINE bool fill_table(double n, index_t d, const double* v, const ContourRule& rule, Contour& at,
                               double* work, const NodeTable& table) noexcept {
  const double most_tilt = kReach * std::sqrt(at.second);
  const ContourScale scale = contour_scale(rule, at.second, at.third);
  at.width = scale.width;
  at.step = kFiner / std::sqrt(scale.inverse_step2);
  Saddle saddle;
  const SpaceGroup group{d, nullptr, nullptr, nullptr, work};
  const Rows8 rows{work, d};
  for (index_t k = 0; k < kG; ++k) {
    saddle.zeta[k] = at.zeta;
    saddle.slope[k] = at.slope;
    saddle.width[k] = at.width;
    for (index_t a = 0; a < d; ++a) {
      rows(0, a)[k] = at.zeta * v[a];
      rows(1, a)[k] = 1 + at.zeta * v[a];
      rows(2, a)[k] = 0;
    }
  }
  double first = 0;
  for (at.size = 0; at.size < kMostNodes;) {
    for (index_t k = 0; k < kG; ++k) saddle.step[k] = at.step * static_cast<double>(at.size + k);
    ContourNode node;
    alignas(64) double size[kG], sum[kG] = {};
    place<false>(n, saddle, 1, node);
    add_coordinates(group, node);
    weigh(1, node, sum, size);
    double *const x_re = table.x(0) + at.size, *const x_im = table.x(1) + at.size;
    double *const f_re = table.f(0) + at.size, *const f_im = table.f(1) + at.size;
    alignas(64) double fall[kG];
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      x_re[k] = node.x_re[k];
      x_im[k] = node.x_im[k];
      f_re[k] = node.f_re[k];
      f_im[k] = node.f_im[k];
      fall[k] = -most_tilt * node.x_re[k];
    });
    for (index_t a = 0; a < d; ++a) {
      const double y = at.zeta * v[a], c = 1 / (1 + y), kappa = at.zeta * c * c * y;
      const double *const i_re = rows(3, a), *const i_im = rows(4, a);
      double *const k_re = table.k(a, 0) + at.size, *const k_im = table.k(a, 1) + at.size;
      double *const to_re = table.inverse(a, 0) + at.size, *const to_im = table.inverse(a, 1) + at.size;
      lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
        const Complex x = node.x(k), inverse{i_re[k], i_im[k]}, term = kappa * (x * x * inverse);
        k_re[k] = term.re;
        k_im[k] = term.im;
        to_re[k] = inverse.re;
        to_im[k] = inverse.im;
        fall[k] += at.e2 * term.re;
      });
    }
    for (index_t k = 0; k < kG; ++k, ++at.size) {
      const double left = size[k] * std::exp(fall[k]);
      if (at.size == 0) {
        first = left;
        f_re[0] *= 0.5;
      } else if (left < rule.smallest * first) {
        return true;
      }
    }
  }
  return false;
}

/// The lanes of eight functions.
struct Eight {
  alignas(64) double tilt[kG], sum[kG], coarse[kG], last[kG];
  double *distance, *e2, *sums;  ///< D and space_sums rows of eight
};

/// cos(x) and sin(x) to 2e-9, or as sine_cosine_element.
template <Accuracy kAccuracy>
FENCHEL_INLINE SineCosine turn_of(double x) noexcept {
  if constexpr (kAccuracy == Accuracy::kDouble) {
    return sine_cosine_element(x);
  } else {
    constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1, kHalfPi = 0x1.921fb54442d18p+0;
    constexpr double kSine[] = {-1. / 6, 1. / 120, -1. / 5040, 1. / 362880};
    constexpr double kCosine[] = {-1. / 2, 1. / 24, -1. / 720, 1. / 40320, -1. / 3628800};
    const double rounded = x * kTwoOverPi + LaneTraits<double>::kRounder;
    const double r = x - (rounded - LaneTraits<double>::kRounder) * kHalfPi, r2 = r * r;
    const double s = r + r * r2 * polynomial(r2, kSine), c = 1 + r2 * polynomial(r2, kCosine);
    const LaneBits<double> quadrant = to_bits(rounded);
    const LaneBits<double> odd = quadrant & 1, sine_sign = (quadrant & 2) << 62;
    const LaneBits<double> cosine_sign = ((quadrant + 1) & 2) << 62;
    const double sine = odd != 0 ? c : s, cosine = odd != 0 ? s : c;
    return {from_bits<double>(to_bits(sine) ^ sine_sign), from_bits<double>(to_bits(cosine) ^ cosine_sign)};
  }
}

template <bool kSlopes, Accuracy kAccuracy>
FENCHEL_INLINE void add_table(const NodeTable& table, const Contour& at, index_t d, Eight& to) noexcept {
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA { to.sum[k] = to.coarse[k] = to.last[k] = 0; });
  for (index_t i = 0; i <= at.size; ++i) {
    const double x_re = table.x(0)[i], x_im = table.x(1)[i];
    const Complex weight{table.f(0)[i], table.f(1)[i]};
    alignas(64) double e_re[kG], e_im[kG], g_re[kG], g_im[kG];
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      e_re[k] = to.tilt[k] * x_re;
      e_im[k] = to.tilt[k] * x_im;
    });
    for (index_t a = 0; a < d; ++a) {
      const double k_re = table.k(a, 0)[i], k_im = table.k(a, 1)[i], *const e2 = to.e2 + a * kG;
      lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
        e_re[k] += e2[k] * k_re;
        e_im[k] += e2[k] * k_im;
      });
    }
    const double even = i % 2 == 0 ? 1.0 : 0.0;
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      const SineCosine turn = turn_of<kAccuracy>(e_im[k]);
      const double grown = exp_of<kAccuracy>(larger(e_re[k], -700.0));
      const Complex f = Complex{grown * turn.cosine, grown * turn.sine} * weight;
      to.sum[k] += f.re;
      to.coarse[k] += even * f.re;
      to.last[k] = std::abs(f.re) + std::abs(f.im);
      g_re[k] = f.re;
      g_im[k] = f.im;
    });
    if constexpr (kSlopes) {
      const Complex zeta{at.zeta * (1 + x_re), at.zeta * x_im};
      double *first = to.sums + kG, *second = first + d * kG, *cross = second + d * kG;
      const auto add = [&](double*& row, Complex factor) FENCHEL_INLINE_LAMBDA {
        double* const sum = row;
        lanes([&](index_t k) FENCHEL_INLINE_LAMBDA { sum[k] += g_re[k] * factor.re - g_im[k] * factor.im; });
        row += kG;
      };
      for (index_t a = 0; a < d; ++a) {
        const Complex inverse{table.inverse(a, 0)[i], table.inverse(a, 1)[i]}, both = zeta * inverse;
        add(first, inverse);
        add(second, both);
        for (index_t b = 0; b <= a; ++b)
          add(cross, both * Complex{table.inverse(b, 0)[i], table.inverse(b, 1)[i]});
      }
    }
  }
}

/// Functions members[0, size), at most eight, by a contour.
template <bool kSlopes, Accuracy kAccuracy>
FENCHEL_INLINE void add_members(const SpaceDensity& p, const SharedFunctions& all, const Contour& at,
                                const NodeTable& table, const index_t* members, index_t size,
                                Eight& to) noexcept {
  const index_t d = all.dimension, rows = space_sums(d, kSlopes ? Wanted::kGradient : Wanted::kValues);
  for (index_t k = 0; k < kG; ++k) {
    const index_t j = members[std::min(k, size - 1)];
    for (index_t a = 0; a < d; ++a) to.e2[a * kG + k] = all.e2[a * kRun + j];
  }
  alignas(64) double size2[kG] = {}, zeta[kG], linear[kG], near[kG], log_value[kG];
  double widest = 0;
  for (index_t a = 0; a < d; ++a) {
    const double* const e2 = to.e2 + a * kG;
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA { size2[k] += e2[k]; });
    widest = std::max(widest, all.v[a]);
  }
  const double log_zeta = std::log1p(at.zeta - 1), start = at.zeta - 1 - log_zeta;
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
    const SaddleStart from = saddle_start(p.n, size2[k], widest);
    zeta[k] = at.zeta;
    linear[k] = from.linear;
    near[k] = from.near;
    to.tilt[k] = linear[k] - p.n / at.zeta;
    log_value[k] = saddle_log_value(p, {at.zeta, linear[k], near[k]}, log_zeta, start);
  });
  for (index_t a = 0; a < d; ++a) {
    const double v = all.v[a], *const e2 = to.e2 + a * kG;
    lanes([&](index_t k) FENCHEL_INLINE_LAMBDA {
      to.tilt[k] -= saddle_slopes(zeta[k], v, e2[k], near[k]).first;
      log_value[k] += saddle_term(zeta[k], v, e2[k], near[k]).log_value;
    });
  }
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA { to.tilt[k] *= at.zeta; });
  if constexpr (kSlopes) std::fill(to.sums, to.sums + rows * kG, 0.0);
  add_table<kSlopes, kAccuracy>(table, at, d, to);
  const double first = table.f(0)[0];
  alignas(64) double scale[kG];
  lanes([&](index_t k) FENCHEL_INLINE_LAMBDA { scale[k] = 2 * at.step * exp_element(log_value[k]); });
  // Of sums with steps h and 2 h, of which the error is the square; of the last node; and of the first.
  constexpr bool kSingle = kAccuracy == Accuracy::kSingle;
  constexpr double kAgreement = kSingle ? 4e-5 : 1e-7, kSmallest = kSingle ? 1e-9 : 1e-14,
                   kLargest = kSingle ? 20 : 1e3;
  for (index_t k = 0; k < size; ++k) {
    const double sum = to.sum[k];
    const bool agreed = std::abs(2 * to.coarse[k] - sum) <= kAgreement * sum &&
                        to.last[k] <= kSmallest * sum && first <= kLargest * sum;
    if (!agreed || log_value[k] < kLogSmallest) continue;
    const index_t j = members[k];
    all.done[j] = true;
    all.sums[j] = scale[k] * sum;
    for (index_t row = 1; row < rows; ++row) all.sums[row * kRun + j] = scale[k] * to.sums[row * kG + k];
  }
}

template <bool kSlopes, Accuracy kAccuracy>
FENCHEL_INLINE void integrate(const SpaceDensity& p, const SharedFunctions& all,
                              const ContourRule& rule) noexcept {
  const index_t d = all.dimension;
  const NodeTable table{all.work, d};
  double* const lane_work = all.work + (4 + 4 * d) * kMostNodes;
  Eight eight;
  eight.e2 = lane_work + 5 * d * kG;
  eight.sums = eight.e2 + d * kG;
  index_t left[kRun], members[kRun], count = 0;
  for (index_t j = 0; j < all.count; ++j) {
    if (!all.done[j]) left[count++] = j;
  }
  double zeta = 1, reach = kReach / (std::sqrt(p.n) + kReach);
  for (index_t contours = 0; contours < kMostContours && count > 0; ++contours) {
    zeta *= std::exp(reach);
    Contour at = contour_at(p.n, d, all.v, zeta);
    const double deviation = std::sqrt(at.second);
    reach = 2 * kReach / (deviation + kReach);
    // tilts from -kReach deviations on are in; like the second derivatives they are linear in e2
    double room = p.n * (1 - 1 / zeta) + kReach * deviation / zeta;
    alignas(64) double outside[kRun] = {}, sharpness[kRun] = {};
    for (index_t a = 0; a < d; ++a) {
      const double c = 1 / (1 + zeta * all.v[a]), c2 = c * c, share = zeta * all.v[a] * c;
      const double* const e2 = all.e2 + a * kRun;
      room -= 0.5 * all.v[a] * c;
      for (index_t j = 0; j < kRun; ++j) {
        outside[j] += c2 * e2[j];
        sharpness[j] += c2 * share * e2[j];
      }
    }
    index_t size = 0, rest = 0, sharpest = left[0];
    double most = -1;
    for (index_t i = 0; i < count; ++i) {
      const index_t j = left[i];
      members[size] = left[rest] = j;
      const bool in = outside[j] <= room, sharper = in && sharpness[j] > most;
      size += in ? 1 : 0;
      rest += in ? 0 : 1;
      most = sharper ? sharpness[j] : most;
      sharpest = sharper ? j : sharpest;
    }
    count = rest;
    if (size == 0) continue;
    take_derivatives(p.n, all, sharpest, at);
    reach = 2 * kReach / (std::sqrt(at.second) + kReach);
    if (!fill_table(p.n, d, all.v, rule, at, lane_work, table)) continue;
    for (index_t i = 0; i < size; i += kG) {
      add_members<kSlopes, kAccuracy>(p, all, at, table, members + i, std::min(kG, size - i), eight);
    }
  }
}

}  // namespace

index_t shared_work(index_t d) noexcept {
  return (4 + 4 * d) * kMostNodes + (6 * d + space_sums(d, Wanted::kGradient)) * kG;
}

FENCHEL_CLONES void integrate_shared(const SpaceDensity& p, const SharedFunctions& functions, Wanted wanted,
                                     Accuracy accuracy) noexcept {
  constexpr auto kSingle = Accuracy::kSingle, kDouble = Accuracy::kDouble;
  const ContourRule rule = contour_rule(p.n, accuracy, wanted);
  if (wanted == Wanted::kValues) {
    accuracy == kSingle ? integrate<false, kSingle>(p, functions, rule)
                        : integrate<false, kDouble>(p, functions, rule);
  } else {
    accuracy == kSingle ? integrate<true, kSingle>(p, functions, rule)
                        : integrate<true, kDouble>(p, functions, rule);
  }
}

}  // namespace fenchel::detail
