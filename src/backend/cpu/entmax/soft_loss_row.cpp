#include "backend/cpu/entmax/soft_loss_row.hpp"

#include <cmath>

#include "backend/cpu/compensated_lanes.hpp"
#include "backend/cpu/row_lanes.hpp"
#include "core/compensated_sum.hpp"
#include "core/fenchel_young_term.hpp"
#include "core/lanes/lane_math.hpp"
#include "fenchel/core/deformed_derivatives.hpp"

/// The terms of core/fenchel_young_term.hpp and core/tsallis_term.hpp for eight numbers at once, without
/// branches. Where a number is so small, or alpha so large, that a term could overflow, the whole row is
/// added up term by term.
namespace fenchel::detail {
namespace {

inline constexpr double kLeastTarget = 1e-290, kLargestAm1 = 1e6;
inline constexpr index_t kEight = kLanes<double>;

/// Eight numbers from i on; those past the end are 0.
template <class Real>
FENCHEL_INLINE Lanes<double> load_eight(const Real* x, index_t i, index_t n) noexcept {
  typedef Real Eight __attribute__((vector_size(kEight * sizeof(Real))));
  Eight eight{};
  if (i + kEight <= n) {
    std::memcpy(&eight, x + i, sizeof eight);
  } else {
    std::memcpy(&eight, x + i, static_cast<std::size_t>(n - i) * sizeof(Real));
  }
  return __builtin_convertvector(eight, Lanes<double>);
}

/// e^x - 1 for x < 700.
FENCHEL_INLINE double expm1_lane(double x) noexcept {
  const double bounded = x > -100 ? x : -100.0;  // where it is -1
  const ExpParts<double> parts = exp_parts(bounded, 0.0);
  const double power = scale_normal(1.0, parts.rounded);
  return power * parts.expm1 + (power - 1);
}

/// log(u - excess) of a normal u > 0, excess about a rounding of it.
FENCHEL_INLINE double log_lane(double u, double excess) noexcept {
  using Traits = LaneTraits<double>;
  const LogParts<double> parts = log_parts<double>(to_bits(u), Traits::kInteger + double(Traits::kBias));
  const double twice_inverse = from_bits<double>(exponent_bits<double>(2 * Traits::kBias + 1) - parts.biased);
  return log_sum(parts.exponent, parts.fraction, excess * (0.5 * twice_inverse));
}

/// log_{2-alpha}(e^l) from the power e^{am1 l} - 1.
FENCHEL_INLINE double deformed_lane(double am1, double inverse_am1, double l, double power) noexcept {
  return am1 == 0 ? l : power * inverse_am1;
}

struct LossTerms {
  Lanes<double> p, q, u;

  /// Whether a q is too small, or has a score of no mass.
  [[nodiscard]] FENCHEL_INLINE bool extreme() const noexcept {
    IntLanes<double> found;
    for_each_lane<double>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      const bool small = q[j] < kLeastTarget, far = !(std::abs(u[j]) < kInfinity);
      found[j] = (q[j] > 0) & (static_cast<int>(small) | static_cast<int>(far));
    });
    return any_of<double>(found);
  }
};

FENCHEL_INLINE double cross_lane(double inverse_alpha, double power, double q, double u) noexcept {
  return power * inverse_alpha - (q > 0 ? q * (u + inverse_alpha) : 0.0);
}

FENCHEL_INLINE Lanes<double> cross_terms(double am1, const LossTerms& x) noexcept {
  const double inverse_alpha = 1 / (1 + am1);
  Lanes<double> terms;
  for_each_lane<double>([&](index_t j) FENCHEL_INLINE_LAMBDA {
    const double power = x.p[j] * (1 + am1 * x.u[j]);
    terms[j] = cross_lane(inverse_alpha, x.p[j] > 0 ? power : 0.0, x.q[j], x.u[j]);
  });
  return terms;
}

