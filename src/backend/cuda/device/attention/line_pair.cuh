#pragma once

#include <limits>

#include "backend/attention/line_integral.hpp"
#include "backend/attention/line_mixture.hpp"
#include "fenchel/backend/cuda/views.hpp"

/// E_p[psi] on the line and its derivatives for one pair of a density and a function, as on the CPU: by the
/// same integrals, a block of one function at a time. An evaluator has what the host gives it, what a density
/// and a function are to it, and the terms of a pair.
namespace fenchel::cuda::device {

using detail::Wanted;

/// r, its derivatives in mu, in sigma2, in alpha, and in the variance of the function.
template <class Value>
struct LineTerms {
  Value value, slope, stretch, alpha, bend;
};

/// 0, or NaN for a density or function that does not exist: added to what it takes part in.
__device__ inline double poison_unless(bool exists) {
  return exists ? 0 : std::numeric_limits<double>::quiet_NaN();
}

/// For every alpha, in double; kAccuracy says how many nodes there are.
template <detail::Accuracy kAccuracy>
struct AnyLine {
  using Value = double;
  static constexpr int kMostRows = 8;  ///< of a warp, in shared memory

  detail::LineRules rules;

  enum class Way { kGaussian, kStudent, kIntegral };
  struct Row {
    Way way;
    detail::LineKind kind;
    double mu, sigma2, poison;
    BetaGaussianConstants constants;
    BetaGaussianPeakSlopes slopes;
    detail::LineDensity law;
    double student_mass, student_mean;  ///< of the weights of the nodes
  };
  struct Function {
    double mean, width, inverse_width, poison;
  };

  __device__ static Function function(double mean, double variance) {
    const double width = sqrt(variance);
    return {mean, width, 1 / width, poison_unless(variance > 0 && !isinf(variance) && isfinite(mean))};
  }

  template <Wanted kWanted>
  [[nodiscard]] __device__ __noinline__ Row row(double mu, double sigma2, double alpha) const {
    Row out{};
    const bool exists = alpha > 0 && sigma2 > 0 && !isinf(sigma2) && isfinite(mu);
    out.mu = mu;
    out.sigma2 = sigma2;
    out.poison = poison_unless(exists);
    if (!exists) return out;
    out.constants = beta_gaussian_constants(1, alpha - 1, log(sigma2));
    const double am1 = out.constants.am1;
    if (am1 == 0) {
      out.way = Way::kGaussian;
      if (alpha_too(kWanted)) out.slopes = peak_slopes(out.constants);
    } else if (am1 <= -detail::kNearOne) {
      out.way = Way::kStudent;
      const detail::StudentRule rule(out.constants, sigma2, 0, kAccuracy == detail::Accuracy::kSingle);
      for (index_t i = 0; i < rule.count; ++i) {
        const double x = rule.place(i), weight = rule.mass(x);
        out.student_mass += weight;
        out.student_mean += x * weight;
      }
      out.student_mean /= out.student_mass;
    } else {
      out.way = Way::kIntegral;
      out.kind = detail::line_kind(am1, kWanted);
      out.law = detail::line_density(out.constants, mu, sigma2, out.kind, kWanted, single(kWanted));
    }
    return out;
  }

  /// Not inlined: it is long, and called often.
  template <Wanted kWanted>
  [[nodiscard]] __device__ __noinline__ LineTerms<double> terms(const Row& p, Function psi) const {
    const double poison = p.poison + psi.poison;
    if (poison != poison) return {poison, poison, poison, poison, poison};
    switch (p.way) {
      case Way::kGaussian: {
        const detail::MixtureTerms t = detail::gaussian_terms(psi.mean - p.mu, p.sigma2, psi.width, p.slopes);
        return {t.value, t.slope, t.stretch, t.alpha, 0.5 * t.bend};
      }
      case Way::kStudent:
        return student<kWanted>(p, psi);
      default:
        return integral<kWanted>(p, psi);
    }
  }

 private:
  /// The derivative in alpha is a difference of large terms, for which single functions are too coarse.
  __device__ static constexpr bool single(Wanted wanted) {
    return kAccuracy == detail::Accuracy::kSingle && !alpha_too(wanted);
  }

  template <Wanted kWanted>
  [[nodiscard]] __device__ LineTerms<double> integral(const Row& p, const Function& psi) const {
    constexpr detail::Accuracy kNodes =
        single(kWanted) ? detail::Accuracy::kSingle : detail::Accuracy::kDouble;
    const detail::LineDensity& law = p.law;
    detail::LineBlock<1> b;
    const double fall =
        law.precision > 0
            ? detail::prepare<true, kWanted>(law, &psi.mean, &psi.width, &psi.inverse_width, b)
            : detail::prepare<false, kWanted>(law, &psi.mean, &psi.width, &psi.inverse_width, b);
    if (!(b.factor[0] > 0)) return {};
    detail::integrate_block<kWanted, kNodes>(law, p.kind, fall, rules, b);
    LineTerms<double> out{b.factor[0] * b.sum[0]};
    if constexpr (kWanted != Wanted::kValues) {
      const double stretch = b.factor[0] * b.moment[0];
      out.slope = b.factor[0] * b.slope[0];
      out.stretch = stretch * law.sigma2_rate;
      if constexpr (alpha_too(kWanted)) out.alpha = b.factor[0] * b.alpha[0] + law.log_a_rate * stretch;
      if constexpr (basis_too(kWanted)) {
        out.bend = 0.5 * b.factor[0] * b.bend[0] * psi.inverse_width * psi.inverse_width;
      }
    }
    return out;
  }

  template <Wanted kWanted>
  [[nodiscard]] __device__ static LineTerms<double> student(const Row& p, const Function& psi) {
    const double d = psi.mean - p.mu, variance = psi.width * psi.width;
    const detail::StudentRule rule(p.constants, p.sigma2, abs(d), kAccuracy == detail::Accuracy::kSingle);
    const detail::StudentRates rates(p.constants, p.sigma2, alpha_too(kWanted));
    const double whole = detail::kInverseRootTwoPi / p.student_mass;
    LineTerms<double> sum{};
    for (index_t i = 0; i < rule.count; ++i) {
      const double x = rule.place(i);
      const detail::MixtureTerms t = detail::student_terms(d, variance, rule.spread(x), whole * rule.mass(x),
                                                           rates.nu * (x - p.student_mean));
      sum.value += t.value;
      sum.slope += t.slope;
      sum.stretch += t.stretch;
      sum.alpha += t.alpha;
      sum.bend += t.bend;
    }
    sum.alpha += sum.stretch * rates.alpha;
    sum.stretch *= rates.sigma2;
    sum.bend *= 0.5;
    return sum;
  }
};

}  // namespace fenchel::cuda::device
