#include "fenchel/loss/integers.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "core/compensated_sum.hpp"
#include "core/fenchel_young_term.hpp"
#include "core/tsallis_term.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/distribution/escort.hpp"

namespace fenchel {

IntegerTarget::IntegerTarget(Sample sample) {
  if (sample.values.empty())
    throw_invalid_argument("integer_target", "the sample", "must not be empty", index_t{0});
  std::vector<index_t> sorted(sample.values.begin(), sample.values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto total = static_cast<double>(sorted.size());
  for (auto run = sorted.begin(); run != sorted.end();) {
    const auto end = std::upper_bound(run, sorted.end(), *run);
    atoms_.push_back({*run, static_cast<double>(end - run) / total});
    run = end;
  }
}

IntegerTarget::IntegerTarget(std::span<const index_t> sample, std::span<const double> weights) {
  if (weights.size() != sample.size())
    throw_invalid_argument("integer_target", "weights", "must be one for each value", std::ssize(weights));
  std::map<index_t, double> table;
  double total = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    if (!(weights[i] >= 0))
      throw_domain_error("integer_target", "a weight", "must not be negative", weights[i]);
    if (weights[i] > 0) table[sample[i]] += weights[i];
    total += weights[i];
  }
  detail::checked_positive("integer_target", "the sum of the weights", total);
  for (const auto& [at, weight] : table) atoms_.push_back({at, weight / total});
}

IntegerTarget::IntegerTarget(Table table) {
  index_t t = table.values.first();
  for (const double p : table.values.probabilities()) {
    if (p > 0) atoms_.push_back({t, p});
    ++t;
  }
}

namespace {

enum class Kind { fenchel_young, cross_omega };

/// The loss at temperature one, and sums of (p - q) x and (p - q) x^2 with x = t - centre.
struct Sums {
  detail::CompensatedSum value, first, second, alpha;
};

Sums sum_terms(Kind kind, const detail::IntegerPrediction& p, const IntegerTarget& q, double centre) {
  Sums sums;
  const auto add = [&](index_t t, double target) {
    const double probability = p.table.pmf(t), excess = p.excess(t), x = static_cast<double>(t) - centre;
    const double difference = probability - target;
    sums.first.add(difference * x);
    sums.second.add(difference * x * x);
    sums.alpha.add(-detail::tsallis_term_alpha_derivative(p.am1, probability));
    if (kind == Kind::fenchel_young) {
      sums.value.add(detail::fenchel_young_term(p.am1, target, probability, excess));
      sums.alpha.add(detail::tsallis_term_alpha_derivative(p.am1, target));
    } else {
      sums.value.add(detail::cross_omega_term(p.am1, target, probability, excess));
    }
  };
  auto atom = q.atoms().begin();
  const auto end = q.atoms().end();
  index_t t = p.table.first();
  const index_t stop = t + static_cast<index_t>(p.table.probabilities().size());
  for (; atom != end && atom->at < t; ++atom) add(atom->at, atom->probability);
  for (; t < stop; ++t) {
    const bool charged = atom != end && atom->at == t;
    add(t, charged ? atom->probability : 0.0);
    if (charged) ++atom;
  }
  for (; atom != end; ++atom) add(atom->at, atom->probability);
  return sums;
}

Loss<PoissonGradient> poisson_loss(Kind kind, const Tsallis& omega, const PoissonScore& f,
                                   const IntegerTarget& q) {
  const index_t least = q.atoms().front().at;
  if (least < 0)
    throw_domain_error(kind == Kind::fenchel_young ? "fenchel_young" : "cross_omega",
                       "the smallest integer of the target", "must not be negative",
                       static_cast<double>(least));
  const SparsePoisson p = predict(omega, f, Naturals());
  const Sums sums = sum_terms(kind, p.prediction(), q, static_cast<double>(mode(p)));
  const double temperature = omega.temperature();
  return {temperature * sums.value.total(), {sums.first.total(), temperature * sums.alpha.total()}};
}

Loss<IntegerGaussianGradient> gaussian_loss(Kind kind, const Tsallis& omega, const QuadraticScore& f,
                                            const IntegerTarget& q) {
  const Sums sums = sum_terms(kind, predict(omega, f, Integers()).prediction(), q, f.mu());
  const double temperature = omega.temperature(), sigma2 = f.sigma2();
  return {temperature * sums.value.total(),
          {sums.first.total() / sigma2, sums.second.total() / sigma2 / (2 * sigma2),
           temperature * sums.alpha.total()}};
}

/// cov_{p, 2-alpha} / T of (x, x^2), x = t - mode, under the prediction p.
std::array<double, 4> covariance_about_mode(const Tsallis& omega, const IntegerTable& p) {
  if (std::isinf(omega.alpha()))
    throw_domain_error("fenchel_young_hessian", "alpha", "must be finite", omega.alpha());
  const auto size = static_cast<index_t>(p.probabilities().size());
  std::vector<double> features;
  features.reserve(2 * p.probabilities().size());
  for (index_t i = 0; i < size; ++i) {
    const auto x = static_cast<double>(p.first() + i - p.mode());
    features.push_back(x);
    features.push_back(x * x);
  }
  std::array<double, 4> covariance{};
  const Rows<const double> phi(features.data(), size, 2);
  beta_covariance(p.probabilities(), 2 - omega.alpha(), phi, phi, Rows<double>(covariance.data(), 2, 2));
  for (double& entry : covariance) entry /= omega.temperature();
  return covariance;
}

}  // namespace

Loss<PoissonGradient> fenchel_young(const Tsallis& omega, const PoissonScore& f, Naturals,
                                    const IntegerTarget& q) {
  return poisson_loss(Kind::fenchel_young, omega, f, q);
}

Loss<IntegerGaussianGradient> fenchel_young(const Tsallis& omega, const QuadraticScore& f, Integers,
                                            const IntegerTarget& q) {
  return gaussian_loss(Kind::fenchel_young, omega, f, q);
}

Loss<PoissonGradient> cross_omega(const Tsallis& omega, const PoissonScore& f, Naturals,
                                  const IntegerTarget& q) {
  return poisson_loss(Kind::cross_omega, omega, f, q);
}

Loss<IntegerGaussianGradient> cross_omega(const Tsallis& omega, const QuadraticScore& f, Integers,
                                          const IntegerTarget& q) {
  return gaussian_loss(Kind::cross_omega, omega, f, q);
}

double fenchel_young_hessian(const Tsallis& omega, const PoissonScore& f, Naturals domain) {
  return covariance_about_mode(omega, predict(omega, f, domain).table())[0];
}

std::array<std::array<double, 2>, 2> fenchel_young_hessian(const Tsallis& omega, const QuadraticScore& f,
                                                           Integers domain) {
  const SparseIntegerGaussian p = predict(omega, f, domain);
  const auto c = covariance_about_mode(omega, p.table());
  const auto m = static_cast<double>(mode(p));  // t^2 = x^2 + 2 m x + m^2
  const double mixed = c[1] + 2 * m * c[0];
  return {{{c[0], mixed}, {mixed, c[3] + 4 * m * c[1] + 4 * m * m * c[0]}}};
}

}  // namespace fenchel