/// The branches of fenchel_young_term, each with one logarithm; of all three there is one power.
FENCHEL_INLINE Lanes<double> fenchel_young_terms(double am1, const LossTerms& x) noexcept {
  constexpr double kLargestRatio = 1e6;
  const double alpha = 1 + am1, inverse_am1 = am1 == 0 ? 0 : 1 / am1;
  const double inverse_alpha = 1 / alpha;
  Lanes<double> excess{}, ratio{}, log_ratio{}, log_target{}, terms;
  IntLanes<double> charged, comparable, apart{}, alone;  // by a ratio: far from one, and not at all
  for_each_lane<double>([&](index_t j) FENCHEL_INLINE_LAMBDA {
    const double p = x.p[j], q = x.q[j];
    const bool found = static_cast<int>(q > 0) & static_cast<int>(p >= kLeastTarget) &
                       static_cast<int>(q <= kLargestRatio * p);
    charged[j] = q > 0;
    comparable[j] = found;
    alone[j] = !found;
  });
  if (!any_of<double>(charged)) {
    terms = cross_terms(am1, x);
    for_each_lane<double>([&](index_t j) FENCHEL_INLINE_LAMBDA { terms[j] = terms[j] > 0 ? terms[j] : 0.0; });
    return terms;
  }
  if (any_of<double>(comparable)) {
    for_each_lane<double>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      const double p = comparable[j] != 0 ? x.p[j] : 1.0, q = comparable[j] != 0 ? x.q[j] : 1.0;
      const double inverse = 1 / p;
      excess[j] = (q - p) * inverse;
      ratio[j] = q * inverse;
      const double sum = 1 + excess[j], lost = (sum - 1) - excess[j];
      const bool small = excess[j] < -0.5;
      log_ratio[j] = log_lane(small ? ratio[j] : sum, small ? 0.0 : lost);
      const bool far = std::abs(am1 * log_ratio[j]) > 1;
      apart[j] = far;
      alone[j] |= static_cast<int>(far) & static_cast<int>(am1 > 0);
    });
  }
  if (any_of<double>(alone & charged)) {
    for_each_lane<double>(
        [&](index_t j) FENCHEL_INLINE_LAMBDA { log_target[j] = log_lane(x.q[j] > 0 ? x.q[j] : 1.0, 0.0); });
  }
  for_each_lane<double>([&](index_t j) FENCHEL_INLINE_LAMBDA {
    const double q = x.q[j], mass = x.p[j] * (1 + am1 * x.u[j]), power = x.p[j] > 0 ? mass : 0.0;
    const double l = alone[j] != 0 ? log_target[j] : log_ratio[j];
    const bool rises = static_cast<int>(alone[j] == 0) & static_cast<int>(apart[j] != 0);
    const double raised = expm1_lane((rises ? alpha : am1) * l);
    const double deformed = deformed_lane(am1, inverse_am1, l, raised);
    const double near = ratio[j] * deformed - excess[j], far = (alpha * excess[j] - raised) * -inverse_am1;
    const double divergence = power * (rises ? far : near) * inverse_alpha;
    const double direct =
        (q > 0 ? q * deformed : 0.0) * inverse_alpha + cross_lane(inverse_alpha, power, q, x.u[j]);
    const double term = alone[j] != 0 ? direct : divergence;
    terms[j] = term > 0 ? term : 0.0;
  });
  return terms;
}

template <class Real, class Term>
double add_one_by_one(const SoftLossRow<Real>& row, const Term& term) noexcept {
  CompensatedSum sum;
  for (index_t j = 0; j < row.n; ++j) {
    const double u = row.z[j] - row.map.top - row.map.normalization.offset;
    const double charge = term(row.am1, row.q[j], row.p[j], u);
    if (std::isinf(charge)) return charge;
    sum.add(charge);
  }
  return sum.total();
}

template <class Real, class Terms, class Term>
FENCHEL_INLINE double add_up(const SoftLossRow<Real>& row, const Terms& terms, const Term& term) noexcept {
  if (!(row.am1 <= kLargestAm1)) return add_one_by_one(row, term);
  CompensatedLanes<double> sum;
  for (index_t i = 0; i < row.n; i += kEight) {
    const LossTerms eight{load_eight(row.p, i, row.n), load_eight(row.q, i, row.n),
                          load_eight(row.z, i, row.n) - row.map.top - row.map.normalization.offset};
    if (eight.extreme()) return add_one_by_one(row, term);
    sum.add(terms(row.am1, eight));
  }
  return sum_of_doubles(sum.total());
}

template <class Real>
FENCHEL_INLINE double any_fenchel_young(const SoftLossRow<Real>& row) noexcept {
  return add_up(
      row, [](double am1, const LossTerms& x) FENCHEL_INLINE_LAMBDA { return fenchel_young_terms(am1, x); },
      fenchel_young_term);
}

template <class Real>
FENCHEL_INLINE double any_cross_omega(const SoftLossRow<Real>& row) noexcept {
  return add_up(
      row, [](double am1, const LossTerms& x) FENCHEL_INLINE_LAMBDA { return cross_terms(am1, x); },
      cross_omega_term);
}

/// x (L' - L / alpha) / alpha with L = l M_0 and L' = l^2 M_1 of t = am1 l, l = log x, M the moments of
/// fenchel/core/deformed_derivatives.hpp.
FENCHEL_INLINE double negentropy_slope_lane(double am1, double inverse_am1, double x) noexcept {
  constexpr ExpMomentSeries<1> kSeries;
  const double alpha = 1 + am1, l = log_lane(x, 0.0), t = am1 * l, raised = expm1_lane(t);
  const bool near = std::abs(t) <= 1;
  const double far = near ? 1.0 : t, series = polynomial(near ? t : 0.0, kSeries.of);
  const double moment = near ? series : ((1 + raised) - raised / far) / far;
  return x * (l * l * moment - deformed_lane(am1, inverse_am1, l, raised) / alpha) / alpha;
}

template <class Real>
FENCHEL_INLINE double any_negentropy_slope(const Real* p, index_t n, double am1) noexcept {
  const double inverse_am1 = am1 == 0 ? 0 : 1 / am1;
  bool extreme = !(am1 <= kLargestAm1);
  CompensatedLanes<double> sum;
  for (index_t i = 0; !extreme && i < n; i += kEight) {
    const Lanes<double> x = load_eight(p, i, n);
    Lanes<double> terms;
    IntLanes<double> some, small;
    for_each_lane<double>([&](index_t j) FENCHEL_INLINE_LAMBDA { some[j] = x[j] != 0; });
    if (!any_of<double>(some)) continue;
    for_each_lane<double>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      const double term = negentropy_slope_lane(am1, inverse_am1, x[j] > 0 ? x[j] : 1.0);
      terms[j] = x[j] > 0 ? term : 0.0;
      small[j] = static_cast<int>(x[j] != 0) & static_cast<int>(!(x[j] >= kLeastTarget));
    });
    sum.add(terms);
    extreme = any_of<double>(small);
  }
  if (!extreme) return sum_of_doubles(sum.total());
  double slowly = 0;
  for (index_t i = 0; i < n; ++i) slowly += tsallis_term_alpha_derivative(am1, p[i]);
  return slowly;
}

}  // namespace

FENCHEL_CLONES double fenchel_young_row(const SoftLossRow<float>& row) noexcept {
  return any_fenchel_young(row);
}
FENCHEL_CLONES double fenchel_young_row(const SoftLossRow<double>& row) noexcept {
  return any_fenchel_young(row);
}
FENCHEL_CLONES double cross_omega_row(const SoftLossRow<float>& row) noexcept { return any_cross_omega(row); }
FENCHEL_CLONES double cross_omega_row(const SoftLossRow<double>& row) noexcept {
  return any_cross_omega(row);
}
FENCHEL_CLONES double negentropy_slope(const float* p, index_t n, double am1) noexcept {
  return any_negentropy_slope(p, n, am1);
}
FENCHEL_CLONES double negentropy_slope(const double* p, index_t n, double am1) noexcept {
  return any_negentropy_slope(p, n, am1);
}

}  // namespace fenchel::detail
